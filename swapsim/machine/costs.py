# SPDX-License-Identifier: GPL-2.0-or-later
"""The constants of data/costs.csv, which turn counts into time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.ffi import COST_MAX, COST_NAMES
from swapsim.study import constants

_FILE: Final = constants.ConstantsFile(name="costs.csv", costs=COST_NAMES, most=COST_MAX)

LONGEST_TAGS_NS: Final = 264
"""The longest plausible ``tag_ns``: two tag operations of the kernel's tree on average (three
descents at the start of writeback, one at its end), of 132 ns with cold caches, measured by
`swapsim bench`."""


def costs(root: Path | None = None) -> pl.DataFrame:
    """Read the constants that turn work into time.

    Parameters
    ----------
    root : Path, optional
        A folder with a costs.csv; default: the laboratory's data.

    Returns
    -------
    polars.DataFrame
        Schema CONSTANTS, a row for each constant in the order of COST_NAMES: its value, how low and
        how high it may be, most in ns, and the source of these figures.

    Raises
    ------
    InputError
        A row does not fit, with its file, line and field; or a constant is missing.

    Examples
    --------
    >>> from swapsim import frames, machine
    >>> constants = machine.costs.costs()
    >>> frames.show(constants.filter(name="copy_ns").select("name", "value", "low", "high"))
    name     value  low   high
    copy_ns    571  300  1,000
    """
    return constants.read(_FILE, root)


def costs_by_name(frame: pl.DataFrame | None = None) -> dict[str, int]:
    """Check constants (default: data/costs.csv); return each value in ns, ordered by COST_NAMES."""
    return constants.values(_FILE, costs() if frame is None else frame)


def change_costs(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the constants (CONSTANTS) with some of them changed, in ns from 1 to COST_MAX.

    A changed constant has the source "changed by the caller". A value outside of low to high
    extends that range, and a UserWarning names it.

    Examples
    --------
    >>> from swapsim.machine.costs import change_costs, costs
    >>> change_costs(costs(), {"copy_ns": 400}).filter(name="copy_ns")["value"].item()
    400
    """
    return constants.change(_FILE, frame, values)
