# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of what the mails claim."""

import altair as alt
import polars as pl

from swapsim.charts.colours import PATCHED
from swapsim.charts.interaction import interactive


@interactive(label="patch and claim", published="published change, %")
def headline_changes(headlines: pl.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw the published change of each main claim of THREE_COLUMNS, a bar per claim."""
    frame = headlines.select(
        "published",
        label=pl.format("{}  {}", pl.col("patch").str.slice(0, 2), "metric"),
        text=pl.format("{} %", "published"),
        beyond=pl.col("published") > 0,
    )
    bars = alt.Chart(frame).encode(
        x=alt.X(
            "published:Q",
            title="published change, in percent of the claim's own base",
            scale=alt.Scale(domain=[-120, 50]),
        ),
        y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)),
    )
    right = bars.transform_filter("datum.beyond").mark_text(align="left", dx=4)
    left = bars.transform_filter("!datum.beyond").mark_text(align="right", dx=-4)
    chart: alt.LayerChart = (
        bars.mark_bar(height=16, color=PATCHED)
        + right.encode(text="text:N")
        + left.encode(text="text:N")
    ).properties(width=460, height=alt.Step(26), title=title)
    return chart
