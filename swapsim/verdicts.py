# SPDX-License-Identifier: GPL-2.0-or-later
"""The sentence that a notebook opens with, and the table that the README shows, recomputed."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from swapsim import replay
from swapsim.claims import compare, published
from swapsim.errors import InputError
from swapsim.schemas import LOCK_SITES, MEDIANS, PUBLISHED, RANGES, SITE, SOURCE, VERIFIED, require

HEADLINES: Final = {
    "A-swap-out": "swap-out bandwidth",
    "A-throughput": "application write rate",
    "B-system-5": "system time, 5 threads",
    "B-system-3": "system time, 3 threads",
    "C-disk-kswapd-pages-scanned": "pages scanned by kswapd",
    "C-disk-page-writes-file": "file pages written by reclaim",
    "D-prose-score": "pmbench score",
    "D-prose-swap-out": "swap-out throughput",
}
"""The claims that the README leads with, in words."""


def writeback_tags(sites_of: Mapping[str, pl.DataFrame]) -> str:
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
    per_page = replay.totals_per_page(_together(sites_of)).filter(pl.col("flow") != "file")
    kept = per_page.filter("tags").row(0, named=True)
    dropped = per_page.filter(~pl.col("tags")).row(0, named=True)
    return (
        f"On {len(sites_of)} traces of a real kernel, {kept['pages']:,} pages swapped out, "
        f"the patch takes a page's lock acquisitions from {kept['acquisitions']:.2f} to "
        f"{dropped['acquisitions']:.2f} and its tree descents under the lock from "
        f"{kept['descents']:.2f} to {dropped['descents']:.2f}."
    )


def writeback_tags_in_time(alone: pl.DataFrame, joint: pl.DataFrame) -> str:
    """Say what patch A's counts are worth in time.

    Parameters
    ----------
    alone, joint : polars.DataFrame
        Schema RANGES: fitted to the mail's base alone, and to it together with other bases.

    Returns
    -------
    str
        One sentence.

    Raises
    ------
    InputError
        No fit was left to say how far throughput goes.
    """
    one, both = (_range(ranges, "A-throughput") for ranges in (alone, joint))
    return (
        f"Fitted to its mail's base column alone, the contention machine makes of that a gain of "
        f"{one['low']:.0f} to {one['high']:.0f} % in throughput, fitted to patch D's bases as well "
        f"{both['low']:.0f} to {both['high']:.0f} %; {one['published']:.1f} % is published."
    )


def _range(ranges: pl.DataFrame, claim: str) -> dict[str, float]:
    found = require(ranges, RANGES, "RANGES").filter(claim=claim)
    if found.height != 1:
        raise InputError(f"{found.height} ranges of {claim!r}: give fits", field="claim")
    return found.row(0, named=True)


def map_of_patches(
    three_columns: pl.DataFrame, sites_of: Mapping[str, pl.DataFrame], verified: pl.DataFrame
) -> str:
    """Say how far the laboratory is with all claims.

    Parameters
    ----------
    three_columns : polars.DataFrame
        Schema THREE_COLUMNS, all claims.
    sites_of : mapping of str to polars.DataFrame
        As for `writeback_tags`.
    verified : polars.DataFrame
        Schema VERIFIED: the slot allocator held against the slot traces.

    Returns
    -------
    str
        One sentence.
    """
    slots, alike = slots_alike(verified)
    simulated = three_columns["simulated"].is_not_null().sum()
    agree = (three_columns["simulated_verdict"] == "agrees").sum()
    return (
        f"Of {three_columns.height} published claims of four patches, {simulated} are simulated in "
        f"time, {agree} of them within their tolerance; patch A's lock counts are replayed on "
        f"{len(sites_of)} traces of a real kernel, and of {slots:,} slots that it handed out in "
        f"{verified.height} more, patch D's allocator hands out {alike:,}."
    )


def slots_alike(verified: pl.DataFrame) -> tuple[int, int]:
    """Count the slots that a real kernel handed out, and of these the model's, too.

    Parameters
    ----------
    verified : polars.DataFrame
        Schema VERIFIED.
    """
    require(verified, VERIFIED, "VERIFIED")
    exact, raced, slots = (int(verified[name].sum()) for name in ("exact", "raced", "slots"))
    return slots, exact + raced


def slots_verified(verified: pl.DataFrame) -> str:
    """Say how many of a real kernel's swap slots the allocator hands out, too.

    Parameters
    ----------
    verified : polars.DataFrame
        Schema VERIFIED.

    Returns
    -------
    str
        One sentence.
    """
    slots, alike = slots_alike(verified)
    return (
        f"Of {slots:,} swap slots that a real kernel handed out in {verified.height} runs, "
        f"the model of patch D's allocator hands out {alike:,}."
    )


def writeback_tags_measured(sites: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Hold the replay's acquisitions a page against those of a real kernel, tags off and on.

    Parameters
    ----------
    sites : polars.DataFrame
        Schema LOCK_SITES of kernel 6.1, the measured one, tags kept and not.
    medians : polars.DataFrame
        Schema MEDIANS of the experiment writeback-tags.

    Returns
    -------
    polars.DataFrame
        Schema HELD_AGAINST; the policy is the boot parameter swap_tags, "off" or "on".
    """
    totals = replay.totals_per_page(sites).filter(pl.col("flow") == "swap, written")
    simulated = totals.select(
        patch=pl.lit("01-writeback-tags"),
        source=pl.lit("simulated", dtype=SOURCE),
        kernel="kernel",
        policy=pl.when("tags").then(pl.lit("on")).otherwise(pl.lit("off")),
        n_tasks=pl.lit(8, dtype=pl.UInt32),
        seed=pl.lit(0, dtype=pl.UInt64),
        metric=pl.lit("xa_lock acquisitions"),
        value="acquisitions",
        unit=pl.lit("1/page"),
    )
    return compare.held_against(simulated, medians)


