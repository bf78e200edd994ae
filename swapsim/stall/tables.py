# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of reclaim's recordings and of what the stall rules make of them.

Recorded tables are sorted by ``seq``, which no two rows of a trace share; a row is written at the
end of what it describes. ``list`` and ``pass`` are numbers that the kernel counts from 1 on as a
recording begins; 0 means none. Flags are a sum of 1 (tail_lru_dirty: PGDAT_DIRTY in 6.1), 2
(writeback) and 4 (congested); 1 and 2 belong to the node, 4 to the lruvec that reclaim aims at.
"""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim import tables as columns
from swapsim.tables import Column, Table

OUTCOME: Final = pl.Enum(("reclaimed", "kept", "activated", "written", "culled", "split"))
"""What became of a folio. ``kept``: on the inactive list, or on its own list after a wait;
``written``: given to its filesystem or to swap, not reclaimed; ``culled``: locked into memory, so
moved to the active list without being counted as activated."""
STEP: Final = pl.Enum(ffi.STALL_STEPS)
"""The step of shrink_folio_list at which a folio left it. ``lock``, ``evictable`` and ``mapped``
are before the accounting. ``dirty``: a dirty page of a file that this reclaimer may not write;
``no_write``: it may, but its context does not allow it."""
THROTTLE: Final = pl.Enum(ffi.STALL_SLEEPS)  # reasons of 6.1's reclaim_throttle, and calls of 2013
CLEARED_BY: Final = pl.Enum(ffi.STALL_CLEARS)
"""What clears flags: kswapd when its node is balanced, or after it shrank a zone (2013); case 1
(before series-3); the end of a memory cgroup's direct reclaim."""
BRANCH: Final = pl.Enum(ffi.STALL_BRANCHES)  # what rules decide for a page
RULE_SET: Final = pl.Enum(ffi.STALL_RULES)

_HEAD: Final = (columns.SEQ, columns.CPU, columns.PID)
_LIST: Final = Column("list", pl.UInt64, "number of the list: what one shrink_inactive_list took")
_PASS: Final = Column("pass", pl.UInt64, "number of the pass: a turn of shrink_node; 0 for none")
_NID: Final = Column("nid", pl.UInt16, "number of the node")
_FILE_LIST: Final = Column("file", pl.Boolean, "whether it is a list of file pages")
_PRIORITY: Final = Column("priority", pl.Int8, "scan priority of reclaim")
_KSWAPD: Final = Column("kswapd", pl.Boolean, "whether kswapd reclaims")
_SANE: Final = Column("sane", pl.Boolean, "whether writeback throttles the cgroup's writers")
_HIBERNATION: Final = Column("hibernation", pl.Boolean, "whether the machine hibernates")
_REQUESTED: Final = Column("throttle", THROTTLE, "throttle that is requested; null for none")
_REASON: Final = Column("reason", THROTTLE, "reason of the throttle")
_STEP: Final = Column("step", STEP, "step at which the folio left the kernel's loop")
_PAGE_FLAGS: Final = (
    Column("dirty", pl.Boolean, "whether it is dirty"),
    Column("writeback", pl.Boolean, "whether it is under writeback"),
    Column("reclaim", pl.Boolean, "whether it has the reclaim flag"),
)
_FS_FLAGS: Final = (
    Column("fs_dirty", pl.Boolean, "whether its filesystem calls it dirty; null if not asked"),
    Column("fs_writeback", pl.Boolean, "whether its filesystem is writing it; null if not asked"),
)
_AIMED_AT: Final = "memory cgroup that reclaim aims at; 0 for global reclaim"
_AIMED: Final = Column("memcg", pl.UInt64, _AIMED_AT)

