# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of clusters of swap slots, as the commands draw them; others are general ones."""

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.charts.colours import CLUSTERS, PATCHED, UNPATCHED


def lists_over_time(lists: pl.DataFrame, *, title: str) -> alt.ConcatChart:
    """Draw how many clusters each list has along a trace, one panel per rule set."""
    frame = lists.unpivot(
        list(CLUSTERS), index=["rules", "seq"], variable_name="list", value_name="clusters"
    )
    words = {"seq": "row of the trace", "list": "on the list"}
    return charts.areas(frame, "seq", "clusters", "list", panel="rules", title=title, words=words)


def alternatives(ranking: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.ConcatChart:
    """Draw each alternative's change from the rules of 7.3."""
    unit = pl.col("unit").replace("%", "points")
    order = ranking["policy"].unique(maintain_order=True).to_list()
    place = pl.col("policy").replace_strict({name: at for at, name in enumerate(order)})
    frame = ranking.sort(pl.col("metric").rle_id(), place).select(
        pl.format("{}, {} ({} is better)", "metric", unit, "better").alias("metric"),
        "policy",
        "median",
        "low",
        "high",
        "rank",
        whose=pl.when("user").then(pl.lit("yours")).otherwise(pl.lit("ours")),
    )
    return charts.dots(
        frame,
        "median",
        "policy",
        "whose",
        panel="metric",
        columns=3,
        width=220,
        own_axes=True,
        zero=True,
        title=title,
        subtitle=subtitle,
        words={"median": "change", "policy": "alternative"},
        colour={"ours": UNPATCHED, "yours": PATCHED},
    )
