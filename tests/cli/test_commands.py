# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: exit codes, and one line on stderr for an error."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from swapsim import traces
from swapsim.cli import main

PAGE = """\
 writer-7 [000] d..1. 1.000001: swp_add: (add_to_swap_cache+0x0) folio=0xffffea0000000040 entry=0x9
 writer-7 [000] ..... 1.000002: wb_start: (__folio_start_writeback+0x0) folio=0xffffea0000000040
 writer-7 [000] ..... 1.000003: wb_end: (__folio_end_writeback+0x0) folio=0xffffea0000000040
 writer-7 [000] d..1. 1.000004: swp_del: (__delete_from_swap_cache+0x0) folio=0xffffea0000000040 \
entry=0x9
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a trace of one page swapped out, with the fewest fields that a replay needs."""
    text = tmp_path / "trace.txt"
    text.write_text(PAGE)
    traces.import_text(text, tmp_path / "trace")
    return tmp_path / "trace"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the error of a command that exits with 2 and one line."""
    assert main([*arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("swapsim: ")
    assert error.count("\n") == 1, error
    return error


def test_a_replay_prints_its_table(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four sites with tags and four without, from fields that only name the folio, and a doubt."""
    uncounted = "no swp_free in this trace: frees, one more acquisition a page by 6.1, are not "
    assert main(["info", str(trace)]) == 0
    assert f"  mapping: yes; {uncounted}" in capsys.readouterr().out
    assert main(["replay", "mapping", "swap-w-seq"]) == 0
    assert uncounted not in capsys.readouterr().out
    assert main(["replay", "mapping", str(trace)]) == 0
    table = capsys.readouterr().out
    assert uncounted in table
    assert table.count("| swap, written |") == 8
    assert "swap, written: 4.00 acquisitions a page with tags, 2.00 without\n" in table


def test_charts_are_imported_only_when_drawn() -> None:
    """The import of altair takes longer than most commands."""
    command = [sys.executable, "-c", "import sys, swapsim.cli; print(*sys.modules)"]
    imported = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"altair", "numba", "scipy"} & {*imported}


def test_a_misspelt_event_and_a_folder_that_is_no_trace_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The replay says which name is near; each verb says that a folder is no trace."""
    text = tmp_path / "trace.txt"
    text.write_text(PAGE.replace("wb_end:", "wb_endd:"))
    traces.import_text(text, tmp_path / "trace")
    found = refused(capsys, "replay", "mapping", str(tmp_path / "trace"))
    assert "needs wb_end (the trace has wb_endd: was it misspelt?)" in found
    text.write_text(PAGE.replace("swp_add:", "my_add:"))
    traces.import_text(text, tmp_path / "own")
    found = refused(capsys, "replay", "mapping", str(tmp_path / "own"))
    assert "record again with 'swapsim probes --for mapping', or rename" in found
    found = refused(capsys, "verify", "stall", str(tmp_path / "own"))
    assert "'swapsim probes --for stall'" in found
    own = str(tmp_path / "own")
    for replay, trace in (("mapping", "slots-4-shared"), ("slots", own)):
        assert "take another, as " in refused(capsys, "replay", replay, trace)
    (tmp_path / "junk").mkdir()
    for verbs in (["info"], ["replay", "clusters"], ["verify", "stall"]):
        assert "junk: no trace folder: " in refused(capsys, *verbs, str(tmp_path / "junk"))


def second_device(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with an entry of another swap device."""
    entry = pl.lit((1 << 58) + 9, dtype=pl.UInt64)
    return pl.concat([table, table.with_columns(pl.col("seq") + 9, entry=entry)])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop("entry"), ["swp_add.parquet, field 'entry'", "folio"]),
        (lambda table: table.cast({"entry": pl.String}), ["field 'entry': ", "String"]),
        (second_device, ["2 devices"]),
        (
            lambda table: table.with_columns(entry=pl.lit(1 << 40, dtype=pl.UInt64)),
            [f"the row with seq 0 has the swap offset {1 << 40}"],
        ),
        (
            lambda table: table.with_columns(pl.col("folio") + 1),
            ["the row with seq 0 cannot be replayed"],
        ),
    ],
    ids=["missing field", "other type", "two devices", "offset beyond any device", "odd folio"],
)
def test_a_wrong_table_is_named(
    change: Callable[[pl.DataFrame], pl.DataFrame],
    words: list[str],
    trace: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The error has the folder, and the field or row."""
    path = trace / "swp_add.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    traces.sign(trace)
    line = refused(capsys, "replay", "mapping", str(trace))
    assert str(trace) in line
    assert all(word in line for word in words), line


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a full disk")
def test_a_full_disk_leaves_no_partial_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An import onto a disk that fills up ends with one line, and no folder."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        text = tmp_path / "long.txt"
        text.write_text(PAGE * 20_000)
        run = subprocess.run(
            [sys.executable, "-m", "swapsim", "import", str(text), "-o", str(small / "trace")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 2
        assert run.stderr.count("\n") == 1, run.stderr
        assert not list(small.iterdir())
        error = refused(capsys, "notebooks", str(small / "mine"))
        assert "not all of its files could be copied" in error
        assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_name_of_two_lines_is_printed_in_one(capsys: pytest.CaptureFixture[str]) -> None:
    """An error remains one line."""
    assert "no\\nsuch" in refused(capsys, "info", "no\nsuch")
    assert "no\\nsuch" in refused(capsys, "compare", "no\nsuch")


def test_a_path_that_is_not_utf8_is_printed(tmp_path: Path) -> None:
    """Bytes of a path that stdout cannot encode are printed as escapes."""
    folder = tmp_path / os.fsdecode(b"mine\xff")
    run = subprocess.run(
        [sys.executable, "-m", "swapsim", "notebooks", str(folder)],
        env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "mine\\udcff" in run.stdout


def test_a_closed_pipe_is_no_error(trace: Path) -> None:
    """``swapsim ... | head -0`` ends without a message."""
    shell = shutil.which("bash")
    assert shell is not None
    command = f"'{sys.executable}' -m swapsim replay mapping '{trace}' | true"
    run = subprocess.run([shell, "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr
