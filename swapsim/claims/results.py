# SPDX-License-Identifier: GPL-2.0-or-later
"""RESULTS, the long form of simulated and measured figures; the experiments of data/measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from swapsim.claims.tables import RESULTS, SLOTS_IN_USE
from swapsim.errors import InputError
from swapsim.frames.files import read_table
from swapsim.io import paths, read_toml

Row = tuple[str, float, str]
"""A metric, its value and its unit."""


def results(rows: pl.DataFrame | Sequence[Row], labels: Mapping[str, str | int]) -> pl.DataFrame:
    """Return rows in the form RESULTS, each with the labels of its run.

    Parameters
    ----------
    rows : polars.DataFrame or sequence of Row
        A frame may have further columns of RESULTS.
    labels : mapping of str to str or int
        Values of the columns that the rows lack. The default source is "simulated".

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, in the order of the rows.

    Raises
    ------
    InputError
        A column of RESULTS is missing.
    """
    if not isinstance(rows, pl.DataFrame):
        columns = {name: RESULTS.schema[name] for name in ("metric", "value", "unit")}
        rows = pl.DataFrame(rows, schema=columns, orient="row")
    labelled = {"source": "simulated", **labels}
    frame = rows.with_columns(
        pl.lit(label).alias(name) for name, label in labelled.items() if name not in rows.columns
    )
    typed = [
        pl.col(name).cast(RESULTS.schema[name]) for name in RESULTS.schema if name in frame.columns
    ]
    return RESULTS.check(frame.select(typed))


def measured_results(experiment: str) -> pl.DataFrame:
    """Read one experiment of data/measured.

    Parameters
    ----------
    experiment : str
        Name of its folder.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, source measured; seed is the number of the round.

    Raises
    ------
    InputError
        There is no such experiment, or its table has another schema.
    """
    return read_table(_folder(experiment) / "results.parquet", RESULTS)


def measured_slots(experiment: str) -> pl.DataFrame:
    """Read the sets of slots for which an experiment counted tree nodes (SLOTS_IN_USE).

    Errors are those of `measured_results`, and that it counted no tree nodes.
    """
    table = _folder(experiment) / "slots_in_use.parquet"
    if not table.exists():
        raise InputError("it counted no tree nodes: choose one that did", field=experiment)
    return read_table(table, SLOTS_IN_USE)


def measured_provenance(experiment: str) -> dict[str, Any]:
    """Return the provenance of an experiment: kernel, switches, config, command, date."""
    return read_toml(_folder(experiment) / "measured.toml")


def _folder(experiment: str) -> Path:
    known = paths.shipped_measurements()
    if experiment not in known:
        raise InputError(
            f"no such experiment; there are: {', '.join(known) or 'none yet'}", field=experiment
        )
    return known[experiment]
