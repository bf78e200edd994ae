# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 07b alone needs: lists of clusters and split folios, and the verdict on them."""

import altair as alt
import polars as pl

from swapsim import claims, clusters
from swapsim.charts import general
from swapsim.clusters.alternatives import TRACES
from swapsim.patches.newer_kernels import large_folios
from swapsim.traces import shipped


def turnover(compared: pl.DataFrame) -> alt.ConcatChart:
    """Draw the harder test in the model and in the kernels (`large_folios.turnover_compared`)."""
    ours = compared.select("kernel", "order", "low", "high", split="simulated", by=pl.lit("model"))
    theirs = compared.select(
        *("kernel", "order", pl.col("measured_low").alias("low")),
        *(pl.col("measured_high").alias("high"), pl.col("measured").alias("split")),
        by=pl.lit("real kernel"),
    )
    return general.dots(
        pl.concat([ours, theirs])
        .sort("order", maintain_order=True)
        .with_columns(size=large_folios.size_of_order()),
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
        split.with_columns(sixth=pl.col("stage").rank("dense")),
        "sixth",
        "split",
        panel="rules",
        width=170,
        height=200,
        domain=(0, 100),
        title="Large folios that are split as a build goes on, by rules",
        words={"sixth": "sixth of the pages swapped out", "split": "split folios (%)"},
    )


def skipped_heads() -> pl.DataFrame:
    """Count how often a list of 7.3 yielded another cluster than its first, whose lock was held."""
    rows = []
    for name in TRACES:
        counts = clusters.verify_clusters(shipped("clusters")[name]).figures
        rows.append((name, counts["picks"], counts["skipped_heads"]))
    found = pl.DataFrame(rows, schema=["trace", "picks", "skipped_heads"], orient="row")
    return found.with_columns(percent=100 * pl.col("skipped_heads") / pl.col("picks"))


def verdict(split: pl.DataFrame, compared: pl.DataFrame, judged: pl.DataFrame) -> str:
    """Return the lead of notebook 07b.

    Of the split folios by alternative (`clusters.questions.with_recordings`),
    `large_folios.turnover_compared`, and the texts of all claims.
    """
    test = large_folios.compared_with_kernels()
    equal = int(test["equal"].sum())
    largest = compared.filter(order=pl.col("order").max())
    old, new = of = dict(largest.select("kernel", "measured").iter_rows())
    recordings = split.columns[5:]
    free, none, every = (
        split.row(by_predicate=pl.col("policy") == name, named=True)
        for name in ("free-first", "frag-0", "frag-all")
    )
    on_each = [free[name] for name in recordings]
    worst = max(recordings, key=lambda name: none[name])
    others = max(none[name] for name in recordings if name != worst)
    verdicts = judged["simulated_verdict"]
    found = {word: int((verdicts == word).sum()) for word in ("reproduced", "missed")}
    return claims.lead_on(
        f"Clusters with room first, as on Linux {new}: with free clusters first {new} splits "
        f"{free['median']:.1f} points more large folios of generated requests; on recordings "
        f"{min(on_each):.1f} to {max(on_each):.1f}.",
        does="A folio, several pages that are handled as one, is split into pages if no cluster, "
        "2 MB of the swap device, has a run of free slots for it. Where pages open a free cluster "
        "although another one has room, folios lose its runs.",
        worth=f"{free['low']:.1f} to {free['high']:.1f} points on generated requests (a "
        f"harder test: {of[new]:.0f} % of the folios of 2 MB on {new}, {of[old]:.0f} % on {old}, "
        "which differs in other rules, too). Of the mails' claims the model reproduces "
        f"{found['reproduced']} and misses {found['missed']}.",
        when=f"In the kernel's own test, where {old}, {new} and the model print equal lines "
        f"({equal} of {test.height}). To try all frag clusters (scattered slots), not one, "
        f"changes {every['low']:.1f} to {every['high']:.1f} points; to try none costs "
        f"{none[worst]:.1f} on the recording {worst} (at most {others:.1f} on others).",
    )
