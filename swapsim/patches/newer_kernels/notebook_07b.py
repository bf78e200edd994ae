# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 07b alone needs: lists of clusters and split folios, and the verdict on them."""

from typing import Final

import altair as alt
import polars as pl

from swapsim import claims, clusters, frames
from swapsim.charts import general
from swapsim.charts.colours import ORDERS
from swapsim.clusters.alternatives import TRACES
from swapsim.patches.newer_kernels import large_folios
from swapsim.traces import shipped

_SIZE_NAMES: Final = ("4K", "8K", "16K", "32K", "64K", "128K", "256K", "512K", "1M", "2M")
SIZES: Final = dict(zip(_SIZE_NAMES, ORDERS, strict=True))
"""Colours of folios by their size."""


def frag_lists(measures: pl.DataFrame) -> frames.Shown:
    """Rank frag lists by emptiness by the folios that are split, on two kinds of streams."""
    points = ["median", "low", "high"]
    some = pl.concat(
        clusters.questions.ranked(measures, f"frag lists{kind}").with_columns(entries=pl.lit(name))
        for name, kind in {"as recorded, or short-lived": "", "long-lived": ", long-lived"}.items()
    ).filter(metric="fallbacks")
    return frames.show(some.select("entries", "policy", *points, "runs"), "points", points)


def turnover(compared: pl.DataFrame) -> alt.ConcatChart:
    """Draw the harder test in the model and in the kernels (`large_folios.turnover_compared`)."""
    ours = compared.select("kernel", "order", "low", "high", split="simulated", by=pl.lit("model"))
    theirs = compared.select(
        *("kernel", "order", pl.col("measured_low").alias("low")),
        *(pl.col("measured_high").alias("high"), pl.col("measured").alias("split")),
        by=pl.lit("real kernel"),
    )
    sizes = pl.col("order").replace_strict(dict(enumerate(_SIZE_NAMES)), return_dtype=pl.String)
    return general.dots(
        pl.concat([ours, theirs]).sort("order", maintain_order=True).with_columns(size=sizes),
        "split",
        "size",
        "by",
        apart=True,
        panel="kernel",
        width=270,
        height=220,
        domain=(0, 100),
        title="The harder test: large folios that are split",
        words={"split": "split folios (%)"},
    )


def split_by_size(split: pl.DataFrame) -> alt.ConcatChart:
    """Draw the share of folios that are split over time (`large_folios.split_over_time`)."""
    return general.lines(
        split,
        "stage",
        "split",
        "size",
        panel="rules",
        width=170,
        height=200,
        domain=(0, 100),
        colour=SIZES,
        title="Large folios that are split, over time, by rules",
        words={"stage": "stage of the stream", "split": "split folios (%)", "size": "folios of"},
    )


def skipped_heads() -> pl.DataFrame:
    """Count how often a list of 7.3 yielded another cluster than its first, whose lock was held."""
    rows = []
    for name in TRACES:
        counts = clusters.verify_clusters(shipped("clusters")[name]).figures
        rows.append((name, counts["picks"], counts["skipped_heads"]))
    found = pl.DataFrame(rows, schema=["trace", "picks", "skipped_heads"], orient="row")
    return found.with_columns(percent=100 * pl.col("skipped_heads") / pl.col("picks"))


def verdict(ranked: pl.DataFrame, compared: pl.DataFrame, judged: pl.DataFrame) -> str:
    """Return the lead of notebook 07b.

    Of the ranking of lists, `large_folios.turnover_compared`, and the texts of all claims.
    """
    test = large_folios.compared_with_kernels()
    equal = int(test["equal"].sum())
    largest = compared.filter(order=pl.col("order").max())
    split = dict(largest.select("kernel", "measured").iter_rows())
    old, new = split
    changes = ranked.filter(metric="fallbacks")
    free, none, every = (
        changes.row(by_predicate=pl.col("policy") == name, named=True)
        for name in ("free-first", "frag-0", "frag-all")
    )
    verdicts = judged["simulated_verdict"]
    found = {word: int((verdicts == word).sum()) for word in ("reproduced", "missed")}
    return claims.lead_on(
        f"Clusters with room first, as on Linux {new}: changed to take free clusters first, "
        f"{new} splits {free['median']:.1f} points more large folios; {old} and {new} differ in "
        "other rules, too.",
        does="A folio, several pages that are handled as one, is split into pages if no cluster, "
        "2 MB of the swap device, has a run of free slots for it. Where pages open a free cluster "
        "although another one has room, folios lose its runs.",
        worth=f"On the same requests that is {free['low']:.1f} to {free['high']:.1f} points (a "
        f"harder test: {split[new]:.0f} % of the folios of 2 MB on {new}, {split[old]:.0f} % on "
        f"{old}). Of the mails' claims the model reproduces {found['reproduced']} and misses "
        f"{found['missed']}; the rest is open or has no answer.",
        when=f"In the kernel's own test, where {old}, {new} and the model print equal lines "
        f"({equal} of {test.height}). Hardly for how many frag clusters (scattered slots) are "
        f"tried: {every['median']:+.1f} points with all ({every['low']:.1f} to "
        f"{every['high']:.2f}), {none['median']:+.1f} without any ({none['low']:.2f} to "
        f"{none['high']:.1f}; {none['highest']:+.1f} on one stream).",
    )
