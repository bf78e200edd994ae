# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap series of January 2017: four kernels under patch A's test, with 32 processes.

Its first kernel has patch A, so no figure here belongs to patch A's two columns; they test the
machine. Its constants are those of patch A's base, with 8 processes and tags. Only one quantity is
derived from the series, because patch A's mail has no row of si->lock: the cost of a look at a map
byte relative to an add to the tree (``map_share``). Everything else is a prediction.
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
from swapsim.patches.writeback_tags import prediction

WRITERS: Final = 32

_SLOTS_SHIFT: Final = 22
"""Log2 of the device's slots: 16 GB."""

STEPS: Final[dict[str, dict[str, Any]]] = {
    "4.9-rc8": {"kernel": "4.8"},
    "patches 1-2": {"kernel": "5.7", "slot_cache": False, "trunk_shift": _SLOTS_SHIFT},
    "patches 1-3": {"kernel": "5.7", "slot_cache": False},
    "patches 1-9": {"kernel": "5.7"},
}
"""Step of the series -> settings of the machine: a lock for each cluster, then trunks of 64 MB (one
for the device before), then the caches of slots. Patches 4 and 9 are about readahead."""

BASE: Final = "4.9-rc8"

RATE_SPREAD: Final = 0.07
"""One standard deviation of a rate, as patch A's mail prints it of swap.so."""

ROWS_SPREAD: Final = 0.131
"""One standard deviation of a profile row: data/published/README.md."""

_SI_LOCK: Final = ("si_lock.", "map_lock.")
"""In 4.8 the map bytes are under si->lock."""

_IN_GET_SWAP_PAGE: Final = "si->lock in get_swap_page"

_ROWS: Final = {
    "swap out": ["vmstat.swap.so"],
    "tree_lock": [f"tree_lock in {name}" for name in ("__add_to_swap_cache", "__remove_mapping")],
    "si->lock": [
        f"si->lock in {name}"
        for name in ("swapcache_free", "page_swapcount", "__swap_duplicate", "get_swap_page")
    ],
}
"""Figures of `metrics_of` that have another name in the mail, or that are the sum of its rows."""

_MAP_SHARES: Final = (0.02, 1.0)
_HALVINGS: Final = 8


def series_machine(step: str, *, seed: int = 1) -> MachineConfig:
    """Return the machine of one of STEPS: patch A's with four times the writers.

    With patches 1-2 and 1-3 the kernel may take si->lock once more per page, where a slot's place
    in the cache is given back; the machine takes the cluster's lock there, as 4.11 does.
    """
    usual = prediction.machine(tags=False, seed=seed)
    return replace(usual, writers=WRITERS, slots=2**_SLOTS_SHIFT, **STEPS[step])


def metrics_of(step: str, constants: pl.DataFrame, *, seed: int = 1) -> dict[str, float]:
    """Run one of STEPS and return what the series prints of it.

    These are ``swap out`` (KiB/s, over a complete run of patch A's test), ``tree_lock``,
    ``si->lock``, ``both locks`` and ``si->lock in get_swap_page`` (% of cycles), and ``tree_lock :
    si->lock``.
    """
    value = metric_values(series_machine(step, seed=seed), constants)
    cycles = {
        name.removeprefix("cycles."): figure
        for name, figure in value.items()
        if name.startswith("cycles.")
    }
    tree = math.fsum(cycles[site] for site in prediction.TREE_ROWS)
    locks = _SI_LOCK if step == BASE else _SI_LOCK[:1]
    si_lock = math.fsum(figure for site, figure in cycles.items() if site.startswith(locks))
    return {
        "swap out": prediction.run_rates(value["swap_out"], constants, writers=WRITERS)[1],
        "tree_lock": tree,
        "si->lock": si_lock,
        "both locks": tree + si_lock,
        _IN_GET_SWAP_PAGE: cycles["si_lock.get_swap_pages"],
        "tree_lock : si->lock": tree / max(si_lock, 1e-6),
    }


