# SPDX-License-Identifier: GPL-2.0-or-later
"""The C parser of ftrace text: bytes in, one frame per event out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import check, config, new
from swapsim.traces.known_events import KNOWN_EVENTS

PARSER_VERSION: Final = 3
"""Version of the parser; a new one gives other tables for the same text."""

CLOCK: Final = "(clock)"
"""Name of the column of clock values, which no field of an event has."""

_CELLS_OF_A_BATCH: Final = 2_000_000
"""Values in C before they become frames: it bounds the memory, not the result."""

_STRINGS_OF_A_BATCH: Final = 16 << 20

_SHOWN: Final = 80  # characters of a wrong line in a message

_CLOCKS: Final = ("unknown", "seconds", "whole numbers")

NO_TRACE: Final = (
    "name a text of tracefs or of trace-cmd report, or a trace.dat; of perf none is read: record "
    "with trace-cmd, or by 'swapsim probes'"
)

_FAULTS: Final = {
    lib.SWS_FTRACE_BYTES: ("binary bytes", "contains bytes that are no text"),
    lib.SWS_FTRACE_UTF8: ("not UTF-8", "is not UTF-8"),
    lib.SWS_FTRACE_LONG: ("overlong line", "is longer than the parser accepts"),
    lib.SWS_FTRACE_CUT: ("cut short", "the last line is cut short: it has no end of line"),
    lib.SWS_FTRACE_HEAD: ("no event line", "has no task, CPU and time at its start"),
    lib.SWS_FTRACE_CLOCK: ("other clock", "its time is of another kind than in earlier lines"),
    lib.SWS_FTRACE_EVENT: ("no event name", "has no event name after its time"),
    lib.SWS_FTRACE_NUMBER: ("number out of range", "the number is out of range"),
    lib.SWS_FTRACE_TYPE: ("field of the wrong type", ""),
    lib.SWS_FTRACE_DUPLICATE: ("field twice", "the field occurs twice in the line"),
    lib.SWS_FTRACE_CROWDED: ("too many names", "is one event or field too many for one trace"),
    lib.SWS_FTRACE_LACKS: (
        "field missing",
        "lacks this field of its event: cut short, or misspelt",
    ),
}
"""For each fault of ftrace.h: its kind, and the problem of the line."""

_KINDS: Final = {
    "decimal": lib.SWS_FTRACE_INT64,
    "pointer": lib.SWS_FTRACE_UINT64,
    "hexadecimal": lib.SWS_FTRACE_HEX,
    "string": lib.SWS_FTRACE_STRING,
}

_TYPES: Final = ("whole", "whole", "hexadecimal", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The lines of one kind that could not be read."""

    kind: str
    lines: int
    """Number of such lines, at least 1."""
    line: int
    """The first of them, from 1."""
    field: str | None
    """Its wrong field."""
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts of a parsed text."""

    lines: int
    rows: int
    """Event lines with a readable head: one more than the highest seq."""
    overwritten: int
    """Events that the ring buffer dropped before the first line, by the header of tracefs."""
    gaps: int
    """Losses of unknown size."""
    clock: str
    """"seconds", "whole numbers", or "unknown" in a text without events."""
    lost: dict[int, int]
    """Lost events by CPU; CPUs without losses are left out."""
    skipped: tuple[Skipped, ...]
    """In the order of their first lines."""
    earlier: int = 0
    """Rows whose time is earlier than that of the row before."""
    earlier_line: int = 0
    """The line of the first of them, from 1; 0 for none."""

    @property
    def has_losses(self) -> bool:
        """True if an event is missing."""
        return bool(self.lost or self.gaps or self.overwritten)

    def describe_order(self) -> list[str]:
        """Return a line if times go back, else none."""
        if not self.earlier:
            return []
        return [
            f"{self.earlier} of {self.rows} events are earlier than the event before, the first in "
            f"line {self.earlier_line}: all keep the order of the lines (are these two recordings?)"
        ]

    def describe_lost(self) -> str:
        """Return a line with the numbers of lost events."""
        parts = [f"CPU {cpu}: {events}" for cpu, events in self.lost.items()]
        for events, what in (
            (self.gaps, "losses of unknown size"),
            (self.overwritten, "overwritten before the first line"),
        ):
            parts += [f"{what}: {events}"] if events else []
        return f"lost events: {', '.join(parts) or 'none'}"


def read_ftrace(
    chunks: Iterable[bytes],
    sink: Callable[[str, pl.DataFrame], None],
    *,
    path: str,
    keep_going: bool = False,
    first_rows: int = 1024,
    with_clock: Callable[[str], bool] = lambda _: False,
) -> Counts:
    """Parse a trace's text, which may be cut anywhere, and pass each event's rows to `sink`.

    An event for which ``with_clock`` is true has a first column CLOCK, UInt64: the value of a clock
    of whole numbers, null under any other.
    """
    how = config(lib.sws_ftrace_config_init, None, skip=keep_going, first_rows=first_rows)
    handle = new(lib.sws_ftrace_new, how, free=lib.sws_ftrace_free)
    for declare, *what in _known_events():
        check(declare(handle, *what))
    for chunk in chunks:
        _check_line(handle, lib.sws_ftrace_feed(handle, ffi.from_buffer(chunk), len(chunk)), path)
        if _is_full(handle):
            _drain(handle, sink, with_clock)
    _check_line(handle, lib.sws_ftrace_finish(handle), path)
    _drain(handle, sink, with_clock)
    return _counts(handle)


def _check_line(handle: Any, code: int, path: str) -> None:
    if code != lib.SWS_ERROR_BAD_LINE:
        check(code)
        return
    first = _skipped(handle)[0]
    advice = "fix the text, or skip such lines with keep_going=True"
    if not _counts(handle).rows:
        advice = f"is this a trace? {NO_TRACE}; or {advice}"
    raise InputError(f"{first.problem}: {advice}", path=path, line=first.line, field=first.field)


@cache
def _known_events() -> tuple[tuple[Any, ...], ...]:
    """Return the calls that declare KNOWN_EVENTS: function, then its arguments after the first."""
    return tuple(
        call
        for known in KNOWN_EVENTS
        for event in map(str.encode, known.names)
        for call in (
            *(
                (lib.sws_ftrace_know_field, event, field.encode(), _KINDS[kind])
                for field, kind in known.kinds.items()
            ),
            *((lib.sws_ftrace_know_text, event, text.encode()) for text in known.texts),
        )
    )


def _is_full(handle: Any) -> bool:
    length = ffi.new("size_t *")
    lib.sws_ftrace_strings(handle, length)
    return bool(
        lib.sws_ftrace_cells(handle) >= _CELLS_OF_A_BATCH or length[0] >= _STRINGS_OF_A_BATCH
    )


def _drain(
    handle: Any, sink: Callable[[str, pl.DataFrame], None], with_clock: Callable[[str], bool]
) -> None:
    """Pass the batch's rows to the sink, in order of the events' names, and clear them."""
    totals = ffi.new("struct sws_ftrace_totals *")
    lib.sws_ftrace_totals(handle, totals)
    strings = _strings(handle)
    batches = []
    for index in range(lib.sws_ftrace_events(handle)):
        batch = ffi.new("struct sws_ftrace_batch *")
        check(lib.sws_ftrace_batch(handle, index, batch))
        if batch.rows:
            batches.append((ffi.string(batch.name).decode(), index, batch))
    for name, index, batch in sorted(batches, key=lambda entry: entry[0]):
        timed = totals.clock == lib.SWS_FTRACE_CLOCK_SECONDS
        columns = _head(batch, strings, timed=timed) + _fields(handle, index, batch, strings)
        if with_clock(name):
            columns.insert(0, _time(CLOCK, batch, "uint64", known=not timed))
        sink(name, pl.DataFrame(columns))
    lib.sws_ftrace_clear(handle)


def _strings(handle: Any) -> pl.Series:
    """Return the batch's strings by code: code 0 is null."""
    length = ffi.new("size_t *")
    bytes_ = lib.sws_ftrace_strings(handle, length)
    text = ffi.buffer(bytes_, length[0])[:].decode() if length[0] else ""
    return pl.Series([None, *text.split("\n")[:-1]], dtype=pl.String)


