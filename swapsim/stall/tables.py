# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of reclaim's recordings and of what the stall rules make of them."""

from typing import Final

import polars as pl

from swapsim.ffi import facts
from swapsim.frames import columns
from swapsim.frames.table import RATIO, Column, Table, Vocabulary

FOLIO_OUTCOME: Final = Vocabulary(
    "FOLIO_OUTCOME",
    "What became of a folio: ``kept`` on the inactive list (or, of one waited for, on its "
    "own list, to be met again); ``activated`` and counted so; ``written``: given to its "
    "file system or to swap, and not taken out; ``culled``: on its way to the active list, "
    "but locked into memory and not counted.",
    (
        "reclaimed",
        "kept",
        "activated",
        "written",
        "culled",
        "split",
    ),
)

FOLIO_STEP: Final = Vocabulary(
    "FOLIO_STEP",
    "Where a folio's way through shrink_folio_list ended, in the order of the way. What lies"
    " before the accounting: ``lock``, ``evictable`` and ``mapped``. ``dirty``: a dirty page"
    " of a file that this reclaimer may not write; ``no_write``: it may, but its context "
    "forbids.",
    facts.STALL_STEPS,
)

THROTTLE: Final = Vocabulary(
    "THROTTLE",
    "A sleep that reclaim asks for: the four reasons of 6.1's reclaim_throttle, and 2013's calls.",
    facts.STALL_SLEEPS,
)

CLEARED_BY: Final = Vocabulary(
    "CLEARED_BY",
    "Who clears flags: kswapd with its node balanced, or after it shrank a zone (2013); case"
    " 1 of a folio under writeback (before series-3); the end of direct reclaim of a memory "
    "cgroup.",
    facts.STALL_CLEARS,
)

_LIST: Final = Column("list", pl.UInt64, "what one call of shrink_inactive_list took")
_FILE: Final = Column("file", pl.Boolean, "whether it is a list of file pages")
RECLAIM_FOLIOS: Final = Table(
    "RECLAIM_FOLIOS",
    "One row per folio that shrink_folio_list takes from its list for shrink_inactive_list, "
    "written when its way ends; one that was waited for (case 3) has a row each time it is "
    "met. ``file``: on a list of file pages. ``dirty``, ``writeback``, ``reclaim``: the "
    "folio's own flags as the accounting reads them, of anonymous folios too; what counts, "
    "the rules decide. ``private``: it has private data; ``fs_dirty`` and ``fs_writeback``: "
    "what its file system says of it, null where it was not asked. ``mapping`` (0: none) is "
    "the same number for the same mapping, ``index`` the page of it; ``swap``: the mapping "
    "is one of the swap cache. ``outcome`` and ``step``: what became of it, and where. "
    "``clean``: null unless it was written; it came back clean and went on. "
    "``under_writeback`` and ``node_flags``: as the tests of the three cases, and of the "
    "right to write, saw them, null where its way ended before. ``marked``: the reclaim flag"
    " as the last of these tests saw it, which may have changed since the accounting; null "
    "where none asked. ``pages``: of 4 KiB, as the accounting counts them; ``pages_end``: "
    "when its way ended, fewer if it was split. ``lazyfree``: an anonymous folio that needs "
    "no swap, on a list of file pages but accounted as anonymous. ``buffers``: the file "
    "system's answer is that of the folio's buffers, else it is NFS's; null where it was not"
    " asked. ``congested``: its device was, when the accounting asked; null where it did "
    "not, as in 6.1.",
    columns.SEQ,
    columns.CPU,
    columns.PID,
    _LIST,
    _FILE,
    Column("dirty", pl.Boolean, "the folio's own flags"),
    Column("writeback", pl.Boolean, "the folio's own flags"),
    Column("reclaim", pl.Boolean, "the folio's own flags"),
    Column("private", pl.Boolean, "whether it has private data"),
    Column("fs_dirty", pl.Boolean, "what its filesystem says of it, null where it was not asked"),
    Column(
        "fs_writeback", pl.Boolean, "what its filesystem says of it, null where it was not asked"
    ),
    Column("mapping", pl.UInt64, "the same number for the same mapping; 0: none"),
    Column("index", pl.UInt64, "the folio's place in its mapping"),
    Column("outcome", FOLIO_OUTCOME.dtype, "what became of it, and where"),
    Column(
        "clean",
        pl.Boolean,
        "whether it came back clean from being written; null unless it was written",
    ),
    Column("step", FOLIO_STEP.dtype, "what became of it, and where"),
    Column(
        "under_writeback",
        pl.Boolean,
        "as the tests of the three cases saw them, null where its way ended before",
    ),
    Column(
        "node_flags",
        pl.UInt8,
        "as the tests of the three cases saw them, null where its way ended before",
    ),
    Column("marked", pl.Boolean, "the reclaim flag as the last of these tests saw it"),
    Column("pages", pl.UInt32, "of 4 KiB, as it was met and as its way ended"),
    Column("pages_end", pl.UInt32, "of 4 KiB, as it was met and as its way ended"),
    columns.LAZYFREE,
    Column("swap", pl.Boolean, "whether its mapping is one of the swap cache"),
    Column("buffers", pl.Boolean, "whether the filesystem's answer is that of its buffers"),
    Column("congested", pl.Boolean, "whether its device was, null where nobody asked"),
)

