# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a trace folder, table by table or merged in trace order, on one clock."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import traces
from swapsim.errors import InputError, errors_of
from swapsim.frames.files import require_values
from swapsim.frames.table import require
from swapsim.generations.recording import MAY_BE_NULL
from swapsim.generations.tables import GENERATION_CHOICES, GENERATION_STEPS
from swapsim.progress import Bar
from swapsim.removal.tables import REMOVALS
from swapsim.slots.tables import SLOT_EVENTS
from swapsim.stall.tables import RECLAIM_FOLIOS, RECLAIM_LISTS, RECLAIM_PASSES
from swapsim.traces.event_fields import EMPTY_FIELD
from swapsim.traces.tables import EVENT_HEAD

_ROW_NS: Final = 1000  # length of a row without a clock

_HEAD: Final = (*EVENT_HEAD.schema, "text")
"""Columns of any event; all others are the event's own fields."""

_NEEDED: Final = {
    "slot_events": (SLOT_EVENTS, ("op", "n")),
    "removals": (REMOVALS, ("list", "mapping", "swap", "removed")),
    "reclaim_folios": (RECLAIM_FOLIOS, ("list", "outcome")),
    "reclaim_lists": (RECLAIM_LISTS, ("list", "pass")),
    "reclaim_passes": (RECLAIM_PASSES, ("pass",)),
    "generation_choices": (GENERATION_CHOICES, GENERATION_CHOICES.names()),
    "generation_steps": (GENERATION_STEPS, ("lruvec", "aged")),
}
"""Table -> its declaration, and the columns that tracks are computed from."""

_KEYS: Final = {"swp_add": "entry", "swp_del": "entry", "wb_start": "folio", "wb_end": "folio"}
"""Event of the kernel -> the field by which its rows are merged with those of another one."""

_MAY_BE_NULL: Final = {
    ("slot_events", "n"),
    ("reclaim_lists", "pass"),
    *(("generation_choices", name) for name in MAY_BE_NULL["generation_choices"]),
}
_LONGEST_NS: Final = 1 << 62  # maximum length of a recording
_SLICE_ROWS: Final = 1 << 14
Args = dict[str, Any]  # an event's own fields

Row = tuple[int, int, int, str, Args]
"""``seq``, ns since the first row, pid, table, and the chosen fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRows:
    """The events of a trace that can be shown, and their clock."""

    folder: Path
    fields: dict[str, tuple[str, ...]]
    """Table -> its own columns."""
    unshown: tuple[str, ...]
    """Tables without usable seq or pid."""
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

    def of(self, table: str, bar: Bar, fields: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield a table's rows in trace order, with all fields or with those of these it has."""
        own = self.fields[table]
        chosen = own if fields is None else [name for name in fields if name in own]
        seq_ns = (pl.col("seq").cast(pl.Int64) - self.first) * _ROW_NS
        at = pl.col("t_ns") - self.first if self.timed else seq_ns
        key = _KEYS.get(table) if fields is not None else None
        scanned = traces.scan_event(self.folder, table)
        frame = scanned.select("seq", at.alias("t_ns"), "pid", *chosen).collect()
        with errors_of(self.folder / f"{table}.parquet"):
            if key and key not in own:
                raise InputError(
                    f"the event has no such field; it has: {', '.join(own)}", field=key
                )
            require_values(frame, [key] if key else [], EMPTY_FIELD)
            _require_rows(table, frame)
        for part in frame.iter_slices(_SLICE_ROWS):
            for seq, ns, pid, *values in part.iter_rows():
                yield seq, ns, pid, table, dict(zip(chosen, values, strict=True))
            bar.update(part.height)

    def merged(self, tables: Mapping[str, Sequence[str] | None], bar: Bar) -> Iterator[Row]:
        """Yield the rows of several tables, each with its chosen fields, in trace order."""
        parts = (self.of(table, bar, fields) for table, fields in tables.items())
        return heapq.merge(*parts, key=lambda row: row[0])


