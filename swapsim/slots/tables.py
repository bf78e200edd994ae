# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the slot allocator: its events, their replay, and the workbench."""

from typing import Final

import polars as pl

from swapsim.ffi import facts
from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, RATIO, Column, Table, Vocabulary

SLOT_FAULT: Final = Vocabulary(
    "SLOT_FAULT",
    "Where a call first differs from the model's, by the names of ``slot_replay.h``.",
    facts.SLOT_FAULTS,
)

SLOT_CALLS: Final = Table(
    "SLOT_CALLS",
    "One row per call of a SLOT_EVENTS trace that ended, in the order of their ends: the "
    "slots that it was given, and of these the ones that the model gives too, those that "
    "another task's rows inside an unlocked scan explain, and the others. ``seq`` and "
    "``cpu`` are those of the call's first row.",
    Column("seq", pl.UInt64, "those of the call's first row"),
    Column("cpu", pl.UInt16, "those of the call's first row"),
    columns.PID,
    Column("wanted", pl.UInt32, "slots that the call asked for"),
    Column("slots", pl.UInt32, "slots that were handed out"),
    Column("exact", pl.UInt32, "slots that the model hands out as well"),
    Column(
        "raced", pl.UInt32, "slots that differ because another task acted during an unlocked scan"
    ),
    Column("mismatched", pl.UInt32, "slots that differ without such an explanation"),
    Column("fault", SLOT_FAULT.dtype, "in what the call first differs from the model's"),
)

VERIFIED_SLOTS: Final = Table(
    "VERIFIED_SLOTS",
    "One row per SLOT_EVENTS trace: its set-up, and SLOT_CALLS added up. ``reuses`` are the "
    "slots held by the swap cache alone that the kernel tried.",
    columns.TRACE,
    Column("cpus", pl.UInt32, "CPUs of the machine"),
    columns.POLICY,
    Column(
        "trunks",
        pl.UInt32,
        "parts of the device with a swap cache and lock each, 64 MB unless said otherwise",
    ),
    Column("calls", pl.UInt32, "calls of the allocator"),
    Column("slots", pl.UInt64, "slots that were handed out"),
    Column("exact", pl.UInt64, "slots that the model hands out as well"),
    Column(
        "raced", pl.UInt64, "slots that differ because another task acted during an unlocked scan"
    ),
    Column("mismatched", pl.UInt64, "slots that differ without such an explanation"),
    Column("reuses", pl.UInt64, "slots held only by the swap cache that the kernel tried"),
)

_N_CPUS: Final = Column("n_cpus", pl.UInt32, "CPUs that ask for slots")
_METRIC: Final = Column("metric", pl.String, "one of ``slots.METRICS``, or ``fairness``")
_VALUE: Final = Column(
    "value",
    pl.Float64,
    "the metric, a quotient of two counts; null where there is nothing to divide by",
    BY_ROW,
)
SLOT_MEASURES: Final = Table(
    "SLOT_MEASURES",
    "One row per metric of one run of the slot workbench; ``value`` is a quotient of counted"
    " numbers, null where there was nothing to divide by. ``slots.METRICS`` says what each "
    "metric is.",
    columns.POLICY,
    _N_CPUS,
    columns.SEED,
    _METRIC,
    _VALUE,
    columns.UNIT,
)

WANDERINGS: Final = Table(
    "WANDERINGS",
    "One row per scan base and way of the tasks: which part of the slots lies in a trunk "
    "with another task, measured and simulated; and how many pages a task swaps out between "
    "two changes of CPU.",
    Column("base", pl.String, "the rule for where scans begin"),
    Column("tasks", pl.String, "whether tasks stay on their CPUs or change"),
    Column("pages_a_cpu", pl.Float64, "pages that a task swaps out between two changes of CPU"),
    Column(
        "measured", pl.Float64, "share of slots in a trunk that another task uses as well", RATIO
    ),
    Column("measured_low", pl.Float64, "the intervals of these shares", RATIO),
    Column("measured_high", pl.Float64, "the intervals of these shares", RATIO),
    Column(
        "simulated", pl.Float64, "share of slots in a trunk that another task uses as well", RATIO
    ),
    Column("simulated_low", pl.Float64, "the intervals of these shares", RATIO),
    Column("simulated_high", pl.Float64, "the intervals of these shares", RATIO),
)

_SETTING: Final = Column("setting", pl.String, "what it is set to")
SLOT_SWEEP: Final = Table(
    "SLOT_SWEEP",
    "SLOT_MEASURES of many runs: the ``factor`` that was varied, and its ``setting``.",
    columns.FACTOR,
    _SETTING,
    *SLOT_MEASURES.columns,
)

_SEEDS: Final = Column("seeds", pl.UInt32, "number of runs")
_RANK: Final = Column("rank", pl.UInt32, "1 plus the number of policies that are certainly better")
_TIED_WITH: Final = Column(
    "tied_with", pl.List(pl.String), "policies whose interval overlaps this one's"
)
SLOT_RANKING: Final = Table(
    "SLOT_RANKING",
    "One metric of a SLOT_SWEEP over its seeds: the mean with its bootstrap interval, the "
    "median, the least and the most. A rank, within a setting, is one more than the policies"
    " whose interval is better as a whole; ``tied_with`` are those whose interval overlaps.",
    columns.FACTOR,
    _SETTING,
    columns.POLICY,
    _N_CPUS,
    _METRIC,
    columns.UNIT,
    _SEEDS,
    Column("mean", pl.Float64, "the mean over the seeds", BY_ROW),
    Column("low", pl.Float64, "the bootstrap interval of the mean", BY_ROW),
    Column("high", pl.Float64, "the bootstrap interval of the mean", BY_ROW),
    Column("median", pl.Float64, "the same over the seeds", BY_ROW),
    Column("lowest", pl.Float64, "the same over the seeds", BY_ROW),
    Column("highest", pl.Float64, "the same over the seeds", BY_ROW),
    _RANK,
    _TIED_WITH,
)

