# SPDX-License-Identifier: GPL-2.0-or-later
"""Stall rules, cell by cell: what each kernel, and each patch of the series, counts and decides."""

import dataclasses
from itertools import product
from typing import Any

import polars as pl
import pytest

from swapsim import stall
from swapsim._core import lib
from swapsim.errors import InputError, SwapsimError
from swapsim.ffi import STALL_RULES
from swapsim.stall import Rules, StallContext, rules_of
from swapsim.stall.tables import STALL_PAGES

DIRTY, WRITEBACK, CONGESTED = 1, 2, 4
SERIES = tuple(f"series-{patch}" for patch in range(1, 9))
OF_2013 = STALL_RULES[:-1]
CLEAN = dict.fromkeys(STALL_PAGES.schema, False) | {
    "file": True,
    "buffers": None,
    "fs_dirty": None,
    "fs_writeback": None,
    "pages": 1,
    "arrives": True,
}


def page(**what: object) -> dict[str, object]:
    """Return a page of a file that reaches the dirty test, clean except for the given fields."""
    return CLEAN | what


def process(
    rules: str, *pages: dict[str, object], unseen: int = 0, **context: object
) -> tuple[list[dict[str, object]], dict[str, object]]:
    """Process a list by the rules; return the result of each page, and the end."""
    table = pl.DataFrame(list(pages), schema=STALL_PAGES.schema)
    results, end = stall.process_pages(StallContext(rules=rules, **context), table, unseen=unseen)  # type: ignore[arg-type]
    return results.to_dicts(), end


def decide(rules: str, place: str = "list", **numbers: object) -> dict[str, object]:
    """Decide from counters; the other numbers belong to the context."""
    context = {name: value for name, value in numbers.items() if hasattr(StallContext, name)}
    counts = {name: value for name, value in numbers.items() if name not in context}
    return stall.decide(StallContext(rules=rules, **context), counts, place)  # type: ignore[arg-type]


DIRTY_FILE = page(dirty=True, dirty_late=True)
DIRTY_ANON = page(file=False, dirty=True, dirty_late=True)
WRITING = page(writeback=True, reclaim=True, still=True)


# Table 2.5: a page under writeback. Case 1 is kswapd's, of a marked page, with the flag set.


@pytest.mark.parametrize("rules", STALL_RULES)
def test_case_1_sleeps_until_patch_3_counts_afterwards_and_activates_in_6_1(rules: str) -> None:
    """It does not exist in 3.9; by mmotm the page goes on, and may be freed under writeback."""
    (result,), end = process(rules, WRITING, unseen=31, kswapd=True, flags=WRITEBACK)
    sleeps = rules in ("mmotm", "series-1", "series-2")
    exists = rules != "3.9"
    assert result["branch"] == ("case-1" if exists else "case-2")
    assert (end["slept"], end["flags_cleared"]) == ((1, WRITEBACK) if sleeps else (0, 0))
    assert end["immediate"] == (exists and not sleeps)
    assert end["writeback"] == (not exists)
    assert result["activated"] == (rules == "6.1")
    assert result["freed"] == result["freed_under_writeback"] == (rules == "mmotm")


@pytest.mark.parametrize("rules", OF_2013)
def test_case_3_of_2013_waits_and_continues_with_the_page(rules: str) -> None:
    """A memory cgroup, a marked page, and GFP_IO."""
    (result,), end = process(rules, WRITING, memcg=True, fs=False)
    assert (result["branch"], result["waited"], result["freed"]) == ("case-3", True, True)
    assert end["writeback"] == 0


def test_case_3_of_6_1_waits_and_meets_the_page_again() -> None:
    """A group of cgroup v1 that may enter the filesystem; the page is counted twice."""
    (result,), end = process("6.1", WRITING | {"dirty": True}, memcg=True, sane=False)
    assert (result["branch"], result["waited"], result["freed"]) == ("case-3", True, True)
    assert (end["dirty"], end["unqueued_dirty"], end["taken"]) == (2, 1, 1)


# Table 2.6, first half: how counters are made.


def since(first: str, count: int, before: int = 0) -> dict[str, int]:
    """Return a count by rule set: one before a rule set, and one from it on."""
    at = STALL_RULES.index(first)
    return {rules: before if n < at else count for n, rules in enumerate(STALL_RULES)}