def _array(values: Any, rows: int, dtype: str) -> np.ndarray:
    """Return a column in the memory of C, which is reused after the batch."""
    size = rows * np.dtype(dtype).itemsize
    return np.frombuffer(ffi.buffer(values, size), dtype=dtype)


def _borrowed(name: str, array: np.ndarray) -> pl.Series:
    """Return a series in the memory of an array: polars copies that of any but a read-only one."""
    array.flags.writeable = False
    return pl.Series(name, array)


def _copied(name: str, values: Any, rows: int, dtype: str) -> pl.Series:
    """Copy a column out of C, once."""
    return _borrowed(name, _array(values, rows, dtype).copy())


def _decoded(name: str, codes: Any, rows: int, strings: pl.Series) -> pl.Series:
    """Return the strings of a column of codes."""
    return strings[_borrowed(name, _array(codes, rows, "uint32"))].alias(name)


def _time(name: str, batch: Any, dtype: str, *, known: bool) -> pl.Series:
    """Return the times of a batch, or nulls if the clock has no times of this kind."""
    times = _copied(name, batch.t_ns, batch.rows, dtype)
    return times if known else times.clear(batch.rows)


def _head(batch: Any, strings: pl.Series, *, timed: bool) -> list[pl.Series]:
    rows = batch.rows
    return [
        _copied("seq", batch.seq, rows, "uint64"),
        _time("t_ns", batch, "int64", known=timed),
        _copied("cpu", batch.cpu, rows, "uint16"),
        _copied("pid", batch.pid, rows, "int32"),
        _decoded("comm", batch.comm, rows, strings),
    ]


