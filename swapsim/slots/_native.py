# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of the slot allocator: its config, the replay of slot events, and the workbench."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from numbers import Integral
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import BASE_OF, INITIAL, KERNELS, POLICIES, check
from swapsim.policies.policy import Policy
from swapsim.progress import check_interrupted
from swapsim.slots.config import (
    SWAP_IN,
    ChurnConfig,
    FillConfig,
    MeterConfig,
    SlotsConfig,
    StreamsConfig,
    Workload,
)
from swapsim.slots.tables import SLOT_CALLS, SLOT_FAULT


def settings(config: SlotsConfig) -> Any:
    """Return a config as ``struct sws_slots_config *``, which keeps alive what it points to.

    These are the machine code of a user's policy and the first bases. The field slot_cache is not
    part of this struct. A ``InputError`` names the owner for which a user's ``initial`` fails or
    returns no slot of the device.
    """
    built_in = isinstance(config.policy, str)
    made = core.config(
        lib.sws_slots_config_init,
        config,
        kernel=KERNELS.index(config.kernel),
        online_cpus=config.online,
        policy=POLICIES.index(config.policy) if built_in else lib.SWS_BASE_READER,
    )
    return made if isinstance(config.policy, str) else _with_policy(made, config, config.policy)


def _with_policy(made: Any, config: SlotsConfig, policy: Policy) -> Any:
    made.reader.base_of = BASE_OF.index(policy.base_of)
    made.reader.store = ffi.cast(ffi.typeof(made.reader.store), policy.address)
    if isinstance(policy.initial, str):
        made.reader.initial = INITIAL.index(policy.initial)
    # A hard disk has the shared base of its kernel under every policy.
    elif not config.rotational:
        bases = _initial_bases(config, policy)
        made.initial_bases = ffi.from_buffer("int64_t[]", bases)
        return core.keep(made, policy, bases)
    return core.keep(made, policy)


def _initial_bases(config: SlotsConfig, policy: Policy) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return what a user's initial says for each owner, in the order of ``sws_slots_base``."""
    owners = {
        "device": 1,
        "cpu": config.possible_cpus,
        "mm": config.possible_cpus + config.address_spaces,
    }[policy.base_of]
    found = (_initial_base(policy, owner, owners, config.slots - 1) for owner in range(owners))
    return np.fromiter(found, np.int64, owners)


def _initial_base(policy: Policy, owner: int, owners: int, highest: int) -> int:
    where = f"policy {policy.name}: initial({owner}, {owners}, 1, {highest})"
    found: object = policy.initial
    if callable(policy.initial):
        try:
            found = policy.initial(owner, owners, 1, highest)
        except Exception as error:
            raise InputError(f"{where} fails ({type(error).__name__}: {error})") from error
    if not isinstance(found, Integral) or not 1 <= int(found) <= highest:
        raise InputError(f"{where}={found!r}: give a whole number from 1 to {highest}")
    return int(found)


CHUNK_ROWS: Final = 1 << 15
"""Rows per call of C. A row may scan the complete map; Ctrl-C takes effect between calls."""


Mismatch = Mapping[str, Any]
"""The first call that differs: the fields of ``struct sws_slot_replay_mismatch`` and of its call,
with the name of the fault."""


def replay_slots(
    rows: pl.DataFrame, config: SlotsConfig, *, cpus: int, tick: Callable[[int], object]
) -> tuple[pl.DataFrame, int, Mismatch | None]:
    """Return SLOT_CALLS, the number of open calls, and the first mismatch (``slot_replay.h``).

    The rows have the schema SLOT_EVENTS and passed `check_slot_events`; ``cpus`` is the number of
    different CPUs in them. ``tick`` is called with the number of rows of each chunk. An
    ``InputError`` names the row, by its seq, that cannot be replayed.
    """
    device = settings(config)
    made = core.config(lib.sws_slot_replay_config_init, None, device=device[0], cpus=cpus)
    handle = core.new(lib.sws_slot_replay_new, made, free=lib.sws_slot_replay_free)
    verdicts = []
    for chunk in rows.iter_slices(CHUNK_ROWS):
        verdicts.append(_feed(handle, chunk))
        tick(chunk.height)
    return pl.concat(verdicts), lib.sws_slot_replay_open(handle), _mismatch(handle)


def _feed(handle: Any, rows: pl.DataFrame) -> pl.DataFrame:
    """Replay some rows; return SLOT_CALLS of the calls that ended in them."""
    filled = rows.with_columns(pl.col("op").to_physical()).fill_null(0)
    given = core.columns("struct sws_slot_replay_rows", filled)
    judged, out = core.records("struct sws_slot_replay_call", rows.height)
    n_judged = ffi.new("uint64_t *")
    code = lib.sws_slot_replay_feed(handle, given, rows.height, out, n_judged)
    seq = ffi.new("uint64_t *")
    problem = lib.sws_slot_replay_problem(handle, seq)
    if problem != lib.SWS_SLOT_REPLAY_NO_PROBLEM:
        wrong = ffi.string(lib.sws_slot_replay_problem_text(problem)).decode()
        raise InputError(f"the row with seq {seq[0]} cannot be replayed: {wrong}")
    check(code)
    calls = core.frame_of(judged[: n_judged[0]])
    faults = pl.Series(SLOT_FAULT.dtype.categories).gather(calls["fault"].cast(pl.UInt32))
    matched = pl.col("exact") + pl.col("raced")
    complete = calls.with_columns(mismatched=pl.col("slots") - matched, fault=faults)
    return complete.select(pl.col(name).cast(kind) for name, kind in SLOT_CALLS.schema.items())


