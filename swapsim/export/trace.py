# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder as tracks for perfetto and chrome://tracing.

The tracks are of pages in the swap cache and under writeback, of the calls of the slot allocator,
and of reclaim with its removals of pages and its choices between anonymous and file pages.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from swapsim import interrupt, traces
from swapsim import progress as bars
from swapsim.checks import checked
from swapsim.export.event_file import (
    GENERATIONS,
    NAMES,
    SLOTS,
    SWAP_CACHE,
    TASKS,
    WRITEBACK,
    EventFile,
    Exported,
    Nest,
    event_file,
    require_suffix,
    task_track,
)
from swapsim.export.generations import USED, write_generations
from swapsim.export.rows import Args, Row, TraceRows, trace_rows

# Marks of slices that the recording shows in part.
_CUT_BEGIN: Final = {"begin": "before the recording"}
_CUT_END: Final = {"end": "after the recording"}


@checked
@interrupt.recording()
def trace(folder: Path | str, output: Path | str, *, progress: bool = False) -> Exported:
    """Write a trace as tracks for perfetto and chrome://tracing (Trace Event Format).

    Stays of pages in the swap cache and under writeback are slices of their own, with counters;
    passes and lists of reclaim, throttles and calls of the slot allocator are slices of their
    tasks; choices between anonymous and file pages are instants, with counters of the refault rates
    and gains that decide them; each other event is an instant with its fields. What begins before
    the recording or ends after it is marked. Rows are read and written in parts; memory is needed
    for one table's columns and for what is open at a time. ``output`` is NAME.json or NAME.json.gz,
    and is replaced atomically.

    Examples
    --------
    >>> from swapsim import export
    >>> export.trace("swap-w-seq", "trace.json").events
    314302
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
            _write_tracks(rows, file, bar)
        _name_tracks(rows, file)
        count = file.count
    return Exported(path=output, events=count, clock=_clock(rows), left_out=rows.unshown)


def _clock(rows: TraceRows) -> str:
    if rows.timed:
        return "time is the recording's, from its first row"
    return "the recording has no clock for all of its rows: a microsecond stands for a row"


def _write_tracks(rows: TraceRows, file: EventFile, bar: bars.Bar) -> None:
    """Write the tables of _TRACKS, and each row of all other tables as an instant."""
    others = dict.fromkeys(rows.fields)
    for tracks in _TRACKS:
        tables = {name: fields for name, fields in tracks.tables.items() if name in rows.fields}
        if len(tables) >= tracks.needs:
            tracks.write(rows.merged(tables, bar), file, rows.end)
            for table in tables:
                del others[table]
    for table in others:
        for _, at, pid, _, args in rows.of(table, bar):
            file.instant(task_track(pid), table, at, args)


def _name_tracks(rows: TraceRows, file: EventFile) -> None:
    file.name_process(TASKS, NAMES[TASKS])
    for process, table in (
        (SWAP_CACHE, "swp_add"),
        (WRITEBACK, "wb_start"),
        (SLOTS, "slot_events"),
        (GENERATIONS, "generation_choices"),
    ):
        if table in rows.fields:
            file.name_process(process, NAMES[process])
    for pid, name in sorted(rows.names.items()):
        file.name_thread(task_track(pid), f"{name} {pid}")


def _write_stays(
    process: int, name: str, begins: str, key: str, rows: Iterator[Row], file: EventFile, end: int
) -> None:
    """Write each stay of a page, from a row of table `begins`, and a counter of stays.

    A stay that began before the recording begins with it, and one that continues ends with it. The
    clocks of two CPUs may differ by more than a stay's length, which is then 0.
    """
    inside: dict[object, tuple[int, Args]] = {}
    stay = partial(file.stay, (process, 0), name, name)
    for _, at, pid, table, args in rows:
        page = args[key]
        if table == begins:
            if page in inside:
                begin, before = inside[page]
                stay(begin, max(begin, at), before | {"end": "not recorded"})
            inside[page] = (at, {"task": pid, **args})
        else:
            begin, before = inside.pop(page, (0, {key: page, **_CUT_BEGIN}))
            stay(begin, max(begin, at), before | {"ended by task": pid})
        file.counter(process, f"pages {name}", at, {"pages": len(inside)})
    for begin, args in inside.values():
        stay(begin, end, args | _CUT_END)


_PASSES: Final = {
    "mm_vmscan_direct_reclaim": "direct reclaim",
    "mm_vmscan_memcg_reclaim": "reclaim of a cgroup",
    "mm_vmscan_memcg_softlimit_reclaim": "reclaim by a soft limit",
}
"""Passes that begin and end with a row each, of the tables ``NAME_begin`` and ``NAME_end``."""

_PASS_BEGINS: Final = {f"{event}_begin": name for event, name in _PASSES.items()}
_PASS_ENDS: Final = {f"{event}_end": name for event, name in _PASSES.items()}
_ISOLATED: Final = "mm_vmscan_lru_isolate"
_SHRUNK: Final = "mm_vmscan_lru_shrink_inactive"


class _Task:
    """A task's open passes, the list that it isolated last, and the time of its last row."""

    def __init__(self, file: EventFile, pid: int) -> None:
        self._file = file
        self._track = task_track(pid)
        self._nest = Nest(file, self._track)
        self._passes: list[tuple[str, int, Args]] = []
        self._isolated: tuple[int, Args] | None = None
        self._last = 0

    def take(self, table: str, at: int, args: Args) -> None:
        """Buffer a row, and write the slices if no pass is open.

        As the clocks of two CPUs may differ, a row is moved to the time of the row before it if it
        is earlier.
        """
        at = max(at, self._last)
        if table == _SHRUNK:
            begin, isolated = self._isolated or (at, {})
            self._isolated = None
            self._nest.add(f"list, {isolated.get('lru', 'unknown')}", begin, at, isolated | args)
        elif table == _ISOLATED:
            self._write_isolated()
            self._isolated = (at, args)
        elif table in _PASS_BEGINS:
            self._write_isolated()
            self._passes.append((_PASS_BEGINS[table], at, args))
        elif table in _PASS_ENDS:
            self._write_isolated()
            cut = (_PASS_ENDS[table], 0, _CUT_BEGIN)
            name, begin, before = self._passes.pop() if self._passes else cut
            self._nest.add(name, begin, at, before | args)
        else:
            # Linux 6.1 and later print "usect".
            slept = args.get("usect_delayed") or args.get("usec_delayed")
            begin = at - 1000 * slept if isinstance(slept, int) else at
            self._nest.add(str(args.get("reason", table)), max(begin, self._last), at, args)
        self._last = at
        if not self._passes:
            self._nest.write()

    def finish(self, end: int) -> None:
        """Write what is open at the end of the recording."""
        self._write_isolated()
        for name, begin, args in reversed(self._passes):
            self._nest.add(name, begin, max(end, self._last), args | _CUT_END)
        self._nest.write()

    def _write_isolated(self) -> None:
        """Write isolated pages without a row of counters, which are those of an active list."""
        if self._isolated is not None:
            at, args = self._isolated
            self._file.instant(self._track, f"taken, {args.get('lru', 'unknown')}", at, args)
            self._isolated = None


