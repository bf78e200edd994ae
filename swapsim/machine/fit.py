# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants that no source gives, fitted to the base column of a mail and to nothing else.

A fit has as many free constants as targets, and each constant moves one target most: work without
a lock moves the rate, a hold moves the cycles spent waiting for its lock. What the base column
does not determine is tied by a share, and the caller fits once per share: the spread of those
predictions is what the model leaves open.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import polars as pl

from swapsim.claims import published_tables
from swapsim.errors import InputError
from swapsim.ffi import COST_MAX
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.run import metric_values
from swapsim.machine.tables import FIT_ROWS

_STEP: Final = 0.15
"""Step of a constant's logarithm for a slope: large enough to exceed the noise of a run."""

_LONGEST_STEP: Final = 0.4
_NEAR: Final = 0.1  # deviation of a target's logarithm below which the slopes are reused


Values = Callable[[MachineConfig, pl.DataFrame], Mapping[str, float]]
"""Runs a machine with constants and returns its metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure of a base column that a fit has to meet.

    ``metrics`` are those of `run.run` whose sum is compared with ``wanted``, which is positive and
    in their unit.
    """

    name: str
    metrics: tuple[str, ...]
    wanted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The result of a fit: ``constants`` (CONSTANTS), and ``residuals``, a row per target.

    The columns of the residuals are ``target, wanted, found, off_percent``; ``converged`` is
    whether every target was met within the tolerance.
    """

    constants: pl.DataFrame
    residuals: pl.DataFrame
    converged: bool


def fit(
    config: MachineConfig,
    targets: Sequence[Target],
    start: Mapping[str, int],
    *,
    runs: int = 1,
    tied: Mapping[str, tuple[str, float]] | None = None,
    constants: pl.DataFrame | None = None,
    tolerance: float = 0.01,
    rounds: int = 12,
    values: Values = metric_values,
) -> Fitted:
    """Find the constants with which a machine meets the figures of its base column.

    ``values`` runs the machine and returns its metrics.

    The method is Newton's on logarithms, with steps of at most 0.4, and with slopes that are reused
    near the target. Constants stay positive, and 10 % too large counts as much as 10 % too small.
    """
    names = list(start)
    tied = {} if tied is None else tied
    if len(names) != len(targets):
        raise InputError(
            f"start={dict(start)!r}: {len(targets)} targets need as many free constants"
        )
    for name, (free, _) in tied.items():
        if free not in names:
            raise InputError(f"tied={name!r}: {free!r} is not a free constant of this fit")
    if runs < 1:
        raise InputError(f"runs={runs}: choose at least 1")
    table = costs() if constants is None else constants
    wanted = np.array([target.wanted for target in targets])

    def at(point: np.ndarray) -> pl.DataFrame:
        return change_costs(table, _values(names, point, tied))

    def found(point: np.ndarray) -> np.ndarray:
        return np.array(figures(config, targets, at(point), runs=runs, values=values))

    def deviation(point: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(found(point) / wanted))

    point = np.log(np.array([float(start[name]) for name in names]))
    best = (math.inf, point, point)
    for step in range(rounds):
        there = found(point)
        off = np.asarray(np.log(there / wanted))
        far = float(np.abs(off).max())
        best = min(best, (far, point, there), key=lambda each: each[0])
        if far <= tolerance:
            break
        # Slopes take a run for each constant, and change little near the target.
        if step == 0 or far > _NEAR:
            slopes = _slopes(deviation, point, off)
        point = point + _newton_step(slopes, off)
    return Fitted(
        constants=at(best[1]),
        residuals=residuals(
            (target.name, target.wanted, figure)
            for target, figure in zip(targets, best[2].tolist(), strict=True)
        ),
        converged=best[0] <= tolerance,
    )


def residuals(met: Iterable[tuple[str, float, float]]) -> pl.DataFrame:
    """Return a row for each target's name, wanted figure and found figure."""
    schema = {"target": pl.String(), "wanted": pl.Float64(), "found": pl.Float64()}
    frame = pl.DataFrame(list(met), schema=schema, orient="row")
    return frame.with_columns(off_percent=100 * (pl.col("found") / pl.col("wanted") - 1))


