# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rules by which reclaim stalls make of pages, lists, passes and rounds."""

from typing import Final

import polars as pl

from swapsim.native.facts import STALL_FATES, STALL_RULES
from swapsim.schemas.stalls import THROTTLE
from swapsim.schemas.table import schema_of

STALL_FATE: Final = pl.Enum(STALL_FATES)
"""What rules make of a page: ``enum sws_stall_fate`` of ``stall.h``."""

RULE_SET: Final = pl.Enum(STALL_RULES)
"""The rule sets, in order of age."""

STALL_LISTS: Final = schema_of(
    {
        "list": pl.UInt64,
        "dirty": pl.UInt32,
        "unqueued_dirty": pl.UInt32,
        "congested": pl.UInt32,
        "writeback": pl.UInt32,
        "immediate": pl.UInt32,
        "flags_before": pl.UInt8,
        "flags_set": pl.UInt8,
        "flags_cleared": pl.UInt8,
        "flags_after": pl.UInt8,
        "sleeps": pl.List(THROTTLE),
        "wakes": pl.Boolean,
        "slept": pl.UInt32,
        "writes": pl.UInt32,
        "untold": pl.UInt32,
    }
)
"""One row per list: what one rule set counts and decides at its end.

``flags_set``: those that the end of the list sets, whether they were set already or not;
``flags_cleared``: those that case 1 cleared on the way. ``sleeps``: asked for at the end, in that
order; ``slept``: sleeps of case 1, congestion_wait on the way. ``wakes``: the flushers are woken.
``writes``: pages given to pageout. ``untold``: pages that the rules lead on from where the
recording ends, so that nobody knows what would have come."""

STALL_PASSES: Final = schema_of(
    {
        "flags_set": pl.UInt8,
        "flags_after": pl.UInt8,
        "throttle": THROTTLE,
    }
)
"""One row per pass or round, in the order given: what it sets, and the sleep that it asks for."""

STALL_SLEEPERS: Final = schema_of({"timeout_us": pl.UInt32, "declined": pl.String})
"""One row per call that asks for a sleep: how long it may be, 0 with a reason if declined."""

STALL_PAGES: Final = schema_of(
    {
        "file": pl.Boolean,
        "dirty": pl.Boolean,
        "writeback": pl.Boolean,
        "reclaim": pl.Boolean,
        "congested": pl.Boolean,
        "buffers": pl.Boolean,
        "fs_dirty": pl.Boolean,
        "fs_writeback": pl.Boolean,
        "pages": pl.UInt32,
        "still": pl.Boolean,
        "arrives": pl.Boolean,
        "dirty_late": pl.Boolean,
        "kept": pl.Boolean,
    }
)
"""One row per page of a list that is led page by page, in the order in which they are met.

``file`` to ``fs_writeback`` are those of RECLAIM_FOLIOS. What comes later is said beforehand:
``still``, after a sleep in case 1 it is under writeback still; ``arrives``, if nothing here stops
it, it comes to the dirty test (no reference, no failing unmap); ``dirty_late``, and is dirty there;
``kept``, pageout keeps it."""

STALL_WAYS: Final = schema_of(
    {
        "fate": STALL_FATE,
        "activated": pl.Boolean,
        "marked": pl.Boolean,
        "slept": pl.Boolean,
        "waited": pl.Boolean,
        "freed": pl.Boolean,
        "freed_under_writeback": pl.Boolean,
    }
)
"""One row per page: what the rules made of it. ``marked``: it gets the reclaim flag. ``freed``: it
came clean past all tests. ``freed_under_writeback``: though it was being written, mmotm's bug."""
