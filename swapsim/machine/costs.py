# SPDX-License-Identifier: GPL-2.0-or-later
"""What work costs: the constants of data/costs.csv that turn counts into time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.native.facts import COST_MAX, COST_NAMES
from swapsim.paths import data_root
from swapsim.schemas import COSTS, require
from swapsim.schemas.csv_file import read_csv

SOURCES: Final = ("microbenchmark", "published", "fit", "assumed")
"""What a source starts with: measured by us, read, fitted to a base column, or a guess."""


def costs(root: Path | None = None) -> pl.DataFrame:
    """Read the constants that turn work into time.

    Parameters
    ----------
    root : Path, optional
        The folder of costs.csv; default: data.

    Returns
    -------
    polars.DataFrame
        Schema COSTS, one row per constant, in the order of COST_NAMES.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit, or the constant that is
        missing.
    """
    path = (data_root() if root is None else root) / "costs.csv"
    return check_costs(read_csv(path, COSTS, "COSTS"), path)


def check_costs(frame: pl.DataFrame, path: Path | None = None) -> pl.DataFrame:
    """Return the constants if each is there once, is positive and lies in its own range.

    Parameters
    ----------
    frame : polars.DataFrame
        Schema COSTS, rows in any order.
    path : Path, optional
        The file that it was read from, for the message.

    Returns
    -------
    polars.DataFrame
        The same rows in the order of COST_NAMES.

    Raises
    ------
    InputError
        Naming the constant and its row: an unknown or missing name, one given twice, a value of
        0 or beyond COST_MAX, one outside of low to high, a source that says nothing.
    """
    require(frame, COSTS, "COSTS")
    seen: set[str] = set()
    for line, row in enumerate(frame.iter_rows(named=True), start=2):
        fault = _misfit(row, seen)
        if fault is not None:
            field, message = fault
            name = f"cost {row['name']!r}"
            raise InputError(
                f"{name}: {message}" if path else f"{name} in row {line - 1}: {message}",
                path=path,
                line=line if path else None,
                field=field,
            )
        seen.add(str(row["name"]))
    for name in COST_NAMES:
        if name not in seen:
            raise InputError(f"cost {name!r} is missing: add its row", path=path, field="name")
    order = pl.DataFrame({"name": COST_NAMES}, schema={"name": pl.String})
    return order.join(frame, on="name", maintain_order="left").select(COSTS.names())


def change_costs(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the constants with some of them at another value.

    Parameters
    ----------
    frame : polars.DataFrame
        Schema COSTS.
    values : mapping of str to int
        Name -> ns. A value outside of low to high widens that range.

    Returns
    -------
    polars.DataFrame
        Schema COSTS.

    Raises
    ------
    InputError
        Naming a constant that is unknown or a value that is not a whole number from 1 to COST_MAX.
    """
    for name, value in values.items():
        if name not in COST_NAMES:
            raise InputError(
                f"cost {name!r} is unknown: choose one of {', '.join(COST_NAMES)}", field="name"
            )
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= COST_MAX:
            raise InputError(
                f"cost {name!r} of {value!r}: give a whole number of ns from 1 to {COST_MAX}",
                field="value",
            )
    names = pl.col("name")
    new = names.replace_strict(values, default=None, return_dtype=pl.UInt32)
    return check_costs(
        require(frame, COSTS, "COSTS").with_columns(
            value=pl.coalesce(new, "value"),
            low=pl.min_horizontal("low", pl.coalesce(new, "low")),
            high=pl.max_horizontal("high", pl.coalesce(new, "high")),
        )
    )


def _misfit(row: Mapping[str, object], seen: set[str]) -> tuple[str, str] | None:
    """Return the field at fault and what to do, None if the row fits."""
    name, value, low, high = row["name"], row["value"], row["low"], row["high"]
    if name not in COST_NAMES:
        return "name", f"it is unknown; choose one of {', '.join(COST_NAMES)}"
    if name in seen:
        return "name", "it is given twice: keep one row"
    if not isinstance(value, int) or not 1 <= value <= COST_MAX:
        return "value", f"{value} is no cost: give a whole number of ns from 1 to {COST_MAX}"
    if not isinstance(low, int) or not 1 <= low <= value:
        return "low", f"{low} must be at least 1 and at most the value {value}"
    if not isinstance(high, int) or not value <= high <= COST_MAX:
        return "high", f"{high} must be at least the value {value} and at most {COST_MAX}"
    if row["unit"] != "ns":
        return "unit", f"{row['unit']!r} is no unit of a cost: give ns"
    if not str(row["source"]).startswith(SOURCES):
        return "source", f"start it with one of {', '.join(SOURCES)}"
    return None
