# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants that no source gives, fitted to the base column of a mail, and to nothing else.

A fit has as many free constants as it has figures to meet, each of which moves one of
them most: work without a lock moves the rate, a hold moves the cycles spent waiting for
its lock. What the base column cannot tell is not fitted but tied by a share, and the
caller fits once per share: the spread of those predictions is what the model leaves open.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import polars as pl

from swapsim.claims import published_tables
from swapsim.errors import ConfigError, InputError
from swapsim.ffi.facts import COST_MAX
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.run import run
from swapsim.machine.tables import FIT

_STEP: Final = 0.15
"""Of a constant's logarithm, to find a slope: wide enough to stand out of a run's own noise."""

_LONGEST_STEP: Final = 0.4

_NEAR: Final = 0.1
"""Deviation of a target's logarithm below which the slopes stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure of a base column that a fit has to meet.

    Attributes
    ----------
    name : str
    metrics : tuple of str
        Metrics of `run.run` whose sum stands for it.
    wanted : float
        In the metrics' unit; positive.
    """

    name: str
    metrics: tuple[str, ...]
    wanted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What a fit found.

    Attributes
    ----------
    constants : polars.DataFrame
        Schema CONSTANTS, the free and the tied ones at their fitted values.
    residuals : polars.DataFrame
        Schema FIT, one row per target.
    converged : bool
        Whether every target was met within the tolerance.
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
) -> Fitted:
    """Find the constants with which a machine meets the figures of its base column.

    Newton's method on logarithms, with steps of at most 0.4, its slopes kept near the target:
    constants stay positive, and one that is 10 % too large counts as much as one that is 10 % too
    small.

    Parameters
    ----------
    config : MachineConfig
        The base kernel's machine.
    targets : sequence of Target
    start : mapping of str to int
        The free constants, as many as targets, and where to begin (ns).
    runs : int
        Of each set of constants, with seeds from the config's on: the more, the less of a run's
        own noise is fitted to.
    tied : mapping of str to (str, float), optional
        Constant -> the free constant that it is a share of, and the share.
    constants : polars.DataFrame, optional
        Schema CONSTANTS, for all others; default: data/costs.csv.
    tolerance : float
        Relative deviation of a target that is as good as met.
    rounds : int
        Steps at most.

    Returns
    -------
    Fitted

    Raises
    ------
    ConfigError
        Not as many free constants as targets, a tie to a constant that is not free, or no run.
    InputError
        A constant is unknown.
    """
    names = list(start)
    tied = {} if tied is None else tied
    if len(names) != len(targets):
        raise ConfigError(
            f"start={dict(start)!r}: {len(targets)} targets need as many free constants"
        )
    for name, (free, _) in tied.items():
        if free not in names:
            raise ConfigError(f"tied={name!r}: {free!r} is no free constant of this fit")
    if runs < 1:
        raise ConfigError(f"runs={runs}: choose at least 1")
    table = costs() if constants is None else constants
    wanted = np.array([target.wanted for target in targets])

    def at(point: np.ndarray) -> pl.DataFrame:
        return change_costs(table, _values(names, point, tied))

    def found(point: np.ndarray) -> np.ndarray:
        return np.array(figures(config, targets, at(point), runs=runs))

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
        # Slopes cost a run for each constant, and near the target they change little.
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
    """Say by how much a fit missed each figure.

    Parameters
    ----------
    met : iterable of (str, float, float)
        A target's name, the figure that was wanted, and the one that was found.

    Returns
    -------
    polars.DataFrame
        Schema FIT.
    """
    rows = [(name, wanted, found, 100 * (found / wanted - 1)) for name, wanted, found in met]
    return FIT.check(pl.DataFrame(rows, schema=FIT.schema, orient="row"))


def figures(
    config: MachineConfig, targets: Sequence[Target], constants: pl.DataFrame, *, runs: int = 1
) -> list[float]:
    """Return the figures that a machine has, to be held against the wanted ones.

    Parameters
    ----------
    config, targets, runs
        As for `fit`.
    constants : polars.DataFrame
        Schema CONSTANTS.

    Returns
    -------
    list of float
        One for each target: the mean over the runs, at least 1e-6, for a lock that nobody waits for
        has no logarithm.
    """
    sums = [0.0] * len(targets)
    for more in range(runs):
        ran = run(replace(config, seed=config.seed + more), constants)
        value = dict(ran.select("metric", "value").iter_rows())
        sums = [
            total + math.fsum(value[metric] for metric in target.metrics)
            for total, target in zip(sums, targets, strict=True)
        ]
    return [max(total / runs, 1e-6) for total in sums]


def base_figure(patch: str, kernel: str, row: str) -> float:
    """Return a figure of a mail's base column; no other column is looked at.

    Parameters
    ----------
    patch, kernel : str
        Of data/published; the kernel is the one that the patch was applied to.
    row : str
        The metric, without the name of the profile before it.

    Raises
    ------
    InputError
        Not one cell has this name.
    """
    found = _column(published_tables, patch, kernel).filter(
        pl.col("metric").str.strip_prefix("perf-profile.cycles-pp.") == row
    )
    if found.height != 1:
        raise InputError(
            f"{found.height} cells of kernel {kernel!r} are named so: name one", field=row
        )
    return float(found["value"].item())


@cache
def _column(read: Callable[[], pl.DataFrame], patch: str, kernel: str) -> pl.DataFrame:
    """Read the files once: to read them takes as long as a run."""
    return read().filter(patch=patch, kernel=kernel)


def _values(
    names: Sequence[str], point: np.ndarray, tied: Mapping[str, tuple[str, float]]
) -> dict[str, int]:
    """Return the constants at a point, whole and within what the machine takes."""
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
