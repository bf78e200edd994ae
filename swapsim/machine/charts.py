# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the contention machine: time of a page, and locks next to published ones."""

from typing import Final

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.charts import colours

_PUBLISHED: Final = ("#67000d", "#a50f15", colours.PUBLISHED, "#fb8d6a", "#fcbba1")
"""Anchors, in the order of their table."""


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


def locks_against_anchors(rates: pl.DataFrame, compared: pl.DataFrame) -> alt.ConcatChart:
    """Draw `anchors.lock_rates` and `anchors.against_anchors`: a panel for each kind of lock."""
    simulated = rates.select("kind", "threads", "ns", line="placement")
    # An anchor is compared with each placement that it may have had.
    published = compared.select("kind", "threads", ns="published_ns", line="anchor").unique(
        maintain_order=True
    )
    anchors = published["line"].unique(maintain_order=True).to_list()
    return charts.lines(
        pl.concat([simulated, published], how="vertical_relaxed").with_columns(
            kind=pl.col("kind") + " lock"
        ),
        "threads",
        "ns",
        "line",
        title="Time to take a lock in a loop: simulated, and measured on other processors",
        panel="kind",
        colour=colours.PLACEMENTS | dict(zip(anchors, _PUBLISHED, strict=False)),
        words={"ns": "time of an acquisition, ns", "line": "simulated; in red published"},
        log="xy",
        domain=(50, 2500),
        format=",d",
        width=270,
        height=260,
    )
