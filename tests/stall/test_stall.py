# SPDX-License-Identifier: GPL-2.0-or-later
"""Stall rules, cell by cell: what each kernel, and each patch of the series, counts and decides."""

import dataclasses

import polars as pl
import pytest
from test_stall_oracle import decide_round

from swapsim import stall
from swapsim._core import lib
from swapsim.errors import ConfigError, InputError
from swapsim.ffi import STALL_RULES
from swapsim.stall import Rules, StallContext, rules_of
from swapsim.stall.tables import STALL_PAGES

DIRTY, WRITEBACK, CONGESTED = 1, 2, 4
SERIES = tuple(f"series-{patch}" for patch in range(1, 9))
OF_2013 = STALL_RULES[:-1]
LATE = ("3.9", "mmotm", "series-1")
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


def sleeps(decided: dict[str, object]) -> list[str]:
    """Return the requested sleeps, in order."""
    requested = decided["sleeps"]
    assert isinstance(requested, list)
    return requested


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


@pytest.mark.parametrize("missing", ["kswapd", "reclaim", "flag"])
@pytest.mark.parametrize("rules", STALL_RULES)
def test_without_kswapd_mark_or_flag_there_is_no_case_1(rules: str, missing: str) -> None:
    """All three are needed; what is left is case 2."""
    writing = WRITING | {"reclaim": missing != "reclaim"}
    flags = 0 if missing == "flag" else WRITEBACK
    (result,), _ = process(rules, writing, unseen=31, kswapd=missing != "kswapd", flags=flags)
    assert result["branch"] == "case-2"


@pytest.mark.parametrize(
    ("context", "differs"),
    [
        ({}, {}),
        ({}, {"file": False}),
        ({"memcg": True}, {"reclaim": False}),
        ({"memcg": True, "io": False, "fs": False}, {}),
    ],
    ids=["global", "anonymous", "not marked", "no IO"],
)
@pytest.mark.parametrize("rules", STALL_RULES)
def test_case_2_marks_and_counts(
    rules: str, context: dict[str, bool], differs: dict[str, bool]
) -> None:
    """SetPageReclaim and nr_writeback; kept in 2013, activated in 6.1."""
    (result,), end = process(rules, WRITING | differs, **context)
    assert (result["branch"], result["marked"], end["writeback"]) == ("case-2", True, 1)
    assert result["activated"] == (rules == "6.1")


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


@pytest.mark.parametrize(
    ("context", "file", "branch"),
    [
        ({"sane": True}, True, "case-2"),
        ({"sane": False, "fs": False}, True, "case-2"),
        ({"sane": False, "fs": False}, False, "case-3"),
        ({"sane": False, "fs": False, "io": False}, False, "case-2"),
    ],
    ids=["v2", "a file without FS", "swap with IO", "swap without"],
)
def test_case_3_of_6_1_needs_v1_and_the_filesystem(
    context: dict[str, bool], file: bool, branch: str
) -> None:
    """A page of the swap cache needs IO alone."""
    (result,), _ = process("6.1", WRITING | {"file": file}, memcg=True, **context)
    assert result["branch"] == branch


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


@pytest.mark.parametrize("rules", OF_2013)
@pytest.mark.parametrize(
    ("numbers", "flagged"),
    [
        ({"dirty": 3, "congested": 3}, True),
        ({"dirty": 3, "congested": 2}, False),
        ({"dirty": 0, "congested": 0}, False),
        ({"dirty": 3, "congested": 3, "memcg": True}, False),
    ],
    ids=["all", "not all", "none dirty", "memcg"],
)
def test_congested_is_set_if_all_that_was_dirty_was_congested(
    rules: str, numbers: dict[str, int], flagged: bool
) -> None:
    """D > 0 and D == C, global."""
    assert bool(int(str(decide(rules, taken=32, **numbers)["flags_set"])) & CONGESTED) == flagged


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


@pytest.mark.parametrize("kswapd", [False, True])
@pytest.mark.parametrize("memcg", [False, True])
@pytest.mark.parametrize("rules", OF_2013)
def test_the_stall_on_writeback_is_gone_with_patch_5(rules: str, memcg: bool, kswapd: bool) -> None:
    """wait_iff_congested by the same share, kswapd and direct, global and memcg."""
    context = {"taken": 32, "priority": 10, "memcg": memcg, "kswapd": kswapd, "hibernation": True}
    few, many = (sleeps(decide(rules, writeback=pages, **context)) for pages in (7, 8))
    stalls = rules in ("3.9", "mmotm", *SERIES[:4])
    assert (few, many) == ([], ["wait_iff_congested"] if stalls else [])


