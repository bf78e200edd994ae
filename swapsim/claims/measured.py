# SPDX-License-Identifier: GPL-2.0-or-later
"""What a real kernel measured with a patch switched off and on: the third column."""

from pathlib import Path
from typing import Any

import polars as pl

from swapsim.claims.tables import RESULTS, SLOTS_IN_USE
from swapsim.errors import InputError
from swapsim.frames.files import read_table
from swapsim.io import paths, read_toml


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
        If there is no such experiment, or its table has another schema.
    """
    table = _folder(experiment) / "results.parquet"
    return read_table(table, RESULTS)


def measured_slots(experiment: str) -> pl.DataFrame:
    """Read the sets of slots that an experiment counted tree nodes for.

    Returns
    -------
    polars.DataFrame
        Schema SLOTS_IN_USE.

    Raises
    ------
    InputError
        If there is no such experiment, it counted none, or its table has another schema.
    """
    table = _folder(experiment) / "slots_in_use.parquet"
    if not table.exists():
        raise InputError("it counted no tree nodes: choose one that did", field=experiment)
    return read_table(table, SLOTS_IN_USE)


def measured_provenance(experiment: str) -> dict[str, Any]:
    """Return where an experiment's figures come from: kernel, switches, config, command, date.

    Raises
    ------
    InputError
        If there is no such experiment.
    """
    return read_toml(_folder(experiment) / "measured.toml")


def _folder(experiment: str) -> Path:
    known = paths.shipped_measurements()
    if experiment not in known:
        raise InputError(
            f"no such experiment; there are: {', '.join(known) or 'none yet'}", field=experiment
        )
    return known[experiment]
