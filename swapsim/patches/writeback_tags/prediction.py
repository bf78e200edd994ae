# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of patch A's mail: its constants fitted to the base column, and its predictions.

Metrics have the mail's names, so that `claims.three_columns` compares them with the published
ones. Locks of the mail that the machine does not have are left out. The base column leaves two
shares open, so there is a fit and a prediction for each pair of them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims import results
from swapsim.errors import require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.fit import Fitted, Target, base_figure
from swapsim.machine.fit import fit as fit_machine
from swapsim.machine.run import PAGE_KIB, TABLE_SEEDS, labels, metric_values, run
from swapsim.machine.summary import claim_ranges
from swapsim.machine.tables import PREDICTED_BY_SHARES

PATCH: Final = "01-writeback-tags"
"""Its folder in patches, and its rows in data."""

BASE: Final = "base"
"""The kernel of data/published to which constants are fitted."""

TAG_SHARE: Final = 0.1
"""``tag_ns / tree_ns``: the geometric mean of 0.01 and 1, as the base does not determine it."""

MAP_SHARE: Final = 0.35
"""``map_ns / tree_ns``, which the base does not determine either: the value at which tree_lock and
si->lock have the ratio of the swap series of 2017 (`swap_series.map_share_of_series`)."""

TREE_ROWS: Final = {
    "tree_lock.add_to_swap_cache.shrink_page_list": (
        "_raw_spin_lock_irq.__add_to_swap_cache.add_to_swap_cache.add_to_swap.shrink_page_list"
    ),
    "tree_lock.__remove_mapping": (
        "_raw_spin_lock_irqsave.__remove_mapping.shrink_page_list.shrink_inactive_list"
        ".shrink_zone_memcg"
    ),
    "tree_lock.test_set_page_writeback": (
        "_raw_spin_lock_irqsave.__test_set_page_writeback.bdev_write_page.__swap_writepage"
        ".swap_writepage"
    ),
    "tree_lock.test_clear_page_writeback": (
        "_raw_spin_lock_irqsave.test_clear_page_writeback.end_page_writeback.page_endio"
        ".pmem_rw_page"
    ),
}
"""The machine's site -> the row of patch A's mail, without the name of the profile before it."""


def machine(*, tags: bool, seed: int = 1) -> MachineConfig:
    """Return the machine of patch A's mail: 8 writers and 2 kswapds on one pmem under 4.8.

    Memory holds only what the tasks wrote last, because older pages are not accessed again. The
    device starts empty, as in swap-w-seq. With `tags` it is the base, else it has the patch.

    Source
    ------
    Seed A (8 processes, Xeon E5 v3, one pmem); facts on who contends: two sockets, a kswapd each.
    """
    return MachineConfig(
        patch=PATCH,
        kernel="4.8",
        swap_writeback_tags=tags,
        policy="shared",
        nodes=2,
        devices=1,
        writers=8,
        frames=2**15,
        slots=2**20,
        warmup_ns=20_000_000,
        duration_ns=100_000_000,
        seed=seed,
    )


def fit(
    *, tag_share: float, map_share: float, constants: pl.DataFrame | None = None, seed: int = 1
) -> Fitted:
    """Fit patch A's base: the rate while it swaps, and the cycles in tree_lock's four rows.

    The free constants are ``unmap_ns`` (work without a lock, which sets the rate) and ``tree_ns``
    (the hold of add and remove, which sets the wait). Two constants are given as shares of
    ``tree_ns``, because they hardly change the four rows, which wait in the same queue:

    - ``tag_ns``: how long the start and the end of writeback hold the lock,
    - ``map_ns``: how long a look at a map byte holds si->lock, four times per page.

    ``constants`` has the schema CONSTANTS; default: data/costs.csv.

    Source
    ------
    data/published/01-writeback-tags.csv, kernel base.
    """
    table = costs() if constants is None else constants
    value = dict(table.select("name", "value").iter_rows())
    return fit_machine(
        machine(tags=True, seed=seed),
        (
            Target(name="swap_out", metrics=("swap_out",), wanted=swap_phase_rate(table)),
            Target(
                name="tree_lock",
                metrics=tuple(f"cycles.{site}" for site in TREE_ROWS),
                wanted=math.fsum(base_figure(PATCH, BASE, row) for row in TREE_ROWS.values()),
            ),
        ),
        {name: value[name] for name in ("unmap_ns", "tree_ns")},
        tied={"tag_ns": ("tree_ns", tag_share), "map_ns": ("tree_ns", map_share)},
        constants=table,
    )


