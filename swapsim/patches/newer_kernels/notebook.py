# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 07 alone needs: frames and charts."""

from typing import Final

import altair as alt
import polars as pl

from swapsim import clusters, frames
from swapsim.charts import general
from swapsim.charts.colours import LOCKS, ORDERS
from swapsim.clusters.alternatives import TRACES
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


def meetings_by_cpus(shares: pl.DataFrame) -> alt.ConcatChart:
    """Draw how often a lock meets another CPU, a line per kernel and lock (`meetings.shares`)."""
    lines = shares.with_columns(which=pl.concat_str("kernel", "lock", separator=": "))
    return general.lines(
        lines,
        "cpus",
        "share",
        "which",
        log="x",
        format="%",
        colour=dict(zip(lines["which"].unique(maintain_order=True), LOCKS, strict=True)),
        title="Uses of the swap cache's lock that meet another CPU",
        subtitle="on a fragmented device",
        words={
            "cpus": "CPUs, for 32 trunks or 1,024 clusters",
            "share": "uses that meet another CPU",
        },
    )


def global_lock_by_tasks(changes: pl.DataFrame) -> alt.ConcatChart:
    """Draw what one global lock changes of throughput, with its range (`global_lock.changes`)."""
    return general.lines(
        changes,
        "tasks",
        "change",
        log="x",
        title="Throughput with one global lock taken twice a page, relative to 7.3",
        words={"tasks": "tasks", "change": "change of throughput, %"},
    )


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
