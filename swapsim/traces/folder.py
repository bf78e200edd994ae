# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder: a table per event, and ``trace.toml``, which says where it comes from.

Its table ``[files]`` has the sha256 of each Parquet file. Whoever reads one compares it first.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl
from polars.io.plugins import register_io_source

from swapsim import io
from swapsim.errors import InputError
from swapsim.frames.files import require_values
from swapsim.frames.table import require
from swapsim.traces.tables import TRACE_EVENTS

PROVENANCE: Final = "trace.toml"
"""The file beside the tables that says where a trace comes from."""

FILES: Final = "files"
"""Its table of names and sha256 of the Parquet files."""


def provenance(folder: Path | str) -> dict[str, Any]:
    """Return what trace.toml says.

    Raises
    ------
    InputError
        There is no such folder, no trace.toml in it, or no TOML in that.
    """
    path = _folder(folder) / PROVENANCE
    if not path.exists():
        raise InputError(
            "a trace folder without provenance: import its text again, or write down "
            "where it comes from in trace.toml",
            path=path,
        )
    return io.read_toml(path)


def events(folder: Path | str) -> pl.DataFrame:
    """Count the rows of each event.

    Returns
    -------
    polars.DataFrame
        Schema TRACE_EVENTS.

    Raises
    ------
    InputError
        The folder is none or has no trace.toml, or a table is not whole or not the one that was
        written.
    """
    told = provenance(folder)
    heights = {}
    for name in event_names(Path(folder)):
        path = Path(folder) / f"{name}.parquet"
        heights[name] = io.decode_height(_bytes(path, told), path)
    return event_table(heights)


def scan_event(folder: Path | str, event: str) -> pl.LazyFrame:
    """Scan one event's table.

    Returns
    -------
    polars.LazyFrame
        EVENT_HEAD, then the event's own fields; one row per event, in trace order.

    Raises
    ------
    InputError
        The trace lacks the event (the message names those it has), its table is not whole or not
        the one that was written, or the folder has no trace.toml. What only shows in the rows is
        raised when they are collected.
    """
    path, data = _table(folder, event)

    def rows(
        columns: list[str] | None, where: pl.Expr | None, most: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        frame = io.decode(data, path, columns)
        frame = frame if most is None else frame.head(most)
        yield frame if where is None else frame.filter(where)

    return register_io_source(rows, schema=io.decode_schema(data, path))


def read_event(
    folder: Path | str, event: str, schema: pl.Schema, may_be_null: Collection[str] = ()
) -> pl.DataFrame:
    """Read the table of an event that has a schema of its own.

    Parameters
    ----------
    folder : Path or str
    event : str
    schema : polars.Schema
        All columns; the first is seq.
    may_be_null : collection of str
        Columns in which a row may have no value.

    Returns
    -------
    polars.DataFrame
        In trace order.

    Raises
    ------
    InputError
        As for `scan_event`; or the table has another schema, no value in a row, or its seq does
        not grow. File, row and field are named.
    """
    path, data = _table(folder, event)
    frame = io.decode(data, path)
    try:
        require(frame, schema, event)
        require_values(frame, [column for column in schema if column not in may_be_null])
        require_order(frame)
    except InputError as error:
        raise error.of(path) from None
    return frame


def require_order(frame: pl.DataFrame) -> None:
    """Refuse rows whose seq, which has no nulls, does not grow from each to the next.

    Raises
    ------
    InputError
        Naming the first row that is out of order.
    """
    seq = frame["seq"]
    back = seq.slice(1) <= seq.head(max(seq.len() - 1, 0))
    if back.any():
        after = seq[(back.arg_max() or 0) + 1]
        raise InputError(
            f"the row with seq {after} is out of order: make the table again", field="seq"
        )


def table_bytes(path: Path) -> bytes:
    """Read the file of a table, and hold it to the trace.toml beside it, if there is one.

    Raises
    ------
    InputError
        It cannot be read, or is not the one that was written.
    """
    beside = (path.parent / PROVENANCE).exists()
    return _bytes(path, provenance(path.parent) if beside else {})


def event_table(rows: Mapping[str, int]) -> pl.DataFrame:
    """Return a table with schema TRACE_EVENTS."""
    return pl.DataFrame(sorted(rows.items()), schema=TRACE_EVENTS.schema, orient="row")


def event_names(folder: Path) -> tuple[str, ...]:
    """Return the events of a trace folder, in order of name."""
    try:
        return tuple(sorted(path.stem for path in folder.glob("*.parquet")))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): check its rights", path=folder
        ) from None


def _folder(folder: Path | str) -> Path:
    path = Path(folder)
    if not path.is_dir():
        raise InputError("no such trace folder: import a text to make one", path=path)
    return path


def _table(folder: Path | str, event: str) -> tuple[Path, bytes]:
    """Return an event's file and its bytes, which are those that were written."""
    told = provenance(folder)
    present = event_names(Path(folder))
    if event not in present:
        raise InputError(
            f"the trace has no event {event}; it has: {', '.join(present) or 'none'}", path=folder
        )
    path = Path(folder) / f"{event}.parquet"
    return path, _bytes(path, told)


def _bytes(path: Path, told: Mapping[str, Any]) -> bytes:
    """Read a table's file; if trace.toml has no [files] nothing vouches for it."""
    known = told.get(FILES)
    if known is None:
        data = io.read_bytes(path)
        io.validate(data, path)
        return data
    if not isinstance(known, Mapping) or not isinstance(known.get(path.name), str):
        raise InputError(
            f"does not tell the sha256 of {path.name}: import the trace again, or drop the file",
            path=path.with_name(PROVENANCE),
            field=FILES,
        )
    return io.read_bytes(path, known[path.name])
