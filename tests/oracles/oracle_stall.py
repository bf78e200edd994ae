# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain model of stall.h and stall_replay.h: ifs over the names of rule sets, one rule a line.

It is written from the facts about the kernels and the diffs of the series, without code of C.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

SETS = ("3.9", "mmotm", *(f"series-{patch}" for patch in range(1, 9)), "3.11", "6.1")
DIRTY, WRITEBACK, CONGESTED = 1, 2, 4
STEPS = (
    *("lock", "evictable", "mapped", "writeback_1", "writeback_2", "writeback_3"),
    *("reference_activate", "reference_keep", "demote", "swap", "unmap", "pinned"),
    *("dirty", "no_write", "pageout_keep", "pageout_activate", "written"),
    *("release", "remove", "freed"),
)
"""Steps at which a page may end, in order."""


def since(rules: str, first: str) -> bool:
    """Return whether a rule set is this one or a later one."""
    return SETS.index(rules) >= SETS.index(first)


@dataclass(frozen=True)
class Context:
    """Stands for struct sws_stall_context (stall.h)."""

    rules: str
    priority: int = 12
    kswapd: bool = False
    memcg: bool = False
    sane: bool = True
    hibernation: bool = False
    may_throttle: bool = True
    io: bool = True
    fs: bool = True
    flags: int = 0


@dataclass(frozen=True)
class Page:
    """Stands for enum sws_stall_page (stall.h), with the later events of the page."""

    file: bool = True
    dirty: bool = False
    writeback: bool = False
    reclaim: bool = False
    congested: bool = False
    buffers: bool | None = None
    """Whose callback answers: True buffer heads, False NFS, None no file system."""
    fs_dirty: bool | None = None
    fs_writeback: bool | None = None
    pages: int = 1
    still: bool = False
    arrives: bool = True
    dirty_late: bool = False
    kept: bool = False
    lazyfree: bool = False
    under_writeback: bool | None = None
    """At the writeback test; None: as at the accounting."""
    marked: bool | None = None
    """The reclaim flag at the tests after the accounting; None: as there."""

    @property
    def has_mark(self) -> bool:
        """Return the reclaim flag that the tests after the accounting read."""
        return self.reclaim if self.marked is None else self.marked


@dataclass
class Counts:
    """Stands for struct sws_stall_counts (stall.h)."""

    dirty: int = 0
    unqueued_dirty: int = 0
    congested: int = 0
    writeback: int = 0
    immediate: int = 0
    taken: int = 0
    file_taken: int = 0


@dataclass
class Result:
    """What the rules decide for a page."""

    branch: str = "goes-on"
    activated: bool = False
    marked: bool = False
    slept: bool = False
    waited: bool = False
    freed: bool = False
    freed_under_writeback: bool = False

    def row(self) -> tuple[object, ...]:
        """Return a row of STALL_PAGE_RESULTS."""
        return tuple(vars(self).values())


@dataclass
class Reclaim:
    """Stands for struct sws_stall_list (list.c)."""

    context: Context
    counts: Counts
    flags: int = 0
    cleared: int = 0
    slept: int = 0
    events: list[tuple[str, object]] = field(default_factory=list)

    def weight(self, page: Page) -> int:
        """Stands for stall_weight (page.h): a huge page counts as one in 2013."""
        return page.pages if self.context.rules == "6.1" else 1

    def account(self, page: Page) -> None:
        """Stands for stall_account (page.h): counts at the top, from series-2 on."""
        rules = self.context.rules
        if not since(rules, "series-2"):
            return
        dirty, writeback = page.dirty, page.writeback
        asked = {True: "series-7", False: "series-8"}
        if page.buffers is not None and since(rules, asked[page.buffers]):
            dirty, writeback = bool(page.fs_dirty), bool(page.fs_writeback)
        if not page.file or page.lazyfree:
            dirty = writeback = False
        self.counts.dirty += self.weight(page) * (dirty or writeback)
        self.counts.unqueued_dirty += self.weight(page) * (dirty and not writeback)
        on_device = page.congested and rules != "6.1"
        second_time = writeback and page.reclaim and since(rules, "series-6")
        if on_device or second_time:
            self.counts.congested += self.weight(page)

    def count_late(self, page: Page, *, under_writeback: bool) -> None:
        """Stands for stall_count_late (page.h): counts at the dirty test, until series-1."""
        if not since(self.context.rules, "series-2"):
            self.counts.dirty += self.weight(page)
            if not under_writeback:
                self.counts.unqueued_dirty += self.weight(page)

    def case(self, page: Page) -> int:
        """Stands for stall_case (page.h): 0 to 3."""
        context = self.context
        under = page.writeback if page.under_writeback is None else page.under_writeback
        if not under:
            return 0
        if context.rules != "3.9" and context.kswapd and page.has_mark and self.flags & WRITEBACK:
            return 1
        if context.rules == "6.1":
            may_enter_fs = context.fs or (not page.file and context.io)
            second = context.sane or not page.has_mark or not may_enter_fs
        else:
            second = not context.memcg or not page.has_mark or not context.io
        return 2 if second else 3

    def may_write(self, page: Page) -> bool:
        """Stands for stall_may_write (page.h), of a dirty page."""
        if not page.file:
            return True
        if not self.context.kswapd:
            return False
        if self.context.rules == "3.9":
            return self.context.priority < 10
        if self.context.rules == "6.1":
            return bool(self.flags & DIRTY) and page.has_mark
        return bool(self.flags & DIRTY)

    def process(self, page: Page) -> Result:
        """Stands for sws_stall_meet, _slept, _waited, _dirty and _paged_out (list.c)."""
        result = Result()
        rules = self.context.rules
        self.account(page)
        case, under_writeback = self.case(page), False
        if case == 1:
            result.branch = "case-1"
            if since(rules, "series-3"):
                self.counts.immediate += self.weight(page)
                result.activated = rules == "6.1"
                return result
            self.sleep_in_case_1()
            result.slept = True
            if rules != "mmotm":
                return result
            under_writeback = page.still
        elif case == 2:
            result.branch, result.marked, result.activated = "case-2", True, rules == "6.1"
            self.counts.writeback += self.weight(page)
            return result
        elif case == 3:
            result.branch, result.waited = "case-3", True
            if rules == "6.1":
                answer = None if page.fs_writeback is None else False
                page = replace(page, writeback=False, under_writeback=False, fs_writeback=answer)
                self.account(page)
        if not page.arrives:
            return result
        if not page.dirty_late:
            result.freed, result.freed_under_writeback = True, under_writeback
            return result
        self.count_late(page, under_writeback=under_writeback)
        writes = self.may_write(page)
        if case == 0:
            result.branch = "write" if writes else "not-written"
        if not writes:
            result.marked, result.activated = True, rules == "6.1"
        elif page.kept and not since(rules, "series-2"):
            self.counts.congested += self.weight(page)
        return result

    def sleep_in_case_1(self) -> None:
        """Stands for enter_case_1 (list.c), where the case sleeps."""
        self.slept += 1
        self.flags &= ~WRITEBACK
        self.cleared |= WRITEBACK

    def set_flag(self, flag: int) -> None:
        """Stands for carry_out of SWS_STALL_DOES_SET (decide.c)."""
        self.flags |= flag
        self.events.append(("set", flag))

    def sleep(self, reason: str) -> None:
        """Stands for carry_out of SWS_STALL_DOES_SLEEP (decide.c)."""
        self.events.append(("sleep", reason))

    def end(self) -> None:
        """Stands for sws_stall_end (list.c)."""
        if self.context.rules == "6.1":
            self.end_of_6_1()
        elif since(self.context.rules, "series-5"):
            self.end_in_one_place()
        else:
            self.end_in_two_places()

    def end_in_two_places(self) -> None:
        """Stands for sws_stall__decide of a list (decide.c), until series-4."""
        counts, rules = self.counts, self.context.rules
        share = counts.taken >> (12 - self.context.priority)
        is_global = not self.context.memcg
        all_unqueued = counts.unqueued_dirty == counts.taken
        if counts.dirty > 0 and counts.dirty == counts.congested and is_global:
            self.set_flag(CONGESTED)
        if counts.writeback > 0 and counts.writeback >= share:
            if rules == "series-4":
                self.set_flag(WRITEBACK)
            self.sleep("wait_iff_congested")
            if rules not in ("3.9", "series-4"):
                self.set_flag(WRITEBACK)
        many_unqueued = counts.unqueued_dirty > 0 and counts.unqueued_dirty >= share
        if rules in ("mmotm", "series-1") and is_global and many_unqueued:
            self.set_flag(DIRTY)
        if rules == "series-2" and is_global and all_unqueued:
            self.sleep("congestion_wait")
            self.set_flag(DIRTY)
        if rules in ("series-3", "series-4") and is_global:
            if all_unqueued:
                self.set_flag(DIRTY)
            if all_unqueued or counts.immediate:
                self.sleep("congestion_wait")

    def end_in_one_place(self) -> None:
        """Stands for sws_stall__decide of a list (decide.c), series-5 to 3.11."""
        counts = self.counts
        share = counts.taken >> (12 - self.context.priority)
        is_all = counts.writeback == counts.taken
        many = is_all if self.context.rules == "3.11" else counts.writeback >= share
        if counts.writeback > 0 and many:
            self.set_flag(WRITEBACK)
        if not self.context.memcg:
            if counts.dirty > 0 and counts.dirty == counts.congested:
                self.set_flag(CONGESTED)
            if counts.unqueued_dirty == counts.taken:
                self.set_flag(DIRTY)
            if counts.unqueued_dirty == counts.taken or counts.immediate > 0:
                self.sleep("congestion_wait")
        if not self.context.hibernation and not self.context.kswapd:
            self.sleep("wait_iff_congested")

    def end_of_6_1(self) -> None:
        """Stands for sws_stall__decide of a list (decide.c), 6.1."""
        if self.counts.unqueued_dirty == self.counts.taken:
            self.events.append(("wake", "flushers"))
            if not self.context.sane:
                self.sleep("writeback")

    def decided(self) -> dict[str, object]:
        """Stands for struct sws_stall_decision (stall.h)."""
        return {
            "flags_set": sum({flag for kind, flag in self.events if kind == "set"}),  # type: ignore[misc]
            "flags_cleared": self.cleared,
            "flags_after": self.flags,
            "sleeps": [reason for kind, reason in self.events if kind == "sleep"],
            "slept": self.slept,
        }


def shrink_list(
    context: Context, pages: Sequence[Page], *, file: bool = True, unseen: int = 0
) -> tuple[list[Result], Reclaim]:
    """Process a complete list; unseen pages are taken, but not processed."""
    taken = sum(page.pages for page in pages) + unseen
    reclaim = Reclaim(context, Counts(taken=taken, file_taken=taken * file), flags=context.flags)
    results = [reclaim.process(page) for page in pages]
    reclaim.end()
    return results, reclaim


def decide_list(context: Context, counts: Counts) -> Reclaim:
    """Stands for sws_stall_decide of a list (decide.c)."""
    reclaim = Reclaim(context, counts, flags=context.flags)
    reclaim.end()
    return reclaim


def decide_pass(context: Context, sums: Counts) -> Reclaim:
    """Stands for sws_stall_decide of a pass (decide.c): only 6.1 decides there."""
    reclaim = Reclaim(context, sums, flags=context.flags)
    if context.rules != "6.1":
        return reclaim
    if context.kswapd:
        if sums.writeback and sums.writeback == sums.taken:
            reclaim.set_flag(WRITEBACK)
        if sums.unqueued_dirty == sums.file_taken:
            reclaim.set_flag(DIRTY)
        if sums.immediate:
            reclaim.sleep("writeback")
    sane_group = context.memcg and context.sane
    if (context.kswapd or sane_group) and sums.dirty and sums.dirty == sums.congested:
        reclaim.set_flag(CONGESTED)
    may_sleep = not context.kswapd and context.may_throttle and not context.hibernation
    if may_sleep and reclaim.flags & CONGESTED:
        reclaim.sleep("congested")
    return reclaim


def decide_round(context: Context, scanned: int, reclaimed: int, wanted: int) -> list[str]:
    """Stands for sws_stall_decide_round (decide.c)."""
    if context.kswapd:
        return []
    if context.rules == "6.1":
        if reclaimed > scanned >> 3 or context.memcg:
            return []
        return ["noprogress"] if context.priority == 1 and not reclaimed else []
    if since(context.rules, "series-5") or context.hibernation or reclaimed >= wanted:
        return []
    return ["wait_iff_congested"] if scanned and context.priority < 10 else []


