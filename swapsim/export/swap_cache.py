# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages in the swap cache and under writeback, each from its coming to its going."""

from dataclasses import dataclass
from typing import Final

from swapsim.export.event_file import EventFile
from swapsim.export.processes import SWAP_CACHE, WRITEBACK
from swapsim.export.rows import TraceRows
from swapsim.progress import Bar


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stays:
    """A pair of events: what comes and goes, and what tells one from another."""

    begin: str
    end: str
    key: str
    told: tuple[str, ...]
    process: int
    name: str
    counter: str


_KINDS: Final = (
    _Stays(
        begin="swp_add",
        end="swp_del",
        key="entry",
        told=("folio",),
        process=SWAP_CACHE,
        name="in the swap cache",
        counter="pages in the swap cache",
    ),
    _Stays(
        begin="wb_start",
        end="wb_end",
        key="folio",
        told=("mapping", "index", "private"),
        process=WRITEBACK,
        name="under writeback",
        counter="pages under writeback",
    ),
)

SHOWN: Final = tuple(event for kind in _KINDS for event in (kind.begin, kind.end))


def show_stays(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each stay of a page as a slice of its own, and how many there are at a time.

    One that had begun before the recording begins with it, one that goes on ends with it; both say
    so.
    """
    for kind in _KINDS:
        if has_pair(kind.begin, rows):
            _show(kind, rows, events, bar)


def has_pair(event: str, rows: TraceRows) -> bool:
    """Whether the trace has what comes and what goes of an event's kind."""
    return any(
        event in (kind.begin, kind.end) and kind.begin in rows.columns and kind.end in rows.columns
        for kind in _KINDS
    )


def _show(kind: _Stays, rows: TraceRows, events: EventFile, bar: Bar) -> None:
    columns = (kind.key, *kind.told)
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
