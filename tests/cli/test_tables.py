# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of commands: explained column by column, and written to a file."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import altair as alt
import click
import polars as pl
import pytest
from command_tree import LEAVES

from swapsim import traces
from swapsim.cli import main, tables
from swapsim.cli.tables import TABLES, Printed, checked, print_tables, write_chart, write_table
from swapsim.errors import InputError
from swapsim.patches import cluster_next as patch
from swapsim.study.tables import RANKING

REMOVALS = str(traces.shipped_folders("removal")["removals-swap-1"])

SMALL: dict[str, list[str]] = {
    "replay mapping": [str(traces.shipped_folders("mapping")["swap-w-seq"])],
    "replay removal": [REMOVALS],
    "replay slots": [str(traces.shipped_folders("slots")["slots-4-shared"]), "--seeds", "1"],
    "replay stall": [str(traces.shipped_folders("stall")["stalls-nfs-1"])],
    "replay clusters": [str(traces.shipped_folders("clusters")["clusters-7.3-zram-1"])],
    "replay mglru": ["generations-7.3-mixed-1"],
    "rank": [str(Path(__file__).parent / "own_policy.py"), "--seeds", "1"],
}
"""Arguments for each command that shows tables."""


SHOWING = {
    name: command
    for name, command in LEAVES.items()
    if {"outputs", "explain"} <= {each.name for each in command.params} and name != "import"
}


def typed(name: str) -> list[str]:
    """Return a command with its arguments."""
    return [*name.split(), *SMALL[name]]


CHARTED = [
    name
    for name, command in SHOWING.items()
    if any(".svg" in str(getattr(each, "help", "")) for each in command.params)
]


@pytest.fixture(autouse=True)
def ranked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `swapsim rank` return a table without computing it, which test_rank does."""
    rows = [
        (
            metric,
            "unit",
            "lower",
            rank,
            policy,
            policy == "stays",
            2.5,
            2.5,
            2.5,
            [],
            [],
            2.5,
            2.5,
            8,
        )
        for metric in patch.RANKED_BY
        for rank, policy in enumerate(("percpu-rerandomise", "stays"), 1)
    ]
    ranking = pl.DataFrame(rows, schema=RANKING.schema, orient="row")
    monkeypatch.setattr(patch, "rank", lambda *_, **__: ranking)


@pytest.mark.parametrize("name", SMALL)
def test_each_column_is_explained_and_the_chart_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below each table each column has its unit and meaning; fractions are not called counts."""
    monkeypatch.setenv("COLUMNS", "1000000")
    chart = tmp_path / "chart.svg"
    output = ["-o", str(chart)] if name in CHARTED else []
    shown: list[Sequence[Printed]] = []

    def print_and_record(found: Sequence[Printed], *, explain: bool) -> None:
        shown.append(found)
        print_tables(found, explain=explain)

    monkeypatch.setattr(tables, "print_tables", print_and_record)
    assert main([*typed(name), "--explain", *output]) == 0
    assert not output or chart.read_bytes().startswith(b"<svg")
    printed = capsys.readouterr().out.splitlines()
    kinds = [(kind, list(lines)) for kind, lines in groupby(printed, key=lambda line: line[:1])]
    heads = [at for at, (kind, _) in enumerate(kinds) if kind == "|"]
    only = [each.type for each in SHOWING[name].params if each.name == "table"]
    assert len(heads) >= max(
        [1, *(len(kind.choices) for kind in only if isinstance(kind, click.Choice))]
    )
    for at in heads:
        lines = (line.split("|")[1:-1] for line in kinds[at][1] if "---" not in line)
        columns = list(zip(*lines, strict=True))
        texts = [re.split(r" {2,}", line.strip(), maxsplit=2) for line in kinds[at + 1][1]]
        for column, (explained, unit, meaning) in zip(columns, texts, strict=True):
            assert column[0].strip() == explained
            assert len(meaning) > 3
            assert unit != "count" or not any("." in cell for cell in column[1:]), explained
    must_fit(shown[0], capsys, monkeypatch)