ON_DEVICE = since("series-2", 1) | {"6.1": 0}
STALE = page(dirty=True, buffers=True, fs_dirty=False, fs_writeback=False)
COMMITTING = page(buffers=False, fs_dirty=False, fs_writeback=True)
HUGE = DIRTY_FILE | {"pages": 512}


@pytest.mark.parametrize("rules", STALL_RULES)
@pytest.mark.parametrize(
    ("pages", "counter", "counts"),
    [
        ([DIRTY_FILE | {"arrives": False}, DIRTY_FILE], "dirty", since("series-2", 2, 1)),
        ([DIRTY_FILE, DIRTY_ANON], "dirty", since("series-2", 1, 2)),
        ([DIRTY_FILE, DIRTY_ANON], "unqueued_dirty", since("series-2", 1, 2)),
        ([WRITING, DIRTY_FILE], "dirty", since("series-2", 2, 1)),
        ([WRITING | {"dirty": True}, DIRTY_FILE], "unqueued_dirty", since("3.9", 1)),
        ([DIRTY_ANON | {"kept": True}, DIRTY_ANON], "congested", since("series-2", 0, 1)),
        ([page(congested=True)], "congested", ON_DEVICE),
        ([WRITING, WRITING | {"reclaim": False}], "congested", since("series-6", 1)),
        ([WRITING | {"congested": True}], "congested", since("series-2", 1)),
        ([STALE], "dirty", since("series-2", 1) | dict.fromkeys([*SERIES[6:], "3.11", "6.1"], 0)),
        ([COMMITTING], "dirty", since("series-8", 1)),
        ([COMMITTING], "unqueued_dirty", since("3.9", 0)),
        ([HUGE], "unqueued_dirty", since("6.1", 512, 1)),
        ([HUGE], "taken", since("3.9", 512)),
    ],
    ids=[
        "late, pages that left before the dirty test are missed",
        "at the top, dirty pages of files alone count",
        "at the top, unqueued pages of files alone count",
        "at the top, pages under writeback are dirty, too",
        "a dirty page under writeback is queued",
        "late, a page that pageout kept is congested",
        "at the top, a page on a congested device is, even a clean one",
        "from patch 6 on a marked page under writeback is congested",
        "a page is congested once",
        "from patch 7 on buffer heads say whether a page is dirty",
        "from patch 8 on NFS says whether a page is under writeback",
        "it is then not unqueued",
        "a huge page counts as one until 6.1",
        "and is taken as 512",
    ],
)
def test_how_a_counter_is_made(
    rules: str, pages: list[dict[str, object]], counter: str, counts: dict[str, int]
) -> None:
    """Late (until series-1): at the dirty test, also anonymous pages. Then at the top, of files."""
    _, end = process(rules, *pages)
    assert end[counter] == counts[rules]


def test_unqueued_of_mmotm_leaves_out_the_page_that_fell_through_under_writeback() -> None:
    """PageDirty and not PageWriteback, at the dirty test."""
    again = WRITING | {"dirty": True, "dirty_late": True}
    _, end = process("mmotm", again, unseen=31, kswapd=True, flags=WRITEBACK)
    assert (end["dirty"], end["unqueued_dirty"]) == (1, 0)
    _, end = process("mmotm", again | {"still": False}, unseen=31, kswapd=True, flags=WRITEBACK)
    assert (end["dirty"], end["unqueued_dirty"]) == (1, 1)


# Table 2.6, second half: after the list.


@pytest.mark.parametrize("memcg", [False, True])
@pytest.mark.parametrize("rules", OF_2013)
@pytest.mark.parametrize(
    ("priority", "least"), [(12, 32), (11, 16), (10, 8), (9, 4), (8, 2), (7, 1), (6, 1), (0, 1)]
)
def test_writeback_is_set_by_a_share_that_falls_with_priority(
    rules: str, priority: int, least: int, memcg: bool
) -> None:
    """W > 0 and W >= T >> (12 - p), in any context; W == T in 3.11; never in 3.9."""
    context = {"taken": 32, "priority": priority, "memcg": memcg}
    flags = [
        int(str(decide(rules, writeback=pages, **context)["flags_set"])) & WRITEBACK
        for pages in (least - 1, least, 32)
    ]
    by_share = [0, WRITEBACK, WRITEBACK]
    by_all = [0, WRITEBACK if least == 32 else 0, WRITEBACK]
    assert flags == {"3.9": [0, 0, 0], "3.11": by_all}.get(rules, by_share)


