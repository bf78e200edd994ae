# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants that no source gives, fitted to the base column of a mail, and to nothing else.

A fit has as many free constants as it has figures to meet, each of which moves one of
them most: work without a lock moves the rate, a hold moves the cycles spent waiting for
its lock. What the base column cannot tell is not fitted but tied by a share, and the
caller fits once per share: the spread of those predictions is what the model leaves open.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import polars as pl

from swapsim.claims import published_tables
from swapsim.config import MachineConfig
from swapsim.errors import ConfigError, InputError
from swapsim.machine.costs import MOST_NS, change_costs, costs
from swapsim.machine.run import run
from swapsim.schemas import FIT, require

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
        Schema COSTS, the free and the tied ones at their fitted values.
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
        Schema COSTS, for all others; default: data/costs.csv.
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
    configs = [replace(config, seed=config.seed + more) for more in range(runs)]

    def at(point: np.ndarray) -> pl.DataFrame:
        return change_costs(table, _values(names, point, tied))

    def deviation(point: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(_figures(configs, targets, at(point)) / wanted))

    point = np.log(np.array([float(start[name]) for name in names]))
    best = (math.inf, point, point)
    for step in range(rounds):
        off = deviation(point)
        far = float(np.abs(off).max())
        best = min(best, (far, point, off), key=lambda found: found[0])
        if far <= tolerance:
            break
        # Slopes cost a run for each constant, and near the target they change little.
        if step == 0 or far > _NEAR:
            slopes = _slopes(deviation, point, off)
        point = point + _newton_step(slopes, off)
    found = wanted * np.exp(best[2])
    residuals = pl.DataFrame(
        [
            (target.name, target.wanted, value, 100 * (value / target.wanted - 1))
            for target, value in zip(targets, found.tolist(), strict=True)
        ],
        schema=FIT,
        orient="row",
    )
    return Fitted(
        constants=at(best[1]),
        residuals=require(residuals, FIT, "FIT"),
        converged=best[0] <= tolerance,
    )


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
        raise InputError(f"{found.height} cells of kernel {kernel!r} are named so", field=row)
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
    return {name: min(max(round(value), 1), MOST_NS) for name, value in exact.items()}


def _figures(
    configs: Sequence[MachineConfig], targets: Sequence[Target], constants: pl.DataFrame
) -> np.ndarray:
    sums = np.zeros(len(targets))
    for config in configs:
        value = dict(run(config, constants).select("metric", "value").iter_rows())
        sums += [sum(value[metric] for metric in target.metrics) for target in targets]
    # A lock that nobody waits for has no logarithm.
    return np.asarray(np.maximum(sums / len(configs), 1e-6))


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