def map_share_of_series(*, tag_share: float, seeds: Sequence[int] = (1, 2)) -> float:
    """Find the share at which tree_lock and si->lock have the ratio of the series' first kernel.

    Parameters
    ----------
    tag_share : float
        As for `fit`: at each share tried, patch A's base is fitted again.
    seeds : sequence of int
        Seeds of the runs whose mean is compared with the ratio.

    Returns
    -------
    float
        ``map_ns / tree_ns``, by bisection on a logarithmic scale.

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
        fitted = prediction.fit(tag_share=tag_share, map_share=map_share)
        # A fit that does not converge has si->lock as the bottleneck.
        runs = [metrics_of(BASE, fitted.constants, seed=seed) for seed in seeds]
        ratio = math.fsum(value["tree_lock : si->lock"] for value in runs) / len(seeds)
        return fitted.converged and ratio > wanted

    low, high = _MAP_SHARES
    if not above(low) or above(high):
        raise InputError(f"no map_share from {low} to {high} has the ratio {wanted:.3f}")
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.sqrt(low * high)


def figure_of(step: str, metric: str) -> float:
    """Return a figure of one of STEPS, by its name in `metrics_of`; a lock's rows are summed.

    Source: data/published/01-writeback-tags.csv, mail S-swap-series-v4-reply.
    """
    rows = _ROWS.get(metric, [metric])
    return math.fsum(base_figure(prediction.PATCH, step, row) for row in rows)


def predict_series(tag_share: float, *, seeds: Sequence[int] = (1, 2, 3)) -> pl.DataFrame:
    """Predict the four steps of the series, from a fit of patch A's base with a tag share.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: kernel is the step, policy names the fit; ``map_share`` is a metric, too.

    Raises
    ------
    InputError
        ``seeds`` is empty.
    """
    require_some(seeds, "seeds")
    map_share = map_share_of_series(tag_share=tag_share)
    return pl.concat(
        predict_step(step, tag_share=tag_share, map_share=map_share, seed=seed)
        for step, seed in itertools.product(STEPS, seeds)
    )


def predict_step(step: str, *, tag_share: float, map_share: float, seed: int = 1) -> pl.DataFrame:
    """Predict one step of the series from a fit of patch A's base (RESULTS)."""
    constants = prediction.fit(tag_share=tag_share, map_share=map_share).constants
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
    return prediction.predict_at_shares((tag_share, map_share_of_series(tag_share=tag_share)))


def compare_series(predicted: pl.DataFrame) -> pl.DataFrame:
    """Compare the published series with the predictions of `predict_series`.

    Returns
    -------
    polars.DataFrame
        Schema SWAP_SERIES, a row per figure of the series, and one for the derived share. A range
        is over the fits, each the mean of its seeds.
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
        .with_columns(verdict=pl.when(~pl.col("fitted")).then(range_verdict("low", "high")))
    )
    return SWAP_SERIES.check(frame.select(SWAP_SERIES.names()))


def _figures() -> list[tuple[str, str, str, bool, float | None, float | None]]:
    """Return each figure of the series: step, metric, unit, whether fitted, value, its spread."""
    rates = [(step, "swap out", "KiB/s", False, figure_of(step, "swap out")) for step in STEPS]
    tree, si_lock = figure_of(BASE, "tree_lock"), figure_of(BASE, "si->lock")
    cycles = [
        # Of the first kernel's two locks, the ratio is fitted; their sum is not.
        (BASE, "tree_lock : si->lock", "ratio", True, tree / si_lock),
        (BASE, "both locks", "% of cycles", False, tree + si_lock),
        *(
            (step, metric, "% of cycles", False, figure_of(step, metric))
            for step, metric in [("patches 1-2", "tree_lock"), ("patches 1-3", _IN_GET_SWAP_PAGE)]
        ),
    ]
    return [
        *((*row, RATE_SPREAD) for row in rates),
        *((*row, ROWS_SPREAD) for row in cycles),
        (BASE, "map_share", "of tree_ns", True, None, None),
    ]
