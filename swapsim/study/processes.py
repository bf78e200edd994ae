# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes of a sweep on this machine: they end with it, and leave Ctrl-C to it."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, Final

from swapsim import interrupt

SECOND_READING: Final = 75  # exit status of a process whose script lacks a ``__main__`` guard
_NAME: Final = "process of a sweep"
_begun = False  # whether this is one of the processes, and it has read the script


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


def end_second_reading() -> None:
    """End a process of a sweep that starts a sweep while it reads the script of its parent.

    A script without a guard starts the sweep again in each process, and Python's own error is one
    traceback per process.
    """
    if multiprocessing.current_process().name == _NAME and not _begun:
        os._exit(SECOND_READING)


class _Context(SpawnContext):
    """Makes processes and records them, also one that ends before the next has begun."""

    def __init__(self, processes: set[BaseProcess]) -> None:
        super().__init__()
        self._made = processes

    def Process(  # type: ignore[override]  # noqa: N802, multiprocessing's own name
        self, *args: Any, **kwargs: Any
    ) -> SpawnProcess:
        """Make one."""
        process = SpawnProcess(*args, **kwargs | {"name": _NAME})
        self._made.add(process)
        return process


class OwnPool(ProcessPoolExecutor):
    """Processes that leave Ctrl-C to the one that made them, from their first moment on."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Start processes as needed; they inherit the blocked signals."""
        # Its start would unblock them.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with interrupt.delaying(), _script_from_a_file():
                return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _script_from_a_file() -> Iterator[None]:
    """Hide the name of a script that is no file, as on standard input: processes would open it."""
    main = vars(sys.modules["__main__"])
    name = main.get("__file__")
    if name is None or Path(name).exists():
        yield
        return
    del main["__file__"]
    try:
        yield
    finally:
        main["__file__"] = name


@contextmanager
def own_pool(most: int, processes: set[BaseProcess]) -> Iterator[Executor]:
    """Make a pool and add its processes to the set; end all of them after an error."""
    others = multiprocessing.active_children()
    try:
        pool = OwnPool(
            max_workers=max(1, min(most, len(os.sched_getaffinity(0)))),
            # A fork would copy the locks of other threads.
            mp_context=_Context(processes),
            initializer=_begin,
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


def _begin() -> None:
    """Let this process end when the one that made it is killed."""
    global _begun
    _begun = True
    Thread(target=_exit_after_parent, daemon=True).start()


def _exit_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
