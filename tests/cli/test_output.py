# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print and write: tables and charts, for people and for programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from command_tree import LEAVES, walk

from swapsim import io
from swapsim.cli import main

SMALL = {
    "replay mapping": ["swap-w-seq"],
    "replay removal": ["removals-swap-1"],
    "replay slots": ["slots-4-shared", "--seeds", "1"],
    "replay stall": ["stalls-nfs-1"],
    "replay clusters": ["clusters-7.3-zram-1"],
    "replay mglru": ["generations-7.3-mixed-1", "--swappiness", "150"],
    "tables": ["A"],
    "compare": [str(Path(__file__).parent / "own_runs.csv")],
}
"""Arguments for each command that writes a table; `rank` is tested on its own."""

CHARTED = ("replay mapping", "replay slots", "replay clusters", "replay mglru")


def typed(name: str) -> list[str]:
    """Return a command with its arguments."""
    return [*name.split(), *SMALL[name]]


@pytest.mark.parametrize("name", SMALL)
def test_a_result_is_printed_and_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CSV and JSON have the same rows; a chart is a picture."""
    for suffix in (".csv", ".json"):
        assert main([*typed(name), "-o", str(tmp_path / f"table{suffix}")]) == 0
    rows = json.loads((tmp_path / "table.json").read_text())
    assert pl.read_csv(tmp_path / "table.csv", infer_schema_length=None).height == len(rows) > 0
    assert name in ("tables", "compare") or "|--" in capsys.readouterr().out
    if name in CHARTED:
        assert main([*typed(name), "-o", str(tmp_path / "chart.svg")]) == 0
        assert (tmp_path / "chart.svg").read_text().startswith("<svg")


def test_the_table_alone_is_on_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the table that a file gets; lines for people are on the other output."""
    file = tmp_path / "sites.csv"
    assert main([*typed("replay mapping"), "-o", "-", "-o", str(file)]) == 0
    printed = capsys.readouterr()
    assert printed.out == file.read_text()
    assert "acquisitions a page" in printed.err


def test_each_command_has_a_help_of_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without options or arguments, what a command is for."""
    monkeypatch.setenv("COLUMNS", "80")
    for words, _ in walk():
        assert main([*words.split(), "--help"]) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80, words


@pytest.mark.parametrize("suffix", [".html", ".svg", ".png"])
def test_a_chart_loads_no_other_file(suffix: str, tmp_path: Path) -> None:
    """A page or a picture that is complete."""
    file = tmp_path / f"chart{suffix}"
    assert main([*typed("replay mapping"), "-o", str(file)]) == 0
    assert b'src="http' not in file.read_bytes()


@pytest.mark.parametrize("name", [each for each in SMALL if each.startswith("replay")])
@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("table.xls", "does not end in one of"),
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
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert word in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_inputs_and_pipes_are_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output is no file in the input folder, and no pipe, whose other end would wait."""
    mine, pipe = tmp_path / "mine.csv", tmp_path / "pipe.csv"
    mine.write_text("before")
    (tmp_path / "trace.toml").touch()
    os.mkfifo(pipe)
    assert main(["replay", "mapping", str(tmp_path), "-o", str(mine)]) == 2
    assert "is an input of the command" in capsys.readouterr().err
    assert main(["replay", "mapping", "missing", "-o", str(pipe)]) == 2
    assert "is no file" in capsys.readouterr().err
    assert mine.read_text() == "before"


def test_an_existing_file_stays_if_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk: one line, and the file as it was."""
    file = tmp_path / "table.csv"
    file.write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(io.os, "fsync", full)
    assert main([*typed("replay removal"), "-o", str(file)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert file.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_the_shipped_traces_are_described(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a trace their list; of one what is in it, also for a program."""
    assert main(["info"]) == 0
    assert "swap-w-seq" in capsys.readouterr().out
    assert main(["info", "swap-w-seq", "-o", str(tmp_path / "about.json")]) == 0
    about = json.loads((tmp_path / "about.json").read_text())
    assert about["rows"]["wb_end"] == 34021
    assert about["replays"]["mapping"] == []


def test_a_shell_completes_commands_and_names() -> None:
    """Click's own protocol: the script of a shell, and the words that may follow."""
    command = [sys.executable, "-m", "swapsim"]
    for typed_words, offered in {
        "info swap-w": "swap-w-seq",
        "simulate cluster-next-f": "cluster-next-fits",
    }.items():
        asked = {"_SWAPSIM_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
        words = subprocess.run(
            command,
            env={**os.environ, **asked, "COMP_WORDS": f"swapsim {typed_words}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        assert f"plain,{offered}" in words


def test_every_command_that_writes_tables_is_tried_here() -> None:
    """A new one needs an entry in SMALL."""
    writing = {
        name
        for name, command in LEAVES.items()
        if {"outputs", "output"} & {each.name for each in command.params}
    }
    assert writing <= {*SMALL, "rank", "import", "info", "report"}
