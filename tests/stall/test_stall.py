# SPDX-License-Identifier: GPL-2.0-or-later
"""Stall rules as facts: the programs of each kernel, what each patch changes, and bad input."""

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

SERIES = tuple(f"series-{patch}" for patch in range(1, 9))

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
def test_nfs_says_whether_a_page_is_dirty(seen: tuple[bool, ...]) -> None:
    """A commit is writeback of a clean page, but not of the swap cache's; private data is dirty."""
    dirty, swap, commits, private = seen
    expected = (dirty, False) if swap else (dirty or (private and not commits), commits)
    bits = lib.sws_stall_ask_nfs(dirty, False, swap, commits, private)
    flags = lib.SWS_STALL_PAGE_FS_DIRTY, lib.SWS_STALL_PAGE_FS_WRITEBACK
    assert tuple(bool(bits & flag) for flag in flags) == expected


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
        stall.process_pages(StallContext(), pl.DataFrame(schema=STALL_PAGES.schema))
