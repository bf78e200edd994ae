# SPDX-License-Identifier: GPL-2.0-or-later
"""Events that begin and end nothing: an instant of their task each."""

from collections.abc import Container

from swapsim.export.event_file import EventFile
from swapsim.export.processes import task_track
from swapsim.export.rows import TraceRows
from swapsim.progress import Bar


def show_instants(rows: TraceRows, besides: Container[str], events: EventFile, bar: Bar) -> None:
    """Write each row of the tables that nothing else shows, with the event's own fields."""
    for event, columns in rows.columns.items():
        if event in besides:
            continue
        for _, at, pid, *values in rows.of(event, columns, bar):
            events.instant(task_track(pid), event, at, dict(zip(columns, values, strict=True)))
