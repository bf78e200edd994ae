# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder as tracks for perfetto and chrome://tracing.

The tracks are of pages in the swap cache and under writeback, of the calls of the slot allocator,
and of reclaim with its removals of pages.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim import interrupt, traces
from swapsim import progress as bars
from swapsim.checks import checked
from swapsim.errors import InputError
from swapsim.export.event_file import (
    NAMES,
    SLOTS,
    SWAP_CACHE,
    TASKS,
    WRITEBACK,
    EventFile,
    Nest,
    event_file,
    require_suffix,
    task_track,
)
from swapsim.frames.files import require_values
from swapsim.frames.table import require
from swapsim.progress import Bar
from swapsim.removal.tables import REMOVALS
from swapsim.slots.tables import SLOT_EVENTS
from swapsim.stall.tables import RECLAIM_FOLIOS, RECLAIM_LISTS, RECLAIM_PASSES
from swapsim.traces.tables import EVENT_HEAD

_ROW_NS: Final = 1000
"""Length of a row without a clock."""

_HEAD: Final = (*EVENT_HEAD.schema, "text")
"""Columns of any event; all others are the event's own fields."""

_COMPUTED: Final[Mapping[str, pl.Schema]] = {
    event: pl.Schema({name: schema[name] for name in names})
    for event, schema, names in (
        ("slot_events", SLOT_EVENTS.schema, ("op", "n")),
        ("removals", REMOVALS.schema, ("list", "mapping", "swap", "removed")),
        ("reclaim_folios", RECLAIM_FOLIOS.schema, ("list", "outcome")),
        ("reclaim_lists", RECLAIM_LISTS.schema, ("list", "pass")),
        ("reclaim_passes", RECLAIM_PASSES.schema, ("pass",)),
    )
}
"""Columns, by table, whose values begin and end slices or are counted."""

_MAY_BE_NULL: Final = frozenset({("slot_events", "n"), ("reclaim_lists", "pass")})

_LONGEST_NS: Final = 1 << 62
"""Maximum length of a recording."""

_SLICE_ROWS: Final = 1 << 14

Row = tuple[Any, ...]
"""``seq``, ns since the first row, pid, and the chosen columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRows:
    """The events of a trace that can be shown, and their clock."""

    folder: Path
    columns: dict[str, tuple[str, ...]]
    """Event -> its own columns."""
    unshown: tuple[str, ...]
    """Events without usable seq or pid."""
    timed: bool
    """Whether all rows have times; else each lasts _ROW_NS."""
    first: int
    """Smallest time in ns, or smallest seq."""
    last: int
    names: dict[int, str]
    """Task -> its last name."""
    height: int

    @property
    def end(self) -> int:
        """Time of the last row, ns since the first."""
        return (self.last - self.first) * (1 if self.timed else _ROW_NS)

    def of(self, event: str, columns: Sequence[str], bar: Bar) -> Iterator[Row]:
        """Yield a table's rows in trace order; a missing column is None."""
        there = [name for name in columns if name in self.columns[event]]
        clock = pl.col("t_ns") - self.first if self.timed else _since(self.first)
        lacking = [pl.lit(None).alias(name) for name in columns if name not in there]
        frame = (
            traces.scan_event(self.folder, event)
            .select("seq", clock.alias("at"), "pid", *there)
            .with_columns(lacking)
            .select("seq", "at", "pid", *columns)
            .collect()
        )
        with _named(self.folder / f"{event}.parquet"):
            _require_rows(event, frame)
        for part in frame.iter_slices(_SLICE_ROWS):
            yield from part.iter_rows()
            bar.update(part.height)

    def merged(
        self, columns: Mapping[str, Sequence[str]], bar: Bar
    ) -> Iterator[tuple[int, int, int, str, tuple[Any, ...]]]:
        """Yield the rows of several tables in trace order: seq, at, pid, event, its columns."""

        def named(event: str) -> Iterator[tuple[int, int, int, str, tuple[Any, ...]]]:
            for seq, at, pid, *rest in self.of(event, columns[event], bar):
                yield seq, at, pid, event, tuple(rest)

        there = [named(event) for event in columns if event in self.columns]
        return heapq.merge(*there, key=lambda row: row[0])


