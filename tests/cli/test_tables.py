# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of commands: explained column by column, and written to the file that is asked for."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import altair as alt
import click
import polars as pl
import pytest

from swapsim import traces
from swapsim.cli import cli, main
from swapsim.cli.output import TABLES, checked, write_chart, write_table
from swapsim.cli.tables import Printed, print_tables
from swapsim.errors import InputError
from swapsim.patches import cluster_next as patch
from swapsim.slots.tables import POLICY_RANKING

REMOVALS = str(traces.shipped("batched-removal")["removals-swap-1"])

SMALL: dict[str, list[str]] = {
    "replay writeback-tags": [str(traces.shipped("writeback-tags")["swap-w-seq"])],
    "replay batched-removal": [REMOVALS],
    "replay cluster-next": [str(traces.shipped("cluster-next")["slots-4-shared"]), "--seeds", "1"],
    "replay stall-decisions": [str(traces.shipped("stall-decisions")["stalls-nfs-1"])],
    "compare": [str(Path(__file__).parent / "own_runs.csv"), "--without-simulated"],
    "rank": [str(Path(__file__).parent / "own_policy.py"), "--seeds", "1"],
}
"""What each command that shows tables is run on."""


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield each command with its name, as it is typed."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


SHOWING = {
    name: command
    for name, command in commands(cli)
    if {"output", "explain"} <= {each.name for each in command.params} and name != "import"
}


def typed(name: str) -> list[str]:
    """Return a command as it is typed, with what it is run on."""
    return [*name.split(), *SMALL[name]]


CHARTED = [
    name
    for name, command in SHOWING.items()
    if any(".svg" in str(getattr(each, "help", "")) for each in command.params)
]


def choices(name: str) -> list[str]:
    """Return the names of a command's tables, if it has several."""
    for each in SHOWING[name].params:
        if each.name == "table" and isinstance(each.type, click.Choice):
            return [str(choice) for choice in each.type.choices]
    return []


def test_each_command_that_shows_a_table_is_tried_here() -> None:
    """A new one has to say what it is run on."""
    assert set(SHOWING) == set(SMALL)


@pytest.fixture(autouse=True)
def ranked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give `swapsim rank` a table at once: test_rank makes one in earnest."""
    rows = [
        (metric, "unit", better, rank, policy, policy == "stays", 2.5, 2.5, 2.5, [], 2.5, 2.5, 1)
        for metric, better in patch.RANKED_BY.items()
        for rank, policy in enumerate(("shared", "stays"), 1)
    ]
    ranking = pl.DataFrame(rows, schema=POLICY_RANKING.schema, orient="row")
    monkeypatch.setattr(patch, "rank", lambda *_, **__: ranking)


@pytest.mark.parametrize("name", SMALL)
def test_each_column_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Below each table stands each column, in the table's order, with its unit and meaning.

    A column whose figures are no counts has a unit.
    """
    assert main([*typed(name), "--explain"]) == 0
    printed = capsys.readouterr().out.splitlines()
    kinds = [(kind, list(lines)) for kind, lines in groupby(printed, key=lambda line: line[:1])]
    tables = [at for at, (kind, _) in enumerate(kinds) if kind == "|"]
    assert len(tables) >= max(1, len(choices(name)))
    for at in tables:
        lines = (line.split("|")[1:-1] for line in kinds[at][1] if "---" not in line)
        columns = list(zip(*lines, strict=True))
        told = [re.split(r" {2,}", line.strip(), maxsplit=2) for line in kinds[at + 1][1]]
        for column, (called, unit, says) in zip(columns, told, strict=True):
            assert column[0].strip() == called
            assert len(says) > 3
            assert unit != "count" or not any("." in cell for cell in column[1:]), called


