# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages in the swap cache and under writeback, each from its beginning to its end."""

from dataclasses import dataclass
from typing import Final

from swapsim.export.event_file import EventFile
from swapsim.export.processes import SWAP_CACHE, WRITEBACK
from swapsim.export.rows import TraceRows
from swapsim.progress import Bar


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stays:
    """A pair of events that begin and end a stay, and the field that identifies it."""

    begin: str
    end: str
    key: str
    extra: tuple[str, ...]
    process: int
    name: str
    counter: str


_KINDS: Final = (
    _Stays(
        begin="swp_add",
        end="swp_del",
        key="entry",
        extra=("folio",),
        process=SWAP_CACHE,
        name="in the swap cache",
        counter="pages in the swap cache",
    ),
    _Stays(
        begin="wb_start",
        end="wb_end",
        key="folio",
        extra=("mapping", "index", "private"),
        process=WRITEBACK,
        name="under writeback",
        counter="pages under writeback",
    ),
)

SHOWN: Final = tuple(event for kind in _KINDS for event in (kind.begin, kind.end))


def show_stays(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each stay of a page as a slice, and a counter of stays.

    A stay that began before the recording begins with it, and one that continues ends with it;
    both are marked.
    """
    for kind in _KINDS:
        if has_pair(kind.begin, rows):
            _show(kind, rows, events, bar)


def has_pair(event: str, rows: TraceRows) -> bool:
    """Return whether the trace has both events of an event's pair."""
    return any(
        event in (kind.begin, kind.end) and kind.begin in rows.columns and kind.end in rows.columns
        for kind in _KINDS
    )


def _show(kind: _Stays, rows: TraceRows, events: EventFile, bar: Bar) -> None:
    columns = (kind.key, *kind.extra)
    inside: dict[object, tuple[int, dict[str, object]]] = {}
    track = (kind.process, 0)
    for _, at, pid, event, values in rows.merged({kind.begin: columns, kind.end: columns}, bar):
        key = values[0]
        if event == kind.begin:
            args = {"task": pid, **dict(zip(columns, values, strict=True))}
            if key in inside:
                begin, before = inside[key]
                events.stay(
                    track,
                    kind.name,
                    kind.name,
                    begin,
                    max(begin, at),
                    before | {"end": "not recorded"},
                )
            inside[key] = (at, args)
        else:
            begin, args = inside.pop(key, (0, {kind.key: key, "begin": "before the recording"}))
            # Clocks of two CPUs may differ by more than a stay's length.
            end = max(begin, at)
            events.stay(track, kind.name, kind.name, begin, end, args | {"ended by task": pid})
        events.counter(kind.process, kind.counter, at, {"pages": len(inside)})
    for begin, args in inside.values():
        events.stay(
            track, kind.name, kind.name, begin, rows.end, args | {"end": "after the recording"}
        )
