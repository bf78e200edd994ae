# SPDX-License-Identifier: GPL-2.0-or-later
"""One task over many points, on any ``concurrent.futures.Executor``.

The points are plain data and the task a function of a module, so that both travel
to another process or machine. Results come back in the order of the points,
whoever was faster, and are those of a serial run: all that a task draws comes from
its point's seed. With a folder they are stored as they come, and a second run of the
same sweep does only what is missing.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

import polars as pl
from tqdm import tqdm

from swapsim.errors import ConfigError, InputError, SwapsimError
from swapsim.sweep import store as sweep_store

Point = TypeVar("Point")
Result = TypeVar("Result")
Done = TypeVar("Done")

BATCH_POINTS: Final = 8
"""Points that go to a worker at a time: enough to hide the way there, few enough to share out."""

_WAIT_SECONDS: Final = 0.2


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


def run(
    task: Callable[[Point], Result],
    points: Sequence[Point],
    *,
    executor: Executor | None = None,
    batch_points: int = BATCH_POINTS,
    progress: bool = False,
    folder: Path | str | None = None,
) -> list[Result]:
    """Give each point to the task.

    Parameters
    ----------
    task : callable
        A function of a module, or a ``functools.partial`` of one.
    points : sequence
        What it takes, one at a time; to be pickled.
    executor : concurrent.futures.Executor, optional
        Where to run; it stays open. None for as many new processes as this one may use CPUs; if
        one of them is killed, others take over, once.
    batch_points : int
        Points that are sent together, from 1.
    progress : bool
        Show a progress bar on stderr.
    folder : Path or str, optional
        Where to store each batch once it is done (`sweep_store`): a sweep that was interrupted
        goes on from there. The task has to return polars DataFrames, in a batch of one schema.

    Returns
    -------
    list
        What the task returned, in the order of the points.

    Raises
    ------
    InputError
        The folder holds another sweep, or the results cannot be stored.
    SwapsimError
        Processes were killed twice.
    ConfigError
        batch_points is out of its range.
    Exception
        Whatever a task raises first, with a note that names the point. What was not begun is
        given up then, and on Ctrl-C; what is stored stays.
    """
    if batch_points < 1:
        raise ConfigError(f"batch_points={batch_points}: choose at least 1")
    batches = {
        number: points[at : at + batch_points]
        for number, at in enumerate(range(0, len(points), batch_points))
    }
    with tqdm(total=len(points), desc="sweep", unit=" runs", disable=not progress) as bar:
        results: dict[int, list[Any]] = {}

        def take(number: int, found: list[Any]) -> None:
            results[number] = found
            bar.update(len(found))

        if folder is None:
            calls = {n: partial(_run_batch, task, batch) for n, batch in batches.items()}
            _work_off(calls, executor, take)
        else:
            sweep = sweep_store.identity(task, points, batch_points)
            with sweep_store.opened(Path(folder), sweep) as store:
                for number, frames in store.found().items():
                    take(number, frames)

                def keep(number: int, data: bytes) -> None:
                    store.keep(number, data)
                    take(number, sweep_store.unpack(data))

                missing = {
                    number: partial(_pack_batch, task, sweep, number, batch)
                    for number, batch in batches.items()
                    if number not in results
                }
                _work_off(missing, executor, keep)
    return [result for number in batches for result in results[number]]


def _run_batch(task: Callable[[Point], Result], batch: Sequence[Point]) -> list[Result]:
    return [_run_point(task, point) for point in batch]


def _run_point(task: Callable[[Point], Result], point: Point) -> Result:
    try:
        return task(point)
    except Exception as error:
        error.add_note(f"at the point {point}")
        raise


def _pack_batch(
    task: Callable[[Point], object],
    sweep: Mapping[str, str | int],
    number: int,
    batch: Sequence[Point],
) -> bytes:
    """Run a batch; return its file, so that the Parquet is made where the results are."""
    frames: list[pl.DataFrame] = []
    for point in batch:
        frame = _run_point(task, point)
        if not isinstance(frame, pl.DataFrame):
            raise InputError(
                f"{sweep['task']} returned {type(frame).__name__} at the point {point}: "
                "return polars DataFrames, or sweep without a folder"
            )
        if frames and frame.schema != frames[0].schema:
            raise InputError(
                f"{sweep['task']} returned other columns at the point {point} than before it: "
                "return frames of one schema, or sweep without a folder"
            )
        frames.append(frame)
    return sweep_store.pack(frames, sweep, number)


def _work_off(
    calls: Mapping[int, Callable[[], Done]],
    executor: Executor | None,
    take: Callable[[int, Done], None],
) -> None:
    """Let an executor, or new processes, make all calls; hand over each result as it comes."""
    if executor is not None:
        _submit(calls, executor, take)
        return
    left = dict(calls)

    def take_once(number: int, done: Done) -> None:
        take(number, done)
        del left[number]

    for again in (True, False):
        try:
            with _own_pool(len(left)) as pool:
                _submit(dict(left), pool, take_once)
            return
        except BrokenProcessPool as error:
            if not again:
                raise SwapsimError(
                    "processes of the sweep were killed twice, maybe for want of memory: "
                    "sweep over an executor with fewer of them"
                ) from error


def _submit(
    calls: Mapping[int, Callable[[], Done]], pool: Executor, take: Callable[[int, Done], None]
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
        while numbers:
            # A Ctrl-C that comes just before a wait does not end it: let none last.
            with suppress(Empty):
                future = ended.get(timeout=_WAIT_SECONDS)
                take(numbers.pop(future), future.result())
    except BaseException:
        for future in numbers:
            future.cancel()
        raise


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
def _own_pool(most: int) -> "Iterator[Executor]":
    """Make a pool of new processes; leave none behind when something is raised."""
    others = multiprocessing.active_children()
    pool = _OwnPool(
        max_workers=max(1, min(most, len(os.sched_getaffinity(0)))),
        # A fork would take the threads' locks along.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_end_with_parent,
    )
    try:
        yield pool
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
