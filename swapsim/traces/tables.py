# SPDX-License-Identifier: GPL-2.0-or-later
"""What a real kernel did: imported events, slot events, and what is taken from them.

Columns
-------
t_ns : the event's time; null under a clock of whole numbers
comm : the task's name
mm : the caller's address space; 0, or -1 where it is numbered anew, for a kernel thread
op : what the allocator, or the task, did
n : slots: wanted, given or freed
offset : the slot, or the first of them
base, next : the scan base before the call, and after it
lowest, highest : bounds of the device as the call sees them
run : which run
nth : place in the order in which slots were handed out
trunk : the slot's trunk
mebibytes : where the slot lies on the device
task : the task, by its number
owner : the task whose page it is
ordinal : which of the owner's gets the page is of, from 0
replay : a verb of ``swapsim replay``
quantity : what the figures are of
AT_A_GLANCE.base, patched : the figure without the patch, and with it
change [%] : from base to patched, null from zero
event : the event, by the name of its table
rows : how often it was recorded
"""

from typing import Final

import polars as pl

from swapsim.ffi import facts
from swapsim.frames.table import schema_of

EVENT_HEAD: Final = schema_of(
    {
        "seq": pl.UInt64,
        "t_ns": pl.Int64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "comm": pl.String,
    }
)
"""The columns that each imported event table starts with; its own fields follow."""

TRACE_EVENTS: Final = schema_of({"event": pl.String, "rows": pl.UInt64})
"""One row per event of a trace, in order of name."""

SLOT_OP: Final = pl.Enum(facts.SLOT_OPS)
"""What happened to swap slots, by the names of ``slot_replay.h``."""

SLOT_EVENTS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "mm": pl.UInt64,
        "op": SLOT_OP,
        "n": pl.UInt32,
        "offset": pl.UInt32,
        "base": pl.UInt32,
        "next": pl.UInt32,
        "lowest": pl.UInt32,
        "highest": pl.UInt32,
    }
)
"""One row per event of the slot allocator while si->lock is held, in lock order.

call: ``n`` slots wanted, the ``base`` before it, ``lowest`` and ``highest``; alloc: ``offset``;
done: ``n`` slots given, ``next`` the base after it; fail: the call ends and stores no base; free:
``n`` slots from ``offset`` on; reuse: a slot held by the swap cache alone was tried, ``n`` = 1 if
that freed it. Null where an op has no such field. ``mm`` is the caller's address space, 0 for a
kernel thread.
"""

HANDED_OUT: Final = schema_of(
    {
        "run": pl.String,
        "nth": pl.UInt32,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "offset": pl.UInt32,
        "trunk": pl.UInt32,
        "mebibytes": pl.Float64,
    }
)
"""One row per slot of a SLOT_EVENTS trace, in the order in which they were handed out: the CPU and
the task that got it, and where it lies on the device."""

REQUEST_OP: Final = pl.Enum(["get", "put"])
"""A page is swapped out, or in."""

REQUESTS: Final = schema_of(
    {
        "task": pl.UInt32,
        "mm": pl.Int32,
        "op": REQUEST_OP,
        "owner": pl.UInt32,
        "ordinal": pl.UInt32,
    }
)
"""What the tasks of a SLOT_EVENTS trace ask of the allocator, without where they were served: each
task's rows are in its own order. The page is that of the ``owner``'s get of this ``ordinal``,
from 0; a get's owner is the task itself. ``mm`` is its address space, -1 for a kernel thread."""

AT_A_GLANCE: Final = schema_of(
    {
        "replay": pl.String,
        "quantity": pl.String,
        "base": pl.Float64,
        "patched": pl.Float64,
        "change": pl.Float64,
    }
)
"""One row per replay that a trace can feed: the figure that its patch is about, null where the
trace has no page of the kind."""
