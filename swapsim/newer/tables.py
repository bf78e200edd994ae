# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of what became of the patches on newer kernels."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import COUNT, RATIO, Column, Table

ACCESSES: Final = Table(
    "ACCESSES",
    "One row per use of a lock by a CPU, in the order of time.",
    Column("cpu", pl.UInt32, "number of the CPU"),
    Column("lock", pl.UInt32, "number of the lock: of a trunk, or of a cluster"),
)

MEETINGS: Final = Table(
    "MEETINGS",
    "One row per allocator, size of its locks, number of CPUs, seed, state of the device and "
    "window: how many uses of a slot's lock meet. A use meets if another CPU used the same lock "
    "within the window, the last uses of any lock by any CPU. A page has three uses: it enters the "
    "swap cache, it leaves it, and its slot is freed.",
    Column("requests", pl.String, "origin of the requests: generated, or the name of a trace"),
    Column("state", pl.String, "fresh: first fill; aged: fragmented; trace: from the first free"),
    Column("allocator", pl.String, "policy of the scan base of 6.1, or rules of clusters"),
    Column("lock_mb", pl.UInt32, "size of the part of the device that one lock covers", "MB"),
    Column("locks", pl.UInt32, "locks of the device"),
    Column("cpus", pl.UInt32, "CPUs, each with a task"),
    columns.SEED,
    Column("window_turns", pl.UInt32, "window, in uses for each CPU"),
    Column("uses", pl.UInt64, "uses of locks that are counted"),
    Column("met", pl.UInt64, "uses that meet"),
)

MEETING_SHARES: Final = Table(
    "MEETING_SHARES",
    "One row per kernel, lock and number of CPUs: the share of uses that meet, over the seeds.",
    Column("kernel", pl.String, "kernel and what decides where a CPU gets its slots"),
    Column("lock", pl.String, "lock of the swap cache, and the part of the device that it covers"),
    Column("requests", pl.String, "origin of the requests: generated, or the name of a trace"),
    Column("cpus", pl.UInt32, "CPUs, each with a task"),
    Column("share", pl.Float64, "mean share of uses that meet", RATIO),
    Column("low", pl.Float64, "lowest share over the seeds", RATIO),
    Column("high", pl.Float64, "highest share over the seeds", RATIO),
    Column("met", pl.Float64, "mean number of uses that meet", COUNT),
    Column("seeds", pl.UInt32, "number of seeds"),
)

_END: Final = "setting of this cost in its range: low, value or high"

GLOBAL_LOCK_RUNS: Final = Table(
    "GLOBAL_LOCK_RUNS",
    "One row per number of tasks, setting of three costs and seed: the throughput with one global "
    "lock taken at the start and the end of writeback, relative to that without.",
    Column("tasks", pl.UInt32, "tasks that write pages, each on a CPU of its own"),
    columns.SEED,
    Column("hold", pl.String, f"hold of the lock; {_END}"),
    Column("travel", pl.String, f"transfer of the lock's cache line; {_END}"),
    Column("work", pl.String, f"work for a page outside of locks; {_END}"),
    Column("page_ns", pl.Float64, "time in which a task moves a page out without the lock", "ns"),
    Column("relative", pl.Float64, "throughput with the lock divided by that without", RATIO),
)

GLOBAL_LOCK: Final = Table(
    "GLOBAL_LOCK",
    "One row per number of tasks: what one global lock taken twice a page changes of throughput.",
    Column("tasks", pl.UInt32, "tasks that write pages, each on a CPU of its own"),
    Column("change", pl.Float64, "change with each cost at its own value", "%"),
    Column("low", pl.Float64, "lowest change over all settings of the costs", "%"),
    Column("high", pl.Float64, "highest change over all settings of the costs", "%"),
)

GLOBAL_LOCK_CHECK: Final = Table(
    "GLOBAL_LOCK_CHECK",
    "One row per number of tasks: what tags change of throughput if the complete device has one "
    "tree, by the machine itself and by the two steps that stand for 7.3.",
    Column("tasks", pl.UInt32, "tasks that write pages, each on a CPU of its own"),
    Column("machine", pl.Float64, "change by the machine itself", "%"),
    Column("two_steps", pl.Float64, "change by the machine without the lock and a loop", "%"),
)

_SETTING: Final = Column("setting", pl.String, "two LRU lists or generations, folios, CPUs")
_ROUNDS: Final = Column("rounds", pl.UInt32, "rounds on the real kernel")

CLUSTERS_A_LIST: Final = Table(
    "CLUSTERS_A_LIST",
    "One row per kernel and setting: what a list of reclaim removes from the swap cache of a real "
    "kernel, and how many clusters of 2 MB its slots lie in.",
    columns.KERNEL,
    _SETTING,
    _ROUNDS,
    Column("lists", pl.UInt64, "lists that removed a folio, of all rounds"),
    Column("folios_a_list", pl.Float64, "folios that a list removes"),
    Column("clusters_a_list", pl.Float64, "clusters that a list touches"),
    Column("trunks_a_list", pl.Float64, "trunks of 64 MB that a list touches"),
    Column("holds_a_folio", pl.Float64, "holds for a folio with one hold for each cluster"),
    Column("low", pl.Float64, "the same in the round where it is lowest", RATIO),
    Column("high", pl.Float64, "the same in the round where it is highest", RATIO),
)

WRITEBACK_A_PAGE: Final = Table(
    "WRITEBACK_A_PAGE",
    "One row per kernel and setting: starts and ends of writeback per page swapped out, on a real "
    "kernel. Without patch A each of them takes a lock.",
    columns.KERNEL,
    _SETTING,
    _ROUNDS,
    Column("starts", pl.Float64, "median starts of writeback", "per page"),
    Column("ends", pl.Float64, "median ends of writeback", "per page"),
    Column("acquisitions", pl.Float64, "median of both together", "per page"),
    Column("low", pl.Float64, "lowest of both together over the rounds", "per page"),
    Column("high", pl.Float64, "highest of both together over the rounds", "per page"),
)

_LISTS: Final = "with two LRU lists"
_GENERATIONS: Final = "with generations (MGLRU)"

RULES_THAT_RUN: Final = Table(
    "RULES_THAT_RUN",
    "One row per kernel and rule of patch C: how often it applies on a real kernel, per round.",
    columns.KERNEL,
    Column("rule", pl.String, "what reclaim decides or does"),
    _ROUNDS,
    Column("lists", pl.Float64, f"median count {_LISTS}", COUNT),
    Column("lists_low", pl.Float64, f"lowest count {_LISTS}", COUNT),
    Column("lists_high", pl.Float64, f"highest count {_LISTS}", COUNT),
    Column("generations", pl.Float64, f"median count {_GENERATIONS}", COUNT),
    Column("generations_low", pl.Float64, f"lowest count {_GENERATIONS}", COUNT),
    Column("generations_high", pl.Float64, f"highest count {_GENERATIONS}", COUNT),
)

ON_NEWEST: Final = Table(
    "ON_NEWEST",
    "One row per patch: what became of it on Linux 7.3, and the figure that shows it.",
    Column("letter", pl.String, "letter of the patch; E are the alternatives to D"),
    Column("patch", pl.String, "folder of the patch under patches/; empty for E"),
    Column("subject", pl.String, "what the patch is about"),
    Column("state", pl.String, "in force, in part, obsolete or replaced"),
    Column("now", pl.String, "what does its work on 7.3"),
    Column("figure", pl.String, "the figure that shows it, in words"),
)
