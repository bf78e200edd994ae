# SPDX-License-Identifier: GPL-2.0-or-later
"""The fields of a kernel's events that replays need, and those that a trace lacks.

The tables that an import makes of several events are complete, and are not listed.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.traces.folder import scan_event

_DELETED: Final = "mm_filemap_delete_from_page_cache"

_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "mapping": {
        "swp_add": "folio entry",
        "swp_del": "folio entry",
        "swp_free": "entry",
        "wb_start": "folio",
        "wb_end": "folio",
        "folio_move": "mapping new old",
        "mm_filemap_add_to_page_cache": "dev ino pfn ofs",
        _DELETED: "dev ino pfn ofs",
        "writeback_dirty_folio": "bdi ino index",
    },
    "removal": {
        "mm_vmscan_lru_isolate": "lru",
        "mm_vmscan_lru_shrink_inactive": "nr_reclaimed",
        "swp_del": "entry",
        _DELETED: "dev ino ofs",
    },
}
"""Replay -> event that it reads if the trace has it -> its fields."""


def not_counted(present: Iterable[str]) -> list[str]:
    """Return a line if a trace lacks an event without which writeback-tags counts less."""
    if "swp_free" in present:
        return []
    return ["no swp_free in this trace: frees, one more acquisition a page by 6.1, are not counted"]


def absent(folder: Path, events: Iterable[str]) -> list[str]:
    """Return a line for each event of a trace of which no row has a field that is needed."""
    lines = []
    for event in events:
        needed = {field for of in _FIELDS.values() for field in of.get(event, "").split()}
        schema = scan_event(folder, event).collect_schema() if needed else {}
        if lacks := sorted(needed - {*schema}):
            lines.append(
                f"no row of {event} has {', '.join(lacks)}: was the text cut short? import the "
                "complete one"
            )
    return lines


def unpaired(folder: Path | str) -> list[str]:
    """Return a line each if pages end writeback that did not start it, or start it twice.

    Writeback that still goes on at the end of a trace is no fault of it.
    """
    steps = {"wb_start": 1, "wb_end": -1}
    rows = pl.concat(
        scan_event(folder, event).select("seq", "folio", step=pl.lit(step))
        for event, step in steps.items()
    )
    before = pl.col("step").shift(1).over("folio")
    found = rows.sort("seq").select(
        starts=(pl.col("step") == 1).sum(),
        ends=(pl.col("step") == -1).sum(),
        ended=((pl.col("step") == -1) & before.ne_missing(1)).sum(),
        started=((pl.col("step") == 1) & before.eq_missing(1)).sum(),
    )
    starts, ends, ended, started = found.collect().row(0)
    faults = {
        f"{ended:,} of {ends:,} ends of writeback have no recorded start": ended,
        f"{started:,} of {starts:,} starts of writeback have no recorded end before the next": (
            started
        ),
    }
    return [f"{line}, so these figures are off" for line, number in faults.items() if number]


def lacking_fields(folder: Path | str, replay: str, present: Iterable[str]) -> list[str]:
    """Return what a trace's events lack of the fields that a replay needs, empty if nothing."""
    there = set(present)
    if replay == "removal" and "removals" in there:
        return []
    needed = _FIELDS.get(replay, {})
    return [
        text
        for event, fields in needed.items()
        if event in there
        for text in _lacking(folder, event, fields.split())
    ]


def _lacking(folder: Path | str, event: str, fields: list[str]) -> Iterator[str]:
    table = scan_event(folder, event)
    schema = table.collect_schema()
    yield from (f"{field} of {event}" for field in fields if field not in schema)
    present = [field for field in fields if field in schema]
    rows = table.select("seq", *present).collect()
    for field in present:
        if empty := rows[field].null_count():
            yield f"{field} of {event} in {empty} of {rows.height} rows"
