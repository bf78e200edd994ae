# SPDX-License-Identifier: GPL-2.0-or-later
"""What a real kernel's reclaim met, decided and slept: folios, lists, passes, rounds, throttles.

All are sorted by ``seq``, which no two rows of a trace share, and a row is written when what it
tells of ends. ``pid`` is the reclaiming task. ``list`` and ``pass`` are numbers that the kernel
gives out from 1 as a recording begins, 0 where there is none. Flags are a sum of 1
(tail_lru_dirty: PGDAT_DIRTY in 6.1), 2 (writeback) and 4 (congested): 1 and 2 are the node's, 4 is
that of the lruvec that reclaim aims at.

Columns
-------
pass : a turn of shrink_node's loop over a node; 0 outside of any
nid : the node
memcg : a memory cgroup; 0 is the root, or no one's
file_taken : those of files
dirty, unqueued_dirty, congested, writeback, immediate, pageout : a counter of reclaim_stat, in
    pages
activate_anon, activate_file, ref_keep, unmap_fail, lazyfree_fail : likewise
scanned, reclaimed : pages looked at, and given back
flags_before, flags_after, flags_set : flags of the node as it began, as this row found them, and
    those that it set itself
throttle : the sleep that it asked for, null for none
hibernation : whether the machine is being hibernated
sane : whether writeback throttles this cgroup's writers
io, fs : whether the allocation allows IO, and to enter the filesystem
target : the cgroup that reclaim aims at; 0 if it is global
may_throttle : whether the task may be put to sleep (current_may_throttle)
RECLAIM_FOLIOS.file, RECLAIM_LISTS.file : whether it is a list of file pages
RECLAIM_FOLIOS.dirty, RECLAIM_FOLIOS.writeback, RECLAIM_FOLIOS.reclaim : the folio's own flags
private : whether it has private data
fs_dirty, fs_writeback : what its filesystem says of it, null where it was not asked
mapping : the same number for the same mapping; 0: none
index : the folio's place in its mapping
outcome, step : what became of it, and where
clean : whether it came back clean from being written; null unless it was written
under_writeback, node_flags : as the tests of the three cases saw them, null where its way ended
    before
marked : the reclaim flag as the last of these tests saw it
RECLAIM_FOLIOS.pages, pages_end : of 4 KiB, as it was met and as its way ended
swap : whether its mapping is one of the swap cache
buffers : whether the filesystem's answer is that of its buffers
RECLAIM_FOLIOS.congested : whether its device was, null where nobody asked
timeout_us, delayed_us : how long it may be, 0 if it was declined; how long it was
kthread : whether the caller is a kernel thread but not kswapd
failures : failures of kswapd in a row
reclaimable, write_pending : pages that the call counts, 0 where it does not
congested_devices, flags : what 2013's calls look at, else null
wanted : when it is enough
ready : whether memory can be compacted, which also ends it
RECLAIM_CLEARS.flags : those cleared
why : what cleared them
"""

from typing import Final

import polars as pl

from swapsim.ffi.facts import STALL_CLEARS, STALL_SLEEPS, STALL_STEPS
from swapsim.frames.table import schema_of

FOLIO_OUTCOME: Final = pl.Enum(["reclaimed", "kept", "activated", "written", "culled", "split"])
"""What became of a folio: ``kept`` on the inactive list (or, of one waited for, on its own list, to
be met again); ``activated`` and counted so; ``written``: given to its file system or to swap, and
not taken out; ``culled``: on its way to the active list, but locked into memory and not counted."""

FOLIO_STEP: Final = pl.Enum(STALL_STEPS)
"""Where a folio's way through shrink_folio_list ended, in the order of the way. What lies before
the accounting: ``lock``, ``evictable`` and ``mapped``. ``dirty``: a dirty page of a file that this
reclaimer may not write; ``no_write``: it may, but its context forbids."""

THROTTLE: Final = pl.Enum(STALL_SLEEPS)
"""A sleep that reclaim asks for: the four reasons of 6.1's reclaim_throttle, and 2013's calls."""

