# SPDX-License-Identifier: GPL-2.0-or-later
"""The replay of patch A: C against the oracle, and facts of the kernels."""

from pathlib import Path

import oracle_replay
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim import traces
from swapsim.errors import InputError
from swapsim.ffi import MAPPING_KERNELS
from swapsim.mapping import MappingConfig, replay_rows, totals_per_page, writeback_rows

FOLIOS = st.integers(1, 12).map(lambda number: 64 * number)
INDEXES = st.integers(0, 255)
FILES = st.integers(2, 5)
FIELDS = ("folio", "index", "file", "shadow")
FIGURES = ("calls", "unresolved", "contradicted", "acquisitions", "tree_walks")

ROW = st.one_of(
    st.tuples(st.sampled_from([0, 1]), FOLIOS, INDEXES, st.just(1)),
    st.tuples(st.just(2), st.just(0), INDEXES, st.just(1)),
    st.tuples(st.sampled_from([3, 4]), FOLIOS, INDEXES, st.sampled_from([0, 1, 2, 3])),
    st.tuples(st.sampled_from([5, 6]), FOLIOS, INDEXES, FILES),
    st.tuples(st.just(7), st.just(0), INDEXES, FILES),
    st.tuples(st.just(8), FOLIOS, FOLIOS, st.just(0)).filter(lambda row: row[1] != row[2]),
)


def table(rows: list[tuple[int, int, int, int]]) -> pl.DataFrame:
    """Return rows (op, folio, index, file) without shadows."""
    return pl.DataFrame(
        [(seq, op, folio, index, file, 2) for seq, (op, folio, index, file) in enumerate(rows)],
        schema={"seq": pl.UInt64, "op": pl.UInt8} | dict.fromkeys(FIELDS, pl.UInt64),
        orient="row",
    )


@given(
    rows=st.lists(ROW, max_size=120), kernel=st.sampled_from(MAPPING_KERNELS), tags=st.booleans()
)
def test_c_and_oracle_count_the_same(
    rows: list[tuple[int, int, int, int]], kernel: str, tags: bool
) -> None:
    """Calls, acquisitions and walks of each flow and site agree with the plain model."""
    config = MappingConfig(
        kernel=kernel, swap_writeback_tags=tags, swap_slots=256, trunk_shift=4, tree_shift=2
    )
    sites = replay_rows(table(rows), config)
    oracle = oracle_replay.Oracle(kernel, tags, trunk_shift=4)
    for row in rows:
        oracle.feed(*row)
    expected = {
        key: {figure: counts[figure.replace("tree_walks", "descents")] for figure in FIGURES}
        for key, counts in oracle.finish().items()
        if counts["calls"]
    }
    found = {
        (row["flow"], row["site"]): {figure: row[figure] for figure in FIGURES}
        for row in sites.iter_rows(named=True)
    }
    assert found == expected


def one_page_a_time(pages: int) -> pl.DataFrame:
    """Return rows of pages that are added, written and deleted one after the other."""
    rows = []
    for page in range(pages):
        folio, offset = 64 * (1 + page % 50), 1 + 7919 * page % 60000
        rows += [(0, folio, offset, 1), (3, folio, 0, 0), (4, folio, 0, 0), (1, folio, offset, 1)]
    return table(rows)


@pytest.mark.parametrize("kernel", MAPPING_KERNELS)
def test_patch_a_halves_the_acquisitions_of_a_page_swapped_out(kernel: str) -> None:
    """Four acquisitions a page with tags, two without, in every kernel (section 6, facts 1, 3)."""
    taken = {
        tags: replay_rows(
            one_page_a_time(500), MappingConfig(kernel=kernel, swap_writeback_tags=tags)
        )["acquisitions"].sum()
        for tags in (True, False)
    }
    assert taken == {True: 2000, False: 1000}


def test_totals_are_the_sums_of_the_sites() -> None:
    """The totals per page add up the sites' figures."""
    sites = replay_rows(one_page_a_time(50), MappingConfig())
    totals = totals_per_page(sites)
    assert totals["acquisitions"].to_list() == [4.0]
    # insert 1, start 3, end 1, delete 1: kernel 4.8's walks
    assert totals["tree_walks"].to_list() == [6.0]


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        (one_page_a_time(2).reverse(), "out of order"),
        (one_page_a_time(3), "row with seq 4 "),
        (one_page_a_time(2).with_columns(folio=pl.col("folio").replace(128, None)), "'folio'.* 4 "),
    ],
)
def test_rows_that_cannot_be_replayed_are_named(rows: pl.DataFrame, wrong: str) -> None:
    """Rows are in order of seq, have a value in each field, and lie within the device."""
    with pytest.raises(InputError, match=wrong):
        replay_rows(rows, MappingConfig(swap_slots=2))


def test_a_page_under_writeback_is_of_swap_or_of_its_file(tmp_path: Path) -> None:
    """Anonymous and shared memory (mapping 0) have their slot in ``private``; others a file."""
    head = " task-1 [000] d..1. 1.000001: "
    mappings = ["0xffff888000000001", "0x0", "0xffff888000000008"]
    lines = [f"swp_{each}: (f) folio=0x40 entry=9" for each in ("add", "del")]
    lines += [f"wb_start: (f) folio=0x40 mapping={each} index=7 private=9" for each in mappings]
    lines.append(lines[-1].replace("wb_start", "wb_end"))
    text = tmp_path / "trace.txt"
    text.write_text("".join(f"{head}{line}\n" for line in lines))
    rows = writeback_rows(traces.import_text(text, tmp_path / "trace").folder)
    started = rows.filter(op=3).select("file", "index").rows()
    assert started == [(1, 9), (1, 9), (0xFFFF888000000008, 7)]