def must_fit(
    found: Sequence[Printed], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that tables and their explanations fit any terminal, with the name of each column."""
    for columns in (60, 80, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        print_tables(found, explain=True)
        printed = capsys.readouterr().out
        assert max(map(len, printed.splitlines())) <= columns, printed
        for table in found:
            words = {*re.split(r"[\s,]+", printed)}
            assert set(table.frame.columns) <= words or table.frame.is_empty()


def test_texts_do_not_come_from_docstrings(capsys: pytest.CaptureFixture[str]) -> None:
    """The help of commands and the meanings of columns are the same without docstrings."""
    commands = [["replay", "--help"], [*typed("replay removal"), "--explain"]]
    assert [main(command) for command in commands] == [0, 0]
    plain = capsys.readouterr().out
    assert "Patch B: " in plain
    assert "distinct mappings of a list" in plain
    program = f"from swapsim.cli import main\nfor each in {commands}: main(each)"
    optimised = [sys.executable, "-OO", "-c", program]
    ran = subprocess.run(optimised, capture_output=True, text=True, check=True)
    assert ran.stdout == plain


def test_a_chart_is_drawn_without_docstrings(tmp_path: Path) -> None:
    """Altair cannot be imported under -OO; flags and the options of the command stay."""
    chart = tmp_path / "chart.svg"
    command = ["replay", "mapping", "swap-w-seq", "-o", str(chart)]
    done = subprocess.run(
        [sys.executable, "-OO", "-X", "utf8", "-m", "swapsim", *command],
        env=os.environ | {"PYTHONOPTIMIZE": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert chart.read_text().startswith("<svg")


def test_an_empty_table_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Its title without a head."""
    none = pl.DataFrame(schema={"test": pl.String})
    print_tables([Printed("unmatched", none, {}, title="without a claim")], explain=True)
    assert capsys.readouterr().out == "without a claim: none\n"


@pytest.mark.parametrize(
    ("suffix", "begin"), [(".html", b"<!DOCTYPE html>"), (".svg", b"<svg"), (".png", b"\x89PNG")]
)
def test_a_chart_as_each_kind_of_file(suffix: str, begin: bytes, tmp_path: Path) -> None:
    """A page that loads no other files, or a picture."""
    chart = alt.Chart(pl.DataFrame({"a": [1, 2]})).mark_point().encode(x="a")
    write_chart(chart, tmp_path / f"chart{suffix}")
    written = (tmp_path / f"chart{suffix}").read_bytes()
    assert written.lstrip().startswith(begin)
    assert b'src="http' not in written


def test_a_table_is_written_by_its_suffix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CSV, Parquet and JSON have the same rows; in CSV a list is joined by commas."""
    frame = pl.DataFrame({"rules": ["3.9", None], "tied": [["a", "b"], []], "pages": [1, 2**63]})
    files = {suffix: tmp_path / f"table{suffix}" for suffix in TABLES}
    for file in files.values():
        write_table(frame, file)
    assert pl.read_parquet(files[".parquet"]).equals(frame)
    assert json.loads(files[".json"].read_text()) == frame.to_dicts()
    assert files[".csv"].read_text() == f'rules,tied,pages\n3.9,"a, b",1\n,"",{2**63}\n'
    assert sorted(tmp_path.iterdir()) == sorted(files.values())
    name = "replay removal"
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
        ("missing/table.csv", "does not exist"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    name: str, file: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the file and what to do, exit 2; no file is written, no table printed."""
    (tmp_path / "folder.csv").mkdir()
    assert main([*name.split(), "no-such-input", "-o", str(tmp_path / file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith(f"swapsim: {tmp_path / file}: ")
    assert word in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


@pytest.mark.parametrize("command", ["replay mapping {}"])
def test_an_input_is_not_written_over(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output is neither the input file nor a file in the input folder."""
    mine = tmp_path / "mine.csv"
    mine.write_text("before")
    (tmp_path / "trace.toml").touch()
    assert main([*command.format(tmp_path).split(), "-o", str(mine)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"swapsim: {mine}: is an input of the command")
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert mine.read_text() == "before"


def test_a_pipe_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An atomic write would replace it, and its other end would wait for ever."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    assert main(["replay", "mapping", "missing", "-o", str(pipe)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"swapsim: {pipe}: is no file")
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_a_folder_that_is_read_only_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root can write to any folder, so the test replaces os.access."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        checked(tmp_path / "table.csv", [".csv"])


def test_an_existing_file_stays_if_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk changes the old file in no byte and leaves no other."""
    file = tmp_path / "table.csv"
    file.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(file))

    monkeypatch.setattr(Path, "replace", full)
    assert main([*typed("replay removal"), "-o", str(file)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_file_has_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command with several tables needs --only, which prints and writes one."""
    name = "replay stall"
    assert main([*typed(name), "-o", str(tmp_path / "table.csv")]) == 2
    assert "--only decisions|sleeps|agreement" in capsys.readouterr().err
    assert main([*typed(name), "--only", "sleeps"]) == 0
    printed = capsys.readouterr().out
    assert "can_sleep" in printed
    assert "tail_lru_dirty" not in printed
