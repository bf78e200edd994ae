# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages that reclaim removed from their mappings, list by list."""

from typing import Any, Final

from swapsim.export.event_file import EventFile
from swapsim.export.processes import task_track
from swapsim.export.rows import TraceRows
from swapsim.progress import Bar

_EVENTS: Final = "removals"
_COLUMNS: Final = ("list", "mapping", "swap", "removed")

SHOWN: Final = (_EVENTS,)


def show_removals(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each list as a slice of its task, from its first removal to its last."""
    if _EVENTS not in rows.columns:
        return
    lists: dict[int, tuple[int, list[tuple[int, Any, bool, bool]]]] = {}
    for _, at, pid, number, mapping, swap, removed in rows.of(_EVENTS, _COLUMNS, bar):
        if pid in lists and lists[pid][0] != number:
            _show(events, pid, *lists.pop(pid))
        lists.setdefault(pid, (number, []))[1].append((at, mapping, swap, removed))
    for pid in sorted(lists):
        _show(events, pid, *lists[pid])


def _show(
    events: EventFile, pid: int, number: int, pages: list[tuple[int, Any, bool, bool]]
) -> None:
    args = {
        "list": number,
        "pages": len(pages),
        "of the swap cache": sum(swap for _, _, swap, _ in pages),
        "removed": sum(removed for *_, removed in pages),
        "mappings": len({mapping for _, mapping, _, _ in pages}),
    }
    events.slice(task_track(pid), "removals of a list", pages[0][0], pages[-1][0], args)
