# SPDX-License-Identifier: GPL-2.0-or-later
"""The world's constants (data/world.csv): what work costs, and what the mail does not print."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.ffi.facts import WORLD_COST_MAX, WORLD_COSTS
from swapsim.study import constants as files

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

_FILE: Final = files.ConstantsFile(
    name="world.csv", costs=WORLD_COSTS, others=MACHINE, most=WORLD_COST_MAX
)


def constants(root: Path | None = None) -> pl.DataFrame:
    """Read the world's constants.

    Parameters
    ----------
    root : Path, optional
        The folder of world.csv; default: data.

    Returns
    -------
    polars.DataFrame
        Schema CONSTANTS, one row per constant: the costs, then those of MACHINE.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit, or the constant that is
        missing.
    """
    return files.read(_FILE, root)


def change_constants(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the constants with some of them at another value, their ranges widened to it.

    Parameters
    ----------
    frame : polars.DataFrame
        Schema CONSTANTS.
    values : mapping of str to int

    Raises
    ------
    InputError
        Naming a constant that is unknown, or a value that is none.
    """
    return files.change(_FILE, frame, values)


def values(frame: pl.DataFrame) -> dict[str, int]:
    """Return each constant's value.

    Raises
    ------
    InputError
        As `config.constants.check`.
    """
    return files.values(_FILE, frame)


def costs(frame: pl.DataFrame) -> dict[str, int]:
    """Return what work costs, of all constants.

    Raises
    ------
    InputError
        As `config.constants.check`.
    """
    found = values(frame)
    return {name: found[name] for name in WORLD_COSTS}
