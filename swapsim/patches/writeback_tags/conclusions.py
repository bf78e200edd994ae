# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch A is found to do: sentences, and how it relieves the swap cache's lock."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim import claims, traces
from swapsim.claims.tables import RANGES
from swapsim.errors import InputError
from swapsim.machine import summary
from swapsim.mapping.replay import totals_per_page, writeback_tags_of
from swapsim.mapping.tables import LOCK_SITES, SITE
from swapsim.patches.writeback_tags.machines import PATCH
from swapsim.patches.writeback_tags.prediction import runs as simulated_runs


def verdict(sites_of: Mapping[str, pl.DataFrame], alone: pl.DataFrame, told: pl.DataFrame) -> str:
    """Say what patch A does, in counts and in time.

    Parameters
    ----------
    sites_of
        As for `verdict_on_counts`.
    alone, told
        As for `verdict_in_time`.

    Returns
    -------
    str
        Two sentences.
    """
    return f"{verdict_on_counts(sites_of)} {verdict_in_time(alone, told)}"


def verdict_on_counts(sites_of: Mapping[str, pl.DataFrame]) -> str:
    """Say what patch A does to a page swapped out, over all traces together.

    Parameters
    ----------
    sites_of : mapping of str to polars.DataFrame
        Name of a trace -> its LOCK_SITES under kernel 4.8.

    Returns
    -------
    str
        One sentence.
    """
    per_page = totals_per_page(_together(sites_of)).filter(pl.col("flow") != "file")
    kept = per_page.filter("tags").row(0, named=True)
    dropped = per_page.filter(~pl.col("tags")).row(0, named=True)
    return (
        f"On {len(sites_of)} traces of a real kernel, {kept['pages']:,} pages swapped out, "
        f"the patch takes the lock acquisitions of a page from {kept['acquisitions']:.2f} to "
        f"{dropped['acquisitions']:.2f}, and the walks of the tree under the lock from "
        f"{kept['descents']:.2f} to {dropped['descents']:.2f}."
    )


def verdict_in_time(alone: pl.DataFrame, told: pl.DataFrame) -> str:
    """Say what patch A's counts are worth in time.

    Parameters
    ----------
    alone, told : polars.DataFrame
        Schema RANGES: fitted to the mail's base alone, and of these fits those with what the swap
        series tells of si->lock and a benchmark of tags.

    Returns
    -------
    str
        One sentence.

    Raises
    ------
    InputError
        No fit was left to say how far throughput goes.
    """
    one, less = (_range(ranges, "A-throughput") for ranges in (alone, told))
    return (
        f"Fitted to the base column of its mail alone, the contention machine predicts a gain in "
        f"throughput of {one['low']:.0f} to {one['high']:.0f} %. If si->lock is waited for as much "
        f"beside the swap cache's lock as in a series of January 2017, and tags hold the lock no "
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


def counted() -> str:
    """Return `verdict_on_counts` on the shipped traces."""
    return verdict_on_counts(writeback_tags_of(traces.shipped("writeback-tags")))


def lock_relief(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Set side by side how the patch relieves the swap cache's lock: mail, machine, real kernel.

    Parameters
    ----------
    runs : mapping of str to polars.DataFrame
        As `prediction.runs` returns.

    Returns
    -------
    polars.DataFrame
        As `summary.lock_relief` returns; the mail's kernel is 4.8, the real one 6.1.
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
    """Add up the ledgers of several traces."""
    keys = ["kernel", "tags", "flow", "site"]
    frame = (
        pl.concat([LOCK_SITES.check(sites) for sites in sites_of.values()])
        .group_by(keys)
        .agg(pl.exclude(keys).sum())
        .sort("kernel", pl.col("tags").not_(), "flow", pl.col("site").cast(SITE.dtype))
    )
    return LOCK_SITES.check(frame.select(LOCK_SITES.names()))