_PASS: Final = Column(
    "pass", pl.UInt64, "a turn of shrink_node's loop over a node; 0 outside of any"
)
_NID: Final = Column("nid", pl.UInt16, "the node")
_MEMCG: Final = Column("memcg", pl.UInt64, "a memory cgroup; 0 is the root, or no one's")
_PRIORITY: Final = Column("priority", pl.Int8, "reclaim's priority")
_KSWAPD: Final = Column("kswapd", pl.Boolean, "whether kswapd has it")
_TAKEN: Final = Column("taken", pl.UInt32, "pages of 4 KiB that were isolated")
_DIRTY: Final = Column("dirty", pl.UInt32, "a counter of reclaim_stat, in pages")
_UNQUEUED_DIRTY: Final = Column("unqueued_dirty", pl.UInt32, "a counter of reclaim_stat, in pages")
_CONGESTED: Final = Column("congested", pl.UInt32, "a counter of reclaim_stat, in pages")
_WRITEBACK: Final = Column("writeback", pl.UInt32, "a counter of reclaim_stat, in pages")
_IMMEDIATE: Final = Column("immediate", pl.UInt32, "a counter of reclaim_stat, in pages")
_FLAGS_BEFORE: Final = Column(
    "flags_before",
    pl.UInt8,
    "flags of the node as it began, as this row found them, and those that it set itself",
)
_FLAGS_AFTER: Final = Column(
    "flags_after",
    pl.UInt8,
    "flags of the node as it began, as this row found them, and those that it set itself",
)
_FLAGS_SET: Final = Column(
    "flags_set",
    pl.UInt8,
    "flags of the node as it began, as this row found them, and those that it set itself",
)
_SANE: Final = Column("sane", pl.Boolean, "whether writeback throttles this cgroup's writers")
_HIBERNATION: Final = Column("hibernation", pl.Boolean, "whether the machine is being hibernated")
RECLAIM_LISTS: Final = Table(
    "RECLAIM_LISTS",
    "One row per list of shrink_inactive_list that had a page, at its end. ``pass``: the "
    "pass that it belongs to, 0 for a list outside any (a soft limit's). ``memcg``: whose "
    "pages it holds, 0 for the root's; ``target``: the cgroup that reclaim aims at, 0 if it "
    "is global. ``taken``: pages of 4 KiB isolated. The counters are those of reclaim_stat, "
    "in pages. ``scanned``: what its folios added to the reclaimer's nr_scanned; "
    "``reclaimed``: pages given back. ``flags_before`` as it began, ``flags_after`` as this "
    "row found them while it was filled in, ``flags_set`` those that the list itself set, "
    "whether they were set already or not. ``sane``: writeback throttles this cgroup's "
    "writers (writeback_throttling_sane). ``io`` and ``fs``: gfp_mask allows them.",
    columns.SEQ,
    columns.CPU,
    columns.PID,
    _LIST,
    _PASS,
    _NID,
    _MEMCG,
    _PRIORITY,
    _KSWAPD,
    _FILE,
    _TAKEN,
    _DIRTY,
    _UNQUEUED_DIRTY,
    _CONGESTED,
    _WRITEBACK,
    _IMMEDIATE,
    Column("pageout", pl.UInt32, "a counter of reclaim_stat, in pages"),
    Column("activate_anon", pl.UInt32, "likewise"),
    Column("activate_file", pl.UInt32, "likewise"),
    Column("ref_keep", pl.UInt32, "likewise"),
    Column("unmap_fail", pl.UInt32, "likewise"),
    Column("lazyfree_fail", pl.UInt32, "likewise"),
    Column("scanned", pl.UInt32, "pages looked at, and given back"),
    Column("reclaimed", pl.UInt32, "pages looked at, and given back"),
    _FLAGS_BEFORE,
    _FLAGS_AFTER,
    _FLAGS_SET,
    Column("target", pl.UInt64, "the cgroup that reclaim aims at; 0 if it is global"),
    _SANE,
    Column("io", pl.Boolean, "whether the allocation allows IO, and to enter the filesystem"),
    Column("fs", pl.Boolean, "whether the allocation allows IO, and to enter the filesystem"),
    _HIBERNATION,
)