def trace_rows(folder: Path) -> TraceRows:
    """Return the rows of a trace folder after a first pass over its tables."""
    columns: dict[str, tuple[str, ...]] = {}
    unshown: list[str] = []
    clocks: list[pl.DataFrame] = []
    names: dict[int, tuple[int, str]] = {}
    for event in traces.events(folder)["event"]:
        frame = traces.scan_event(folder, event)
        schema = frame.collect_schema()
        if not (_is_integer(schema, "seq") and _is_integer(schema, "pid")):
            unshown.append(event)
            continue
        with _named(folder / f"{event}.parquet"):
            _require_columns(event, schema)
        columns[event] = tuple(name for name in schema if name not in _HEAD)
        clocks.append(frame.select(_ends(schema)).collect())
        if "comm" in schema:
            _update_names(frame, names)
    ends = pl.concat(clocks).filter(pl.col("height") > 0) if clocks else pl.DataFrame()
    if ends.is_empty():
        raise InputError(
            "has no table with a row that has seq and pid, so it cannot be shown: see its tables "
            "with 'swapsim info'",
            path=folder,
        )
    timed = not ends["untimed"].any()
    clock = ("first_ns", "last_ns") if timed else ("first_seq", "last_seq")
    first, last = ends.select(pl.col(clock[0]).min(), pl.col(clock[1]).max()).row(0)
    with _named(folder):
        _require_length(first, last, 1 if timed else _ROW_NS)
    return TraceRows(
        folder=folder,
        columns=columns,
        unshown=tuple(unshown),
        timed=timed,
        first=first,
        last=last,
        names={pid: name for pid, (_, name) in names.items()},
        height=int(ends["height"].sum()),
    )


def _require_columns(event: str, schema: pl.Schema) -> None:
    """Require columns of types that events have, and those that tracks are computed from."""
    for name, dtype in schema.items():
        if not (dtype.is_integer() or dtype in (pl.Boolean, pl.String, pl.Enum, pl.Null)):
            raise InputError(
                f"contains {dtype}, which no event has: make the table again", field=name
            )
    needed = _COMPUTED.get(event, pl.Schema())
    present = {name: schema[name] for name in needed if name in schema}
    require(pl.DataFrame(schema=present), needed, event)


def _require_rows(event: str, rows: pl.DataFrame) -> None:
    """Require rows in order whose needed values are not null."""
    computed = (name for name in _COMPUTED.get(event, ()) if (event, name) not in _MAY_BE_NULL)
    require_values(rows, [name for name in ("seq", "pid", *computed) if name in rows.columns])
    traces.require_order(rows)


def _require_length(first: int, last: int, unit_ns: int) -> None:
    """Require a possible length of a recording."""
    if not -_LONGEST_NS < first <= last < _LONGEST_NS or (last - first) * unit_ns > _LONGEST_NS:
        raise InputError(
            f"lasts from {first} to {last}, longer than a recording can: capture it again"
        )


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the path to an error."""
    try:
        yield
    except InputError as error:
        raise error.of(path) from None


def _since(first: int) -> pl.Expr:
    return (pl.col("seq").cast(pl.Int64) - first) * _ROW_NS


def _is_integer(schema: pl.Schema, column: str) -> bool:
    return column in schema and schema[column].is_integer()


def _ends(schema: pl.Schema) -> list[pl.Expr]:
    """Count a table's rows; find their first and last on either clock."""
    timed = _is_integer(schema, "t_ns")
    time = pl.col("t_ns") if timed else pl.lit(None, dtype=pl.Int64)
    seq = pl.col("seq").cast(pl.Int128)
    return [
        pl.len().cast(pl.Int64).alias("height"),
        time.min().alias("first_ns"),
        time.max().alias("last_ns"),
        (time.is_null().any() if timed else pl.lit(value=True)).alias("untimed"),
        seq.min().alias("first_seq"),
        seq.max().alias("last_seq"),
    ]


def _update_names(frame: pl.LazyFrame, names: dict[int, tuple[int, str]]) -> None:
    """Store each task's name in its last row: a task that execs changes its name."""
    last = (
        frame.select("pid", "comm", "seq")
        .drop_nulls()
        .group_by("pid")
        .agg(pl.col("comm").sort_by("seq").last(), pl.col("seq").max())
        .sort("pid")
        .collect()
    )
    for pid, comm, seq in last.iter_rows():
        if pid not in names or names[pid][0] < seq:
            names[pid] = (seq, comm)


_SLOT_EVENTS: Final = "slot_events"

_NEEDS: Final = {SWAP_CACHE: "swp_add", WRITEBACK: "wb_start", SLOTS: _SLOT_EVENTS}
"""Process -> the table without which it is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A written file."""

    path: Path
    events: int
    """Slices, instants, counters and names."""
    clock: str
    """Meaning of a microsecond in the viewer."""
    left_out: tuple[str, ...] = ()
    """Tables that cannot be shown."""

    def describe(self) -> list[str]:
        """Return lines that describe the file and how to open it."""
        lines = [f"{self.path}: {self.events} events; {self.clock}"]
        if self.left_out:
            lines.append(f"not shown, because their rows name no task: {', '.join(self.left_out)}")
        lines.append(
            "open it: ui.perfetto.dev, 'Open trace file' (it stays in your browser), or "
            "chrome://tracing, 'Load'"
        )
        return lines


