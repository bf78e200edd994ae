# SPDX-License-Identifier: GPL-2.0-or-later
"""The workload and the machine of patch B's mail, what is fitted to it, and how it is judged.

All of this was stored before the first run of the sweeps. What was known by then: the mail's
tables, and a trial with a simple LRU list, which gave changes of 20 to 24 points between equal
kernels, and a probability of 0.24 to 0.28 for the loss with three threads.

The second fit, of November 2026, was stored before its first run, in sight of two trials by others:
with threads uneven by 60 to 65 % all ten figures of vanilla were within a factor of two, and
batching changed system time by -9 to -15 %. What is fitted to which cells::

    a fault, an access   Amean System-1 and Elapsd-1 of vanilla, as before; one thread has no seed
    uneven_percent       Amean System-N and Elapsd-N of vanilla for N = 3, 5, 7, 8: the multiple of
                         5 from 10 to 90 with the least sum of squared logs of simulated / printed,
                         means over seeds 1 to 140, shares of MIDDLE, one value for all N

The sweeps then have lists for each of the mail's four nodes, and reclaim takes them in batches; the
same fit with one node and single pages is the comparison. Held out are batch-v1's column, and the
deviation of a run. The machine of prices stays as it is: with a device four times larger it tests
736 slots a page, not 163, and a fault of 8 threads takes 0.7 % longer (measured before the fit).
"""

import math
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.io import data_root
from swapsim.patches.batched_removal.tables import LOCK_FITS, WORKLOAD
from swapsim.tables import read_csv

FILE: Final = "usemem.csv"
LOCKS_FILE: Final = "swap-cache-locks.csv"

PATCH: Final = "02-batched-removal"
"""Its folder in patches, and its rows in data."""

THREADS: Final = (1, 3, 5, 7, 8)  # the numbers of threads in the mail's table

FITTED: Final = ("Amean System-1", "Amean Elapsd-1")
"""The cells of vanilla that constants are fitted to; all other cells are held out."""

_LEAST_OF_SEVEN: Final = 1.3521783756
"""How far the least of seven normal values lies below their mean on average, in deviations."""

_MIN_AND_AMEAN: Final = ((18.31, 23.63), (28.32, 48.80))
"""Elapsd-8 of usemem, seven runs each of ramdisknonrot-v1 and waitqueue-v1.

Source: the table of 3/4 of the series, "patch B, 3/4 of its series" in data/published/links.csv.
"""


def workload(root: Path | None = None) -> pl.DataFrame:
    """Read the workload of patch B's mail from usemem.csv (WORKLOAD).

    InputError is raised if a row does not fit, or a value is outside of its own range.
    """
    path = (data_root() if root is None else root) / FILE
    frame = read_csv(path, WORKLOAD)
    for row in frame.iter_rows(named=True):
        if not row["low"] <= row["value"] <= row["high"]:
            raise InputError(
                f"{row['name']}={row['value']:g}: give a value from {row['low']:g} to "
                f"{row['high']:g}, its own low and high",
                path=path,
                field="value",
            )
    return frame


@cache
def workload_values() -> dict[str, float]:
    """Return each value of `workload` by its name."""
    return dict(workload().select("name", "value").iter_rows())


@cache
def lock_fits() -> pl.DataFrame:
    """Read the costs of 4.8's locks, for each tag share that patch A's base allows (LOCK_FITS)."""
    return read_csv(data_root() / LOCKS_FILE, LOCK_FITS)


@cache
def spreads_percent() -> tuple[float, float]:
    """Return how far a run of usemem deviates from its mean, in percent, by two cells of the mail.

    3/4 of the series prints Min next to Amean for two kernels, of seven runs each. The least of
    seven normal values lies 1.35 deviations below their mean. The smaller figure is first.
    """
    found = [100 * (1 - least / mean) / _LEAST_OF_SEVEN for least, mean in _MIN_AND_AMEAN]
    return min(found), max(found)


def error_of_change(change: float) -> float:
    """Return the standard deviation, in points, of a change in percent between two means.

    A run deviates by the root mean square of `spreads_percent`, also in system time.
    """
    iterations = workload_values()["iterations"]
    squares = math.fsum(one**2 for one in spreads_percent())
    return (1 + change / 100) * math.sqrt(squares / 2) * math.sqrt(2 / iterations)


def chance_of_change(change: float) -> float:
    """Return the probability that two equal kernels change by at least as much in its direction."""
    return math.erfc(abs(change) / error_of_change(0) / math.sqrt(2)) / 2
