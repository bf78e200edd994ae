# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library's choices and turns, compared with the oracle's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_mglru import choice, isolate
from recorded import (
    KINDS,
    call_rows,
    choice_row,
    chosen_row,
    limited,
    states,
    summed,
    table_of,
    tiered,
)

from swapsim import mglru
from swapsim.ffi import MGLRU_RULES
from swapsim.mglru import _native
from swapsim.mglru import recording as tables

kernels = pytest.mark.parametrize("kernel", MGLRU_RULES)
lists = st.lists(st.tuples(st.integers(0, 64), st.booleans()), min_size=2, max_size=2)


def scanned(drawn: list[tuple[int, bool]]) -> list[tuple[int, int]]:
    """Return pages of two lists, and how many of them were isolated: none, or half and one."""
    return [(pages, taken and pages and pages // 2 + 1) for pages, taken in drawn]


@kernels
@given(state=states(), drawn=lists, exhausted=st.booleans())
def test_choices_are_those_of_the_oracle(
    kernel: str, state: dict[str, Any], drawn: list[tuple[int, bool]], exhausted: bool
) -> None:
    """Type, term, tier indices and lists equal those of the oracle, and another list differs."""
    state = limited(kernel, state)
    kind, term, tiers = choice(kernel, summed(state))
    row = chosen_row(kernel, state, scanned(drawn), exhausted=exhausted)
    rows = table_of([row], tables.MGLRU_CHOICES)
    found = _native.choices(rows, kernel).row(0, named=True)
    assert (found["type"], found["term"]) == (KINDS[kind], term)
    assert found["type_equal"] in ("equal", "not-compared")
    if found["first"] in KINDS:
        assert found["tier"] == tiers[KINDS.index(found["first"])]
    other = choice_row(kernel, state, [(1 - kind, 8, 8)], 8)
    alone = all(state["max_seq"] - each > 1 for each in state["min_seq"])
    if alone:
        wrong = _native.choices(table_of([other], tables.MGLRU_CHOICES), kernel)
        assert wrong["type_equal"].to_list() == ["differs"]


@kernels
@given(state=states(), recorded=st.integers(0, 200), others=st.sets(st.integers(0, 200)))
def test_another_swappiness_is_that_of_the_oracle(
    kernel: str, state: dict[str, Any], recorded: int, others: set[int]
) -> None:
    """Each choice is that of the same state at the other value, compared with the recorded one."""
    state = limited(kernel, state) | {"swappiness": recorded}
    rows = tables.Recording(
        choices=table_of([chosen_row(kernel, state, [(8, 8), (8, 8)])], tables.MGLRU_CHOICES),
        steps=tables.recording(f"generations-{kernel}-held-1").steps.head(1),
    )
    for value in {0, 1, 199, 200, *others}:
        flips = mglru.replay(rows, swappiness=value).flips.row(0, named=True)
        then = state | {"swappiness": value}
        kind, term, _ = choice(kernel, summed(then))
        scans, _ = isolate(kernel, then, kind, [(8, 8), (8, 8)], exhausted=False)
        first = KINDS[scans[0][0]] if scans else "neither"
        assert (flips["rules"], flips["swappiness"]) == (kernel, recorded)
        assert (flips["type"], flips["term"]) == (first, term)
        assert flips["flips"] == (flips["type"] != flips["base_type"])


@kernels
@given(state=states(), spared=st.integers(0, 3))
def test_spared_pages_need_a_tier_above_the_index(
    kernel: str, state: dict[str, Any], spared: int
) -> None:
    """A tier up to the index that was spared differs; 6.12 spares the last one in any case."""
    state = {**limited(kernel, state), "min_seq": [state["max_seq"] - 2] * 2}
    row = chosen_row(kernel, state, [(8, 8), (8, 8)])
    row |= {f"protected_more_{row['scan_1']}_{spared}": 3}
    found = _native.choices(table_of([row], tables.MGLRU_CHOICES), kernel).row(0, named=True)
    index = choice(kernel, summed(state))[2][KINDS.index(row["scan_1"])]
    expected = "equal" if spared > index else "differs"
    if kernel == "6.12" and spared == 3:
        expected = "not-compared"
    assert found["tier_equal"] == expected


@kernels
@given(
    state=states(),
    more=st.fixed_dictionaries(
        {name: tiered(st.integers(0, 400)) for name in ("refaulted", "evicted")}
    ),
    share=st.lists(st.floats(0, 1), min_size=16, max_size=16),
)
def test_no_value_between_the_bounds_turns_a_determined_choice(
    kernel: str, state: dict[str, Any], more: dict[str, Any], share: list[float]
) -> None:
    """Whatever values the kernel read between those recorded, its choice never differs."""
    state = {**limited(kernel, state), "min_seq": [state["max_seq"] - 2] * 2}
    parts = iter(share)
    then = state | {
        name: [
            [int(before + next(parts) * rise) for before, rise in zip(*pair, strict=True)]
            for pair in zip(state[name], more[name], strict=True)
        ]
        for name in more
    }
    kind, _, tiers = choice(kernel, summed(then))
    row = chosen_row(kernel, state, [(8, 8), (8, 8)], more, then)
    if tiers[kind] < 3:
        row |= {f"protected_more_{KINDS[kind]}_{tiers[kind] + 1}": 1}
    found = _native.choices(table_of([row], tables.MGLRU_CHOICES), kernel).row(0, named=True)
    assert found["type_equal"] != "differs"
    assert found["tier_equal"] != "differs"
    if found["type_equal"] == "equal":
        assert found["type"] == KINDS[kind]


@st.composite
def calls(draw: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return a strategy of the states of a call's turns, and of what else the call depends on."""
    newest, before = draw(st.integers(4, 90)), []
    for _ in range(draw(st.integers(1, 5))):
        oldest = [newest - draw(st.integers(1, 3)) for _ in KINDS]
        before.append(
            {"max_seq": newest, "min_seq": oldest, "pages": draw(tiered(st.integers(0, 900)))}
        )
    others = {
        "swappiness": draw(st.sampled_from([0, 1, 60, 200, 201])),
        "priority": draw(st.sampled_from([0, 2, 4, 11, 12])),
        **{name: draw(st.booleans()) for name in ("root", "online")},
        "scans": [draw(st.sampled_from([0, 1, 40, 64, 64, 300])) for _ in before],
        "stops": [draw(st.booleans()) for _ in before],
    }
    return before, others


@kernels
@given(drawn=st.lists(calls(), min_size=1, max_size=4), data=st.data())
def test_turns_are_those_of_the_oracle(kernel: str, drawn: list[Any], data: Any) -> None:
    """Agings, batches and ends equal those of the oracle, and a changed turn differs."""
    rows = []
    for number, (before, others) in enumerate(drawn):
        if kernel == "6.12":
            others |= {"swappiness": min(others["swappiness"], 200)}
            others |= {"stops": [stop and others["root"] for stop in others["stops"]]}
        rows += call_rows(kernel, number, before, others)
    frame = table_of(rows, tables.MGLRU_STEPS)
    found = _native.steps(frame, kernel)
    for name in ("age_equal", "size_equal"):
        assert set(found[name]) <= {"equal", "not-compared"}
    at = data.draw(st.integers(0, len(rows) - 1))
    changed = [dict(row) for row in rows]
    changed[at]["aged"] = not changed[at]["aged"]
    wrong = _native.steps(table_of(changed, tables.MGLRU_STEPS), kernel)
    assert "differs" in {wrong["age_equal"][at], wrong["size_equal"][at]}