def trace_rows(folder: Path) -> TraceRows:
    """Return the rows of a trace folder after a first pass over its tables."""
    fields: dict[str, tuple[str, ...]] = {}
    unshown, ends, names = [], [], []
    for table in traces.events(folder)["event"]:
        frame = traces.scan_event(folder, table)
        schema = frame.collect_schema()
        if not (_is_integer(schema, "seq") and _is_integer(schema, "pid")):
            unshown.append(table)
            continue
        with errors_of(folder / f"{table}.parquet"):
            _require_columns(table, schema)
        fields[table] = tuple(name for name in schema if name not in _HEAD)
        ends.append(_ends(frame, _is_integer(schema, "t_ns")))
        if "comm" in schema:
            names.append(_last_names(frame))
    ends = [of_table for of_table in ends if of_table["rows"]]
    if not ends:
        raise InputError(
            "has no table with a row that has seq and pid, so it cannot be shown: see its tables "
            "with 'swapsim info'",
            path=folder,
        )
    timed = not any(of_table["untimed"] for of_table in ends)
    clock, unit_ns = ("t_ns", 1) if timed else ("seq", _ROW_NS)
    first = min(of_table[f"first_{clock}"] for of_table in ends)
    last = max(of_table[f"last_{clock}"] for of_table in ends)
    if not -_LONGEST_NS < first <= last < _LONGEST_NS or (last - first) * unit_ns > _LONGEST_NS:
        raise InputError(
            f"lasts from {first} to {last}, longer than a recording can: capture it again",
            path=folder,
        )
    return TraceRows(
        folder=folder,
        fields=fields,
        unshown=tuple(unshown),
        timed=timed,
        first=first,
        last=last,
        names=dict(pl.concat(names).sort("seq")["pid", "comm"].iter_rows()) if names else {},
        height=sum(of_table["rows"] for of_table in ends),
    )


def _require_columns(table: str, schema: pl.Schema) -> None:
    """Require columns of types that events have, and those that tracks are computed from."""
    for name, dtype in schema.items():
        if not (dtype.is_integer() or dtype in (pl.Boolean, pl.String, pl.Enum, pl.Null)):
            raise InputError(
                f"contains {dtype}, which no event has: make the table again", field=name
            )
    if table in _NEEDED:
        declared, columns = _NEEDED[table]
        present = {name: schema[name] for name in columns if name in schema}
        needed = pl.Schema({name: declared.schema[name] for name in columns})
        require(pl.DataFrame(schema=present), needed, table)


def _require_rows(table: str, rows: pl.DataFrame) -> None:
    """Require rows in order, whose needed values are not null."""
    _, columns = _NEEDED.get(table, (None, ()))
    filled = [name for name in columns if (table, name) not in _MAY_BE_NULL]
    require_values(rows, ["seq", "pid", *(name for name in filled if name in rows.columns)])
    traces.require_order(rows)


def _is_integer(schema: pl.Schema, column: str) -> bool:
    return column in schema and schema[column].is_integer()


def _ends(frame: pl.LazyFrame, timed: bool) -> dict[str, Any]:
    """Return a table's number of rows, those without time, and its ends on either clock."""
    t_ns = pl.col("t_ns") if timed else pl.lit(None)
    clocks = frame.select(pl.col("seq").cast(pl.Int128), t_ns=t_ns.cast(pl.Int128))
    return (
        clocks.select(
            pl.col("seq").count().alias("rows"),
            pl.col("t_ns").null_count().alias("untimed"),
            pl.all().min().name.prefix("first_"),
            pl.all().max().name.prefix("last_"),
        )
        .collect()
        .row(0, named=True)
    )


def _last_names(frame: pl.LazyFrame) -> pl.DataFrame:
    """Return each task's last row with its name: a task that execs changes its name."""
    return (
        frame.select(pl.col("pid", "seq").cast(pl.Int128), pl.col("comm").cast(pl.String))
        .drop_nulls()
        .group_by("pid")
        .agg(pl.all().sort_by("seq").last())
        .collect()
    )