CONG = "list global: congested if some_equal dirty congested"
WAIT = "list any: wait_iff_congested if some_at_least writeback share"
WB = "list any: writeback if some_at_least writeback share"
WB_ALL = "list any: writeback if some_equal writeback taken"
TAIL = "list global: tail_lru_dirty if equal unqueued_dirty taken"
SLEEP = "list global: congestion_wait if equal_or_immediate unqueued_dirty taken"
NAP = "round direct: wait_iff_congested if in_trouble"
LIST_NAP = "list direct: wait_iff_congested if always"
MMOTM = (CONG, WAIT, WB, TAIL.replace("equal", "some_at_least").replace("taken", "share"), NAP)
PROGRAMS = {
    "3.9": (CONG, WAIT, NAP),
    "mmotm": MMOTM,
    "series-1": MMOTM,
    "series-2": (CONG, WAIT, WB, SLEEP.replace("_or_immediate", ""), TAIL, NAP),
    "series-3": (CONG, WAIT, WB, TAIL, SLEEP, NAP),
    "series-4": (CONG, WB, WAIT, TAIL, SLEEP, NAP),
    **dict.fromkeys(SERIES[4:], (WB, CONG, TAIL, SLEEP, LIST_NAP)),
    "3.11": (WB_ALL, CONG, TAIL, SLEEP, LIST_NAP),
    "6.1": (
        "list any: wake if equal unqueued_dirty taken",
        "list legacy_memcg: writeback if equal unqueued_dirty taken",
        "pass kswapd: writeback if some_equal writeback taken",
        "pass kswapd: tail_lru_dirty if equal unqueued_dirty file_taken",
        "pass kswapd: writeback if some immediate",
        "pass kswapd_or_sane_memcg: congested if some_equal dirty congested",
        "pass throttled_direct: congested if flagged",
        "round global_direct: noprogress if no_progress",
    ),
}


@pytest.mark.parametrize("rules", STALL_RULES)
def test_flags_and_sleeps_come_in_this_order_by_these_tests(rules: str) -> None:
    """Mmotm sleeps before it sets WRITEBACK, patch 4 turns it round, patch 5 moves both."""
    acts = [
        f"{act.place} {act.scope}: {act.what or act.does} if {act.test} {act.number} {act.of}"
        for act in rules_of(rules).acts
    ]
    assert tuple(act.replace(" none", "") for act in acts) == PROGRAMS[rules]


@pytest.mark.parametrize("rules", STALL_RULES)
def test_kswapd_writes_a_dirty_file_page_by_priority_or_by_flag(rules: str) -> None:
    """3.9: below 10. Then: while TAIL_DIRTY is set. 6.1: and the page has the reclaim flag."""
    written = {
        (priority, flags, mark): process(
            rules, DIRTY_FILE | {"reclaim": mark}, kswapd=True, priority=priority, flags=flags
        )[0][0]["branch"]
        == "write"
        for priority in (10, 9)
        for flags in (0, DIRTY, WRITEBACK | CONGESTED)
        for mark in (False, True)
    }
    assert written == {
        (priority, flags, mark): {"3.9": priority < 10, "6.1": flags == DIRTY and mark}.get(
            rules, flags == DIRTY
        )
        for priority, flags, mark in written
    }


# 6.1, whose flags are decided over the sums of a pass.

PASS = {"taken": 64, "file_taken": 32}


@pytest.mark.parametrize(
    ("numbers", "flags_set"),
    [
        ({"dirty": 32, "unqueued_dirty": 32}, DIRTY),
        ({"dirty": 32, "unqueued_dirty": 31}, 0),
        ({"file_taken": 0}, DIRTY),
        ({"writeback": 64, "file_taken": 0}, DIRTY | WRITEBACK),
        ({"writeback": 63}, 0),
        ({"dirty": 5, "congested": 5}, CONGESTED),
        ({"dirty": 5, "congested": 4}, 0),
    ],
    ids=["all files", "one not", "no files", "all written", "one not", "all marked", "one not"],
)
def test_flags_of_6_1_are_set_by_kswapd_over_a_pass(
    numbers: dict[str, int], flags_set: int
) -> None:
    """U == file taken, where 0 == 0 is true; W == T; D == C. By kswapd alone."""
    numbers = PASS | numbers
    assert decide("6.1", "pass", kswapd=True, **numbers)["flags_set"] == flags_set
    assert decide("6.1", "pass", **numbers)["flags_set"] == 0


# Facts of the series, by their numbers, and what follows from the tables.


def changed(before: str, after: str) -> set[str]:
    """Return the parts in which two rows differ; acts by the place where they are done."""

    def parts(rules: Rules) -> dict[str, object]:
        acts = {
            f"at {place}": [act for act in rules.acts if act.place == place]
            for place in ("list", "pass", "round")
        }
        fields = {field.name: getattr(rules, field.name) for field in dataclasses.fields(rules)}
        return {name: fields[name] for name in fields.keys() - {"name", "acts"}} | acts

    old, new = parts(rules_of(before)), parts(rules_of(after))
    return {name for name in new if new[name] != old[name]}


@pytest.mark.parametrize("patch", range(1, 9))
def test_each_patch_changes_what_its_diff_changes_and_nothing_else(patch: int) -> None:
    """Parts of the row that differ from the state before it, by name."""
    before = "mmotm" if patch == 1 else f"series-{patch - 1}"
    assert (
        changed(before, f"series-{patch}")
        == {
            1: {"case_1"},
            2: {"counted", "congested_by", "at list"},
            3: {"case_1", "at list", "clears"},
            4: {"at list"},
            5: {"at list", "at round"},
            6: {"congested_by"},
            7: {"asks_buffers"},
            8: {"asks_nfs"},
        }[patch]
    )


@pytest.mark.parametrize("seen", [*product((False, True), repeat=4)])
def test_buffer_heads_and_nfs_say_whether_a_page_is_dirty(seen: tuple[bool, ...]) -> None:
    """A locked buffer head, and a commit, are writeback of a clean page, but not of NFS's swap.

    Without a commit private data of NFS means that the page is dirty.
    """
    first, writeback, third, fourth = seen
    by_buffers = (fourth, writeback or third) if first else (False, False)
    swap, commits, private = seen[1:]
    by_nfs = (first, False) if swap else (first or (private and not commits), commits)
    asked = lib.sws_stall_ask_buffers(*seen), lib.sws_stall_ask_nfs(first, False, *seen[1:])
    for bits, (dirty, writing) in zip(asked, (by_buffers, by_nfs), strict=True):
        assert bool(bits & lib.SWS_STALL_PAGE_FS_DIRTY) == dirty
        assert bool(bits & lib.SWS_STALL_PAGE_FS_WRITEBACK) == writing


# In words, and what is refused.


def test_each_act_gives_its_numbers_and_its_rule() -> None:
    """One sentence for each act, done or not."""
    counts = {"dirty": 9, "unqueued_dirty": 7, "congested": 9, "writeback": 8, "taken": 32}
    found = stall.explain(StallContext(rules="series-5", priority=10, kswapd=True), counts)
    assert found[0] == "flag writeback is set: 8 under writeback, at least 8 (taken / 4)"
    assert found[2] == "flag tail_lru_dirty is not set: 7 unqueued dirty, not the 32 taken"
    assert [" not " in line.partition(":")[0] for line in found] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("context", "counts", "remedy"),
    [
        ({}, {"unqueued_dirty": 2, "dirty": 1, "taken": 9}, "unqueued"),
        ({}, {"dirty": 10, "taken": 9}, "dirty"),
        ({}, {"congested": 2, "dirty": 1, "taken": 9}, "congested"),
        ({}, {"writeback": 5, "immediate": 5, "taken": 9}, "writeback"),
        ({}, {"taken": 9, "file_taken": 10}, "file"),
        ({}, {"taken": 0}, "no pages|taken"),
        ({}, {"taken": 9, "anything": 1}, "anything"),
        ({}, {"taken": -1}, "taken"),
        *(({name: value}, {}, f"{name}=") for name, value in (("priority", 13), ("priority", -1))),
        *(({name: value}, {}, f"{name}=") for name, value in (("flags", 8), ("rules", "4.8"))),
        ({"sane": False}, {}, "memcg=True"),
    ],
)
def test_an_impossible_context_or_counter_is_named(
    context: dict[str, Any], counts: dict[str, int], remedy: str
) -> None:
    """Unqueued above dirty, more dirty than taken, and so on; a field out of its range."""
    with pytest.raises(SwapsimError, match=remedy):
        stall.decide(StallContext(**context), counts)


def test_a_list_without_a_page_is_refused() -> None:
    """A list has at least one page, even if none of them is met."""
    with pytest.raises(InputError, match="0 pages"):
        process("6.1")
