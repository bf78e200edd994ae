# SPDX-License-Identifier: GPL-2.0-or-later
"""Stall rules as facts: the programs of each kernel, what each patch changes, and bad input."""

from itertools import product
from typing import Any

import polars as pl
import pytest

from swapsim import stall
from swapsim._core import ffi, lib
from swapsim.errors import InputError, SwapsimError
from swapsim.ffi import STALL_FLAGS, STALL_RULES, STALL_SLEEPS
from swapsim.stall._native import StallContext, decide_counts

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


PLACES = {"list": lib.SWS_STALL_AT_LIST, "pass": lib.SWS_STALL_AT_PASS}
PLACES["round"] = lib.SWS_STALL_AT_ROUND
PREFIXES = {"scope": "FOR_", "number": "N_"}
FLAGS = {bit: name for name, bit in STALL_FLAGS.items()}


def row_of(rules: str) -> Any:
    """Return ``struct sws_stall_rules``."""
    return lib.sws_stall_rules_of(STALL_RULES.index(rules))


def acts_at(rules: str, place: str) -> list[Any]:
    """Return what is done at the end of a list, a pass or a round, in order."""
    acts = row_of(rules).acts[PLACES[place]]
    return [act for act in acts if act.does != lib.SWS_STALL_DOES_NOTHING]


def word(enum: str, value: int) -> str:
    """Return the word of a constant."""
    name = ffi.typeof(f"enum sws_stall_{enum}").elements[value]
    prefix = PREFIXES.get(enum, f"{enum.upper()}_")
    return name.removeprefix(f"SWS_STALL_{prefix}").lower()


def in_words(place: str, act: Any) -> str:
    """Return an act as PROGRAMS has it."""
    does = word("does", act.does)
    what = {"set": FLAGS.get(act.what), "sleep": STALL_SLEEPS[act.what]}.get(does, does)
    numbers = f"{word('number', act.number)} {word('number', act.of)}"
    text = f"{place} {word('scope', act.scope)}: {what} if {word('test', act.test)} {numbers}"
    return text.replace(" none", "")


@pytest.mark.parametrize("rules", STALL_RULES)
def test_flags_and_sleeps_come_in_this_order_by_these_tests(rules: str) -> None:
    """Mmotm sleeps before it sets WRITEBACK, patch 4 turns it round, patch 5 moves both."""
    acts = (in_words(place, act) for place in PLACES for act in acts_at(rules, place))
    assert tuple(acts) == PROGRAMS[rules]


# Facts of the series, by their numbers, and what follows from the tables.


def changed(before: str, after: str) -> set[str]:
    """Return the parts in which two rows differ; acts by the place where they are done."""

    def parts(rules: str) -> dict[str, object]:
        row = row_of(rules)
        names = [name for name, _ in ffi.typeof(row[0]).fields if name not in ("acts", "clears")]
        return {
            **{name: getattr(row, name) for name in names},
            "clears": list(row.clears),
            **{f"at {at}": [in_words(at, act) for act in acts_at(rules, at)] for at in PLACES},
        }

    old, new = parts(before), parts(after)
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


# What is refused.


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
        decide_counts(StallContext(**context), counts)


def test_a_list_without_a_page_is_refused() -> None:
    """A list has at least one page, even if none of them is met."""
    with pytest.raises(InputError, match="0 pages"):
        stall.decide(pl.DataFrame(schema={"dirty": pl.Boolean}))


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"flags": ["wet"]}, "'wet'.*writeback"),
        ({"rules": ["2.6"]}, r"2\.6.*mmotm"),
        ({"priority": 13}, "priority=13"),
        ({"sane": False}, "memcg=True"),
        ({"pages": pl.DataFrame({"wet": [True]})}, "'wet'.*dirty"),
    ],
)
def test_a_wrong_argument_is_named(given: dict[str, Any], remedy: str) -> None:
    """The message has the value and what can be chosen."""
    with pytest.raises(InputError, match=remedy):
        stall.decide(**{"pages": pl.DataFrame({"dirty": [True]})} | given)


def test_a_row_for_each_set_of_rules_has_names_in_order() -> None:
    """A list of marked pages under writeback: slept for before the end, flags and sleeps at it."""
    pages = pl.DataFrame({"writeback": [True] * 32, "reclaim": True})
    found = stall.decide(pages, flags=["writeback"])
    assert found["rules"].to_list() == list(stall.RULES)
    (row,) = found.filter(rules="series-8").to_dicts()
    assert (row["immediate"], row["sleeps"]) == (32, ["congestion_wait"])
    (row,) = found.filter(rules="mmotm").to_dicts()
    assert (row["slept"], row["freed_under_writeback"]) == (1, 1)
