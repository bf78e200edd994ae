# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of the contention machine: its counts of a time window, and its log of locks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import ConfigError, InputError
from swapsim.ffi import LOCK_CLASSES, REMOVAL_MODES, SPANS, check, dtype_of
from swapsim.machine.config import MachineConfig
from swapsim.machine.tables import ACTOR, MACHINE_CPUS, MACHINE_SITES, MACHINE_SPANS, SPAN
from swapsim.slots import _native as native_slots
from swapsim.slots.config import StreamsConfig

CHUNK_EVENTS: Final = 2000
"""Events of one call into C, well under 0.1 s: Ctrl-C is handled between two calls."""

_TAGS: Final = {
    None: lib.SWS_TAGS_AS_RELEASED,
    True: lib.SWS_TAGS_KEPT,
    False: lib.SWS_TAGS_NOT_KEPT,
}
_LABELS: Final = ("cpu", "actor", "node")
_SITE_FIELDS: Final = [name for name in MACHINE_SITES.names() if name != "site"]
_CPU_FIELDS: Final = [name for name in MACHINE_CPUS.names() if name not in _LABELS]
_SLOT_FIELDS: Final = tuple(
    name
    for name, _ in ffi.typeof("struct sws_slots_work").fields
    if name not in ("si_lock", "cluster_lock", "searches")  # the sites count these
)
_CONFIG_FIELDS: Final = (
    {name for name, _ in ffi.typeof("struct sws_machine_config").fields}
    & {field.name for field in fields(MachineConfig)}
) - {"removal", "streams", "swap_writeback_tags"}
"""Fields of MachineConfig that have the same name and meaning in C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The counts of a machine in a window of time.

    ``sites`` has the schema MACHINE_SITES, ``cpus`` MACHINE_CPUS. ``events`` includes the warm-up.
    ``slots`` is the devices' work by the fields of ``struct sws_slots_work``; ``shared_slots`` are
    the slots handed out in the trunk in which another CPU got its last one.
    """

    elapsed_ns: int
    events: int
    sites: pl.DataFrame
    cpus: pl.DataFrame
    slots: dict[str, int]
    shared_slots: int


def run_window(config: MachineConfig, costs: Mapping[str, int], *, verify: bool = False) -> Window:
    """Run a machine through its warm-up and its duration (or its streams), and count the latter."""
    machine, alive = warmed_up(config, costs)
    before = _snapshot(machine, verify)
    _run(machine, config, before["now"] + config.duration_ns, 2**64 - 1)
    after = _snapshot(machine, verify)
    del alive
    return _window(before, after)


