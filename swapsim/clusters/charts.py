# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of clusters of swap slots."""

import altair as alt
import polars as pl

from swapsim.charts.colours import CLUSTERS
from swapsim.charts.interaction import interactive
from swapsim.clusters.tables import CLUSTER_LIST_SUMS


@interactive(rules="rules", seq="row of the trace", clusters="clusters")
def lists_over_time(lists: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.Chart:
    """Draw how many clusters each list has along the rows of a trace, one panel per rule set.

    Parameters
    ----------
    lists : polars.DataFrame
        Schema CLUSTER_LIST_SUMS, at most 1,000 rows.
    title, subtitle : str
    """
    CLUSTER_LIST_SUMS.check(lists)
    frame = lists.unpivot(
        list(CLUSTERS), index=["rules", "seq"], variable_name="list", value_name="clusters"
    ).with_columns(pl.col("rules").cast(pl.String))
    rules = lists["rules"].cast(pl.String).unique(maintain_order=True).to_list()
    chart: alt.Chart = (
        alt.Chart(frame, title=alt.TitleParams(title, subtitle=subtitle))
        .mark_area()
        .encode(
            x=alt.X("seq:Q", title="row of the trace", axis=alt.Axis(tickCount=4, format="~s")),
            y=alt.Y("clusters:Q", title="clusters", stack="zero"),
            color=alt.Color(
                "list:N",
                title="on the list",
                scale=alt.Scale(domain=list(CLUSTERS), range=list(CLUSTERS.values())),
            ),
            column=alt.Column("rules:N", title=None, sort=rules),
        )
        .properties(width=220, height=220)
    )
    return chart
