# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a recording of a real kernel's reclaim: read, and each row checked."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from swapsim.errors import errors_of
from swapsim.ffi import STALL_FLAGS_ALL, STALL_PRIORITY_MAX
from swapsim.stall.tables import (
    RECLAIM_CLEARS,
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    RECLAIM_ROUNDS,
    THROTTLES,
)
from swapsim.tables import Table
from swapsim.traces.folder import event_names, provenance, read_event
from swapsim.traces.verification import check_tables, refuse

TABLES: Final[Mapping[str, Table]] = {
    "reclaim_folios": RECLAIM_FOLIOS,
    "reclaim_lists": RECLAIM_LISTS,
    "reclaim_passes": RECLAIM_PASSES,
    "throttles": THROTTLES,
    "reclaim_rounds": RECLAIM_ROUNDS,
    "reclaim_clears": RECLAIM_CLEARS,
}
"""The tables of a recording by the names of their events."""

NEEDED: Final = ("reclaim_folios", "reclaim_lists", "reclaim_passes")
"""Tables that a recording must have; events of the others may not have occurred."""

_NULLABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "reclaim_folios": (
        *("fs_dirty", "fs_writeback", "buffers", "congested"),
        *("clean", "under_writeback", "node_flags", "marked"),
    ),
    "reclaim_passes": ("throttle",),
    "throttles": ("congested_devices", "flags"),
    "reclaim_rounds": ("throttle",),
}
"""Columns in which a row of a table may have no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimRows:
    """The tables of a recording (RECLAIM_FOLIOS and so on), each sorted by seq.

    InputError if a table has another schema, is out of order, shares a seq with another one, or has
    a row that contradicts itself.
    """

    folios: pl.DataFrame
    lists: pl.DataFrame
    passes: pl.DataFrame
    throttles: pl.DataFrame
    rounds: pl.DataFrame
    clears: pl.DataFrame

    def __post_init__(self) -> None:
        """Require rows that a kernel can write."""
        parts = (getattr(self, field.name) for field in fields(self))
        frames = dict(zip(TABLES, parts, strict=True))
        check_tables(frames, TABLES, _NULLABLE, may_be_empty=True)
        for name, frame in frames.items():
            for field, wrong, why in _CONTRADICTIONS[name]:
                _refuse_field(name, field, frame.filter(wrong), why)
        _check_shared_seq(frames)


def reclaim_rows(folder: Path | str) -> ReclaimRows:
    """Read the tables of a trace of reclaim; one without a file is empty: its event did not occur.

    InputError: a needed table is missing, or as for `ReclaimRows`.
    """
    provenance(folder)
    found = {*event_names(folder), *NEEDED}
    read = (
        read_event(folder, name, table.schema, may_be_null=_NULLABLE.get(name, ()))
        if name in found
        else pl.DataFrame(schema=table.schema)
        for name, table in TABLES.items()
    )
    with errors_of(folder):
        return ReclaimRows(**{part.name: next(read) for part in fields(ReclaimRows)})


# Rows that contradict themselves or each other.


def _refuse_field(table: str, field: str, rows: pl.DataFrame, why: str) -> None:
    """Raise an InputError about a field of the first of these rows, if there is one."""
    what = f"the row with seq {{seq}} has {field} {{{field}}}: {why}"
    refuse(rows, what, field=f"{table}.{field}")


def _check_shared_seq(frames: Mapping[str, pl.DataFrame]) -> None:
    """Refuse a seq that two tables share: their rows would have no order."""
    small = pl.concat(
        frame.select("seq", table=pl.lit(name))
        for name, frame in frames.items()
        if name != "reclaim_folios"
    )
    folios, others = (frame["seq"].to_numpy() for frame in (frames["reclaim_folios"], small))
    of_folio = np.searchsorted(folios, others, "right") > np.searchsorted(folios, others)
    shared = small.filter(pl.col("seq").is_duplicated() | pl.Series(of_folio))
    for table in shared["table"].head(1):
        _refuse_field(table, "seq", shared, "another table has a row of the same seq")


_Contradiction = tuple[str, pl.Expr, str]


def _above(field: str, other: str, why: str) -> _Contradiction:
    return field, pl.col(field) > pl.col(other), why


def _unknown_flags(*names: str) -> list[_Contradiction]:
    return [(name, pl.col(name) > STALL_FLAGS_ALL, "1, 2 and 4 are known") for name in names]


def _zero(*names: str) -> list[_Contradiction]:
    return [(name, pl.col(name) == 0, "it counts from 1") for name in names]


_PRIORITY: Final = (
    "priority",
    ~pl.col("priority").is_between(0, STALL_PRIORITY_MAX),
    f"it lies between 0 and {STALL_PRIORITY_MAX}",
)
_COUNTERS: Final = [
    _above("unqueued_dirty", "dirty", "more than are dirty"),
    _above("dirty", "scanned", "more than were scanned"),
    _above("congested", "scanned", "more than were scanned"),
    (
        "writeback",
        pl.col("writeback").cast(pl.UInt64) + pl.col("immediate") > pl.col("scanned"),
        "with immediate more than were scanned",
    ),
    *_unknown_flags("flags_before", "flags_after", "flags_set"),
    _PRIORITY,
]
_UNASKED: Final = pl.col("fs_dirty").is_null()
_CONTRADICTIONS: Final[Mapping[str, list[_Contradiction]]] = {
    "reclaim_folios": [
        *_zero("list", "pages", "pages_end"),
        *_unknown_flags("node_flags"),
        _above("pages_end", "pages", "more than it had"),
        (
            "fs_dirty",
            (pl.col("fs_writeback").is_null() != _UNASKED)
            | (pl.col("buffers").is_null() != _UNASKED),
            "fs_dirty, fs_writeback and buffers have values together or not at all",
        ),
        ("private", ~_UNASKED & ~pl.col("private"), "only private data is asked about"),
        (
            "under_writeback",
            pl.col("under_writeback").is_null() != pl.col("node_flags").is_null(),
            "node_flags has a value with it, or neither has",
        ),
        (
            "clean",
            (pl.col("step") == "written") & pl.col("clean").is_null(),
            "a written folio came back clean or did not",
        ),
    ],
    "reclaim_lists": [
        *_zero("list", "taken"),
        *_COUNTERS,
        _above("reclaimed", "taken", "more than were taken"),
    ],
    "reclaim_passes": [
        *_zero("pass"),
        *_COUNTERS,
        _above("file_taken", "taken", "more than were taken"),
    ],
    "throttles": [
        *_unknown_flags("flags"),
        (
            "flags",
            (pl.col("reason") == "wait_iff_congested") & pl.col("flags").is_null(),
            "wait_iff_congested reads them",
        ),
        ("delayed_us", (pl.col("timeout_us") == 0) & (pl.col("delayed_us") > 0), "it was skipped"),
    ],
    "reclaim_rounds": [*_zero("pass"), _PRIORITY],
    "reclaim_clears": [*_zero("flags"), *_unknown_flags("flags")],
}
"""For each table: the field at fault, when a row contradicts itself, and what is wrong then."""
