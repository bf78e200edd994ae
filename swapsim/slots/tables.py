# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the slot allocator: its events, their replay, and the workbench."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim.claims.tables import DIRECTION_VERDICT
from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, RATIO, Column, Table, Vocabulary

SLOT_OP: Final = Vocabulary(
    "SLOT_OP",
    "What happened to swap slots, by the names of ``slot_replay.h``. ``call``: a task asks for "
    "slots; ``alloc``: a slot is handed out; ``done``: the call ends and stores a base; ``fail``: "
    "the call ends without a slot and stores no base; ``free``: slots are freed; ``reuse``: a slot "
    "that only the swap cache holds is tried.",
    ffi.SLOT_OPS,
)

SLOT_FAULT: Final = Vocabulary(
    "SLOT_FAULT",
    "Where a call first differs from the model's, by the names of ``slot_replay.h``.",
    ffi.SLOT_FAULTS,
)

REQUEST_OP: Final = Vocabulary(
    "REQUEST_OP", "What a task asks for: a page is swapped out, or in.", ("get", "put")
)

_OFFSET: Final = Column("offset", pl.UInt32, "slot, or the first of several")

SLOT_EVENTS: Final = Table(
    "SLOT_EVENTS",
    "One row per event of the slot allocator while si->lock is held, in lock order. Columns that "
    "an operation does not have are null.",
    columns.SEQ,
    columns.CPU,
    columns.PID,
    Column("mm", pl.UInt64, "address space of the caller; 0 for a kernel thread"),
    Column("op", SLOT_OP.dtype, "what happened"),
    Column("n", pl.UInt32, "slots asked for, given or freed; reuse: 1 if the slot was freed"),
    _OFFSET,
    Column("base", pl.UInt32, "scan base before the call"),
    Column("next", pl.UInt32, "scan base after the call"),
    Column("lowest", pl.UInt32, "lowest slot of the device that the call may use"),
    Column("highest", pl.UInt32, "highest slot of the device that the call may use"),
)

HANDED_OUT: Final = Table(
    "HANDED_OUT",
    "One row per slot of a SLOT_EVENTS trace, in the order in which slots were handed out.",
    Column("run", pl.String, "name of the run"),
    Column("nth", pl.UInt32, "position in the order in which slots were handed out"),
    columns.CPU,
    columns.PID,
    _OFFSET,
    Column("trunk", pl.UInt32, "trunk of the slot"),
    Column("mebibytes", pl.Float64, "position of the slot on the device", "MiB"),
)

REQUESTS: Final = Table(
    "REQUESTS",
    "One row per request of a SLOT_EVENTS trace, each task's in its own order, without the slots "
    "that served them.",
    Column("task", pl.UInt32, "number of the task"),
    Column("mm", pl.Int32, "number of its address space; -1 for a kernel thread"),
    Column("op", REQUEST_OP.dtype, "what the task asks for"),
    Column("owner", pl.UInt32, "task whose page it is; of a get the task itself"),
    Column("ordinal", pl.UInt32, "which of the owner's gets, from 0, the page is of"),
)

_EXACT: Final = "slots that the model hands out as well"
_RACED: Final = "other slots that a concurrent change during an unlocked scan explains"
_MISMATCHED: Final = "slots that differ without such an explanation"

SLOT_CALLS: Final = Table(
    "SLOT_CALLS",
    "One row per call of a SLOT_EVENTS trace that ended, in the order of their ends.",
    Column("seq", pl.UInt64, "position of the call's first row in the trace"),
    Column("cpu", pl.UInt16, "number of the CPU on which the call began"),
    columns.PID,
    Column("wanted", pl.UInt32, "slots that the call asked for"),
    Column("slots", pl.UInt32, "slots that were handed out"),
    Column("exact", pl.UInt32, _EXACT),
    Column("raced", pl.UInt32, _RACED),
    Column("mismatched", pl.UInt32, _MISMATCHED),
    Column("fault", SLOT_FAULT.dtype, "where the call first differs from the model's"),
)

VERIFIED_SLOTS: Final = Table(
    "VERIFIED_SLOTS",
    "One row per SLOT_EVENTS trace: its set-up, and the sums of SLOT_CALLS.",
    columns.TRACE,
    Column("cpus", pl.UInt32, "CPUs of the machine"),
    columns.POLICY,
    Column(
        "trunks", pl.UInt32, "parts of the device with a swap cache and lock each, mostly 64 MB"
    ),
    Column("calls", pl.UInt32, "calls of the allocator"),
    Column("slots", pl.UInt64, "slots that were handed out"),
    Column("exact", pl.UInt64, _EXACT),
    Column("raced", pl.UInt64, _RACED),
    Column("mismatched", pl.UInt64, _MISMATCHED),
    Column("reuses", pl.UInt64, "slots of the swap cache alone that the kernel tried"),
)

