# SPDX-License-Identifier: GPL-2.0-or-later
"""The stall rules told to a reader: as a table, and by one list that is led through them.

Columns
-------
file : whether the page is a file's
decision : what is decided
RULE_SPANS.rules : sets of rules that decide it so
text : the rule in few words
since : since when it is so, a kernel or "the series"
place : of the page on its list, from 1
LIST_OF_PAGES.dirty, LIST_OF_PAGES.writeback, reclaim : the page's flags
LIST_OF_PAGES.congested : whether its device is
buffers : whether the filesystem answers by its buffers
locked : somebody else has it, so that reclaim does not look at it
meeting : which time that reclaim meets the list
file_taken : file pages that were isolated
written : pages that reclaim wrote
freed : pages that were freed
freed_under_writeback : those of them that were being written
fate : what became of the page, in words
why : an act, whether it is done, and why
CODE_CLAIMS.patch : which of the eight
CODE_CLAIMS.pages : the list
seen : what is looked at
before, after : what the rules make of it with one patch less, and with the patch
holds : whether that is as claimed
"""

from typing import Final

import polars as pl

from swapsim.frames.table import schema_of
from swapsim.stall.tables import THROTTLE
from swapsim.stall.tables_decisions import RULE_SET, STALL_PAGES

RULE_SPANS: Final = schema_of(
    {
        "decision": pl.String,
        "rules": pl.List(pl.String),
        "text": pl.String,
        "since": pl.String,
    }
)
"""One row per decision and run of rule sets, by age, that take it alike: the rule in few words, and
since when it is so, a kernel or "the series"."""

LIST_OF_PAGES: Final = schema_of(
    {"place": pl.UInt32, "page": pl.String, **STALL_PAGES, "locked": pl.Boolean}
)
"""One row per page of a list: its place from 1, what it is in words, and in STALL_PAGES' terms.
``locked``: somebody else has it, so that reclaim does not look at it."""

LED_ENDS: Final = schema_of(
    {
        "meeting": pl.UInt32,
        "rules": RULE_SET,
        "taken": pl.UInt64,
        "file_taken": pl.UInt64,
        "dirty": pl.UInt64,
        "unqueued_dirty": pl.UInt64,
        "congested": pl.UInt64,
        "writeback": pl.UInt64,
        "immediate": pl.UInt64,
        "flags_before": pl.List(pl.String),
        "flags_set": pl.List(pl.String),
        "flags_after": pl.List(pl.String),
        "slept": pl.UInt32,
        "sleeps": pl.List(THROTTLE),
        "written": pl.UInt32,
        "freed": pl.UInt32,
        "freed_under_writeback": pl.UInt32,
    }
)
"""One row per rule set and meeting of the list: what was counted, flagged, and asked for.
``slept``: sleeps in the middle of the list; ``sleeps``: asked for at its end."""

LED_PAGES: Final = schema_of(
    {
        "meeting": pl.UInt32,
        "rules": RULE_SET,
        "place": pl.UInt32,
        "page": pl.String,
        "fate": pl.String,
    }
)
"""One row per rule set, meeting and page: what became of it, in words."""

LED_WHY: Final = schema_of({"meeting": pl.UInt32, "rules": RULE_SET, "why": pl.String})
"""One row per act of a rule set, in order, at each meeting: whether it is done, and why."""

CODE_CLAIMS: Final = schema_of(
    {
        "patch": pl.UInt8,
        "claim": pl.String,
        "pages": pl.String,
        "seen": pl.String,
        "before": pl.String,
        "after": pl.String,
        "holds": pl.Boolean,
    }
)
"""One row per trial of a claim about the code: a list, what is looked at, what the rules make of it
with one patch less and with the patch, and whether that is as claimed."""
