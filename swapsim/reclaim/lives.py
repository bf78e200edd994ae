# SPDX-License-Identifier: GPL-2.0-or-later
"""The lives of single pages: where each is, from its first touch to the client's exit."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim.checks import check_number
from swapsim.reclaim import _native as native_vm
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.constants import constants as read_constants
from swapsim.reclaim.constants import costs

NEVER: Final = native_vm.NEVER


def lives(
    config: ReclaimConfig,
    pages: Sequence[int],
    constants: pl.DataFrame | None = None,
    *,
    step_ns: int = 1_000_000,
    since_ns: int = 0,
    until_ns: int = NEVER,
) -> pl.DataFrame:
    """Follow a few pages of the client's pool through a run.

    Parameters
    ----------
    config : ReclaimConfig
    pages : sequence of int
        Their numbers in the pool, from 0.
    constants : polars.DataFrame, optional
        Schema CONSTANTS, of which the costs are read; default: data/world.csv.
    step_ns : int
        Simulated time between two looks: what lasts for less may be missed.
    since_ns, until_ns : int
        When to look.

    Returns
    -------
    polars.DataFrame
        Schema WORLD_LIVES, in order of time.

    Raises
    ------
    InputError
        A constant that does not fit.
    ConfigError
        A config whose parts do not fit together, a page that is none of the pool, a step of 0.
    NativeMemoryError
    """
    for page in pages:
        check_number("pages", page, 0, config.items * config.item_pages - 1)
    check_number("step_ns", step_ns, 1, NEVER)
    return native_vm.follow(
        config,
        costs(read_constants() if constants is None else constants),
        pages,
        step_ns=step_ns,
        since_ns=since_ns,
        until_ns=until_ns,
    )
