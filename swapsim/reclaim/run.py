# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a simulation: to its end, along single pages, or counted over a time window."""

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from swapsim.checks import check_number
from swapsim.reclaim import _native
from swapsim.reclaim._native import Result, Window
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.constants import LAB_GUEST, MAIL, costs

SECOND_NS: Final = 1_000_000_000


def run(
    config: ReclaimConfig,
    constants: pl.DataFrame | None = None,
    *,
    sample_ns: int = SECOND_NS,
    tick: Callable[[int], object] = lambda _now: None,
) -> Result:
    """Run a simulation to its end: all rounds, or out of memory.

    Parameters
    ----------
    config : ReclaimConfig
    constants : polars.DataFrame, optional
        Schema CONSTANTS, of which the costs are read; default: data/reclaim.csv.
    sample_ns : int
        Simulated time between two samples of memory.
    tick : callable
        Takes the simulated time in ns, many times a second: for a progress bar.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        A constant that does not fit.
    ConfigError
        Fields of the config that do not fit together.
    NativeMemoryError

    Source
    ------
    ``reclaim.h``, which says what of the kernel it models.
    """
    return _native.simulate(config, costs(MAIL, constants), sample_ns=sample_ns, tick=tick)


def follow_pages(
    config: ReclaimConfig,
    pages: Sequence[int],
    constants: pl.DataFrame | None = None,
    *,
    step_ns: int = 1_000_000,
) -> pl.DataFrame:
    """Return where single pages of the client's pool are, from the first touch to the exit.

    Parameters
    ----------
    config : ReclaimConfig
    pages : sequence of int
        Their numbers in the pool, from 0.
    constants : polars.DataFrame, optional
        As for `run`.
    step_ns : int
        Simulated time between two samples; a shorter stay may be missed.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_PAGES, in order of time.

    Raises
    ------
    InputError, ConfigError, NativeMemoryError
        As `run`; or a page that is not in the pool, or a step of 0.
    """
    for page in pages:
        check_number("pages", page, 0, config.items * config.item_pages - 1)
    check_number("step_ns", step_ns, 1, _native.NEVER)
    return _native.follow_pages(config, costs(MAIL, constants), pages, step_ns=step_ns)


def run_lab_guest(config: ReclaimConfig, constants: pl.DataFrame | None = None) -> Window:
    """Run one round of the lab's test, and count while the pool is served, as the lab does.

    Parameters
    ----------
    config : ReclaimConfig
        As `lab_guest` returns it.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/reclaim-lab-guest.csv.

    Returns
    -------
    Window

    Raises
    ------
    InputError, ConfigError, NativeMemoryError
        As `run`.
    """
    return _native.count_window(config, costs(LAB_GUEST, constants))
