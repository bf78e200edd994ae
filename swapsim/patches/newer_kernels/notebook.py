# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 07 alone needs: frames for its charts, and the chart of queues."""

from typing import Final

import altair as alt
import polars as pl

from swapsim import clusters, frames
from swapsim.charts import general
from swapsim.charts.colours import CLUSTERS, FAINT, LOCKS
from swapsim.charts.colours import ORDERS as SHADES
from swapsim.charts.interaction import interactive
from swapsim.clusters.alternatives import TRACES
from swapsim.clusters.tables import CLUSTER_LIST
from swapsim.traces import shipped

_SIZE_NAMES: Final = ("4K", "8K", "16K", "32K", "64K", "128K", "256K", "512K", "1M", "2M")
ORDERS: Final = {"empty": FAINT, **{f"order {n}": shade for n, shade in enumerate(SHADES)}}
SIZES: Final = dict(zip(_SIZE_NAMES, SHADES, strict=True))
"""Colours of clusters by their order, and of folios by their size."""


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


def lists_over_time(lists: pl.DataFrame) -> alt.ConcatChart:
    """Draw the clusters of the harder test's device by list (`studies.device`).

    Each second iteration is drawn, and not the clusters to discard, of which there are none.
    """
    return general.areas(
        lists.filter(pl.col("stage") % 2 == 1, pl.col("list") != "discard"),
        "stage",
        "clusters",
        "list",
        panel="rules",
        colour=CLUSTERS,
        title="Clusters by list in the harder test",
        words={"stage": "iteration", "list": "on the list"},
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


def clusters_over_time(pictures: pl.DataFrame) -> alt.ConcatChart:
    """Draw each cluster of a device along a trace by the order of its folios."""
    order = pl.when(pl.col("in_use") > 0).then(pl.format("order {}", "order"))
    states = pictures.sort("rules", "cluster", "seq").with_columns(
        pl.col("rules").cast(pl.String),
        order=order.otherwise(pl.lit("empty")),
        until=pl.col("seq") + pl.col("seq").min(),
    )
    runs = states.group_by("rules", "cluster", pl.col("order").rle_id().alias("run"), "order")
    return general.spans(
        runs.agg(pl.min("seq"), pl.max("until")).sort("rules", "cluster", "seq"),
        "seq",
        "until",
        "cluster",
        "order",
        panel="rules",
        width=270,
        height=180,
        title="The clusters of a device, by the order of their folios",
        colour=ORDERS,
        words={"seq": "row of the trace"},
    )


def skipped_heads() -> pl.DataFrame:
    """Count how often a list of 7.3 yielded another cluster than its first, whose lock was held."""
    rows = []
    for name in TRACES:
        counts = clusters.verify_clusters(shipped("clusters")[name]).figures
        rows.append((name, counts["picks"], counts["skipped_heads"]))
    found = pl.DataFrame(rows, schema=["trace", "picks", "skipped_heads"], orient="row")
    return found.with_columns(percent=100 * pl.col("skipped_heads") / pl.col("picks"))


@interactive(
    rules="rules", list="list and order", in_use="slots in use", position="place in its list"
)
def queues(pictures: pl.DataFrame) -> alt.Chart:
    """Draw the lists of a device as queues, from the head on; a slider moves along the trace.

    Neighbours with as many slots in use are one bar.
    """
    places = ["rules", "picture", "list"]
    frame = (
        pictures.with_columns(picture=pl.col("seq").rank("dense").cast(pl.Int64))
        .sort(*places, "position")
        .with_columns(pl.col("rules", "list").cast(pl.String), run=pl.col("in_use").rle_id())
        .group_by(*places, "run", "in_use", maintain_order=True)
        .agg(pl.min("position"), end=pl.max("position") + 1)
    )
    last = frame["picture"].n_unique()
    shown = alt.param(
        name="picture_shown",
        value=(last + 1) // 2,
        bind=alt.binding_range(min=1, max=last, step=1, name="picture "),
    )
    lists = [name for name in CLUSTER_LIST.words if name in frame["list"]]
    chart: alt.Chart = (
        alt.Chart(frame.drop("run"), title="The lists of a device, from their heads")
        .mark_bar(height=12)
        .encode(
            x=alt.X("position:Q", title="place in the list, from its head"),
            x2="end:Q",
            y=alt.Y("list:N", title=None, sort=lists, scale=alt.Scale(domain=lists)),
            color=alt.Color("in_use:Q", title="slots in use", scale=alt.Scale(scheme="viridis")),
            column=alt.Column("rules:N", title=None),
        )
        .add_params(shown)
        .transform_filter("datum.picture == picture_shown")
        .properties(width=270, height=17 * len(lists))
    )
    return chart
