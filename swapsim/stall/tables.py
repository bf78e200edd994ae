# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of reclaim's recordings, and of what the stall rules make of them.

Recorded tables are sorted by ``seq``, which no two rows of a trace share; a row is written at the
end of what it describes, on ``cpu`` by the task ``pid``. ``list`` (what one shrink_inactive_list
took) and ``pass`` (a turn of shrink_node) are numbers that the kernel counts from 1 on as a
recording begins; 0 means none. Flags are a sum of 1 (tail_lru_dirty: PGDAT_DIRTY in 6.1), 2
(writeback) and 4 (congested); 1 and 2 belong to the node ``nid``, 4 to the lruvec that reclaim aims
at. A ``memcg`` or ``target`` is the cgroup that reclaim aims at, 0 for all of memory. Pages are of
4 KiB.
"""

from typing import Final

import polars as pl

from swapsim import ffi

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


def _each(dtype: pl.DataType, names: str) -> dict[str, pl.DataType]:
    return dict.fromkeys(names.split(), dtype)


_YES, _U8, _U16, _U32, _U64 = pl.Boolean(), pl.UInt8(), pl.UInt16(), pl.UInt32(), pl.UInt64()
_HEAD: Final[dict[str, pl.DataType]] = {"seq": _U64, "cpu": _U16, "pid": pl.Int32()}
_COUNTED: Final = _each(_U32, "dirty unqueued_dirty congested writeback immediate")
_FLAGS: Final = _each(_U8, "flags_before flags_after flags_set")

RECLAIM_FOLIOS: Final = pl.Schema(
    _HEAD
    | {"list": _U64}
    | _each(_YES, "file dirty writeback reclaim private fs_dirty fs_writeback")
    | _each(_U64, "mapping index")
    | {"outcome": OUTCOME, "clean": _YES, "step": STEP}
    | {"under_writeback": _YES, "node_flags": _U8, "marked": _YES}
    | _each(_U32, "pages pages_end")
    | _each(_YES, "lazyfree swap buffers congested")
)
"""A row per folio that shrink_folio_list takes from its list for shrink_inactive_list, written when
it leaves the loop, each time if it was waited for (case 3).

``dirty, writeback, reclaim`` (the flag), ``private`` (it has private data) are what the accounting
reads; ``fs_dirty, fs_writeback, buffers``, what its filesystem answers (by buffers), and
``congested``, whether its device is, are null if not asked. ``mapping`` is a number, 0 for none.
``clean``: after its write, else null. ``under_writeback`` and ``node_flags`` are read at the cases'
tests, ``marked``, the reclaim flag, at the last of these; null if not tested. ``pages_end`` are
fewer after a split. ``swap``: its mapping is the swap cache's."""

RECLAIM_LISTS: Final = pl.Schema(
    _HEAD
    | {"list": _U64, "pass": _U64, "nid": _U16, "memcg": _U64}
    | {"priority": pl.Int8(), "kswapd": _YES, "file": _YES, "taken": _U32, **_COUNTED}
    | _each(_U32, "pageout activate_anon activate_file ref_keep unmap_fail lazyfree_fail")
    | _each(_U32, "scanned reclaimed")
    | _FLAGS
    | {"target": _U64}
    | _each(_YES, "sane io fs hibernation")
)
"""A row per list of shrink_inactive_list that had a page, at its end; outside of any pass it
belongs to a soft limit.

``memcg`` is the cgroup of its pages, 0 for the root. Pages ``taken`` are isolated, ``congested``
ones on a congested device, ``immediate`` ones under writeback and marked for reclaim;
``pageout`` were given to it, ``ref_keep`` stay as they were referenced. ``flags_set`` have those
that were set already, too. ``sane``: writeback throttles the cgroup's writers; ``io`` and ``fs``:
gfp_mask allows these calls."""

RECLAIM_PASSES: Final = pl.Schema(
    _HEAD
    | {"pass": _U64, "nid": _U16, "memcg": _U64, "kswapd": _YES}
    | {"priority": pl.Int8()}
    | _COUNTED
    | _each(_U32, "taken file_taken")
    | _FLAGS
    | {"throttle": THROTTLE}
    | _each(_YES, "hibernation may_throttle sane")
    | _each(_U64, "scanned reclaimed")
)
"""A row per pass over a node: each turn of shrink_node's loop, at its end. Counters are the sums of
its lists, but ``reclaimed`` has what shrinkers freed, too; ``throttle`` is requested, or null;
``may_throttle`` is current_may_throttle's answer."""