def headline_fit() -> Fitted:
    """Fit the base with TAG_SHARE and MAP_SHARE, the fit behind the headlines."""
    return fit(tag_share=TAG_SHARE, map_share=MAP_SHARE)


def swap_phase_rate(constants: pl.DataFrame) -> float:
    """Return how fast patch A's base swaps out while it swaps, in KiB/s.

    The mail's swap.so is a mean over a run that fills memory first, without swapping. The share
    so / throughput of all writes reaches the device; the rest is written at the rate of a fault
    and a touch, by eight tasks without waits.

    Source: data/published/01-writeback-tags.csv, vm-scalability.throughput and vmstat.swap.so.
    """
    throughput, swap_out = (
        base_figure(PATCH, BASE, row) for row in ("vm-scalability.throughput", "vmstat.swap.so")
    )
    stays = 1 - swap_out / throughput
    return swap_out / (1 - stays * throughput / _fill_rate(constants))


def run_rates(
    rate: float, constants: pl.DataFrame, *, writers: int | None = None
) -> tuple[float, float]:
    """Return what patch A's test reports of a run: throughput and swap.so, in KiB/s.

    ``rate`` is the swap-out rate while swapping, in KiB/s. The same part of each run fills memory,
    by ``writers`` tasks (default: those of the mail).
    """
    throughput, swap_out = (
        base_figure(PATCH, BASE, row) for row in ("vm-scalability.throughput", "vmstat.swap.so")
    )
    swaps = swap_out / throughput
    run = 1 / ((1 - swaps) / _fill_rate(constants, writers) + swaps / rate)
    return run, run * swaps


def _fill_rate(constants: pl.DataFrame, writers: int | None = None) -> float:
    cost = dict(constants.select("name", "value").iter_rows())
    writers = machine(tags=True).writers if writers is None else writers
    return writers * PAGE_KIB * 1e9 / float(cost["fault_ns"] + cost["touch_ns"])


TAG_SHARES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""``tag_ns / tree_ns``: from a hold for a descent only to one as long as that of add."""

MAP_SHARES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""``map_ns / tree_ns``, doubled until si->lock is so busy that no tree_ns meets the base."""

LONGEST_TAGS_NS: Final = 264
"""The longest plausible ``tag_ns``: two tag operations of the kernel's tree on average (three
descents at the start of writeback, one at its end), of 132 ns with cold caches, measured by
`swapsim bench`."""

_PROFILE: Final = "perf-profile.cycles-pp."


def predict(constants: pl.DataFrame, seeds: Sequence[int] = TABLE_SEEDS) -> pl.DataFrame:
    """Simulate the table of patch A's mail.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema CONSTANTS, from `fit`.
    seeds : sequence of int

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: throughput and swap.so of a complete run, and the four profile rows, for
        the kernels base and base+patch, for each seed.

    Raises
    ------
    InputError
        ``seeds`` is empty.
    """
    require_some(seeds, "seeds")
    frames = []
    for seed in seeds:
        for kernel, tags in (("base", True), ("base+patch", False)):
            config = machine(tags=tags, seed=seed)
            value = metric_values(config, constants)
            throughput, swap_out = run_rates(value["swap_out"], constants)
            rows = [
                ("vm-scalability.throughput", throughput, "KiB/s"),
                ("vmstat.swap.so", swap_out, "KiB/s"),
                *(
                    (_PROFILE + row, value[f"cycles.{site}"], "% of cycles")
                    for site, row in TREE_ROWS.items()
                ),
            ]
            frames.append(results(rows, labels(config, kernel=kernel)))
    return pl.concat(frames)


