# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad traces of reclaim: each refused with one line that names the row, or counted as cut."""

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from oracle_stall_recording import TABLES, Kernel, Task
from test_verify import change

from swapsim import stall
from swapsim.cli import main
from swapsim.stall.recording import reclaim_rows

KERNEL = Kernel("6.1", Random(11), [Task(1, 0, kswapd=True), Task(10, 1), Task(11, 1)], cpus=2)
KERNEL.run(400)
FRAMES = KERNEL.frames()


def write(folder: Path, frames: dict[str, pl.DataFrame]) -> Path:
    """Write a trace folder; an event without a row has no file."""
    folder.mkdir()
    for name, frame in frames.items():
        if frame.height:
            frame.write_parquet(folder / f"{name}.parquet")
    (folder / "trace.toml").write_text("[guest]\ncpus = 2\n")
    return folder


def spoil(table: str, row: int, **values: Any) -> dict[str, pl.DataFrame]:
    """Return the frames with other values in one row."""
    frame = FRAMES[table]
    return FRAMES | {table: change(frame, frame["seq"][row], **values)}


def refused(
    frames: dict[str, pl.DataFrame], folder: Path, capsys: pytest.CaptureFixture[str]
) -> str:
    """Verify a trace that must exit 2 with one line; return the line."""
    assert main(["verify", "stall", str(write(folder / "trace", frames))]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1, printed.err
    assert str(folder) in printed.err
    return printed.err


def row_of(table: str, number: int) -> dict[str, Any]:
    """Return a row of a table."""
    return FRAMES[table].row(number, named=True)


def test_a_complete_trace_exits_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line has all counts; info says that the trace can feed the replay."""
    folder = write(tmp_path / "trace", FRAMES)
    assert main(["verify", "stall", str(folder)]) == 0
    passes, lists = FRAMES["reclaim_passes"].height, FRAMES["reclaim_lists"].height
    calls = FRAMES["throttles"].height
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == (
        f"decided {passes} of {passes} passes as the kernel did "
        f"({lists} of {lists} lists' counters, {calls} of {calls} throttles)"
    )
    assert main(["info", str(folder)]) == 0
    assert "stall: yes" in capsys.readouterr().out
    assert main(["replay", "stall", str(folder)]) == 0
    assert "series-8" in capsys.readouterr().out
    assert stall.verify(folder).matched == passes
    assert reclaim_rows(folder).lists.height == lists


def test_a_mismatch_exits_with_1_and_is_described(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first one comes with its folios, both counters, flags and decisions."""
    row = row_of("reclaim_lists", 3)
    frames = spoil("reclaim_lists", 3, ref_keep=row["ref_keep"] + 1)
    assert main(["verify", "stall", str(write(tmp_path / "trace", frames))]) == 1
    printed = capsys.readouterr().out
    assert f"list {row['list']} in pass {row['pass']} at seq {row['seq']}" in printed
    for word in ("kernel: ", "rules:  ", "row:    ", "folio at seq "):
        assert word in printed
    assert "lists' counters" in printed.splitlines()[-1]


@pytest.mark.parametrize(
    ("table", "values", "words"),
    [
        ("reclaim_lists", {"unqueued_dirty": 4000}, "unqueued_dirty 4000"),
        ("reclaim_lists", {"writeback": 4000}, "writeback 4000"),
        ("reclaim_lists", {"priority": 13}, "priority 13"),
        ("reclaim_lists", {"flags_before": 8}, "flags_before 8"),
        ("reclaim_lists", {"taken": 0}, "taken 0"),
        ("reclaim_lists", {"list": 0}, "list 0"),
        ("reclaim_lists", {"congested": None}, "congested"),
        ("reclaim_passes", {"flags_after": 16}, "flags_after 16"),
        ("reclaim_passes", {"file_taken": 9000}, "file_taken 9000"),
        ("reclaim_folios", {"node_flags": 9}, "node_flags 9"),
        ("reclaim_folios", {"list": 0}, "list 0"),
        ("reclaim_rounds", {"priority": 13}, "priority 13"),
        ("throttles", {"timeout_us": 0, "delayed_us": 7}, "delayed_us 7"),
        ("throttles", {"reason": "wait_iff_congested", "flags": None}, "flags None"),
        ("reclaim_clears", {"flags": 8}, "flags 8"),
    ],
)
def test_a_row_that_contradicts_itself_is_named(
    table: str,
    values: dict[str, Any],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The line names the row's seq, the field and its impossible value."""
    rows = FRAMES[table].with_row_index("row")
    if "node_flags" in values:
        rows = rows.drop_nulls("node_flags")
    number = rows["row"][rows.height // 2]
    line = refused(spoil(table, number, **values), tmp_path, capsys)
    assert words in line
    assert f"seq {row_of(table, number)['seq']}" in line


def without(table: str, which: pl.Expr) -> pl.DataFrame:
    """Return a table without some rows."""
    return FRAMES[table].filter(~which)


def long_list() -> dict[str, Any]:
    """Return a list of some folios in the middle of the trace."""
    counted = FRAMES["reclaim_folios"]["list"].value_counts()
    long = counted.filter(pl.col("count") > 4)["list"]
    lists = FRAMES["reclaim_lists"].filter(pl.col("list").is_in(long.implode()))
    return lists.row(lists.height // 2, named=True)


def two_open_lists() -> pl.DataFrame:
    """Return the folios with a list of kswapd that begins before the end of its last one."""
    folios = FRAMES["reclaim_folios"]
    one, two = FRAMES["reclaim_lists"].filter(pl.col("pid") == 1)["list"][10:12]
    last = folios.filter(pl.col("list") == one)["seq"].max()
    first = folios.filter(pl.col("list") == two)["seq"].min()
    swapped = pl.col("seq").replace({last: first, first: last})
    return folios.with_columns(seq=swapped).sort("seq")


LONG = long_list()
LOST = FRAMES["reclaim_folios"].filter(pl.col("list") == LONG["list"])["seq"][1]
SEQ = row_of("reclaim_folios", 40)["seq"]
OF_PASS = pl.col("pass") == LONG["pass"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"reclaim_folios": FRAMES["reclaim_folios"].clear()}, "reclaim_folios"),
        ({"reclaim_lists": FRAMES["reclaim_lists"].reverse()}, "out of order"),
        (
            {"throttles": FRAMES["throttles"].tail(1).with_columns(seq=pl.lit(SEQ, pl.UInt64))},
            f"seq {SEQ}",
        ),
        (
            {"reclaim_folios": without("reclaim_folios", pl.col("seq") == LOST)},
            f"list {LONG['list']} ",
        ),
        (
            {name: without(name, OF_PASS) for name in ("reclaim_passes", "reclaim_rounds")},
            f"pass {LONG['pass']} ",
        ),
        ({"reclaim_folios": two_open_lists()}, "list "),
    ],
    ids=[
        "no table",
        "out of order",
        "two rows of one seq",
        "a lost folio",
        "a pass without an end",
        "two open lists of a task",
    ],
)
def test_tables_that_contradict_each_other_are_refused(
    changed: dict[str, pl.DataFrame], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the table, the row, the list or the pass at fault."""
    assert words in refused(FRAMES | changed, tmp_path, capsys)


def test_a_cut_recording_is_judged_and_what_it_cut_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its ends fall within lists and passes: these are not judged, all others agree."""
    half = row_of("reclaim_folios", FRAMES["reclaim_folios"].height // 2)["seq"]
    frames = {name: frame.filter(pl.col("seq") <= half) for name, frame in FRAMES.items()}
    assert set(frames) == set(TABLES)
    assert main(["verify", "stall", str(write(tmp_path / "trace", frames))]) == 0
    assert "not judged: " in capsys.readouterr().out
