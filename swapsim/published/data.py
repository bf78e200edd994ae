# SPDX-License-Identifier: GPL-2.0-or-later
"""What the mails print, a card for each patch, RESULTS, and the experiments of data/measured."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import io
from swapsim.errors import InputError
from swapsim.io import data_root, patches_root
from swapsim.published import tables
from swapsim.tables import Table, read_csv, read_table


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
    """Read the cells of a mail's tables, each of which stands once."""
    lacks = ("stddev_percent", "change_percent_printed", "change_percent")
    frame = read_csv(path, tables.PUBLISHED, lacks)
    first = pl.struct("parameters", "locator").is_first_distinct()
    for twin in frame.select(first.not_()).to_series().arg_true()[:1]:
        why = f"{frame['locator'][twin]!r} is given twice: give each row once"
        raise InputError(why, path=path, line=twin + 2, field="locator")
    return frame


def _read(name: str, table: Table, *may_lack: str) -> pl.DataFrame:
    return read_csv(data_root() / "published" / name, table, may_lack)


def mails() -> pl.DataFrame:
    """Read which mails the figures are from, and whether their texts were available (MAILS)."""
    return _read("mails.csv", tables.MAILS)


def links() -> pl.DataFrame:
    """Read the mails, commits and other sources that our texts cite (LINKS)."""
    return _read("links.csv", tables.LINKS, "target", "author", "date", "merged")


def reasons() -> pl.DataFrame:
    """Read why rows of the mails' tables have no figure (REASONS): patterns, and words."""
    return _read("reasons.csv", tables.REASONS)


def windows() -> pl.DataFrame:
    """Read the part of a run that each metric describes; stored before the runs (WINDOWS)."""
    return _read("windows.csv", tables.WINDOWS, "fitted")


def window_of(metric: str) -> str:
    """Return the WINDOW of a metric, by the row of WINDOWS whose name it has or begins with."""
    frame = windows()
    found = frame.filter(pl.lit(metric).str.starts_with(pl.col("metric")))
    if found.is_empty():
        names = ", ".join(frame["metric"])
        raise InputError(f"{metric!r} has no window: choose one of {names}", field="metric")
    return str(found["window"][0])


def patch_cards() -> pl.DataFrame:
    """Read the card of each patch: TOML between lines of +++, then markdown (CARD).

    Examples
    --------
    >>> from swapsim.published import data
    >>> data.patch_cards().select("patch", "author", "date").row(1)
    ('02-batched-removal', 'Mel Gorman', '2016-09-09')
    """
    cards = []
    for path in sorted(patches_root().glob("[0-9][0-9]-*/card.md")):
        front, closing, body = io.read_text(path).removeprefix("+++\n").partition("\n+++\n")
        if not closing:
            raise InputError("a card starts with TOML between two lines of +++", path=path, line=1)
        fields = io.parse_toml(front, path, "its front matter is no TOML")
        cards.append(fields | {"patch": path.parent.name, "body": body.strip()})
        if missing := [name for name in tables.CARD.schema if name not in cards[-1]]:
            raise InputError("is missing in the card: write it", path=path, field=missing[0])
    return pl.DataFrame(cards, schema=tables.CARD.schema, orient="row")


@cache
def published_of(patch: str) -> tuple[pl.DataFrame, ...]:
    """Return the printed cells of one patch (PUBLISHED): what its studies read."""
    return (published_tables().filter(patch=patch),)


Row = tuple[str, float, str]  # metric, value, unit


def results(rows: pl.DataFrame | Sequence[Row], labels: Mapping[str, str | int]) -> pl.DataFrame:
    """Return rows (or a frame) as RESULTS, with ``labels`` in the columns that they lack."""
    schema = tables.RESULTS.schema
    if not isinstance(rows, pl.DataFrame):
        columns = {name: schema[name] for name in ("metric", "value", "unit")}
        rows = pl.DataFrame(rows, schema=columns, orient="row")
    labelled = {"source": "simulated", **labels}
    frame = rows.with_columns(
        pl.lit(label).alias(name) for name, label in labelled.items() if name not in rows.columns
    )
    return frame.select(pl.col(name).cast(schema[name]) for name in schema)


def measured_results(experiment: str) -> pl.DataFrame:
    """Read the RESULTS of an experiment of data/measured; seed is the number of the round."""
    return read_table(_experiment(experiment) / "results.parquet", tables.RESULTS)


def measured_table(experiment: str, name: str) -> pl.DataFrame:
    """Read a further table that some experiments have: "slots_in_use" or "lists"."""
    further = {"slots_in_use": tables.SLOTS_IN_USE, "lists": tables.REMOVED_LISTS}
    return read_table(_experiment(experiment) / f"{name}.parquet", further[name])


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


SHORT: Final = 12  # digits of a commit in our texts and in its address


def address(kind: str, target: str) -> str:
    """Return the address of a mail, commit, article or other source (LINK)."""
    if kind == "mail":
        return f"https://lore.kernel.org/all/{target}/"
    if kind == "commit":
        return f"https://git.kernel.org/linus/{target[:SHORT]}"
    return f"https://lwn.net/Articles/{target}/" if kind == "article" else target
