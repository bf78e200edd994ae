# SPDX-License-Identifier: GPL-2.0-or-later
"""The replay of patch B: real lists, their acquisitions of locks, and what a trace must have."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim import traces
from swapsim.cli import main
from swapsim.errors import InputError
from swapsim.ffi import MAPPING_KERNELS
from swapsim.io import shipped_traces
from swapsim.removal import REMOVALS, derived, lists_of, removals
from swapsim.removal import replay as removal_replay

DERIVED = {name: shipped_traces()[name] for name in ("random-80-20", "slow-disk", "swap-w-seq")}
PAGES = {"random-80-20": 29107, "slow-disk": 46341, "swap-w-seq": 34023}
Row = tuple[int, int, int, int, bool, int, bool]


@pytest.fixture(params=DERIVED, scope="module")
def trace(request: pytest.FixtureRequest) -> Path:
    """Give each shipped trace whose events determine the removals."""
    return DERIVED[request.param]


def plain_removals(folder: Path) -> list[tuple[int, int, int, bool, int]]:
    """Walk the events one by one: seq, pid, list, swap, index."""
    names = ["mm_vmscan_lru_isolate", "mm_vmscan_lru_shrink_inactive", "swp_del"]
    if (folder / "mm_filemap_delete_from_page_cache.parquet").exists():
        names.append("mm_filemap_delete_from_page_cache")
    events = sorted(
        (
            (row["seq"], name, row)
            for name in names
            for row in traces.scan_event(folder, name).collect().iter_rows(named=True)
        ),
        key=lambda event: event[0],
    )
    lists: dict[int, int] = {}
    found = []
    for seq, name, row in events:
        pid = row["pid"]
        if name == "mm_vmscan_lru_isolate":
            if row["lru"].startswith("inactive"):
                lists[pid] = seq
        elif name == "mm_vmscan_lru_shrink_inactive":
            lists.pop(pid, None)
        elif pid in lists and name == "swp_del":
            if row["shadow"]:
                found.append((seq, pid, lists[pid], True, row["entry"] % 2**58))
        elif pid in lists:
            found.append((seq, pid, lists[pid], False, row["ofs"] // 4096))
    return found


def test_ends_of_lists_determine_the_removals(trace: Path) -> None:
    """Each shipped trace has as many removals, list by list, as its kernel reclaimed pages."""
    rows = derived(trace)
    assert rows.height == PAGES[trace.name]
    reclaimed = traces.scan_event(trace, "mm_vmscan_lru_shrink_inactive").collect()["nr_reclaimed"]
    assert rows.height == reclaimed.sum()
    assert rows["list"].n_unique() == (reclaimed > 0).sum()
    assert list(rows.drop("mapping", "removed").iter_rows()) == plain_removals(trace)


def test_a_list_of_a_real_kernel_has_few_mappings(trace: Path) -> None:
    """A list takes one hold in 4.8, with one mapping per device, and hardly more with trunks."""
    found = removal_replay(trace)
    assert found["kernel"].to_list() == list(MAPPING_KERNELS)
    assert (found["page_by_page"] == found["pages"]).all()
    assert (found["lists"] <= found["batched"]).all()
    assert found["mappings_a_list"][0] == 1
    assert found["mappings_a_list"][2] < 1.2
    assert found["longest"].max() == 32
    assert (found["saved_a_page"] > 0.85).all()
    # These events show no page that could not be removed.
    assert found["failed"].null_count() == found.height


def test_acquisitions_are_the_mappings_of_each_list(trace: Path) -> None:
    """Counted without the C core: a list's distinct trunks and files."""
    rows = removals(trace)
    for kernel in MAPPING_KERNELS:
        where = pl.when("swap").then(0 if kernel == "4.8" else pl.col("mapping"))
        expected = (
            rows.with_columns(where=where.otherwise(pl.col("mapping")))
            .group_by("list", maintain_order=True)
            .agg(holds=pl.struct("swap", "where").n_unique(), pages=pl.len())
            .sort("list")
        )
        lists = lists_of(rows, kernel).sort("list")
        assert lists["batched"].to_list() == expected["holds"].to_list()
        assert lists["mappings"].to_list() == expected["holds"].to_list()
        assert lists["page_by_page"].to_list() == expected["pages"].to_list()