POLICY_RANKING: Final = Table(
    "POLICY_RANKING",
    "One row per metric and policy, a metric's best first: the median over the seeds with "
    "its bootstrap interval, the least and the most. A rank is one more than the policies "
    "whose interval is better as a whole; ``tied_with`` are those whose interval overlaps.",
    columns.METRIC,
    columns.UNIT,
    Column("better", pl.String, "which end of the metric is the better one"),
    _RANK,
    columns.POLICY,
    Column("reader", pl.Boolean, "whether it is a policy of the reader's own"),
    Column("median", pl.Float64, "the median over the seeds", BY_ROW),
    Column("low", pl.Float64, "the bootstrap interval of the median, 95 %", BY_ROW),
    Column("high", pl.Float64, "the bootstrap interval of the median, 95 %", BY_ROW),
    _TIED_WITH,
    Column("lowest", pl.Float64, "the least and the most over the seeds", BY_ROW),
    Column("highest", pl.Float64, "the least and the most over the seeds", BY_ROW),
    _SEEDS,
)

SLOT_ANSWERS: Final = Table(
    "SLOT_ANSWERS",
    "One row per question of patch D's thread: a metric on both sides of what was asked, "
    "with bootstrap intervals over the seeds, and whether the guess holds.",
    columns.CLAIM,
    Column("asks", pl.String, "what was asked"),
    Column("guess", pl.String, "what was guessed in the mail thread"),
    columns.METRIC,
    Column(
        "base_mean",
        pl.Float64,
        "mean and bootstrap interval of the side that is compared with",
        BY_ROW,
    ),
    Column(
        "base_low",
        pl.Float64,
        "mean and bootstrap interval of the side that is compared with",
        BY_ROW,
    ),
    Column(
        "base_high",
        pl.Float64,
        "mean and bootstrap interval of the side that is compared with",
        BY_ROW,
    ),
    Column(
        "other_mean",
        pl.Float64,
        "mean and bootstrap interval of the side that was asked about",
        BY_ROW,
    ),
    Column(
        "other_low",
        pl.Float64,
        "mean and bootstrap interval of the side that was asked about",
        BY_ROW,
    ),
    Column(
        "other_high",
        pl.Float64,
        "mean and bootstrap interval of the side that was asked about",
        BY_ROW,
    ),
    Column("holds", pl.Boolean, "whether the guess holds"),
)

SLOT_OP: Final = Vocabulary(
    "SLOT_OP", "What happened to swap slots, by the names of ``slot_replay.h``.", facts.SLOT_OPS
)

_OFFSET: Final = Column("offset", pl.UInt32, "the slot, or the first of them")
SLOT_EVENTS: Final = Table(
    "SLOT_EVENTS",
    "One row per event of the slot allocator while si->lock is held, in lock order. call: "
    "``n`` slots wanted, the ``base`` before it, ``lowest`` and ``highest``; alloc: "
    "``offset``; done: ``n`` slots given, ``next`` the base after it; fail: the call ends "
    "and stores no base; free: ``n`` slots from ``offset`` on; reuse: a slot held by the "
    "swap cache alone was tried, ``n`` = 1 if that freed it. Null where an op has no such "
    "field. ``mm`` is the caller's address space, 0 for a kernel thread.",
    columns.SEQ,
    columns.CPU,
    columns.PID,
    Column(
        "mm",
        pl.UInt64,
        "the caller's address space; 0, or -1 where it is numbered anew, for a kernel thread",
    ),
    Column("op", SLOT_OP.dtype, "what the allocator, or the task, did"),
    Column("n", pl.UInt32, "slots: wanted, given or freed"),
    _OFFSET,
    Column("base", pl.UInt32, "the scan base before the call, and after it"),
    Column("next", pl.UInt32, "the scan base before the call, and after it"),
    Column("lowest", pl.UInt32, "bounds of the device as the call sees them"),
    Column("highest", pl.UInt32, "bounds of the device as the call sees them"),
)

HANDED_OUT: Final = Table(
    "HANDED_OUT",
    "One row per slot of a SLOT_EVENTS trace, in the order in which they were handed out: "
    "the CPU and the task that got it, and where it lies on the device.",
    Column("run", pl.String, "which run"),
    Column("nth", pl.UInt32, "place in the order in which slots were handed out"),
    columns.CPU,
    columns.PID,
    _OFFSET,
    Column("trunk", pl.UInt32, "the slot's trunk"),
    Column("mebibytes", pl.Float64, "where the slot lies on the device", "MiB"),
)

REQUEST_OP: Final = Vocabulary(
    "REQUEST_OP",
    "A page is swapped out, or in.",
    (
        "get",
        "put",
    ),
)

REQUESTS: Final = Table(
    "REQUESTS",
    "What the tasks of a SLOT_EVENTS trace ask of the allocator, without where they were "
    "served: each task's rows are in its own order. The page is that of the ``owner``'s get "
    "of this ``ordinal``, from 0; a get's owner is the task itself. ``mm`` is its address "
    "space, -1 for a kernel thread.",
    Column("task", pl.UInt32, "the task, by its number"),
    Column(
        "mm",
        pl.Int32,
        "the caller's address space; 0, or -1 where it is numbered anew, for a kernel thread",
    ),
    Column("op", REQUEST_OP.dtype, "what the allocator, or the task, did"),
    Column("owner", pl.UInt32, "the task whose page it is"),
    Column("ordinal", pl.UInt32, "which of the owner's gets the page is of, from 0"),
)
