# SPDX-License-Identifier: GPL-2.0-or-later
"""What a table must hold before tracks are made of it: nobody vouches that a kernel wrote it."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.frames.files import require_values
from swapsim.frames.table import require
from swapsim.removal.tables import REMOVALS
from swapsim.slots.tables import SLOT_EVENTS
from swapsim.stall.tables import RECLAIM_FOLIOS, RECLAIM_LISTS, RECLAIM_PASSES
from swapsim.traces import require_order

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
"""Columns by whose values slices begin and end, or counters count, by their table."""

_MAY_LACK: Final = frozenset({("slot_events", "n"), ("reclaim_lists", "pass")})

_LONGEST_NS: Final = 1 << 62
"""Of a recording: twice as long fits no clock."""


def require_columns(event: str, schema: pl.Schema) -> None:
    """Refuse a table with columns that no event has, or without those that tracks are made by."""
    for name, dtype in schema.items():
        if not (dtype.is_integer() or dtype in (pl.Boolean, pl.String, pl.Enum, pl.Null)):
            raise InputError(f"holds {dtype}, as no event does: make the table again", field=name)
    needed = _COMPUTED.get(event, pl.Schema())
    there = {name: dtype for name, dtype in schema.items() if name in needed}
    require(pl.DataFrame(schema=there).select(n for n in needed if n in there), needed, event)


def require_rows(event: str, rows: pl.DataFrame) -> None:
    """Refuse rows that say not when, whose and what they are, or stand in no order."""
    computed = (name for name in _COMPUTED.get(event, ()) if (event, name) not in _MAY_LACK)
    require_values(rows, [name for name in ("seq", "pid", *computed) if name in rows.columns])
    require_order(rows)


def require_length(first: int, last: int, unit_ns: int) -> None:
    """Refuse a recording of a length that is none."""
    if not -_LONGEST_NS < first <= last < _LONGEST_NS or (last - first) * unit_ns > _LONGEST_NS:
        raise InputError(
            f"lasts from {first} to {last}, longer than a recording can: capture it again"
        )
