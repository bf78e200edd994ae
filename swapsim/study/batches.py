# SPDX-License-Identifier: GPL-2.0-or-later
"""Batches of points: sent to an executor, and the point found that kills a process.

They run in this process, in new ones, or on an executor of the caller. If new processes cannot be
started because /dev/shm cannot be written, this process runs all calls.
"""

import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from pickle import PicklingError
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from swapsim import interrupt
from swapsim.checks import brief
from swapsim.errors import ConfigError, SwapsimError
from swapsim.study import cluster
from swapsim.study.processes import SECOND_READING, OwnPool, end_second_reading, own_pool

Done = TypeVar("Done")

_WAIT_SECONDS: Final = 0.2

_SUSPECTS: Final = 4
"""Batches whose points are run alone after workers were killed: Dask blames all that they had."""


@dataclass(frozen=True, slots=True)
class Batch(Generic[Done]):
    """A call for some points, and the task that runs one of them alone."""

    call: Callable[[], Done]
    task: Callable[[Any], object]
    points: Sequence[Any]

    @property
    def where(self) -> str:
        """The points in words."""
        text = "; ".join(brief(each) if is_dataclass(each) else str(each) for each in self.points)
        return f"the point {text}" if len(self.points) == 1 else f"one of the points {text}"


def work_off(
    batches: Mapping[int, Batch[Done]],
    executor: Executor | None,
    take: Callable[[int, Done], None],
    waiting: Callable[[], object],
) -> None:
    """Run all batches on an executor, or in new processes; pass on each result as it comes.

    `waiting` is called a few times a second. A process that is killed is an error that names its
    point; if it was one of the new ones, others run its points again, once.
    """
    if cluster.is_cluster(executor):
        _on_cluster(batches, executor, take, waiting)
        return
    if executor is not None:
        _submit(batches, executor, take, waiting)
        return
    end_second_reading()
    for task in {id(batch.task): batch.task for batch in batches.values()}.values():
        _require_importable(task)
    left = dict(batches)

    def take_once(number: int, done: Done) -> None:
        take(number, done)
        del left[number]

    for again in (True, False):
        processes: set[BaseProcess] = set()
        try:
            with own_pool(len(left), processes) as pool:
                _submit(left, pool, take_once, waiting)
            return
        except BrokenProcessPool as error:
            if any(process.exitcode == SECOND_READING for process in processes):
                raise SwapsimError(
                    "the processes of a sweep read your script and began the sweep again: put "
                    "its calls below 'if __name__ == \"__main__\":', or sweep over an executor of "
                    "your own"
                ) from None
            # Batches begin in their order, so that these ran.
            ran = [left[number] for number in sorted(left)[: len(processes)]]
            if not again:
                raise _killed(" or at ".join(batch.where for batch in ran), "twice") from error
            _run_alone(ran, waiting)


def _on_cluster(
    batches: Mapping[int, Batch[Done]],
    executor: Executor,
    take: Callable[[int, Done], None],
    waiting: Callable[[], object],
) -> None:
    """Run all batches on a Dask client's executor, which runs those of a killed worker again.

    Dask gives up a batch whose workers were killed several times. It blames each batch that these
    workers had, so that the points are run alone to find the one that kills them.
    """
    sent = {
        number: replace(batch, call=cluster.same_there(batch.call))
        for number, batch in batches.items()
    }
    left = dict(sent)

    def take_once(number: int, done: Done) -> None:
        take(number, done)
        del left[number]

    try:
        _submit(sent, executor, take_once, waiting)
    except _LostBatchError as lost:
        blamed = left.pop(lost.number)
        # Batches begin in their order, so that the first of the others ran at the same time.
        for batch in [blamed, *left.values()][:_SUSPECTS]:
            for point in batch.points:
                alone = Batch(cluster.same_there(partial(batch.task, point)), batch.task, [point])
                try:
                    _submit({0: alone}, executor, lambda *_: None, waiting)
                except _LostBatchError:
                    raise _killed(alone.where, "repeatedly") from None
        raise _killed(f"{blamed.where}, or at one of the next", "repeatedly") from None


