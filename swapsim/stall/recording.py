# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of a real kernel's reclaim: its tables, each row checked against itself."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.frames.parquet_file import require_values
from swapsim.frames.table import require
from swapsim.stall.tables import (
    RECLAIM_CLEARS,
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    RECLAIM_ROUNDS,
    THROTTLES,
)
from swapsim.traces.folder import event_names, provenance, read_event, require_order

_NO_SEQ: Final = (1 << 64) - 1
PRIORITY_MAX: Final = 12
FLAGS_ALL: Final = 7

SCHEMAS: Final[Mapping[str, pl.Schema]] = {
    "reclaim_folios": RECLAIM_FOLIOS.schema,
    "reclaim_lists": RECLAIM_LISTS.schema,
    "reclaim_passes": RECLAIM_PASSES.schema,
    "throttles": THROTTLES.schema,
    "reclaim_rounds": RECLAIM_ROUNDS.schema,
    "reclaim_clears": RECLAIM_CLEARS.schema,
}
"""By the name of the table's event."""

NEEDED: Final = ("reclaim_folios", "reclaim_lists", "reclaim_passes")
"""Without these there is nothing to judge; of the others a recording may have had no row."""

Contradiction = tuple[str, pl.Expr, str]

_NULLABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "reclaim_folios": (
        "fs_dirty",
        "fs_writeback",
        "buffers",
        "congested",
        "clean",
        "under_writeback",
        "node_flags",
        "marked",
    ),
    "reclaim_passes": ("throttle",),
    "throttles": ("congested_devices", "flags"),
    "reclaim_rounds": ("throttle",),
}
"""What a row of a table may have no value for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimRows:
    """A trace of reclaim.

    Attributes
    ----------
    folios, lists, passes, throttles, rounds, clears : polars.DataFrame
        Schemas RECLAIM_FOLIOS, RECLAIM_LISTS, RECLAIM_PASSES, THROTTLES, RECLAIM_ROUNDS and
        RECLAIM_CLEARS, each sorted by seq.
    """

    folios: pl.DataFrame
    lists: pl.DataFrame
    passes: pl.DataFrame
    throttles: pl.DataFrame
    rounds: pl.DataFrame
    clears: pl.DataFrame


def reclaim_rows(folder: Path | str) -> ReclaimRows:
    """Read what a trace folder holds of reclaim.

    Returns
    -------
    ReclaimRows
        A table without a file has no rows: its event did not occur.

    Raises
    ------
    InputError
        A needed table is missing, or as `check_reclaim_rows`.
    """
    provenance(folder)
    there = {*event_names(Path(folder)), *NEEDED}
    read = [
        read_event(folder, name, schema, may_be_null=_NULLABLE.get(name, ()))
        if name in there
        else pl.DataFrame(schema=schema)
        for name, schema in SCHEMAS.items()
    ]
    names = (field.name for field in fields(ReclaimRows))
    rows = ReclaimRows(**dict(zip(names, read, strict=True)))
    try:
        return check_reclaim_rows(rows)
    except InputError as error:
        raise error.of(folder) from None


def check_reclaim_rows(rows: ReclaimRows) -> ReclaimRows:
    """Return the rows if each holds what one row can hold.

    Raises
    ------
    InputError
        A table has another schema, a value is missing, rows are out of order, or a row contradicts
        itself: named by its seq.
    """
    tables = {
        table: getattr(rows, field.name)
        for field, table in zip(fields(ReclaimRows), SCHEMAS, strict=True)
    }
    for name, table in tables.items():
        _check_table(table, name)
        for field, wrong, told in _CONTRADICTIONS[name]:
            faulty = table.filter(wrong)
            if faulty.height:
                raise _fault(name, field, faulty, f"{told}: capture the trace again")
    _check_shared_numbers(tables)
    return rows


def _fault(table: str, field: str, rows: pl.DataFrame, told: str) -> InputError:
    """Name the first of these rows, with the value at fault."""
    first = rows.row(0, named=True)
    return InputError(
        f"the row with seq {first['seq']} has {field} {first[field]}: {told}",
        field=f"{table}.{field}",
    )


def _check_table(table: pl.DataFrame, name: str) -> None:
    require(table, SCHEMAS[name], name)
    try:
        nullable = _NULLABLE.get(name, ())
        require_values(table, [column for column in table.columns if column not in nullable])
        require_order(table)
    except InputError as error:
        raise error.of(name) from None


def _check_shared_numbers(tables: Mapping[str, pl.DataFrame]) -> None:
    """Refuse a seq that two tables share: their rows would have no order."""
    small = pl.concat(
        [
            table.select("seq", table=pl.lit(name))
            for name, table in tables.items()
            if name != "reclaim_folios"
        ]
    )
    # The row after the last one is none's.
    none = pl.Series("seq", [_NO_SEQ], dtype=pl.UInt64)
    folios = pl.concat([tables["reclaim_folios"]["seq"], none])
    at = folios.search_sorted(small["seq"])
    shared = small.filter(small["seq"].is_duplicated() | (folios.gather(at) == small["seq"]))
    if shared.height:
        raise _fault(shared["table"][0], "seq", shared, "another table's row has it, too")


def _above(field: str, other: str, told: str) -> Contradiction:
    return field, pl.col(field) > pl.col(other), told


def _unknown_flags(*names: str) -> list[Contradiction]:
    return [(name, pl.col(name) > FLAGS_ALL, "1, 2 and 4 are known") for name in names]


def _unknown_priority() -> Contradiction:
    return (
        "priority",
        ~pl.col("priority").is_between(0, PRIORITY_MAX),
        f"it lies between 0 and {PRIORITY_MAX}",
    )


def _none(*names: str) -> list[Contradiction]:
    return [(name, pl.col(name) == 0, "it counts from 1") for name in names]


def _counters() -> list[Contradiction]:
    """List what contradicts in counters of a list, or of a pass."""
    return [
        _above("unqueued_dirty", "dirty", "more than are dirty"),
        _above("dirty", "scanned", "more than were looked at"),
        _above("congested", "scanned", "more than were looked at"),
        (
            "writeback",
            pl.col("writeback").cast(pl.UInt64) + pl.col("immediate") > pl.col("scanned"),
            "with immediate more than were looked at",
        ),
        *_unknown_flags("flags_before", "flags_after", "flags_set"),
        _unknown_priority(),
    ]


_UNASKED: Final = pl.col("fs_dirty").is_null()

_CONTRADICTIONS: Final[Mapping[str, list[Contradiction]]] = {
    "reclaim_folios": [
        *_none("list", "pages", "pages_end"),
        *_unknown_flags("node_flags"),
        _above("pages_end", "pages", "more than it had"),
        (
            "fs_dirty",
            (pl.col("fs_writeback").is_null() != _UNASKED)
            | (pl.col("buffers").is_null() != _UNASKED),
            "fs_writeback and buffers are told with it, or none of them",
        ),
        (
            "private",
            ~_UNASKED & ~pl.col("private"),
            "its file system is asked only for private data",
        ),
        (
            "under_writeback",
            pl.col("under_writeback").is_null() != pl.col("node_flags").is_null(),
            "node_flags are told with it, or not",
        ),
        (
            "clean",
            (pl.col("step") == "written") & pl.col("clean").is_null(),
            "a written one came back clean or did not",
        ),
    ],
    "reclaim_lists": [
        *_none("list", "taken"),
        *_counters(),
        _above("reclaimed", "taken", "more than were taken"),
    ],
    "reclaim_passes": [
        *_none("pass"),
        *_counters(),
        _above("file_taken", "taken", "more than were taken"),
    ],
    "throttles": [
        *_unknown_flags("flags"),
        ("delayed_us", (pl.col("timeout_us") == 0) & (pl.col("delayed_us") > 0), "it was declined"),
    ],
    "reclaim_rounds": [*_none("pass"), _unknown_priority()],
    "reclaim_clears": [*_none("flags"), *_unknown_flags("flags")],
}
"""By table: the field at fault, when it is, and what is wrong then."""