@pytest.mark.parametrize("options", [["--help"], ["batched-removal", REMOVALS, "--explain"]])
def test_texts_do_not_come_from_docstrings(options: list[str]) -> None:
    """The help of commands and the meanings of columns are the same without docstrings."""
    printed = [
        subprocess.run(
            [sys.executable, *flags, "-m", "swapsim", "replay", *options],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flags in ([], ["-OO"])
    ]
    assert printed[0] == printed[1]
    assert "Patch B: " in printed[0] or "distinct mappings of a list" in printed[0]


def test_an_empty_table_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Not a head over no rows."""
    none = pl.DataFrame(schema={"test": pl.String})
    print_tables([Printed("unmatched", none, {}, title="what fits nothing")], explain=True)
    assert capsys.readouterr().out == "what fits nothing: nothing\n"


@pytest.mark.parametrize("name", CHARTED)
def test_a_chart_is_written(name: str, tmp_path: Path) -> None:
    """Where a command takes a chart's suffix there is a chart."""
    assert main([*typed(name), "-o", str(tmp_path / "chart.svg")]) == 0
    assert (tmp_path / "chart.svg").read_bytes().startswith(b"<svg")


@pytest.mark.parametrize(
    ("suffix", "begin"), [(".html", b"<!DOCTYPE html>"), (".svg", b"<svg"), (".png", b"\x89PNG")]
)
def test_a_chart_as_each_kind_of_file(suffix: str, begin: bytes, tmp_path: Path) -> None:
    """A page that fetches nothing, or a picture."""
    chart = alt.Chart(pl.DataFrame({"a": [1, 2]})).mark_point().encode(x="a")
    write_chart(chart, tmp_path / f"chart{suffix}")
    written = (tmp_path / f"chart{suffix}").read_bytes()
    assert written.lstrip().startswith(begin)
    assert b'src="http' not in written


def test_a_table_is_written_by_its_suffix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same rows as CSV, Parquet and JSON, words in lists with commas where there are none."""
    frame = pl.DataFrame({"rules": ["3.9", None], "tied": [["a", "b"], []], "pages": [1, 2**63]})
    files = {suffix: tmp_path / f"table{suffix}" for suffix in TABLES}
    for file in files.values():
        write_table(frame, file)
    assert pl.read_parquet(files[".parquet"]).equals(frame)
    assert json.loads(files[".json"].read_text()) == frame.to_dicts()
    assert files[".csv"].read_text() == f'rules,tied,pages\n3.9,"a, b",1\n,"",{2**63}\n'
    assert sorted(tmp_path.iterdir()) == sorted(files.values())
    name = "replay batched-removal"
    assert main([*typed(name), "-o", str(files[".csv"])]) == 0
    assert "|--" in capsys.readouterr().out
    assert pl.read_csv(files[".csv"])["batched"].to_list()


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("table.xls", "does not end in one of"),
        ("table", "does not end in one of"),
        ("folder.csv", "is a folder"),
        ("nowhere/table.csv", "does not exist"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    name: str, file: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the file and what to do, exit 2, and nothing is written or printed."""
    (tmp_path / "folder.csv").mkdir()
    assert main([*name.split(), "no-such-input", "-o", str(tmp_path / file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith(f"swapsim: {tmp_path / file}: ")
    assert word in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


@pytest.mark.parametrize(
    "command", ["compare {}/mine.csv --only compared", "replay writeback-tags {}"]
)
def test_what_a_command_reads_is_not_written_over(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the file that it was given, nor one of the folder."""
    mine = tmp_path / "mine.csv"
    mine.write_text("of the reader")
    assert main([*command.format(tmp_path).split(), "-o", str(mine)]) == 2
    told = f"swapsim: {mine}: is what the command reads: write to another file\n"
    assert capsys.readouterr() == ("", told)
    assert mine.read_text() == "of the reader"


def test_a_pipe_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody reads from it who would wait for ever."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    assert main(["replay", "writeback-tags", "nowhere", "-o", str(pipe)]) == 2
    told = f"swapsim: {pipe}: is no file: name one, or what is not there yet\n"
    assert capsys.readouterr() == ("", told)


def test_a_folder_without_leave_to_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write anywhere, so the answer is made up."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        checked(tmp_path / "table.csv", [".csv"])


def test_what_was_there_stays_if_the_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk leaves the old file whole, and nothing beside it."""
    file = tmp_path / "table.csv"
    file.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(file))

    monkeypatch.setattr(Path, "replace", full)
    assert main([*typed("replay batched-removal"), "-o", str(file)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_one_file_holds_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command with several asks which; with --only it prints and writes that one."""
    name = "replay stall-decisions"
    assert main([*typed(name), "-o", str(tmp_path / "table.csv")]) == 2
    assert "--only decisions|sleeps|agreement" in capsys.readouterr().err
    assert main([*typed(name), "--only", "sleeps"]) == 0
    printed = capsys.readouterr().out
    assert "can_sleep" in printed
    assert "tail_lru_dirty" not in printed
