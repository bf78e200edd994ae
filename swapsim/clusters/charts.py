# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart of clusters of swap slots that the command draws."""

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.charts.colours import CLUSTERS


def lists_over_time(lists: pl.DataFrame, *, title: str) -> alt.ConcatChart:
    """Draw how many clusters each list has along a trace, one panel per rule set."""
    frame = lists.unpivot(
        list(CLUSTERS), index=["rules", "seq"], variable_name="list", value_name="clusters"
    )
    words = {"seq": "row of the trace", "list": "on the list"}
    return charts.areas(frame, "seq", "clusters", "list", panel="rules", title=title, words=words)