def _write_tracepoints(rows: Iterator[Row], file: EventFile, end: int) -> None:
    """Write passes, lists and throttles of a kernel's own tracepoints as slices of their tasks.

    A list lasts from the row that isolates its pages to the row with its counters. The row of a
    throttle is written at its end, with its length; its slice begins no earlier than the row before
    it.
    """
    tasks: dict[int, _Task] = {}
    for _, at, pid, table, args in rows:
        if pid not in tasks:
            tasks[pid] = _Task(file, pid)
        tasks[pid].take(table, at, args)
    for task in tasks.values():
        task.finish(end)


def _write_decisions(rows: Iterator[Row], file: EventFile, _end: int) -> None:
    """Write passes, lists and throttles of the lab kernel as slices of their tasks.

    A list lasts from its first folio to the row with its counters, and has its folios by outcome; a
    pass lasts from its first list to its own row; a throttle from the row of its request.
    """
    begins: dict[tuple[str, int], int] = {}
    outcomes: defaultdict[int, Counter[str]] = defaultdict(Counter)
    nests: dict[int, Nest] = {}
    for _, at, pid, table, args in rows:
        nest = nests.setdefault(pid, Nest(file, task_track(pid)))
        if table == "reclaim_folios":
            begins.setdefault(("list", args["list"]), at)
            outcomes[args["list"]][args["outcome"]] += 1
        elif table == "reclaim_lists":
            begin = begins.pop(("list", args["list"]), at)
            if args["pass"] is not None:
                begins.setdefault(("pass", args["pass"]), begin)
            counted = sorted(outcomes.pop(args["list"], Counter()).items())
            folios = {f"folios {outcome}": count for outcome, count in counted}
            kind = "list, file" if args.get("file") else "list, anon"
            nest.add(kind, begin, at, args | folios)
        elif table == "reclaim_passes":
            begin = begins.pop(("pass", args["pass"]), at)
            nest.add("pass of kswapd" if args.get("kswapd") else "pass of a task", begin, at, args)
            nest.write()
        elif table == "throttle_askers":
            begins["throttle", pid] = at
        else:
            begin = begins.pop(("throttle", pid), at)
            nest.add(f"throttled: {args.get('reason')}", begin, at, args)
    for nest in nests.values():
        nest.write()