_THROTTLE: Final = Column("throttle", THROTTLE.dtype, "the sleep that it asked for, null for none")
_SCANNED: Final = Column("scanned", pl.UInt64, "pages looked at, and given back")
_RECLAIMED: Final = Column("reclaimed", pl.UInt64, "pages looked at, and given back")
RECLAIM_PASSES: Final = Table(
    "RECLAIM_PASSES",
    "One row per pass over a node: each turn of shrink_node's loop, at its end. ``memcg``: "
    "the cgroup that reclaim aims at, 0 if it is global. ``dirty`` to ``file_taken``: its "
    "lists' counters, added up. ``flags_before`` as it began, ``flags_after`` as this row "
    "found them while it was filled in, congestion as the test for the sleep of direct "
    "reclaim did, ``flags_set`` those that the pass itself set, whether they were set "
    "already or not. ``throttle``: the sleep that it asked for, null for none; whether "
    "reclaim slept, its row in THROTTLES tells. ``may_throttle``: current_may_throttle. "
    "``scanned`` and ``reclaimed``: pages of this pass, reclaimed ones of shrinkers "
    "included.",
    columns.SEQ,
    columns.CPU,
    columns.PID,
    _PASS,
    _NID,
    _MEMCG,
    _KSWAPD,
    _PRIORITY,
    _DIRTY,
    _UNQUEUED_DIRTY,
    _CONGESTED,
    _WRITEBACK,
    _IMMEDIATE,
    _TAKEN,
    Column("file_taken", pl.UInt32, "those of files"),
    _FLAGS_BEFORE,
    _FLAGS_AFTER,
    _FLAGS_SET,
    _THROTTLE,
    _HIBERNATION,
    Column(
        "may_throttle", pl.Boolean, "whether the task may be put to sleep (current_may_throttle)"
    ),
    _SANE,
    _SCANNED,
    _RECLAIMED,
)

_REASON: Final = Column("reason", THROTTLE.dtype, "what the sleep is for")
THROTTLES: Final = Table(
    "THROTTLES",
    "One row per call that asks for a sleep, at its return, also where it declined to sleep."
    " ``pass`` and ``list``: who asked, 0 where none did: a list names both, a pass or a "
    "round itself alone, compaction and writeback neither. ``timeout_us`` is 0 for a sleep "
    "that was declined, ``delayed_us`` how long it was. What the call decides by: "
    "``kthread``, it is a kernel thread but not kswapd; ``failures`` of kswapd in a row; "
    "pages ``reclaimable`` and ``write_pending``, 0 where it did not count them; for 2013's "
    "sleeps ``congested_devices`` and the ``flags`` that it saw, else null.",
    columns.SEQ,
    columns.CPU,
    columns.PID,
    _PASS,
    _NID,
    _REASON,
    Column("timeout_us", pl.UInt32, "how long it may be, 0 if it was declined; how long it was"),
    Column("delayed_us", pl.UInt32, "how long it may be, 0 if it was declined; how long it was"),
    _LIST,
    Column("kthread", pl.Boolean, "whether the caller is a kernel thread but not kswapd"),
    Column("failures", pl.UInt32, "failures of kswapd in a row"),
    Column("reclaimable", pl.UInt64, "pages that the call counts, 0 where it does not"),
    Column("write_pending", pl.UInt64, "pages that the call counts, 0 where it does not"),
    Column("congested_devices", pl.UInt32, "what 2013's calls look at, else null"),
    Column("flags", pl.UInt8, "what 2013's calls look at, else null"),
)

