# SPDX-License-Identifier: GPL-2.0-or-later
"""What the mails print, RESULTS, and the experiments of data/measured."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import io
from swapsim.errors import InputError
from swapsim.io import data_root
from swapsim.tables import Table, read_csv, read_table

HAND: Final = pl.Enum(("first", "second"))  # copied from the source, or from notes of it
WINDOW: Final = pl.Enum(("write", "swap", "run"))
"""Part of a run of swap-w-seq: each task up to its own last page (write), from the first page out
to the first task's last page (swap), or all of it with the exit (run)."""

BETTER: Final = pl.Enum(("higher", "lower", "neither"))
_SOURCE: Final = pl.Enum(("published", "simulated", "measured"))

PUBLISHED: Final = Table(
    "PUBLISHED",
    "One row per printed cell of a mail's table (data/published).",
    dict.fromkeys(("patch", "mail", "locator", "table", "metric", "parameters"), pl.String),
    {"kernel": pl.String, "value": pl.Float64, "printed": pl.String, "decimals": pl.UInt8},
    {"stddev_percent": pl.Float64, "change_percent_printed": pl.String},
    {"change_percent": pl.Float64, "unit": pl.String, "better": BETTER},
)
REASONS: Final = Table(
    "REASONS",
    "Printed rows without a figure of a source, by regular expressions; the first that fits counts",
    dict.fromkeys(("mail", "table", "metric", "source", "reason"), pl.String),
)
WINDOWS: Final = Table(
    "WINDOWS",
    "The part of a run that metrics of a beginning describe; fitted: to which kernel's figure.",
    {"metric": pl.String, "window": WINDOW, "fitted": pl.String, "note": pl.String},
)
ONE_RUN: Final = {"patch": pl.String, "source": _SOURCE, "kernel": pl.String, "policy": pl.String}
RESULTS: Final = Table(
    "RESULTS",
    "One row per metric of one run; the seed of a measurement is the number of its round.",
    ONE_RUN,
    {"n_tasks": pl.UInt32, "seed": pl.UInt64},
    {"metric": pl.String, "value": pl.Float64, "unit": pl.String},
)
SLOTS_IN_USE: Final = Table(
    "SLOTS_IN_USE",
    "One row per range of adjacent swap slots that a set has in use, in order.",
    {"policy": pl.String, "seed": pl.UInt64, "set": pl.String},
    {"first": pl.UInt32, "count": pl.UInt32},
)
REMOVED_LISTS: Final = Table(
    "REMOVED_LISTS",
    "One row per call of shrink_folio_list that removed folios from the swap cache, in order.",
    {"kernel": pl.String, "policy": pl.String, "seed": pl.UInt64, "list": pl.UInt32},
    {"pid": pl.Int32, "cpu": pl.UInt16},
    dict.fromkeys(("folios", "slots", "clusters", "runs", "trunks"), pl.UInt32),
)


def published_tables() -> pl.DataFrame:
    """Read all printed cells of the mails (PUBLISHED), in the order of data/published.

    Examples
    --------
    >>> from swapsim.published import data
    >>> tables = data.published_tables()
    >>> tables.filter(metric="vmstat.swap.so", kernel="base").select("value", "unit").rows()
    [(1207402.0, 'KiB/s')]
    """
    paths = sorted((data_root() / "published").glob("[0-9][0-9]-*.csv"))
    return pl.concat(map(_cells, paths))


def _cells(path: Path) -> pl.DataFrame:
    frame = read_csv(
        path, PUBLISHED, ("stddev_percent", "change_percent_printed", "change_percent")
    )
    first = pl.struct("parameters", "locator").is_first_distinct()
    for twin in frame.select(first.not_()).to_series().arg_true()[:1]:
        why = f"{frame['locator'][twin]!r} is given twice: give each row once"
        raise InputError(why, path=path, line=twin + 2, field="locator")
    return frame


def _read(name: str, table: Table, *may_lack: str) -> pl.DataFrame:
    return read_csv(data_root() / "published" / name, table, may_lack)


def reasons() -> pl.DataFrame:
    """Read why rows of the mails' tables have no figure (REASONS): patterns, and words."""
    return _read("reasons.csv", REASONS)


def windows() -> pl.DataFrame:
    """Read the part of a run that each metric describes; stored before the runs (WINDOWS)."""
    return _read("windows.csv", WINDOWS, "fitted")


def window_of(metric: str) -> str:
    """Return the WINDOW of a metric, by the row of WINDOWS whose name it has or begins with."""
    frame = windows()
    found = frame.filter(pl.lit(metric).str.starts_with(pl.col("metric")))
    if found.is_empty():
        names = ", ".join(frame["metric"])
        raise InputError(f"{metric!r} has no window: choose one of {names}", field="metric")
    return str(found["window"][0])


@cache
def published_of(patch: str) -> tuple[pl.DataFrame, ...]:
    """Return the printed cells of one patch (PUBLISHED): what its studies read."""
    return (published_tables().filter(patch=patch),)


Row = tuple[str, float, str]  # metric, value, unit


def results(rows: pl.DataFrame | Sequence[Row], labels: Mapping[str, str | int]) -> pl.DataFrame:
    """Return rows (or a frame) as RESULTS, with ``labels`` in the columns that they lack."""
    schema = RESULTS.schema
    if not isinstance(rows, pl.DataFrame):
        columns = {name: schema[name] for name in ("metric", "value", "unit")}
        rows = pl.DataFrame(rows, schema=columns, orient="row")
    labelled = {"source": "simulated", **labels}
    frame = rows.with_columns(
        pl.lit(label).alias(name) for name, label in labelled.items() if name not in rows.columns
    )
    return frame.select(pl.col(name).cast(schema[name]) for name in schema)


def measured_results(experiment: str) -> pl.DataFrame:
    """Return the rounds of an experiment on a real kernel, a folder of data/measured.

    Returns
    -------
    polars.DataFrame
        RESULTS: ``patch, source, kernel, policy`` (the value of the switch), ``n_tasks, seed`` (the
        round), ``metric, value, unit``. `study.over` and `study.against` take it.

    Examples
    --------
    >>> from swapsim import published, study
    >>> rows = published.experiment("tasks-that-change-cpu").filter(metric="changes of CPU")
    >>> study.over(rows.select("policy", "seed", "value")).columns
    ['policy', 'runs', 'middle', 'low', 'high']
    """
    return measured_table(experiment, "results")


def measured_table(experiment: str, name: str) -> pl.DataFrame:
    """Read a table of an experiment of data/measured; some have "slots_in_use" or "lists"."""
    known = {"results": RESULTS, "slots_in_use": SLOTS_IN_USE, "lists": REMOVED_LISTS}
    return read_table(_experiment(experiment) / f"{name}.parquet", known[name])


def measured_provenance(experiment: str) -> dict[str, Any]:
    """Return the provenance of an experiment: kernel, switches, config, command, date."""
    return io.read_toml(_experiment(experiment) / "measured.toml")


def _experiment(experiment: str) -> Path:
    known = io.shipped_measurements()
    if experiment not in known:
        raise InputError(
            f"no such experiment; there are: {', '.join(known) or 'none yet'}", field=experiment
        )
    return known[experiment]
