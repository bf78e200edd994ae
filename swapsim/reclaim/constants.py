# SPDX-License-Identifier: GPL-2.0-or-later
"""The constants of the mail's machine (data/reclaim.csv) and of the lab guest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.ffi import RECLAIM_COST_MAX, RECLAIM_COSTS
from swapsim.study import constants as files

MAIL: Final = files.ConstantsFile(
    name="reclaim.csv",
    costs=RECLAIM_COSTS,
    others=(
        *("memory_pages", "pool_pages", "dma32_pages", "other_pages", "program_pages"),
        *("cached_pages", "min_free_pages", "swap_pages", "disk_rate", "seek_near_ns"),
        *("seek_far_ns", "nr_requests", "net_rate", "server_rate", "server_seek_ns"),
        *("item_pages", "write_delay_ms"),
    ),
    most=RECLAIM_COST_MAX,
)
"""What work costs, and what the mail does not print of its machine."""

LAB_GUEST: Final = files.ConstantsFile(
    name="reclaim-lab-guest.csv",
    costs=RECLAIM_COSTS,
    others=(
        *("available_pages", "kernel_pages", "gap_pages", "dirty_percent", "background_percent"),
        *("swap_pages", "disk_pages", "disk_rate", "seek_ns", "nr_requests", "writes_turn_ms"),
    ),
    most=RECLAIM_COST_MAX,
)
"""What work costs in the lab guest, and its machine."""


def constants(root: Path | None = None) -> pl.DataFrame:
    """Read the constants of the mail's machine (data/reclaim.csv).

    Parameters
    ----------
    root : Path, optional
        The folder of reclaim.csv; default: data.

    Returns
    -------
    polars.DataFrame
        Schema CONSTANTS, one row per constant: first the costs.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit, or the constant that is
        missing.
    """
    return files.read(MAIL, root)


def change_constants(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the constants of the mail's machine with other values, and ranges that hold them.

    Parameters
    ----------
    frame : polars.DataFrame
        Schema CONSTANTS.
    values : mapping of str to int

    Raises
    ------
    InputError
        Naming a constant that is unknown, or a value that is not allowed.
    """
    return files.change(MAIL, frame, values)


def lab_guest_constants(
    changed: Mapping[str, int] | None = None, root: Path | None = None
) -> pl.DataFrame:
    """Read the constants of the lab guest (data/reclaim-lab-guest.csv).

    Parameters
    ----------
    changed : mapping of str to int, optional
        Other values of some of them.
    root : Path, optional
        The folder of reclaim-lab-guest.csv; default: data.

    Returns
    -------
    polars.DataFrame
        Schema CONSTANTS, one row per constant: first the costs.

    Raises
    ------
    InputError
        As for `constants`, or naming an unknown constant of ``changed``.
    """
    return files.change(LAB_GUEST, files.read(LAB_GUEST, root), changed or {})


def values(file: files.ConstantsFile, frame: pl.DataFrame | None) -> dict[str, int]:
    """Return each constant's value; without a frame those of the file."""
    return files.values(file, files.read(file) if frame is None else frame)


def costs(file: files.ConstantsFile, frame: pl.DataFrame | None) -> dict[str, int]:
    """Return the costs among the constants, in ns."""
    found = values(file, frame)
    return {name: found[name] for name in RECLAIM_COSTS}
