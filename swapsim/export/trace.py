# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder as tracks for perfetto and chrome://tracing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from swapsim import progress as bars
from swapsim.export import instants, reclaim, removals, slots, stalls, swap_cache
from swapsim.export.event_file import EventFile, event_file, require_suffix
from swapsim.export.processes import NAMES, SLOTS, SWAP_CACHE, TASKS, WRITEBACK, task_track
from swapsim.export.rows import TraceRows, trace_rows

_SHOWN: Final = frozenset(
    {*reclaim.SHOWN, *stalls.SHOWN, *slots.SHOWN, *removals.SHOWN, *swap_cache.SHOWN}
)

_NEEDS: Final = {SWAP_CACHE: "swp_add", WRITEBACK: "wb_start", SLOTS: "slot_events"}
"""Groups of tracks that only some traces have, by their table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written.

    Attributes
    ----------
    path : Path
    events : int
        Of the format: slices, instants, counters, names.
    clock : str
        What a microsecond in the viewer is.
    left_out : tuple of str
        Tables that cannot be shown.
    """

    path: Path
    events: int
    clock: str
    left_out: tuple[str, ...] = ()

    def describe(self) -> list[str]:
        """Return what was written and how to open it, a line each."""
        lines = [f"{self.path}: {self.events} events; {self.clock}"]
        if self.left_out:
            lines.append(f"not shown, for their rows name no task: {', '.join(self.left_out)}")
        lines.append(
            "open it: ui.perfetto.dev, 'Open trace file' (it stays in your browser), or "
            "chrome://tracing, 'Load'"
        )
        return lines


def trace(folder: Path | str, output: Path | str, *, progress: bool = False) -> Exported:
    """Write a trace as tracks for perfetto and chrome://tracing (Trace Event Format).

    Pages' stays in the swap cache and under writeback are slices of their own, with counters;
    passes and lists of reclaim, sleeps and calls of the slot allocator are slices of their tasks;
    every other event is an instant with its fields. What had begun before the recording, or goes
    on after it, says so. Rows are read and written in parts; what is held is a table's columns,
    and what is open at a time.

    Parameters
    ----------
    folder : Path or str
        A trace folder.
    output : Path or str
        NAME.json, or NAME.json.gz; replaced if it is there, and whole or not there.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Exported

    Raises
    ------
    InputError
        There is no such folder, a table is not whole, nothing in it can be shown, or the output
        has another suffix or cannot be written.
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
            swap_cache.show_stays(rows, file, bar)
            reclaim.show_reclaim(rows, file, bar)
            stalls.show_stalls(rows, file, bar)
            slots.show_slots(rows, file, bar)
            removals.show_removals(rows, file, bar)
            instants.show_instants(rows, _half_shown(rows), file, bar)
        _name_tracks(rows, file)
        count = file.count
    return Exported(path=output, events=count, clock=_clock(rows), left_out=rows.unshown)


def _half_shown(rows: TraceRows) -> frozenset[str]:
    """Return the tables that are shown already: of a pair both are needed."""
    lacking = {
        event
        for event in rows.columns
        if event in swap_cache.SHOWN and not swap_cache.has_pair(event, rows)
    }
    return _SHOWN - lacking


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
