# SPDX-License-Identifier: GPL-2.0-or-later
"""Removal from the mappings: C against the oracle, and what patch B may and may not change."""

import oracle_removal
import oracle_rtree
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim import removal
from swapsim.errors import InputError
from swapsim.ffi import MAPPING_KERNELS, REMOVAL_MODES
from swapsim.mapping import MappingConfig

PAGE_BY_PAGE, BATCHED = REMOVAL_MODES
TRUNK_SHIFT = 4
TREE_SHIFT = 2
PLACES = st.one_of(
    st.tuples(st.just(True), st.just(0), st.integers(1, 63)),
    st.tuples(st.just(False), st.integers(5, 7), st.integers(0, 40)),
)
STATE = st.tuples(
    st.sampled_from([2, 2, 2, 3, 1]),
    st.sampled_from([False, False, True]),
    st.booleans(),
    st.booleans(),
)
Row = tuple[bool, int, int, int, bool, bool, bool]
"""swap, key of the mapping, index, references, dirty, freepage, lazyfree."""

PAGE = st.tuples(PLACES, STATE).map(lambda page: (*page[0], *page[1]))
LIST = st.lists(PAGE, min_size=1, max_size=24, unique_by=lambda row: row[:3])
LISTS = st.lists(LIST, min_size=1, max_size=6)


def config(kernel: str) -> MappingConfig:
    """Return small mappings, with deep trees and many trunks."""
    return MappingConfig(
        kernel=kernel, swap_slots=64, trunk_shift=TRUNK_SHIFT, tree_shift=TREE_SHIFT
    )


def table(lists: list[list[Row]]) -> pl.DataFrame:
    """Return rows as pages on lists, all locked."""
    rows = [
        (number, *row[:4], True, *row[4:])
        for number, rows_of_list in enumerate(lists)
        for row in rows_of_list
    ]
    return pl.DataFrame(rows, schema=removal.PAGES, orient="row")


def run_oracle(lists: list[list[Row]], kernel: str, mode: str) -> oracle_removal.Reclaim:
    """Remove the same lists with the plain model and its trees."""
    reclaim = oracle_removal.Reclaim(
        kernel, TRUNK_SHIFT, make_tree=lambda: oracle_rtree.Tree(TREE_SHIFT)
    )
    for rows in lists:
        pages = [
            reclaim.bring(
                swap,
                key,
                index,
                references=references,
                dirty=dirty,
                freepage=freepage,
                lazyfree=lazyfree,
            )
            for swap, key, index, references, dirty, freepage, lazyfree in rows
        ]
        reclaim.run(mode, pages)
    return reclaim


@given(lists=LISTS, kernel=st.sampled_from(MAPPING_KERNELS), mode=st.sampled_from(REMOVAL_MODES))
def test_c_and_oracle_remove_the_same_pages_under_the_same_holds(
    lists: list[list[Row]], kernel: str, mode: str
) -> None:
    """Outcomes, the order of freed and kept pages, each hold's work and the counters agree."""
    found = removal.remove_lists(table(lists), config(kernel), mode)
    reclaim = run_oracle(lists, kernel, mode)
    assert list(found.outcomes.iter_rows()) == reclaim.results
    assert [row[1:] for row in found.holds.iter_rows()] == [
        (hold.mapping[0] == oracle_removal.SWAP, hold.mapping[1], *hold.figures())
        for hold in reclaim.holds
    ]
    assert found.counts == reclaim.counts()


@given(lists=LISTS, kernel=st.sampled_from(MAPPING_KERNELS))
def test_batching_changes_only_locks(lists: list[list[Row]], kernel: str) -> None:
    """Single and batched removal have the same pages, trees and freed slots."""
    found = {
        mode: removal.remove_lists(table(lists), config(kernel), mode) for mode in REMOVAL_MODES
    }
    assert found[BATCHED].outcomes["removed"].equals(found[PAGE_BY_PAGE].outcomes["removed"])
    for figure in ("descents", "failed", "removed", "nodes_freed"):
        assert found[BATCHED].holds[figure].sum() == found[PAGE_BY_PAGE].holds[figure].sum()
    for counter in ("reclaimed", "failed", "slots_freed", "freepages"):
        assert found[BATCHED].counts[counter] == found[PAGE_BY_PAGE].counts[counter]
    states = [run_oracle(lists, kernel, mode) for mode in REMOVAL_MODES]
    assert states[0].state() == states[1].state()
    assert sorted(states[0].freed_slots) == sorted(states[1].freed_slots)


def test_a_run_of_many_chunks_is_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows go to C in chunks of complete lists, and the chunks do not change the result."""
    lists = [
        [(page % 3 != 0, 5 + page % 2, 1 + (7 * number + page) % 60, 2, False, False, False)
         for page in range(8)]
        for number in range(40)
    ]  # fmt: skip
    whole = removal.remove_lists(table(lists), config("6.1"), BATCHED)
    monkeypatch.setattr(removal, "CHUNK_ROWS", 11)
    ticks: list[int] = []
    parts = removal.remove_lists(table(lists), config("6.1"), BATCHED, tick=ticks.append)
    assert whole.outcomes.equals(parts.outcomes)
    assert whole.holds.equals(parts.holds)
    assert whole.counts == parts.counts
    assert ticks == [8] * 40


GOOD: Row = (True, 0, 5, 2, False, False, False)


def test_a_table_that_is_no_list_is_refused() -> None:
    """It has pages, each list's together, and a value in each column but ``mapping``."""
    page = table([[GOOD]])
    for pages, wrong in (
        (page.clear(), "empty"),
        (pl.concat([table([[GOOD], [GOOD]]), page]), "list 0 are not adjacent"),
        (page.with_columns(index=pl.lit(None, dtype=pl.UInt64)), "'index': the page in row 0"),
    ):
        with pytest.raises(InputError, match=wrong):
            removal.remove_lists(pages, config("4.8"), BATCHED)


@pytest.mark.parametrize("mode", REMOVAL_MODES)
@pytest.mark.parametrize(
    ("column", "value", "wrong"),
    [
        ("index", 5, "already"),
        ("locked", False, "not locked"),
        ("mapping", None, "no mapping"),
        ("index", 64, "no page at the index"),
        ("index", 0, "slot 0"),
    ],
)
def test_an_invalid_page_is_named_by_its_list_and_position(
    mode: str, column: str, value: object, wrong: str
) -> None:
    """A list with an invalid page is refused before any of its pages is removed."""
    pages = table([[(True, 0, 9, 2, False, False, False)], [GOOD, (True, 0, 6, 2, *GOOD[4:])]])
    bad = pages.with_columns(
        pl.when(pl.int_range(pl.len()) == 2)
        .then(pl.lit(value, dtype=pages.schema[column]))
        .otherwise(column)
        .alias(column)
    )
    with pytest.raises(InputError, match=f"page 1 of list 1 .*{wrong}"):
        removal.remove_lists(bad, config("4.8"), mode)
