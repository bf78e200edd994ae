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
from swapsim.machine.run import labels
from swapsim.machine.tables import SWAP_SERIES
from swapsim.patches.writeback_tags import prediction

WRITERS: Final = 32

_SLOTS_SHIFT: Final = 22
"""Log2 of the device's slots: 16 GB."""

_DIRECT: Final = {"kernel": "5.7", "slot_cache": False, "exit_holds_device": True}

STEPS: Final[dict[str, dict[str, Any]]] = {
    "4.9-rc8": {"kernel": "4.8"},
    "patches 1-2": {**_DIRECT, "trunk_shift": _SLOTS_SHIFT},
    "patches 1-3": _DIRECT,
    "patches 1-9": {"kernel": "5.7"},
}
"""Step of the series -> settings of the machine: a lock for each cluster, then trunks of 64 MB (one
for the device before), then the caches of slots. Without
them an exit holds si->lock over each free. Patch 4 is about readahead."""

BASE: Final = "4.9-rc8"
LAST: Final = "patches 1-9"

BOTH: Final = "both locks"
RATIO: Final = "tree_lock : si->lock"
UNITS: Final = {prediction.SWAP_OUT: "KiB/s", RATIO: "ratio"}

RATE_TOLERANCE: Final = 0.15
"""How far a rate may be off, stored with the windows."""

ROWS_SPREAD: Final = 0.131
"""One standard deviation of a profile row: data/published/README.md."""

_TREE: Final[dict[str, tuple[str, ...]]] = {
    "tree_lock in __add_to_swap_cache": ("tree_lock.add_to_swap_cache.shrink_page_list",),
    "tree_lock in __remove_mapping": ("tree_lock.__remove_mapping",),
}
_DEVICE: Final[dict[str, tuple[str, ...]]] = {
    "si->lock in swapcache_free": ("map_lock.put_swap_page",),
    "si->lock in page_swapcount": ("map_lock.try_to_free_swap",),
    "si->lock in __swap_duplicate": ("map_lock.swap_duplicate",),
    "si->lock in get_swap_page": ("si_lock.get_swap_pages",),
}
_ZONE: Final[dict[str, tuple[str, ...]]] = {
    "zone lock in get_page_from_freelist": ("zone_lock.rmqueue_bulk",)
}

ROWS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "4.9-rc8": _TREE | _DEVICE,
    "patches 1-2": _TREE,
    "patches 1-3": {"si->lock in get_swap_page": ("si_lock.get_swap_pages",)} | _ZONE,
    "patches 1-9": {
        "si->lock in get_swap_pages": ("si_lock.get_swap_pages",),
        "si->lock in swapcache_free_entries, from unmap_page_range": (
            "si_lock.swapcache_free_entries",
            "cluster_lock.swapcache_free_entries",
        ),
    }
    | _ZONE,
}
"""Rows of each step's profile that the machine has, and the sites whose sum each is. The second row
of get_page_from_freelist of the last step is added to the first one."""

_ROW_2: Final = ", row 2"

_MAP_SHARES: Final = (0.05, 0.8)
_HALVINGS: Final = 8


def series_machine(
    step: str, *, swapped: float, seed: int = 1, exit_holds_device: bool = True
) -> MachineConfig:
    """Return the machine of one of STEPS: patch A's with four times the writers, and its memory.

    Without ``exit_holds_device`` the steps without slot caches free slots as 4.11 does.
    """
    usual = prediction.life_machine(tags=False, swapped=swapped, writers=WRITERS, seed=seed)
    made = replace(usual, slots=2**_SLOTS_SHIFT, **STEPS[step])
    return replace(made, exit_holds_device=made.exit_holds_device and exit_holds_device)


def metrics_of(
    step: str, constants: pl.DataFrame, *, swapped: float, seed: int = 1
) -> dict[str, float]:
    """Run one of STEPS and return what the series prints of it.

    These are ``vmstat.swap.so`` (KiB/s) and the rows of ROWS (% of cycles), each over the window of
    its tool; with the base's, ``both locks`` and ``tree_lock : si->lock``.
    """
    return metrics_of_machine(step, series_machine(step, swapped=swapped, seed=seed), constants)


