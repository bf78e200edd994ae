# SPDX-License-Identifier: GPL-2.0-or-later
"""Free constants of the mail's machine, fitted to 3.9's column of its first table."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from swapsim import claims, reclaim
from swapsim.machine.fit import residuals
from swapsim.machine.tables import FIT_ROWS
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH
from swapsim.patches.stall_decisions.runs import Run

# The fit: free constants, fitted to 3.9's column of the mail's first table and nothing else.

FITTED_KERNEL: Final = "vanilla"

FREE: Final = {
    "write_delay_ms": "Ops memcachetest-4055M",
    "disk_rate": "Ops io-duration-4055M",
    "seek_near_ns": "Ops majorfaults-4055M",
}
"""Each free constant, and the figure that depends on it most. It stays in its range in
data/reclaim.csv, whose value is the one that was found."""

FIT_TARGETS: Final = ("Ops memcachetest-0M", *FREE.values())
"""The first needs no search: without faults at 0M, ``op_ns`` follows from it."""

FIT_SEEDS: Final = tuple(range(101, 107))
"""Other seeds than those of the tables by which the fit is judged."""

NEAR: Final = 0.05
"""Maximum relative difference at which a figure counts as met."""


def fit_targets() -> dict[str, float]:
    """Return the printed figure of each target."""
    table = claims.published_tables().filter(patch=PATCH, table="parallelio, disk")
    column = table.filter(kernel=FITTED_KERNEL)
    printed = dict(column.select("metric", "value").iter_rows())
    return {row: float(printed[row]) for row in FIT_TARGETS}


def fit_figures(constants: Mapping[str, int]) -> dict[str, float]:
    """Return the simulated figure of each target, the mean over FIT_SEEDS."""
    rules = KERNELS[FITTED_KERNEL]
    runs = [Run(rules=rules, seed=seed, constants=constants) for seed in FIT_SEEDS]
    rows = pl.concat(reclaim.ops(reclaim.run(*run.config())) for run in runs)
    means = dict(rows.group_by("metric").agg(pl.col("value").mean()).iter_rows())
    return {row: means[row] for row in FIT_TARGETS}


def search() -> dict[str, int]:
    """Find the constants by least squares of the figures' logarithms, to three digits."""
    from scipy import optimize

    limits = reclaim.constants().rows_by_key("name", named=True, unique=True)
    ranges = {name: (limits[name]["low"], limits[name]["high"]) for name in FREE}
    aim = fit_targets()

    # From 1, at the low end, to 2: scipy's steps are relative to the position.
    def at(point: np.ndarray) -> dict[str, int]:
        found = {}
        for (name, (low, high)), share in zip(ranges.items(), point.tolist(), strict=True):
            found[name] = int(float(f"{low ** (2 - share) * high ** (share - 1):.2e}"))
        return found

    def off(point: np.ndarray) -> np.ndarray:
        found = fit_figures(at(point))
        return np.array([math.log(found[row] / aim[row]) for row in FREE.values()])

    # The middle of the ranges does not depend on the stored values; a slope over a tenth of a range
    # is larger than a run's own noise.
    best = optimize.least_squares(off, [1.5] * len(FREE), bounds=(1, 2), diff_step=0.1, max_nfev=8)
    return at(best.x)


def fit(_kernel: str) -> pl.DataFrame:
    """Fit the free constants to the kernel's column (FIT_ROWS)."""
    return _fit_rows(search())


def fit_sample(rows: pl.DataFrame, _pick: int) -> pl.DataFrame:
    """Return the rows of a fit from new runs with the constants that it found."""
    return _fit_rows(fitted_constants(rows))


def _fit_rows(constants: Mapping[str, int]) -> pl.DataFrame:
    found, aim = fit_figures(constants), fit_targets()
    met = all(abs(found[row] / aim[row] - 1) <= NEAR for row in FIT_TARGETS)
    rows: list[tuple[str, str, float, float | None, bool]] = [
        (FITTED_KERNEL, name, float(value), None, met) for name, value in constants.items()
    ]
    rows += [(FITTED_KERNEL, row, found[row], aim[row], met) for row in FIT_TARGETS]
    return FIT_ROWS.check(pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row"))


def fitted_constants(rows: pl.DataFrame) -> dict[str, int]:
    """Return the free constants among the rows of a fit."""
    free = rows.filter(pl.col("wanted").is_null()).select("name", "value")
    return {name: int(value) for name, value in free.iter_rows()}


def residuals_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return how far the fit is from each of its targets.

    Parameters
    ----------
    rows : polars.DataFrame
        Schema FIT_ROWS.

    Returns
    -------
    polars.DataFrame
        Schema FIT.
    """
    return residuals(rows.drop_nulls("wanted").select("name", "wanted", "value").iter_rows())