CLEARED_BY: Final = pl.Enum(STALL_CLEARS)
"""Who clears flags: kswapd with its node balanced, or after it shrank a zone (2013); case 1 of a
folio under writeback (before series-3); the end of direct reclaim of a memory cgroup."""

RECLAIM_FOLIOS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "list": pl.UInt64,
        "file": pl.Boolean,
        "dirty": pl.Boolean,
        "writeback": pl.Boolean,
        "reclaim": pl.Boolean,
        "private": pl.Boolean,
        "fs_dirty": pl.Boolean,
        "fs_writeback": pl.Boolean,
        "mapping": pl.UInt64,
        "index": pl.UInt64,
        "outcome": FOLIO_OUTCOME,
        "clean": pl.Boolean,
        "step": FOLIO_STEP,
        "under_writeback": pl.Boolean,
        "node_flags": pl.UInt8,
        "marked": pl.Boolean,
        "pages": pl.UInt32,
        "pages_end": pl.UInt32,
        "lazyfree": pl.Boolean,
        "swap": pl.Boolean,
        "buffers": pl.Boolean,
        "congested": pl.Boolean,
    }
)
"""One row per folio that shrink_folio_list takes from its list for shrink_inactive_list, written
when its way ends; one that was waited for (case 3) has a row each time it is met.

``file``: on a list of file pages. ``dirty``, ``writeback``, ``reclaim``: the folio's own flags as
the accounting reads them, of anonymous folios too; what counts, the rules decide. ``private``: it
has private data; ``fs_dirty`` and ``fs_writeback``: what its file system says of it, null where it
was not asked. ``mapping`` (0: none) is the same number for the same mapping, ``index`` the page of
it; ``swap``: the mapping is one of the swap cache. ``outcome`` and ``step``: what became of it, and
where. ``clean``: null unless it was written; it came back clean and went on. ``under_writeback``
and ``node_flags``: as the tests of the three cases, and of the right to write, saw them, null where
its way ended before. ``marked``: the reclaim flag as the last of these tests saw it, which may have
changed since the accounting; null where none asked.
``pages``: of 4 KiB, as the accounting counts them; ``pages_end``: when its way ended, fewer if it
was split. ``lazyfree``: an anonymous folio that needs no swap, on a list of file pages but
accounted as anonymous. ``buffers``: the file system's answer is that of the folio's buffers, else
it is NFS's; null where it was not asked. ``congested``: its device was, when the accounting asked;
null where it did not, as in 6.1."""

RECLAIM_LISTS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "list": pl.UInt64,
        "pass": pl.UInt64,
        "nid": pl.UInt16,
        "memcg": pl.UInt64,
        "priority": pl.Int8,
        "kswapd": pl.Boolean,
        "file": pl.Boolean,
        "taken": pl.UInt32,
        "dirty": pl.UInt32,
        "unqueued_dirty": pl.UInt32,
        "congested": pl.UInt32,
        "writeback": pl.UInt32,
        "immediate": pl.UInt32,
        "pageout": pl.UInt32,
        "activate_anon": pl.UInt32,
        "activate_file": pl.UInt32,
        "ref_keep": pl.UInt32,
        "unmap_fail": pl.UInt32,
        "lazyfree_fail": pl.UInt32,
        "scanned": pl.UInt32,
        "reclaimed": pl.UInt32,
        "flags_before": pl.UInt8,
        "flags_after": pl.UInt8,
        "flags_set": pl.UInt8,
        "target": pl.UInt64,
        "sane": pl.Boolean,
        "io": pl.Boolean,
        "fs": pl.Boolean,
        "hibernation": pl.Boolean,
    }
)
"""One row per list of shrink_inactive_list that had a page, at its end.

``pass``: the pass that it belongs to, 0 for a list outside any (a soft limit's). ``memcg``: whose
pages it holds, 0 for the root's; ``target``: the cgroup that reclaim aims at, 0 if it is global.
``taken``: pages of 4 KiB isolated. The counters are those of reclaim_stat, in pages. ``scanned``:
what its folios added to the reclaimer's nr_scanned; ``reclaimed``: pages given back.
``flags_before`` as it began, ``flags_after`` as this row found them while it was filled in,
``flags_set`` those that the list itself set, whether they were set already or not. ``sane``:
writeback throttles this cgroup's writers (writeback_throttling_sane). ``io`` and ``fs``: gfp_mask
allows them."""

