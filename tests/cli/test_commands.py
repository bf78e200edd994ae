# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: exit codes, and one line on stderr for whatever is wrong."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import polars as pl
import pytest

from swapsim import interrupt, traces
from swapsim.cli import cli, main

PAGE = """\
 writer-7 [000] d..1. 1.000001: swp_add: (add_to_swap_cache+0x0) folio=0xffffea0000000040 entry=0x9
 writer-7 [000] ..... 1.000002: wb_start: (__folio_start_writeback+0x0) folio=0xffffea0000000040
 writer-7 [000] ..... 1.000003: wb_end: (__folio_end_writeback+0x0) folio=0xffffea0000000040
 writer-7 [000] d..1. 1.000004: swp_del: (__delete_from_swap_cache+0x0) folio=0xffffea0000000040 \
entry=0x9
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Give a trace folder of one page swapped out, with the least fields that a replay needs."""
    text = tmp_path / "trace.txt"
    text.write_text(PAGE)
    traces.import_text(text, tmp_path / "trace")
    return tmp_path / "trace"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must exit 2 with one line on stderr; return the line."""
    assert main([*arguments]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("swapsim: ")
    assert printed.err.count("\n") == 1, printed.err
    return printed.err


def test_a_replay_prints_its_table(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four sites with tags and four without, from fields that only name the folio."""
    assert main(["replay", "writeback-tags", str(trace)]) == 0
    table = capsys.readouterr().out
    assert table.count("swap, written") == 8
    assert "| yes  | start  |            1 |" in table


def test_help_and_version_exit_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    """Help goes to stdout and is no error."""
    assert main(["--help"]) == 0
    assert main(["replay", "--help"]) == 0
    assert main(["--version"]) == 0
    assert capsys.readouterr().err == ""


def test_help_says_each_commands_whole_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """It goes on in the next line where the terminal ends."""
    assert main(["--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for name, command in cli.commands.items():
        sentence, _, _ = str(command.help).partition("\n\n")
        assert f"{name} {' '.join(sentence.split())}" in told


def test_a_command_that_draws_nothing_does_not_wait_for_charts() -> None:
    """To import what draws takes longer than most commands do."""
    look = "import sys, swapsim.cli; print(*sys.modules)"
    asked = [sys.executable, "-c", look]
    imported = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    assert "swapsim.cli.tables" in imported
    assert not {"altair", "swapsim.charts"} & {*imported}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["replay", "nonsense", "x"], "nonsense"),
        (["import", "x"], "-o"),
        (["replay", "writeback-tags", "x", "--kernel", "2.4"], "2.4"),
        (["bench", "--only", "no/such"], "no/such"),
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
    """Each wrong call names the word at fault."""
    monkeypatch.chdir(tmp_path)
    assert word in refused(capsys, *arguments)
    assert not list(tmp_path.iterdir())


def test_info_tells_of_the_replays_that_there_are(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each replay that info says yes or no to is a command, and it leaves none out."""
    assert main(["info", str(trace)]) == 0
    told = capsys.readouterr().out.partition("replays:\n")[2]
    names = {line.split(":")[0].strip() for line in told.splitlines()}
    replays = cli.commands["replay"]
    assert isinstance(replays, click.Group)
    assert names == set(replays.commands)


def test_a_missing_event_is_named_with_those_present(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A replay that lacks an event says which, and what there is."""
    (trace / "wb_end.parquet").unlink()
    line = refused(capsys, "replay", "writeback-tags", str(trace))
    assert "needs the event wb_end" in line
    assert "swp_add, swp_del, wb_start" in line


def test_a_missing_field_is_named(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table without the field that a replay reads names table, field and columns."""
    path = trace / "swp_add.parquet"
    pl.read_parquet(path).drop("entry").write_parquet(path)
    traces.sign(trace)
    line = refused(capsys, "replay", "writeback-tags", str(trace))
    assert "swp_add.parquet, field 'entry'" in line
    assert "folio" in line


def test_a_field_of_the_wrong_type_is_named(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text where a number is needed names table, field and type."""
    path = trace / "swp_add.parquet"
    pl.read_parquet(path).with_columns(pl.col("entry").cast(pl.String)).write_parquet(path)
    traces.sign(trace)
    assert "field 'entry': holds String" in refused(capsys, "replay", "writeback-tags", str(trace))


def test_a_truncated_table_is_named(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half a Parquet file is no table."""
    path = trace / "swp_del.parquet"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "swp_del.parquet" in refused(capsys, "replay", "writeback-tags", str(trace))


def test_a_folder_without_provenance_is_refused(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace that does not say where it comes from is not replayed."""
    (trace / "trace.toml").unlink()
    for command in (["replay", "writeback-tags"], ["info"]):
        assert "trace.toml" in refused(capsys, *command, str(trace))


def test_two_swap_devices_are_refused(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Entries of two types cannot be told apart by their offsets."""
    path = trace / "swp_add.parquet"
    table = pl.read_parquet(path)
    second = table.with_columns(pl.col("seq") + 9, entry=pl.lit((1 << 58) + 9, dtype=pl.UInt64))
    pl.concat([table, second]).write_parquet(path)
    traces.sign(trace)
    assert "2 devices" in refused(capsys, "replay", "writeback-tags", str(trace))


def test_a_swap_offset_beyond_any_device_is_named(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An entry that no device can have names folder, row and offset."""
    path = trace / "swp_add.parquet"
    far = pl.read_parquet(path).with_columns(entry=pl.lit(1 << 40, dtype=pl.UInt64))
    far.write_parquet(path)
    traces.sign(trace)
    line = refused(capsys, "replay", "writeback-tags", str(trace))
    assert f"{trace}: the row with seq 0 has the swap offset {1 << 40}" in line


def test_a_folio_that_is_no_address_is_named(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An odd folio names folder and row."""
    path = trace / "swp_add.parquet"
    pl.read_parquet(path).with_columns(pl.col("folio") + 1).write_parquet(path)
    traces.sign(trace)
    line = refused(capsys, "replay", "writeback-tags", str(trace))
    assert f"{trace}: the row with seq 0 cannot be replayed" in line


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a full disk")
def test_a_full_disk_leaves_nothing_half_written(
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
        said = refused(capsys, "notebooks", str(small / "mine"))
        assert "not all of its files could be copied" in said
        assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_an_interrupt_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C in the midst of a command: no empty line before ours."""

    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(traces, "info", interrupted)
    assert main(["info", "anywhere"]) == interrupt.CODE
    assert capsys.readouterr() == ("", f"{interrupt.TEXT}\n")


def test_a_name_of_two_lines_is_told_in_one(capsys: pytest.CaptureFixture[str]) -> None:
    """So that an error stays one."""
    assert "no\\nsuch" in refused(capsys, "info", "no\nsuch")
    assert "no\\nsuch" in refused(capsys, "compare", "no\nsuch")


def test_a_path_that_is_no_text_is_printed(tmp_path: Path) -> None:
    """A name's bytes may be no UTF-8, which a terminal takes alone."""
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


def test_a_reader_that_goes_away_is_no_error(trace: Path) -> None:
    """``swapsim ... | head -0`` ends quietly."""
    shell = shutil.which("bash")
    assert shell is not None
    command = f"'{sys.executable}' -m swapsim replay writeback-tags '{trace}' | true"
    run = subprocess.run([shell, "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr
