# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of perfetto, bpftrace and trace-cmd: the tables of the text with the same events."""

import gzip
import itertools
import json
import lzma
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import recordings
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from swapsim import traces
from swapsim.cli import main
from swapsim.clusters import JOINED_EVENTS
from swapsim.errors import InputError

DATA = Path(__file__).parents[1] / "data"
TEXT = DATA / "tracefs-6.1.txt"
EVENTS = recordings.events_of(TEXT.read_text())

WRITERS: dict[str, Callable[[], bytes]] = {
    "generic": lambda: recordings.perfetto(EVENTS).SerializeToString(),
    "described": lambda: recordings.perfetto(EVENTS, described=True).SerializeToString(),
    "deflated": lambda: recordings.perfetto(EVENTS, deflated=True).SerializeToString(),
    "bpftrace": lambda: recordings.bpftrace(EVENTS).encode(),
}
PACKERS: tuple[Callable[[bytes], bytes], ...] = (
    bytes,
    gzip.compress,
    lzma.compress,
    zstandard.compress,
)


def tables(folder: Path) -> dict[str, pl.DataFrame]:
    """Return all tables of a trace."""
    return {
        event: traces.scan_event(folder, event).collect()
        for event in traces.events(folder)["event"]
    }


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("pack", PACKERS)
def test_a_recording_gives_the_tables_of_the_text(
    name: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """Rows, order and columns are those of the text; only its words in parentheses are missing.

    What a replay reads has the type of the text, too.
    """
    (tmp_path / "source").write_bytes(pack(WRITERS[name]()))
    ours = tables(traces.import_text(tmp_path / "source", tmp_path / "ours").folder)
    texts = tables(traces.import_text(TEXT, tmp_path / "text").folder)
    assert ours.keys() == texts.keys()
    # The text's last line has an earlier time than the line before.
    order = pl.concat(table.select("seq", "t_ns") for table in texts.values()).sort("t_ns", "seq")
    place = {seq: at for at, seq in enumerate(order["seq"])}
    for event, table in ours.items():
        # A gfp mask is a number in the event; perfetto has no order of a page in the page cache.
        columns = [
            column
            for column in texts[event].columns
            if column not in ("text", "gfp_flags")
            and not (column == "order" and event.startswith("mm_filemap") and name != "bpftrace")
        ]
        assert set(table.columns) - {"gfp_flags"} == set(columns), event
        wanted = texts[event].with_columns(
            pl.col("seq").replace_strict(place, return_dtype=pl.UInt64)
        )
        numbers = [c for c in columns if table[c].dtype.is_integer()]
        known = {"folio", "entry", "lru", "nr_taken", "seq"} & set(columns)
        assert {c: table.schema[c] for c in known} == {c: wanted.schema[c] for c in known}
        assert (
            table.select(columns)
            .cast({c: wanted.schema[c] for c in numbers})
            .equals(wanted.select(columns).sort("seq"))
        ), event


def test_pieces_of_a_recording_may_print_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording is read to its end in pieces that are smaller than a line, or print no event."""
    wanted = len(EVENTS)
    for size, name in itertools.product((7, 200, 5000), WRITERS):
        monkeypatch.setattr("swapsim.traces.text.CHUNK_BYTES", size)
        source, out = tmp_path / f"{name}-{size}", tmp_path / f"{name}-{size}.out"
        source.write_bytes(
            b'{"type": "map", "data": {}}\n' * 99 * (name == "bpftrace") + WRITERS[name]()
        )
        assert traces.import_text(source, out).events["rows"].sum() == wanted


def trace_of(change: Callable[[Any], object]) -> bytes:
    """Return a changed perfetto trace."""
    trace = recordings.perfetto(EVENTS)
    change(trace)
    return bytes(trace.SerializeToString())


def _count(trace: Any) -> None:
    for phase, overrun, misses in ((1, 5, 1), (2, 12, 4)):
        stats = trace.packet.add().stats
        stats.phase = phase
        stats.cpu.add(cpu=2, overrun=overrun)
        stats.kprobes.misses = misses


def _drop(trace: Any) -> None:
    trace.packet[0].dropped = trace.packet[1].dropped = 1


def lossy(data: bytes) -> bytes:
    """Return a trace.dat whose first page of CPU 1 says that 7 events were lost before it."""
    changed = bytearray(data)
    (page,) = struct.unpack_from("<Q", data, data.index(b"flyrecord\0") + 10 + 16)
    (length,) = struct.unpack_from("<Q", data, page + 8)
    struct.pack_into("<Q", changed, page + 8, length | 3 << 30)
    struct.pack_into("<Q", changed, page + 16 + length, 7)
    return bytes(changed)


DAT_EVENTS = recordings.numeric(EVENTS)
DAT = recordings.trace_dat(DAT_EVENTS)


def need_trace_cmd(name: str) -> None:
    """Skip a case of a trace.dat where trace-cmd is not installed."""
    if name.startswith("trace.dat") and not shutil.which("trace-cmd"):
        pytest.skip("needs trace-cmd")


LOSSES = {
    "counters": (lambda: trace_of(_count), "CPU 2: 7, of unknown CPU: 3"),
    "bundle": (
        lambda: trace_of(lambda t: setattr(t.packet[0].bundle, "lost", True)),
        "unknown size: 1",
    ),
    "packet": (lambda: trace_of(_drop), "losses of unknown size: 1"),
    "bpftrace": (
        lambda: (
            recordings.bpftrace(EVENTS).encode()
            + b'{"type": "lost_events", "data": {"events": 9}}\n'
        ),
        "of unknown CPU: 9",
    ),
    "trace.dat": (lambda: lossy(DAT), "CPU 1: 7"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_refused_unless_asked_for(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording with lost events is an error that counts them; with --keep-going it is read."""
    need_trace_cmd(name)
    write, words = LOSSES[name]
    (tmp_path / "source").write_bytes(write())
    command = ["import", str(tmp_path / "source"), "-o", str(tmp_path / "out")]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert main([*command, "--keep-going"]) == 0
    assert words in capsys.readouterr().out
    events = DAT_EVENTS if name == "trace.dat" else EVENTS
    assert traces.events(tmp_path / "out")["rows"].sum() == len(events)


def _another_clock(trace: Any) -> None:
    trace.packet[1].bundle.clock = 1


def _bad_name(trace: Any) -> None:
    trace.packet[0].bundle.event[2].generic.name = "no name"


_JSON = recordings.bpftrace(EVENTS)
FAULTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut": (lambda: WRITERS["generic"]()[:-3], "is damaged or cut short"),
    "cut in its length": (lambda: b"\n\x10\x08\x01", "packet 1 is damaged or cut short"),
    "too long": (lambda: b"\n\xff\xff\xff\xff\x7f\0", "packet 1 is damaged"),
    "other field": (lambda: WRITERS["generic"]() + b"\x12\0", "key 0x12"),
    "deflated": (lambda: b"\n\x05\x92\x03\x02\x01\x01", "packet 1 is damaged"),
    "clock": (lambda: trace_of(_another_clock), "packet 2 has another clock"),
    "CPU": (
        lambda: trace_of(lambda t: setattr(t.packet[0].bundle, "cpu", 70000)),
        "is of CPU 70000",
    ),
    "name": (lambda: trace_of(_bad_name), "packet 1 has events that are damaged"),
    "JSON cut": (lambda: _JSON[:-9].encode(), f"line {_JSON.count(chr(10))} is no report"),
    "JSON list": (lambda: (_JSON + "[1]\n").encode(), "is no report of bpftrace"),
    "JSON losses": (
        lambda: (_JSON + '{"type": "lost_events", "data": {"events": 1e999}}\n').encode(),
        "is no report of bpftrace",
    ),
    "JSON surrogate": (
        lambda: (_JSON + json.dumps({"type": "printf", "data": "\ud800\n"}) + "\n").encode(),
        "is no report of bpftrace",
    ),
    "own printf": (
        lambda: (_JSON + json.dumps({"type": "printf", "data": "hello\n"}) + "\n").encode(),
        "has no task, CPU and time",
    ),
    "trace.dat cut in its head": (lambda: DAT[:300], "is it complete?"),
    "trace.dat cut in its pages": (lambda: DAT[: len(DAT) // 2], "possibly truncated"),
    "trace.dat": (lambda: DAT.replace(b"flyrecord", b"flyrecorb"), "is it complete?"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_damaged_recording_is_one_line_and_exit_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the file and the place, and nothing is written."""
    need_trace_cmd(name)
    write, words = FAULTS[name]
    source = tmp_path / "source"
    source.write_bytes(write())
    assert main(["import", str(source), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert str(source) in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.mark.parametrize("name", ["generic", "described", "deflated", "bpftrace"])
def test_changed_bytes_are_read_or_refused(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any change of a byte, and any cut, gives a trace or an InputError."""
    good = WRITERS[name]()
    folder = tmp_path_factory.mktemp("changed")

    @given(
        st.integers(0, len(good) - 1), st.integers(0, 255), st.integers(1, len(good)), st.booleans()
    )
    def change(at: int, value: int, keep: int, on: bool) -> None:
        data = bytearray(good)
        data[at] = value
        (folder / "source").write_bytes(data[:keep])
        shutil.rmtree(folder / "out", ignore_errors=True)
        try:
            traces.import_text(folder / "source", folder / "out", keep_going=on)
        except InputError:
            assert not (folder / "out").exists()

    change()


def test_events_of_types_that_no_replay_reads_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace has events of scheduling, too: they are left out, and a line says how many."""

    def add(trace: Any) -> None:
        for _ in range(3):
            trace.packet[0].bundle.event.add(time=1, pid=1).switch.n1 = 1

    (tmp_path / "source").write_bytes(trace_of(add))
    assert main(["import", str(tmp_path / "source"), "-o", str(tmp_path / "out")]) == 0
    assert "left out: 3 events" in capsys.readouterr().out


@pytest.mark.parametrize("kernel", ["6.12", "7.3"])
def test_a_clock_that_perfetto_does_not_know_is_one_of_whole_numbers(
    kernel: str, tmp_path: Path
) -> None:
    """A recording of clusters under the clock counter gives the tables of its text."""
    text = DATA / f"clusters-{kernel}.txt"
    trace = recordings.perfetto(recordings.events_of(text.read_text()), clock=1)
    (tmp_path / "source").write_bytes(trace.SerializeToString())
    head = {"clock": "counter", "cluster_bytes": 48, "device_bytes": 664}
    for source, name in ((tmp_path / "source", "ours"), (text, "text")):
        traces.import_text(
            source, tmp_path / name, joined=[JOINED_EVENTS], provenance={"head": head}
        )
    for table in ("cluster_events", "cluster_devices"):
        ours, texts = (
            pl.read_parquet(tmp_path / of / f"{table}.parquet") for of in ("ours", "text")
        )
        assert ours.height
        assert ours.equals(texts)


@pytest.mark.parametrize(
    ("without", "clock", "words"),
    [("slot_grant", 1, "has no event slot_grant"), ("", 0, "its clock counts seconds")],
)
def test_a_recording_of_another_kernel_or_clock_is_refused(
    without: str, clock: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording of clusters without an event of its kernel, or with times in ns, is one line."""
    text = (DATA / "clusters-6.12.txt").read_text()
    events = [event for event in recordings.events_of(text) if event.name != without]
    source = tmp_path / "source"
    source.write_bytes(recordings.perfetto(events, clock=clock).SerializeToString())
    assert main(["import", str(source), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_is_put_in_order_of_time_is_not_called_out_of_order(tmp_path: Path) -> None:
    """Other programs record CPU by CPU: their events are sorted, so none is earlier."""
    source = tmp_path / "source"
    source.write_bytes(recordings.perfetto(EVENTS[::-1]).SerializeToString())
    assert traces.import_text(source, tmp_path / "out").counts.earlier == 0


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


def test_the_real_trace_cmd_reads_a_trace_dat(tmp_path: Path) -> None:
    """It gives perfetto's tables of the same events."""
    need_trace_cmd("trace.dat")
    found = []
    for data in (DAT, recordings.perfetto(DAT_EVENTS).SerializeToString()):
        (tmp_path / "source").write_bytes(data)
        folder = traces.import_text(tmp_path / "source", tmp_path / f"{len(found)}").folder
        found.append(tables(folder))
    for event in ("swp_add", "swp_del", "wb_start", "wb_end", "swp_free"):
        assert found[0][event].equals(found[1][event]), event
