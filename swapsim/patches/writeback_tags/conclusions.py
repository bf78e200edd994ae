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
    sites_of: Mapping[str, pl.DataFrame],
    base_only: pl.DataFrame,
    with_series: pl.DataFrame,
    *,
    writers: pl.DataFrame,
    drives: pl.DataFrame,
    trunks: pl.DataFrame,
) -> str:
    """Return the lead of notebook 01.

    Parameters
    ----------
    sites_of : mapping of str to polars.DataFrame
        LOCK_SITES of each trace under kernel 4.8, by the trace's name.
    base_only, with_series : polars.DataFrame
        Schema RANGES: of all fits to the mail's base, and of those that the series allows.
    writers, drives, trunks : polars.DataFrame
        Schema WHAT_IF_RANGES: the gain by each of these.
    """
    with_tags, without = _per_page(sites_of)
    one, less = (_range(ranges, "A-throughput") for ranges in (base_only, with_series))
    wide, narrow = (
        claims.range_text(found["low"], found["high"], "%", relative=True) for found in (one, less)
    )
    slow = drives.sort("setting").row(0, named=True)
    return claims.lead_on(
        f"Without writeback tags a page that is swapped out takes the swap cache's lock "
        f"{without['acquisitions']:.2f} times in place of {with_tags['acquisitions']:.2f}; "
        f"{_STANDS[less['verdict']].format(one['published'])}.",
        does=f"On {with_tags['pages']:,} pages that a real kernel swapped out, the walks of the "
        f"tree under the lock fall from {with_tags['descents']:.2f} to {without['descents']:.2f} "
        f"a page. File pages keep their tags, and gain nothing.",
        worth=f"Throughput changes by {narrow} (published: {one['published']:+.1f} %), if two "
        f"locks are waited for as in a series of 2017 and tags hold the lock no longer than in a "
        f"benchmark. By the mail's base column alone it is {wide}.",
        when=f"With one writer ({summary.gain_at(writers, 1)}), or where the swap cache has a lock "
        f"for each 64 MB, as from 4.11 on ({summary.gain_at(trunks, 64)}). A drive slower than the "
        f"lock hides the patch, too ({slow['label']}: {summary.gain_at(drives, slow['setting'])}).",
    )


def verdict_on_counts(sites_of: Mapping[str, pl.DataFrame]) -> str:
    """Return a sentence on what the patch changes for a page swapped out, over all traces.

    ``sites_of`` has the LOCK_SITES of each trace under kernel 4.8, by the trace's name.
    """
    with_tags, without = _per_page(sites_of)
    return (
        f"On {len(sites_of)} traces of a real kernel, {with_tags['pages']:,} pages swapped out, "
        f"the patch takes the lock acquisitions of a page from {with_tags['acquisitions']:.2f} to "
        f"{without['acquisitions']:.2f}, and the walks of the tree under the lock from "
        f"{with_tags['descents']:.2f} to {without['descents']:.2f}."
    )


def _per_page(sites_of: Mapping[str, pl.DataFrame]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the totals for a swapped page, over all traces, with tags and without."""
    per_page = totals_per_page(_together(sites_of)).filter(pl.col("flow") != "file")
    return per_page.filter("tags").row(0, named=True), per_page.filter(~pl.col("tags")).row(
        0, named=True
    )


_STANDS: Final = {
    "holds": "the published gain of {:.1f} % lies in the predicted range",
    "near": "the published gain of {:.1f} % lies near the predicted range",
    "misses": "the published gain of {:.1f} % lies outside of the predicted range",
    "open": "whether that is worth the published {:.1f} % is open",
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
