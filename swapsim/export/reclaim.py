# SPDX-License-Identifier: GPL-2.0-or-later
"""Reclaim by the kernel's own tracepoints: passes, lists and throttles of each task."""

from dataclasses import dataclass, field
from typing import Any, Final

from swapsim.export.event_file import EventFile, Nest
from swapsim.export.processes import task_track
from swapsim.export.rows import TraceRows
from swapsim.progress import Bar

_PASSES: Final = {
    "mm_vmscan_direct_reclaim": "direct reclaim",
    "mm_vmscan_memcg_reclaim": "reclaim of a cgroup",
    "mm_vmscan_memcg_softlimit_reclaim": "reclaim by a soft limit",
}
"""Events that begin and end with one row each, ``EVENT_begin`` and ``EVENT_end``."""

_TAKEN: Final = "mm_vmscan_lru_isolate"
_SHRUNK: Final = "mm_vmscan_lru_shrink_inactive"
_THROTTLED: Final = "mm_vmscan_throttled"

SHOWN: Final = (
    *(f"{name}_{part}" for name in _PASSES for part in ("begin", "end")),
    _TAKEN,
    _SHRUNK,
    _THROTTLED,
)


@dataclass(slots=True)
class _Task:
    """A task's open passes, the list that it isolated last, and the time of its last row."""

    nest: Nest
    passes: list[tuple[str, int, dict[str, object]]] = field(default_factory=list)
    taken: tuple[int, dict[str, object]] | None = None
    last: int = 0


def show_reclaim(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write passes, lists and throttles as slices of their tasks.

    As the clocks of two CPUs may differ, a row is moved to the time of the row before it if it is
    earlier. A list lasts from the row that isolates its pages to the row with its counters; pages
    without such a row (of an active list) are an instant. The row of a throttle is written at its
    end, with its length in ticks; its slice begins no earlier than the row before it.
    """
    tasks: dict[int, _Task] = {}
    columns = {event: rows.columns[event] for event in SHOWN if event in rows.columns}
    for _, at, pid, event, values in rows.merged(columns, bar):
        if pid not in tasks:
            tasks[pid] = _Task(Nest(events, task_track(pid)))
        task = tasks[pid]
        args = dict(zip(columns[event], values, strict=True))
        now = max(at, task.last)
        _show(events, task_track(pid), task, event, now, args)
        task.last = now
        if not task.passes:
            task.nest.write()
    for pid, task in tasks.items():
        _write_isolated(events, task_track(pid), task)
        for name, begin, args in reversed(task.passes):
            end = max(rows.end, task.last)
            task.nest.keep(name, begin, end, args | {"end": "after the recording"})
        task.nest.write()


def _show(
    events: EventFile,
    track: tuple[int, int],
    task: _Task,
    event: str,
    at: int,
    args: dict[str, Any],
) -> None:
    name, _, part = event.rpartition("_")
    if name in _PASSES and part == "begin":
        _write_isolated(events, track, task)
        task.passes.append((_PASSES[name], at, args))
    elif name in _PASSES:
        _write_isolated(events, track, task)
        early = (_PASSES[name], 0, {"begin": "before the recording"})
        title, begin, before = task.passes.pop() if task.passes else early
        task.nest.keep(title, begin, at, before | args)
    elif event == _TAKEN:
        _write_isolated(events, track, task)
        task.taken = (at, args)
    elif event == _SHRUNK:
        begin, before = task.taken or (at, {})
        task.taken = None
        task.nest.keep(f"list, {before.get('lru', 'unknown')}", begin, at, before | args)
    else:
        # Linux 6.1 writes the field so, later ones too.
        slept = args.get("usect_delayed") or args.get("usec_delayed")
        begin = at - 1000 * slept if isinstance(slept, int) else at
        task.nest.keep(str(args.get("reason", event)), max(begin, task.last), at, args)


def _write_isolated(events: EventFile, track: tuple[int, int], task: _Task) -> None:
    """Write isolated pages whose counters no row has."""
    if task.taken is not None:
        at, args = task.taken
        events.instant(track, f"taken, {args.get('lru', 'unknown')}", at, args)
        task.taken = None
