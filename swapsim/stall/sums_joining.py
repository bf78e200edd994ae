# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of probes in a stock 7.3's reclaim, joined to STALL_LISTS and STALL_PASSES.

``data/capture/throttles/events.toml`` has the probes. What a task does between the begin and the
end of shrink_node is a pass; its events are in the order of time.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi import STALL_SLEEPS
from swapsim.stall.tables import STALL_LISTS, STALL_PASSES, SUMMED
from swapsim.traces import CLOCK, JoinedEvents
from swapsim.traces.verification import require_fields

_FLAGS: Final = ("node_flags", "root_flags", "own_flags")
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "stall_pass": ("target", "root", "generations", "hierarchy", "priority", "node"),
    "stall_list": ("taken", "counts", "sums"),
    "stall_wake": ("reason",),
    "stall_sums": ("tree", *_FLAGS),
    "stall_throttle": ("reason",),
    "mm_vmscan_throttled": ("usect_delayed", "reason"),
    "stall_pass_end": ("sums", *_FLAGS),
    "stall_direct_end": (),
    "stall_ready": ("ready", "failures"),
}
"""The events, and their fields."""

_NEEDED: Final = ("stall_pass", "stall_list", "stall_pass_end")
_AFTER_LISTS: Final = frozenset(
    {"stall_sums", "stall_throttle", "stall_pass_end", "stall_direct_end", "stall_ready"}
)
"""Events after which a wake-up is not that of the task's last list."""
_BY_RECLAIM: Final = 1
"""WB_REASON_VMSCAN (include/linux/backing-dev-defs.h)."""
_HOPELESS: Final = 16
"""MAX_RECLAIM_RETRIES: failures after which a node keeps its flags (mm/internal.h)."""
_DECIDED_BY: Final = tuple(STALL_SLEEPS.index(name) for name in ("writeback", "congested"))
"""Reasons of the throttles that a pass decides."""
_NEVER: Final = 2**63 - 1
_COUNTS: Final = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate")

_Row = dict[str, Any]