RECLAIM_ROUNDS: Final = Table(
    "RECLAIM_ROUNDS",
    "One row per round of direct reclaim over its nodes: the end of shrink_zones. ``pass``: "
    "its last one; ``nid``: its first node, where it sleeps. ``scanned`` of this round, "
    "``reclaimed`` since reclaim began, ``wanted`` when it is enough. ``ready``: memory can "
    "be compacted, which also ends it. ``throttle``: the sleep that it asked for, null for "
    "none.",
    columns.SEQ,
    columns.CPU,
    columns.PID,
    _PASS,
    _NID,
    _MEMCG,
    _PRIORITY,
    _SCANNED,
    _RECLAIMED,
    _KSWAPD,
    _HIBERNATION,
    _THROTTLE,
    Column("wanted", pl.UInt64, "when it is enough"),
    Column("ready", pl.Boolean, "whether memory can be compacted, which also ends it"),
)

RECLAIM_CLEARS: Final = Table(
    "RECLAIM_CLEARS",
    "One row per clearing of flags, set before or not: ``flags`` are those cleared, "
    "``memcg`` the cgroup whose congestion ends, 0 for the node's own.",
    columns.SEQ,
    columns.CPU,
    columns.PID,
    _NID,
    _MEMCG,
    Column("flags", pl.UInt8, "those cleared"),
    Column("why", CLEARED_BY.dtype, "what cleared them"),
)

STALL_FATE: Final = Vocabulary(
    "STALL_FATE",
    "What rules make of a page: ``enum sws_stall_fate`` of ``stall.h``.",
    facts.STALL_FATES,
)

RULE_SET: Final = Vocabulary("RULE_SET", "The rule sets, in order of age.", facts.STALL_RULES)

_DIRTY_2: Final = Column("dirty", pl.UInt32, "dirty pages, as the rules count them")
_UNQUEUED_DIRTY_2: Final = Column(
    "unqueued_dirty", pl.UInt32, "those that are not queued for writing"
)
_CONGESTED_2: Final = Column(
    "congested", pl.UInt32, "pages on a congested device, as the rules count them"
)
_WRITEBACK_2: Final = Column("writeback", pl.UInt32, "pages under writeback")
_IMMEDIATE_2: Final = Column(
    "immediate", pl.UInt32, "those under writeback that are marked for immediate reclaim"
)
_FLAGS_BEFORE_2: Final = Column("flags_before", pl.UInt8, "flags of the node or zone as it began")
_FLAGS_SET_2: Final = Column(
    "flags_set", pl.UInt8, "those that it sets, whether they were set already or not"
)
_FLAGS_CLEARED: Final = Column("flags_cleared", pl.UInt8, "those that case 1 cleared on the way")
_FLAGS_AFTER_2: Final = Column("flags_after", pl.UInt8, "flags as it ended")
_SLEEPS: Final = Column("sleeps", pl.List(THROTTLE.dtype), "sleeps that are asked for, in order")
_SLEPT: Final = Column("slept", pl.UInt32, "sleeps on the way, of case 1")
_UNTOLD: Final = Column("untold", pl.UInt32, "folios led on from where the recording ends")
STALL_LISTS: Final = Table(
    "STALL_LISTS",
    "One row per list: what one rule set counts and decides at its end. ``flags_set``: those"
    " that the end of the list sets, whether they were set already or not; "
    "``flags_cleared``: those that case 1 cleared on the way. ``sleeps``: asked for at the "
    "end, in that order; ``slept``: sleeps of case 1, congestion_wait on the way. ``wakes``:"
    " the flushers are woken. ``writes``: pages given to pageout. ``untold``: pages that the"
    " rules lead on from where the recording ends, so that nobody knows what would have "
    "come.",
    _LIST,
    _DIRTY_2,
    _UNQUEUED_DIRTY_2,
    _CONGESTED_2,
    _WRITEBACK_2,
    _IMMEDIATE_2,
    _FLAGS_BEFORE_2,
    _FLAGS_SET_2,
    _FLAGS_CLEARED,
    _FLAGS_AFTER_2,
    _SLEEPS,
    Column("wakes", pl.Boolean, "whether the flushers are woken"),
    _SLEPT,
    Column("writes", pl.UInt32, "pages given to pageout"),
    _UNTOLD,
)

STALL_PASSES: Final = Table(
    "STALL_PASSES",
    "One row per pass or round, in the order given: what it sets, and the sleep that it asks for.",
    _FLAGS_SET_2,
    _FLAGS_AFTER_2,
    Column("throttle", THROTTLE.dtype, "the sleep that is asked for, null for none"),
)