def clears(rules: str, why: str) -> int:
    """Stands for sws_stall_clears (rules.c)."""
    if rules == "3.9":
        return CONGESTED if why == "balanced" else 0
    if rules == "6.1":
        return {"balanced": DIRTY | WRITEBACK | CONGESTED, "direct": CONGESTED}.get(why, 0)
    if why == "immediate":
        return 0 if since(rules, "series-3") else WRITEBACK
    return {"balanced": DIRTY | CONGESTED, "shrunk": WRITEBACK}.get(why, 0)


def sleep_us(
    reason: str,
    *,
    hz: int,
    kthread: bool = False,
    failures: int = 0,
    reclaimable: int = 0,
    write_pending: int = 0,
    congested_devices: int = 0,
    flags: int = 0,
) -> int:
    """Stands for sws_stall_sleep_length (sleep.c): us, 0 for a skipped sleep."""
    if reason == "congestion_wait":
        return hz // 10 * 1_000_000 // hz
    if reason == "wait_iff_congested":
        sleeps = congested_devices > 0 and flags & CONGESTED
        return hz // 10 * 1_000_000 // hz if sleeps else 0
    if kthread:
        return 0
    if reason in ("congested", "noprogress"):
        skips = failures >= 16 or 2 * write_pending <= reclaimable
        return 0 if skips else 1_000_000 // hz
    return (hz // 50 if reason == "isolated" else hz // 10) * 1_000_000 // hz


@dataclass(frozen=True)
class Row:
    """Stands for a row of struct sws_stall_rows (stall_replay.h)."""

    page: Page
    step: str
    came_back: bool = False
    flags: int | None = None
    """Flags that the tests of this page read; None: those that these rules have left."""


@dataclass
class Replayed:
    """Stands for struct sws_stall_result (stall_replay.h)."""

    reclaim: Reclaim
    branches: list[str]
    writes: int = 0
    unrecorded: int = 0


def replay(context: Context, rows: Sequence[Row], *, file: bool, taken: int) -> Replayed:
    """Stands for walk_list (replay.c)."""
    reclaim = Reclaim(context, Counts(taken=taken, file_taken=taken * file), flags=context.flags)
    found = Replayed(reclaim, [])
    own_flags = context.flags
    waited = False
    for row in rows:
        reclaim.flags = own_flags if row.flags is None else row.flags
        waited = _replay_row(found, row, waited=waited)
        # Nothing sets a flag before the end: what case 1 has cleared stays so.
        own_flags &= ~reclaim.cleared
    reclaim.flags = own_flags
    reclaim.end()
    return found


def _replay_row(found: Replayed, row: Row, *, waited: bool) -> bool:
    """Stands for path_of (paths.c); ``waited`` says that the row continues the page before it."""
    reclaim, page, rules = found.reclaim, row.page, found.reclaim.context.rules
    at = STEPS.index(row.step)
    ended_in_case = row.step.startswith("writeback")
    if at < STEPS.index("writeback_1"):
        found.branches.append("unmet")
        found.unrecorded += waited
        return False
    branch = "goes-on"
    if not waited:
        reclaim.account(page)
        case = reclaim.case(page)
        branch = f"case-{case}" if case else branch
        if case == 1:
            if since(rules, "series-3"):
                reclaim.counts.immediate += reclaim.weight(page)
            else:
                reclaim.sleep_in_case_1()
        if case == 2:
            reclaim.counts.writeback += reclaim.weight(page)
        stops = {0: False, 1: rules != "mmotm", 2: True, 3: rules == "6.1"}[case]
        if stops:
            found.branches.append(branch)
            return False
    if ended_in_case:
        # These rules go on with it. The next row is the same page, if it was waited for.
        found.branches.append(branch)
        if row.step == "writeback_3" and (waited or branch == "case-3"):
            return True
        found.unrecorded += 1
        return False
    past = at > STEPS.index("written")
    was_dirty = at >= STEPS.index("dirty") and (row.came_back if past else True)
    if not was_dirty:
        found.branches.append(branch)
        return False
    reclaim.count_late(page, under_writeback=False)
    if not reclaim.may_write(page):
        outcome = "not-written"
    elif row.step == "no_write":
        outcome = "no-write"
    else:
        outcome = "write"
        found.writes += 1
        found.unrecorded += row.step == "dirty"
        if row.step == "pageout_keep" and not since(rules, "series-2"):
            reclaim.counts.congested += reclaim.weight(page)
    found.branches.append(outcome if branch == "goes-on" else branch)
    return False
