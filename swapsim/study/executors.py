# SPDX-License-Identifier: GPL-2.0-or-later
"""Who makes the calls of a sweep: this process, new ones, or an executor of the caller's.

Where no new ones can be made, for want of a /dev/shm that can be written, this one makes them all:
that takes longer and comes to the same.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from swapsim import interrupt
from swapsim.errors import SwapsimError

Done = TypeVar("Done")

_WAIT_SECONDS: Final = 0.2

_SECOND_READING: Final = 75
"""With what a process exits that came to a sweep while it read its script."""


class SerialExecutor(Executor):
    """Runs each task in this process, at once: the yardstick of all other executors."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Run the task now; Ctrl-C passes through."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def work_off(
    calls: Mapping[int, Callable[[], Done]],
    executor: Executor | None,
    take: Callable[[int, Done], None],
    waiting: Callable[[], object],
) -> None:
    """Let an executor, or new processes, make all calls; hand over each result as it comes.

    While there is none, some times a second, say that it is still being waited for.
    """
    if executor is not None:
        _submit(calls, executor, take, waiting)
        return
    _end_second_reading()
    left = dict(calls)

    def take_once(number: int, done: Done) -> None:
        take(number, done)
        del left[number]

    for again in (True, False):
        processes: set[BaseProcess] = set()
        try:
            with _own_pool(len(left), processes) as pool:
                _submit(dict(left), pool, take_once, waiting)
            return
        except BrokenProcessPool as error:
            if any(process.exitcode == _SECOND_READING for process in processes):
                raise SwapsimError(
                    "the processes of a sweep read your script anew and came to the sweep again: "
                    "put what it does below 'if __name__ == \"__main__\":', or sweep over an "
                    "executor of your own"
                ) from None
            if not again:
                raise SwapsimError(
                    "processes of the sweep were killed twice, maybe for want of memory: "
                    "have fewer of them ('taskset -c 0' leaves one), or an executor of your own"
                ) from error


def _submit(
    calls: Mapping[int, Callable[[], Done]],
    pool: Executor,
    take: Callable[[int, Done], None],
    waiting: Callable[[], object],
) -> None:
    numbers: dict[Future[Done], int] = {}
    ended: SimpleQueue[Future[Done]] = SimpleQueue()
    try:
        for number, call in calls.items():
            future = pool.submit(call)
            numbers[future] = number
            future.add_done_callback(ended.put)
            # SerialExecutor's is there already: an interrupt in the next call is not to lose it.
            while not ended.empty():
                future = ended.get()
                take(numbers.pop(future), future.result())
            interrupt.check()
        while numbers:
            # A Ctrl-C that comes just before a wait does not end it: let none last.
            with suppress(Empty):
                future = ended.get(timeout=_WAIT_SECONDS)
                take(numbers.pop(future), future.result())
            waiting()
            interrupt.check()
    except BaseException:
        # Our own pool calls off what has not begun, and takes it for a fault if it is already.
        for future in () if isinstance(pool, _OwnPool) else numbers:
            future.cancel()
        raise


def _end_second_reading() -> None:
    """End a process that sweeps while it reads the script of the one that made it.

    New processes read it for what it defines. Without a guard it starts the sweep there again, and
    so on without end, if Python did not forbid it, at the length of a traceback a process.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(_SECOND_READING)


class _Context(SpawnContext):
    """Makes new processes and remembers them, also one that ends before the next has begun."""

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
    """New processes that leave Ctrl-C to the one that made them, from their first moment on."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Start processes as needed: they inherit what is blocked."""
        # Its start would unblock.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _own_pool(most: int, processes: set[BaseProcess]) -> "Iterator[Executor]":
    """Make a pool of new processes and name them; leave none behind when something is raised."""
    others = multiprocessing.active_children()
    try:
        pool = _OwnPool(
            max_workers=max(1, min(most, len(os.sched_getaffinity(0)))),
            # A fork would take the threads' locks along.
            mp_context=_Context(processes),
            initializer=_end_with_parent,
        )
    except OSError:
        # Their locks lie in /dev/shm, which is full, cannot be written, or is not there.
        yield SerialExecutor()
        return
    try:
        yield pool
    except BrokenProcessPool:
        # Its thread ends the others; only then does each tell with what it ended.
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
    """End this process when the one that made it was killed, whatever it is at."""
    Thread(target=_exit_after_parent, daemon=True).start()


def _exit_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
