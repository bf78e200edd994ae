# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder as tracks for perfetto and chrome://tracing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from swapsim import progress as bars
from swapsim.export import tracks
from swapsim.export.event_file import (
    NAMES,
    SLOTS,
    SWAP_CACHE,
    TASKS,
    WRITEBACK,
    EventFile,
    event_file,
    require_suffix,
    task_track,
)
from swapsim.export.rows import TraceRows, trace_rows

_NEEDS: Final = {SWAP_CACHE: "swp_add", WRITEBACK: "wb_start", SLOTS: tracks.SLOT_EVENTS}
"""Process -> the table without which it is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A written file."""

    path: Path
    events: int
    """Slices, instants, counters and names."""
    clock: str
    """Meaning of a microsecond in the viewer."""
    left_out: tuple[str, ...] = ()
    """Tables that cannot be shown."""

    def describe(self) -> list[str]:
        """Return lines that describe the file and how to open it."""
        lines = [f"{self.path}: {self.events} events; {self.clock}"]
        if self.left_out:
            lines.append(f"not shown, because their rows name no task: {', '.join(self.left_out)}")
        lines.append(
            "open it: ui.perfetto.dev, 'Open trace file' (it stays in your browser), or "
            "chrome://tracing, 'Load'"
        )
        return lines


def trace(folder: Path | str, output: Path | str, *, progress: bool = False) -> Exported:
    """Write a trace as tracks for perfetto and chrome://tracing (Trace Event Format).

    Stays of pages in the swap cache and under writeback are slices of their own, with counters;
    passes and lists of reclaim, throttles and calls of the slot allocator are slices of their
    tasks; each other event is an instant with its fields. What begins before the recording or ends
    after it is marked. Rows are read and written in parts; memory is needed for one table's columns
    and for what is open at a time.

    Parameters
    ----------
    folder : Path or str
        A trace folder.
    output : Path or str
        NAME.json, or NAME.json.gz; replaced atomically if it exists.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Exported

    Raises
    ------
    InputError
        There is no such folder, a table is damaged, none can be shown, or the output has another
        suffix or cannot be written.
    """
    folder, output = Path(folder), Path(output)
    require_suffix(output)
    rows = trace_rows(folder)
    about = {
        "made by": "swapsim export",
        "trace": folder.resolve().name,
        "clock": _clock(rows),
        "first row": f"{rows.first} ns" if rows.timed else f"seq {rows.first}",
    }
    with event_file(output, about) as file:
        with bars.bar(rows.height, f"export {folder.name}", "rows", shown=progress) as bar:
            tracks.show_stays(rows, file, bar)
            tracks.show_tracepoints(rows, file, bar)
            tracks.show_decisions(rows, file, bar)
            tracks.show_slots(rows, file, bar)
            tracks.show_removals(rows, file, bar)
            _show_instants(rows, file, bar)
        _name_tracks(rows, file)
        count = file.count
    return Exported(path=output, events=count, clock=_clock(rows), left_out=rows.unshown)


def _show_instants(rows: TraceRows, events: EventFile, bar: bars.Bar) -> None:
    """Write each row of all other tables, and of incomplete pairs, as an instant."""
    paired = {event for kind in tracks.complete_pairs(rows) for event in (kind.begin, kind.end)}
    for event, columns in rows.columns.items():
        if event in paired or event in tracks.SHOWN:
            continue
        for _, at, pid, *values in rows.of(event, columns, bar):
            events.instant(task_track(pid), event, at, dict(zip(columns, values, strict=True)))


def _clock(rows: TraceRows) -> str:
    if rows.timed:
        return "time is the recording's, from its first row"
    return "the recording has no clock for all of its rows: a microsecond stands for a row"


def _name_tracks(rows: TraceRows, file: EventFile) -> None:
    file.name_process(TASKS, NAMES[TASKS])
    for process, event in _NEEDS.items():
        if event in rows.columns:
            file.name_process(process, NAMES[process])
    for pid, name in sorted(rows.names.items()):
        file.name_thread(task_track(pid), f"{name} {pid}")
