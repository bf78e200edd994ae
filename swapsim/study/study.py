# SPDX-License-Identifier: GPL-2.0-or-later
"""Many runs of one function, and results that take long, stored in data/simulated.

::

    data/simulated/NAME.parquet    the rows, and in the file's metadata
        inputs   digest of what the study is given: its settings, costs and data
        rows     digest of the rows: a file with a flipped bit is damaged

A caller of a study gets the stored rows if its inputs are still the same; otherwise they are
computed. That the present code gives these rows is proved by computing them again: `make test` does
so with a sample of each study, `swapsim simulate --check` with all, and both compare bit for bit.
"""

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FunctionType
from typing import Any, Final, TypedDict, TypeVar, Unpack

import polars as pl

from swapsim import __version__
from swapsim import io as swapsim_io
from swapsim.errors import InputError, SwapsimError, require_some
from swapsim.io import data_root
from swapsim.progress import bar, check_interrupted

Point = TypeVar("Point")
Result = TypeVar("Result")
Reduce = Callable[[pl.DataFrame], pl.DataFrame]

FOLDER: Final = "simulated"

_WAIT_SECONDS: Final = 0.2  # A Ctrl-C that comes just before a wait does not end it

_READ: Final[dict[str, int]] = {}
"""Numbers of rows by the names of the studies whose stored rows were used since the last recap."""


class How(TypedDict, total=False):
    """Keywords of `run` that its callers pass on."""

    executor: Executor | None
    progress: bool
    folder: Path | str | None


def run(
    task: Callable[[Point], Result],
    points: Sequence[Point],
    *,
    executor: Executor | None = None,
    progress: bool = False,
    folder: Path | str | None = None,
) -> list[Result]:
    """Call a task with each point and return the results, in the order of the points.

    Parameters
    ----------
    task : callable
    points : sequence
        The arguments of the calls.
    executor : concurrent.futures.Executor, optional
        Where to run; it stays open. Default: as many threads as this process may use CPUs, since a
        call into the C core releases the GIL. Processes, and ``client.get_executor()`` of a Dask
        client, need a task of a module and points that can be pickled.
    progress : bool
        Show a progress bar on stderr; a notebook shows one anyway if it takes long.
    folder : Path or str, optional
        Where to keep each point's frame, so that a run that was interrupted continues there. The
        task has to be a function of a module that returns polars DataFrames; delete the folder
        after a change of code.

    Raises
    ------
    Exception
        The first that a task raises, with a note that names the point. Then, and on Ctrl-C, no
        other point is begun; those that are stored stay.

    Examples
    --------
    >>> from swapsim import study
    >>> study.run(str.upper, ["shared", "percpu"])
    ['SHARED', 'PERCPU']
    """
    results: dict[int, Any] = {}
    files = {} if folder is None else _files(task, points, Path(folder))
    ended: SimpleQueue[Future[Result]] = SimpleQueue()
    with bar(len(points), "sweep", "runs", shown=progress) as shown, _workers(executor) as workers:
        for number, file in files.items():
            if (kept := _undamaged(file)) is not None:
                results[number] = kept[0]
                shown.update()
        numbers = {
            workers.submit(_at, task, point): number
            for number, point in enumerate(points)
            if number not in results
        }
        try:
            for future in numbers:
                future.add_done_callback(ended.put)
            while len(results) < len(points):
                shown.update(0)
                check_interrupted()
                with suppress(Empty):
                    future = ended.get(timeout=_WAIT_SECONDS)
                    result, number = future.result(), numbers[future]
                    if files:
                        _store(files[number], result)
                    results[number] = result
                    shown.update()
        except BaseException:
            for future in numbers:
                future.cancel()
            raise
    return [results[number] for number in range(len(points))]


def table(
    task: Callable[[Point], pl.DataFrame], points: Sequence[Point], **how: Unpack[How]
) -> pl.DataFrame:
    """Run the task as `run` does and return its frames as one; at least one point is needed."""
    require_some(points, "points")
    return pl.concat(run(task, points, **how))


@contextmanager
def _workers(executor: Executor | None) -> Iterator[Executor]:
    """Yield the caller's executor, or threads that end with the body."""
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        yield threads


def _at(task: Callable[[Point], Result], point: Point) -> Result:
    try:
        return task(point)
    except Exception as error:
        error.add_note(f"at the point {point}")
        raise