def recorded(folder: Path, rows: list[Row]) -> Path:
    """Write a trace that has a table of removals."""
    folder.mkdir()
    (folder / "trace.toml").write_text("[workload]\nname = 'made by hand'\n", encoding="utf-8")
    table(rows).write_parquet(folder / "removals.parquet")
    return folder


def table(rows: list[Row]) -> pl.DataFrame:
    """Return rows as REMOVALS."""
    return pl.DataFrame(rows, schema=REMOVALS.schema, orient="row")


ROWS: list[Row] = [
    (1, 10, 7, 0xA0, True, 5, True),
    (2, 11, 8, 0xF0, False, 3, True),
    (3, 10, 7, 0xA1, True, 16384, False),
    (4, 10, 7, 0xA0, True, 6, True),
    (5, 11, 8, 0xF0, False, 4, True),
]


def test_a_recorded_table_shows_failures(tmp_path: Path) -> None:
    """Two concurrent lists on two trunks are counted, one of them with a page in use."""
    found = removal_replay(recorded(tmp_path / "two-lists", ROWS))
    assert found["trace"].to_list() == ["two-lists"] * 3
    assert found["lists"].to_list() == [2] * 3
    assert found["pages"].to_list() == [5] * 3
    assert found["failed"].to_list() == [1] * 3
    assert found["batched"].to_list() == [2, 3, 3]
    assert found["saved_a_page"].to_list() == [0.6, 0.4, 0.4]
    assert found["longest"].to_list() == [3, 2, 2]


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 90), st.booleans()), min_size=1))
def test_lists_of_several_tasks_may_alternate(pages: list[tuple[int, int, bool]]) -> None:
    """Rows in lock order are grouped by list, and none is lost."""
    seen = dict.fromkeys((number, slot) for number, slot, _ in pages)
    outcome = {(number, slot): removed for number, slot, removed in pages}
    rows = table(
        [
            (seq, number, number, 0xA0, True, slot, outcome[number, slot])
            for seq, (number, slot) in enumerate(seen)
        ]
    )
    lists = lists_of(rows, "4.8")
    assert lists["list"].to_list() == list(dict.fromkeys(number for number, _ in seen))
    assert lists["pages"].sum() == len(seen)
    assert lists["failed"].sum() == sum(not outcome[key] for key in seen)


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ([*ROWS, (6, 10, 9, 0xB0, True, 8, True)], "several swap devices"),
        ([*ROWS, (6, 10, 7, 0xA0, True, 5, True)], "page 3 of list 7 .* already"),
        ([*ROWS, (0, 10, 7, 0xA0, True, 9, True)], "'seq': the row with seq 0"),
        ([], "has no removal"),
    ],
)
def test_an_invalid_recorded_table_is_refused(tmp_path: Path, rows: list[Row], wrong: str) -> None:
    """Two devices, a page twice on its list, rows out of order, and no row are refused."""
    with pytest.raises(InputError, match=wrong):
        removal_replay(recorded(tmp_path / "wrong", rows))


@pytest.mark.parametrize(
    "gone", ["mm_vmscan_lru_isolate", "mm_vmscan_lru_shrink_inactive", "swp_del"]
)
def test_a_trace_without_ends_of_lists_or_deletions_is_refused(
    tmp_path: Path, gone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line names the missing event, and exits with 2."""
    folder = tmp_path / "cut"
    shutil.copytree(DERIVED["swap-w-seq"], folder)
    (folder / f"{gone}.parquet").unlink()
    assert main(["replay", "removal", str(folder)]) == 2
    assert f"removal needs {gone}" in capsys.readouterr().err


def test_file_deletions_are_sufficient(tmp_path: Path) -> None:
    """Without swp_del, a trace that swaps is refused, and one that does not swap is read."""
    folder = tmp_path / "files"
    shutil.copytree(DERIVED["slow-disk"], folder)
    (folder / "swp_del.parquet").unlink()
    with pytest.raises(InputError, match="lacks deletions"):
        derived(folder)
    shrinks = folder / "mm_vmscan_lru_shrink_inactive.parquet"
    only_files = pl.read_parquet(shrinks).with_columns(
        nr_reclaimed=pl.when(pl.col("flags").str.contains("FILE")).then("nr_reclaimed").otherwise(0)
    )
    only_files.write_parquet(shrinks)
    traces.sign(folder)
    rows = derived(folder)
    assert rows.height == 11551
    assert not rows["swap"].any()