@checked
@interrupt.recording()
def trace(folder: Path | str, output: Path | str, *, progress: bool = False) -> Exported:
    """Write a trace as tracks for perfetto and chrome://tracing (Trace Event Format).

    Stays of pages in the swap cache and under writeback are slices of their own, with counters;
    passes and lists of reclaim, throttles and calls of the slot allocator are slices of their
    tasks; each other event is an instant with its fields. What begins before the recording or ends
    after it is marked. Rows are read and written in parts; memory is needed for one table's columns
    and for what is open at a time.

    Parameters
    ----------
    folder : Path or str
        A trace folder.
    output : Path or str
        NAME.json, or NAME.json.gz; replaced atomically if it exists.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Exported

    Raises
    ------
    InputError
        There is no such folder, a table is damaged, none can be shown, or the output has another
        suffix or cannot be written.
    """
    folder, output = traces.locate(folder), Path(output)
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
            _show_stays(rows, file, bar)
            _show_tracepoints(rows, file, bar)
            _show_decisions(rows, file, bar)
            _show_slots(rows, file, bar)
            _show_removals(rows, file, bar)
            _show_instants(rows, file, bar)
        _name_tracks(rows, file)
        count = file.count
    return Exported(path=output, events=count, clock=_clock(rows), left_out=rows.unshown)


def _show_instants(rows: TraceRows, events: EventFile, bar: bars.Bar) -> None:
    """Write each row of all other tables, and of incomplete pairs, as an instant."""
    paired = {event for kind in _complete_pairs(rows) for event in (kind.begin, kind.end)}
    for event, columns in rows.columns.items():
        if event in paired or event in _SHOWN:
            continue
        for _, at, pid, *values in rows.of(event, columns, bar):
            events.instant(task_track(pid), event, at, dict(zip(columns, values, strict=True)))


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

_SLOT_NAMES: Final = {
    "done": "slots handed out",
    "fail": "no slot",
    "free": "slots freed",
    "reuse": "slot of a cached page tried",
}