def metrics_of_machine(
    step: str, config: MachineConfig, constants: pl.DataFrame
) -> dict[str, float]:
    """Return `metrics_of` of a machine that stands for one of STEPS."""
    value = prediction.reported(config, constants, step)
    found = {prediction.SWAP_OUT: value[prediction.SWAP_OUT]} | {
        row: math.fsum(value[f"cycles.{site}"] for site in sites)
        for row, sites in ROWS[step].items()
    }
    if step == BASE:
        tree, device = (math.fsum(found[row] for row in rows) for rows in (_TREE, _DEVICE))
        found |= {BOTH: tree + device, RATIO: tree / max(device, 1e-6)}
    return found


def map_share_of_series(
    *, tag_share: float, seeds: Sequence[int] = (1,), constants: pl.DataFrame | None = None
) -> float:
    """Find the share at which tree_lock and si->lock have the ratio of the series' first kernel.

    Parameters
    ----------
    tag_share : float
        As for `fit`: at each share tried, patch A's base is fitted again.
    seeds : sequence of int
        Seeds of the runs whose mean is compared with the ratio.
    constants : polars.DataFrame, optional
        Schema CONSTANTS, for all constants that are not fitted; default: data/costs.csv.

    Returns
    -------
    float
        ``map_ns / tree_ns``, by bisection on a logarithmic scale.

    Raises
    ------
    InputError
        No share from 0.05 to 0.8 has the ratio.

    Source
    ------
    data/published/01-writeback-tags.csv, kernel 4.9-rc8.
    """
    wanted = figure_of(BASE, RATIO)

    def above(map_share: float) -> bool:
        fitted = prediction.fit(tag_share=tag_share, map_share=map_share, constants=constants)
        swapped = prediction.swapped_share(fitted.constants)
        # A fit that does not converge has si->lock as the bottleneck.
        runs = [metrics_of(BASE, fitted.constants, swapped=swapped, seed=seed) for seed in seeds]
        ratio = math.fsum(value[RATIO] for value in runs) / len(seeds)
        return fitted.converged and ratio > wanted

    low, high = _MAP_SHARES
    if not above(low) or above(high):
        raise InputError(f"no map_share from {low} to {high} has the ratio {wanted:.3f}")
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.sqrt(low * high)


def figure_of(step: str, metric: str) -> float:
    """Return a figure of one of STEPS, by its name in `metrics_of`.

    Source: data/published/01-writeback-tags.csv, mail S-swap-series-v4-reply.
    """
    tree, device = (
        math.fsum(base_figure(prediction.PATCH, BASE, row) for row in rows)
        for rows in (_TREE, _DEVICE)
    )
    if metric in (BOTH, RATIO):
        return tree + device if metric == BOTH else tree / device
    rows = [metric, metric + _ROW_2] if step == LAST and metric in _ZONE else [metric]
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
    swapped = prediction.swapped_share(constants)
    rows = [
        (metric, value, UNITS.get(metric, "% of cycles"))
        for metric, value in metrics_of(step, constants, swapped=swapped, seed=seed).items()
    ]
    rows.append(("map_share", map_share, "of tree_ns"))
    config = series_machine(step, swapped=swapped, seed=seed)
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
    rates = [(step, prediction.SWAP_OUT) for step in STEPS]
    # Of the base's two locks, the ratio is fitted; their sum is not.
    cycles = [(BASE, RATIO), (BASE, BOTH)]
    cycles += [(step, row) for step in STEPS if step != BASE for row in ROWS[step]]
    return [
        *(
            (step, metric, UNITS.get(metric, "% of cycles"), metric == RATIO, figure, spread)
            for figures, spread in ((rates, RATE_TOLERANCE), (cycles, ROWS_SPREAD))
            for step, metric in figures
            for figure in [figure_of(step, metric)]
        ),
        (BASE, "map_share", "of tree_ns", True, None, None),
    ]