def _files(task: Callable[..., object], points: Sequence[object], folder: Path) -> dict[int, Path]:
    """Return the file of each point, named by the task and the point."""
    try:
        names = [hashlib.sha256(pickle.dumps((task, point))).hexdigest() for point in points]
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"folder={str(folder)!r} needs a task of a module and points that can be pickled "
            f"({error}): define the task in a file, or give no folder"
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    return {number: folder / f"{name}.parquet" for number, name in enumerate(names)}


def _store(file: Path, rows: object, **metadata: str) -> bool:
    """Write rows with their digest; return whether the file has changed."""
    if not isinstance(rows, pl.DataFrame):
        raise InputError(
            f"the task returned {type(rows).__name__}: return polars DataFrames, or give no folder"
        )
    made = io.BytesIO()
    rows.write_parquet(made, metadata=metadata | {"rows": _digest_of(rows)})
    if file.is_file() and file.read_bytes() == made.getvalue():
        return False
    swapsim_io.write_atomically(file, made.getvalue())
    return True


def _undamaged(file: Path) -> tuple[pl.DataFrame, dict[str, str]] | None:
    """Return the rows of a file and its metadata; None if it is missing or damaged."""
    try:
        data = swapsim_io.read_bytes(file)
        metadata = swapsim_io.decode_metadata(data, file)
        rows = swapsim_io.decode(data, file)
    except InputError:
        return None
    return (rows, metadata) if metadata.get("rows") == _digest_of(rows) else None


@dataclass(frozen=True, slots=True)
class Recap:
    """A line on the studies that a notebook read."""

    text: str

    def __repr__(self) -> str:
        """Return the line for a terminal."""
        return self.text

    def _repr_html_(self) -> str:
        return f'<p class="stored"><small>{escape(self.text, quote=False)}</small></p>'


