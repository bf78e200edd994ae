# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of the slot allocator: its config, the replay of slot events, and the workbench."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.errors import InputError, check_number
from swapsim.ffi import BASE_OF, INITIAL, KERNELS, POLICIES, check
from swapsim.policies import Policy
from swapsim.progress import check_interrupted
from swapsim.slots.config import SWAP_IN, Churn, Device, Fill, Streams, Workload
from swapsim.slots.events import SLOT_CALLS


def settings(config: Device) -> Any:
    """Return a config as ``struct sws_slots_config *``, which keeps alive what it points to.

    An InputError names the owner for which a user's ``initial`` returns no slot of the device.
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


def _with_policy(made: Any, config: Device, policy: Policy) -> Any:
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


def _initial_bases(config: Device, policy: Policy) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return what a user's initial says for each owner, in the order of ``sws_slots_base``."""
    cpus = config.possible_cpus
    owners = {"device": 1, "cpu": cpus, "mm": cpus + config.address_spaces}[policy.base_of]
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


CHUNK_ROWS: Final = 1 << 15  # of a call of C: a row may scan the complete map

Mismatch = Mapping[str, Any]
"""The first call that differs: the fields of ``struct sws_slot_replay_mismatch`` and of its call,
with the name of the fault."""


def replay_slots(
    rows: pl.DataFrame, config: Device, *, cpus: int, tick: Callable[[int], object]
) -> tuple[pl.DataFrame, int, Mismatch | None]:
    """Return SLOT_CALLS, the number of open calls, and the first mismatch (``slot_replay.h``).

    The rows passed `check_slot_events` and are of so many CPUs; ``tick`` gets the rows of each
    chunk. An InputError names the row, by its seq, that cannot be replayed.
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
    faults = pl.Series(core.SLOT_FAULTS).gather(calls["fault"].cast(pl.UInt32))
    matched = pl.col("exact") + pl.col("raced")
    complete = calls.with_columns(mismatched=pl.col("slots") - matched, fault=faults)
    return complete.select(pl.col(name).cast(kind) for name, kind in SLOT_CALLS.items())


def _mismatch(handle: Any) -> Mismatch | None:
    found = ffi.new("struct sws_slot_replay_mismatch *")
    if not lib.sws_slot_replay_first_mismatch(handle, found):
        return None
    slots = {side: list(getattr(found, side)[0 : getattr(found, f"n_{side}")])
             for side in ("ours", "theirs")}  # fmt: skip
    fault = core.SLOT_FAULTS[found.call.fault]
    return core.values(found[0]) | core.values(found.call) | slots | {"fault": fault}


EFFORT: Final = 1 << 24  # of a call of C, in the unit of slot_workbench.h
_ALL: Final = 2**64 - 1

LOCK_SITES: Final = {
    "add": lib.SWS_WORKBENCH_ADD,
    "delete": lib.SWS_WORKBENCH_DELETE,
    "free": lib.SWS_WORKBENCH_FREE,
}
"""Why a trunk's lock is acquired, and the number in the path of a count: ``locks.0.moved``."""


def count(device: Device, workload: Workload) -> dict[str, Any]:
    """Run a workload; return the fields of ``struct sws_workbench_measures`` by their paths.

    ``tested`` and ``pages`` have, for each online CPU, slots tested, and pages that got a slot.
    """
    if isinstance(workload, Streams):
        return _count_streams(device, workload)
    n_tasks = device.online
    if isinstance(workload, Churn) and workload.tasks is not None:
        check_number("tasks", workload.tasks, 1, n_tasks, f" (online CPUs: {n_tasks})")
        n_tasks = workload.tasks
    bench = Bench(device, workload, n_tasks=n_tasks)
    if isinstance(workload, Fill):
        bench.go(lib.sws_workbench_fill, device.slots - 1, False)
    else:
        bench.fragment(workload)
        # A page is out after two rounds.
        bench.go(lib.sws_workbench_churn, 2 * -(-workload.warm_up_pages // n_tasks))
        lib.sws_workbench_begin_measures(bench.handle)
        bench.go(lib.sws_workbench_churn, 2 * -(-workload.pages // n_tasks))
    return bench.counts(device.online)


def _count_streams(device: Device, workload: Streams) -> dict[str, Any]:
    rows = workload.requests.sort("task", maintain_order=True)
    known = dict(rows.group_by("task").agg(pl.col("mm").first()).iter_rows())
    last = max(*rows.select(pl.col("task", "owner").max()).row(0))
    # A task without rows is an idle kernel thread.
    tasks = ffi.new("struct sws_workbench_task[]", last + 1)
    for number, task in enumerate(tasks):
        task.cpu, task.mm = number % device.online, known.get(number, -1)
    bench = Bench(device, workload, tasks=tasks, n_tasks=len(tasks))
    first = np.searchsorted(rows["task"].to_numpy(), np.arange(len(tasks) + 1)).astype(np.uint64)
    owner = pl.when(op="get").then(-1).otherwise(pl.col("owner").cast(pl.Int32))
    arrays = rows.select("ordinal", owner=owner).to_dict() | {"first": first}
    pointers = core.pointers("struct sws_workbench_rows", arrays)
    bench.go(lib.sws_workbench_replay, pointers, workload.skipped)
    return bench.counts(device.online)


_ROWS_ERRORS: Final = {
    lib.SWS_ERROR_BAD_ARGUMENT: "one puts a page that its owner never gets",
    lib.SWS_ERROR_NOT_FOUND: "one puts a page that was put before",
    lib.SWS_ERROR_OUT_OF_ORDER: "the tasks wait for one another's pages",
}


_FEWER_SPACES: Final = " can own pages; lower online_cpus or raise threads_per_address_space"


class Bench:
    """A ``struct sws_workbench`` that is freed with this object."""

    def __init__(
        self, device: Device, workload: Workload, *, n_tasks: int, tasks: Any = None
    ) -> None:
        if tasks is None:
            spaces = -(-n_tasks // getattr(workload, "threads_per_address_space", 1))
            check_number("address spaces", spaces, 1, lib.SWS_WORKBENCH_SPACES_MAX, _FEWER_SPACES)
        else:
            spaces = max(task.mm for task in tasks) + 1
        self._device = settings(replace(device, address_spaces=spaces))
        config = core.config(
            lib.sws_workbench_config_init,
            None,
            asynchronous=getattr(workload, "swap_in", SWAP_IN[0]) == "asynchronous",
            lock_window=device.online,
            pages_a_cpu=getattr(workload, "pages_a_cpu", 0),
            tasks=tasks,
            n_tasks=n_tasks,
        )
        config.cache.device, config.cache.enabled = self._device[0], device.slot_cache
        self.handle = core.new(lib.sws_workbench_new, config, free=lib.sws_workbench_free)

    def fragment(self, churn: Churn) -> None:
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

    def counts(self, cpus: int) -> dict[str, Any]:
        """Return a copy of the counts (`count`)."""
        measures = ffi.new("struct sws_workbench_measures *")
        lib.sws_workbench_measures(self.handle, measures)
        tested, pages = ffi.new("uint64_t[]", cpus), ffi.new("uint64_t[]", cpus)
        lib.sws_workbench_cpus(self.handle, tested, pages)
        return {**_flat(measures[0]), "tested": list(tested), "pages": list(pages)}


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
