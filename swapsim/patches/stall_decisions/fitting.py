# SPDX-License-Identifier: GPL-2.0-or-later
"""Free constants of the mail's machine, fitted to mmotm's column and nothing else.

mmotm is the base of the series' claims, so that 3.9's column is a prediction. What is fitted to
which cell was stored before the first run.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import polars as pl

from swapsim.patches.stall_decisions.mail import BASE, ELAPSED, printed_values
from swapsim.patches.stall_decisions.runs import Run
from swapsim.patches.stored_fits import FIT_ROWS
from swapsim.reclaim import constants, run_config

OPERATIONS: Final = ("disk", "Ops memcachetest-0M")
"""``op_ns`` follows from it: nothing is missed there."""

FREE: Final = {
    "disk_rate": ("disk", "Ops io-duration-4055M"),
    "cached_pages": ("disk", "Kswapd pages reclaimed"),
    "redirty_ns": ("disk", "Kswapd pages scanned"),
    "server_rate": ("nfs", "Ops io-duration-4055M"),
}
"""Each constant and the cell that depends on it most, bisected in this order, each once, in its
range in data/reclaim.csv. Only the pages reclaimed rise with their constant."""

TOTAL: Final = ("disk", ELAPSED)
"""``gap_ms``, before each round, is what the run lacks to it."""

FIT_TARGETS: Final = (OPERATIONS, *FREE.values(), TOTAL)

FIT_SEEDS: Final = {"disk": (101, 102, 103), "nfs": (101,)}
"""Other seeds than those of the tables by which the fit is judged; over NFS a run has five rounds
of each size. Their figures are means."""

STEPS: Final = 6
"""Halvings of a range, on a scale of logarithms but for the pages, which begin at 0."""

NEAR: Final = 0.05  # maximum relative difference at which a figure counts as met


def fit_targets() -> dict[tuple[str, str], float]:
    """Return the printed figure of each target."""
    found = printed_values()
    return {(target, row): found[target, row, BASE] for target, row in FIT_TARGETS}


def fit_figures(constants: Mapping[str, int], target: str, **fields: Any) -> dict[str, float]:
    """Return mmotm's simulated figures, the means over FIT_SEEDS."""
    runs = [
        run_config(
            *Run(rules=BASE, target=target, seed=seed, constants=constants, fields=fields).config()
        )
        for seed in FIT_SEEDS[target]
    ]
    rows = pl.concat(pl.concat([run.ops, run.vmstat]) for run in runs)
    means = dict(rows.group_by("metric").agg(pl.col("value").mean()).iter_rows())
    return means | {ELAPSED: math.fsum(run.elapsed_ns for run in runs) / len(runs) / 1e9}


def search(figures: Callable[..., Mapping[str, float]] = fit_figures) -> dict[str, int]:
    """Find the constants, to three digits; one out of reach of its figure ends at its range's end.

    No cell of mmotm's depends on ``seek_near_ns``, so it is the middle of its range.
    """
    limits = constants().rows_by_key("name", named=True, unique=True)
    aim = fit_targets()
    near = limits["seek_near_ns"]
    found = {
        "op_ns": round(1e9 / aim[OPERATIONS]),
        "seek_near_ns": _three_digits(math.sqrt(near["low"] * near["high"])),
        "gap_ms": limits["gap_ms"]["low"],
    }
    for name, (target, row) in FREE.items():
        low, high = limits[name]["low"], limits[name]["high"]
        for _ in range(STEPS):
            middle = math.sqrt(low * high) if limits[name]["low"] else (low + high) / 2
            figure = figures(found | {name: int(middle)}, target)[row]
            more = (figure > aim[target, row]) != (row == "Kswapd pages reclaimed")
            low, high = (middle, high) if more else (low, middle)
        found[name] = _three_digits(math.sqrt(low * high) if low else (low + high) / 2)
    rounds = len(Run(rules=BASE).config()[0].files)
    missing = 1000 * (aim[TOTAL] - figures(found, "disk")[ELAPSED]) / rounds
    length = min(max(found["gap_ms"], found["gap_ms"] + missing), limits["gap_ms"]["high"])
    return found | {"gap_ms": _three_digits(length)}


def _three_digits(value: float) -> int:
    return int(float(f"{value:.2e}"))


def fit(_kernel: str) -> pl.DataFrame:
    """Fit the free constants to mmotm's column (FIT_ROWS)."""
    values, aim = search(), fit_targets()
    figures = {target: fit_figures(values, target) for target in FIT_SEEDS}
    found = {(target, row): figures[target][row] for target, row in aim}
    met = all(abs(found[each] / aim[each] - 1) <= NEAR for each in aim)
    rows: list[tuple[str, str, float, float | None, bool]] = [
        (BASE, name, float(value), None, met) for name, value in values.items()
    ]
    rows += [(BASE, ": ".join(each), found[each], aim[each], met) for each in aim]
    return FIT_ROWS.check(pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row"))


def fit_sample(rows: pl.DataFrame, _pick: int) -> pl.DataFrame:
    """Return the rows of the disk's figures, from new runs."""
    found = fit_figures(fitted_constants(rows), "disk")
    disk = rows.filter(pl.col("name").str.starts_with("disk: "))
    figures = [found[name.removeprefix("disk: ")] for name in disk["name"]]
    return disk.with_columns(value=pl.Series(figures))


def fitted_constants(rows: pl.DataFrame) -> dict[str, int]:
    """Return the free constants among the rows of a fit."""
    free = rows.filter(pl.col("wanted").is_null()).select("name", "value")
    return {name: int(value) for name, value in free.iter_rows()}
