# SPDX-License-Identifier: GPL-2.0-or-later
"""Swap: pages in the swap cache and under writeback, and the calls of the slot allocator."""

from functools import partial
from typing import Final, NamedTuple

from swapsim.export.event_file import SLOTS, SWAP_CACHE, WRITEBACK, EventFile, task_track
from swapsim.export.rows import TraceRows
from swapsim.progress import Bar


class _Stays(NamedTuple):
    """A pair of events that begin and end a stay of a page."""

    begin: str
    end: str
    columns: tuple[str, ...]
    """The key of a stay, and further columns of its beginning."""
    process: int
    name: str


_KINDS: Final = (
    _Stays("swp_add", "swp_del", ("entry", "folio"), SWAP_CACHE, "in the swap cache"),
    _Stays(
        "wb_start", "wb_end", ("folio", "mapping", "index", "private"), WRITEBACK, "under writeback"
    ),
)

SLOT_EVENTS: Final = "slot_events"

_SLOT_NAMES: Final = {
    "done": "slots handed out",
    "fail": "no slot",
    "free": "slots freed",
    "reuse": "slot of a cached page tried",
}


def show_stays(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each stay of a page as a slice, and a counter of stays.

    A stay that began before the recording begins with it, and one that continues ends with it;
    both are marked.
    """
    for kind in complete_pairs(rows):
        _show_kind(kind, rows, events, bar)


def complete_pairs(rows: TraceRows) -> list[_Stays]:
    """Return the pairs of events of which the trace has both."""
    return [kind for kind in _KINDS if {kind.begin, kind.end} <= rows.columns.keys()]


def _show_kind(kind: _Stays, rows: TraceRows, events: EventFile, bar: Bar) -> None:
    columns = kind.columns
    inside: dict[object, tuple[int, dict[str, object]]] = {}
    stay = partial(events.stay, (kind.process, 0), kind.name, kind.name)
    for _, at, pid, event, values in rows.merged({kind.begin: columns, kind.end: columns}, bar):
        key = values[0]
        if event == kind.begin:
            args = {"task": pid, **dict(zip(columns, values, strict=True))}
            if key in inside:
                begin, before = inside[key]
                stay(begin, max(begin, at), before | {"end": "not recorded"})
            inside[key] = (at, args)
        else:
            begin, args = inside.pop(key, (0, {columns[0]: key, "begin": "before the recording"}))
            # Clocks of two CPUs may differ by more than a stay's length.
            end = max(begin, at)
            stay(begin, end, args | {"ended by task": pid})
        events.counter(kind.process, f"pages {kind.name}", at, {"pages": len(inside)})
    for begin, args in inside.values():
        stay(begin, rows.end, args | {"end": "after the recording"})


def show_slots(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each call as a slice of its task, with the slots that it was given.

    The device is empty at the first row, so the counter is the number of all slots in use. A call
    that is open when the recording ends is marked.
    """
    if SLOT_EVENTS not in rows.columns:
        return
    columns = ("op", "n", "offset", "base", "next", "mm")
    calls: dict[int, tuple[int, dict[str, object], list[int]]] = {}
    in_use = 0
    for _, at, pid, op, n, offset, base, after, mm in rows.of(SLOT_EVENTS, columns, bar):
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
            events.slice(track, _SLOT_NAMES[op], begin, at, args | {"next": after, "slots": slots})
        else:
            # A slot that a try freed also has a row with op free.
            in_use -= (n or 0) if op == "free" else 0
            events.instant(track, _SLOT_NAMES[op], at, {"slot": offset, "slots": n})
        events.counter(SLOTS, "slots in use", at, {"slots": in_use})
    for pid, (begin, args, slots) in calls.items():
        args |= {"slots": slots, "end": "after the recording"}
        events.slice(task_track(pid), _SLOT_NAMES["done"], begin, rows.end, args)
