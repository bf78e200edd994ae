# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap series of January 2017: four kernels under patch A's test, with 32 processes.

Its first kernel has patch A, so no figure here is of patch A's two columns. They try the machine:
its constants are those of patch A's base, 8 processes and tags kept, and one thing alone is read
off the series, for patch A's mail prints no row of si->lock: how long a look at a map byte is
beside an add to the tree (``map_share``). All else is a prediction.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from swapsim.claims import range_verdict, results
from swapsim.claims.tables import RESULTS
from swapsim.errors import InputError, require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.fit import base_figure
from swapsim.machine.run import labels, metric_values
from swapsim.machine.tables import SWAP_SERIES
from swapsim.patches.writeback_tags.fitting import TREE_ROWS, fit, run_rates
from swapsim.patches.writeback_tags.machines import PATCH, machine
from swapsim.patches.writeback_tags.shares import predict_at_shares

WRITERS: Final = 32

_SLOTS_SHIFT: Final = 22
"""Log2 of the device's slots: 16 GB."""

STEPS: Final[dict[str, dict[str, Any]]] = {
    "4.9-rc8": {"kernel": "4.8"},
    "patches 1-2": {"kernel": "5.7", "slot_cache": False, "trunk_shift": _SLOTS_SHIFT},
    "patches 1-3": {"kernel": "5.7", "slot_cache": False},
    "patches 1-9": {"kernel": "5.7"},
}
"""A step of the series -> the machine's settings: a lock for each cluster, then trunks of 64 MB
(before, the device is one), then the caches of slots. Patches 4 and 9 are about readahead."""

BASE: Final = "4.9-rc8"

RATE_SPREAD: Final = 0.07
"""One standard deviation of a rate, as patch A's mail prints it of swap.so."""

ROWS_SPREAD: Final = 0.131
"""One standard deviation of a profile row: data/published/README.md."""

_SI_LOCK: Final = ("si_lock.", "map_lock.")
"""In 4.8 the map bytes are under si->lock."""

_MAP_SHARES: Final = (0.02, 1.0)
_HALVINGS: Final = 8


def series_machine(step: str, *, seed: int = 1) -> MachineConfig:
    """Return the machine of one step of the series: patch A's with four times the writers.

    Parameters
    ----------
    step : str
        Of STEPS.
    seed : int

    Notes
    -----
    With patches 1-2 and 1-3 the kernel may have taken si->lock once more a page, where a slot's
    place in the cache is given back; the machine takes the cluster's lock there, as 4.11 does.
    """
    usual = machine(tags=False, seed=seed)
    return replace(usual, writers=WRITERS, slots=2**_SLOTS_SHIFT, **STEPS[step])


def metrics_of(step: str, constants: pl.DataFrame, *, seed: int = 1) -> dict[str, float]:
    """Run one step and return what the series prints of it.

    Parameters
    ----------
    step : str
        Of STEPS.
    constants : polars.DataFrame
        Schema CONSTANTS.
    seed : int

    Returns
    -------
    dict of str to float
        ``swap out`` (KiB/s, over a whole run of patch A's test), ``tree_lock``, ``si->lock``,
        ``both locks`` and ``si->lock in get_swap_page`` (% of cycles), ``tree_lock : si->lock``.
    """
    value = metric_values(series_machine(step, seed=seed), constants)
    cycles = {
        name.removeprefix("cycles."): figure
        for name, figure in value.items()
        if name.startswith("cycles.")
    }
    tree = math.fsum(cycles[site] for site in TREE_ROWS)
    locks = _SI_LOCK if step == BASE else _SI_LOCK[:1]
    si_lock = math.fsum(figure for site, figure in cycles.items() if site.startswith(locks))
    return {
        "swap out": run_rates(value["swap_out"], constants, writers=WRITERS)[1],
        "tree_lock": tree,
        "si->lock": si_lock,
        "both locks": tree + si_lock,
        "si->lock in get_swap_page": cycles["si_lock.get_swap_pages"],
        "tree_lock : si->lock": tree / max(si_lock, 1e-6),
    }


def map_share_of_series(*, tag_share: float, seeds: Sequence[int] = (1, 2)) -> float:
    """Find the share with which tree_lock stands to si->lock as in the series' first kernel.

    Parameters
    ----------
    tag_share : float
        As for `fitting.fit`: at each share tried, patch A's base is fitted anew.
    seeds : sequence of int
        Runs whose mean is held against the ratio.

    Returns
    -------
    float
        ``map_ns / tree_ns``, by halving on a logarithmic scale.

    Raises
    ------
    InputError
        No share from 0.02 to 1 has the ratio.

    Source
    ------
    data/published/01-writeback-tags.csv, kernel 4.9-rc8.
    """
    wanted = figure_of(BASE, "tree_lock") / figure_of(BASE, "si->lock")

    def above(map_share: float) -> bool:
        fitted = fit(tag_share=tag_share, map_share=map_share)
        # Where the base is met no more, si->lock has taken over.
        ratio = _mean(BASE, "tree_lock : si->lock", fitted.constants, seeds)
        return fitted.converged and ratio > wanted

    low, high = _MAP_SHARES
    if not above(low) or above(high):
        raise InputError(f"no map_share from {low} to {high} has the ratio {wanted:.3f}")
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.sqrt(low * high)