def _show_stays(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each stay of a page as a slice, and a counter of stays.

    A stay that began before the recording begins with it, and one that continues ends with it;
    both are marked.
    """
    for kind in _complete_pairs(rows):
        _show_kind(kind, rows, events, bar)


def _complete_pairs(rows: TraceRows) -> list[_Stays]:
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


def _show_slots(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each call as a slice of its task, with the slots that it was given.

    The device is empty at the first row, so the counter is the number of all slots in use. A call
    that is open when the recording ends is marked.
    """
    if _SLOT_EVENTS not in rows.columns:
        return
    columns = ("op", "n", "offset", "base", "next", "mm")
    calls: dict[int, tuple[int, dict[str, object], list[int]]] = {}
    in_use = 0
    for _, at, pid, op, n, offset, base, after, mm in rows.of(_SLOT_EVENTS, columns, bar):
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


_PASSES: Final = {
    "mm_vmscan_direct_reclaim": "direct reclaim",
    "mm_vmscan_memcg_reclaim": "reclaim of a cgroup",
    "mm_vmscan_memcg_softlimit_reclaim": "reclaim by a soft limit",
}
"""Events that begin and end with one row each, ``EVENT_begin`` and ``EVENT_end``."""

_ISOLATED: Final = "mm_vmscan_lru_isolate"
_SHRUNK: Final = "mm_vmscan_lru_shrink_inactive"

_TRACEPOINTS: Final = (
    *(f"{name}_{part}" for name in _PASSES for part in ("begin", "end")),
    _ISOLATED,
    _SHRUNK,
    "mm_vmscan_throttled",
)

_FOLIO: Final = "reclaim_folios"
_LIST: Final = "reclaim_lists"
_PASS: Final = "reclaim_passes"
_REQUEST: Final = "throttle_askers"

_DECISIONS: Final = (_FOLIO, _LIST, _PASS, _REQUEST, "throttles")
"""Tables of the lab kernel."""

_REMOVALS: Final = "removals"

_SHOWN: Final = (*_TRACEPOINTS, *_DECISIONS, _REMOVALS, _SLOT_EVENTS)
"""Tables that are not shown as instants."""


@dataclass(slots=True)
class _Task:
    """A task's open passes, the list that it isolated last, and the time of its last row."""

    nest: Nest
    passes: list[tuple[str, int, dict[str, object]]] = field(default_factory=list)
    isolated: tuple[int, dict[str, object]] | None = None
    last: int = 0


def _show_tracepoints(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write passes, lists and throttles as slices of their tasks.

    As the clocks of two CPUs may differ, a row is moved to the time of the row before it if it is
    earlier. A list lasts from the row that isolates its pages to the row with its counters; pages
    without such a row (of an active list) are an instant. The row of a throttle is written at its
    end, with its length in ticks; its slice begins no earlier than the row before it.
    """
    tasks: dict[int, _Task] = {}
    columns = {event: rows.columns[event] for event in _TRACEPOINTS if event in rows.columns}
    for _, at, pid, event, values in rows.merged(columns, bar):
        if pid not in tasks:
            tasks[pid] = _Task(Nest(events, task_track(pid)))
        task = tasks[pid]
        args = dict(zip(columns[event], values, strict=True))
        now = max(at, task.last)
        _show_row(events, task_track(pid), task, event, now, args)
        task.last = now
        if not task.passes:
            task.nest.write()
    for pid, task in tasks.items():
        _write_isolated(events, task_track(pid), task)
        for name, begin, args in reversed(task.passes):
            end = max(rows.end, task.last)
            task.nest.add(name, begin, end, args | {"end": "after the recording"})
        task.nest.write()


def _show_row(
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
        task.nest.add(title, begin, at, before | args)
    elif event == _ISOLATED:
        _write_isolated(events, track, task)
        task.isolated = (at, args)
    elif event == _SHRUNK:
        begin, before = task.isolated or (at, {})
        task.isolated = None
        task.nest.add(f"list, {before.get('lru', 'unknown')}", begin, at, before | args)
    else:
        # Linux 6.1 and later print "usect".
        slept = args.get("usect_delayed") or args.get("usec_delayed")
        begin = at - 1000 * slept if isinstance(slept, int) else at
        task.nest.add(str(args.get("reason", event)), max(begin, task.last), at, args)


def _write_isolated(events: EventFile, track: tuple[int, int], task: _Task) -> None:
    """Write isolated pages without a row of counters."""
    if task.isolated is not None:
        at, args = task.isolated
        events.instant(track, f"taken, {args.get('lru', 'unknown')}", at, args)
        task.isolated = None


@dataclass(slots=True)
class _Open:
    """Beginnings of open lists, passes and throttles, and the tracks of tasks."""

    lists: dict[int, tuple[int, Counter[str]]] = field(default_factory=dict)
    passes: dict[int, int] = field(default_factory=dict)
    throttles: dict[int, int] = field(default_factory=dict)
    nests: dict[int, Nest] = field(default_factory=dict)


def _show_decisions(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write passes, lists and throttles of the lab kernel as slices of their tasks.

    A list lasts from its first folio to the row with its counters, and has its folios by outcome; a
    pass lasts from its first list to its own row; a throttle from the row of its request.
    """
    columns: dict[str, tuple[str, ...]] = {
        event: rows.columns[event] for event in _DECISIONS if event in rows.columns
    }
    columns |= {_FOLIO: ("list", "outcome")} if _FOLIO in columns else {}
    state = _Open()
    for _, at, pid, event, values in rows.merged(columns, bar):
        args = dict(zip(columns[event], values, strict=True))
        nest = state.nests.setdefault(pid, Nest(events, task_track(pid)))
        _show_decision(state, nest, pid, event, at, args)
    for nest in state.nests.values():
        nest.write()


def _show_decision(
    state: _Open, nest: Nest, pid: int, event: str, at: int, args: dict[str, Any]
) -> None:
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
        nest.add(kind, begin, at, args | folios)
    elif event == _PASS:
        begin = state.passes.pop(args["pass"], at)
        nest.add("pass of kswapd" if args.get("kswapd") else "pass of a task", begin, at, args)
        nest.write()
    elif event == _REQUEST:
        state.throttles[pid] = at
    else:
        nest.add(f"throttled: {args.get('reason')}", state.throttles.pop(pid, at), at, args)


def _show_removals(rows: TraceRows, events: EventFile, bar: Bar) -> None:
    """Write each list of removals as a slice of its task, from the first to the last."""
    if _REMOVALS not in rows.columns:
        return
    lists: dict[int, tuple[int, list[tuple[int, Any, bool, bool]]]] = {}
    columns = ("list", "mapping", "swap", "removed")
    for _, at, pid, number, *page in rows.of(_REMOVALS, columns, bar):
        if pid in lists and lists[pid][0] != number:
            _show_list(events, pid, *lists.pop(pid))
        lists.setdefault(pid, (number, []))[1].append((at, *page))
    for pid in sorted(lists):
        _show_list(events, pid, *lists[pid])


def _show_list(
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
