# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of a trace's events as integers, and the parts of a swap entry."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError, errors_of
from swapsim.tables import require_values
from swapsim.traces.folder import EVENT_HEAD, Trace, require_order, scan_event

SWAP_TYPE_SHIFT: Final = 58
"""Lowest bit of a swap entry's type (include/linux/swapops.h, 5.7 to 6.1)."""

PAGE_BYTES: Final = 4096  # bytes of a page; ``ofs`` of a page cache event is in bytes
EMPTY_FIELD: Final = (
    "event {event} of the text lacks it, or has (fault): remove that line, and import it again"
)
"""What to do where an event has no value in a field."""

_HEAD: Final = ("seq", "pid")
_WORDS: Final = ("dev", "bdi", "lru")  # fields that are names; all others are integers


def read_fields(
    trace: Trace | Path | str, event: str, fields: Sequence[str], optional: Sequence[str] = ()
) -> pl.DataFrame:
    """Read seq, pid and the fields of one event; integers become UInt64."""
    table = scan_event(trace, event)
    schema = table.collect_schema()
    taken = [*fields, *(field for field in optional if field in schema)]
    with errors_of(Path(trace) / f"{event}.parquet"):
        _check_kinds(schema, (*_HEAD, *taken))
        rows = table.select(*_HEAD, *taken).collect()
        require_values(rows, rows.columns, EMPTY_FIELD)
        require_order(rows)
    # A kprobe may print an address as a negative number: its bits count.
    numbers = [field for field in taken if field not in _WORDS]
    return rows.with_columns(pl.col(numbers).cast(pl.UInt64, wrap_numerical=True))


def _check_kinds(schema: pl.Schema, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in schema:
            raise InputError(
                f"the event has no such field; it has: {', '.join(schema)}; its lines were cut, or "
                "its probe has other names: import the complete text, with the probes of "
                "'swapsim probes'",
                field=column,
            )
        kind, needed = schema[column], EVENT_HEAD.schema.get(column, pl.String())
        if column in _HEAD or column in _WORDS:
            fits, wanted = kind == needed, f"{needed}"
        else:
            fits, wanted = kind.is_integer(), "an integer"
        if not fits:
            raise InputError(
                f"has {kind} where {wanted} is needed: import the trace again", field=column
            )


def swap_offset(field: str) -> pl.Expr:
    """Return the slot of a swap entry."""
    return pl.col(field) & ((1 << SWAP_TYPE_SHIFT) - 1)


def one_device(frame: pl.DataFrame, trace: Trace | Path | str, event: str) -> pl.DataFrame:
    """Return the rows of a trace's event, which must have the swap entries of one device."""
    devices = frame.select((pl.col("entry") // (1 << SWAP_TYPE_SHIFT)).unique())
    if devices.height > 1:
        raise InputError(
            f"has swap entries of {devices.height} devices: a replay accepts one; filter the trace "
            "to one device",
            path=Path(trace) / f"{event}.parquet",
            field="entry",
        )
    return frame