RECLAIM_FOLIOS: Final = Table(
    "RECLAIM_FOLIOS",
    "One row per folio that shrink_folio_list takes from its list for shrink_inactive_list, "
    "written when it leaves the loop, each time if it was waited for (case 3). Flags are those "
    "that the accounting reads.",
    *_HEAD,
    _LIST,
    _FILE_LIST,
    *_PAGE_FLAGS,
    Column("private", pl.Boolean, "whether it has private data"),
    *_FS_FLAGS,
    Column("mapping", pl.UInt64, "number of its mapping; 0 for none"),
    Column("index", pl.UInt64, "position in its mapping"),
    Column("outcome", OUTCOME, "what became of it"),
    Column("clean", pl.Boolean, "whether it was clean after its write; null if not written"),
    _STEP,
    Column("under_writeback", pl.Boolean, "writeback at the cases' tests; null if not tested"),
    Column("node_flags", pl.UInt8, "flags of the node at these tests; null if not tested"),
    Column("marked", pl.Boolean, "reclaim flag at the last of these tests; null if not tested"),
    Column("pages", pl.UInt32, "pages of 4 KiB as the accounting counts them"),
    Column("pages_end", pl.UInt32, "pages of 4 KiB as it leaves; fewer after a split"),
    columns.LAZYFREE,
    Column("swap", pl.Boolean, "whether its mapping belongs to the swap cache"),
    Column("buffers", pl.Boolean, "whether the filesystem answers by buffers; null if not asked"),
    Column("congested", pl.Boolean, "whether its device is congested; null if not asked"),
)

_COUNTED: Final = (
    Column("dirty", pl.UInt32, "dirty pages"),
    Column("unqueued_dirty", pl.UInt32, "dirty pages that are not queued for writing"),
    Column("congested", pl.UInt32, "pages on a congested device"),
    Column("writeback", pl.UInt32, "pages under writeback"),
    Column("immediate", pl.UInt32, "pages under writeback that are marked for immediate reclaim"),
)
"""The counters of reclaim_stat by which rules decide."""

_FLAGS_BEFORE: Final = Column("flags_before", pl.UInt8, "flags when it began")
_FLAGS_SET: Final = Column("flags_set", pl.UInt8, "flags that it set, even if already set")
_FLAGS_AFTER: Final = Column("flags_after", pl.UInt8, "flags when it ended")
_TAKEN: Final = Column("taken", pl.UInt32, "pages of 4 KiB that were isolated")

RECLAIM_LISTS: Final = Table(
    "RECLAIM_LISTS",
    "One row per list of shrink_inactive_list that had a page, at its end. Counters are those of "
    "reclaim_stat, in pages. A list outside of any pass belongs to a soft limit.",
    *_HEAD,
    _LIST,
    _PASS,
    _NID,
    Column("memcg", pl.UInt64, "memory cgroup of the pages; 0 for the root"),
    _PRIORITY,
    _KSWAPD,
    _FILE_LIST,
    _TAKEN,
    *_COUNTED,
    Column("pageout", pl.UInt32, "pages that were given to pageout"),
    Column("activate_anon", pl.UInt32, "anonymous pages that were activated"),
    Column("activate_file", pl.UInt32, "file pages that were activated"),
    Column("ref_keep", pl.UInt32, "pages that stay inactive because they were referenced"),
    Column("unmap_fail", pl.UInt32, "pages that could not be unmapped"),
    Column("lazyfree_fail", pl.UInt32, "lazily freed pages that could not be unmapped"),
    Column("scanned", pl.UInt32, "pages that its folios add to nr_scanned"),
    Column("reclaimed", pl.UInt32, "pages that were reclaimed"),
    *(_FLAGS_BEFORE, _FLAGS_AFTER, _FLAGS_SET),
    Column("target", pl.UInt64, _AIMED_AT),
    _SANE,
    Column("io", pl.Boolean, "whether gfp_mask allows I/O"),
    Column("fs", pl.Boolean, "whether gfp_mask allows calls of the filesystem"),
    _HIBERNATION,
)

RECLAIM_PASSES: Final = Table(
    "RECLAIM_PASSES",
    "One row per pass over a node: each turn of shrink_node's loop, at its end. Counters are the "
    "sums of its lists.",
    *_HEAD,
    _PASS,
    _NID,
    _AIMED,
    _KSWAPD,
    _PRIORITY,
    *_COUNTED,
    _TAKEN,
    Column("file_taken", pl.UInt32, "file pages of 4 KiB that were isolated"),
    *(_FLAGS_BEFORE, _FLAGS_AFTER, _FLAGS_SET),
    _REQUESTED,
    _HIBERNATION,
    Column("may_throttle", pl.Boolean, "whether current_may_throttle allows a sleep"),
    _SANE,
    Column("scanned", pl.UInt64, "pages that the pass scanned"),
    Column("reclaimed", pl.UInt64, "pages that the pass reclaimed, including shrinkers"),
)

