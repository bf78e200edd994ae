# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of the machine's log: which CPU waited for which lock, and which CPU held it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.ffi import LOCK_CLASSES, SPANS, check, dtype_of
from swapsim.machine._native import CHUNK_EVENTS, check_not_stuck, warmed_up
from swapsim.machine.config import MachineConfig
from swapsim.machine.tables import ACTOR, MACHINE_SPANS, SPAN

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
                code = lib.sws_machine_log_run(
                    self._log, until, CHUNK_EVENTS, buffer, _CAPACITY, n, more
                )
                check(code)
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
        sites = [_site(site) for site in columns["site"].tolist()]
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
            self._names[number] = _lock_name(found)
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


def _lock_name(found: Any) -> str:
    owner = _OWNERS[found.lock_class].format(owner=found.owner, part=found.part)
    return f"{LOCK_CLASSES[found.lock_class]}{owner}"


def _site(number: int) -> str | None:
    if number == lib.SWS_LOG_NONE:
        return None
    return str(ffi.string(lib.sws_machine_site_name(number)).decode())
