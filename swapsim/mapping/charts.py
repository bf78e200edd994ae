# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the mapping's lock: its acquisitions, and the work under it."""

import altair as alt
import polars as pl

from swapsim.charts.colours import SITES, TAGS
from swapsim.charts.interaction import interactive
from swapsim.mapping.tables import FLOW, LOCK_SITES_PER_PAGE, MIX, SITE

_SITES_IN_WORDS = {
    "add": "it is added",
    "dirty": "it becomes dirty",
    "start": "its writeback starts",
    "end": "its writeback ends",
    "move": "it is moved",
    "delete": "it is taken out",
    "clear-shadow": "its shadow is cleared",
}
_FLOWS_IN_WORDS = {
    "swap, written": "pages swapped out",
    "swap, not written": "pages of the swap cache that are not written",
    "file": "pages of files",
}


@interactive(flow="of", tags="swap cache")
def acquisitions_by_site(
    per_page: pl.DataFrame, *, title: str = "Acquisitions of the mapping's lock per page written"
) -> alt.Chart:
    """Draw the lock's acquisitions per page by site, with and without tags, one panel per flow.

    ``per_page`` has the schema LOCK_SITES_PER_PAGE.
    """
    LOCK_SITES_PER_PAGE.check(per_page)
    return _bars(per_page, "acquisitions", title, "acquisitions per page")


_WORK_IN_WORDS = {
    "descents": "Walks of the tree under the lock",
    "nodes": "Nodes of the tree that are visited under the lock",
    "tag_words": "Words of tags that are written under the lock",
}


@interactive(flow="of", tags="swap cache")
def work_by_site(
    per_page: pl.DataFrame, figure: str, *, title: str = "", axis: str = ""
) -> alt.Chart:
    """Draw one figure of the tree work by site: "descents", "nodes" or "tag_words".

    ``per_page`` has the schema LOCK_SITES_PER_PAGE.
    """
    LOCK_SITES_PER_PAGE.check(per_page)
    words = axis or f"{figure.replace('_', ' ')} per page"
    return _bars(per_page, figure, title or _WORK_IN_WORDS[figure], words)


def _bars(per_page: pl.DataFrame, figure: str, title: str, axis: str) -> alt.Chart:
    sites = [site for site in SITE.dtype.categories if site in per_page["site"].unique().to_list()]
    flows = [flow for flow in FLOW.dtype.categories if flow in per_page["flow"].unique().to_list()]
    frame = per_page.select(
        flow=pl.col("flow").cast(pl.String).replace(_FLOWS_IN_WORDS),
        site=pl.col("site").cast(pl.String).replace(_SITES_IN_WORDS),
        tags=pl.col("tags").replace_strict((True, False), tuple(TAGS), return_dtype=pl.String),
        order=pl.col("site").to_physical(),
        figure=pl.col(figure).round(4),
    )
    chart: alt.Chart = (
        alt.Chart(frame, title=title)
        .mark_bar(height=22)
        .encode(
            x=alt.X("figure:Q", title=axis, axis=alt.Axis(tickCount=5)),
            y=alt.Y("tags:N", title=None, sort=list(TAGS)),
            color=alt.Color(
                "site:N",
                title="for a page, when",
                scale=alt.Scale(
                    domain=[_SITES_IN_WORDS[site] for site in sites],
                    range=[SITES[site] for site in sites],
                ),
            ),
            order=alt.Order("order:Q"),
            row=alt.Row(
                "flow:N",
                title=None,
                sort=[_FLOWS_IN_WORDS[flow] for flow in flows],
                header=alt.Header(labelOrient="top", labelAnchor="start"),
            ),
        )
        .properties(width=520, height=64)
    )
    return chart


@interactive(label="trace")
def lock_cost_by_mix(
    mix: pl.DataFrame, *, title: str = "Acquisitions by the share of file pages"
) -> alt.LayerChart:
    """Draw acquisitions per page written, with and without tags, a line per trace.

    ``mix`` has the schema MIX; the trace with the fewest file pages comes first.
    """
    MIX.check(mix)
    share = (100 * pl.col("file_share")).round(0).cast(pl.Int64)
    frame = mix.sort("file_share", "trace").select(
        pl.col("tags").replace_strict((True, False), tuple(TAGS), return_dtype=pl.String),
        pl.col("acquisitions").round(4),
        label=pl.format("{}, {} % file pages", "trace", share),
    )
    labels = list(TAGS)
    y = alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=240))
    base = alt.Chart(frame).encode(y=y)
    ends = frame.group_by("label", maintain_order=True).agg(
        low=pl.col("acquisitions").min(), high=pl.col("acquisitions").max()
    )
    gaps = (
        alt.Chart(ends)
        .mark_rule(color="#888", opacity=0.5, strokeWidth=3)
        .encode(y=y, x="low:Q", x2="high:Q")
    )
    points = base.mark_point(size=130, filled=True, opacity=1).encode(
        x=alt.X(
            "acquisitions:Q",
            title="acquisitions of a mapping's lock per page written",
            scale=alt.Scale(zero=True),
            axis=alt.Axis(tickCount=5),
        ),
        color=alt.Color(
            "tags:N", title="swap cache", scale=alt.Scale(domain=labels, range=list(TAGS.values()))
        ),
    )
    figures = base.mark_text(dy=-13, fontSize=11).encode(
        x="acquisitions:Q", text=alt.Text("acquisitions:Q", format=".2f")
    )
    chart: alt.LayerChart = (gaps + points + figures).properties(
        width=460, height=alt.Step(46), title=title
    )
    return chart