def _window(before: Mapping[str, Any], after: Mapping[str, Any]) -> Window:
    """Return the counts between two snapshots."""
    return Window(
        elapsed_ns=after["now"] - before["now"],
        events=after["events"],
        sites=_frame(after["sites"], before["sites"], MACHINE_SITES.schema, labels=1),
        cpus=_frame(after["cpus"], before["cpus"], MACHINE_CPUS.schema, labels=3),
        slots={name: after["slots"][name] - before["slots"][name] for name in _SLOT_FIELDS},
        shared_slots=after["shared"] - before["shared"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeWindows:
    """The counts of a machine whose writers exit.

    ``swap`` is from the first page out to the first writer's last page, None if no page went out
    before that; ``run`` is all of it. ``written`` has each writer's pages and the time in ns at
    which it had written them, 0 if it has not. ``stuck`` is whether a writer found no slot.
    """

    swap: Window | None
    run: Window
    written: list[tuple[int, int]]
    stuck: bool


def run_life(
    config: MachineConfig, costs: Mapping[str, int], *, verify: bool = False
) -> LifeWindows:
    """Run a machine until its writers have exited, and count its phases."""
    machine, alive = _created(config, costs)
    shots = [_snapshot(machine, verify)]
    for life in (lib.SWS_LIFE_SWAP, lib.SWS_LIFE_EXIT, lib.SWS_LIVES):
        _run_on(partial(lib.sws_machine_run_life, machine, life))
        shots.append(_snapshot(machine, verify))
    del alive
    found = [lib.sws_machine_cpu_of(machine, cpu) for cpu in range(lib.sws_machine_cpus(machine))]
    return LifeWindows(
        swap=_window(shots[1], shots[2]) if shots[2]["now"] > shots[1]["now"] else None,
        run=_window(shots[0], shots[3]),
        written=[
            (cpu.touched, cpu.written_ns) for cpu in found if cpu.kind == lib.SWS_ACTOR_WRITER
        ],
        stuck=lib.sws_machine_stuck(machine),
    )


def warmed_up(config: MachineConfig, costs: Mapping[str, int]) -> tuple[Any, list[Any]]:
    """Return a ``struct sws_machine *`` after its warm-up, and what must outlive it."""
    machine, alive = _created(config, costs)
    streams = config.streams
    _run(machine, config, config.warmup_ns, streams.skipped if streams else 0)
    if streams and lib.sws_machine_longest_ended(machine) >= streams.long_rows:
        raise InputError(
            f"a task has done its last row before {streams.skipped} rows are done, where counting "
            f"begins: lower skipped_share={streams.skipped_share}"
        )
    return machine, alive


def _created(config: MachineConfig, costs: Mapping[str, int]) -> tuple[Any, list[Any]]:
    """Return a ``struct sws_machine *``, and what must outlive it."""
    made, alive = settings(config, costs)
    if config.streams:
        _check_requests(made, config.streams)
    out = ffi.new("struct sws_machine **")
    code = lib.sws_machine_new(made, out)
    if code == lib.SWS_ERROR_BAD_CONFIG:
        raise ConfigError(f"{config!r}: tasks, memory and devices do not fit together")
    check(code)
    return ffi.gc(out[0], lib.sws_machine_free), alive


def check_not_stuck(machine: Any) -> None:
    """Raise InputError if no task of a ``struct sws_machine *`` can continue."""
    if lib.sws_machine_stuck(machine):
        raise InputError(
            f"no swap slot is left after {lib.sws_machine_now(machine)} ns of simulated time: "
            "give the devices more slots, or run for a shorter time"
        )


def settings(config: MachineConfig, costs: Mapping[str, int]) -> tuple[Any, list[Any]]:
    """Return a config as ``struct sws_machine_config *``, and what must outlive its machine."""
    made = ffi.new("struct sws_machine_config *")
    lib.sws_machine_config_init(made)
    device, alive = native_slots.settings(config.device)
    made.device = device[0]
    for name, value in costs.items():
        setattr(made.costs, name, value)
    made.lock_kind = lib.SWS_LOCK_TEST_AND_SET if config.test_and_set else lib.SWS_LOCK_QUEUED
    made.swap_writeback_tags = _TAGS[config.swap_writeback_tags]
    made.removal = REMOVAL_MODES.index(config.removal)
    for name in _CONFIG_FIELDS:
        setattr(made, name, getattr(config, name))
    if config.streams:
        rows = _requests(config.streams.requests)
        made.streams, made.n_requests = config.streams.tasks, len(rows)
        made.requests = ffi.from_buffer("struct sws_machine_request[]", rows)
        alive.append(rows)
    return made, [*alive, device]


def _by_stream(requests: pl.DataFrame) -> pl.DataFrame:
    """Return the rows stream by stream, with their row numbers in the table."""
    return requests.with_row_index("row").sort("task", maintain_order=True)


def _requests(requests: pl.DataFrame) -> np.ndarray[Any, Any]:
    """Return a ``struct sws_machine_request[]``: tasks, spaces and pages numbered without gaps."""
    space = pl.when(pl.col("mm") >= 0).then("mm")
    rows = _by_stream(requests).select(
        stream=pl.col("task").rank("dense") - 1,
        mm=(space.rank("dense").cast(pl.Int32) - 1).fill_null(-1),
        page=pl.struct("owner", "ordinal").rank("dense") - 1,
        put=pl.col("op") == "put",
    )
    made = np.zeros(rows.height, dtype=dtype_of("struct sws_machine_request"))
    for name in rows.columns:
        made[name] = rows[name].to_numpy()
    return made


def _check_requests(made: Any, streams: StreamsConfig) -> None:
    row, reason = ffi.new("uint32_t *"), ffi.new("const char **")
    code = lib.sws_machine_check_requests(made, row, reason)
    if code == lib.SWS_ERROR_BAD_CONFIG:
        place = _by_stream(streams.requests)["row"][row[0]]
        raise InputError(
            f"the requests cannot be processed, row {place}: {ffi.string(reason[0]).decode()}"
        )
    check(code)


def _run(machine: Any, config: MachineConfig, until_ns: int, rows: int) -> None:
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


def _snapshot(machine: Any, verify: bool) -> dict[str, Any]:
    if verify:
        reason = ffi.new("const char **")
        check(lib.sws_machine_verify(machine, reason))
    work = lib.sws_machine_slots_work(machine)
    return {
        "now": lib.sws_machine_now(machine),
        "events": lib.sws_machine_events(machine),
        "sites": [_site(machine, site) for site in range(lib.SWS_SITES)],
        "cpus": [_cpu(machine, cpu) for cpu in range(lib.sws_machine_cpus(machine))],
        "slots": {name: getattr(work, name) for name in _SLOT_FIELDS},
        "shared": lib.sws_machine_shared_slots(machine),
    }


def _site(machine: Any, site: int) -> tuple[Any, ...]:
    cost = lib.sws_machine_site_of(machine, site)
    return (_site_name(site), *(getattr(cost, field) for field in _SITE_FIELDS))


def _cpu(machine: Any, cpu: int) -> tuple[Any, ...]:
    found = lib.sws_machine_cpu_of(machine, cpu)
    counts = (getattr(found.time if name.endswith("_ns") else found, name) for name in _CPU_FIELDS)
    return (cpu, ACTOR.dtype.categories[found.kind], found.node, *counts)


def _frame(
    after: list[tuple[Any, ...]], before: list[tuple[Any, ...]], schema: pl.Schema, *, labels: int
) -> pl.DataFrame:
    """Subtract the counts before the window from all columns but the labels and the maxima."""
    maxima = [name.startswith("longest") for name in schema][labels:]
    rows = [
        (
            *new[:labels],
            *(
                b if most else b - a
                for a, b, most in zip(old[labels:], new[labels:], maxima, strict=True)
            ),
        )
        for old, new in zip(before, after, strict=True)
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


_CAPACITY: Final = 8192
"""Spans of one call into C, more than one event can end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The actor on a CPU of the machine (one of ACTOR), and its NUMA node."""

    cpu: int
    actor: str
    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The log of an interval that ends at ``now_ns``, a time since the devices were filled.

    ``spans`` (MACHINE_SPANS) are those that ended, each CPU's in the order of their ends.
    ``slots_in_use`` are those of all devices at the end, ``cached`` the pages in the swap cache
    that have a slot.
    """

    now_ns: int
    spans: pl.DataFrame
    slots_in_use: int
    cached: int


class MachineLog:
    """The log of a machine after its warm-up, over the duration of its config.

    Parameters and errors are those of `run_window`.
    """

    def __init__(self, config: MachineConfig, costs: Mapping[str, int]) -> None:
        self._config = config
        self._machine, self._alive = warmed_up(config, costs)
        log = ffi.new("struct sws_machine_log **")
        check(lib.sws_machine_log_new(self._machine, log))
        self._log = ffi.gc(log[0], lib.sws_machine_log_free)
        self._names: dict[int, str] = {}
        self.begin_ns: int = lib.sws_machine_now(self._machine)

    def tasks(self) -> list[Task]:
        """Return the actors of the CPUs, without the CPUs that have none."""
        cpus = range(lib.sws_machine_cpus(self._machine))
        found = [(cpu, lib.sws_machine_cpu_of(self._machine, cpu)) for cpu in cpus]
        tasks = [
            Task(cpu=n, actor=ACTOR.dtype.categories[of.kind], node=of.node) for n, of in found
        ]
        return [task for task in tasks if task.actor != "none"]

    def samples(self, sample_ns: int) -> Iterator[Sample]:
        """Run the machine for its ``duration_ns`` and yield its log, interval by interval.

        An interval has ``sample_ns`` of simulated time; one with very many spans comes in several
        parts. Streams end earlier if a task with a full share of the rows has done its last row.
        InputError is raised when no slot is left.
        """
        spans = np.zeros(_CAPACITY, dtype=dtype_of("struct sws_span"))
        buffer = ffi.from_buffer("struct sws_span[]", spans)
        n, more = ffi.new("uint32_t *"), ffi.new("bool *")
        end, until = self.begin_ns + self._config.duration_ns, self.begin_ns
        while not self._is_over(end):
            until = min(until + sample_ns, end)
            more[0] = True
            while more[0]:
                given = (self._log, until, CHUNK_EVENTS, buffer, _CAPACITY, n, more)
                check(lib.sws_machine_log_run(*given))
                check_not_stuck(self._machine)
                yield self._sample(spans[: n[0]])
            if lib.sws_machine_now(self._machine) < until:
                return  # all tasks have ended

    def _is_over(self, end: int) -> bool:
        streams = self._config.streams
        ended = streams and lib.sws_machine_longest_ended(self._machine) >= streams.long_rows
        return bool(ended) or lib.sws_machine_now(self._machine) >= end

    def _sample(self, spans: "np.ndarray[Any, np.dtype[np.void]]") -> Sample:
        devices = range(self._config.devices)
        return Sample(
            now_ns=lib.sws_machine_now(self._machine),
            spans=self._frame(spans),
            slots_in_use=sum(lib.sws_machine_slots_in_use(self._machine, n) for n in devices),
            cached=lib.sws_machine_log_cached(self._log),
        )

    def _frame(self, spans: "np.ndarray[Any, np.dtype[np.void]]") -> pl.DataFrame:
        columns = {name: spans[name].copy() for name in spans.dtype.names or ()}
        sites = [_site_name(site) for site in columns["site"].tolist()]
        locks = [self._lock(lock) for lock in columns["lock"].tolist()]
        return (
            pl.DataFrame(columns)
            .select(
                "from_ns",
                "until_ns",
                kind=pl.Series(
                    [SPANS[kind] for kind in columns["kind"].tolist()], dtype=SPAN.dtype
                ),
                cpu="cpu",
                site=pl.Series(sites, dtype=pl.String),
                lock=pl.Series(locks, dtype=pl.String),
                behind=pl.when(pl.col("holder") != lib.SWS_LOG_NONE).then("holder"),
            )
            .cast(MACHINE_SPANS.schema)
        )

    def _lock(self, number: int) -> str | None:
        """Return a lock's name: its class, its owner, and which part of the owner."""
        if number == lib.SWS_LOG_NONE:
            return None
        if number not in self._names:
            found = ffi.new("struct sws_lock_identity *")
            check(lib.sws_machine_log_lock(self._log, number, found))
            owner = _OWNERS[found.lock_class].format(owner=found.owner, part=found.part)
            self._names[number] = f"{LOCK_CLASSES[found.lock_class]}{owner}"
        return self._names[number]


_OWNERS: Final = {
    lib.SWS_LOCK_CLASS_SWAP_AVAIL: "",
    lib.SWS_LOCK_CLASS_ALLOC: " of CPU {owner}",
    lib.SWS_LOCK_CLASS_FREE: " of CPU {owner}",
    lib.SWS_LOCK_CLASS_LRU: " of node {owner}",
    lib.SWS_LOCK_CLASS_ZONE: " of node {owner}",
    lib.SWS_LOCK_CLASS_SI: " of device {owner}",
    lib.SWS_LOCK_CLASS_RECORD: " of device {owner}",
    lib.SWS_LOCK_CLASS_TREE: " of device {owner}, trunk {part}",
    lib.SWS_LOCK_CLASS_CLUSTER: " of device {owner}, cluster {part}",
}


def _site_name(number: int) -> str | None:
    if number == lib.SWS_LOG_NONE:
        return None
    return str(ffi.string(lib.sws_machine_site_name(number)).decode())