_TIMEOUT_US: Final = Column(
    "timeout_us", pl.UInt32, "how long the sleep may be; 0 if it is declined"
)
STALL_SLEEPERS: Final = Table(
    "STALL_SLEEPERS",
    "One row per call that asks for a sleep: how long it may be, 0 with a reason if declined.",
    _TIMEOUT_US,
    Column("declined", pl.String, "why it is declined"),
)

_FILE_2: Final = Column("file", pl.Boolean, "whether it is of file pages")
_DIRTY_2_2: Final = Column("dirty", pl.Boolean, "the folio's flags")
_WRITEBACK_2_2: Final = Column("writeback", pl.Boolean, "the folio's flags")
_RECLAIM: Final = Column("reclaim", pl.Boolean, "the folio's flags")
_CONGESTED_2_2: Final = Column("congested", pl.Boolean, "whether its device is")
_FS_DIRTY: Final = Column(
    "fs_dirty", pl.Boolean, "what the filesystem says of it, null where it is not asked"
)
_FS_WRITEBACK: Final = Column(
    "fs_writeback", pl.Boolean, "what the filesystem says of it, null where it is not asked"
)
_STILL: Final = Column("still", pl.Boolean, "after a sleep in case 1 it is under writeback still")
_ARRIVES: Final = Column(
    "arrives", pl.Boolean, "if nothing here stops it, it comes to the dirty test"
)
_DIRTY_LATE: Final = Column("dirty_late", pl.Boolean, "and is dirty there")
_KEPT: Final = Column("kept", pl.Boolean, "pageout keeps it")
STALL_PAGES: Final = Table(
    "STALL_PAGES",
    "One row per page of a list that is led page by page, in the order in which they are "
    "met. ``file`` to ``fs_writeback`` are those of RECLAIM_FOLIOS. What comes later is said"
    " beforehand: ``still``, after a sleep in case 1 it is under writeback still; "
    "``arrives``, if nothing here stops it, it comes to the dirty test (no reference, no "
    "failing unmap); ``dirty_late``, and is dirty there; ``kept``, pageout keeps it.",
    _FILE_2,
    _DIRTY_2_2,
    _WRITEBACK_2_2,
    _RECLAIM,
    _CONGESTED_2_2,
    Column("buffers", pl.Boolean, "whether the filesystem answers by the folio's buffers"),
    _FS_DIRTY,
    _FS_WRITEBACK,
    columns.PAGES,
    _STILL,
    _ARRIVES,
    _DIRTY_LATE,
    _KEPT,
)

STALL_WAYS: Final = Table(
    "STALL_WAYS",
    "One row per page: what the rules made of it. ``marked``: it gets the reclaim flag. "
    "``freed``: it came clean past all tests. ``freed_under_writeback``: though it was being"
    " written, mmotm's bug.",
    Column("fate", STALL_FATE.dtype, "what the rules make of the page"),
    Column("activated", pl.Boolean, "whether it goes to the active list"),
    Column("marked", pl.Boolean, "whether it gets the reclaim flag"),
    Column("slept", pl.Boolean, "whether kswapd sleeps for it, in case 1"),
    Column("waited", pl.Boolean, "whether it is waited for, in case 3"),
    Column("freed", pl.Boolean, "whether it came clean past all tests"),
    Column(
        "freed_under_writeback",
        pl.Boolean,
        "though it was being written, which was mmotm's mistake",
    ),
)

STALL_FAULT: Final = Vocabulary(
    "STALL_FAULT",
    "Where a kernel's reclaim first differs from the rules: a list's ``counters``; the "
    "``way`` of a folio, or its ``outcome``; a pass's ``sums``; flags that are set; flags "
    "that were seen and that nobody's row explains; sleeps of a list, a pass or its round "
    "that were asked for, or not; a call without an ``asker``; its ``length``; flags that "
    "were ``cleared``.",
    (
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
    ),
)

_PASS_2: Final = Column("pass", pl.UInt64, "a turn of shrink_node's loop over a node")
_RACED: Final = Column(
    "raced", pl.Boolean, "whether, or how many, could have been otherwise by the order of the rows"
)
_FAULT: Final = Column("fault", STALL_FAULT.dtype, "where it first differs from the rules")
JUDGED_LISTS: Final = Table(
    "JUDGED_LISTS",
    "One row per list that the recording holds whole: its folios, whether a flag that it saw"
    " could have been otherwise by the order of the rows, and where it first differs from "
    "the rules (null: nowhere).",
    columns.SEQ,
    _LIST,
    _PASS_2,
    columns.PID,
    Column("folios", pl.UInt32, "folios of the list, or of all lists"),
    _RACED,
    _FAULT,
)

