# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands above a table: the unit of each column, and values that are equal in all rows."""

import polars as pl

from swapsim.frames import glossary
from swapsim.frames.table import unit_in_name


def units(frame: pl.DataFrame, unit: str = "") -> list[str]:
    """Return the unit of each column; empty if its name ends in one, or no table declares it.

    Parameters
    ----------
    frame : polars.DataFrame
    unit : str
        The unit of columns of decimal numbers that have no other.
    """
    declared = glossary.units(frame.schema)
    return [
        declared.get(name) or (unit if dtype.is_float() and not unit_in_name(name) else "")
        for name, dtype in frame.schema.items()
    ]


def without_the_same(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """Split a frame into the columns that differ and the values that are equal in all rows.

    Only words that say what a row is about are taken out: those before the first figure, and the
    figures' ``unit``. A word behind them, such as a verdict, is a result even if it never changes.
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