@pytest.mark.parametrize("rules", OF_2013)
@pytest.mark.parametrize(
    ("unqueued", "memcg"), [(32, False), (31, False), (8, False), (7, False), (32, True)]
)
def test_tail_dirty_is_set_by_a_share_in_mmotm_and_by_all_from_patch_2_on(
    rules: str, unqueued: int, memcg: bool
) -> None:
    """Global: U > 0 and U >= share; U == T; never in 3.9."""
    decided = decide(rules, taken=32, dirty=32, unqueued_dirty=unqueued, priority=10, memcg=memcg)
    least = {"3.9": 33, "mmotm": 8, "series-1": 8}.get(rules, 32)
    expected = unqueued >= least and not memcg
    assert bool(int(str(decided["flags_set"])) & DIRTY) == expected


@pytest.mark.parametrize("kswapd", [False, True])
@pytest.mark.parametrize("rules", OF_2013)
def test_the_forced_stall_is_for_all_unqueued_or_any_immediate(rules: str, kswapd: bool) -> None:
    """congestion_wait, global: from patch 2 on if U == T, from patch 3 on if I > 0, too."""
    requested = {
        name: "congestion_wait" in sleeps(decide(rules, taken=4, kswapd=kswapd, **numbers))
        for name, numbers in {
            "all": {"dirty": 4, "unqueued_dirty": 4},
            "some": {"dirty": 4, "unqueued_dirty": 3},
            "immediate": {"immediate": 1},
            "memcg": {"dirty": 4, "unqueued_dirty": 4, "immediate": 1, "memcg": True},
        }.items()
    }
    assert requested == {
        "all": rules not in LATE,
        "some": False,
        "immediate": rules not in (*LATE, "series-2"),
        "memcg": False,
    }


ALL = {"dirty": 4, "unqueued_dirty": 4, "congested": 4, "taken": 4}
ORDER = {
    "3.9": "C wic",
    "mmotm": "C wic W D",
    "series-1": "C wic W D",
    "series-2": "C wic W cw D",
    "series-3": "C wic W D cw",
    "series-4": "C W wic D cw",
    **dict.fromkeys((*SERIES[4:], "3.11"), "W C D cw wic"),
    "6.1": "wake throttle",
}


@pytest.mark.parametrize("rules", STALL_RULES)
def test_flags_and_sleeps_come_in_this_order(rules: str) -> None:
    """Mmotm sleeps before it sets WRITEBACK, patch 4 turns it round, patch 5 moves both."""
    short = {
        ("set", "congested"): "C",
        ("set", "writeback"): "W",
        ("set", "tail_lru_dirty"): "D",
        ("sleep", "wait_iff_congested"): "wic",
        ("sleep", "congestion_wait"): "cw",
        ("sleep", "writeback"): "throttle",
        ("wake", ""): "wake",
    }
    acts = [act for act in rules_of(rules).acts if act.place == "list"]
    assert " ".join(short[act.does, act.what] for act in acts) == ORDER[rules]


@pytest.mark.parametrize("rules", STALL_RULES)
@pytest.mark.parametrize(
    ("context", "naps"),
    [
        ({"priority": 9}, True),
        ({"priority": 10}, False),
        ({"priority": 9, "memcg": True}, True),
        ({"priority": 9, "hibernation": True}, False),
        ({"priority": 9, "kswapd": True}, False),
    ],
    ids=["in trouble", "not yet", "memcg", "hibernation", "kswapd"],
)
def test_the_nap_of_direct_reclaim_moves_from_the_round_to_the_list_with_patch_5(
    rules: str, context: dict[str, int], naps: bool
) -> None:
    """Until series-4 after a round below priority 10, then after each list, at any priority."""
    of_2013 = StallContext(rules=rules, **context)
    at_round = decide_round(of_2013, {"scanned": 9, "reclaimed": 0, "wanted": 32})
    early = rules in ("3.9", "mmotm", *SERIES[:4])
    assert at_round == ("wait_iff_congested" if naps and early else None)
    at_list = sleeps(decide(rules, taken=32, **context))
    direct = not context.get("kswapd") and not context.get("hibernation")
    late = rules in (*SERIES[4:], "3.11")
    assert at_list == (["wait_iff_congested"] if direct and late else [])


@pytest.mark.parametrize(
    "pages", [{"scanned": 0, "reclaimed": 0}, {"scanned": 99, "reclaimed": 32}]
)
@pytest.mark.parametrize("rules", ["3.9", "series-4"])
def test_no_nap_where_nothing_was_scanned_or_enough_reclaimed(
    rules: str, pages: dict[str, int]
) -> None:
    """The loop has ended before it, or has nothing to wait for."""
    context = StallContext(rules=rules, priority=5)
    assert decide_round(context, pages | {"wanted": 32}) is None


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


