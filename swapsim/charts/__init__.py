# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts: a checked frame in, an altair Chart out. They decide nothing."""

import base64
from typing import Any, Final

import altair as alt
import polars as pl
import vl_convert

from swapsim.schemas import FLOW, LOCK_SITES_PER_PAGE, MIX, SITE, require

VEGA_LITE: Final = "6.4"
"""The Vega-Lite that renders, whatever altair's default."""

COLOURS: Final = {
    "add": "#4c78a8",
    "dirty": "#9d755d",
    "start": "#e45756",
    "end": "#f58518",
    "move": "#79706e",
    "delete": "#54a24b",
    "clear-shadow": "#b279a2",
    "tags kept": "#8c510a",
    "no tags": "#01665e",
}
"""One colour per site and per policy, the same in every chart."""

TAGS_LABELS: Final = {True: "tags kept", False: "no tags"}


@alt.theme.register("swapsim", enable=True)
def _theme() -> alt.theme.ThemeConfig:
    return {
        "config": {
            "view": {"stroke": None},
            "title": {"anchor": "start", "fontSize": 14, "subtitleColor": "#555", "offset": 12},
            "axis": {"labelFontSize": 11, "titleFontSize": 12, "gridColor": "#e8e8e8"},
            "legend": {"labelFontSize": 11, "titleFontSize": 12},
            "background": "white",
        }
    }


def use() -> None:
    """Show charts in notebooks as a PNG with their specification beside it, and tables whole.

    GitHub, JupyterLab and HTML reports all show the PNG; nbval compares the specification.
    """
    pl.Config.set_tbl_rows(60).set_tbl_cols(20).set_fmt_str_lengths(120)
    pl.Config.set_tbl_width_chars(160).set_tbl_hide_dataframe_shape(
        True
    ).set_tbl_hide_column_data_types(True)
    alt.renderers.register("swapsim", _static)
    alt.renderers.enable("swapsim")


def _static(spec: dict[str, Any], **_: object) -> dict[str, object]:
    png = vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=1.5)
    title = spec.get("title") or "chart"
    text = title.get("text", "chart") if isinstance(title, dict) else title
    return {
        "application/vnd.vegalite.v6+json": spec,
        "image/png": base64.b64encode(png).decode(),
        "text/plain": f"<chart: {text}>",
    }


def acquisitions_by_site(
    per_page: pl.DataFrame, *, title: str = "Acquisitions of the mapping's lock per page written"
) -> alt.Chart:
    """Stack the lock's acquisitions by site, tags kept above tags dropped, one panel a flow.

    Parameters
    ----------
    per_page : polars.DataFrame
        Schema LOCK_SITES_PER_PAGE.
    title : str
    """
    require(per_page, LOCK_SITES_PER_PAGE, "lock sites per page")
    return _bars(per_page, "acquisitions", title, "acquisitions per page")


def work_by_site(per_page: pl.DataFrame, figure: str, *, title: str, axis: str) -> alt.Chart:
    """Stack one figure of the tree work under the lock by site, as `acquisitions_by_site`.

    Parameters
    ----------
    per_page : polars.DataFrame
        Schema LOCK_SITES_PER_PAGE.
    figure : {"descents", "nodes", "tag_words"}
    title, axis : str
    """
    require(per_page, LOCK_SITES_PER_PAGE, "lock sites per page")
    return _bars(per_page, figure, title, axis)


def _bars(per_page: pl.DataFrame, figure: str, title: str, axis: str) -> alt.Chart:
    sites = [site for site in SITE.categories if site in per_page["site"].unique().to_list()]
    flows = [flow for flow in FLOW.categories if flow in per_page["flow"].unique().to_list()]
    frame = per_page.select(
        pl.col("flow").cast(pl.String),
        pl.col("site").cast(pl.String),
        pl.col("tags").replace_strict(TAGS_LABELS, return_dtype=pl.String),
        pl.col("site").to_physical().alias("order"),
        pl.col(figure).round(4),
    )
    chart: alt.Chart = (
        alt.Chart(frame, title=title)
        .mark_bar(height=22)
        .encode(
            x=alt.X(f"{figure}:Q", title=axis, axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("tags:N", title=None, sort=list(TAGS_LABELS.values())),
            color=alt.Color(
                "site:N",
                title="site",
                scale=alt.Scale(domain=sites, range=[COLOURS[site] for site in sites]),
            ),
            order=alt.Order("order:Q"),
            row=alt.Row(
                "flow:N",
                title=None,
                sort=flows,
                header=alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold"),
            ),
        )
        .properties(width=520, height=64)
    )
    return chart


def lock_cost_by_mix(mix: pl.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw acquisitions per page written, tags kept and not, one line a trace, fewest files first.

    Parameters
    ----------
    mix : polars.DataFrame
        Schema MIX.
    title : str
    """
    require(mix, MIX, "mix")
    share = (100 * pl.col("file_share")).round(0).cast(pl.Int64)
    frame = mix.sort("file_share", "trace").select(
        pl.col("tags").replace_strict(TAGS_LABELS, return_dtype=pl.String),
        pl.col("acquisitions").round(4),
        label=pl.format("{}, {} % file pages", "trace", share),
    )
    labels = list(TAGS_LABELS.values())
    base = alt.Chart(frame).encode(y=alt.Y("label:N", title=None, sort=None))
    gaps = base.mark_rule(color="#bbb", strokeWidth=3).encode(
        x="min(acquisitions):Q", x2="max(acquisitions):Q"
    )
    points = base.mark_point(size=130, filled=True, opacity=1).encode(
        x=alt.X(
            "acquisitions:Q",
            title="acquisitions of a mapping's lock per page written",
            scale=alt.Scale(zero=True),
            axis=alt.Axis(tickMinStep=1),
        ),
        color=alt.Color(
            "tags:N",
            title="swap cache",
            scale=alt.Scale(domain=labels, range=[COLOURS[label] for label in labels]),
        ),
    )
    figures = base.mark_text(dy=-13, fontSize=11).encode(
        x="acquisitions:Q", text=alt.Text("acquisitions:Q", format=".2f")
    )
    chart: alt.LayerChart = (gaps + points + figures).properties(
        width=460, height=alt.Step(46), title=title
    )
    return chart


def headline_changes(headlines: pl.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw the published change of each headline claim, one bar a claim, grouped by patch.

    Parameters
    ----------
    headlines : polars.DataFrame
        Columns ``patch``, ``claim``, ``published`` (percent), as `verdicts.headlines` gives them.
    title : str
    """
    frame = headlines.select(
        "published",
        label=pl.format("{}  {}", pl.col("patch").str.slice(0, 2), "claim"),
        text=pl.format("{} %", "published"),
        beyond=pl.col("published") > 0,
    )
    bars = alt.Chart(frame).encode(
        x=alt.X(
            "published:Q",
            title="published change, percent of the claim's own base",
            scale=alt.Scale(domain=[-120, 50]),
        ),
        y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)),
    )
    right = bars.transform_filter("datum.beyond").mark_text(align="left", dx=4)
    left = bars.transform_filter("!datum.beyond").mark_text(align="right", dx=-4)
    chart: alt.LayerChart = (
        bars.mark_bar(height=16, color=COLOURS["no tags"])
        + right.encode(text="text:N")
        + left.encode(text="text:N")
    ).properties(width=460, height=alt.Step(26), title=title)
    return chart
