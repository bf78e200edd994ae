# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracks of slot events: calls of the allocator, freed slots, and the number in use."""

from typing import Any, Final

from swapsim.export.event_file import EventFile
from swapsim.export.processes import SLOTS, task_track
from swapsim.export.rows import TraceRows
from swapsim.progress import Bar

_EVENTS: Final = "slot_events"
_COLUMNS: Final = ("op", "n", "offset", "base", "next", "mm")

SHOWN: Final = (_EVENTS,)


def show_slots(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each call as a slice of its task, with the slots that it was given.

    The device is empty at the first row, so the counter is the number of all slots in use. A call
    that is open when the recording ends is marked.
    """
    if _EVENTS not in rows.columns:
        return
    calls: dict[int, tuple[int, dict[str, object], list[int]]] = {}
    in_use = 0
    for _, at, pid, op, n, offset, base, after, mm in rows.of(_EVENTS, _COLUMNS, bar):
        track = task_track(pid)
        if op == "call":
            calls[pid] = (at, {"wanted": n, "base": base, "mm": mm}, [])
            continue
        if op == "alloc":
            in_use += 1
            if pid in calls:
                calls[pid][2].append(offset)
            continue
        if op in ("done", "fail"):
            begin, args, slots = calls.pop(pid, (at, {"begin": "before the recording"}, []))
            events.slice(track, _NAMES[op], begin, at, args | {"next": after, "slots": slots})
        else:
            # A slot that a try freed also has a row with op free.
            in_use -= (n or 0) if op == "free" else 0
            events.instant(track, _NAMES[op], at, {"slot": offset, "slots": n})
        events.counter(SLOTS, "slots in use", at, {"slots": in_use})
    for pid, (begin, args, slots) in calls.items():
        more: dict[str, Any] = {"slots": slots, "end": "after the recording"}
        events.slice(task_track(pid), _NAMES["done"], begin, rows.end, args | more)


_NAMES: Final = {
    "done": "slots handed out",
    "fail": "no slot",
    "free": "slots freed",
    "reuse": "slot of a cached page tried",
}
