# SPDX-License-Identifier: GPL-2.0-or-later
"""One task over many points, sent in batches; each may be stored once it is done."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any, Final, TypedDict, TypeVar, Unpack

import polars as pl

from swapsim import interrupt
from swapsim.checks import checked
from swapsim.errors import ConfigError, InputError, require_some
from swapsim.progress import bar as progress_bar
from swapsim.study import store as sweep_store
from swapsim.study.batches import Batch, work_off

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
        Where to store each batch (`study.store`): a sweep that was interrupted continues there. It
        is for these points, and cannot be extended: more or other points need a new folder.
        The task has to return polars DataFrames, of one schema in a batch.

    Returns
    -------
    list
        What the task returned, in the order of the points.

    Raises
    ------
    Exception
        The first that a task raises, with a note that names the point; a SwapsimError if a process
        was killed again. Then, and on Ctrl-C, no other batch is begun; those that are stored stay.

    Examples
    --------
    >>> from swapsim import study
    >>> study.run(str.upper, ["shared", "percpu"], executor=study.SerialExecutor())
    ['SHARED', 'PERCPU']
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
