# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of the contention machine, its counts of a window, and of ``des.h``: a closed loop."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
from polars import selectors

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import LOCK_KINDS, REMOVAL_MODES, check, keep, records
from swapsim.machine.config import Machine
from swapsim.slots import _native as native_slots
from swapsim.slots.config import Streams

CHUNK_EVENTS: Final = 2000
"""Events of one call into C, well under 0.1 s: Ctrl-C is handled between two calls."""

TRAVELS: Final = ("travel_same_socket_ns", "travel_other_socket_ns")
"""The transfers of a cache line that a closed loop has; it has one thread on each core."""

_TAGS: Final = {
    None: lib.SWS_TAGS_AS_RELEASED,
    True: lib.SWS_TAGS_KEPT,
    False: lib.SWS_TAGS_NOT_KEPT,
}
_SITES: Final = {name: pl.UInt64() for name, _ in ffi.typeof("struct sws_des_site").fields}
_TIMES: Final = {name: pl.UInt64() for name, _ in ffi.typeof("struct sws_des_cpu").fields}
_COUNTS: Final = dict.fromkeys(
    ("touched", "accesses", "pages_out", "pages_in", "reclaimed", "activated"), pl.UInt64()
)
_CPUS: Final = (
    {"cpu": pl.UInt32(), "actor": pl.Enum(core.ACTORS), "node": pl.UInt32()} | _TIMES | _COUNTS
)
_SLOT_FIELDS: Final = tuple(
    name
    for name, _ in ffi.typeof("struct sws_slots_work").fields
    if name not in ("si_lock", "cluster_lock", "searches")  # the sites count these
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The counts of a machine in a window of time."""

    elapsed_ns: int
    events: int  # with those of the warm-up
    sites: pl.DataFrame  # struct sws_des_site of each; longest times are since the start
    cpus: pl.DataFrame
    slots: dict[str, int]  # the devices' struct sws_slots_work
    shared_slots: int  # handed out in the trunk in which another CPU got its last one
    halves: tuple[int, int] | None = None  # pages out and in of each; None for streams and lives


def run_window(config: Machine, costs: Mapping[str, int], *, verify: bool = False) -> Window:
    """Run a machine through its warm-up and its duration (or its streams), and count the latter."""
    machine = warmed_up(config, costs)
    before = _snapshot(machine, verify)
    middle = 0
    if not config.streams:
        _run(machine, config, before["now"] + config.duration_ns // 2, 2**64 - 1)
        middle = _moved(_cpus(machine))
    _run(machine, config, before["now"] + config.duration_ns, 2**64 - 1)
    after = _snapshot(machine, verify)
    first, last = _moved(before["cpus"]), _moved(after["cpus"])
    halves = None if config.streams else (middle - first, last - middle)
    return replace(_window(before, after), halves=halves)


def _moved(cpus: pl.DataFrame) -> int:
    return int(cpus["pages_out"].sum()) + int(cpus["pages_in"].sum())


def _window(before: Mapping[str, Any], after: Mapping[str, Any]) -> Window:
    """Return the counts between two snapshots."""
    return Window(
        elapsed_ns=after["now"] - before["now"],
        events=after["events"],
        sites=_since(before["sites"], after["sites"]),
        cpus=_since(before["cpus"], after["cpus"]),
        slots={name: after["slots"][name] - before["slots"][name] for name in _SLOT_FIELDS},
        shared_slots=after["shared"] - before["shared"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeWindows:
    """The counts of a machine whose writers exit."""

    swap: Window | None  # from the first page out to the first writer's last page, if there is such
    run: Window
    written: list[tuple[int, int]]  # each writer's pages, and when it had written them, or 0 ns
    stuck: bool  # whether a writer found no slot


def run_life(config: Machine, costs: Mapping[str, int]) -> LifeWindows:
    """Run a machine until its writers have exited, and count its phases."""
    machine = _created(config, costs)
    shots = [_snapshot(machine)]
    for life in (lib.SWS_LIFE_SWAP, lib.SWS_LIFE_EXIT, lib.SWS_LIVES):
        _run_on(partial(lib.sws_machine_run_life, machine, life))
        shots.append(_snapshot(machine))
    found = [lib.sws_machine_cpu_of(machine, cpu) for cpu in range(lib.sws_machine_cpus(machine))]
    return LifeWindows(
        swap=_window(shots[1], shots[2]) if shots[2]["now"] > shots[1]["now"] else None,
        run=_window(shots[0], shots[3]),
        written=[
            (cpu.touched, cpu.written_ns) for cpu in found if cpu.kind == lib.SWS_ACTOR_WRITER
        ],
        stuck=lib.sws_machine_stuck(machine),
    )


def warmed_up(config: Machine, costs: Mapping[str, int]) -> Any:
    """Return a ``struct sws_machine *`` after its warm-up."""
    machine = _created(config, costs)
    streams = config.streams
    _run(machine, config, config.warmup_ns, streams.skipped if streams else 0)
    if streams and lib.sws_machine_longest_ended(machine) >= streams.long_rows:
        raise InputError(
            f"a task has done its last row before {streams.skipped} rows are done, where counting "
            f"begins: lower skipped_share={streams.skipped_share}"
        )
    return machine


def _created(config: Machine, costs: Mapping[str, int]) -> Any:
    made = _settings(config, costs)
    if config.streams:
        _check_requests(made, config.streams)
    out = ffi.new("struct sws_machine **")
    code = lib.sws_machine_new(made, out)
    if code == lib.SWS_ERROR_BAD_CONFIG:
        raise InputError(f"{config!r}: tasks, memory and devices do not fit together")
    check(code)
    return keep(ffi.gc(out[0], lib.sws_machine_free), made)


def check_not_stuck(machine: Any) -> None:
    """Raise InputError if no task of a ``struct sws_machine *`` can continue."""
    if lib.sws_machine_stuck(machine):
        raise InputError(
            f"no swap slot is left after {lib.sws_machine_now(machine)} ns of simulated time: "
            "give the devices more slots, or run for a shorter time"
        )


def _settings(config: Machine, costs: Mapping[str, int]) -> Any:
    """Return a config as ``struct sws_machine_config *``, which keeps alive what it points to."""
    device = native_slots.settings(config.device)
    kind = lib.SWS_LOCK_TEST_AND_SET if config.test_and_set else lib.SWS_LOCK_QUEUED
    streams: dict[str, Any] = {"streams": 0}
    if config.streams:
        rows, pointer = _requests(config.streams.requests)
        streams = {"streams": config.streams.tasks, "n_requests": len(rows), "requests": pointer}
    made = core.config(
        lib.sws_machine_config_init,
        config,
        device=device[0],
        costs=dict(costs),
        lock_kind=kind,
        swap_writeback_tags=_TAGS[config.tags],
        removal=REMOVAL_MODES.index(config.removal),
        **streams,
    )
    return keep(made, device, streams)


def _by_stream(requests: pl.DataFrame) -> pl.DataFrame:
    """Return the rows stream by stream, with their row numbers in the table."""
    return requests.with_row_index("row").sort("task", maintain_order=True)


def _requests(requests: pl.DataFrame) -> tuple[np.ndarray[Any, Any], Any]:
    """Return requests as structs, and their pointer: tasks, spaces, pages numbered without gaps."""
    space = pl.when(pl.col("mm") >= 0).then("mm")
    rows = _by_stream(requests).select(
        stream=pl.col("task").rank("dense") - 1,
        mm=(space.rank("dense").cast(pl.Int32) - 1).fill_null(-1),
        page=pl.struct("owner", "ordinal").rank("dense") - 1,
        put=pl.col("op") == "put",
    )
    made, pointer = records("struct sws_machine_request", rows.height)
    for name in rows.columns:
        made[name] = rows[name].to_numpy()
    return made, pointer


def _check_requests(made: Any, streams: Streams) -> None:
    row, reason = ffi.new("uint32_t *"), ffi.new("const char **")
    code = lib.sws_machine_check_requests(made, row, reason)
    if code == lib.SWS_ERROR_BAD_CONFIG:
        place = _by_stream(streams.requests)["row"][row[0]]
        raise InputError(
            f"the requests cannot be processed, row {place}: {ffi.string(reason[0]).decode()}"
        )
    check(code)


def _run(machine: Any, config: Machine, until_ns: int, rows: int) -> None:
    """Run to a time; streams run until so many rows are done, or a task with many has ended."""
    step = partial(lib.sws_machine_run, machine, until_ns)
    if config.streams:
        step = partial(lib.sws_machine_run_streams, machine, rows, config.streams.long_rows)
    _run_on(step, partial(check_not_stuck, machine))


def _run_on(step: Callable[..., int], check_each: Callable[[], None] = lambda: None) -> None:
    """Repeat a call into C until it has nothing more to do."""
    more = ffi.new("bool *", True)
    events = ffi.new("uint64_t *")
    while more[0]:
        check(step(CHUNK_EVENTS, more, events))
        check_each()


def _snapshot(machine: Any, verify: bool = False) -> dict[str, Any]:
    if verify:
        reason = ffi.new("const char **")
        check(lib.sws_machine_verify(machine, reason))
    work = lib.sws_machine_slots_work(machine)
    return {
        "now": lib.sws_machine_now(machine),
        "events": lib.sws_machine_events(machine),
        "sites": _sites(machine),
        "cpus": _cpus(machine),
        "slots": {name: getattr(work, name) for name in _SLOT_FIELDS},
        "shared": lib.sws_machine_shared_slots(machine),
    }


def _sites(machine: Any) -> pl.DataFrame:
    costs = [lib.sws_machine_site_of(machine, site) for site in range(lib.SWS_SITES)]
    counts = ([getattr(cost, name) for name in _SITES] for cost in costs)
    rows = [(site, *each) for site, each in zip(core.MACHINE_SITES, counts, strict=True)]
    return pl.DataFrame(rows, schema={"site": pl.String(), **_SITES}, orient="row")


def _cpus(machine: Any) -> pl.DataFrame:
    rows = []
    for cpu in range(lib.sws_machine_cpus(machine)):
        found = lib.sws_machine_cpu_of(machine, cpu)
        counts = [getattr(found.time, name) for name in _TIMES]
        counts += [getattr(found, name) for name in _COUNTS]
        rows.append((cpu, core.ACTORS[found.kind], found.node, *counts))
    return pl.DataFrame(rows, schema=_CPUS, orient="row")


def _since(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Subtract the counts before a window; longest times are since the start."""
    counts = selectors.by_dtype(pl.UInt64) - selectors.starts_with("longest")
    return after.with_columns(after.select(counts) - before.select(counts))


def closed_loop_ns(
    kind: str,
    *,
    cpus: int,
    cpus_per_socket: int,
    travels: dict[str, int],
    think_ns: int,
    hold_ns: int,
    acquisitions: int,
    seed: int,
) -> float:
    """Return the time of an acquisition: that of all of them, divided by their number."""
    loop = ffi.new("struct sws_closed_loop_config *")
    lib.sws_des_config_init(ffi.addressof(loop.des))
    loop.des.cpus, loop.des.cpus_per_socket = cpus, cpus_per_socket
    for name in TRAVELS:
        setattr(loop.des, name, travels[name])
    loop.lock_kind, loop.locks = LOCK_KINDS.index(kind), 1
    loop.think_ns, loop.hold_ns, loop.seed = think_ns, hold_ns, seed
    site, now = ffi.new("struct sws_des_site *"), ffi.new("uint64_t *")
    check(lib.sws_closed_loop(loop, acquisitions, site, now))
    return int(now[0]) / acquisitions
