# SPDX-License-Identifier: GPL-2.0-or-later
"""The world's constants (data/world.csv): what work costs, and what the mail does not print."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.native.facts import WORLD_COST_MAX, WORLD_COSTS
from swapsim.paths import data_root
from swapsim.schemas import WORLD_CONSTANTS, require
from swapsim.schemas.csv_file import read_csv

MACHINE: Final = (
    "memory_pages",
    "pool_pages",
    "dma32_pages",
    "other_pages",
    "program_pages",
    "cached_pages",
    "min_free_pages",
    "swap_pages",
    "disk_rate",
    "seek_near_ns",
    "seek_far_ns",
    "nr_requests",
    "net_rate",
    "server_rate",
    "server_seek_ns",
    "item_pages",
    "write_delay_ms",
)
"""Constants of the mail's machine, besides what work costs."""

NAMES: Final = (*WORLD_COSTS, *MACHINE)
SOURCES: Final = ("microbenchmark", "published", "fit", "assumed")
"""What a source starts with: measured by us, read, fitted to a base column, or a guess."""


def constants(root: Path | None = None) -> pl.DataFrame:
    """Read the world's constants.

    Parameters
    ----------
    root : Path, optional
        The folder of world.csv; default: data.

    Returns
    -------
    polars.DataFrame
        Schema WORLD_CONSTANTS, one row per constant, in the order of NAMES.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit, or the constant that is
        missing.
    """
    path = (data_root() if root is None else root) / "world.csv"
    return check_constants(read_csv(path, WORLD_CONSTANTS, "WORLD_CONSTANTS"), path)


def check_constants(frame: pl.DataFrame, path: Path | None = None) -> pl.DataFrame:
    """Return the constants if each is there once and lies in its own range.

    Parameters
    ----------
    frame : polars.DataFrame
        Schema WORLD_CONSTANTS, rows in any order.
    path : Path, optional
        The file that it was read from, for the message.

    Returns
    -------
    polars.DataFrame
        The same rows in the order of NAMES.

    Raises
    ------
    InputError
        Naming the constant: an unknown or missing name, one given twice, a cost of 0, a value
        outside of low to high, a source that says nothing.
    """
    require(frame, WORLD_CONSTANTS, "WORLD_CONSTANTS")
    seen: set[str] = set()
    for line, row in enumerate(frame.iter_rows(named=True), start=2):
        fault = _misfit(row, seen)
        if fault is not None:
            raise InputError(
                f"constant {row['name']!r}: {fault[1]}",
                path=path,
                line=line if path else None,
                field=fault[0],
            )
        seen.add(str(row["name"]))
    for name in NAMES:
        if name not in seen:
            raise InputError(f"constant {name!r} is missing: add its row", path=path, field="name")
    order = pl.DataFrame({"name": NAMES}, schema={"name": pl.String})
    return order.join(frame, on="name", maintain_order="left").select(WORLD_CONSTANTS.names())


def change_constants(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the constants with some of them at another value, their ranges widened to it.

    Parameters
    ----------
    frame : polars.DataFrame
        Schema WORLD_CONSTANTS.
    values : mapping of str to int

    Returns
    -------
    polars.DataFrame
        Schema WORLD_CONSTANTS.

    Raises
    ------
    InputError
        Naming a constant that is unknown, or a value that is none.
    """
    for name, value in values.items():
        if name not in NAMES:
            raise InputError(
                f"constant {name!r} is unknown: choose one of {', '.join(NAMES)}", field="name"
            )
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"constant {name!r} of {value!r}: give a whole number", field="value")
    new = pl.col("name").replace_strict(values, default=None, return_dtype=pl.Int64)
    return check_constants(
        require(frame, WORLD_CONSTANTS, "WORLD_CONSTANTS").with_columns(
            value=pl.coalesce(new, "value"),
            low=pl.min_horizontal("low", pl.coalesce(new, "low")),
            high=pl.max_horizontal("high", pl.coalesce(new, "high")),
        )
    )


def values(frame: pl.DataFrame) -> dict[str, int]:
    """Return each constant's value.

    Raises
    ------
    InputError
        As `check_constants`.
    """
    return dict(check_constants(frame).select("name", "value").iter_rows())


def costs(frame: pl.DataFrame) -> dict[str, int]:
    """Return what work costs, of all constants.

    Raises
    ------
    InputError
        As `check_constants`.
    """
    found = values(frame)
    return {name: found[name] for name in WORLD_COSTS}


def _misfit(row: Mapping[str, object], seen: set[str]) -> tuple[str, str] | None:
    """Return the field at fault and what to do, None if the row fits."""
    name, value, low, high = row["name"], row["value"], row["low"], row["high"]
    least = 1 if name in WORLD_COSTS else 0
    if name not in NAMES:
        return "name", f"it is unknown; choose one of {', '.join(NAMES)}"
    if name in seen:
        return "name", "it is given twice: keep one row"
    if not isinstance(value, int) or not least <= value <= WORLD_COST_MAX:
        return "value", f"{value} is none: give a whole number from {least} to {WORLD_COST_MAX}"
    if not isinstance(low, int) or not 0 <= low <= value:
        return "low", f"{low} must be at most the value {value}"
    if not isinstance(high, int) or not value <= high:
        return "high", f"{high} must be at least the value {value}"
    if not str(row["source"]).startswith(SOURCES):
        return "source", f"start it with one of {', '.join(SOURCES)}"
    return None