@pytest.mark.parametrize("rules", STALL_RULES)
def test_no_other_caller_writes_file_pages_and_all_write_anonymous_ones(rules: str) -> None:
    """Direct reclaim: never a file page, marked at that; always an anonymous one."""
    (of_file, anon), _ = process(
        rules, DIRTY_FILE | {"reclaim": True}, DIRTY_ANON, priority=0, flags=DIRTY
    )
    assert (of_file["branch"], of_file["marked"], anon["branch"]) == ("not-written", True, "write")
    assert of_file["activated"] == (rules == "6.1")


@pytest.mark.parametrize("rules", STALL_RULES)
def test_what_clears_flags(rules: str) -> None:
    """Balance, each shrinking, case 1 until series-2; in 6.1 the end of a cgroup's reclaim."""
    case_1 = WRITEBACK if rules in ("mmotm", "series-1", "series-2") else 0
    series = {"balanced": DIRTY | CONGESTED, "shrunk": WRITEBACK, "immediate": case_1, "direct": 0}
    others = {
        "3.9": dict.fromkeys(series, 0) | {"balanced": CONGESTED},
        "6.1": dict.fromkeys(series, 0) | {"balanced": 7, "direct": CONGESTED},
    }
    assert rules_of(rules).clears == others.get(rules, series)


@pytest.mark.parametrize("rules", STALL_RULES)
def test_a_reclaimer_sleeps_while_too_many_pages_are_isolated(rules: str) -> None:
    """congestion_wait in 2013, a reason of its own in 6.1: 100 ms and 20 ms."""
    isolated = rules_of(rules).isolated
    assert isolated == ("isolated" if rules == "6.1" else "congestion_wait")


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


def test_a_sane_group_sets_its_congested_and_a_legacy_one_does_not() -> None:
    """Of cgroup v2 direct reclaim flags the group's own lists."""
    numbers = PASS | {"dirty": 5, "congested": 5}
    assert decide("6.1", "pass", memcg=True, **numbers)["flags_set"] == CONGESTED
    assert decide("6.1", "pass", memcg=True, sane=False, **numbers)["flags_set"] == 0


@pytest.mark.parametrize(
    ("context", "requested"),
    [
        ({"kswapd": True, "immediate": 1}, ["writeback"]),
        ({"immediate": 1}, []),
        ({"flags": CONGESTED}, ["congested"]),
        ({"flags": CONGESTED, "kswapd": True}, []),
        ({"flags": CONGESTED, "hibernation": True}, []),
        ({"flags": CONGESTED, "may_throttle": False}, []),
        ({"flags": CONGESTED, "memcg": True, "sane": False}, ["congested"]),
        ({"memcg": True, "dirty": 5, "congested": 5}, ["congested"]),
    ],
)
def test_throttles_of_6_1_over_a_pass(context: dict[str, int], requested: list[str]) -> None:
    """Kswapd on immediate; direct reclaim on the flag, if it may, one set just now included."""
    assert sleeps(decide("6.1", "pass", **(PASS | context))) == requested


@pytest.mark.parametrize(
    ("context", "requested"),
    [({}, []), ({"memcg": True}, []), ({"memcg": True, "sane": False}, ["writeback"])],
)
def test_a_list_of_6_1_that_is_all_unqueued_throttles_a_group_of_v1(
    context: dict[str, bool], requested: list[str]
) -> None:
    """All others have their flushers woken, and no sleep."""
    assert sleeps(decide("6.1", **ALL, **context)) == requested


@pytest.mark.parametrize(
    ("context", "pages", "requested"),
    [
        ({"priority": 1}, {"scanned": 9, "reclaimed": 0}, "noprogress"),
        ({"priority": 2}, {"scanned": 9, "reclaimed": 0}, None),
        ({"priority": 0}, {"scanned": 9, "reclaimed": 0}, None),
        ({"priority": 1}, {"scanned": 99, "reclaimed": 1}, None),
        ({"priority": 1, "memcg": True}, {"scanned": 9, "reclaimed": 0}, None),
        ({"priority": 1, "kswapd": True}, {"scanned": 9, "reclaimed": 0}, None),
    ],
)
def test_noprogress_of_6_1_is_for_global_direct_reclaim_at_priority_1(
    context: dict[str, int], pages: dict[str, int], requested: list[str]
) -> None:
    """With nothing reclaimed."""
    found = decide_round(StallContext(rules="6.1", **context), pages | {"wanted": 32})
    assert found == requested


# Facts of the series, by their numbers, and what follows from the tables.