def figures(
    config: MachineConfig,
    targets: Sequence[Target],
    constants: pl.DataFrame,
    *,
    runs: int = 1,
    values: Values = metric_values,
) -> list[float]:
    """Return the figures of a machine that `fit` compares with the wanted ones.

    Each is the mean over the runs, and at least 1e-6, so that a lock without waits has a logarithm.
    """
    sums = [0.0] * len(targets)
    for more in range(runs):
        value = values(replace(config, seed=config.seed + more), constants)
        sums = [
            total + math.fsum(value[metric] for metric in target.metrics)
            for total, target in zip(sums, targets, strict=True)
        ]
    return [max(total / runs, 1e-6) for total in sums]


def to_rows(fit: str, fitted: Fitted) -> pl.DataFrame:
    """Return a fit as rows."""
    usual = dict(costs().select("name", "value").iter_rows())
    constants = fitted.constants.select("name", "value").iter_rows()
    met = fitted.residuals.select("target", "found", "wanted").iter_rows()
    rows: list[tuple[str, str, float, float | None, bool]] = [
        (fit, name, float(value), None, fitted.converged)
        for name, value in constants
        if value != usual[name]
    ]
    rows += [(fit, name, found, wanted, fitted.converged) for name, found, wanted in met]
    return pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row")


def of_rows(rows: pl.DataFrame) -> dict[str, Fitted]:
    """Return the fits by name that `to_rows` was given."""
    fits = {}
    for (fit,), frame in rows.group_by("fit", maintain_order=True):
        free, met = frame.filter(pl.col("wanted").is_null()), frame.drop_nulls("wanted")
        values = {name: int(value) for name, value in free.select("name", "value").iter_rows()}
        fits[str(fit)] = Fitted(
            constants=change_costs(costs(), values),
            residuals=residuals(met.select("name", "wanted", "value").iter_rows()),
            converged=frame["converged"][0],
        )
    return fits


def figures_again(
    rows: pl.DataFrame, fit: str, config: MachineConfig, targets: Sequence[Target], *, runs: int
) -> pl.DataFrame:
    """Return the rows of a fit's figures (FIT_ROWS), from new runs with the constants it found."""
    fitted = of_rows(rows.filter(fit=fit))[fit]
    found = figures(config, targets, fitted.constants, runs=runs)
    return pl.DataFrame(
        [
            (fit, target.name, figure, target.wanted, fitted.converged)
            for target, figure in zip(targets, found, strict=True)
        ],
        schema=FIT_ROWS.schema,
        orient="row",
    )


def base_figure(patch: str, kernel: str, row: str) -> float:
    """Return a figure of a mail's base column; other columns are not read."""
    found = _column(published_tables, patch, kernel).filter(
        pl.col("metric").str.strip_prefix("perf-profile.cycles-pp.") == row
    )
    if found.height != 1:
        raise InputError(
            f"{found.height} cells of kernel {kernel!r} have this name: name one", field=row
        )
    return float(found["value"].item())


@cache
def _column(read: Callable[[], pl.DataFrame], patch: str, kernel: str) -> pl.DataFrame:
    """Read the files once: reading takes as long as a run."""
    return read().filter(patch=patch, kernel=kernel)


def _values(
    names: Sequence[str], point: np.ndarray, tied: Mapping[str, tuple[str, float]]
) -> dict[str, int]:
    """Return the constants at a point, rounded and within the range of the machine."""
    exact = dict(zip(names, np.exp(point).tolist(), strict=True))
    exact |= {name: exact[free] * share for name, (free, share) in tied.items()}
    return {name: min(max(round(value), 1), COST_MAX) for name, value in exact.items()}


def _slopes(
    deviation: Callable[[np.ndarray], np.ndarray], point: np.ndarray, off: np.ndarray
) -> np.ndarray:
    slopes = np.empty((len(off), len(point)))
    for k in range(len(point)):
        aside = point.copy()
        aside[k] += _STEP
        slopes[:, k] = (deviation(aside) - off) / _STEP
    return slopes


def _newton_step(slopes: np.ndarray, off: np.ndarray) -> np.ndarray:
    step = -np.linalg.lstsq(slopes, off, rcond=1e-3)[0]
    return np.asarray(step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-9)))
