# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rules by which reclaim stalls make of pages, lists, passes and rounds.

Columns
-------
wakes : whether the flushers are woken
writes : pages given to pageout
throttle : the sleep that is asked for, null for none
timeout_us : how long the sleep may be; 0 if it is declined
declined : why it is declined
STALL_PAGES.dirty, STALL_PAGES.writeback, STALL_PAGES.reclaim : the folio's flags
STALL_PAGES.congested : whether its device is
buffers : whether the filesystem answers by the folio's buffers
fate : what the rules make of the page
activated : whether it goes to the active list
marked : whether it gets the reclaim flag
STALL_WAYS.slept : whether kswapd sleeps for it, in case 1
waited : whether it is waited for, in case 3
freed : whether it came clean past all tests
freed_under_writeback : though it was being written, which was mmotm's mistake
folios : folios of the list, or of all lists
raced : whether, or how many, could have been otherwise by the order of the rows
fault : where it first differs from the rules
lists : lists that the recording holds whole
table : the trace's table
cpus : CPUs of the guest
counted : lists whose counters come out
passes : passes that the recording holds whole
decided : those decided as by the rules
throttles : calls for a sleep
held : those that are as the rules have them
left_out : lists and passes that the recording's ends cut
"""

from typing import Final

import polars as pl

from swapsim.ffi.facts import STALL_FATES, STALL_RULES
from swapsim.frames.table import schema_of
from swapsim.stall.tables import THROTTLE

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

STALL_FAULT: Final = pl.Enum(
    [
        "counters",
        "way",
        "outcome",
        "sums",
        "flags set",
        "flags seen",
        "sleeps",
        "asker",
        "length",
        "cleared",
    ]
)
"""Where a kernel's reclaim first differs from the rules: a list's ``counters``; the ``way`` of a
folio, or its ``outcome``; a pass's ``sums``; flags that are set; flags that were seen and that
nobody's row explains; sleeps of a list, a pass or its round that were asked for, or not; a call
without an ``asker``; its ``length``; flags that were ``cleared``."""

JUDGED_LISTS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "list": pl.UInt64,
        "pass": pl.UInt64,
        "pid": pl.Int32,
        "folios": pl.UInt32,
        "raced": pl.Boolean,
        "fault": STALL_FAULT,
    }
)
"""One row per list that the recording holds whole: its folios, whether a flag that it saw could
have been otherwise by the order of the rows, and where it first differs from the rules (null:
nowhere)."""

JUDGED_PASSES: Final = schema_of(
    {
        "seq": pl.UInt64,
        "pass": pl.UInt64,
        "pid": pl.Int32,
        "lists": pl.UInt32,
        "raced": pl.Boolean,
        "fault": STALL_FAULT,
    }
)
"""One row per pass that the recording holds whole, with its round: as JUDGED_LISTS. A pass differs
where it does itself, or where a list of it decided otherwise."""

JUDGED_THROTTLES: Final = schema_of(
    {
        "seq": pl.UInt64,
        "pass": pl.UInt64,
        "list": pl.UInt64,
        "pid": pl.Int32,
        "reason": THROTTLE,
        "timeout_us": pl.UInt32,
        "raced": pl.Boolean,
        "fault": STALL_FAULT,
    }
)
"""One row per call that asked for a sleep: as JUDGED_LISTS."""

STALL_FAULTS: Final = schema_of({"seq": pl.UInt64, "table": pl.String, "fault": STALL_FAULT})
"""One row per row of a trace, by its table, that is not as the rules have it; in order of seq."""

VERIFIED_STALLS: Final = schema_of(
    {
        "trace": pl.String,
        "rules": RULE_SET,
        "cpus": pl.UInt32,
        "folios": pl.UInt64,
        "lists": pl.UInt64,
        "counted": pl.UInt64,
        "passes": pl.UInt64,
        "decided": pl.UInt64,
        "throttles": pl.UInt64,
        "held": pl.UInt64,
        "raced": pl.UInt64,
        "left_out": pl.UInt64,
    }
)
"""One row per trace of reclaim: its whole lists and those whose counters came out, its passes and
those decided as by the rules, its calls for sleeps and those that hold, how many of these three
were raced, and the lists and passes that the recording's ends cut."""