def figure_of(step: str, metric: str) -> float:
    """Return a figure of the series: a lock's rows are summed.

    Parameters
    ----------
    step : str
        Of STEPS.
    metric : str
        As `metrics_of` names it.

    Source
    ------
    data/published/01-writeback-tags.csv, mail S-swap-series-v5.
    """
    rows = 4 if metric == "si->lock" else 2 if metric == "tree_lock" else 0
    names = [f"{metric} row {row}" for row in range(1, rows + 1)] or [metric]
    return math.fsum(base_figure(PATCH, step, name) for name in names)


def predict_series(tag_share: float, *, seeds: Sequence[int] = (1, 2, 3)) -> pl.DataFrame:
    """Predict the four steps of the series, from a fit of patch A's base.

    Parameters
    ----------
    tag_share : float
        As for `fitting.fit`, with the map_share that the series' first kernel has.
    seeds : sequence of int

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: kernel is the step, policy names the fit, and of each fit ``map_share``.

    Raises
    ------
    InputError
        No seed is given.
    """
    require_some(seeds, "seeds")
    map_share = map_share_of_series(tag_share=tag_share)
    return pl.concat(
        predict_step(step, tag_share=tag_share, map_share=map_share, seed=seed)
        for step, seed in itertools.product(STEPS, seeds)
    )


def predict_step(step: str, *, tag_share: float, map_share: float, seed: int = 1) -> pl.DataFrame:
    """Predict one step of the series, from a fit of patch A's base.

    Parameters
    ----------
    step : str
        Of STEPS.
    tag_share, map_share : float
        As for `fitting.fit`.
    seed : int

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, the rows of `predict_series`.
    """
    constants = fit(tag_share=tag_share, map_share=map_share).constants
    units = {"swap out": "KiB/s", "tree_lock : si->lock": "ratio"}
    rows = [
        (metric, value, units.get(metric, "% of cycles"))
        for metric, value in metrics_of(step, constants, seed=seed).items()
    ]
    rows.append(("map_share", map_share, "of tree_ns"))
    config = series_machine(step, seed=seed)
    return results(rows, labels(config, kernel=step, policy=f"tags {tag_share:g}"))


def predict_with_series_share(tag_share: float) -> pl.DataFrame:
    """Predict patch A at a tag share and the series' map_share (PREDICTED_BY_SHARES)."""
    return predict_at_shares((tag_share, map_share_of_series(tag_share=tag_share)))


def compare_series(predicted: pl.DataFrame) -> pl.DataFrame:
    """Set the series, published, beside the steps as they were predicted.

    Parameters
    ----------
    predicted : polars.DataFrame
        As `predict_series` returns.

    Returns
    -------
    polars.DataFrame
        Schema SWAP_SERIES, a row per figure of the series, and one for the share that was read off.
        A range is over the fits, each the mean of its seeds.
    """
    means = (
        RESULTS.check(predicted)
        .sort(pl.all())  # float sums depend on their order
        .group_by("kernel", "metric", "policy", maintain_order=True)
        .agg(pl.col("value").mean())
        .group_by("kernel", "metric", maintain_order=True)
        .agg(low=pl.col("value").min(), high=pl.col("value").max())
        .rename({"kernel": "step"})
    )
    rows = [
        (step, metric, unit, fitted, published, published and spread and spread * published)
        for step, metric, unit, fitted, published, spread in _figures()
    ]
    columns = list(SWAP_SERIES.schema.items())[: len(rows[0])]
    frame = (
        pl.DataFrame(rows, schema=dict(columns), orient="row")
        .join(means, on=["step", "metric"], how="left", maintain_order="left")
        .with_columns(
            verdict=pl.when(~pl.col("fitted")).then(range_verdict("low", "high")),
        )
    )
    return SWAP_SERIES.check(frame.select(SWAP_SERIES.names()))


def _figures() -> list[tuple[str, str, str, bool, float | None, float | None]]:
    """Return each figure of the series: step, metric, unit, was it fitted, value, its spread."""
    rates = [(step, "swap out", "KiB/s", False, figure_of(step, "swap out")) for step in STEPS]
    tree, si_lock = figure_of(BASE, "tree_lock"), figure_of(BASE, "si->lock")
    cycles = [
        # Of the first kernel's two, the ratio is fitted to: what they are together is not.
        (BASE, "tree_lock : si->lock", "ratio", True, tree / si_lock),
        (BASE, "both locks", "% of cycles", False, tree + si_lock),
        *(
            (step, metric, "% of cycles", False, figure_of(step, metric))
            for step, metric in (
                ("patches 1-2", "tree_lock"),
                ("patches 1-3", "si->lock in get_swap_page"),
            )
        ),
    ]
    return [
        *((*row, RATE_SPREAD) for row in rates),
        *((*row, ROWS_SPREAD) for row in cycles),
        (BASE, "map_share", "of tree_ns", True, None, None),
    ]


def _mean(step: str, metric: str, constants: pl.DataFrame, seeds: Sequence[int]) -> float:
    return math.fsum(metrics_of(step, constants, seed=seed)[metric] for seed in seeds) / len(seeds)
