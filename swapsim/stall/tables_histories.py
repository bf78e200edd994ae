# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of reclaim under every set of rules: decisions, and where they agree or part.

Columns
-------
nth : the list's place in the order in which lists began, from 0
forced : asks for a sleep that no test can decline
waits : asks for one that is slept if a device is congested
turned : folios turned away under writeback, in cases 1 and 2
not_written : dirty ones that were not written
waited : those waited for, in case 3
file_written, anon_written : those given to pageout
fates : a digest of what the rules make of each folio
lists : how many lists
tail_lru_dirty, STALL_DECISIONS.writeback, STALL_DECISIONS.congested : lists that set the flag
naps : rounds of direct reclaim that ask for a nap, or for progress
asked : how often it is asked for
can_sleep : how often with the flag set that the call looks at
longest_us : how long one is at most
most_us : and all of them
one, other : the two sets of rules
decisions : share of the lists of which both decide the same
flags : share of those that set the same flags
STALL_AGREEMENT.sleeps : share of those that ask for the same sleeps
folios : share of those of whose folios they make the same
decision : what they decide otherwise
cause : the first counter that differs, ``history`` or ``rule``
STALL_PARTINGS.list, STALL_PARTINGS.seq : the first such list
FOLIO_FATES.dirty, FOLIO_FATES.writeback, FOLIO_FATES.reclaim : the folio's flags
step : where its way ended in the recording
fate : what these rules make of it
"""

from typing import Final

import polars as pl

from swapsim.frames.table import schema_of
from swapsim.stall.tables import FOLIO_STEP, THROTTLE
from swapsim.stall.tables_decisions import RULE_SET, STALL_FATE

DECIDED_LISTS: Final = schema_of(
    {
        "rules": RULE_SET,
        "nth": pl.UInt32,
        "list": pl.UInt64,
        "pass": pl.UInt64,
        "seq": pl.UInt64,
        "pid": pl.Int32,
        "kswapd": pl.Boolean,
        "priority": pl.Int8,
        "file": pl.Boolean,
        "taken": pl.UInt32,
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
        "forced": pl.Boolean,
        "waits": pl.Boolean,
        "turned": pl.UInt32,
        "not_written": pl.UInt32,
        "waited": pl.UInt32,
        "file_written": pl.UInt32,
        "anon_written": pl.UInt32,
        "untold": pl.UInt32,
        "fates": pl.UInt64,
    }
)
"""One row per rule set and whole list of a recording, lists in the order in which they began
(``nth`` from 0): what these rules count and decide of its pages, by the flags of their own history.

Where passes decide, as in 6.1, the last list of a pass has the pass's decision, and the flags are
those of the recording. ``sleeps``: all that were asked for, those of case 1 first. ``forced``: one
that no test can decline (congestion_wait, 6.1's writeback); ``waits``: one for congestion, with the
flag set, so that it sleeps if a device is congested. Folios: ``turned`` away under writeback (cases
1 and 2), ``not_written`` though dirty, ``waited`` for (case 3), given to pageout; ``untold``: led
on from where the recording ends. ``fates`` is a digest of what the rules make of each."""

STALL_DECISIONS: Final = schema_of(
    {
        "trace": pl.String,
        "rules": RULE_SET,
        "lists": pl.UInt64,
        "tail_lru_dirty": pl.UInt64,
        "writeback": pl.UInt64,
        "congested": pl.UInt64,
        "forced": pl.UInt64,
        "waits": pl.UInt64,
        "naps": pl.UInt64,
        "turned": pl.UInt64,
        "not_written": pl.UInt64,
        "waited": pl.UInt64,
        "file_written": pl.UInt64,
        "anon_written": pl.UInt64,
        "untold": pl.UInt64,
    }
)
"""One row per trace and rule set: DECIDED_LISTS added up. How many lists (where passes decide,
passes) set each flag, are forced to sleep, or wait if a device is congested; how many rounds of
direct reclaim ask for a nap (2013) or for progress (6.1); and the folios."""

STALL_SLEEPS_ASKED: Final = schema_of(
    {
        "rules": RULE_SET,
        "reason": THROTTLE,
        "asked": pl.UInt64,
        "can_sleep": pl.UInt64,
        "longest_us": pl.UInt32,
        "most_us": pl.UInt64,
    }
)
"""One row per rule set and reason for which it asks for a sleep: how often, and how often with the
flag set that the call looks at, so that only devices and pages in writeback could have declined it;
how long one is at most, and all of those."""

STALL_AGREEMENT: Final = schema_of(
    {
        "one": RULE_SET,
        "other": RULE_SET,
        "lists": pl.UInt64,
        "decisions": pl.Float64,
        "flags": pl.Float64,
        "sleeps": pl.Float64,
        "folios": pl.Float64,
    }
)
"""One row per pair of rule sets: the shares of the lists of which both make the same: the ``flags``
that they set; the ``sleeps``, forced or for congestion; both, the ``decisions``; and all
``folios``."""

STALL_PARTINGS: Final = schema_of(
    {
        "one": RULE_SET,
        "other": RULE_SET,
        "decision": pl.String,
        "cause": pl.String,
        "lists": pl.UInt64,
        "list": pl.UInt64,
        "seq": pl.UInt64,
    }
)
"""One row per pair of rule sets, decision in which lists differ, and its first cause: how many
lists, and the first of them. The cause is the first counter that differs; where none does, the
flags that the list found (``history``), or the ``rule`` itself."""

FOLIO_FATES: Final = schema_of(
    {
        "rules": RULE_SET,
        "list": pl.UInt64,
        "seq": pl.UInt64,
        "file": pl.Boolean,
        "dirty": pl.Boolean,
        "writeback": pl.Boolean,
        "reclaim": pl.Boolean,
        "step": FOLIO_STEP,
        "fate": STALL_FATE,
    }
)
"""One row per rule set and folio of some lists, in order: where its way ended in the recording, and
what these rules make of it."""