_N_CPUS: Final = Column("n_cpus", pl.UInt32, "CPUs that ask for slots")
_METRIC: Final = Column("metric", pl.String, "one of ``slots.METRICS``, or ``fairness``")
_SETTING: Final = Column("setting", pl.String, "value to which the factor is set")

SLOT_MEASURES: Final = Table(
    "SLOT_MEASURES",
    "One row per metric of one run of the slot workbench.",
    columns.POLICY,
    _N_CPUS,
    columns.SEED,
    _METRIC,
    Column("value", pl.Float64, "quotient of two counts; null where the divisor is 0", BY_ROW),
    columns.UNIT,
)

SLOT_SWEEP: Final = Table(
    "SLOT_SWEEP",
    "One row per setting, run and metric: SLOT_MEASURES of many runs.",
    columns.FACTOR,
    _SETTING,
    *SLOT_MEASURES.columns,
)

_SEEDS: Final = Column("seeds", pl.UInt32, "number of runs")
_RANK: Final = Column("rank", pl.String, "place in the order, or the places that intervals allow")
_TIED_WITH: Final = Column(
    "tied_with", pl.List(pl.String), "policies whose interval overlaps this one's"
)
_MEDIAN: Final = Column("median", pl.Float64, "median over the seeds", BY_ROW)
_LOWEST: Final = Column("lowest", pl.Float64, "lowest value over the seeds", BY_ROW)
_HIGHEST: Final = Column("highest", pl.Float64, "highest value over the seeds", BY_ROW)

SLOT_RANKING: Final = Table(
    "SLOT_RANKING",
    "One row per setting and policy: one metric of a SLOT_SWEEP over its seeds.",
    columns.FACTOR,
    _SETTING,
    columns.POLICY,
    _N_CPUS,
    _METRIC,
    columns.UNIT,
    _SEEDS,
    Column("mean", pl.Float64, "mean over the seeds", BY_ROW),
    Column("low", pl.Float64, "lower end of the mean's bootstrap interval", BY_ROW),
    Column("high", pl.Float64, "upper end of the mean's bootstrap interval", BY_ROW),
    _MEDIAN,
    _LOWEST,
    _HIGHEST,
    _RANK,
    _TIED_WITH,
)

POLICY_RANKING: Final = Table(
    "POLICY_RANKING",
    "One row per metric and policy, a metric's best policy first.",
    columns.METRIC,
    columns.UNIT,
    Column("better", pl.String, "which direction of the metric is the better one"),
    _RANK,
    columns.POLICY,
    Column("user", pl.Boolean, "whether it is a user's own policy"),
    _MEDIAN,
    Column("low", pl.Float64, "lower end of the median's bootstrap interval, 95 %", BY_ROW),
    Column("high", pl.Float64, "upper end of the median's bootstrap interval, 95 %", BY_ROW),
    _TIED_WITH,
    _LOWEST,
    _HIGHEST,
    _SEEDS,
)

SLOT_ANSWERS: Final = Table(
    "SLOT_ANSWERS",
    "One row per question of patch D's thread: a metric on both sides of what was asked.",
    columns.CLAIM,
    Column("asks", pl.String, "question of the thread"),
    Column("guess", pl.String, "answer that was guessed there"),
    columns.METRIC,
    Column("base_mean", pl.Float64, "mean of the side that is compared with", BY_ROW),
    Column("base_low", pl.Float64, "lower end of its bootstrap interval", BY_ROW),
    Column("base_high", pl.Float64, "upper end of its bootstrap interval", BY_ROW),
    Column("other_mean", pl.Float64, "mean of the side that was asked about", BY_ROW),
    Column("other_low", pl.Float64, "lower end of that side's bootstrap interval", BY_ROW),
    Column("other_high", pl.Float64, "upper end of that side's bootstrap interval", BY_ROW),
    Column("verdict", DIRECTION_VERDICT.dtype, "whether the model agrees with the guess"),
)

_IN_SHARED: Final = "share of slots in a trunk that another task uses"

WANDERINGS: Final = Table(
    "WANDERINGS",
    "One row per rule for a scan's start and behaviour of the tasks.",
    Column("base", pl.String, "rule for where scans begin"),
    Column("tasks", pl.String, "whether tasks stay on their CPUs or change"),
    Column("pages_a_cpu", pl.Float64, "pages that a task swaps out between two changes of CPU"),
    Column("measured", pl.Float64, f"measured {_IN_SHARED}", RATIO),
    Column("measured_low", pl.Float64, "lower end of the measured interval", RATIO),
    Column("measured_high", pl.Float64, "upper end of the measured interval", RATIO),
    Column("simulated", pl.Float64, f"simulated {_IN_SHARED}", RATIO),
    Column("simulated_low", pl.Float64, "lower end of the simulated interval", RATIO),
    Column("simulated_high", pl.Float64, "upper end of the simulated interval", RATIO),
)