JUDGED_PASSES: Final = Table(
    "JUDGED_PASSES",
    "One row per pass that the recording holds whole, with its round: as JUDGED_LISTS. A "
    "pass differs where it does itself, or where a list of it decided otherwise.",
    columns.SEQ,
    _PASS_2,
    columns.PID,
    Column("lists", pl.UInt32, "lists that the recording holds whole"),
    _RACED,
    _FAULT,
)

JUDGED_THROTTLES: Final = Table(
    "JUDGED_THROTTLES",
    "One row per call that asked for a sleep: as JUDGED_LISTS.",
    columns.SEQ,
    _PASS_2,
    _LIST,
    columns.PID,
    _REASON,
    _TIMEOUT_US,
    _RACED,
    _FAULT,
)

STALL_FAULTS: Final = Table(
    "STALL_FAULTS",
    "One row per row of a trace, by its table, that is not as the rules have it; in order of seq.",
    columns.SEQ,
    Column("table", pl.String, "the trace's table"),
    _FAULT,
)

_RULES: Final = Column(
    "rules", RULE_SET.dtype, "a set of stall rules, named after the kernel that had it"
)
VERIFIED_STALLS: Final = Table(
    "VERIFIED_STALLS",
    "One row per trace of reclaim: its whole lists and those whose counters came out, its "
    "passes and those decided as by the rules, its calls for sleeps and those that hold, how"
    " many of these three were raced, and the lists and passes that the recording's ends "
    "cut.",
    columns.TRACE,
    _RULES,
    Column("cpus", pl.UInt32, "CPUs of the guest"),
    Column("folios", pl.UInt64, "folios of the list, or of all lists"),
    Column("lists", pl.UInt64, "lists that the recording holds whole"),
    Column("counted", pl.UInt64, "lists whose counters come out"),
    Column("passes", pl.UInt64, "passes that the recording holds whole"),
    Column("decided", pl.UInt64, "those decided as by the rules"),
    Column("throttles", pl.UInt64, "calls for a sleep"),
    Column("held", pl.UInt64, "those that are as the rules have them"),
    Column(
        "raced",
        pl.UInt64,
        "whether, or how many, could have been otherwise by the order of the rows",
    ),
    Column("left_out", pl.UInt64, "lists and passes that the recording's ends cut"),
)

DECIDED_LISTS: Final = Table(
    "DECIDED_LISTS",
    "One row per rule set and whole list of a recording, lists in the order in which they "
    "began (``nth`` from 0): what these rules count and decide of its pages, by the flags of"
    " their own history. Where passes decide, as in 6.1, the last list of a pass has the "
    "pass's decision, and the flags are those of the recording. ``sleeps``: all that were "
    "asked for, those of case 1 first. ``forced``: one that no test can decline "
    "(congestion_wait, 6.1's writeback); ``waits``: one for congestion, with the flag set, "
    "so that it sleeps if a device is congested. Folios: ``turned`` away under writeback "
    "(cases 1 and 2), ``not_written`` though dirty, ``waited`` for (case 3), given to "
    "pageout; ``untold``: led on from where the recording ends. ``fates`` is a digest of "
    "what the rules make of each.",
    _RULES,
    Column("nth", pl.UInt32, "the list's place in the order in which lists began, from 0"),
    _LIST,
    _PASS_2,
    columns.SEQ,
    columns.PID,
    _KSWAPD,
    _PRIORITY,
    _FILE_2,
    _TAKEN,
    _DIRTY_2,
    _UNQUEUED_DIRTY_2,
    _CONGESTED_2,
    _WRITEBACK_2,
    _IMMEDIATE_2,
    _FLAGS_BEFORE_2,
    _FLAGS_SET_2,
    _FLAGS_CLEARED,
    _FLAGS_AFTER_2,
    _SLEEPS,
    Column("forced", pl.Boolean, "asks for a sleep that no test can decline"),
    Column("waits", pl.Boolean, "asks for one that is slept if a device is congested"),
    Column("turned", pl.UInt32, "folios turned away under writeback, in cases 1 and 2"),
    Column("not_written", pl.UInt32, "dirty ones that were not written"),
    Column("waited", pl.UInt32, "those waited for, in case 3"),
    Column("file_written", pl.UInt32, "those given to pageout"),
    Column("anon_written", pl.UInt32, "those given to pageout"),
    _UNTOLD,
    Column("fates", pl.UInt64, "a digest of what the rules make of each folio"),
)

