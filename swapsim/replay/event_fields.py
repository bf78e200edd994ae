# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of a trace's events as whole numbers, and what a swap entry says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.traces import scan_event

SWAP_TYPE_SHIFT: Final = 58
"""A swap entry's type stands above this bit (include/linux/swapops.h, 5.7 to 6.1)."""

PAGE_BYTES: Final = 4096
"""A page cache event's ``ofs`` counts bytes."""

_WORDS: Final = ("dev", "bdi", "lru")


def scan_fields(
    folder: Path | str, event: str, fields: Sequence[str], optional: Sequence[str] = ()
) -> pl.LazyFrame:
    """Scan seq, pid and the fields of one event; whole numbers become UInt64.

    Raises
    ------
    InputError
        The trace lacks the event, or the event a field, or a field holds something else.
    """
    table = scan_event(folder, event)
    schema = table.collect_schema()
    where = Path(folder) / f"{event}.parquet"
    missing = [field for field in fields if field not in schema]
    if missing:
        raise InputError(
            f"the event has no such field; it has: {', '.join(schema)}",
            path=where,
            field=missing[0],
        )
    taken = [*fields, *(field for field in optional if field in schema)]
    for field in taken:
        if field not in _WORDS and not schema[field].is_integer():
            raise InputError(
                f"holds {schema[field]} where a whole number is needed: import the trace again",
                path=where,
                field=field,
            )
    return table.select("seq", "pid", *(_unsigned(field) for field in taken))


def swap_offset(field: str) -> pl.Expr:
    """Take the slot out of a swap entry."""
    return pl.col(field) & ((1 << SWAP_TYPE_SHIFT) - 1)


def one_device(frame: pl.DataFrame, event: str) -> pl.DataFrame:
    """Return the rows of an event if their swap entries are of one device.

    Raises
    ------
    InputError
        They are of several.
    """
    devices = frame.select((pl.col("entry") // (1 << SWAP_TYPE_SHIFT)).unique())
    if devices.height > 1:
        raise InputError(
            f"event {event} has swap entries of {devices.height} devices: "
            "a replay takes one; filter the trace to one device",
            field="entry",
        )
    return frame


def _unsigned(field: str) -> pl.Expr:
    """Read a field's bits as unsigned: a kprobe may print an address as a negative number."""
    if field in _WORDS or field == "t_ns":
        return pl.col(field)
    return pl.col(field).cast(pl.UInt64, wrap_numerical=True)
