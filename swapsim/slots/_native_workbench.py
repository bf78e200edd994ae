# SPDX-License-Identifier: GPL-2.0-or-later
"""The slot workbench of the C core: workloads in, counts out."""

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import interrupt
from swapsim._core import ffi, lib
from swapsim.errors import ConfigError, InputError
from swapsim.ffi import check
from swapsim.slots._native import settings
from swapsim.slots.config import (
    SWAP_IN,
    ChurnConfig,
    FillConfig,
    MeterConfig,
    SlotsConfig,
    StreamsConfig,
    Workload,
)

EFFORT: Final = 1 << 24
"""Work of one call of C, in the unit of slot_workbench.h; Ctrl-C takes effect between calls."""

_ALL: Final = 2**64 - 1


class LockSite(IntEnum):
    """Why a trunk's lock is acquired: the index in ``Counts.of``, as in ``locks.0.moved``."""

    ADD = lib.SWS_WORKBENCH_ADD
    DELETE = lib.SWS_WORKBENCH_DELETE
    FREE = lib.SWS_WORKBENCH_FREE


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the workbench counted: fields of ``struct sws_workbench_measures`` by their paths.

    A path is ``work.device.given`` or ``locks.0.moved``. ``tested`` and ``pages`` are, per online
    CPU, slots tested, and pages that got a slot.
    """

    of: dict[str, int]
    tested: list[int]
    pages: list[int]


def run(device: SlotsConfig, workload: Workload, meter: MeterConfig) -> Counts:
    """Run a workload on a device; the parameters and errors are those of `slots.measure`."""
    cpus = device.online
    if isinstance(workload, StreamsConfig):
        return _run_streams(device, cpus, workload, meter)
    n_tasks = _tasks_of(workload, cpus)
    spaces = -(-n_tasks // workload.threads_per_address_space)
    if spaces > lib.SWS_WORKBENCH_SPACES_MAX:
        raise ConfigError(
            f"{spaces} address spaces: at most {lib.SWS_WORKBENCH_SPACES_MAX} can own pages; "
            "lower online_cpus or raise threads_per_address_space"
        )
    bench = _Bench(
        replace(device, address_spaces=spaces),
        meter,
        swap_in=getattr(workload, "swap_in", SWAP_IN[0]),
        n_tasks=n_tasks,
        pages_a_cpu=getattr(workload, "pages_a_cpu", 0),
    )
    if isinstance(workload, FillConfig):
        pages = round(workload.filled_share * (device.slots - 1))
        bench.go(partial(lib.sws_workbench_fill, bench.handle, pages, False))
    else:
        _run_churn(bench, device, n_tasks, workload)
    return bench.counts(cpus)


def _tasks_of(workload: FillConfig | ChurnConfig, cpus: int) -> int:
    if isinstance(workload, FillConfig) or workload.tasks is None:
        return cpus
    if workload.tasks > cpus:
        raise ConfigError(
            f"tasks={workload.tasks}: {cpus} CPUs are online; choose at most one task a CPU"
        )
    return workload.tasks


def _run_churn(bench: "_Bench", device: SlotsConfig, tasks: int, workload: ChurnConfig) -> None:
    used = max(1, round(workload.used_share * (device.slots - 1)))
    clusters_alone = not workload.to_the_last_slot
    bench.go(partial(lib.sws_workbench_fill, bench.handle, _ALL, clusters_alone))
    bench.go(partial(lib.sws_workbench_fill, bench.handle, used, False))
    bench.go(partial(lib.sws_workbench_thin, bench.handle, used))
    # A page is out after two rounds.
    warm_up, rounds = (2 * -(-pages // tasks) for pages in (workload.warm_up_pages, workload.pages))
    bench.go(partial(lib.sws_workbench_churn, bench.handle, warm_up))
    lib.sws_workbench_begin_measures(bench.handle)
    bench.go(partial(lib.sws_workbench_churn, bench.handle, rounds))


def _run_streams(
    device: SlotsConfig, cpus: int, workload: StreamsConfig, meter: MeterConfig
) -> Counts:
    rows = workload.requests.sort("task", maintain_order=True)
    tasks = _tasks(rows, cpus)
    bench = _Bench(
        replace(device, address_spaces=max(task.mm for task in tasks) + 1),
        meter,
        swap_in=workload.swap_in,
        tasks=tasks,
    )
    columns, _alive = _columns(rows, len(tasks))
    skipped = int(workload.skipped_share * rows.height)
    bench.go(partial(lib.sws_workbench_replay, bench.handle, columns, skipped))
    return bench.counts(cpus)


def _tasks(rows: pl.DataFrame, cpus: int) -> Any:
    """Return a ``struct sws_workbench_task[]``; a task without rows is an idle kernel thread."""
    known = dict(rows.group_by("task").agg(pl.col("mm").first()).iter_rows())
    last = max(*rows.select(pl.col("task", "owner").max()).row(0))
    tasks = ffi.new("struct sws_workbench_task[]", last + 1)
    for number, task in enumerate(tasks):
        task.cpu, task.mm = number % cpus, known.get(number, -1)
    return tasks


def _columns(rows: pl.DataFrame, n_tasks: int) -> tuple[Any, list[Any]]:
    """Return a ``struct sws_workbench_rows *``, and the arrays that it points to."""
    owners = pl.when(op="get").then(-1).otherwise(pl.col("owner").cast(pl.Int32))
    first = np.searchsorted(rows["task"].to_numpy(), np.arange(n_tasks + 1)).astype(np.uint64)
    owner = rows.select(owners).to_series().to_numpy()
    kinds = {"first": "uint64_t[]", "owner": "int32_t[]", "ordinal": "uint32_t[]"}
    arrays = [np.ascontiguousarray(each) for each in (first, owner, rows["ordinal"].to_numpy())]
    columns = ffi.new("struct sws_workbench_rows *")
    for (name, kind), array in zip(kinds.items(), arrays, strict=True):
        setattr(columns, name, ffi.from_buffer(kind, array))
    return columns, arrays


_ROWS_ERRORS: Final = {
    lib.SWS_ERROR_BAD_ARGUMENT: "one puts a page that its owner never gets",
    lib.SWS_ERROR_NOT_FOUND: "one puts a page that was put before",
    lib.SWS_ERROR_OUT_OF_ORDER: "the tasks wait for one another's pages",
}


class _Bench:
    """A ``struct sws_workbench`` that is freed with this object."""

    def __init__(
        self,
        device: SlotsConfig,
        meter: MeterConfig,
        *,
        swap_in: str,
        tasks: Any = None,
        n_tasks: int = 0,
        pages_a_cpu: int = 0,
    ) -> None:
        made, self._alive = settings(device)
        config = ffi.new("struct sws_workbench_config *")
        lib.sws_workbench_config_init(config)
        config.cache.device = made[0]
        config.cache.enabled = device.slot_cache
        config.asynchronous = swap_in == "asynchronous"
        config.overlap_calls = meter.overlap_calls
        config.lock_window = device.online if meter.lock_window is None else meter.lock_window
        config.span_window = meter.span_window
        config.n_tasks = n_tasks
        config.pages_a_cpu = pages_a_cpu
        if tasks is not None:
            config.tasks = tasks
            config.n_tasks = len(tasks)
        out = ffi.new("struct sws_workbench **")
        check(lib.sws_workbench_new(config, out))
        self.handle = ffi.gc(out[0], lib.sws_workbench_free)

    def go(self, begin: "partial[int]") -> None:
        """Begin a phase and run it to its end."""
        error, over = begin(), ffi.new("bool *")
        while not error and not over[0]:
            error = lib.sws_workbench_run(self.handle, EFFORT, over)
            interrupt.check()
        if begin.func is lib.sws_workbench_replay and error in _ROWS_ERRORS:
            raise InputError(f"the requests cannot be replayed: {_ROWS_ERRORS[error]}")
        check(error)

    def counts(self, cpus: int) -> Counts:
        """Return a copy of the counts."""
        measures = ffi.new("struct sws_workbench_measures *")
        lib.sws_workbench_measures(self.handle, measures)
        tested, pages = ffi.new("uint64_t[]", cpus), ffi.new("uint64_t[]", cpus)
        lib.sws_workbench_cpus(self.handle, tested, pages)
        return Counts(of=_flat(measures[0]), tested=list(tested), pages=list(pages))


def _flat(value: Any) -> dict[str, int]:
    """Return the numbers of a struct by their paths."""
    if isinstance(value, int):
        return {"": value}
    kind = ffi.typeof(value)
    if kind.kind == "struct":
        parts = {name: getattr(value, name) for name, _ in kind.fields}
    else:
        parts = {str(index): part for index, part in enumerate(value)}
    return {
        f"{name}.{path}".rstrip("."): number
        for name, part in parts.items()
        for path, number in _flat(part).items()
    }
