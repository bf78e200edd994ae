# SPDX-License-Identifier: GPL-2.0-or-later
"""One task over many points, sent in batches; each may be stored once it is done.

Batches run in this process, in new ones, or on an executor of the caller. If new processes cannot
be started because /dev/shm cannot be written, this process runs all calls.
"""

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from pickle import PicklingError
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, Generic, TypedDict, TypeVar, Unpack

import polars as pl

from swapsim import interrupt
from swapsim.checks import brief, checked
from swapsim.errors import ConfigError, InputError, SwapsimError, require_some
from swapsim.progress import bar as progress_bar
from swapsim.study import cluster
from swapsim.study import store as sweep_store

Done = TypeVar("Done")

_WAIT_SECONDS: Final = 0.2

_SUSPECTS: Final = 4
"""Batches whose points are run alone after workers were killed: Dask blames all that they had."""

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
    _end_second_reading()
    for task in {id(batch.task): batch.task for batch in batches.values()}.values():
        _require_importable(task)
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
        if isinstance(error, PicklingError | AttributeError | TypeError) and "pickle" in str(error):
            raise _not_sent(batches[current]) from None
        if isinstance(pool, _OwnPool):
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


Point = TypeVar("Point")
Result = TypeVar("Result")

BATCH_POINTS: Final = 8
"""Points that go to a worker at a time: many for little overhead, few for an even share."""


class How(TypedDict, total=False):
    """Keywords of `run` that its callers pass on."""

    executor: Executor | None
    progress: bool
    folder: Path | str | None


@checked
def run(
    task: Callable[[Point], Result],
    points: Sequence[Point],
    *,
    executor: Executor | None = None,
    batch_points: int = BATCH_POINTS,
    progress: bool = False,
    folder: Path | str | None = None,
) -> list[Result]:
    """Call a task with each point and return the results.

    Parameters
    ----------
    task : callable
        A function of a module, or a ``functools.partial`` of one.
    points : sequence
        The arguments of the calls; they can be pickled.
    executor : concurrent.futures.Executor, optional
        Where to run; it stays open. Default: as many new processes as this one may use CPUs; if
        one of them is killed, others take over, once. ``client.get_executor()`` of a Dask client
        runs on a cluster, which runs the points of a killed worker again.
    batch_points : int
        Points that are sent together, from 1.
    progress : bool
        Show a progress bar on stderr; a notebook shows one anyway if the sweep takes long.
    folder : Path or str, optional
        Where to store each batch (`study.store`): a sweep that was interrupted continues there.
        The task has to return polars DataFrames, of one schema in a batch.

    Returns
    -------
    list
        What the task returned, in the order of the points.

    Raises
    ------
    InputError
        The folder holds another sweep, or the results cannot be stored.
    SwapsimError
        A process was killed, twice if it was one of the new ones; it names the point. Or a worker
        of a cluster has another installation of swapsim.
    ConfigError
        batch_points is out of its range.
    Exception
        The first that a task raises, with a note that names the point. Then, and on Ctrl-C, no
        other batch is begun; those that are stored stay.
    """
    if batch_points < 1:
        raise ConfigError(f"batch_points={batch_points}: choose at least 1")
    batches = {
        number: points[at : at + batch_points]
        for number, at in enumerate(range(0, len(points), batch_points))
    }
    with interrupt.recording(), progress_bar(len(points), "sweep", "runs", shown=progress) as bar:
        results: dict[int, list[Any]] = {}
        waiting = partial(bar.update, 0)

        def take(number: int, found: list[Any]) -> None:
            results[number] = found
            bar.update(len(found))

        if folder is None:
            calls = {n: Batch(partial(_run_batch, task, b), task, b) for n, b in batches.items()}
            work_off(calls, executor, take, waiting)
        else:
            sweep = sweep_store.identity(task, points, batch_points)
            with sweep_store.opened(Path(folder), sweep) as store:
                for number, frames in store.found().items():
                    # A file with another number of points is not from this sweep.
                    if len(frames) == len(batches.get(number, ())):
                        take(number, frames)

                def store_batch(number: int, data: bytes) -> None:
                    store.write(number, data)
                    take(number, sweep_store.unpack(data))

                missing = {
                    number: Batch(partial(_pack_batch, task, sweep, number, batch), task, batch)
                    for number, batch in batches.items()
                    if number not in results
                }
                work_off(missing, executor, store_batch, waiting)
    return [result for number in batches for result in results[number]]


@checked
def table(
    task: Callable[[Point], pl.DataFrame],
    points: Sequence[Point],
    *,
    batch_points: int = BATCH_POINTS,
    **how: Unpack[How],
) -> pl.DataFrame:
    """Run the task as `run` does and return its frames as one; at least one point is needed."""
    require_some(points, "points")
    return pl.concat(run(task, points, batch_points=batch_points, **how))


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
    """Run a batch and return its file, so that the worker writes the Parquet."""
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
