# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the contention machine: the time of a page, and its locks next to published ones."""

from typing import Any, Final

import altair as alt
import polars as pl

from swapsim.charts.colours import PARTS, PLACEMENTS, PUBLISHED
from swapsim.charts.interaction import interactive

_SHAPES: Final = ("square", "circle", "triangle-up", "diamond", "cross")
"""The points of anchors, in the order of their table."""


@interactive(kernel="kernel", part="where")
def time_per_page(
    parts: pl.DataFrame, *, title: str = "Where the CPU time of a page goes", subtitle: str = ""
) -> alt.Chart:
    """Draw where the CPUs' time goes between two pages swapped out, one stacked bar per kernel.

    ``parts`` are those of `summary.time_per_page`.
    """
    order = pl.DataFrame({"part": list(PARTS), "order": range(len(PARTS))})
    frame = parts.join(order, on="part", maintain_order="left")
    kernels = frame["kernel"].unique(maintain_order=True).to_list()
    chart: alt.Chart = (
        alt.Chart(
            frame.select("kernel", "part", "microseconds", "order"),
            title=alt.TitleParams(title, subtitle=subtitle),
        )
        .mark_bar()
        .encode(
            x=alt.X("microseconds:Q", title="CPU time per page swapped out, microseconds"),
            y=alt.Y("kernel:N", title=None, sort=kernels),
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=list(PARTS), range=list(PARTS.values())),
                legend=alt.Legend(labelLimit=240),
            ),
            order="order:Q",
        )
        .properties(width=480, height=alt.Step(44))
    )
    return chart


@interactive(threads="threads", ns="simulated, ns", published_ns="published, ns", anchor="anchor")
def locks_against_anchors(
    rates: pl.DataFrame,
    compared: pl.DataFrame,
    *,
    title: str = "Time to take a lock in a loop: simulated, and measured on other processors",
    subtitle: str = "",
) -> alt.HConcatChart:
    """Draw the time of an acquisition by threads: lines simulated, points published.

    Parameters
    ----------
    rates : polars.DataFrame
        From `anchors.lock_rates`; each kind of lock has a panel, each placement a line.
    compared : polars.DataFrame
        From `anchors.against_anchors`.
    title, subtitle : str
    """
    points = compared.select("kind", "anchor", "threads", "published_ns")
    anchors = points["anchor"].unique(maintain_order=True).to_list()
    y = alt.Scale(type="log", domain=[50, 2500], nice=False)
    axis = alt.Axis(values=[50, 100, 200, 500, 1000, 2000], format=",d")
    x = alt.X(
        "threads:Q",
        title="threads",
        scale=alt.Scale(type="log", base=2, nice=False, padding=10),
        axis=alt.Axis(values=sorted(rates["threads"].unique()), format=",d"),
    )

    def panel(kind: str) -> Any:
        lines = (
            alt.Chart(rates.filter(kind=kind).select("placement", "threads", "ns"))
            .mark_line(strokeWidth=2)
            .encode(
                x=x,
                y=alt.Y("ns:Q", title="time of an acquisition, ns", scale=y, axis=axis),
                color=alt.Color(
                    "placement:N",
                    title="simulated",
                    scale=alt.Scale(domain=list(PLACEMENTS), range=list(PLACEMENTS.values())),
                ),
            )
        )
        printed = points.filter(kind=kind).unique(maintain_order=True)
        dots = (
            alt.Chart(printed.select("anchor", "threads", "published_ns"))
            .mark_point(size=55, color=PUBLISHED, strokeWidth=1.8, opacity=1)
            .encode(
                x=x,
                y=alt.Y("published_ns:Q", scale=y),
                shape=alt.Shape(
                    "anchor:N",
                    title="published",
                    scale=alt.Scale(domain=anchors, range=list(_SHAPES[: len(anchors)])),
                    legend=alt.Legend(symbolStrokeColor=PUBLISHED),
                ),
            )
        )
        return (lines + dots).properties(width=270, height=260, title=f"{kind} lock")

    kinds = rates["kind"].unique(maintain_order=True).to_list()
    chart: alt.HConcatChart = alt.hconcat(*map(panel, kinds)).properties(
        title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart
