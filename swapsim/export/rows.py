# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a trace folder, table by table or merged, each with its time, and their check."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import traces
from swapsim.errors import InputError
from swapsim.frames.files import require_values
from swapsim.frames.table import require
from swapsim.progress import Bar
from swapsim.removal.tables import REMOVALS
from swapsim.slots.tables import SLOT_EVENTS
from swapsim.stall.tables import RECLAIM_FOLIOS, RECLAIM_LISTS, RECLAIM_PASSES
from swapsim.traces.tables import EVENT_HEAD

_ROW_NS: Final = 1000
"""Length of a row without a clock."""

_HEAD: Final = (*EVENT_HEAD.schema, "text")
"""Columns of any event; all others are the event's own fields."""

_COMPUTED: Final[Mapping[str, pl.Schema]] = {
    event: pl.Schema({name: schema[name] for name in names})
    for event, schema, names in (
        ("slot_events", SLOT_EVENTS.schema, ("op", "n")),
        ("removals", REMOVALS.schema, ("list", "mapping", "swap", "removed")),
        ("reclaim_folios", RECLAIM_FOLIOS.schema, ("list", "outcome")),
        ("reclaim_lists", RECLAIM_LISTS.schema, ("list", "pass")),
        ("reclaim_passes", RECLAIM_PASSES.schema, ("pass",)),
    )
}
"""Columns, by table, whose values begin and end slices or are counted."""

_MAY_BE_NULL: Final = frozenset({("slot_events", "n"), ("reclaim_lists", "pass")})

_LONGEST_NS: Final = 1 << 62
"""Maximum length of a recording."""

_SLICE_ROWS: Final = 1 << 14

Row = tuple[Any, ...]
"""``seq``, ns since the first row, pid, and the chosen columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRows:
    """The events of a trace that can be shown, and their clock."""

    folder: Path
    columns: dict[str, tuple[str, ...]]
    """Event -> its own columns."""
    unshown: tuple[str, ...]
    """Events without usable seq or pid."""
    timed: bool
    """Whether all rows have times; else each lasts _ROW_NS."""
    first: int
    """Smallest time in ns, or smallest seq."""
    last: int
    names: dict[int, str]
    """Task -> its last name."""
    height: int

    @property
    def end(self) -> int:
        """Time of the last row, ns since the first."""
        return (self.last - self.first) * (1 if self.timed else _ROW_NS)

    def of(self, event: str, columns: Sequence[str], bar: Bar) -> Iterator[Row]:
        """Yield a table's rows in trace order; a missing column is None."""
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
        with _named(self.folder / f"{event}.parquet"):
            _require_rows(event, frame)
        for part in frame.iter_slices(_SLICE_ROWS):
            yield from part.iter_rows()
            bar.update(part.height)

    def merged(
        self, columns: Mapping[str, Sequence[str]], bar: Bar
    ) -> Iterator[tuple[int, int, int, str, tuple[Any, ...]]]:
        """Yield the rows of several tables in trace order: seq, at, pid, event, its columns."""

        def named(event: str) -> Iterator[tuple[int, int, int, str, tuple[Any, ...]]]:
            for seq, at, pid, *rest in self.of(event, columns[event], bar):
                yield seq, at, pid, event, tuple(rest)

        there = [named(event) for event in columns if event in self.columns]
        return heapq.merge(*there, key=lambda row: row[0])


def trace_rows(folder: Path) -> TraceRows:
    """Return the rows of a trace folder after a first pass over its tables."""
    columns: dict[str, tuple[str, ...]] = {}
    unshown: list[str] = []
    clocks: list[pl.DataFrame] = []
    names: dict[int, tuple[int, str]] = {}
    for event in traces.events(folder)["event"]:
        frame = traces.scan_event(folder, event)
        schema = frame.collect_schema()
        if not (_is_integer(schema, "seq") and _is_integer(schema, "pid")):
            unshown.append(event)
            continue
        with _named(folder / f"{event}.parquet"):
            _require_columns(event, schema)
        columns[event] = tuple(name for name in schema if name not in _HEAD)
        clocks.append(frame.select(_ends(schema)).collect())
        if "comm" in schema:
            _update_names(frame, names)
    ends = pl.concat(clocks).filter(pl.col("height") > 0) if clocks else pl.DataFrame()
    if ends.is_empty():
        raise InputError(
            "has no table with a row that has seq and pid, so it cannot be shown: see its tables "
            "with 'swapsim info'",
            path=folder,
        )
    timed = not ends["untimed"].any()
    clock = ("first_ns", "last_ns") if timed else ("first_seq", "last_seq")
    first, last = ends.select(pl.col(clock[0]).min(), pl.col(clock[1]).max()).row(0)
    with _named(folder):
        _require_length(first, last, 1 if timed else _ROW_NS)
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


def _require_columns(event: str, schema: pl.Schema) -> None:
    """Require columns of types that events have, and those that tracks are computed from."""
    for name, dtype in schema.items():
        if not (dtype.is_integer() or dtype in (pl.Boolean, pl.String, pl.Enum, pl.Null)):
            raise InputError(
                f"contains {dtype}, which no event has: make the table again", field=name
            )
    needed = _COMPUTED.get(event, pl.Schema())
    present = {name: schema[name] for name in needed if name in schema}
    require(pl.DataFrame(schema=present), needed, event)


def _require_rows(event: str, rows: pl.DataFrame) -> None:
    """Require rows in order whose needed values are not null."""
    computed = (name for name in _COMPUTED.get(event, ()) if (event, name) not in _MAY_BE_NULL)
    require_values(rows, [name for name in ("seq", "pid", *computed) if name in rows.columns])
    traces.require_order(rows)


def _require_length(first: int, last: int, unit_ns: int) -> None:
    """Require a possible length of a recording."""
    if not -_LONGEST_NS < first <= last < _LONGEST_NS or (last - first) * unit_ns > _LONGEST_NS:
        raise InputError(
            f"lasts from {first} to {last}, longer than a recording can: capture it again"
        )


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the path to an error."""
    try:
        yield
    except InputError as error:
        raise error.of(path) from None


def _since(first: int) -> pl.Expr:
    return (pl.col("seq").cast(pl.Int64) - first) * _ROW_NS


def _is_integer(schema: pl.Schema, column: str) -> bool:
    return column in schema and schema[column].is_integer()


def _ends(schema: pl.Schema) -> list[pl.Expr]:
    """Count a table's rows; find their first and last on either clock."""
    timed = _is_integer(schema, "t_ns")
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


def _update_names(frame: pl.LazyFrame, names: dict[int, tuple[int, str]]) -> None:
    """Store each task's name in its last row: a task that execs changes its name."""
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
