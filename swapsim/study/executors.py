# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the calls of a sweep in this process, in new ones, or on an executor of the caller.

If new processes cannot be started because /dev/shm cannot be written, this process runs all calls.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, Generic, TypeVar

from swapsim import interrupt
from swapsim.errors import SwapsimError

Done = TypeVar("Done")

_WAIT_SECONDS: Final = 0.2

_SECOND_READING: Final = 75
"""Exit status of a worker whose script lacks a ``__main__`` guard."""


class SerialExecutor(Executor):
    """Runs each task in this process, at once; all other executors return the same results."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Run the task now; Ctrl-C passes through."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True)
class Batch(Generic[Done]):
    """A call for some points, and the task that runs one of them alone."""

    call: Callable[[], Done]
    task: Callable[[Any], object]
    points: Sequence[Any]

    @property
    def where(self) -> str:
        """The points in words."""
        text = "; ".join(map(str, self.points))
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
    if executor is not None:
        _submit(batches, executor, take, waiting)
        return
    _end_second_reading()
    left = dict(batches)

    def take_once(number: int, done: Done) -> None:
        take(number, done)
        del left[number]

    for again in (True, False):
        processes: set[BaseProcess] = set()
        try:
            with _own_pool(len(left), processes) as pool:
                _submit(left, pool, take_once, waiting)
            return
        except BrokenProcessPool as error:
            if any(process.exitcode == _SECOND_READING for process in processes):
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


def _run_alone(batches: Sequence[Batch[Any]], waiting: Callable[[], object]) -> None:
    """Run each point alone in a new process; name the one whose process is killed again."""
    for batch in batches:
        for point in batch.points:
            alone = Batch(partial(batch.task, point), batch.task, [point])
            try:
                with _own_pool(1, set()) as pool:
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
        if isinstance(pool, _OwnPool):
            # It cancels its calls itself, and reports calls that are cancelled already.
            raise
        for future in numbers:
            future.cancel()
        if isinstance(error, BrokenExecutor):
            # All remaining calls are lost; batches begin in their order.
            first = batches[min([current, *numbers.values()])]
            raise _killed(f"{first.where}, or at one of the next", "once") from error
        if "KilledWorker" in [kind.__name__ for kind in type(error).__mro__]:  # Dask's
            raise _killed(batches[current].where, "repeatedly") from error
        raise


def _end_second_reading() -> None:
    """End a worker that starts a sweep while it reads the script of the process that made it.

    A script without a guard starts the sweep again in each worker, and Python's own error is one
    traceback per process.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(_SECOND_READING)


class _Context(SpawnContext):
    """Makes processes and records them, also one that ends before the next has begun."""

    def __init__(self, processes: set[BaseProcess]) -> None:
        super().__init__()
        self._made = processes

    def Process(  # type: ignore[override]  # noqa: N802, multiprocessing's own name
        self, *args: Any, **kwargs: Any
    ) -> SpawnProcess:
        """Make one."""
        process = SpawnProcess(*args, **kwargs)
        self._made.add(process)
        return process


class _OwnPool(ProcessPoolExecutor):
    """Processes that leave Ctrl-C to the one that made them, from their first moment on."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Start processes as needed; they inherit the blocked signals."""
        # Its start would unblock them.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with interrupt.delaying():
                return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _own_pool(most: int, processes: set[BaseProcess]) -> "Iterator[Executor]":
    """Make a pool and add its processes to the set; end all of them after an error."""
    others = multiprocessing.active_children()
    try:
        pool = _OwnPool(
            max_workers=max(1, min(most, len(os.sched_getaffinity(0)))),
            # A fork would copy the locks of other threads.
            mp_context=_Context(processes),
            initializer=_end_with_parent,
        )
    except OSError:
        # Their locks need /dev/shm, which is full, cannot be written, or is missing.
        yield SerialExecutor()
        return
    try:
        yield pool
    except BrokenProcessPool:
        # Its thread ends the others; only then does each have an exit status.
        pool.shutdown()
        raise
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if child not in others:
                child.terminate()
        raise
    pool.shutdown()


def _end_with_parent() -> None:
    """End this process when the one that made it is killed."""
    Thread(target=_exit_after_parent, daemon=True).start()


def _exit_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
