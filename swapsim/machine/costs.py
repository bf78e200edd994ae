# SPDX-License-Identifier: GPL-2.0-or-later
"""What work costs: the constants of data/costs.csv that turn counts into time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.ffi.facts import COST_MAX, COST_NAMES
from swapsim.study import constants

_FILE: Final = constants.ConstantsFile(name="costs.csv", costs=COST_NAMES, most=COST_MAX)


def costs(root: Path | None = None) -> pl.DataFrame:
    """Read the constants that turn work into time.

    Parameters
    ----------
    root : Path, optional
        The folder of costs.csv; default: data.

    Returns
    -------
    polars.DataFrame
        Schema CONSTANTS, one row per constant, in the order of COST_NAMES.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit, or the constant that is
        missing.
    """
    return constants.read(_FILE, root)


def check_costs(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the costs in the order of COST_NAMES, if each is there once and fits.

    Parameters
    ----------
    frame : polars.DataFrame
        Schema CONSTANTS, rows in any order.

    Raises
    ------
    InputError
        As `config.constants.check`.
    """
    return constants.check(_FILE, frame)


def change_costs(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the costs with some of them at another value.

    Parameters
    ----------
    frame : polars.DataFrame
        Schema CONSTANTS.
    values : mapping of str to int
        Name -> ns, from 1 to COST_MAX. A value outside of low to high widens that range.

    Raises
    ------
    InputError
        Naming a cost that is unknown, or a value that is none.
    """
    return constants.change(_FILE, frame, values)
