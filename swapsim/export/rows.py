# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a trace folder, table by table or merged, each at its place in time."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import traces
from swapsim.errors import InputError
from swapsim.export.fitting import require_columns, require_length, require_rows
from swapsim.progress import Bar
from swapsim.traces.tables import EVENT_HEAD

ROW_NS: Final = 1000
"""Without a clock a row stands for a microsecond."""

_HEAD: Final = (*EVENT_HEAD.schema, "text")
"""Of any event; what else a table has are the event's own fields."""

_SLICE_ROWS: Final = 1 << 14

Row = tuple[Any, ...]
"""``seq``, ns since the first row, pid, and the columns that were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRows:
    """What of a trace can be shown, and on what clock.

    Attributes
    ----------
    folder : Path
    columns : dict of str to tuple of str
        The event's own columns, for each event that can be shown.
    unshown : tuple of str
        Events whose rows do not say whose they are, or where in the trace they stand.
    timed : bool
        Whether rows have times; else each stands for ROW_NS.
    first, last : int
        Of the trace's own clock, ns, or seq.
    names : dict of int to str
        What each task was called last.
    height : int
        Rows that can be shown.
    """

    folder: Path
    columns: dict[str, tuple[str, ...]]
    unshown: tuple[str, ...]
    timed: bool
    first: int
    last: int
    names: dict[int, str]
    height: int

    @property
    def end(self) -> int:
        """Time of the last row, ns since the first."""
        return (self.last - self.first) * (1 if self.timed else ROW_NS)

    def of(self, event: str, columns: Sequence[str], bar: Bar) -> Iterator[Row]:
        """Give one table's rows in trace order; a column that it lacks is None."""
        there = [name for name in columns if name in self.columns[event]]
        clock = pl.col("t_ns") - self.first if self.timed else _since(self.first)
        lacking = [pl.lit(None).alias(name) for name in columns if name not in there]
        frame = (
            traces.scan_event(self.folder, event)
            .select("seq", clock.alias("at"), "pid", *there)
            .with_columns(lacking)
            .select("seq", "at", "pid", *columns)
            .collect()
        )
        with _about(self.folder / f"{event}.parquet"):
            require_rows(event, frame)
        for part in frame.iter_slices(_SLICE_ROWS):
            yield from part.iter_rows()
            bar.update(part.height)

    def merged(
        self, columns: Mapping[str, Sequence[str]], bar: Bar
    ) -> Iterator[tuple[int, int, int, str, tuple[Any, ...]]]:
        """Give the rows of several tables in trace order: seq, at, pid, event, its columns."""

        def named(event: str) -> Iterator[tuple[int, int, int, str, tuple[Any, ...]]]:
            for seq, at, pid, *rest in self.of(event, columns[event], bar):
                yield seq, at, pid, event, tuple(rest)

        there = [named(event) for event in columns if event in self.columns]
        return heapq.merge(*there, key=lambda row: row[0])


def trace_rows(folder: Path) -> TraceRows:
    """Look through a trace folder."""
    columns: dict[str, tuple[str, ...]] = {}
    unshown: list[str] = []
    clocks: list[pl.DataFrame] = []
    names: dict[int, tuple[int, str]] = {}
    for event in traces.events(folder)["event"]:
        frame = traces.scan_event(folder, event)
        schema = frame.collect_schema()
        if not (_is_whole(schema, "seq") and _is_whole(schema, "pid")):
            unshown.append(event)
            continue
        with _about(folder / f"{event}.parquet"):
            require_columns(event, schema)
        columns[event] = tuple(name for name in schema if name not in _HEAD)
        clocks.append(frame.select(_ends(schema)).collect())
        if "comm" in schema:
            _remember_names(frame, names)
    ends = pl.concat(clocks).filter(pl.col("height") > 0) if clocks else pl.DataFrame()
    if ends.is_empty():
        raise InputError(
            "nothing in it can be shown, for no table has a row with both seq and pid: see what is "
            "there with 'swapsim info'",
            path=folder,
        )
    timed = not ends["untimed"].any()
    clock = ("first_ns", "last_ns") if timed else ("first_seq", "last_seq")
    first, last = ends.select(pl.col(clock[0]).min(), pl.col(clock[1]).max()).row(0)
    with _about(folder):
        require_length(first, last, 1 if timed else ROW_NS)
    return TraceRows(
        folder=folder,
        columns=columns,
        unshown=tuple(unshown),
        timed=timed,
        first=first,
        last=last,
        names={pid: name for pid, (_, name) in names.items()},
        height=int(ends["height"].sum()),
    )


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Let an error name the file."""
    try:
        yield
    except InputError as error:
        raise error.of(path) from None


def _since(first: int) -> pl.Expr:
    return (pl.col("seq").cast(pl.Int64) - first) * ROW_NS


def _is_whole(schema: pl.Schema, column: str) -> bool:
    return column in schema and schema[column].is_integer()


def _ends(schema: pl.Schema) -> list[pl.Expr]:
    """Count a table's rows, and find where they begin and end on either clock."""
    timed = _is_whole(schema, "t_ns")
    time = pl.col("t_ns") if timed else pl.lit(None, dtype=pl.Int64)
    seq = pl.col("seq").cast(pl.Int128)
    return [
        pl.len().cast(pl.Int64).alias("height"),
        time.min().alias("first_ns"),
        time.max().alias("last_ns"),
        (time.is_null().any() if timed else pl.lit(value=True)).alias("untimed"),
        seq.min().alias("first_seq"),
        seq.max().alias("last_seq"),
    ]


def _remember_names(frame: pl.LazyFrame, names: dict[int, tuple[int, str]]) -> None:
    """Keep what each task was called in its last row: a task that execs changes its name."""
    last = (
        frame.select("pid", "comm", "seq")
        .drop_nulls()
        .group_by("pid")
        .agg(pl.col("comm").sort_by("seq").last(), pl.col("seq").max())
        .sort("pid")
        .collect()
    )
    for pid, comm, seq in last.iter_rows():
        if pid not in names or names[pid][0] < seq:
            names[pid] = (seq, comm)