def runs(constants: pl.DataFrame, *, channels: int = 0, seed: int = 1) -> dict[str, pl.DataFrame]:
    """Run patch A's test without and with the patch: base and base+patch -> metrics of `run.run`.

    ``channels`` is the number of pages that a drive serves at a time; 0: the device is memory.
    """
    return {
        kernel: run(replace(machine(tags=tags, seed=seed), channels=channels), constants)
        for kernel, tags in (("base", True), ("base+patch", False))
    }


def predict_at_shares(
    shares: tuple[float, float],
    *,
    seeds: Sequence[int] = (1, 2),
    constants: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Fit the base at a pair of shares that it leaves open, and predict the patch.

    Parameters
    ----------
    shares : (float, float)
        ``tag_ns`` and ``map_ns`` as shares of ``tree_ns``; see `fit`.
    seeds : sequence of int
        Seeds of the runs of base and patch, over which a prediction is the mean.
    constants : polars.DataFrame, optional
        Schema CONSTANTS, for all constants that are not fitted; default: data/costs.csv.

    Returns
    -------
    polars.DataFrame
        Schema PREDICTED_BY_SHARES: a row per claim that has a change.

    Raises
    ------
    InputError
        ``seeds`` is empty.
    """
    require_some(seeds, "seeds")
    tag_share, map_share = shares
    fitted = fit(tag_share=tag_share, map_share=map_share, constants=constants)
    results = predict(fitted.constants, seeds)
    stated = claims.published_claims().filter(
        pl.col("patch") == PATCH, pl.col("change").is_not_null()
    )
    table = claims.three_columns(stated, results, claims.tolerances())
    patched = (
        results.filter(kernel="base+patch")
        .sort("seed")
        .group_by("metric", maintain_order=True)
        .agg(patched=pl.col("value").mean())
    )
    value = dict(fitted.constants.select("name", "value").iter_rows())
    return (
        table.filter(pl.col("simulated").is_not_null())
        .join(stated.select("claim", "metric"), on="claim", maintain_order="left")
        .join(patched, on="metric", maintain_order="left")
        .select(
            tag_share=pl.lit(tag_share),
            map_share=pl.lit(map_share),
            converged=pl.lit(fitted.converged),
            tree_ns=pl.lit(value["tree_ns"], dtype=pl.UInt32),
            unmap_ns=pl.lit(value["unmap_ns"], dtype=pl.UInt32),
            claim="claim",
            published="published",
            tolerance="tolerance",
            simulated="simulated",
            patched="patched",
        )
    )


def fits_at(shares: Iterable[tuple[float, float]]) -> dict[str, pl.DataFrame]:
    """Fit the base at pairs of tag share and map share: "tags TAG, map MAP" -> CONSTANTS."""
    return {
        f"tags {tag_share:g}, map {map_share:g}": fit(
            tag_share=tag_share, map_share=map_share
        ).constants
        for tag_share, map_share in shares
    }


def with_tags_up_to(points: pl.DataFrame, longest_ns: float = LONGEST_TAGS_NS) -> pl.DataFrame:
    """Return the converged fits whose ``tag_ns`` is at most this long (PREDICTED_BY_SHARES)."""
    return PREDICTED_BY_SHARES.check(points).filter(
        pl.col("converged"), pl.col("tag_share") * pl.col("tree_ns") <= longest_ns
    )


def judged_ranges(points: pl.DataFrame) -> pl.DataFrame:
    """Return the range of each claim over the converged fits, and the verdict (RANGES).

    ``points`` has the schema PREDICTED_BY_SHARES.
    """
    points = PREDICTED_BY_SHARES.check(points)
    return claim_ranges(points.filter("converged"))