CONTENTION: Final = {
    "swap cache's lock: cycles in waiting for it": ("cycles.tree_lock.", None),
    "swap cache's lock: acquisitions a page": ("acquisitions.tree_lock.", "xa_lock acquisitions"),
    "swap cache's lock: contended acquisitions a page": (
        "contended.tree_lock.",
        "xa_lock contended acquisitions",
    ),
    "si->lock: acquisitions a page": ("acquisitions.si_lock.", "si->lock acquisitions"),
}
"""A quantity -> the metrics of `simulate.run` that begin so, and that of a real kernel."""


def contention(
    printed: pl.DataFrame,
    runs: tuple[pl.DataFrame, pl.DataFrame],
    medians: pl.DataFrame,
    policies: tuple[str, str],
) -> pl.DataFrame:
    """Set beside each other how a patch relieves the swap cache's lock: in cycles, and in counts.

    Parameters
    ----------
    printed : polars.DataFrame
        Schema PUBLISHED: the cells of the lock's rows, two kernels; a row that a profile does not
        list is below what it lists, and counts as 0.
    runs : (polars.DataFrame, polars.DataFrame)
        `simulate.run` without the patch and with it.
    medians : polars.DataFrame
        Schema MEDIANS of one experiment.
    policies : (str, str)
        Those of the real kernel without the patch and with it.

    Returns
    -------
    polars.DataFrame
        ``quantity``, and its change in percent as ``published``, ``simulated`` and ``measured``;
        null where a source does not have it, or has none of it without the patch.

    Raises
    ------
    InputError
        The printed rows are not those of two kernels, or the medians lack a policy's metric.
    """
    require(printed, PUBLISHED, "PUBLISHED")
    require(medians, MEDIANS, "MEDIANS")
    sums = printed.group_by("kernel", maintain_order=True).agg(pl.col("value").sum())["value"]
    if len(sums) != 2:
        raise InputError(f"{len(sums)} kernels have such rows: give those of two", field="kernel")
    rows = []
    for quantity, (ours, theirs) in CONTENTION.items():
        simulated = (
            float(run.filter(pl.col("metric").str.starts_with(ours))["value"].sum()) for run in runs
        )
        rows.append(
            (
                quantity,
                None if theirs else _change(*sums.to_list()),
                _change(*simulated),
                _change(*(_median(medians, theirs, name) for name in policies)) if theirs else None,
            )
        )
    return pl.DataFrame(
        rows,
        schema={
            "quantity": pl.String,
            "published": pl.Float64,
            "simulated": pl.Float64,
            "measured": pl.Float64,
        },
        orient="row",
    )


def _median(medians: pl.DataFrame, metric: str, policy: str) -> float:
    found = medians.filter(metric=metric, policy=policy)
    if found.height != 1:
        raise InputError(f"{found.height} medians of {metric!r} with {policy!r}", field="policy")
    return float(found["median"].item())


def _change(base: float, value: float) -> float | None:
    return 100 * (value / base - 1) if base else None


def headlines(results: pl.DataFrame) -> pl.DataFrame:
    """Set each patch's main claims beside what was simulated and measured.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS; empty where nothing was simulated or measured yet.

    Returns
    -------
    polars.DataFrame
        ``patch``, ``claim`` in words, ``published``, ``simulated`` and ``measured`` changes in
        percent, null where there is none yet.
    """
    three = compare.three_columns(published.claims(), results, published.tolerances())
    order = pl.DataFrame(
        list(HEADLINES.items()), schema={"claim": pl.String, "words": pl.String}, orient="row"
    )
    return order.join(three, on="claim", how="left", maintain_order="left").select(
        "patch", pl.col("words").alias("claim"), "published", "simulated", "measured"
    )


def _together(sites_of: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Add up the ledgers of several traces."""
    keys = ["kernel", "tags", "flow", "site"]
    frame = (
        pl.concat([require(sites, LOCK_SITES, "lock sites") for sites in sites_of.values()])
        .group_by(keys)
        .agg(pl.exclude(keys).sum())
        .sort("kernel", pl.col("tags").not_(), "flow", pl.col("site").cast(SITE))
    )
    return require(frame.select(LOCK_SITES.names()), LOCK_SITES, "lock sites")
