# SPDX-License-Identifier: GPL-2.0-or-later
"""What the pages on all patches show of patch A: its counts, and the relief of its lock."""

from collections.abc import Mapping

import polars as pl

from swapsim import claims, traces
from swapsim.machine import summary
from swapsim.mapping.replay import totals_per_page, writeback_tags_of
from swapsim.mapping.tables import LOCK_SITES, SITE
from swapsim.patches.writeback_tags import prediction


def chances() -> None:
    """Return None: the mail's own deviations are smaller than its changes."""


def headline_locks(constants: pl.DataFrame) -> pl.DataFrame:
    """Return `lock_relief` of the test run with the fit's constants."""
    return lock_relief(prediction.runs(constants))


def lock_relief(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare the lock's relief in the mail (4.8), in `prediction.runs` and on a real 6.1."""
    return summary.lock_relief(
        claims.published_tables().filter(
            patch=prediction.PATCH, table="lkp comparison", unit="% of cycles"
        ),
        (runs["base"], runs["base+patch"]),
        claims.medians(claims.measured_results("writeback-tags")),
        ("on", "off"),
    )


def counted() -> str:
    """Return a sentence on what the patch changes for a page, over all shipped traces."""
    sites_of = writeback_tags_of(traces.shipped("writeback-tags"))
    tags, none = (per_page(sites_of, tags=tags) for tags in (True, False))
    return (
        f"On {len(sites_of)} traces of a real kernel, {tags['pages']:,} pages swapped out, "
        f"the patch takes the lock acquisitions of a page from {tags['acquisitions']:.2f} to "
        f"{none['acquisitions']:.2f}, and the walks of the tree under the lock from "
        f"{tags['descents']:.2f} to {none['descents']:.2f}."
    )


def per_page(sites_of: Mapping[str, pl.DataFrame], *, tags: bool) -> dict[str, float]:
    """Return the totals for a swapped page over all traces (LOCK_SITES by name)."""
    keys = ["kernel", "tags", "flow", "site"]
    together = (
        pl.concat(sites_of.values())
        .group_by(keys)
        .agg(pl.exclude(keys).sum())
        .sort("kernel", pl.col("tags").not_(), "flow", pl.col("site").cast(SITE.dtype))
    )
    totals = totals_per_page(together.select(LOCK_SITES.names()))
    return totals.filter(pl.col("flow") != "file", tags=tags).row(0, named=True)
