# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands above a table: each column's unit, and what is the same in each row."""

import re
from typing import Final

import polars as pl

from swapsim.frames import glossary

_IN_THE_NAME: Final = re.compile(r"_(percent|share|ns|us|ms|s|mb|gb)$")


def units(frame: pl.DataFrame, unit: str = "") -> list[str]:
    """Return the unit of each column; empty if its name tells it, or nobody does.

    Parameters
    ----------
    frame : polars.DataFrame
    unit : str
        That of the columns of decimal figures that have no other.
    """
    told = glossary.units(frame.schema)
    return [
        _unit_of_figures(name, told.get(name) or unit) if dtype.is_float() else told.get(name, "")
        for name, dtype in frame.schema.items()
    ]


def _unit_of_figures(name: str, unit: str) -> str:
    from swapsim.slots import METRICS

    if name in METRICS:
        return METRICS[name].unit
    return "" if _IN_THE_NAME.search(name) else unit


def without_the_same(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """Part a frame into the columns that differ, and what is the same in each row.

    Only words are taken out that say what a row is of: those before the first figure, and the
    figures' ``unit``. What stands behind, such as a verdict, is a finding also if it is always one.

    Parameters
    ----------
    frame : polars.DataFrame

    Returns
    -------
    polars.DataFrame
    dict of str to str
        The one value of each column that was taken out.
    """
    words = [dtype in (pl.String, pl.Enum, pl.Categorical) for dtype in frame.dtypes]
    first = words.index(False) if False in words else 0
    same = {
        name: frame[name][0]
        for name in dict.fromkeys([*frame.columns[:first], "unit"])
        if name in frame.columns and frame.height > 1
        if frame[name].n_unique() == 1 and frame[name][0] is not None
    }
    return frame.drop(same), same
