# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A's columns for the mail's table: simulated, measured on Linux 6.1, and by hand."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from swapsim import published
from swapsim.patches.writeback_tags import fits, prediction, studies
from swapsim.published import data
from swapsim.published.rows import SUM, Side, side

TABLE: Final = "lkp comparison"
_ENDS: Final = ("__test_set_page_writeback", "test_clear_page_writeback")
"""Callers whose acquisitions the patch takes away, and the model without it by construction."""

_OF_A_SLOT: Final = 3
"""Acquisitions of 6.1's lock for each slot that a page gets: add, delete, clear shadow."""


def simulated() -> Iterator[Side]:
    """Yield the figures of the headline fit, with a range over the shares of tags that may be."""
    others = fits.with_tags_up_to(studies.by_tag_share()).select(
        "kernel", "metric", "value", share="tag_share"
    )
    usual = studies.headline().select(
        "kernel", "metric", "value", share=pl.lit(prediction.TAG_SHARE)
    )
    rows = pl.concat([others.filter(pl.col("share") != prediction.TAG_SHARE), usual])
    means = rows.group_by("metric", "kernel", "share", maintain_order=True).agg(
        pl.col("value").mean()
    )
    locks = means.filter(pl.col("metric").str.starts_with("perf-profile"))
    total = locks.group_by("kernel", "share", maintain_order=True).agg(pl.col("value").sum())
    means = pl.concat(
        [means, total.select(pl.lit(SUM).alias("metric"), "kernel", "share", "value")]
    )
    for (metric,), part in means.group_by("metric", maintain_order=True):
        if any(caller in str(metric) for caller in _ENDS):
            continue
        base, patched = (
            dict(part.filter(kernel=kernel).select("share", "value").iter_rows())
            for kernel in prediction.KERNELS
        )
        own = metric == prediction.SI_LOCK
        name = f"{SUM}: {metric}, of which the mail has no row" if own else str(metric)
        fitted = not own and metric != SUM
        found = side(TABLE, name, base, patched, at=prediction.TAG_SHARE, fitted=fitted)
        if found:
            yield found


def measured() -> Iterator[Side]:
    """Yield what a real 6.1 counts a page, with tags (on) and without (off)."""
    runs = data.measured_results("writeback-tags")

    def rounds(metric: str, policy: str) -> dict[int, float]:
        return dict(runs.filter(metric=metric, policy=policy).select("seed", "value").iter_rows())

    def at_both_ends(policy: str) -> dict[int, float]:
        """Return the acquisitions of a page at the start and the end of writeback, by round."""
        slots = rounds("slot cache mutex acquisitions", policy)
        taken = rounds("xa_lock acquisitions", policy)
        # Both are counted over a whole run, so that what is left of none may be just below it.
        return {seed: max(0.0, count - _OF_A_SLOT * slots[seed]) for seed, count in taken.items()}

    contended = (rounds("xa_lock contended acquisitions", policy) for policy in ("on", "off"))
    what = "contended acquisitions of xa_lock a page"
    if found := side(TABLE, SUM, *contended, what=what):
        yield found
    what = "acquisitions of xa_lock a page at both ends of writeback"
    for metric in published.table("A", TABLE)["metric"]:
        if any(caller in metric for caller in _ENDS):
            found = side(TABLE, metric, *map(at_both_ends, ("on", "off")), what=what)
            if found:
                yield found


def by_hand() -> dict[tuple[str, str], float]:
    """Return the rates' ratio if the cycles of the two acquisitions that vanish were work."""
    rows = published.table("A", TABLE)
    gone = [row["base"] for row in rows.iter_rows(named=True) if row["base+patch"] == 0]
    gain = 1 / (1 - sum(gone) / 100)
    return {(TABLE, row): gain for row in ("vm-scalability.throughput", "vmstat.swap.so")}
