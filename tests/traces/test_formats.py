# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of trace-cmd: the tables of the text with the same events."""

import gzip
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import recordings

from swapsim import traces
from swapsim.cli import main

DATA = Path(__file__).parents[1] / "data"
TEXT = DATA / "tracefs-6.1.txt"
EVENTS = recordings.numeric(recordings.events_of(TEXT.read_text()))
DAT = recordings.trace_dat(EVENTS)


def lossy(data: bytes) -> bytes:
    """Return a trace.dat whose first page of CPU 1 says that 7 events were lost before it."""
    changed = bytearray(data)
    (page,) = struct.unpack_from("<Q", data, data.index(b"flyrecord\0") + 10 + 16)
    (length,) = struct.unpack_from("<Q", data, page + 8)
    struct.pack_into("<Q", changed, page + 8, length | 3 << 30)
    struct.pack_into("<Q", changed, page + 16 + length, 7)
    return bytes(changed)


@pytest.fixture
def _trace_cmd() -> None:
    """Skip a test where trace-cmd is not installed."""
    if not shutil.which("trace-cmd"):
        pytest.skip("needs trace-cmd")


@pytest.mark.usefixtures("_trace_cmd")
def test_losses_are_refused_unless_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording with lost events is an error that counts them; with --keep-going it is read."""
    (tmp_path / "source").write_bytes(lossy(DAT))
    command = ["import", str(tmp_path / "source"), "-o", str(tmp_path / "out")]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "CPU 1: 7" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert main([*command, "--keep-going"]) == 0
    assert "CPU 1: 7" in capsys.readouterr().out
    assert traces.events(tmp_path / "out")["rows"].sum() == len(EVENTS)


FAULTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut in its head": (lambda: DAT[:300], "is it complete?"),
    "cut in its pages": (lambda: DAT[: len(DAT) // 2], "possibly truncated"),
    "other": (lambda: DAT.replace(b"flyrecord", b"flyrecorb"), "is it complete?"),
}


@pytest.mark.usefixtures("_trace_cmd")
@pytest.mark.parametrize("name", FAULTS)
def test_a_damaged_recording_is_one_line_and_exit_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the file and the place, and nothing is written."""
    write, words = FAULTS[name]
    source = tmp_path / "source"
    source.write_bytes(write())
    assert main(["import", str(source), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert str(source) in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


STAND_IN = """#!/bin/sh
[ "$1" = report ] || exit 9
for last; do :; done
[ "$(head -c 10 "$last" | tail -c 7)" = tracing ] || { echo "no trace" >&2; exit 3; }
tail -c +13 "$last"
"""


def test_a_trace_dat_is_read_by_trace_cmd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """trace-cmd turns it into text; its refusal, or its absence, is one line."""
    program = tmp_path / "bin" / "trace-cmd"
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    source = tmp_path / "trace.dat"
    report = (DATA / "trace-cmd-6.1.txt").read_bytes()
    source.write_bytes(gzip.compress(b"\x17\x08\x44tracing\n\0" + report))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    ours = traces.import_text(source, tmp_path / "ours")
    text = traces.import_text(DATA / "trace-cmd-6.1.txt", tmp_path / "text")
    assert ours.events.equals(text.events)
    assert traces.provenance(ours.folder)["text"]["format"] == "trace.dat"
    program.write_text("#!/bin/sh\necho 'bad header' >&2\nexit 1\n")
    assert main(["import", str(source), "-o", str(tmp_path / "out")]) == 2
    assert "(bad header)" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["import", str(source), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "install trace-cmd" in error
    assert error.count("\n") == 1


@pytest.mark.usefixtures("_trace_cmd")
def test_the_real_trace_cmd_reads_a_trace_dat(tmp_path: Path) -> None:
    """It gives the text's rows of the same events."""
    (tmp_path / "source").write_bytes(DAT)
    ours = traces.import_text(tmp_path / "source", tmp_path / "ours").folder
    text = traces.import_text(TEXT, tmp_path / "text").folder
    for event in ("swp_add", "swp_del", "wb_start", "wb_end", "swp_free"):
        found = traces.scan_event(ours, event).drop("seq").collect()
        wanted = traces.scan_event(text, event).select(found.columns).collect()
        assert found.sort(pl.all()).equals(wanted.sort(pl.all())), event
