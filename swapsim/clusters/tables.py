# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the cluster allocators: events of a kernel, its devices, and replays of them."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim.frames import columns
from swapsim.frames.table import Column, Table, Vocabulary

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