_LISTS: Final = Column("lists", pl.UInt64, "how many lists")
STALL_DECISIONS: Final = Table(
    "STALL_DECISIONS",
    "One row per trace and rule set: DECIDED_LISTS added up. How many lists (where passes "
    "decide, passes) set each flag, are forced to sleep, or wait if a device is congested; "
    "how many rounds of direct reclaim ask for a nap (2013) or for progress (6.1); and the "
    "folios.",
    columns.TRACE,
    _RULES,
    _LISTS,
    Column("tail_lru_dirty", pl.UInt64, "lists that set the flag"),
    Column("writeback", pl.UInt64, "lists that set the flag"),
    Column("congested", pl.UInt64, "lists that set the flag"),
    Column("forced", pl.UInt64, "asks for a sleep that no test can decline"),
    Column("waits", pl.UInt64, "asks for one that is slept if a device is congested"),
    Column("naps", pl.UInt64, "rounds of direct reclaim that ask for a nap, or for progress"),
    Column("turned", pl.UInt64, "folios turned away under writeback, in cases 1 and 2"),
    Column("not_written", pl.UInt64, "dirty ones that were not written"),
    Column("waited", pl.UInt64, "those waited for, in case 3"),
    Column("file_written", pl.UInt64, "those given to pageout"),
    Column("anon_written", pl.UInt64, "those given to pageout"),
    Column("untold", pl.UInt64, "folios led on from where the recording ends"),
)

STALL_SLEEPS_ASKED: Final = Table(
    "STALL_SLEEPS_ASKED",
    "One row per rule set and reason for which it asks for a sleep: how often, and how often"
    " with the flag set that the call looks at, so that only devices and pages in writeback "
    "could have declined it; how long one is at most, and all of those.",
    _RULES,
    _REASON,
    Column("asked", pl.UInt64, "how often it is asked for"),
    Column("can_sleep", pl.UInt64, "how often with the flag set that the call looks at"),
    Column("longest_us", pl.UInt32, "how long one is at most"),
    Column("most_us", pl.UInt64, "and all of them"),
)

_ONE: Final = Column("one", RULE_SET.dtype, "the two sets of rules")
_OTHER: Final = Column("other", RULE_SET.dtype, "the two sets of rules")
STALL_AGREEMENT: Final = Table(
    "STALL_AGREEMENT",
    "One row per pair of rule sets: the shares of the lists of which both make the same: the"
    " ``flags`` that they set; the ``sleeps``, forced or for congestion; both, the "
    "``decisions``; and all ``folios``.",
    _ONE,
    _OTHER,
    _LISTS,
    Column("decisions", pl.Float64, "share of the lists of which both decide the same", RATIO),
    Column("flags", pl.Float64, "share of those that set the same flags", RATIO),
    Column("sleeps", pl.Float64, "share of those that ask for the same sleeps", RATIO),
    Column("folios", pl.Float64, "share of those of whose folios they make the same", RATIO),
)

STALL_PARTINGS: Final = Table(
    "STALL_PARTINGS",
    "One row per pair of rule sets, decision in which lists differ, and its first cause: how"
    " many lists, and the first of them. The cause is the first counter that differs; where "
    "none does, the flags that the list found (``history``), or the ``rule`` itself.",
    _ONE,
    _OTHER,
    Column("decision", pl.String, "what they decide otherwise"),
    Column("cause", pl.String, "the first counter that differs, ``history`` or ``rule``"),
    _LISTS,
    Column("list", pl.UInt64, "the first such list"),
    Column("seq", pl.UInt64, "the first such list"),
)

FOLIO_FATES: Final = Table(
    "FOLIO_FATES",
    "One row per rule set and folio of some lists, in order: where its way ended in the "
    "recording, and what these rules make of it.",
    _RULES,
    _LIST,
    columns.SEQ,
    _FILE_2,
    _DIRTY_2_2,
    _WRITEBACK_2_2,
    _RECLAIM,
    Column("step", FOLIO_STEP.dtype, "where its way ended in the recording"),
    Column("fate", STALL_FATE.dtype, "what these rules make of it"),
)

