# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap series of January 2017: four kernels under patch A's test, with 32 processes.

Its first kernel has patch A, so no figure here belongs to patch A's two columns; they test the
machine. Its constants are those of patch A's base, with 8 processes and tags. Only one quantity is
derived from the series, because patch A's mail has no row of si->lock: the cost of a look at a map
byte relative to an add to the tree (``map_share``). Everything else is a prediction.
"""

import math
from dataclasses import replace
from typing import Any, Final

import polars as pl

from swapsim.claims import results
from swapsim.errors import InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.fit import base_figure
from swapsim.machine.run import labels
from swapsim.patches.writeback_tags import fits, prediction

WRITERS: Final = 32
_SLOTS_SHIFT: Final = 22  # log2 of the device's slots: 16 GB
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
RATE_TOLERANCE: Final = 0.15  # how far a rate may be off, stored with the windows
ROWS_SPREAD: Final = 0.131  # one standard deviation of a row: data/published/stored-before.md

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


def series_machine(step: str, *, swapped: float, seed: int = 1) -> MachineConfig:
    """Return the machine of one of STEPS: patch A's with four times the writers, and its memory."""
    usual = prediction.life_machine(tags=False, swapped=swapped, writers=WRITERS, seed=seed)
    return replace(usual, slots=2**_SLOTS_SHIFT, **STEPS[step])


def metrics_of(
    step: str, constants: pl.DataFrame, *, swapped: float, seed: int = 1
) -> dict[str, float]:
    """Run one of STEPS and return what the series prints of it.

    These are ``vmstat.swap.so`` (KiB/s) and the rows of ROWS (% of cycles), each over the window of
    its tool; with the base's, ``both locks`` and ``tree_lock : si->lock``.
    """
    config = series_machine(step, swapped=swapped, seed=seed)
    value = prediction.reported(config, constants, step)
    found = {prediction.SWAP_OUT: value[prediction.SWAP_OUT]} | {
        row: math.fsum(value[f"cycles.{site}"] for site in sites)
        for row, sites in ROWS[step].items()
    }
    if step == BASE:
        tree, device = (math.fsum(found[row] for row in rows) for rows in (_TREE, _DEVICE))
        found |= {BOTH: tree + device, RATIO: tree / max(device, 1e-6)}
    return found


def map_share_of_series(tag_share: float) -> float:
    """Find the share at which tree_lock and si->lock have the ratio of the series' first kernel.

    It is ``map_ns / tree_ns``, by bisection on a logarithmic scale. At each share tried, patch A's
    base is fitted again with the tag share. InputError is raised if no share from 0.05 to 0.8 has
    the ratio.

    Source: data/published/01-writeback-tags.csv, kernel 4.9-rc8.
    """
    wanted = figure_of(BASE, RATIO)

    def above(map_share: float) -> bool:
        fitted, swapped = prediction.fit_and_share(tag_share, map_share)
        # A fit that does not converge has si->lock as the bottleneck.
        ratio = metrics_of(BASE, fitted.constants, swapped=swapped)[RATIO]
        return fitted.converged and ratio > wanted

    low, high = _MAP_SHARES
    if not above(low) or above(high):
        raise InputError(f"no map_share from {low} to {high} has the ratio {wanted:.3f}")
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.sqrt(low * high)


def predict_with_series_share(tag_share: float) -> pl.DataFrame:
    """Fit the base at a tag share and the series' map_share, and predict both kernels."""
    return fits.predict_at_shares((tag_share, map_share_of_series(tag_share)))


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


def predict_step(
    step: str, constants: pl.DataFrame, *, swapped: float, seed: int = 1
) -> pl.DataFrame:
    """Predict one of STEPS with the constants of a fit of patch A's base (RESULTS)."""
    rows = [
        (metric, value, UNITS.get(metric, "% of cycles"))
        for metric, value in metrics_of(step, constants, swapped=swapped, seed=seed).items()
    ]
    return results(rows, labels(series_machine(step, swapped=swapped, seed=seed), kernel=step))


def figures() -> list[dict[str, Any]]:
    """Return each figure of the series, and whether a constant was fitted to it."""
    rates = [(step, prediction.SWAP_OUT, RATE_TOLERANCE) for step in STEPS]
    # Of the base's two locks, the ratio is fitted; their sum is not.
    cycles = [(BASE, RATIO, ROWS_SPREAD), (BASE, BOTH, ROWS_SPREAD)]
    cycles += [(step, row, ROWS_SPREAD) for step in STEPS if step != BASE for row in ROWS[step]]
    found = [
        {
            "step": step,
            "metric": metric,
            "unit": UNITS.get(metric, "% of cycles"),
            "fitted": metric == RATIO,
            "published": figure_of(step, metric),
            "tolerance": spread * figure_of(step, metric),
        }
        for step, metric, spread in rates + cycles
    ]
    share = {"step": BASE, "metric": "map_share", "unit": "of tree_ns", "fitted": True}
    return [*found, share | {"published": None, "tolerance": None}]
