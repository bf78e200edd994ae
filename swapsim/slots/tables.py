# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the slot allocator: its events, their replay, and the workbench."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim import tables as columns
from swapsim.tables import Column, Table, Vocabulary

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

SLOT_CALLS: Final = Table(
    "SLOT_CALLS",
    "One row per call of a SLOT_EVENTS trace that ended, in the order of their ends.",
    Column("seq", pl.UInt64, "position of the call's first row in the trace"),
    Column("cpu", pl.UInt16, "number of the CPU on which the call began"),
    columns.PID,
    Column("wanted", pl.UInt32, "slots that the call asked for"),
    Column("slots", pl.UInt32, "slots that were handed out"),
    Column("exact", pl.UInt32, "slots that the model hands out as well"),
    Column(
        "raced", pl.UInt32, "other slots that a concurrent change during an unlocked scan explains"
    ),
    Column("mismatched", pl.UInt32, "slots that differ without such an explanation"),
    Column("fault", SLOT_FAULT.dtype, "where the call first differs from the model's"),
)