def _fields(handle: Any, index: int, batch: Any, strings: pl.Series) -> list[pl.Series]:
    column = ffi.new("struct sws_ftrace_column *")
    found: list[pl.Series] = []
    for field in range(batch.fields):
        check(lib.sws_ftrace_column(handle, index, field, column))
        # A field that only skipped lines have is no column.
        if not column.used:
            continue
        name = ffi.string(column.name).decode()
        if column.type == lib.SWS_FTRACE_STRING:
            found.append(_decoded(name, column.values, batch.rows, strings))
            continue
        dtype = "int64" if column.type == lib.SWS_FTRACE_INT64 else "uint64"
        values = _copied(name, column.values, batch.rows, dtype)
        if column.valid != ffi.NULL:
            valid = _copied("valid", column.valid, batch.rows, "bool")
            values = values.to_frame().select(pl.when(valid).then(pl.col(name))).to_series()
        found.append(values)
    return sorted(found, key=lambda series: series.name == "text")


def _counts(handle: Any) -> Counts:
    totals = ffi.new("struct sws_ftrace_totals *")
    lib.sws_ftrace_totals(handle, totals)
    cpus = ffi.new("size_t *")
    lost = lib.sws_ftrace_lost(handle, cpus)
    return Counts(
        lines=totals.lines,
        rows=totals.rows,
        overwritten=totals.overwritten,
        gaps=totals.gaps,
        earlier=totals.earlier,
        earlier_line=totals.earlier_line,
        clock=_CLOCKS[totals.clock],
        lost={cpu: lost[cpu] for cpu in range(cpus[0]) if lost[cpu]},
        skipped=_skipped(handle),
    )


def _skipped(handle: Any) -> tuple[Skipped, ...]:
    report = ffi.new("struct sws_ftrace_report *")
    found = []
    for fault, (kind, problem) in _FAULTS.items():
        check(lib.sws_ftrace_report(handle, fault, report))
        if not report.count:
            continue
        excerpt = _printable(ffi.buffer(report.excerpt)[:])
        wrong = problem or f"this is no {_TYPES[report.type]} number"
        found.append(
            Skipped(
                kind=kind,
                lines=report.count,
                line=report.line,
                field=_printable(ffi.buffer(report.field)[:]) or None,
                problem=wrong
                if fault == lib.SWS_FTRACE_LACKS and not excerpt
                else f"{wrong}: '{excerpt}'",
            )
        )
    return tuple(sorted(found, key=lambda skipped: skipped.line))


def _printable(padded: bytes) -> str:
    """Return the text of a fixed array of C, without control characters, and cut."""
    text = padded.rstrip(b"\0").decode(errors="backslashreplace")
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