def join(frames: Mapping[str, pl.DataFrame], _head: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return STALL_LISTS and STALL_PASSES by the names of their files."""
    if "stall_list" not in frames:
        return {name: frame.drop(CLOCK) for name, frame in frames.items()}
    _check(frames)
    walk = _Walk()
    head = ("t_ns", "seq", "cpu", "pid", "comm")
    events = [
        {**row, "event": name}
        for name, fields in _FIELDS.items()
        if name in frames
        for row in frames[name].select(*head, *fields).iter_rows(named=True)
    ]
    for row in sorted(events, key=lambda row: (row["t_ns"], row["seq"])):
        walk.take(row)
    passes = walk.decided()
    rows = sorted([*walk.lists, *passes], key=lambda row: (row["t_ns"], row["seq"]))
    for seq, row in enumerate(rows):
        row["seq"] = seq
    tables = {"stall_lists": (walk.lists, STALL_LISTS), "stall_passes": (passes, STALL_PASSES)}
    return {
        name: pl.DataFrame([{each: row.get(each) for each in table} for row in found], table)
        for name, (found, table) in tables.items()
    }


JOINED_EVENTS: Final = JoinedEvents(events=frozenset(_FIELDS), join=join)
"""What `traces.import_text` makes of the probes' events."""


def _check(frames: Mapping[str, pl.DataFrame]) -> None:
    require_fields(frames, _FIELDS, _NEEDED, "stalls")
    passes = frames["stall_pass"]
    for name, why in (
        ("hierarchy", "its memory cgroups are of version 1, where reclaim waits by other rules"),
        ("node", "it has several memory nodes, and the probes read the flags of the first"),
    ):
        if (passes[name] != 0).any():
            raise InputError(f"{why}: record another machine", field=name)
    if (passes["target"] == passes["root"]).any():
        raise InputError(
            "the root cgroup was reclaimed by memory.reclaim, which is not modelled", field="target"
        )


def _overlaps(spans: list[list[int]], begin: int, end: int) -> bool:
    """Return whether one of a task's spans, which follow each other, overlaps these times."""
    begun = bisect_right(spans, end, key=lambda span: span[0])
    return bool(begun) and spans[begun - 1][1] >= begin


def _array(text: str) -> list[int]:
    return [int(number) for number in text.strip("{}").split(",")]


@dataclass(slots=True)
class _Task:
    """What a task does: its pass, and the list that it processed last."""

    turn: _Row = field(default_factory=dict)
    last: _Row = field(default_factory=dict)


class _Walk:
    """Walks over the events in order of time, and gathers lists and passes."""

    def __init__(self) -> None:
        self.lists: list[_Row] = []
        self._passes: list[_Row] = []
        self._tasks: defaultdict[int, _Task] = defaultdict(_Task)
        self._numbers: dict[int, int] = {0: 0}
        self._active: dict[int, list[int]] = {}
        self._spans: defaultdict[tuple[int, int], list[list[int]]] = defaultdict(list)
        self._balanced: list[int] = []

    def take(self, row: _Row) -> None:
        """Take the next event."""
        task, event = self._tasks[row["pid"]], row["event"]
        if event in _AFTER_LISTS:
            task.last = {}
        match event:
            case "stall_pass":
                self._begin(row, task)
            case "stall_list":
                self._list(row, task)
            case "stall_wake" if row["reason"] == _BY_RECLAIM and task.last:
                task.last["woken"] = True
            case "stall_sums" if row["tree"] and task.turn:
                self._repeat(row, task)
                task.turn |= {"decided": True, "flags_before": _flags(row, task.turn)}
                task.turn |= {name: row[name] for name in ("t_ns", "seq", "cpu")}
            case "stall_throttle" if task.turn and row["reason"] in _DECIDED_BY:
                task.turn["throttle"] = STALL_SLEEPS[row["reason"]]
            case "mm_vmscan_throttled" if task.turn:
                reason = row["reason"].removeprefix("VMSCAN_THROTTLE_").lower()
                if reason == task.turn["throttle"]:
                    task.turn["slept_us"] = row["usect_delayed"]
            case "stall_pass_end":
                if task.turn:
                    self._end(row, task)
                task.turn = {}
            case "stall_ready" if row["ready"] and row["failures"] < _HOPELESS:
                self._balanced.append(row["t_ns"])
        is_over = event == "stall_direct_end" or (event == "stall_ready" and row["ready"])
        if is_over and (span := self._active.pop(row["pid"], None)):
            span[1] = row["t_ns"]

    def decided(self) -> list[_Row]:
        """Return the passes in the order in which they decide, with what happened meanwhile."""
        passes = sorted(self._passes, key=lambda row: (row["t_ns"], row["seq"]))
        for row in passes:
            row["balances"] = bisect_right(self._balanced, row["t_ns"])
            row["others"] = any(
                _overlaps(spans, row["t_ns"], row["end"])
                for (memcg, pid), spans in self._spans.items()
                if memcg == row["memcg"] and pid != row["pid"]
            )
        return passes

    def _begin(self, row: _Row, task: _Task) -> None:
        """Begin the pass of a task, which is active from its first one on."""
        memcg = self._numbers.setdefault(row["target"], len(self._numbers))
        task.turn = row | {
            "memcg": memcg,
            "generations": row["generations"] > 0,
            "kswapd": row["comm"].startswith("kswapd"),
        }
        self._open(task)
        if row["pid"] not in self._active:
            self._active[row["pid"]] = span = [row["t_ns"], _NEVER]
            self._spans[memcg, row["pid"]].append(span)

    def _open(self, task: _Task) -> None:
        """Begin a pass, or its repetition."""
        task.turn |= {"lists": [], "sums": [0] * len(SUMMED), "decided": False, "throttle": None}

    def _repeat(self, row: _Row, task: _Task) -> None:
        """End a pass that is repeated: it has decided, and goes on; maybe without another list."""
        if task.turn.get("decided"):
            self._close(row, task, flags_after=None)
            self._open(task)

    def _list(self, row: _Row, task: _Task) -> None:
        """Take a list: its counts, and the sums of its pass."""
        self._repeat(row, task)
        counts = dict(zip(_COUNTS, _array(row["counts"]), strict=True))
        before = _array(row["sums"])
        task.last = {
            **row,
            **counts,
            **{f"{name}_before": value for name, value in zip(SUMMED, before, strict=True)},
            "pass": 0,
            "woken": False,
            "balances": len(self._balanced),
        }
        self.lists.append(task.last)
        if task.turn:
            task.turn["lists"].append(task.last)
            whole = counts | {"taken": row["taken"]}
            task.turn["sums"] = [
                value + whole[name] for name, value in zip(SUMMED, before, strict=True)
            ]

    def _end(self, row: _Row, task: _Task) -> None:
        """End a pass; one without decisions has the flags of its end."""
        if not task.turn["decided"]:
            if task.turn["memcg"]:
                raise InputError(
                    f"the pass of a cgroup that ends at seq {row['seq']} has no sums: it was "
                    "asked for by memory.reclaim, whose decisions the probes do not show"
                )
            task.turn |= {name: row[name] for name in ("t_ns", "seq", "cpu")}
            task.turn["flags_before"] = _flags(row, task.turn)
        task.turn["sums"] = _array(row["sums"])
        self._close(row, task, flags_after=_flags(row, task.turn))

    def _close(self, row: _Row, task: _Task, flags_after: int | None) -> None:
        number = len(self._passes) + 1
        for each in task.turn["lists"]:
            each["pass"] = number
        sums = zip(SUMMED, task.turn["sums"], strict=True)
        ends = {"pass": number, "flags_after": flags_after, "end": row["t_ns"]}
        self._passes.append(task.turn | ends | dict(sums))


def _flags(row: _Row, turn: _Row) -> int:
    """Return the bits of ``enum sws_sums_flag``: of the node one, of the lruvec two."""
    of_lruvec = int(row["own_flags" if turn["memcg"] else "root_flags"])
    return int(row["node_flags"]) & 1 | (of_lruvec & 3) << 1
