# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions of patch A's mail: base and patched machine with the same constants.

Metrics have the mail's names, so that `claims.three_columns` compares them with the published
ones. Locks of the mail that the machine does not have are left out. The base column leaves two
shares open, so there is a fit and a prediction for each pair of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims import results
from swapsim.errors import require_some
from swapsim.machine.run import TABLE_SEEDS, labels, metric_values, run
from swapsim.machine.summary import claim_ranges
from swapsim.machine.tables import PREDICTED_BY_SHARES
from swapsim.patches.writeback_tags.fitting import PATCH, TREE_ROWS, fit, machine, run_rates

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
    """Simulate the table of patch A's mail, with the CONSTANTS of a fit.

    Returns RESULTS: throughput and swap.so of a complete run, and the four profile rows, for the
    kernels base and base+patch, for each seed. InputError is raised if ``seeds`` is empty.
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

    ``shares`` are ``tag_ns`` and ``map_ns`` as shares of ``tree_ns``, see `fitting.fit`;
    ``constants`` are those that are not fitted (default: data/costs.csv). A prediction is the mean
    over the seeds. Returns PREDICTED_BY_SHARES, a row per claim that has a change. InputError is
    raised if ``seeds`` is empty.
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
