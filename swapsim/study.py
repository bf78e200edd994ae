# SPDX-License-Identifier: GPL-2.0-or-later
"""Many runs of one function, what they say together, and results that take long.

``data/simulated/NAME.parquet`` has the rows of a study, and in its metadata the digest of its
inputs (settings, costs, data) and that of the rows. A study returns the stored rows if its inputs
are still the same, else it computes them. `make test` computes a sample of each study again,
`swapsim simulate --check` all, bit for bit.
"""

import hashlib
import io
import math
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import accumulate, permutations
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FunctionType
from typing import Any, Final, Literal, TypedDict, TypeVar, Unpack

import polars as pl

from swapsim import __version__
from swapsim import io as swapsim_io
from swapsim.errors import InputError, SwapsimError, require_some
from swapsim.io import data_root, repository_root
from swapsim.progress import TextBar, bar, check_interrupted, interrupting
from swapsim.tables import Metric

__all__ = ["Study", "against", "load", "over", "rank", "run", "simulate"]

Point = TypeVar("Point")
Result = TypeVar("Result")

_WAIT_SECONDS: Final = 0.2  # A Ctrl-C that comes just before a wait does not end it

CONFIDENCE: Final = 0.95  # of an interval
FEWEST_RUNS: Final = 5  # of which a median and a rank are stated; the interval of four has 87.5 %
RANKED: Final = {"rank": pl.String()} | dict.fromkeys(
    ("better_than", "tied_with"), pl.List(pl.String())
)


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
        Where to run; it stays open. Default: a thread for each CPU, since a call into the C core
        releases the GIL. Processes, and ``client.get_executor()`` of a Dask client, need a task
        of a module and points that can be pickled.
    progress : bool
        Show a bar on stderr; a notebook shows one anyway if it takes long.
    folder : Path or str, optional
        Where to keep each point's frame, so that a run that was interrupted continues there, of a
        module's function that returns DataFrames; delete it after a change of code.

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
    files: dict[int, Path] = {}
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        names = [hashlib.sha256(pickle.dumps((task, point))).hexdigest() for point in points]
        files = {at: Path(folder) / f"{name}.parquet" for at, name in enumerate(names)}
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
                        _store(files[number], result)  # type: ignore[arg-type]
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
        try:
            yield threads
        except KeyboardInterrupt:
            with interrupting():
                threads.shutdown(cancel_futures=True)
            raise


def _at(task: Callable[[Point], Result], point: Point) -> Result:
    try:
        return task(point)
    except Exception as error:
        error.add_note(f"at the point {point}")
        raise


