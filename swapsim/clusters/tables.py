# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the cluster allocators: events of a kernel, its devices, and replays of them."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim import tables as columns
from swapsim.tables import Column, Table, Vocabulary

CLUSTER_RULES: Final = Vocabulary(
    "CLUSTER_RULES",
    "Rules of a cluster allocator, by the names of ``clusters.h``: those of a kernel, or those "
    "with one of them changed.",
    ffi.CLUSTER_RULES,
)

CLUSTER_OP: Final = Vocabulary(
    "CLUSTER_OP",
    "What the allocator does, by the names of ``cluster_replay.h``. ``call``: a task asks for "
    "slots; ``visit``: a cluster is scanned from a slot on; ``grant``: slots are taken; ``done``: "
    "the call ends; ``free``: slots are freed; ``try``: a slot of the swap cache alone is "
    "reclaimed; ``full``, ``full_done``: full clusters are reclaimed; ``window``, ``relock``: a "
    "scan drops its locks and has them again; ``pick``, ``picked``: a cluster is taken from a "
    "list; ``move``: a cluster goes to a list; ``discard``, ``discarded``: a cluster is "
    "discarded; ``turn``: a device goes behind its equals; ``visited``: a scan ends.",
    ffi.CLUSTER_OPS,
)

CLUSTER_LIST: Final = Vocabulary(
    "CLUSTER_LIST",
    "A device's lists of clusters, by the names of ``clusters.h``: nonfull and frag have one for "
    "each order.",
    ffi.CLUSTER_LISTS,
)

_DEVICE: Final = Column("device", pl.UInt8, "number of the swap device (its type)")

CLUSTER_EVENTS: Final = Table(
    "CLUSTER_EVENTS",
    "One row per event of a cluster allocator, in lock order: by the values of the clock counter. "
    "Events under a device's lock (6.12) or a cluster's and a list's (7.3) are in the order of "
    "these locks. Columns that an operation does not have are null.",
    Column("seq", pl.UInt64, "position of the row in this table and CLUSTER_DEVICES together"),
    columns.CPU,
    columns.PID,
    Column("op", CLUSTER_OP.dtype, "what happened"),
    _DEVICE,
    Column("slot", pl.UInt32, "slot, the first of several, or the first of a cluster"),
    Column("n", pl.UInt32, "slots asked for, granted or freed; 1 for yes, 0 for no"),
    Column("order", pl.UInt8, "log2 of the slots of one grant, 0 to 9"),
    Column("list", CLUSTER_LIST.dtype, "list from which, or to which, a cluster goes"),
)

CLUSTER_DEVICES: Final = Table(
    "CLUSTER_DEVICES",
    "One row per swap device of a recording, at its swapon, in order of their numbers.",
    Column("seq", pl.UInt64, "position of the row in this table and CLUSTER_EVENTS together"),
    _DEVICE,
    Column("slots", pl.UInt32, "slots of the device, including its header"),
    Column("priority", pl.Int16, "priority, by the kernel's own numbers"),
    Column("file", pl.Boolean, "whether it is a swap file"),
    Column("rotational", pl.Boolean, "whether it is a hard disk"),
    Column("discard", pl.Boolean, "whether freed clusters are discarded"),
    Column("cluster_size", pl.UInt32, "slots of a cluster: 512 if huge pages swap, else 256"),
    Column("rules", CLUSTER_RULES.dtype, "rules of the kernel that was recorded"),
)

_RULES: Final = Column("rules", CLUSTER_RULES.dtype, "rules under which the requests are served")

CLUSTER_GRANTS: Final = Table(
    "CLUSTER_GRANTS",
    "One row per rule set and order of a trace's requests, served under these rules.",
    _RULES,
    Column("order", pl.UInt8, "log2 of the slots of a request"),
    Column("requests", pl.UInt64, "requests; with a slot cache one is for up to 64 single slots"),
    Column("granted", pl.UInt64, "requests that obtain slots"),
    Column("fallbacks", pl.UInt64, "requests that obtain none, so that a large folio is split"),
    Column("in_trace", pl.UInt64, "requests that obtained slots in the trace"),
    Column("fallback_percent", pl.Float64, "share of fallbacks in the requests"),
)

_A_GRANT: Final = "per run of slots granted"

CLUSTER_WORK: Final = Table(
    "CLUSTER_WORK",
    "One row per rule set: the work of serving a trace's requests and frees under these rules.",
    _RULES,
    Column("grants", pl.UInt64, "runs of slots granted, those into slot caches included"),
    Column("slots", pl.UInt64, "slots granted, those into slot caches included"),
    Column("visits", pl.UInt64, "visits of clusters"),
    Column("picks", pl.UInt64, "requests to a list for a cluster"),
    Column("moves", pl.UInt64, "clusters that went to the tail of a list"),
    Column("reclaims", pl.UInt64, "full clusters taken for reclaim"),
    Column("discards", pl.UInt64, "clusters discarded"),
    Column("surplus", pl.UInt64, "runs that the trace did not obtain"),
    Column("single_slots", pl.UInt64, "slots obtained one by one after a fallback"),
    Column("missing_slots", pl.UInt64, "slots of the trace for which these rules have none"),
    Column(
        "visits_of_others", pl.UInt64, "visits of clusters that another CPU visited before this one"
    ),
    Column("visits_a_grant", pl.Float64, f"visits {_A_GRANT}"),
    Column("moves_a_grant", pl.Float64, f"list moves {_A_GRANT}"),
    Column("si_lock_a_grant", pl.Float64, f"acquisitions of si->lock {_A_GRANT}, frees included"),
    Column(
        "cluster_lock_a_grant",
        pl.Float64,
        f"acquisitions of cluster locks {_A_GRANT}, of frees too",
    ),
    Column("avail_lock_a_grant", pl.Float64, f"acquisitions of swap_avail_lock {_A_GRANT}"),
    Column("local_lock_a_grant", pl.Float64, f"acquisitions of a CPU's local lock {_A_GRANT}"),
    Column("visits_of_others_a_grant", pl.Float64, f"visits after another CPU's {_A_GRANT}"),
    Column(
        "in_sequence_percent",
        pl.Float64,
        "runs that begin where the task's run before ended, of all",
    ),
    Column(
        "mixed_percent",
        pl.Float64,
        "neighbouring slots in use of two tasks, of all pairs of neighbours in a cluster",
    ),
)

CLUSTER_LISTS: Final = Table(
    "CLUSTER_LISTS",
    "One row per rule set and sampled row of the trace: clusters by list, over devices and orders.",
    _RULES,
    Column("seq", pl.UInt64, "position of the sampled row in the trace"),
    Column("in_use", pl.UInt64, "slots in use, of all devices"),
    Column("free", pl.UInt32, "clusters without a slot in use"),
    Column("full", pl.UInt32, "clusters without a free slot"),
    Column("discard", pl.UInt32, "clusters that wait for their discard"),
    Column("nonfull", pl.UInt32, "clusters of which a slot was freed, or that began to fill"),
    Column("frag", pl.UInt32, "clusters that a visit left"),
)
