# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the world in which reclaim decides."""

from collections.abc import Callable
from typing import Final

import polars as pl

from swapsim.reclaim import _native as native_vm
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.constants import constants as read_constants
from swapsim.reclaim.constants import costs

World = native_vm.Watched
"""What a run gives: its rounds, counters, zones, sleeps, and memory and activity by time."""

SECOND_NS: Final = 1_000_000_000


def run(
    config: ReclaimConfig,
    constants: pl.DataFrame | None = None,
    *,
    sample_ns: int = SECOND_NS,
    tick: Callable[[int], object] = lambda _now: None,
) -> World:
    """Run a world to its end: all rounds, or out of memory.

    Parameters
    ----------
    config : ReclaimConfig
    constants : polars.DataFrame, optional
        Schema CONSTANTS, of which the costs are read; default: data/world.csv.
    sample_ns : int
        Simulated time between two samples of memory.
    tick : callable
        Takes the simulated time in ns, many times a second: for a progress bar.

    Returns
    -------
    World

    Raises
    ------
    InputError
        A constant that does not fit.
    ConfigError
        A config whose parts do not fit together.
    NativeMemoryError

    Source
    ------
    ``reclaim.h``, which says what of the kernel is kept and what is dropped.
    """
    found = costs(read_constants() if constants is None else constants)
    return native_vm.watch(config, found, sample_ns=sample_ns, tick=tick)