def _store(file: Path, rows: pl.DataFrame, **metadata: str) -> bool:
    """Write rows with their digest; return whether the file has changed."""
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
        *_, metadata = swapsim_io.decode_footer(data, file)
        rows = swapsim_io.decode(data, file)
    except InputError:
        return None
    return (rows, metadata) if metadata.get("rows") == _digest_of(rows) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study:
    """A result that takes long to compute: its points, and what runs one. A call returns its rows.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    points : sequence or callable
        Plain data, or a function without arguments that returns them.
    run : callable
        Takes a point and returns its rows, a polars.DataFrame.
    reads : tuple
        What decides the result: patterns of names in data, or functions that return frames.
    quick : callable, optional
        Whether a point may be the sample of `make test`, about one second of CPU time.
    sample : callable, optional
        Takes the stored rows and any number, and computes the part again that this selects.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim.study import Study
    >>> def double(point):
    ...     return pl.DataFrame({"point": [point], "value": [2.0 * point]})
    >>> mine = Study(name="mine", points=(1, 2), run=double, reads=("costs.csv",))
    >>> mine.stale(), mine.compute().rows()
    ('not stored yet', [(1, 2.0), (2, 4.0)])
    """

    name: str
    points: Sequence[Any] | Callable[[], Sequence[Any]]
    run: Callable[[Any], pl.DataFrame]
    quick: Callable[[Any], bool] | None = None
    sample: Callable[[pl.DataFrame, int], pl.DataFrame] | None = None
    reads: tuple[str | Callable[[], Iterable[pl.DataFrame]], ...]

    @property
    def path(self) -> Path:
        """The file that stores the result."""
        return data_root() / "simulated" / f"{self.name}.parquet"

    def load(self) -> pl.DataFrame:
        """Return the stored rows, or compute them if those are stale; a line says why."""
        rows, why = self._stored()
        if rows is None:
            print(f"{self.name}: {why}: computed here", file=sys.stderr)
            return self.compute(progress=True)
        return rows

    __call__ = load

    def stale(self) -> str | None:
        """Return in a few words why the stored rows cannot be used; None if they can."""
        rows, why = self._stored()
        return why if rows is None else None

    def compute(self, **how: Unpack[How]) -> pl.DataFrame:
        """Compute the rows; the parameters are those of `run`."""
        return table(self.run, self._points(), **how)

    def check(self, rows: pl.DataFrame, pick: int = 0) -> int:
        """Compute the sample that a number selects, and return its height if the rows have it."""
        if self.sample is not None:
            part = self.sample(rows, pick)
        else:
            points = [each for each in self._points() if self.quick is None or self.quick(each)]
            part = self.run(points[pick % len(points)])
        if part.height and part.schema == rows.schema and _text(part) in _text(rows):
            return part.height
        known = set(map(repr, rows.iter_rows()))
        new = [row for row in part.iter_rows() if repr(row) not in known]
        raise SwapsimError(
            f"{self.path}: a sample that was computed again is not the same (new rows: {new[:1]}): "
            f"run 'swapsim simulate {self.name}' and look for what differs"
        )

    def is_reproduced(self, **how: Unpack[How]) -> bool:
        """Whether all rows come out as they are stored, to the last bit and in their order."""
        found, computed = _undamaged(self.path), self.compute(**how)
        if found is None or found[0].schema != computed.schema:
            return False
        return _text(found[0]) == _text(computed)

    def update(self, *, folder: Path | None = None, progress: bool = False) -> bool:
        """Compute the rows, each point's kept in `folder`; store them; say if the file changed."""
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
        found = [_setting(part) for part in (self.points, self.run, None)]
        for source in self.reads:
            if callable(source):
                found += map(_digest_of, source())
            else:
                files = sorted(data_root().glob(source))
                if not files:
                    raise InputError(f"study {self.name!r} reads {source!r}, which is no file")
                found += [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
        return _digest(found)

    def _points(self) -> Sequence[Any]:
        return self.points() if callable(self.points) else self.points


def _setting(part: object) -> str:
    """Return plain data as text, a function as its name and a partial as both."""
    if isinstance(part, partial):
        given = [*part.args, *part.keywords.items()]
        return f"{_setting(part.func)}({', '.join(map(_setting, given))})"
    if type(part) is tuple:
        return f"({', '.join(map(_setting, part))})"
    return str(part.__name__) if isinstance(part, FunctionType | type) else repr(part)


def _text(rows: pl.DataFrame) -> str:
    """Return a line per row: each float to its last bit."""
    return "\n".join(["", *(repr(row) for row in rows.iter_rows()), ""])


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _digest_of(rows: pl.DataFrame) -> str:
    return _digest([*rows.columns, _text(rows)])


def load(name: str) -> pl.DataFrame:
    """Return the rows of a stored study, by the name of its file in data/simulated.

    Returns
    -------
    polars.DataFrame
        Its settings, then mostly ``seed``, ``metric`` and ``value``.

    Raises
    ------
    SwapsimError
        No study has the name, its file is damaged, or its costs or data have changed since.

    Examples
    --------
    >>> from swapsim import study
    >>> study.load("writeback-tags-gain-by-writers").columns
    ['setting', 'label', 'policy', 'fit', 'seed', 'metric', 'value']
    """
    (found,) = _of_patches([name])
    rows, why = found._stored()
    if rows is None:
        raise SwapsimError(f"{found.path}: {why}: run 'swapsim simulate {name}'")
    return rows


def simulate(names: Sequence[str] = (), *, progress: bool = False) -> Iterator[tuple[str, bool]]:
    """Compute and store the results of studies, all by default, as ``swapsim simulate`` does.

    Yields
    ------
    tuple of str and bool
        A study's name, and whether its file has changed. Until all are done, the rows of each
        point lie in build/simulate, where a run that was interrupted continues.

    Examples
    --------
    >>> from swapsim import study
    >>> list(study.simulate(["cluster-next-fits"]))  # doctest: +SKIP
    [('cluster-next-fits', False)]
    """
    unfinished = repository_root() / "build" / "simulate"
    chosen = _of_patches(names)
    with TextBar(chosen, desc="simulate", unit=" results", disable=not progress) as shown:
        for each in shown:
            shown.set_postfix_str(each.name)
            yield each.name, each.update(folder=unfinished, progress=progress)
    for each in chosen:
        shutil.rmtree(unfinished / each.name, ignore_errors=True)


def _of_patches(names: Sequence[str]) -> list[Study]:
    return list(import_module("swapsim.site.simulated").studies(names))


def over(
    rows: pl.DataFrame,
    *by: str,
    value: str = "value",
    stat: Literal["median", "mean"] = "median",
    interval: bool = False,
) -> pl.DataFrame:
    """Return the middle, the least and the greatest of a figure in each setting.

    Parameters
    ----------
    rows : polars.DataFrame
        Rows in long form, one for each run and figure, whose null counts as no run.
    *by : str
        The columns that make a setting; default: all but ``seed`` and the value.
    stat : {"median", "mean"}
        What the middle is.
    interval : bool
        Whether ``low`` and ``high`` are the ends of the median's exact 95 % interval by order
        statistics, in place of the least and the greatest value.

    Returns
    -------
    polars.DataFrame
        ``by``, then ``runs, middle, low, high``, in the order of first appearance.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import study
    >>> rows = pl.DataFrame({"tasks": [1, 1, 2], "seed": [1, 2, 1], "value": [10, 12, 20]})
    >>> study.over(rows).rows()
    [(1, 2, 11.0, 10.0, 12.0), (2, 1, 20.0, 20.0, 20.0)]
    """
    keys = by or tuple(name for name in rows.columns if name not in {"seed", value})
    found = rows.drop_nulls(value).with_columns(pl.lit(0).alias("")).group_by(
        *keys, "", maintain_order=True
    ).agg(each=pl.col(value).cast(pl.Float64))  # fmt: skip
    ends = [interval_of(each) if interval else (min(each), max(each)) for each in found["each"]]
    means = [math.fsum(each) / len(each) for each in found["each"]]  # whatever the order of runs
    return found.select(
        *keys,
        runs=pl.col("each").list.len(),
        middle=pl.col("each").list.median()
        if stat == "median"
        else pl.Series(means, dtype=pl.Float64),
        low=pl.Series([low for low, _ in ends], dtype=pl.Float64),
        high=pl.Series([high for _, high in ends], dtype=pl.Float64),
    )


def against(rows: pl.DataFrame, *, value: str = "value", **base: Any) -> pl.DataFrame:
    """Return the change of each row from the base row with the same other settings and seed.

    Parameters
    ----------
    rows : polars.DataFrame
        Rows in long form, with one base row, as ``policy="shared"``, for each other setting.

    Returns
    -------
    polars.DataFrame
        The other rows, whose value is the change in percent of the base; null where the base is
        missing or zero.

    Raises
    ------
    InputError
        No row is of the base. Several base rows for one setting are polars' ComputeError.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import study
    >>> rows = pl.DataFrame({"policy": ["shared", "percpu"], "seed": [1, 1], "value": [10.0, 12.5]})
    >>> study.against(rows, policy="shared").rows()
    [('percpu', 1, 25.0)]
    """
    is_base = pl.all_horizontal(pl.col(name).eq_missing(given) for name, given in base.items())
    keys = [name for name in rows.columns if name not in {*base, value}]
    found = rows.with_columns(pl.lit(0).alias(""))
    bases = found.filter(is_base).select(*keys, "", pl.col(value).alias("base of it"))
    if bases.is_empty():
        raise InputError(f"no row has {base}: choose a base that was run")
    joined = found.filter(~is_base).join(
        bases, on=[*keys, ""], how="left", validate="m:1", maintain_order="left", nulls_equal=True
    )
    ratio = pl.col(value) / pl.col("base of it")
    change = pl.when(pl.col("base of it") != 0).then(100 * (ratio - 1))
    return joined.with_columns(change.alias(value)).select(rows.columns)


def rank(rows: pl.DataFrame, better: str = "lower") -> pl.DataFrame:
    """Return policies in the order that runs with equal seeds allow, the best first.

    A policy is above another if the 95 % interval of the median of their differences, seed by
    seed, leaves out 0, with at least five seeds.

    Parameters
    ----------
    rows : polars.DataFrame
        ``policy, seed, value``, and other columns that are the same for all rows of a policy. A
        null value counts as no run.
    better : {"lower", "higher"}
        Which values are the better ones.

    Returns
    -------
    polars.DataFrame
        The columns of a policy, ``seeds, median, low, high`` (the median's own interval);
        ``rank``, a place or the places that the differences allow, such as "1-3"; ``better_than``
        and ``tied_with``, lists of policies.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import study
    >>> runs = {"shared": [9, 8, 9, 7, 9], "percpu": [5, 4, 5, 4, 6]}
    >>> rows = [(name, seed, n) for name, each in runs.items() for seed, n in enumerate(each)]
    >>> frame = pl.DataFrame(rows, schema=["policy", "seed", "value"], orient="row")
    >>> study.rank(frame).select("rank", "policy", "median", "better_than").rows()
    [('1', 'percpu', 5.0, ['shared']), ('2', 'shared', 9.0, [])]
    """
    found = over(rows, interval=True).rename({"runs": "seeds", "middle": "median"})
    runs = {
        name: dict(each.select("seed", "value").iter_rows())
        for (name,), each in rows.drop_nulls("value").group_by("policy", maintain_order=True)
    }
    better_than: dict[str, list[str]] = {name: [] for name in runs}
    for name, other in permutations(runs, 2):
        shared = [runs[name][seed] - runs[other][seed] for seed in runs[name].keys() & runs[other]]
        low, high = interval_of(shared) if len(shared) >= FEWEST_RUNS else (-math.inf, math.inf)
        if low > 0 if better == "higher" else high < 0:
            better_than[name].append(other)
    ranked = []
    for row in found.iter_rows(named=True):
        name = row["policy"]
        worse = better_than[name]
        better_ones = [other for other in runs if name in better_than[other]]
        first, last = 1 + len(better_ones), len(runs) - len(worse)
        row["rank"] = str(first) if first == last else f"{first}-{last}"
        row["better_than"] = worse
        row["tied_with"] = [each for each in runs if each not in {name, *worse, *better_ones}]
        sign = -1 if better == "higher" else 1
        ranked.append((first, last, sign * row["median"], name, row))
    ranked.sort(key=lambda each: each[:-1])
    schema = pl.Schema({**found.schema, **RANKED})
    return pl.DataFrame([row for *_, row in ranked], schema=schema)


def rank_table(
    rows: pl.DataFrame, metrics: Mapping[str, Metric], built_in: Collection[str]
) -> pl.DataFrame:
    """Rank policies in one table by the first metric: ``rule, user``, medians, ``NAME_rank``.

    Policies that are equal in all runs share a row.
    """
    chosen = rows.filter(pl.col("metric").is_in([*metrics]))
    alike: dict[object, list[str]] = {}
    for (policy,), part in chosen.group_by("policy", maintain_order=True):
        runs = part.select("metric", "seed", "value").sort("metric", "seed").rows()
        alike.setdefault(tuple(runs), []).append(str(policy))
    names = [same[0] for same in alike.values()]
    found = pl.DataFrame(
        {
            "policy": names,
            "rule": [", ".join(same) for same in alike.values()],
            "user": [not {*built_in}.issuperset(same) for same in alike.values()],
        }
    )
    for name, metric in metrics.items():
        of_metric = chosen.filter(pl.col("policy").is_in(names), metric=name)
        places = rank(of_metric.select("policy", "seed", "value"), metric.better).with_row_index()
        own = {name: "median", f"{name}_rank": "rank", f"{name}_at": "index"}
        found = found.join(
            places.select("policy", **own), on="policy", how="left", maintain_order="left"
        )
    ordered = found.sort(f"{next(iter(metrics))}_at", nulls_last=True)
    return ordered.select("rule", "user", *metrics, *(f"{name}_rank" for name in metrics))


def interval_of(values: Sequence[float]) -> tuple[float, float]:
    """Return the narrowest 95 % interval of a median between order statistics; of few, all."""
    in_order, count = sorted(values), len(values)
    # So many values may lie outside at each end as heads of fair coins are no surprise.
    heads = [*accumulate(math.comb(count, each) for each in range(count + 1))][1:]
    inside = (at for at, n in enumerate(heads) if 2 * math.ldexp(n, -count) > 1 - CONFIDENCE)
    left_out = next(inside, 0)
    return in_order[left_out], in_order[-1 - left_out]
