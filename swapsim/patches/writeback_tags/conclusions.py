# SPDX-License-Identifier: GPL-2.0-or-later
"""The conclusions on patch A: sentences of the verdict, and the relief of the lock."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim import claims, traces
from swapsim.claims.tables import RANGES
from swapsim.errors import InputError
from swapsim.machine import summary
from swapsim.mapping.replay import totals_per_page, writeback_tags_of
from swapsim.mapping.tables import LOCK_SITES, SITE
from swapsim.patches.writeback_tags.prediction import PATCH
from swapsim.patches.writeback_tags.prediction import runs as simulated_runs


def verdict(
    sites_of: Mapping[str, pl.DataFrame], base_only: pl.DataFrame, with_series: pl.DataFrame
) -> str:
    """Return `verdict_on_counts` and `verdict_in_time`, the two sentences of the verdict."""
    return f"{verdict_on_counts(sites_of)} {verdict_in_time(base_only, with_series)}"


def verdict_on_counts(sites_of: Mapping[str, pl.DataFrame]) -> str:
    """Return a sentence on what the patch changes for a page swapped out, over all traces.

    ``sites_of`` has the LOCK_SITES of each trace under kernel 4.8, by the trace's name.
    """
    per_page = totals_per_page(_together(sites_of)).filter(pl.col("flow") != "file")
    with_tags = per_page.filter("tags").row(0, named=True)
    without = per_page.filter(~pl.col("tags")).row(0, named=True)
    return (
        f"On {len(sites_of)} traces of a real kernel, {with_tags['pages']:,} pages swapped out, "
        f"the patch takes the lock acquisitions of a page from {with_tags['acquisitions']:.2f} to "
        f"{without['acquisitions']:.2f}, and the walks of the tree under the lock from "
        f"{with_tags['descents']:.2f} to {without['descents']:.2f}."
    )


def verdict_in_time(base_only: pl.DataFrame, with_series: pl.DataFrame) -> str:
    """Return a sentence on what the patch changes in time."""
    one, less = (_range(ranges, "A-throughput") for ranges in (base_only, with_series))
    return (
        f"Fitted to the base column of its mail alone, the contention machine predicts a gain in "
        f"throughput of {one['low']:.0f} to {one['high']:.0f} %. If si->lock is waited for as much "
        f"next to the swap cache's lock as in a series of January 2017, and tags hold the lock no "
        f"longer than a benchmark finds, it predicts {less['low']:.0f} to {less['high']:.0f} %; "
        f"{_STANDS[less['verdict']].format(one['published'])}."
    )


_STANDS: Final = {
    "holds": "the published {:.1f} % lies inside",
    "near": "the published {:.1f} % lies outside, but within its tolerance",
    "misses": "the published {:.1f} % lies outside",
    "open": "that is too wide to judge the published {:.1f} % by",
}


def _range(ranges: pl.DataFrame, claim: str) -> dict[str, Any]:
    found = RANGES.check(ranges).filter(claim=claim)
    if found.height != 1:
        raise InputError(f"{found.height} ranges of {claim!r}: give fits", field="claim")
    return found.row(0, named=True)


def chances() -> None:
    """Return None: the mail's own deviations are smaller than its changes."""


def counted() -> str:
    """Return `verdict_on_counts` on the shipped traces."""
    return verdict_on_counts(writeback_tags_of(traces.shipped("writeback-tags")))


def lock_relief(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare the relief of the swap cache's lock in the mail, the machine and a real kernel.

    ``runs`` are those of `prediction.runs`. The table is that of `summary.lock_relief`; the mail's
    kernel is 4.8, the real one 6.1.
    """
    return summary.lock_relief(
        claims.published_tables().filter(patch=PATCH, table="lkp comparison", unit="% of cycles"),
        (runs["base"], runs["base+patch"]),
        claims.medians(claims.measured_results("writeback-tags")),
        ("on", "off"),
    )


def headline_locks(constants: pl.DataFrame) -> pl.DataFrame:
    """Return `lock_relief` of the test run with the fit's constants."""
    return lock_relief(simulated_runs(constants))


def _together(sites_of: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the sum of the counts of several traces."""
    keys = ["kernel", "tags", "flow", "site"]
    frame = (
        pl.concat([LOCK_SITES.check(sites) for sites in sites_of.values()])
        .group_by(keys)
        .agg(pl.exclude(keys).sum())
        .sort("kernel", pl.col("tags").not_(), "flow", pl.col("site").cast(SITE.dtype))
    )
    return LOCK_SITES.check(frame.select(LOCK_SITES.names()))
