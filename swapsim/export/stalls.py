# SPDX-License-Identifier: GPL-2.0-or-later
"""Reclaim as a kernel that tells its decisions wrote it: passes, lists, sleeps."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from swapsim.export.event_file import EventFile, Nest
from swapsim.export.processes import task_track
from swapsim.export.rows import TraceRows
from swapsim.progress import Bar

_FOLIO: Final = "reclaim_folios"
_LIST: Final = "reclaim_lists"
_PASS: Final = "reclaim_passes"
_ASKER: Final = "throttle_askers"
_SLEEP: Final = "throttles"

SHOWN: Final = (_FOLIO, _LIST, _PASS, _ASKER, _SLEEP)


@dataclass(slots=True)
class _State:
    """Where lists, passes and sleeps that are under way began."""

    lists: dict[int, tuple[int, Counter[str]]] = field(default_factory=dict)
    passes: dict[int, int] = field(default_factory=dict)
    sleeps: dict[int, int] = field(default_factory=dict)
    nests: dict[int, Nest] = field(default_factory=dict)


def show_stalls(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write passes, lists and sleeps as slices of their tasks.

    A list lasts from the first folio that was looked at to the row that sums it up, and says how
    many folios came to what; a pass from its first list to its own row; a sleep from the row of
    who asked for it.
    """
    told: dict[str, tuple[str, ...]] = {
        event: rows.columns[event] for event in SHOWN if event in rows.columns
    }
    told |= {_FOLIO: ("list", "outcome")} if _FOLIO in told else {}
    state = _State()
    for _, at, pid, event, values in rows.merged(told, bar):
        args = dict(zip(told[event], values, strict=True))
        if pid not in state.nests:
            state.nests[pid] = Nest(events, task_track(pid))
        _show(state, pid, event, at, args)
    for nest in state.nests.values():
        nest.write()


def _show(state: _State, pid: int, event: str, at: int, args: dict[str, Any]) -> None:
    nest = state.nests[pid]
    if event == _FOLIO:
        _, outcomes = state.lists.setdefault(args["list"], (at, Counter()))
        outcomes[args["outcome"]] += 1
    elif event == _LIST:
        begin, outcomes = state.lists.pop(args["list"], (at, Counter[str]()))
        of_pass = args.get("pass")
        if of_pass is not None:
            state.passes.setdefault(of_pass, begin)
        kind = "list, file" if args.get("file") else "list, anon"
        folios = {f"folios {name}": n for name, n in sorted(outcomes.items())}
        nest.keep(kind, begin, at, args | folios)
    elif event == _PASS:
        begin = state.passes.pop(args["pass"], at)
        name = "pass of kswapd" if args.get("kswapd") else "pass of a task"
        nest.keep(name, begin, at, args)
        nest.write()
    elif event == _ASKER:
        state.sleeps[pid] = at
    else:
        begin = state.sleeps.pop(pid, at)
        nest.keep(f"throttled: {args.get('reason')}", begin, at, args)
