# SPDX-License-Identifier: GPL-2.0-or-later
"""The world's free constants, fitted to 3.9's column of the mail's first table and nothing else.

Each stays within its range in data/world.csv, whose values are what was found; the search begins in
the middle of the ranges, so that it finds the same from whatever values stand there.
"""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from swapsim import claims, reclaim
from swapsim.machine.fit import residuals
from swapsim.machine.tables import FIT_ROWS
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH

BASE: Final = "vanilla"
TABLE: Final = "parallelio, disk"
"""The only column of the mail that is looked at."""

FREE: Final = {
    "write_delay_ms": "Ops memcachetest-4055M",
    "disk_rate": "Ops io-duration-4055M",
    "seek_near_ns": "Ops majorfaults-4055M",
}
"""Constant -> the figure that moves with it most."""

TARGETS: Final = ("Ops memcachetest-0M", *FREE.values())
"""The first needs no search: nothing is missed at 0M, so ``op_ns`` is a second by it."""

SEEDS: Final = tuple(range(101, 107))
"""Others than those of the tables that the fit is judged by."""

NEAR: Final = 0.05
"""Of a figure: so near it counts as met."""

_STEP: Final = 0.1
"""Of the way over a range, to find a slope: wide enough to stand out of a run's own noise."""

_POINTS_AT_MOST: Final = 8


def wanted() -> dict[str, float]:
    """Return what 3.9's column has of each target.

    Source
    ------
    data/published/03-stall-decisions.csv, table parallelio, disk, kernel vanilla.
    """
    column = claims.published_tables().filter(patch=PATCH, table=TABLE, kernel=BASE)
    printed = dict(column.select("metric", "value").iter_rows())
    return {row: float(printed[row]) for row in TARGETS}


def figures(constants: Mapping[str, int]) -> dict[str, float]:
    """Return the world's figures with some constants: of each target the mean over SEEDS."""
    table = reclaim.change_constants(reclaim.constants(), constants)
    runs = [
        reclaim.ops(reclaim.run(reclaim.parallelio(KERNELS[BASE], table, seed=seed), table))
        for seed in SEEDS
    ]
    means = dict(pl.concat(runs).group_by("metric").agg(pl.col("value").mean()).iter_rows())
    return {row: means[row] for row in TARGETS}


def search() -> dict[str, int]:
    """Find the constants by least squares of the figures' logarithms, within their ranges.

    Three digits of each: a run's own noise hides the others.
    """
    from scipy import optimize

    limits = reclaim.constants().filter(pl.col("name").is_in(list(FREE)))
    ends = {name: (low, high) for name, low, high in limits.select("name", "low", "high").rows()}
    aim = wanted()

    # From 1, at the low end, to 2: scipy makes its steps a share of where it stands.
    def at(point: np.ndarray) -> dict[str, int]:
        shares = zip(FREE, point.tolist(), strict=True)
        return {
            name: int(float(f"{ends[name][0] ** (2 - share) * ends[name][1] ** (share - 1):.2e}"))
            for name, share in shares
        }

    def off(point: np.ndarray) -> np.ndarray:
        found = figures(at(point))
        return np.array([math.log(found[row] / aim[row]) for row in FREE.values()])

    best = optimize.least_squares(
        off, [1.5] * len(FREE), bounds=(1, 2), diff_step=_STEP, max_nfev=_POINTS_AT_MOST
    )
    return at(best.x)


def _figure_rows(constants: Mapping[str, int]) -> pl.DataFrame:
    found, aim = figures(constants), wanted()
    met = all(abs(found[row] / aim[row] - 1) <= NEAR for row in TARGETS)
    rows: list[tuple[str, str, float, float | None, bool]] = [
        (BASE, name, float(value), None, met) for name, value in constants.items()
    ]
    rows += [(BASE, row, found[row], aim[row], met) for row in TARGETS]
    return FIT_ROWS.check(pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row"))


def constants_of(rows: pl.DataFrame) -> dict[str, int]:
    """Return what a fit's rows say was found: the free constants."""
    free = rows.filter(pl.col("wanted").is_null()).select("name", "value")
    return {name: int(value) for name, value in free.iter_rows()}


def residuals_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return by how much the fit missed each figure (FIT)."""
    return residuals(rows.drop_nulls("wanted").select("name", "wanted", "value").iter_rows())


def fit(_base: str) -> pl.DataFrame:
    """Fit the free constants to the base's column and return what was found (FIT_ROWS)."""
    return _figure_rows(search())


def figures_again(rows: pl.DataFrame, _pick: int) -> pl.DataFrame:
    """Return the rows of a fit from new runs with the constants that it found."""
    return _figure_rows(constants_of(rows))
