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
from command_tree import walk

from swapsim import cli, traces
from swapsim.cli import main
from swapsim.io import shipped_traces

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
    assert f"  writeback-tags: yes; {uncounted}" in capsys.readouterr().out
    assert main(["replay", "mapping", "swap-w-seq"]) == 0
    assert uncounted not in capsys.readouterr().out
    assert main(["replay", "mapping", str(trace)]) == 0
    table = capsys.readouterr().out
    assert uncounted in table
    assert table.count("| swap, written |") == 8
    assert "swap, written: 4.00 acquisitions a page with tags, 2.00 without\n" in table
    assert "| yes  | start  |            1 |" in table


def test_each_output_fits_100_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All helps, and what is no table (for these see test_tables); a path is not broken."""
    monkeypatch.setenv("COLUMNS", "100")
    for words, _ in walk():
        assert main([*words.split(), "--help"]) == 0
    assert main(["info"]) == 0
    for name in [*shipped_traces()][::8]:
        assert main(["info", name]) == 0
    assert main(["verify", "clusters", "clusters-7.3-orders-8"]) == 0
    assert main(["verify", "stall", "stalls-nfs-1"]) == 0
    text = Path(__file__).parent.parent / "data" / "clusters-7.3.txt"
    assert main(["import", str(text), "-o", str(tmp_path / "trace"), "--explain"]) == 0
    assert main(["notebooks", str(tmp_path / "notebooks")]) == 0
    lines = capsys.readouterr().out.splitlines()
    long = [line for line in lines if len(line) > 100]
    assert not [line for line in long if str(tmp_path) not in line]
    assert all(len(line.split()) <= 2 for line in long), "only a path may be longer"
    assert "notebooks: " in refused(capsys, "notebooks", str(tmp_path / "notebooks"))


def test_policies_with_equal_rows_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A line says which they are, and why."""
    assert main(["replay", "slots", "slots-8-shared", "--seeds", "1"]) == 0
    assert "percpu, spread, spread-online come out the same" in capsys.readouterr().out


def test_charts_are_imported_only_when_drawn() -> None:
    """The import of altair takes longer than most commands."""
    command = [sys.executable, "-c", "import sys, swapsim.cli; print(*sys.modules)"]
    imported = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "swapsim.cli.tables" in imported
    assert not {"altair", "swapsim.charts"} & {*imported}


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
    assert "record again with 'swapsim probes --for writeback-tags', or rename" in found
    found = refused(capsys, "verify", "stall", str(tmp_path / "own"))
    assert "'swapsim probes --for stall-decisions'" in found
    own = str(tmp_path / "own")
    for replay, trace in (("mapping", "slots-4-shared"), ("slots", own)):
        assert "take another, as " in refused(capsys, "replay", replay, trace)
    (tmp_path / "junk").mkdir()
    for verbs in (["info"], ["replay", "clusters"], ["verify", "stall"]):
        assert "junk: no trace folder: " in refused(capsys, *verbs, str(tmp_path / "junk"))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["replay", "nonsense", "x"], "there are writeback-tags"),
        (["replay", "slots", "x"], "'replay slots'"),
        (["replay", "mapping", "x"], "'replay mapping'"),
        (["verify", "stall", "x"], "'verify stall'"),
        (["stalls", "x"], "'replay stall' or 'verify stall'"),
        (["probes", "--for", "stalls"], "stall"),
        (["import", "sample", "-o", "no/out"], "create it first"),
        (["import", "x"], "-o"),
        (["replay", "mapping", "x", "--kernel", "2.4"], "2.4"),
        (["bench", "--only", "no/such"], "no/such: choose clusters, des"),
        (["claims", "E"], "'swapsim tables'"),
        (["tables", "E"], "'a', 'b', 'c', 'd'"),
        (["simulate", "cluster-next-fit"], "did you mean cluster-next-fits or"),
        (["verify", "stall", "throttles-7.3-root-4", "--rules", "3.9"], "--rules 3.9: a trace"),
        (["import", "x", "--keep-going"], "add -o DIR"),
        (["replay", "A"], "'replay mapping'"),
        (["replay", "swap-w-seq", "mapping"], "'swapsim replay mapping swap-w-seq'"),
        (["verify", "stalls-nfs-1", "stalls"], "write 'swapsim verify stall stalls-nfs-1'"),
        (["replay", "clusters"], "write 'swapsim replay clusters [OPTIONS] DIR'"),
        (["info", "a", "b"], "(b): write 'swapsim info"),
        (["-x"], "'swapsim --help' lists"),
        (["replay", "slots", "x", "--seeds", "1e9"], "a whole number from 1 to 1000"),
        (["report", "--trace", "swap-w-seq", "-o", "no/x.html"], "create it first"),
        (["bench", "--zzz"], "'swapsim bench --help' lists"),
        (["probes", "--for", "writeback"], "did you mean writeback-tags?"),
        (["simulate", "no-such-study"], "one, as "),
        (["verify", "slots", "swap-w-seq"], "feeds writeback-tags, batched-removal: take another"),
        (["verify", "stall", "slots-8-percpu"], "as stalls-cgroup-1, "),
        (["rank", str(Path(__file__).parent / "own_runs.csv")], "ends in .py"),
        (["export", "sample", "-o", "x.json"], "ui.perfetto.dev"),
        (["probes", "--format", "bpftrace"], "'--format': the script is one for sh"),
        (["info", "no-such-folder"], "no-such-folder"),
        (["import", "no-such-file", "-o", "out"], "no-such-file"),
    ],
)
def test_bad_usage_is_one_line(
    arguments: list[str],
    word: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error of each wrong call names the wrong word."""
    monkeypatch.chdir(tmp_path)
    assert word in refused(capsys, *arguments)
    assert not list(tmp_path.iterdir())


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


def test_an_interrupt_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C during a command prints one line, without the empty line of click."""

    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(traces, "info", interrupted)
    assert main(["info", "anywhere"]) == 130
    assert capsys.readouterr() == ("", f"{cli.INTERRUPTED}\n")


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