@pytest.mark.parametrize("rules", [*SERIES[1:], "3.11"])
@pytest.mark.parametrize(
    "spoiler",
    [None, page(), page(file=False), WRITING | {"reclaim": False}],
    ids=["locked or unevictable", "clean", "anonymous", "under writeback"],
)
def test_11_a_single_other_page_keeps_it_from_being_set(
    rules: str, spoiler: dict[str, object] | None
) -> None:
    """One of 32 will do."""
    others = [spoiler] if spoiler else []
    _, end = process(rules, *[DIRTY_FILE] * 31, *others, unseen=0 if spoiler else 1)
    assert end["taken"] == 32
    assert not int(str(end["flags_set"])) & DIRTY
    assert "congestion_wait" not in sleeps(end)


@pytest.mark.parametrize(
    ("has_buffers", "writeback", "locked", "dirty", "answer"),
    [
        (True, False, False, False, (False, False)),
        (True, False, True, False, (False, True)),
        (True, False, False, True, (True, False)),
        (True, True, False, False, (False, True)),
        (True, False, True, True, (True, True)),
        (False, True, True, True, (False, False)),
    ],
)
def test_19_buffer_heads_say_whether_a_page_is_dirty(
    has_buffers: bool, writeback: bool, locked: bool, dirty: bool, answer: tuple[bool, bool]
) -> None:
    """Clean and unlocked: not dirty. Any locked: under writeback. No buffers: neither."""
    bits = lib.sws_stall_ask_buffers(has_buffers, writeback, locked, dirty)
    found = bits & lib.SWS_STALL_PAGE_FS_DIRTY, bits & lib.SWS_STALL_PAGE_FS_WRITEBACK
    assert (bool(found[0]), bool(found[1])) == answer


@pytest.mark.parametrize(
    ("page_dirty", "swap_cache", "committing", "has_private", "answer"),
    [
        (False, False, True, True, (False, True)),
        (False, False, False, True, (True, False)),
        (False, False, False, False, (False, False)),
        (True, False, True, True, (True, True)),
        (False, True, True, True, (False, False)),
    ],
)
def test_19_nfs_says_whether_a_page_is_being_committed(
    page_dirty: bool,
    swap_cache: bool,
    committing: bool,
    has_private: bool,
    answer: tuple[bool, bool],
) -> None:
    """A commit means writeback even if the page is clean; else private data means dirty."""
    bits = lib.sws_stall_ask_nfs(page_dirty, False, swap_cache, committing, has_private)
    found = bits & lib.SWS_STALL_PAGE_FS_DIRTY, bits & lib.SWS_STALL_PAGE_FS_WRITEBACK
    assert (bool(found[0]), bool(found[1])) == answer


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


def test_3_11_is_the_series_but_for_the_test_of_writeback() -> None:
    """The follow-up of June 2013."""
    assert changed("series-8", "3.11") == {"at list"}
    posted, released = rules_of("series-8").acts, rules_of("3.11").acts
    assert posted[1:] == released[1:]
    assert (posted[0].what, posted[0].of, released[0].of) == ("writeback", "share", "taken")


# In words, and what is refused.


def test_each_act_gives_its_numbers_and_its_rule() -> None:
    """One sentence for each act, done or not."""
    counts = {"dirty": 9, "unqueued_dirty": 7, "congested": 9, "writeback": 8, "taken": 32}
    found = stall.explain(StallContext(rules="series-5", priority=10, kswapd=True), counts)
    assert found[0] == "flag writeback is set: 8 under writeback, at least 8 (taken / 4)"
    assert found[2] == "flag tail_lru_dirty is not set: 7 unqueued dirty, not the 32 taken"
    assert [" not " in line.partition(":")[0] for line in found] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("counts", "field"),
    [
        ({"unqueued_dirty": 2, "dirty": 1, "taken": 9}, "unqueued"),
        ({"dirty": 10, "taken": 9}, "dirty"),
        ({"congested": 2, "dirty": 1, "taken": 9}, "congested"),
        ({"writeback": 5, "immediate": 5, "taken": 9}, "writeback"),
        ({"taken": 9, "file_taken": 10}, "file"),
        ({"taken": 0}, "no pages|taken"),
        ({"taken": 9, "anything": 1}, "anything"),
        ({"taken": -1}, "taken"),
    ],
)
def test_counters_that_contradict_each_other_are_named(counts: dict[str, int], field: str) -> None:
    """Unqueued above dirty, more dirty than taken, and so on."""
    with pytest.raises(InputError, match=field):
        stall.decide(StallContext(), counts)


@pytest.mark.parametrize(
    ("field", "value"),
    [("priority", 13), ("priority", -1), ("flags", 8), ("rules", "4.8"), ("sane", False)],
)
def test_an_impossible_context_names_its_field(field: str, value: object) -> None:
    """The message has its range, or the field that it needs; a list has a page."""
    with pytest.raises(ConfigError, match=f"{field}="):
        StallContext(**{field: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="0 pages taken"):
        process("6.1")