def _mismatch(handle: Any) -> Mismatch | None:
    found = ffi.new("struct sws_slot_replay_mismatch *")
    if not lib.sws_slot_replay_first_mismatch(handle, found):
        return None
    slots = {side: list(getattr(found, side)[0 : getattr(found, f"n_{side}")])
             for side in ("ours", "theirs")}  # fmt: skip
    fault = SLOT_FAULT.words[found.call.fault]
    return core.values(found[0]) | core.values(found.call) | slots | {"fault": fault}


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
        raise InputError(
            f"{spaces} address spaces: at most {lib.SWS_WORKBENCH_SPACES_MAX} can own pages; "
            "lower online_cpus or raise threads_per_address_space"
        )
    bench = Bench(
        replace(device, address_spaces=spaces),
        meter,
        swap_in=getattr(workload, "swap_in", SWAP_IN[0]),
        n_tasks=n_tasks,
        pages_a_cpu=getattr(workload, "pages_a_cpu", 0),
    )
    if isinstance(workload, FillConfig):
        bench.go(lib.sws_workbench_fill, device.slots - 1, False)
    else:
        bench.fragment(workload)
        # A page is out after two rounds.
        bench.go(lib.sws_workbench_churn, 2 * -(-workload.warm_up_pages // n_tasks))
        lib.sws_workbench_begin_measures(bench.handle)
        bench.go(lib.sws_workbench_churn, 2 * -(-workload.pages // n_tasks))
    return bench.counts(cpus)


def _tasks_of(workload: FillConfig | ChurnConfig, cpus: int) -> int:
    if isinstance(workload, FillConfig) or workload.tasks is None:
        return cpus
    if workload.tasks > cpus:
        raise InputError(
            f"tasks={workload.tasks}: {cpus} CPUs are online; choose at most one task a CPU"
        )
    return workload.tasks


def _run_streams(
    device: SlotsConfig, cpus: int, workload: StreamsConfig, meter: MeterConfig
) -> Counts:
    rows = workload.requests.sort("task", maintain_order=True)
    tasks = _tasks(rows, cpus)
    bench = Bench(
        replace(device, address_spaces=max(task.mm for task in tasks) + 1),
        meter,
        swap_in=workload.swap_in,
        tasks=tasks,
        n_tasks=len(tasks),
    )
    bench.go(lib.sws_workbench_replay, _columns(rows, len(tasks)), workload.skipped)
    return bench.counts(cpus)


def _tasks(rows: pl.DataFrame, cpus: int) -> Any:
    """Return a ``struct sws_workbench_task[]``; a task without rows is an idle kernel thread."""
    known = dict(rows.group_by("task").agg(pl.col("mm").first()).iter_rows())
    last = max(*rows.select(pl.col("task", "owner").max()).row(0))
    tasks = ffi.new("struct sws_workbench_task[]", last + 1)
    for number, task in enumerate(tasks):
        task.cpu, task.mm = number % cpus, known.get(number, -1)
    return tasks


def _columns(rows: pl.DataFrame, n_tasks: int) -> Any:
    """Return a ``struct sws_workbench_rows *``, which keeps alive the arrays that it points to."""
    owners = pl.when(op="get").then(-1).otherwise(pl.col("owner").cast(pl.Int32))
    first = np.searchsorted(rows["task"].to_numpy(), np.arange(n_tasks + 1)).astype(np.uint64)
    owner, ordinal = rows.select(owner=owners), rows["ordinal"]
    arrays = {"first": first, "owner": owner["owner"], "ordinal": ordinal}
    return core.pointers("struct sws_workbench_rows", arrays)


_ROWS_ERRORS: Final = {
    lib.SWS_ERROR_BAD_ARGUMENT: "one puts a page that its owner never gets",
    lib.SWS_ERROR_NOT_FOUND: "one puts a page that was put before",
    lib.SWS_ERROR_OUT_OF_ORDER: "the tasks wait for one another's pages",
}


class Bench:
    """A ``struct sws_workbench`` that is freed with this object."""

    def __init__(
        self, device: SlotsConfig, meter: MeterConfig, *, swap_in: str, **tasks: Any
    ) -> None:
        self._device = settings(device)
        window = device.online if meter.lock_window is None else meter.lock_window
        config = core.config(
            lib.sws_workbench_config_init,
            meter,
            asynchronous=swap_in == "asynchronous",
            lock_window=window,
            **tasks,
        )
        config.cache.device, config.cache.enabled = self._device[0], device.slot_cache
        self.handle = core.new(lib.sws_workbench_new, config, free=lib.sws_workbench_free)

    def fragment(self, churn: ChurnConfig) -> None:
        """Fill the device, and free random pages until a share of it is in use."""
        used = max(1, round(churn.used_share * (self._device.slots - 1)))
        self.go(lib.sws_workbench_fill, _ALL, True)
        self.go(lib.sws_workbench_fill, used, False)
        self.go(lib.sws_workbench_thin, used)

    def go(self, begin: Callable[..., int], *given: Any) -> None:
        """Begin a phase and run it to its end."""
        error, over = begin(self.handle, *given), ffi.new("bool *")
        while not error and not over[0]:
            error = lib.sws_workbench_run(self.handle, EFFORT, over)
            check_interrupted()
        if begin is lib.sws_workbench_replay and error in _ROWS_ERRORS:
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
