# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart of a run of the contention machine: the time of a page."""

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.charts import colours


def time_per_page(
    parts: pl.DataFrame, title: str = "Where the CPU time of a page goes"
) -> alt.ConcatChart:
    """Draw where the CPU time of a page goes (`running.time_per_page`), a bar for each kernel."""
    order = pl.Enum(list(colours.PARTS))
    return charts.bars(
        parts.sort(pl.col("part").cast(order), maintain_order=True),
        "microseconds",
        "kernel",
        "part",
        title=title,
        colour=colours.PARTS,
        words={"microseconds": "CPU time per page swapped out, microseconds"},
    )
