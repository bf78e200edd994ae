# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the slot allocator: its events, their replay, and the workbench."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim import tables as columns
from swapsim.tables import BY_ROW, Column, Table, Vocabulary

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

SLOT_SWEEP: Final = Table(
    "SLOT_SWEEP",
    "One row per metric of one run of the slot workbench, at a setting of a factor.",
    columns.FACTOR,
    Column("setting", pl.String, "value to which the factor is set"),
    columns.POLICY,
    Column("n_cpus", pl.UInt32, "CPUs that ask for slots"),
    columns.SEED,
    Column("metric", pl.String, "one of ``slots.METRICS``"),
    Column("value", pl.Float64, "quotient of two counts; null where the divisor is 0", BY_ROW),
    columns.UNIT,
)