_SLOT_NAMES: Final = {
    "done": "slots handed out",
    "fail": "no slot",
    "free": "slots freed",
    "reuse": "slot of a cached page tried",
}


def _write_slots(rows: Iterator[Row], file: EventFile, end: int) -> None:
    """Write each call as a slice of its task, with the slots that it was given.

    The device is empty at the first row, so the counter is the number of all slots in use.
    """
    calls: dict[int, tuple[int, Args, list[int | None]]] = {}
    in_use = 0
    for _, at, pid, _, row in rows:
        op, track = row["op"], task_track(pid)
        if op == "call":
            wanted = {"wanted": row["n"], "base": row.get("base"), "mm": row.get("mm")}
            calls[pid] = (at, wanted, [])
        elif op == "alloc":
            in_use += 1
            if pid in calls:
                calls[pid][2].append(row.get("offset"))
        else:
            if op in ("done", "fail"):
                begin, args, slots = calls.pop(pid, (at, _CUT_BEGIN, []))
                args = args | {"next": row.get("next"), "slots": slots}
                file.slice(track, _SLOT_NAMES[op], begin, at, args)
            else:
                # A slot that a try freed also has a row with op free.
                in_use -= (row["n"] or 0) if op == "free" else 0
                args = {"slot": row.get("offset"), "slots": row["n"]}
                file.instant(track, _SLOT_NAMES[op], at, args)
            file.counter(SLOTS, "slots in use", at, {"slots": in_use})
    for pid, (begin, args, slots) in calls.items():
        args = args | {"slots": slots} | _CUT_END
        file.slice(task_track(pid), _SLOT_NAMES["done"], begin, end, args)


def _write_removals(rows: Iterator[Row], file: EventFile, _end: int) -> None:
    """Write each list of removals as a slice of its task, from the first to the last."""
    lists: dict[int, list[tuple[int, Args]]] = {}
    for _, at, pid, _, args in rows:
        if pid in lists and lists[pid][0][1]["list"] != args["list"]:
            _write_list(file, pid, lists.pop(pid))
        lists.setdefault(pid, []).append((at, args))
    for pid in sorted(lists):
        _write_list(file, pid, lists[pid])


def _write_list(file: EventFile, pid: int, pages: list[tuple[int, Args]]) -> None:
    (begin, first), (end, _) = pages[0], pages[-1]
    args = {
        "list": first["list"],
        "pages": len(pages),
        "of the swap cache": sum(page["swap"] for _, page in pages),
        "removed": sum(page["removed"] for _, page in pages),
        "mappings": len({page["mapping"] for _, page in pages}),
    }
    file.slice(task_track(pid), "removals of a list", begin, end, args)


class _Tracks(NamedTuple):
    """Tables whose rows are merged in trace order, and the function that writes them."""

    write: Callable[[Iterator[Row], EventFile, int], None]
    tables: Mapping[str, tuple[str, ...] | None]
    """Table -> the fields that are used, or None for all."""
    needs: int = 1
    """Tables of these without which the others are shown as instants."""


_TRACKS: Final = (
    _Tracks(
        partial(_write_stays, SWAP_CACHE, "in the swap cache", "swp_add", "entry"),
        {"swp_add": ("entry", "folio"), "swp_del": ("entry",)},
        needs=2,
    ),
    _Tracks(
        partial(_write_stays, WRITEBACK, "under writeback", "wb_start", "folio"),
        {"wb_start": ("folio", "mapping", "index", "private"), "wb_end": ("folio",)},
        needs=2,
    ),
    _Tracks(
        _write_tracepoints,
        dict.fromkeys((*_PASS_BEGINS, *_PASS_ENDS, _ISOLATED, _SHRUNK, "mm_vmscan_throttled")),
    ),
    _Tracks(
        _write_decisions,
        {
            "reclaim_folios": ("list", "outcome"),
            **dict.fromkeys(("reclaim_lists", "reclaim_passes", "throttle_askers", "throttles")),
        },
    ),
    _Tracks(_write_slots, {"slot_events": ("op", "n", "offset", "base", "next", "mm")}),
    _Tracks(_write_removals, {"removals": ("list", "mapping", "swap", "removed")}),
    _Tracks(
        write_generations,
        {"generation_choices": USED, "generation_steps": ("lruvec", "aged")},
        needs=2,
    ),
)