def recap() -> Recap:
    """Return a line on the studies whose stored rows were used since the last recap."""
    names = ", ".join(f"{name} ({rows:,} rows)" for name, rows in _READ.items())
    _READ.clear()
    if not names:
        return Recap("Stored results: none.")
    return Recap(
        f"Stored results: {names}. They are of the present costs and data; 'make test' computes a "
        "sample of each again."
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study:
    """A result that takes long to compute: its points, what runs one, what is made of their rows.

    Parameters
    ----------
    name : str
        Name of the file without its ending; it starts with the name of the patch.
    points : sequence or callable
        Plain data, or a function without arguments that returns them.
    run : callable
        Takes a point and returns its rows.
    reduce : callable, optional
        Makes the stored rows of those of all points, each group apart; it may sort. It needs
        ``group`` or ``sample``.
    group : callable, optional
        Returns the group of a point, whose rows stand next to each other; default: each point is
        one. A sample is one group.
    quick : callable, optional
        Whether a point may be in a sample, which takes at most about one second of CPU time.
    sample : callable, optional
        Takes the stored rows and any number, and computes again the part that the number selects:
        for studies whose points take too long.
    reads : tuple
        Data that decide the result: patterns of file names in data, or functions that return
        frames.
    """

    name: str
    points: Sequence[Any] | Callable[[], Sequence[Any]]
    run: Callable[[Any], pl.DataFrame]
    reduce: Reduce | None = None
    group: Callable[[Any], object] | None = None
    quick: Callable[[Any], bool] | None = None
    sample: Callable[[pl.DataFrame, int], pl.DataFrame] | None = None
    reads: tuple[str | Callable[[], Iterable[pl.DataFrame]], ...]

    def __post_init__(self) -> None:
        """Check that a sample can be taken."""
        if self.reduce and not (self.group or self.sample):
            raise InputError(
                f"study {self.name!r} reduces its rows and has no sample: give group= or sample="
            )

    @property
    def path(self) -> Path:
        """The file that stores the result."""
        return data_root() / FOLDER / f"{self.name}.parquet"

    def __call__(self) -> pl.DataFrame:
        """Return the stored rows, which `recap` then names, or compute them if those are stale."""
        rows, why = self._stored()
        if rows is None:
            print(f"{self.name}: {why}: computed here")
            return self.compute(progress=True)
        _READ[self.name] = rows.height
        return rows

    def load(self) -> pl.DataFrame:
        """Return the rows as a call does, for other studies: `recap` does not name them."""
        rows, why = self._stored()
        if rows is None:
            print(f"{self.name}: {why}: computed here", file=sys.stderr)
            return self.compute()
        return rows

    def stale(self) -> str | None:
        """Return in a few words why the stored rows cannot be used; None if they can."""
        rows, why = self._stored()
        return why if rows is None else None

    def compute(self, **how: Unpack[How]) -> pl.DataFrame:
        """Compute the rows; the parameters are those of `study.run`."""
        return self._of_points(self._points(), **how)

    def check(self, rows: pl.DataFrame, pick: int = 0) -> int:
        """Compute the sample that a number selects, compare it with the rows, return its height.

        A SwapsimError says that its rows are not among the rows next to each other, or that it has
        none.
        """
        part = self._sample(rows, pick)
        if part.height and part.schema == rows.schema and _text(part) in _text(rows):
            return part.height
        known = set(map(repr, rows.iter_rows()))
        other = [row for row in part.iter_rows() if repr(row) not in known]
        what = f"this row is new: {other[0]}" if other else f"{part.height} rows, {part.schema}"
        raise SwapsimError(
            f"{self.path}: a sample that was computed again is not the same ({what}): "
            f"run 'swapsim simulate {self.name}' and look for what differs"
        )

    def is_reproduced(self, **how: Unpack[How]) -> bool:
        """Whether all rows come out as they are stored, to the last bit and in their order."""
        found, computed = _undamaged(self.path), self.compute(**how)
        if found is None or found[0].schema != computed.schema:
            return False
        return _text(found[0]) == _text(computed)

    def update(self, *, folder: Path | None = None, progress: bool = False) -> bool:
        """Compute the rows, store them, and return whether the file has changed.

        The rows of each point are stored in `folder` at once: an update that was interrupted
        continues there, as long as the inputs are the same.
        """
        inputs = self._inputs()
        points = folder and folder / self.name / inputs[:16]
        rows = self.compute(progress=progress, folder=points)
        self.path.parent.mkdir(exist_ok=True)
        return _store(self.path, rows, study=self.name, swapsim=__version__, inputs=inputs)

    def _stored(self) -> tuple[pl.DataFrame | None, str]:
        """Return the stored rows, or None and why they cannot be used."""
        found = _undamaged(self.path)
        if found is None:
            return None, "its file is damaged" if self.path.exists() else "not stored yet"
        if found[1].get("inputs") != self._inputs():
            return None, "its inputs have changed"
        return found[0], ""

    def _inputs(self) -> str:
        """Return the digest of the settings and of the data that decide the result."""
        found = [_setting(part) for part in (self.points, self.run, self.reduce)]
        for source in self.reads:
            if callable(source):
                found += map(_digest_of, source())
            else:
                files = sorted(data_root().glob(source))
                if not files:
                    raise InputError(
                        f"study {self.name!r} reads {source!r}, but no file in {data_root()} has "
                        "such a name: a change of its data would not be noticed"
                    )
                found += [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
        return _digest(found)

    def _points(self) -> Sequence[Any]:
        return self.points() if callable(self.points) else self.points

    def _of_points(self, points: Sequence[Any], **how: Unpack[How]) -> pl.DataFrame:
        rows = table(self.run, points, **how)
        return rows if self.reduce is None else self.reduce(rows)

    def _sample(self, rows: pl.DataFrame, pick: int) -> pl.DataFrame:
        if self.sample is not None:
            return self.sample(rows, pick)
        points = [each for each in self._points() if self.quick is None or self.quick(each)]
        groups = [self.group(each) if self.group else n for n, each in enumerate(points)]
        distinct = list(dict.fromkeys(groups))
        chosen = distinct[pick % len(distinct)]
        return self._of_points(
            [each for each, group in zip(points, groups, strict=True) if group == chosen]
        )


def picked(rows: pl.DataFrame, columns: Sequence[str], pick: int) -> tuple[Any, ...]:
    """Return one of the distinct rows of some columns; any number selects one."""
    distinct = rows.select(columns).unique(maintain_order=True)
    return distinct.row(pick % distinct.height)


def _setting(part: object) -> str:
    """Return plain data as text, a function as its name and a partial as both."""
    if isinstance(part, partial):
        given = [*part.args, *part.keywords.items()]
        return f"{_setting(part.func)}({', '.join(map(_setting, given))})"
    if type(part) is tuple:
        return f"({', '.join(map(_setting, part))})"
    return str(part.__name__) if isinstance(part, FunctionType | type) else repr(part)


def _text(rows: pl.DataFrame) -> str:
    """Return a line per row, between line ends: each float to its last bit."""
    return "\n".join(["", *(repr(row) for row in rows.iter_rows()), ""])


def _digest_of(rows: pl.DataFrame) -> str:
    return _digest([*rows.columns, _text(rows)])


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
