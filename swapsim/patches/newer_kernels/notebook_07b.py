# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 07b alone needs: lists of clusters and split folios, and the verdict on them."""

from typing import Final

import altair as alt
import polars as pl

from swapsim import claims, clusters
from swapsim.charts import general
from swapsim.clusters.alternatives import TRACES
from swapsim.patches.newer_kernels import large_folios, studies
from swapsim.traces import shipped

_PAIR: Final = "F-64k-8gb-fallback"
"""The mail's main pair: folios of 64K on 8 GB."""


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
        title="7.3 splits fewer of the largest folios, in the model and in real kernels",
        subtitle="the harder test; medians",
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
        title="With nonfull clusters first a build hardly runs out of runs",
        subtitle="folios of 64K that are split as it goes on, by rules; bands: eight recordings",
        words={"sixth": "sixth of the pages swapped out", "split": "split folios (%)"},
    )


def free_clusters(kernel: str, seed: int) -> pl.DataFrame:
    """Count the free clusters as a recorded build of 64K goes on, with either list first."""
    rows = claims.measured_table(studies.BUILD, "stream")
    own = rows.filter(policy="64K", kernel=kernel, seed=seed)
    slots = studies.slots_of(8, own["cpu"].n_unique())
    stream = clusters.requests.recorded(own, name="64K", slots=slots, swap_in_orders=(4,))
    firsts = {"free first (6.17)": "6.17", "nonfull first (6.18)": "6.18"}
    return pl.concat(
        studies.run_rules(stream, rules).lists.select(
            "free", "in_use", first=pl.lit(first), stage="seq"
        )
        for first, rules in firsts.items()
    )


def skipped_heads() -> pl.DataFrame:
    """Count how often a list of 7.3 yielded another cluster than its first, whose lock was held."""
    rows = []
    for name in TRACES:
        counts = clusters.verify_clusters(shipped("clusters")[name]).figures
        rows.append((name, counts["picks"], counts["skipped_heads"]))
    found = pl.DataFrame(rows, schema=["trace", "picks", "skipped_heads"], orient="row")
    return found.with_columns(percent=100 * pl.col("skipped_heads") / pl.col("picks"))


def verdict(split: pl.DataFrame, pairs: pl.DataFrame, judged: pl.DataFrame) -> str:
    """Return the lead of notebook 07b.

    Of the split folios by alternative (`clusters.alternatives.with_recordings`),
    `large_folios.pairs`, and the texts of all claims.
    """
    test = large_folios.compared_with_kernels()
    equal = int(test["equal"].sum())
    old, new = test["rules"].unique(maintain_order=True)
    free, none, every = (
        split.row(by_predicate=pl.col("policy") == name, named=True)
        for name in ("free-first", "frag-0", "frag-all")
    )
    recordings = split.columns[split.columns.index("high") + 1 :]
    on_each = [free[name] for name in recordings]
    pair = pairs.row(by_predicate=pl.col("claim") == _PAIR, named=True)
    by = {
        source: f"from {pair[f'{source}_before']:.{digits[0]}f} to "
        f"{pair[f'{source}_after']:.{digits[1]}f}"
        for source, digits in (("simulated", (1, 1)), ("published", (2, 2)))
    }
    points = pair["simulated_before"] - pair["simulated_after"]
    verdicts = judged["simulated_verdict"]
    found = {word: int((verdicts == word).sum()) for word in ("reproduced", "missed")}
    of_pair = judged.row(by_predicate=pl.col("claim") == _PAIR, named=True)["simulated_verdict"]
    return claims.lead_on(
        f"Clusters with room first, as on Linux {new}: a build's split 64K folios fall "
        f"{by['simulated']} % by the model, {by['published']} by the mail.",
        does="A folio, several pages that are handled as one, is split into pages if no cluster, "
        "2 MB of the swap device, has a run of free slots for it. Where pages open a free cluster "
        "although another one has room, folios lose its runs.",
        worth=f"The mail's pair is {of_pair}: the model's change is larger, and depends on the "
        f"requests ({points:.1f} points on builds, {free['median']:.1f} on generated ones, "
        f"{min(on_each):.1f} to {max(on_each):.1f} on other recordings). Of the mails' claims the "
        f"model reproduces {found['reproduced']} and misses {found['missed']}.",
        when=f"In the kernel's own test, where {old}, {new} and the model print equal lines "
        f"({equal} of {test.height}). To try all frag clusters (scattered slots), not one, "
        f"changes {every['low']:.1f} to {every['high']:.1f} points of generated requests; to try "
        f"none costs {max(none[name] for name in recordings):.1f} on one recording of "
        f"{len(recordings)}.",
    )