RULE_SPANS: Final = Table(
    "RULE_SPANS",
    "One row per decision and run of rule sets, by age, that take it alike: the rule in few "
    'words, and since when it is so, a kernel or "the series".',
    Column("decision", pl.String, "what is decided"),
    Column("rules", pl.List(pl.String), "sets of rules that decide it so"),
    Column("text", pl.String, "the rule in few words"),
    Column("since", pl.String, 'since when it is so, a kernel or "the series"'),
)

_PLACE: Final = Column("place", pl.UInt32, "of the page on its list, from 1")
_PAGE: Final = Column("page", pl.String, "the page, as a number or in words")
LIST_OF_PAGES: Final = Table(
    "LIST_OF_PAGES",
    "One row per page of a list: its place from 1, what it is in words, and in STALL_PAGES' "
    "terms. ``locked``: somebody else has it, so that reclaim does not look at it.",
    _PLACE,
    _PAGE,
    Column("file", pl.Boolean, "whether the page is a file's"),
    Column("dirty", pl.Boolean, "the page's flags"),
    Column("writeback", pl.Boolean, "the page's flags"),
    Column("reclaim", pl.Boolean, "the page's flags"),
    _CONGESTED_2_2,
    Column("buffers", pl.Boolean, "whether the filesystem answers by its buffers"),
    _FS_DIRTY,
    _FS_WRITEBACK,
    columns.PAGES,
    _STILL,
    _ARRIVES,
    _DIRTY_LATE,
    _KEPT,
    Column("locked", pl.Boolean, "somebody else has it, so that reclaim does not look at it"),
)

_MEETING: Final = Column("meeting", pl.UInt32, "which time that reclaim meets the list")
LED_ENDS: Final = Table(
    "LED_ENDS",
    "One row per rule set and meeting of the list: what was counted, flagged, and asked for."
    " ``slept``: sleeps in the middle of the list; ``sleeps``: asked for at its end.",
    _MEETING,
    _RULES,
    Column("taken", pl.UInt64, "pages of 4 KiB that were isolated"),
    Column("file_taken", pl.UInt64, "file pages that were isolated"),
    Column("dirty", pl.UInt64, "dirty pages, as the rules count them"),
    Column("unqueued_dirty", pl.UInt64, "those that are not queued for writing"),
    Column("congested", pl.UInt64, "pages on a congested device, as the rules count them"),
    Column("writeback", pl.UInt64, "pages under writeback"),
    Column("immediate", pl.UInt64, "those under writeback that are marked for immediate reclaim"),
    Column("flags_before", pl.List(pl.String), "flags of the node or zone as it began"),
    Column(
        "flags_set", pl.List(pl.String), "those that it sets, whether they were set already or not"
    ),
    Column("flags_after", pl.List(pl.String), "flags as it ended"),
    _SLEPT,
    _SLEEPS,
    Column("written", pl.UInt32, "pages that reclaim wrote"),
    Column("freed", pl.UInt32, "pages that were freed"),
    Column("freed_under_writeback", pl.UInt32, "those of them that were being written"),
)

LED_PAGES: Final = Table(
    "LED_PAGES",
    "One row per rule set, meeting and page: what became of it, in words.",
    _MEETING,
    _RULES,
    _PLACE,
    _PAGE,
    Column("fate", pl.String, "what became of the page, in words"),
)

LED_WHY: Final = Table(
    "LED_WHY",
    "One row per act of a rule set, in order, at each meeting: whether it is done, and why.",
    _MEETING,
    _RULES,
    Column("why", pl.String, "an act, whether it is done, and why"),
)

CODE_CLAIMS: Final = Table(
    "CODE_CLAIMS",
    "One row per trial of a claim about the code: a list, what is looked at, what the rules "
    "make of it with one patch less and with the patch, and whether that is as claimed.",
    Column("patch", pl.UInt8, "which of the eight"),
    columns.CLAIM,
    Column("pages", pl.String, "the list"),
    Column("seen", pl.String, "what is looked at"),
    Column(
        "before", pl.String, "what the rules make of it with one patch less, and with the patch"
    ),
    Column("after", pl.String, "what the rules make of it with one patch less, and with the patch"),
    Column("holds", pl.Boolean, "whether that is as claimed"),
)
