# SPDX-License-Identifier: GPL-2.0-or-later
"""One task over many points, on any ``concurrent.futures.Executor``.

The points are plain data and the task a function of a module, so that both travel
to another process or machine. Results come back in the order of the points,
whoever was faster, and are those of a serial run: all that a task draws comes from
its point's seed.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from typing import Any, Final, TypeVar

from tqdm import tqdm

Point = TypeVar("Point")
Result = TypeVar("Result")

BATCH_POINTS: Final = 8
"""Points that go to a worker at a time: enough to hide the way there, few enough to share out."""


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
) -> list[Result]:
    """Give each point to the task.

    Parameters
    ----------
    task : callable
        A function of a module, or a ``functools.partial`` of one.
    points : sequence
        What it takes, one at a time; to be pickled.
    executor : concurrent.futures.Executor, optional
        Where to run; it stays open. None for as many new processes as this one may use CPUs.
    batch_points : int
        Points that are sent together, from 1.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    list
        What the task returned, in the order of the points.

    Raises
    ------
    Exception
        Whatever a task raises first, with a note that names the point. What was not begun is
        given up then, and on Ctrl-C.
    """
    batches = [points[at : at + batch_points] for at in range(0, len(points), batch_points)]
    with (
        _own_pool(len(batches)) if executor is None else nullcontext(executor) as pool,
        tqdm(total=len(points), desc="sweep", unit=" runs", disable=not progress) as bar,
    ):
        futures: list[Future[list[Result]]] = []
        try:
            for batch in batches:
                futures.append(pool.submit(_run_batch, task, batch))
            number = {future: at for at, future in enumerate(futures)}
            for future in as_completed(futures):
                future.result()
                bar.update(len(batches[number[future]]))
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return [result for future in futures for result in future.result()]


def _run_batch(task: Callable[[Point], Result], batch: Sequence[Point]) -> list[Result]:
    results = []
    for point in batch:
        try:
            results.append(task(point))
        except Exception as error:
            error.add_note(f"at the point {point}")
            raise
    return results


@contextmanager
def _own_pool(most: int) -> "Iterator[Executor]":
    """Make a pool of new processes; leave none behind when something is raised."""
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(
        max_workers=max(1, min(most, len(os.sched_getaffinity(0)))),
        # A fork would take the threads' locks along.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_ignore_interrupts,
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


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that made the pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