THROTTLES: Final = Table(
    "THROTTLES",
    "One row per call that requests a throttle, at its return, also if it skipped the sleep. A "
    "list names itself and its pass, a pass or round its pass; compaction and writeback name "
    "neither.",
    *_HEAD,
    _PASS,
    _NID,
    _REASON,
    Column("timeout_us", pl.UInt32, "longest duration of the sleep; 0 if it was skipped"),
    Column("delayed_us", pl.UInt32, "actual duration of the sleep"),
    _LIST,
    Column("kthread", pl.Boolean, "whether the caller is a kernel thread other than kswapd"),
    Column("failures", pl.UInt32, "consecutive failures of kswapd"),
    Column("reclaimable", pl.UInt64, "reclaimable pages; 0 where the call does not count them"),
    Column("write_pending", pl.UInt64, "pages to be written; 0 where the call does not count them"),
    Column("congested_devices", pl.UInt32, "congested devices that a call of 2013 saw, else null"),
    Column("flags", pl.UInt8, "flags that a call of 2013 saw, else null"),
)

RECLAIM_ROUNDS: Final = Table(
    "RECLAIM_ROUNDS",
    "One row per round of direct reclaim over its nodes: the end of shrink_zones.",
    *_HEAD,
    Column("pass", pl.UInt64, "number of the round's last pass"),
    Column("nid", pl.UInt16, "number of the round's first node, where it sleeps"),
    _AIMED,
    _PRIORITY,
    Column("scanned", pl.UInt64, "pages that the round scanned"),
    Column("reclaimed", pl.UInt64, "pages reclaimed since reclaim began"),
    _KSWAPD,
    _HIBERNATION,
    _REQUESTED,
    Column("wanted", pl.UInt64, "reclaimed pages that are enough"),
    Column("ready", pl.Boolean, "whether memory can be compacted, which ends reclaim, too"),
)

RECLAIM_CLEARS: Final = Table(
    "RECLAIM_CLEARS",
    "One row per clearing of flags, whether they were set or not.",
    *_HEAD,
    _NID,
    Column("memcg", pl.UInt64, "memory cgroup whose congestion ends; 0 for flags of the node"),
    Column("flags", pl.UInt8, "flags that were cleared"),
    Column("why", CLEARED_BY, "what cleared them"),
)

_RULES: Final = Column("rules", RULE_SET, "rule set, by the kernel that had it")

FOLIO_SUMS: Final = (
    Column("turned", pl.UInt32, "folios under writeback that were rejected, by case 1 or 2"),
    Column("not_written", pl.UInt32, "dirty folios that were not written"),
    Column("waited", pl.UInt32, "folios that were waited for in case 3"),
    Column("file_written", pl.UInt32, "file folios that were given to pageout"),
    Column("anon_written", pl.UInt32, "anonymous folios that were given to pageout"),
    Column("unrecorded", pl.UInt32, "folios that the rules process further than the recording"),
)
"""Counts of a list's folios by what the rules decide for them."""

STALL_DECISIONS: Final = Table(
    "STALL_DECISIONS",
    "One row per trace and rule set: what it decides of the trace's complete lists.",
    columns.TRACE,
    _RULES,
    Column("lists", pl.UInt64, "number of lists"),
    *(Column(flag, pl.UInt64, f"lists that set the flag {flag}") for flag in ffi.STALL_FLAGS),
    Column("forced", pl.UInt64, "lists that request a sleep that no test can skip"),
    Column("waits", pl.UInt64, "lists that request one that sleeps if a device is congested"),
    Column("naps", pl.UInt64, "rounds that request a nap (2013) or wait for progress (6.1)"),
    *(Column(column.name, pl.UInt64, column.meaning) for column in FOLIO_SUMS),
)

REQUESTED_SLEEPS: Final = Table(
    "REQUESTED_SLEEPS",
    "One row per rule set and reason for which it requests a throttle.",
    _RULES,
    _REASON,
    Column("requests", pl.UInt64, "number of requests"),
    Column("can_sleep", pl.UInt64, "requests with the flag set that the call tests"),
    Column("longest_us", pl.UInt32, "upper limit of one sleep, its timeout"),
    Column("most_us", pl.UInt64, "upper limit of all sleeps together: can_sleep times longest_us"),
)

# Lists and passes of a stock 7.3, whose folios were not recorded.

SUMMED: Final = ("dirty", "congested", "writeback", "immediate", "taken")
"""The sums of a pass, in the order of the kernel's structure."""

_COUNTED_PAGES: Final = {
    "dirty": "file pages that are dirty or under writeback",
    "unqueued_dirty": "dirty pages that are not queued for writeback",
    "congested": "file pages under writeback with the reclaim flag",
    "writeback": "pages under writeback that were skipped",
    "immediate": "marked pages under writeback that kswapd met on a flagged node",
    "taken": "base pages that were isolated",
}
_SUMS_HEAD: Final = (
    Column("seq", pl.UInt64, "position of the row's event in the recording"),
    Column("t_ns", pl.Int64, "its time"),
    columns.CPU,
    columns.PID,
    Column("balances", pl.UInt32, "how often kswapd had balanced the node, which clears flags"),
)
STALL_LISTS: Final = Table(
    "STALL_LISTS",
    "One row per list of reclaim on a stock 7.3 (a call of handle_reclaim_writeback), in order of "
    "time: its counts, and the sums of its pass before they were added.",
    *_SUMS_HEAD,
    Column("pass", pl.UInt32, "number of its pass; 0 if that is not complete in the recording"),
    *(Column(name, pl.UInt32, meaning) for name, meaning in _COUNTED_PAGES.items()),
    *(Column(f"{name}_before", pl.UInt32, f"the pass before: {name}") for name in SUMMED),
    Column("woken", pl.Boolean, "whether the flushers were woken"),
)

STALL_PASSES: Final = Table(
    "STALL_PASSES",
    "One row per pass of reclaim over a node on a stock 7.3 (shrink_node), in the order in which "
    "they decide or end. Flags are a sum of 1 (writeback, of the node), 2 and 4 (congestion of the "
    "lruvec that reclaim aims at, by a cgroup's reclaim and by kswapd).",
    *_SUMS_HEAD,
    Column("pass", pl.UInt32, "number of the pass, from 1"),
    Column("memcg", pl.UInt32, "number of the memory cgroup that is reclaimed; 0: all of memory"),
    Column("generations", pl.Boolean, "whether the kernel uses generations"),
    Column("kswapd", pl.Boolean, "whether kswapd reclaims"),
    Column("priority", pl.Int8, "priority of reclaim"),
    *(Column(name, pl.UInt32, f"sum: {_COUNTED_PAGES[name]}") for name in SUMMED),
    Column("decided", pl.Boolean, "whether the kernel reached its decisions"),
    Column("flags_before", pl.UInt8, "flags before the decisions, or at the end without them"),
    Column("flags_after", pl.UInt8, "flags at the end; null if the pass was repeated"),
    Column("others", pl.Boolean, "whether another task reclaimed the same from then to the end"),
    Column("throttle", THROTTLE, "the throttle that was requested, or null"),
    Column("slept_us", pl.UInt32, "how long the task slept, null if it did not", "us"),
)

ROOT_STALLS: Final = Table(
    "ROOT_STALLS",
    "One row per trace, rule set and reclaimer: what the rules make of a recording's passes, open "
    "loop: a kernel that had slept would have met other pages. Each pass counts once.",
    columns.TRACE,
    Column("rules", pl.Enum(ffi.SUMS_RULES), "rules of 7.3, by the names of ``stall_sums.h``"),
    Column("reclaimer", pl.Enum(("kswapd", "direct", "cgroup")), "who reclaims: kswapd, or a task"),
    Column("passes", pl.UInt64, "passes over a node"),
    Column("lists", pl.UInt64, "lists in them"),
    Column("asked", pl.UInt64, "passes with a throttle requested"),
    Column("may_ask", pl.UInt64, "further passes of which the counts do not say whether"),
    Column("slept", pl.UInt64, "passes whose task slept; null by rules that the kernel has not"),
    Column("woken", pl.UInt64, "other passes that woke the flushers"),
    Column("neither", pl.UInt64, "passes with neither"),
    Column("writeback", pl.UInt64, "throttles for writeback"),
    Column("congested", pl.UInt64, "throttles for congestion"),
    Column("wakes", pl.UInt64, "lists that woke the flushers"),
)