RECLAIM_PASSES: Final = schema_of(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "pass": pl.UInt64,
        "nid": pl.UInt16,
        "memcg": pl.UInt64,
        "kswapd": pl.Boolean,
        "priority": pl.Int8,
        "dirty": pl.UInt32,
        "unqueued_dirty": pl.UInt32,
        "congested": pl.UInt32,
        "writeback": pl.UInt32,
        "immediate": pl.UInt32,
        "taken": pl.UInt32,
        "file_taken": pl.UInt32,
        "flags_before": pl.UInt8,
        "flags_after": pl.UInt8,
        "flags_set": pl.UInt8,
        "throttle": THROTTLE,
        "hibernation": pl.Boolean,
        "may_throttle": pl.Boolean,
        "sane": pl.Boolean,
        "scanned": pl.UInt64,
        "reclaimed": pl.UInt64,
    }
)
"""One row per pass over a node: each turn of shrink_node's loop, at its end.

``memcg``: the cgroup that reclaim aims at, 0 if it is global. ``dirty`` to ``file_taken``: its
lists' counters, added up. ``flags_before`` as it began, ``flags_after`` as this row found them
while it was filled in, congestion as the test for the sleep of direct reclaim did, ``flags_set``
those that the pass itself set, whether they were set already or not. ``throttle``: the sleep that
it asked for, null for none; whether reclaim slept, its row in THROTTLES tells. ``may_throttle``:
current_may_throttle. ``scanned`` and ``reclaimed``: pages of this pass, reclaimed ones of shrinkers
included."""

THROTTLES: Final = schema_of(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "pass": pl.UInt64,
        "nid": pl.UInt16,
        "reason": THROTTLE,
        "timeout_us": pl.UInt32,
        "delayed_us": pl.UInt32,
        "list": pl.UInt64,
        "kthread": pl.Boolean,
        "failures": pl.UInt32,
        "reclaimable": pl.UInt64,
        "write_pending": pl.UInt64,
        "congested_devices": pl.UInt32,
        "flags": pl.UInt8,
    }
)
"""One row per call that asks for a sleep, at its return, also where it declined to sleep.

``pass`` and ``list``: who asked, 0 where none did: a list names both, a pass or a round itself
alone, compaction and writeback neither. ``timeout_us`` is 0 for a sleep that was declined,
``delayed_us`` how long it was. What the call decides by: ``kthread``, it is a kernel thread but not
kswapd; ``failures`` of kswapd in a row; pages ``reclaimable`` and ``write_pending``, 0 where it did
not count them; for 2013's sleeps ``congested_devices`` and the ``flags`` that it saw, else null."""

RECLAIM_ROUNDS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "pass": pl.UInt64,
        "nid": pl.UInt16,
        "memcg": pl.UInt64,
        "priority": pl.Int8,
        "scanned": pl.UInt64,
        "reclaimed": pl.UInt64,
        "kswapd": pl.Boolean,
        "hibernation": pl.Boolean,
        "throttle": THROTTLE,
        "wanted": pl.UInt64,
        "ready": pl.Boolean,
    }
)
"""One row per round of direct reclaim over its nodes: the end of shrink_zones.

``pass``: its last one; ``nid``: its first node, where it sleeps. ``scanned`` of this round,
``reclaimed`` since reclaim began, ``wanted`` when it is enough. ``ready``: memory can be compacted,
which also ends it. ``throttle``: the sleep that it asked for, null for none."""

RECLAIM_CLEARS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "nid": pl.UInt16,
        "memcg": pl.UInt64,
        "flags": pl.UInt8,
        "why": CLEARED_BY,
    }
)
"""One row per clearing of flags, set before or not: ``flags`` are those cleared, ``memcg`` the
cgroup whose congestion ends, 0 for the node's own."""