THROTTLES: Final = pl.Schema(
    _HEAD
    | {"pass": _U64, "nid": _U16, "reason": THROTTLE}
    | _each(_U32, "timeout_us delayed_us")
    | {"list": _U64, "kthread": _YES}
    | {"failures": _U32}
    | _each(_U64, "reclaimable write_pending")
    | {"congested_devices": _U32, "flags": _U8}
)
"""A row per call that requests a throttle, at its return, also if it skipped the sleep
(``timeout_us`` is 0). A list names itself and its pass, a pass or round its pass; compaction and
writeback name neither. ``kthread``: a kernel thread other than kswapd; ``failures``: of kswapd,
consecutive; ``reclaimable`` pages and those to be written, 0 where the call does not count them;
``congested_devices`` and ``flags`` that a call of 2013 saw, else null."""

RECLAIM_ROUNDS: Final = pl.Schema(
    _HEAD
    | {"pass": _U64, "nid": _U16, "memcg": _U64, "priority": pl.Int8()}
    | _each(_U64, "scanned reclaimed")
    | _each(_YES, "kswapd hibernation")
    | {"throttle": THROTTLE, "wanted": _U64, "ready": _YES}
)
"""A row per round of direct reclaim over its nodes: the end of shrink_zones. ``pass`` is its last
one, ``nid`` its first node, where it sleeps; pages ``reclaimed`` since reclaim began, ``wanted``
are enough; ``ready``: memory can be compacted, which ends reclaim, too."""

RECLAIM_CLEARS: Final = pl.Schema(
    _HEAD | {"nid": _U16, "memcg": _U64, "flags": _U8} | {"why": CLEARED_BY}
)
"""A row per clearing of flags, whether they were set or not; ``memcg`` is 0 for the node's."""

# Lists and passes of a stock 7.3, whose folios were not recorded.

SUMMED: Final = ("dirty", "congested", "writeback", "immediate", "taken")
"""The sums of a pass, in the order of the kernel's structure."""

_SUMS_HEAD: Final = {"seq": _U64, "t_ns": pl.Int64(), "cpu": _U16, "pid": pl.Int32()}
STALL_LISTS: Final = pl.Schema(
    _SUMS_HEAD
    | _each(_U32, "balances pass")
    | _COUNTED
    | {"taken": _U32}
    | dict.fromkeys((f"{name}_before" for name in SUMMED), _U32)
    | {"woken": _YES}
)
"""A row per list of reclaim on a stock 7.3 (a call of handle_reclaim_writeback), in order of time.

``balances``: how often kswapd had balanced the node, which clears flags; ``pass`` is 0 if that is
not complete in the recording. File pages that are ``dirty`` or under writeback, ``congested`` ones
under writeback with the reclaim flag, other pages skipped under ``writeback``, ``immediate`` ones
that kswapd met on a flagged node; ``_before`` are the sums of the pass before they were added;
``woken``: the flushers were."""

STALL_PASSES: Final = pl.Schema(
    _SUMS_HEAD
    | _each(_U32, "balances pass memcg")
    | _each(_YES, "generations kswapd")
    | {"priority": pl.Int8()}
    | dict.fromkeys(SUMMED, _U32)
    | {"decided": _YES}
    | _each(_U8, "flags_before flags_after")
    | {"others": _YES, "throttle": THROTTLE}
    | {"slept_us": _U32}
)
"""A row per pass of reclaim over a node on a stock 7.3 (shrink_node), in the order in which they
decide or end.

Flags are a sum of 1 (writeback, of the node), 2 and 4 (congestion of the lruvec that reclaim aims
at, by a cgroup's reclaim and by kswapd), at the decisions, or at the end without them;
``flags_after`` is null if the pass was repeated. ``decided``: the kernel reached its decisions;
``others``: another task reclaimed the same from then to the end; ``slept_us`` is null if it did
not sleep."""
