# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace folders: import, reading, bad input."""

import bz2
import errno
import gzip
import lzma
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

import swapsim
from swapsim import mapping, traces
from swapsim.cli import main
from swapsim.errors import InputError
from swapsim.io import sample_text
from swapsim.traces._native import CLOCK
from swapsim.traces.folder import EVENT_HEAD
from swapsim.traces.importing import JoinedEvents
from swapsim.traces.writer import TableWriter, toml_table

REAL = Path(__file__).parents[1] / "data" / "tracefs-6.1.txt"
"""Lines of a stock Debian 6.1 kernel, one or two of each event of our traces."""

TRACE_CMD = Path(__file__).parents[1] / "data" / "trace-cmd-6.1.txt"
"""The same by `trace-cmd report`, of another run."""


def line(event: str, fields: str, *, pid: int = 12, time: str = "10.000001") -> str:
    """Return a line of tracefs."""
    return f"{'task':>16}-{pid:<7d} [003] d..1. {time:>12}: {event}: {fields}\n"


def write(folder: Path, text: str | bytes, name: str = "trace.txt") -> Path:
    """Write a text and return its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """Import the real lines and return their folder."""
    return traces.import_text(REAL, tmp_path / "real").folder


def left_over(folder: Path) -> list[str]:
    """Return the names of all files of a folder, hidden ones included."""
    return sorted(path.name for path in folder.iterdir())


def refused(arguments: list[object], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error of a command that exits with 2 and one line."""
    assert main([str(argument) for argument in arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_each_event_of_a_real_text_has_a_table(real: Path) -> None:
    """Each event of the real lines has its table, with the head and its own fields."""
    assert traces.events(real)["rows"].sum() == sum(
        not text.startswith("#") for text in REAL.read_text().splitlines()
    )
    frame = traces.scan_event(real, "mm_filemap_delete_from_page_cache").collect()
    own = {"dev": pl.String, "ino": pl.UInt64, "pfn": pl.UInt64, "ofs": pl.Int64, "order": pl.Int64}
    assert dict(frame.schema) == dict(EVENT_HEAD.schema) | own
    assert frame.row(0)[3:] == (167, "random_walker", "254:32", 0xD, 0xB913, 1347584, 0)
    assert frame.select("t_ns", "cpu").row(0) == (5541211000, 1)
    added = traces.scan_event(real, "swp_add").collect()
    assert added.columns[5:] == ["folio", "entry", "text"]
    assert added["entry"].to_list() == [0x4000, 0x4001]
    assert added["text"].unique().to_list() == ["(add_to_swap_cache+0x5/0x340)"]


def test_a_report_of_trace_cmd_gives_the_same_columns(tmp_path: Path, real: Path) -> None:
    """The text of `trace-cmd report` has other spaces and no irq-info, and the same fields."""
    folder = traces.import_text(TRACE_CMD, tmp_path / "report").folder
    for event in ("swp_add", "mm_vmscan_lru_isolate", "mm_filemap_add_to_page_cache"):
        columns = traces.scan_event(folder, event).collect_schema()
        assert columns == traces.scan_event(real, event).collect_schema()
    slab = traces.scan_event(folder, "mm_shrink_slab_start").collect()
    assert slab.select("shrink", "nid", "objects_to_shrink", "cache_items", "priority").row(0) == (
        "super_cache_scan+0x0",
        0,
        0,
        2,
        12,
    )
    assert slab["gfp_flags"].to_list() == ["GFP_HIGHUSER_MOVABLE"] * 2


def test_seq_numbers_the_event_lines_of_the_whole_text(real: Path) -> None:
    """All tables together have each number from 0 once, and it increases in each table."""
    seqs = [traces.scan_event(real, e).collect()["seq"] for e in traces.events(real)["event"]]
    assert all(seq.is_sorted() for seq in seqs)
    assert sorted(pl.concat(seqs)) == list(range(sum(map(len, seqs))))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "trace.txt": bytes,
    "trace.gz": lambda text: gzip.compress(text[:999]) + gzip.compress(text[999:]),
    "trace.xz": lzma.compress,
    "trace.zst": lambda text: zstandard.compress(text[:999]) + zstandard.compress(text[999:]),
    "zst-named.txt": zstandard.compress,
    "pzstd.zst": lambda text: b"\x50\x2a\x4d\x18\x04\0\0\0size" + zstandard.compress(text),
}


@pytest.mark.parametrize("name", PACKERS)
def test_a_packed_text_reads_as_the_plain_one(name: str, tmp_path: Path, real: Path) -> None:
    """gzip, xz and zstd, in one or more members and under any name, give the same bytes."""
    source = write(tmp_path, PACKERS[name](REAL.read_bytes()), name)
    summary = traces.import_text(source, tmp_path / "packed")
    for path in real.glob("*.parquet"):
        assert (summary.folder / path.name).read_bytes() == path.read_bytes()
    text = traces.provenance(summary.folder)["text"]
    assert text["sha256"] == traces.provenance(real)["text"]["sha256"]
    assert text["name"] == name


@pytest.mark.parametrize("name", ["trace.gz", "trace.xz", "trace.zst"])
@pytest.mark.parametrize("share", [0.5, None])
def test_a_packed_text_cut_short_is_an_error(
    name: str, share: float | None, tmp_path: Path
) -> None:
    """A compressed file without its end is refused, even where all lines so far are complete."""
    packed = PACKERS[name](line("e", "a=1").encode() * 3000)
    size = int(len(packed) * share) if share else len(packed) - 1
    source = write(tmp_path, packed[:size], name)
    with pytest.raises(InputError, match=r"damaged or cut short"):
        traces.import_text(source, tmp_path / "out", keep_going=True)
    assert left_over(tmp_path) == [name]


def test_standard_input_is_read(tmp_path: Path, real: Path) -> None:
    """`swapsim import -` accepts a compressed text from a pipe."""
    done = subprocess.run(
        [sys.executable, "-m", "swapsim", "import", "-", "-o", tmp_path / "piped"],
        input=gzip.compress(REAL.read_bytes()),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert traces.events(tmp_path / "piped").equals(traces.events(real))


def test_the_summary_counts_events_and_losses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command prints a row per event and the lost events by CPU, and stores the same."""
    text = "CPU:3 [LOST 12 EVENTS]\n" + line("e", "a=1") + "CPU:3 [LOST 1 EVENTS]\n"
    text += "CPU:1 [LOST EVENTS]\n# entries-in-buffer/entries-written: 1/8   #P:4\n"
    assert main(["import", str(write(tmp_path, text)), "-o", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    assert "| e     |    1 |" in printed.out
    assert "CPU 3: 13" in printed.out
    assert "unknown size: 1" in printed.out
    assert "overwritten before the first line: 7" in printed.out
    assert printed.err == ""
    lost = traces.provenance(tmp_path / "out")["lost"]
    assert lost == {"overwritten": 7, "gaps_of_unknown_size": 1, "events_by_cpu": {"3": 13}}


def test_a_text_that_holds_a_recording_twice_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows keep the order of the lines, and the summary says where times go back."""
    text = "".join(line("e", f"a={a}", time=f"1.00000{a}") for a in (1, 2)) * 2
    assert main(["import", str(write(tmp_path, text)), "-o", str(tmp_path / "out")]) == 0
    assert "1 of 4 events are earlier than the event before, the first in line 3" in (
        capsys.readouterr().out
    )
    assert traces.provenance(tmp_path / "out")["text"]["earlier_events"] == 1
    assert pl.read_parquet(tmp_path / "out" / "e.parquet")["a"].to_list() == [1, 2, 1, 2]


def test_events_that_differ_in_case_alone_have_tables_that_do_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names that a file system would fold get a number, and a line says so."""
    monkeypatch.setattr("swapsim.traces.writer._HELD_BYTES", 1)
    monkeypatch.setattr("swapsim.traces._native._CELLS_OF_A_BATCH", 1)
    events = {"con": 1, "CON": 2, "Con": 3, "swp_add": 4}
    text = "".join(line(event, f"a={a}") for event, a in events.items()) * 50
    assert main(["import", str(write(tmp_path, text)), "-o", str(tmp_path / "out")]) == 0
    assert "event con is stored as con~3" in capsys.readouterr().out
    names = [path.stem for path in (tmp_path / "out").glob("*.parquet")]
    assert len({name.lower() for name in names}) == len(events)
    origin = traces.provenance(tmp_path / "out")
    assert origin["renamed"] == {"Con~2": "Con", "con~3": "con"}
    assert set(origin["events"]) == set(names)
    for name in names:
        values = traces.scan_event(tmp_path / "out", name).collect()["a"]
        assert values.to_list() == [events[origin["renamed"].get(name, name)]] * 50


def test_a_clock_of_whole_numbers_has_no_time(tmp_path: Path) -> None:
    """Under the counter clock t_ns is null, and trace.toml has the clock."""
    text = line("e", "a=1").replace("10.000001", "4711")
    folder = traces.import_text(write(tmp_path, text), tmp_path / "out").folder
    assert traces.scan_event(folder, "e").collect()["t_ns"].to_list() == [None]
    assert traces.provenance(folder)["text"]["clock"] == "whole numbers"


def test_joined_events_make_one_table(tmp_path: Path) -> None:
    """A joined table replaces those of its events, which have the values of an integer clock."""

    def join(
        frames: Mapping[str, pl.DataFrame], head: Mapping[str, object]
    ) -> dict[str, pl.DataFrame]:
        assert head == {"clock": "counter", "bytes": 48, "more": ""}
        parts = (frame.select(CLOCK, "seq", "cpu", "a") for frame in frames.values())
        return {"ef": pl.concat(parts).sort(CLOCK)}

    joined = JoinedEvents(events=frozenset("ef"), join=join)
    times = {"e": (12, 9), "f": (11,), "g": (10,)}
    text = "".join(
        line(event, f"a={time}").replace("10.000001", str(time))
        for event, some in times.items()
        for time in some
    )
    head = "# tracer: nop\n# swapsim: clock=counter bytes=48\n#\n# swapsim: more\n"
    summary = traces.import_text(write(tmp_path, head + text), tmp_path / "out", joined=[joined])
    assert traces.provenance(tmp_path / "out")["head"]["bytes"] == 48
    assert dict(summary.events.iter_rows()) == {"ef": 3, "g": 1}
    rows = traces.scan_event(tmp_path / "out", "ef").collect()
    assert rows[CLOCK].to_list() == rows["a"].to_list() == [9, 11, 12]
    assert rows["seq"].to_list() == [1, 2, 0]
    seconds = write(tmp_path, head + line("e", "a=1"))
    traces.import_text(seconds, tmp_path / "other", joined=[joined])
    assert traces.scan_event(tmp_path / "other", "ef").collect()[CLOCK].to_list() == [None]


@pytest.mark.parametrize(("held", "streams", "streamed"), [(4_000, 0, 1), (1 << 30, 1, 100)])
def test_many_batches_give_the_bytes_of_one(
    held: int, streams: int, streamed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows in temporary files, or written as they arrive, and a late column: one batch's table."""
    text = "".join(line("e", f"a={i} b=x{i % 7}") + line("f", "c=1 word") for i in range(600))
    source = write(tmp_path, text + line("e", "a=1 late=0x1"))
    traces.import_text(source, tmp_path / "one")
    monkeypatch.setattr("swapsim.traces._native._CELLS_OF_A_BATCH", 1)
    monkeypatch.setattr("swapsim.traces.text.CHUNK_BYTES", 1000)
    monkeypatch.setattr("swapsim.traces.writer._HELD_BYTES", held)
    monkeypatch.setattr("swapsim.traces.writer._STREAMS", streams)
    monkeypatch.setattr("swapsim.traces.writer._STREAMED_ROWS", streamed)
    traces.import_text(source, tmp_path / "many")
    assert left_over(tmp_path / "many") == ["e.parquet", "f.parquet", "trace.toml"]
    for name in ("e.parquet", "f.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes()
    late = pl.read_parquet(tmp_path / "many" / "e.parquet")["late"]
    assert late.null_count() == 600
    assert late[600] == 1


BAD_TEXTS = {
    "empty": (b"", "is empty"),
    "comments only": (b"# tracer: nop\n", "no event line"),
    "binary junk": (bytes(range(256)) * 9, "is this a trace? name a text of tracefs"),
    "NUL after the text": (line("e", "a=1").encode() + b"\0" * 512, "line 2: contains bytes"),
    "invalid UTF-8": (line("e", "a=\xff").encode("latin-1"), "line 1: is not UTF-8"),
    "cut short": (line("e", "a=1")[:-1].encode(), "line 1: the last line"),
    "wrong type": (line("mm_vmscan_kswapd_sleep", "nid=x").encode(), "line 1, field 'nid'"),
    "no event line": (b"hello there\n", "line 1: has no task"),
    "a report of perf": (b"a 0 [000] 4.9: probe:e: (f)\n", "of perf none is read"),
    "JSON of bpftrace": (b'{"type": "attached_probes", "data": {"probes": 9}}\n', "swapsim probes"),
    "perfetto": (b"\n\x10\x08\x01" + bytes(14), "'traceconv systrace"),
    "cut within": (
        (line("swp_free", "(f+0x0/0x2) entry=0x1") + line("swp_free", "(f+0")).encode(),
        "line 2, field 'entry': lacks this field of its event: cut short, or misspelt: '(f+0'",
    ),
    "bzip2": (bz2.compress(b"text"), "bzip2 is not read: use gz, xz or zst"),
    "trace.dat": (b"\x17\x08\x44tracing6\0", "trace-cmd report"),
    # After the first rows a word among numbers is an error, not a silent widening.
    "late word": (
        (line("e", "a=1") * 1030 + line("e", "a=one") + line("e", "a=1")).encode(),
        "line 1031, field 'a'",
    ),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_bad_text_is_one_line_and_exit_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error names file, line and field; no file is left behind."""
    text, message = BAD_TEXTS[name]
    source = write(tmp_path, text)
    error = refused(["import", source, "-o", tmp_path / "out"], capsys)
    assert str(source) in error
    assert message in error
    assert left_over(tmp_path) == ["trace.txt"]


def test_a_probe_may_print_its_numbers_in_either_notation(tmp_path: Path) -> None:
    """A folio or an entry gives the same table by :u64 and by :x64, known event or not."""
    tables = []
    for name, folio, entry in (("x64", "0xffffea0000000040", "0x8000"), ("u64", "", "32768")):
        fields = f"(f+0x0/0x2) folio={folio or 0xFFFF_EA00_0000_0040} entry={entry}"
        text = line("swp_add", fields) + line("mine", fields) + line("mine", "entry=0x8000")
        folder = traces.import_text(write(tmp_path, text), tmp_path / name).folder
        tables.append(traces.scan_event(folder, "swp_add").collect())
        mine = traces.scan_event(folder, "mine").collect()
        assert mine["entry"].to_list() == [0x8000, 0x8000]
    assert tables[0].equals(tables[1])
    assert tables[0]["folio"].to_list() == [0xFFFF_EA00_0000_0040]


def test_keep_going_skips_counts_and_shows_the_first_of_each_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --keep-going the rest is imported with exit 0; each kind has its first line."""
    good = line("mm_vmscan_kswapd_sleep", "nid=0")
    text = good + "junk\n" + good + "more junk\n" + line("mm_vmscan_kswapd_sleep", "nid=x") + good
    source = write(tmp_path, text + "cut")
    assert main(["import", "--keep-going", str(source), "-o", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "skipped 2 of kind 'no event line', first line 2: " in printed
    assert "'junk'" in printed
    assert "skipped 1 of kind 'field of the wrong type', first line 5, field 'nid'" in printed
    assert "skipped 1 of kind 'cut short', first line 7" in printed
    assert traces.events(tmp_path / "out").rows() == [("mm_vmscan_kswapd_sleep", 3)]
    assert traces.provenance(tmp_path / "out")["skipped"]["no event line"] == 2
    with pytest.raises(InputError, match=r"no line of it can be read; line 1"):
        traces.import_text(write(tmp_path, b"\xff\n\0\n"), tmp_path / "none", keep_going=True)


@pytest.mark.parametrize(
    ("source", "output", "words"),
    [
        (REAL, "missing/out", "its folder does not exist"),
        (REAL, "/proc/out", "cannot be written"),
        (REAL, ".", "exists already"),
        (REAL, os.fsdecode(b"n\xff"), "UTF-8"),
        (os.fsdecode(b"n\xff"), "out", "UTF-8"),
        ("no.txt", "out", "No such file"),
        (".", "out", "Is a directory"),
    ],
)
def test_a_text_or_folder_that_does_not_fit_is_one_line(
    source: str, output: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing or read-only place, an existing folder, and odd names: no file is written."""
    error = refused(["import", tmp_path / source, "-o", tmp_path / output], capsys)
    assert words in error
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(("held", "streamed"), [(1 << 30, 1 << 30), (20_000, 1 << 30), (1, 100)])
def test_a_full_disk_leaves_nothing(held: int, streamed: int, tmp_path: Path) -> None:
    """A failing write gives one line and leaves no folder.

    A limit on file size stands for the disk: it fails the same calls.
    """
    program = f"""
import resource, signal, sys
from swapsim import cli
from swapsim.traces import _native, writer
_native._CELLS_OF_A_BATCH, writer.ROW_GROUP = 1, 500
writer._HELD_BYTES, writer._STREAMED_ROWS = {held}, {streamed}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
sys.exit(cli.main(sys.argv[1:]))
"""
    lines = (line("e", f"a={i * 7919 % 1000003} b={i * 104729 % 15485863}") for i in range(6_000))
    source = write(tmp_path, "".join(lines))
    done = subprocess.run(
        [sys.executable, "-c", program, "import", source, "-o", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert f"out: cannot be written ({os.strerror(errno.EFBIG)}" in done.stderr
    assert left_over(tmp_path) == ["trace.txt"]


@pytest.mark.parametrize("call", ["take", "finish"])
def test_an_interrupt_leaves_nothing(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C during an import removes its files, also those of a running thread, and is raised."""
    calls = count()
    ordinary = getattr(TableWriter, call)

    def interrupted(*arguments: Any) -> None:
        if call == "finish" or next(calls) == 2:
            raise KeyboardInterrupt
        ordinary(*arguments)

    monkeypatch.setattr("swapsim.traces._native._CELLS_OF_A_BATCH", 1)
    monkeypatch.setattr("swapsim.traces.text.CHUNK_BYTES", 1000)
    monkeypatch.setattr("swapsim.traces.writer._STREAMED_ROWS", 1)
    monkeypatch.setattr(TableWriter, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        traces.import_text(REAL, tmp_path / "out")
    assert left_over(tmp_path) == []
    assert not [thread for thread in threading.enumerate() if "write" in thread.name]


def test_a_missing_event_is_named_with_those_present(real: Path) -> None:
    """Scan and replay name the missing event and the existing ones."""
    with pytest.raises(InputError, match="no event slot_events; it has: folio_move"):
        traces.scan_event(real, "slot_events")
    with pytest.raises(InputError, match=r"needs the event slot_events; .* wb_start"):
        traces.require_events(real, "slots")
    assert "swp_add" in traces.require_events(real, "mapping")


def test_a_trace_without_a_field_feeds_no_replay_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither if all lines lack it, nor if a line's pointer could not be read; a replay says so."""
    for entry, lacks in (("", "entry of swp_add"), ("(fault)", "entry of swp_add in 1 of 2 rows")):
        folder = tmp_path / f"trace{len(entry)}"
        rest = [line(event, "folio=0x1 entry=0x2") for event in ("swp_del", "swp_add")]
        others = "".join(line(event, "folio=0x1") for event in ("wb_start", "wb_end"))
        added = line("swp_add", "folio=0x1" + f" entry={entry}" * bool(entry))
        text = rest[0] + added + rest[1] * bool(entry) + others
        traces.import_text(write(tmp_path, text), folder)
        assert f"mapping: no, it lacks {lacks}\n" in traces.info(folder)
        assert traces.described(folder)["replays"]["mapping"] == [lacks]
        error = refused(["replay", "mapping", folder], capsys)
        assert "swp_add.parquet, field 'entry'" in error
    assert "event 2 of the text lacks it, or has (fault)" in error


def truncated(folder: Path) -> None:
    """Cut off a table's end."""
    path = folder / "swp_add.parquet"
    path.write_bytes(path.read_bytes()[:-20])


def changed(folder: Path) -> None:
    """Change a table's rows."""
    path = folder / "swp_add.parquet"
    pl.read_parquet(path).with_columns(pl.col("entry") + 1).write_parquet(path)


def truncated_and_signed(folder: Path) -> None:
    """Cut off a table's end, and store its sha256."""
    truncated(folder)
    traces.sign(folder)


def without_sha256(folder: Path) -> None:
    """Drop the sha256 of one table."""
    path = folder / "trace.toml"
    path.write_text(re.sub(r'"swp_add.parquet" = .*\n', "", path.read_text()))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "trace.toml").write_text("[text\n"), "trace.toml: is no TOML"),
        (lambda folder: (folder / "trace.toml").unlink(), "trace.toml: .* without provenance"),
        (truncated, "swp_add.parquet: is not as it was written"),
        (truncated_and_signed, "swp_add.parquet: .*Parquet"),
        (changed, "swp_add.parquet: is not as it was written"),
        (without_sha256, "trace.toml, field 'files': .* of swp_add.parquet"),
    ],
)
def test_a_spoiled_folder_is_refused(
    real: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Path], object], words: str
) -> None:
    """No table is read, and each command ends with one line; a replay warns of the order before."""
    spoil(real)
    with pytest.raises(InputError, match=words):
        traces.scan_event(real, "swp_add")
    assert re.search(words, refused(["info", real], capsys))
    assert main(["replay", "mapping", str(real)]) == 2
    assert re.search(words, capsys.readouterr().err.splitlines()[-1])


def test_a_table_that_was_changed_on_purpose_is_signed(real: Path) -> None:
    """Then it is read again; `info` names a table that is missing."""
    changed(real)
    traces.sign(real)
    assert "as they were written" in traces.info(real)
    (real / "swp_add.parquet").unlink()
    assert "swp_add.parquet is missing" in traces.info(real)


def test_signing_changes_only_the_digests(real: Path) -> None:
    """Without a changed table trace.toml stays the same; its other tables always do."""
    before = (real / "trace.toml").read_text()
    traces.sign(real)
    assert (real / "trace.toml").read_text() == before
    (real / "trace.toml").write_text("# by hand\n[workload]\nname = 'x'")
    traces.sign(real)
    origin = traces.provenance(real)
    assert origin.pop("files")["swp_add.parquet"]
    assert origin == {"workload": {"name": "x"}}


def test_a_scan_selects_columns_and_rows(real: Path) -> None:
    """A lazy scan that selects, filters and slices gives the same as the collected table."""
    lazy = traces.scan_event(real, "wb_start")
    full = lazy.collect()
    wanted = pl.col("seq") > full["seq"][0]
    assert lazy.filter(wanted).select("pid").collect().equals(full.filter(wanted).select("pid"))
    assert lazy.head(1).collect().equals(full.head(1))
    assert lazy.filter(wanted).head(1).collect().equals(full.filter(wanted).head(1))
    assert lazy.head(1).filter(wanted).collect().equals(full.head(1).filter(wanted))
    assert lazy.select(pl.len()).collect().item() == full.height


def test_info_describes_events_provenance_and_replays(
    real: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`swapsim info` names each event with its rows, the text's hash, and the replays."""
    assert main(["info", str(real)]) == 0
    printed = capsys.readouterr().out
    assert f"text.sha256: {traces.provenance(real)['text']['sha256']}" in printed
    assert "mapping: yes" in printed
    assert "slots: no, it lacks slot_events" in printed
    refused(["info", real / "no"], capsys)
    lines = traces.info(traces.shipped_folders("mapping")["swap-w-seq"]).splitlines()
    assert "  recording.probes:" in lines
    assert "    p:kprobes/swp_add add_to_swap_cache+5 folio=%di entry=%si" in lines
    assert "  workload.cgroup_commands: sequential_writer 8 38" in lines


def test_a_caller_can_add_provenance(tmp_path: Path) -> None:
    """Further tables appear in trace.toml as they were given."""
    given = {"workload": {"name": 'a "b"\\\x7fé\n', "processes": 8, "args": ["x", 1, True]}}
    folder = traces.import_text(REAL, tmp_path / "out", provenance=given).folder
    assert traces.provenance(folder)["workload"] == given["workload"]
    assert tomllib.loads(toml_table("t", {"odd key": {}})) == {"t": {"odd key": {}}}


def test_shipped_traces_are_distinguished_by_the_replays_they_feed() -> None:
    """A replay gets the traces that have its events; an unknown one is refused."""
    pages, slots = traces.shipped_folders("mapping"), traces.shipped_folders("slots")
    assert {"swap-w-seq", "random-80-20", "slow-disk"} == set(pages)
    assert slots
    assert not set(pages) & set(slots)
    with pytest.raises(InputError, match="no such replay"):
        traces.shipped_folders("page-colouring")


def test_the_sample_is_a_part_of_its_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are those of the trace; a user's own text of this name has precedence."""
    made = traces.import_text("sample", tmp_path / "made").folder
    counted = traces.events(made)
    assert counted["rows"].sum() == 1200
    for event in counted["event"]:
        rows = traces.scan_event(made, event).collect()
        first = traces.scan_event("swap-w-seq", event).filter(pl.col("seq") >= 2100)
        wanted = first.head(rows.height).with_columns(pl.col("seq") - 2100).collect()
        assert rows.equals(wanted), event
    assert swapsim.open(made).feeds == ("mapping", "removal")
    monkeypatch.chdir(write(tmp_path, "", "sample").parent)
    with pytest.raises(InputError, match="is empty"):
        traces.import_text("sample", "again")


def test_a_text_whose_lines_were_cut_is_named_on_import(tmp_path: Path) -> None:
    """The import says which fields no row has, and the replay what to do."""
    text = tmp_path / "cut.txt"
    lines = sample_text().read_text(encoding="utf-8").splitlines()
    text.write_text("".join(f"{line[:90]}\n" for line in lines))
    summary = traces.import_text(text, tmp_path / "cut")
    assert any("no row of swp_add has entry, folio:" in line for line in summary.describe())
    with pytest.raises(InputError, match="import the complete text"):
        mapping.replay(tmp_path / "cut")
