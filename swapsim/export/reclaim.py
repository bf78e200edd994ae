# SPDX-License-Identifier: GPL-2.0-or-later
"""Reclaim by the kernel's own tracepoints: its passes, its lists and its sleeps, task by task."""

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
"""What begins and ends by a row each, ``EVENT_begin`` and ``EVENT_end``."""

_TAKEN: Final = "mm_vmscan_lru_isolate"
_SHRUNK: Final = "mm_vmscan_lru_shrink_inactive"
_SLEPT: Final = "mm_vmscan_throttled"

SHOWN: Final = (
    *(f"{name}_{part}" for name in _PASSES for part in ("begin", "end")),
    _TAKEN,
    _SHRUNK,
    _SLEPT,
)


@dataclass(slots=True)
class _Task:
    """What a task is in: its passes, the list that it took last, and the time of its last row."""

    nest: Nest
    passes: list[tuple[str, int, dict[str, object]]] = field(default_factory=list)
    taken: tuple[int, dict[str, object]] | None = None
    last: int = 0


def show_reclaim(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write passes, lists and sleeps as slices of their tasks.

    A row of a task is no earlier than the one before it, as clocks of two CPUs may differ. A list
    lasts from the row that took its pages off the LRU to the one that sums it up; pages that are
    taken and not summed up (of an active list) are an instant. A sleep is told when it is over,
    with its length in whole ticks: it begins no sooner than the row before it.
    """
    tasks: dict[int, _Task] = {}
    told = {event: rows.columns[event] for event in SHOWN if event in rows.columns}
    for _, at, pid, event, values in rows.merged(told, bar):
        if pid not in tasks:
            tasks[pid] = _Task(Nest(events, task_track(pid)))
        task = tasks[pid]
        args = dict(zip(told[event], values, strict=True))
        now = max(at, task.last)
        _show(events, task_track(pid), task, event, now, args)
        task.last = now
        if not task.passes:
            task.nest.write()
    for pid, task in tasks.items():
        _forget_list(events, task_track(pid), task)
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
        _forget_list(events, track, task)
        task.passes.append((_PASSES[name], at, args))
    elif name in _PASSES:
        _forget_list(events, track, task)
        early = (_PASSES[name], 0, {"begin": "before the recording"})
        title, begin, before = task.passes.pop() if task.passes else early
        task.nest.keep(title, begin, at, before | args)
    elif event == _TAKEN:
        _forget_list(events, track, task)
        task.taken = (at, args)
    elif event == _SHRUNK:
        begin, before = task.taken or (at, {})
        task.taken = None
        task.nest.keep(f"list, {before.get('lru', 'untold')}", begin, at, before | args)
    else:
        # Linux 6.1 writes the field so, later ones too.
        slept = args.get("usect_delayed") or args.get("usec_delayed")
        begin = at - 1000 * slept if isinstance(slept, int) else at
        task.nest.keep(str(args.get("reason", event)), max(begin, task.last), at, args)


def _forget_list(events: EventFile, track: tuple[int, int], task: _Task) -> None:
    """Pages that were taken, and that no row sums up."""
    if task.taken is not None:
        at, args = task.taken
        events.instant(track, f"taken, {args.get('lru', 'untold')}", at, args)
        task.taken = None
