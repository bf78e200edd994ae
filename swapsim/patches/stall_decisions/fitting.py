# SPDX-License-Identifier: GPL-2.0-or-later
"""Free constants of the mail's machine, fitted to 3.9's column of its first test and nothing else.

Which cells are used was stored before the first run.
"""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from swapsim.patches.stall_decisions.mail import ELAPSED, KERNELS, printed_values
from swapsim.patches.stall_decisions.runs import Run
from swapsim.patches.stored_fits import FIT_ROWS
from swapsim.reclaim import WARM_UP, constants, run_config

FITTED_KERNEL: Final = "vanilla"

FREE: Final = {"disk_rate": "Ops io-duration-4055M", "seek_near_ns": "Ops majorfaults-4055M"}
"""Constants that are searched for together, each with the figure that depends on it most. A
constant stays in its range in data/reclaim.csv, whose value is the one that was found."""

CACHED: Final = "cached_pages"
SWAPPED: Final = "Ops swaptotal-715M"
"""The more cached pages, the less swap traffic in the round of the first file, where there may be
none; so they are bisected."""

GAP: Final = "gap_ms"
"""The gap before each round follows from the time of the run, to which it is added."""

FIT_TARGETS: Final = ("Ops memcachetest-0M", *FREE.values(), SWAPPED, ELAPSED)
"""The first needs no search: without faults at 0M, ``op_ns`` follows from it."""

FIT_SEEDS: Final = (101, 102, 103)
"""Other seeds than those of the tables by which the fit is judged."""

NEAR: Final = 0.05  # maximum relative difference at which a figure counts as met


def fit_targets() -> dict[str, float]:
    """Return the printed figure of each target."""
    found = printed_values()
    return {row: found["disk", row, KERNELS[FITTED_KERNEL]] for row in FIT_TARGETS}


def fit_figures(constants: Mapping[str, int], **fields: object) -> dict[str, float]:
    """Return the simulated figures of the targets that a run has, the means over FIT_SEEDS."""
    rules = KERNELS[FITTED_KERNEL]
    runs = [Run(rules=rules, seed=seed, constants=constants, fields=fields) for seed in FIT_SEEDS]
    results = [run_config(*run.config()) for run in runs]
    rows = pl.concat(each.ops for each in results)
    means = dict(rows.group_by("metric").agg(pl.col("value").mean()).iter_rows())
    means[ELAPSED] = math.fsum(each.elapsed_ns for each in results) / len(results) / 1e9
    return {row: means[row] for row in FIT_TARGETS if row in means}


def search() -> dict[str, int]:
    """Find the constants, to three digits: of the disk, then the cached pages, then the gap."""
    from scipy import optimize

    limits = constants().rows_by_key("name", named=True, unique=True)
    ranges = {name: (limits[name]["low"], limits[name]["high"]) for name in FREE}
    gap = {GAP: limits[GAP]["low"]}
    aim = fit_targets()

    # From 1, at the low end, to 2: scipy's steps are relative to the position.
    def at(point: np.ndarray) -> dict[str, int]:
        found = {}
        for (name, (low, high)), share in zip(ranges.items(), point.tolist(), strict=True):
            found[name] = _three_digits(low ** (2 - share) * high ** (share - 1))
        return found

    # The middle of the ranges does not depend on the stored values.
    middle = [1.5] * len(FREE)
    cached = _bisect_cached(at(np.array(middle)) | gap, limits[CACHED], aim[SWAPPED])

    def off(point: np.ndarray) -> np.ndarray:
        found = fit_figures(at(point) | cached | gap)
        return np.array([math.log(found[row] / aim[row]) for row in FREE.values()])

    # A slope over a tenth of a range is larger than a run's own noise.
    best = optimize.least_squares(off, middle, bounds=(1, 2), diff_step=0.1, max_nfev=8)
    found = at(best.x)
    found |= _bisect_cached(found | gap, limits[CACHED], aim[SWAPPED])
    rounds = len(Run(rules=KERNELS[FITTED_KERNEL]).config()[0].files)
    missing = 1000 * (aim[ELAPSED] - fit_figures(found | gap)[ELAPSED]) / rounds
    length = min(max(gap[GAP], gap[GAP] + missing), limits[GAP]["high"])
    return {**found, GAP: _three_digits(length)}


def _bisect_cached(
    others: Mapping[str, int], limits: Mapping[str, int], aim: float
) -> dict[str, int]:
    """Return the cached pages with which the round of the first file swaps as much as printed."""
    low, high = limits["low"], limits["high"]
    files = Run(rules=KERNELS[FITTED_KERNEL]).config()[0].files[: WARM_UP + 2]
    for _ in range(12):
        middle = (low + high) // 2
        figures = fit_figures({**others, CACHED: middle}, files=files)
        low, high = (middle, high) if figures[SWAPPED] > aim else (low, middle)
    return {CACHED: _three_digits((low + high) / 2)}


def _three_digits(value: float) -> int:
    return int(float(f"{value:.2e}"))


def fit(_kernel: str) -> pl.DataFrame:
    """Fit the free constants to the kernel's column (FIT_ROWS)."""
    return _fit_rows(search())


def fit_sample(rows: pl.DataFrame, _pick: int) -> pl.DataFrame:
    """Return the row of the first file's swap traffic, from new runs that end with its round."""
    files = Run(rules=KERNELS[FITTED_KERNEL]).config()[0].files[: WARM_UP + 2]
    found = fit_figures(fitted_constants(rows), files=files)
    return rows.filter(name=SWAPPED).with_columns(value=pl.lit(found[SWAPPED]))


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
