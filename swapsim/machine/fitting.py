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
from typing import Final

import numpy as np
import polars as pl

from swapsim.errors import InputError
from swapsim.ffi import COST_MAX
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs_by_name, costs_of
from swapsim.machine.running import metric_values

_STEP: Final = 0.15  # of a constant's logarithm for a slope, to exceed the noise of a run
_LONGEST_STEP: Final = 0.4
_NEAR: Final = 0.1  # deviation of a target's logarithm below which the slopes are reused


Values = Callable[[Machine, pl.DataFrame], Mapping[str, float]]
"""Runs a machine with constants and returns its metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure of a base column that a fit has to meet: the sum of some metrics of a run."""

    name: str
    metrics: tuple[str, ...]
    wanted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The result of a fit."""

    constants: pl.DataFrame  # CONSTANTS
    residuals: pl.DataFrame  # target, wanted, found, off_percent
    converged: bool  # whether every target was met within the tolerance


def fit(
    machine: Machine, targets: Mapping[str, float], *, free: Sequence[str]
) -> tuple[Machine, pl.DataFrame]:
    """Find the costs with which a machine has the figures of a base column.

    Parameters
    ----------
    machine : Machine
        Its costs are where the search begins.
    targets : mapping of str to float
        Figures by metrics of `Run.rows`; ``cycles.tree_lock`` stands for all metrics that begin so.
    free : sequence of str
        As many costs as targets. Each should move one target most: work without a lock
        (``unmap_ns``) the rate, the work under a lock (``tree_ns``) the waits for it.

    Returns
    -------
    Machine
        The machine with the costs that were found.
    polars.DataFrame
        ``target, wanted, found, off_percent``; the search ends below 1 %, or after 12 steps.

    Examples
    --------
    >>> from swapsim import machine
    >>> small = machine.Machine(kernel="4.8", writers=4, duration_ns=5_000_000)
    >>> fitted, residuals = machine.fit(small, {"swap_out": 1.3e6}, free=["unmap_ns"])
    >>> sorted(fitted.costs), abs(residuals["off_percent"].item()) < 1
    (['unmap_ns'], True)
    """
    known = metric_values(machine)
    wanted = [
        Target(
            name=name,
            metrics=tuple(each for each in known if each == name or each.startswith(f"{name}.")),
            wanted=figure,
        )
        for name, figure in targets.items()
    ]
    for each in wanted:
        if not each.metrics:
            raise InputError(f"targets: a run has no metric {each.name!r}: see Run.rows")
    own = change_costs(costs_of(), machine.costs)
    start = {name: ns for name, ns in costs_by_name(own).items() if name in free}
    found = fit_costs(machine, wanted, start, constants=own)
    return machine.replace(costs=found.constants), found.residuals


def fit_costs(
    config: Machine,
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
    """Find constants, and those `tied` to them, by Newton's method on logarithms."""
    names = list(start)
    tied = {} if tied is None else tied
    if len(names) != len(targets):
        raise InputError(f"{names}: {len(targets)} targets need as many free constants")
    table = costs_of() if constants is None else constants
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
    config: Machine,
    targets: Sequence[Target],
    constants: pl.DataFrame,
    *,
    runs: int = 1,
    values: Values = metric_values,
) -> list[float]:
    """Return the means of the figures; at least 1e-6, so that a lock without waits has a log."""
    sums = [0.0] * len(targets)
    for more in range(runs):
        value = values(replace(config, seed=config.seed + more), constants)
        sums = [
            total + math.fsum(value[metric] for metric in target.metrics)
            for total, target in zip(sums, targets, strict=True)
        ]
    return [max(total / runs, 1e-6) for total in sums]


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