def _run_alone(batches: Sequence[Batch[Any]], waiting: Callable[[], object]) -> None:
    """Run each point alone in a new process; name the one whose process is killed again."""
    for batch in batches:
        for point in batch.points:
            alone = Batch(partial(batch.task, point), batch.task, [point])
            try:
                with own_pool(1, set()) as pool:
                    _submit({0: alone}, pool, lambda *_: None, waiting)
            except BrokenProcessPool as error:
                raise _killed(alone.where, "twice") from error


def _killed(where: str, how: str) -> SwapsimError:
    return SwapsimError(
        f"a process of the sweep was killed {how} at {where}; maybe it lacked memory: use fewer "
        "processes ('taskset -c 0' leaves one), or sweep over an executor of your own"
    )


def _submit(
    batches: Mapping[int, Batch[Done]],
    pool: Executor,
    take: Callable[[int, Done], None],
    waiting: Callable[[], object],
) -> None:
    numbers: dict[Future[Done], int] = {}
    ended: SimpleQueue[Future[Done]] = SimpleQueue()
    current = min(batches, default=0)

    def take_ended(future: Future[Done]) -> None:
        nonlocal current
        current = numbers.pop(future)
        take(current, future.result())

    try:
        for number, batch in list(batches.items()):
            future = pool.submit(batch.call)
            numbers[future] = number
            future.add_done_callback(ended.put)
            # SerialExecutor's result is there already: an interrupt must not lose it.
            while not ended.empty():
                take_ended(ended.get())
            interrupt.check()
        while numbers:
            # A Ctrl-C that comes just before a wait does not end it, so that waits are short.
            with suppress(Empty):
                take_ended(ended.get(timeout=_WAIT_SECONDS))
            waiting()
            interrupt.check()
    except BaseException as error:
        if isinstance(error, PicklingError | AttributeError | TypeError) and "pickle" in str(error):
            raise _not_sent(batches[current]) from None
        if isinstance(pool, OwnPool):
            # It cancels its calls itself, and reports calls that are cancelled already.
            raise
        for future in numbers:
            future.cancel()
        if isinstance(error, BrokenExecutor):
            # All remaining calls are lost; batches begin in their order.
            first = batches[min([current, *numbers.values()])]
            raise _killed(f"{first.where}, or at one of the next", "once") from error
        if cluster.is_killed_worker(error):
            raise _LostBatchError(current) from None
        raise


def _not_sent(batch: Batch[Any]) -> SwapsimError:
    """Return the error for a batch that cannot be sent to another process, or its results back."""
    for name, part in (("task", batch.task), *(("the point", point) for point in batch.points)):
        try:
            pickle.dumps(part)
        except Exception:
            what = "a lambda" if "<lambda>" in repr(part) else "no plain data"
            return ConfigError(
                f"{name}={brief(part)} is {what}: processes need a function of a module and plain "
                "data; define it in a file, or give executor=swapsim.study.SerialExecutor()"
            )
    return SwapsimError(
        f"what the task returned at {batch.where} cannot be sent back: return plain data or frames"
    )


def _require_importable(task: Callable[..., object]) -> None:
    """Require a function that new processes find: they cannot read a notebook or standard input."""
    function = task.func if isinstance(task, partial) else task
    name = getattr(function, "__name__", "task")
    script = Path(vars(sys.modules["__main__"]).get("__file__", ""))
    if getattr(function, "__module__", "") == "__main__" and not script.is_file():
        raise ConfigError(
            f"task={name} is defined in no file but in a notebook or on standard input: processes "
            "need a function of a module; define it in a file, or give "
            "executor=swapsim.study.SerialExecutor()"
        )


class _LostBatchError(Exception):
    """Dask has given up a batch, because its workers were killed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
