# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the world in which reclaim decides: beside the mail, over time, page by page."""

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.schemas import WORLD_BY_TIME, WORLD_CELLS, WORLD_LIFE_SPANS, WORLD_WHAT_IF, require

_WIDTH = 250
_KERNELS = list(colours.KERNELS)
_FURTHEST = 32
"""A quotient further from 1 is drawn here: a triangle at the edge."""

_COUNTS = alt.Scale(type="symlog", constant=1000)
_COUNTS_AXIS = alt.Axis(
    values=[0, *(10**power for power in range(3, 10))], labelExpr="format(datum.value, '~s')"
)


def beside_the_mail(cells: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.LayerChart:
    """Draw simulated by published: a row a row of the tables, a mark a kernel, a band within 2.

    Parameters
    ----------
    cells : polars.DataFrame
        Schema WORLD_CELLS; cells of which one side is zero are left out.
    title, subtitle : str
    """
    frame = require(cells, WORLD_CELLS, "WORLD_CELLS").drop_nulls("ratio")
    edge = pl.col("ratio").clip(1 / _FURTHEST, _FURTHEST)
    kind = pl.when(pl.col("inside").is_null()).then(pl.lit("fitted on")).otherwise(pl.lit("told"))
    drawn = frame.select(
        "rules",
        pl.col("metric").str.strip_prefix("Ops ").alias("row"),
        ratio=edge.round_sig_figs(3),
        kind=pl.when(edge < pl.col("ratio"))
        .then(pl.lit("above"))
        .when(edge > pl.col("ratio"))
        .then(pl.lit("below"))
        .otherwise(kind),
    )
    rows = drawn["row"].unique(maintain_order=True).to_list()
    x = alt.X(
        "ratio:Q",
        title="simulated divided by published",
        scale=alt.Scale(type="log", base=2, domain=[1 / _FURTHEST, _FURTHEST], nice=False),
        axis=alt.Axis(values=[1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16], format=".3~g"),
    )
    band = (
        alt.Chart(pl.DataFrame({"low": [0.5], "high": [2.0]}))
        .mark_rect(color="#eeeeee")
        .encode(x=alt.X("low:Q"), x2="high:Q")
    )
    marks = (
        alt.Chart(drawn)
        .mark_point(size=55, strokeWidth=1.8)
        .encode(
            x=x,
            y=alt.Y("row:N", title=None, sort=rows, axis=alt.Axis(labelLimit=300, grid=True)),
            color=_rules_colour(),
            fill=_rules_colour(),
            fillOpacity=alt.condition("datum.kind == 'fitted on'", alt.value(0), alt.value(0.75)),
            shape=alt.Shape(
                "kind:N",
                title="the cell is",
                scale=alt.Scale(
                    domain=["told", "fitted on", "below", "above"],
                    range=["circle", "circle", "triangle-left", "triangle-right"],
                ),
                legend=None,
            ),
        )
    )
    chart: alt.LayerChart = (band + marks).properties(
        width=420, height=alt.Step(15), title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


def over_time(by_time: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.ConcatChart:
    """Draw who holds memory, what kswapd scans and who waits: a column a kernel.

    Parameters
    ----------
    by_time : polars.DataFrame
        Schema WORLD_BY_TIME.
    title, subtitle : str
    """
    frame = require(by_time, WORLD_BY_TIME, "WORLD_BY_TIME")
    kinds = ("free", "active_anon", "inactive_anon", "clean", "dirty", "written")
    held = _long(frame, dict(zip(kinds, colours.HOLDERS, strict=True)), "GB", 1 / 2**18)
    waits = ("kswapd_sleeps", "tasks_sleep", "writer_throttled", "client_waits")
    waited = _long(frame, dict(zip(waits, colours.SLEEPERS, strict=True)), "share", 1)
    zones = {"scanned_normal": "Normal", "scanned_dma32": "DMA32"}
    scanned = _long(frame, zones, "pages", 1)
    x = alt.X("t_s:Q", title="seconds", axis=alt.Axis(grid=False))
    rows = [
        alt.Chart(held)
        .mark_area()
        .encode(
            x=x,
            y=alt.Y("GB:Q", title="memory, GB", stack="zero"),
            color=_key("kind:N", "held by pages", colours.HOLDERS),
            order=alt.Order("place:Q"),
        ),
        alt.Chart(scanned)
        .mark_line(strokeWidth=1.2)
        .encode(
            x=x,
            y=alt.Y(
                "pages:Q",
                title="scanned, pages/s",
                scale=_COUNTS,
                axis=_COUNTS_AXIS,
            ),
            color=_key("kind:N", "kswapd scans", {"Normal": "#4c78a8", "DMA32": "#f58518"}),
        ),
        alt.Chart(waited)
        .mark_line(strokeWidth=1.2)
        .encode(
            x=x,
            y=alt.Y(
                "share:Q", title="share of each second", scale=alt.Scale(domain=[0, 1], clamp=True)
            ),
            color=_key("kind:N", "waits", colours.SLEEPERS),
        ),
    ]
    names = frame["rules"].unique(maintain_order=True).to_list()
    facets = [
        row.properties(width=_WIDTH, height=150).facet(
            column=alt.Column(
                "rules:N",
                title=None,
                sort=names,
                header=alt.Header(labelFontSize=12, labelFontWeight="bold", labels=number == 0),
            )
        )
        for number, row in enumerate(rows)
    ]
    chart: alt.ConcatChart = (
        alt.concat(*facets, columns=1)
        .resolve_scale(color="independent")
        .properties(title=alt.TitleParams(title, subtitle=subtitle))
    )
    return chart


def lives(spans: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.FacetChart:
    """Draw where pages of the pool are, all the time: a strip a page, a column a kernel.

    Parameters
    ----------
    spans : polars.DataFrame
        Schema WORLD_LIFE_SPANS.
    title, subtitle : str
    """
    frame = require(spans, WORLD_LIFE_SPANS, "WORLD_LIFE_SPANS")
    met = set(frame["where"])
    drawn = frame.select(
        "rules",
        pl.col("where").cast(pl.String),
        place=pl.col("page").rank("dense").cast(pl.Int64),
        begin=pl.col("begin_s").round(2),
        end=pl.col("end_s").round(2),
    ).filter(pl.col("where") != "untouched")
    names = drawn["rules"].unique(maintain_order=True).to_list()
    shown = {name: colour for name, colour in colours.WHERE.items() if name in met}
    shown.pop("untouched", None)
    chart: alt.FacetChart = (
        alt.Chart(drawn)
        .mark_bar(height=3.6)
        .encode(
            x=alt.X(
                "begin:Q", title="seconds", axis=alt.Axis(grid=False), scale=alt.Scale(nice=False)
            ),
            x2="end:Q",
            y=alt.Y("place:Q", title="page", axis=None, scale=alt.Scale(nice=False)),
            color=_key("where:N", "the page is", shown),
        )
        .properties(width=_WIDTH, height=330)
        .facet(
            column=alt.Column(
                "rules:N",
                title=None,
                sort=names,
                header=alt.Header(labelFontSize=12, labelFontWeight="bold"),
            )
        )
        .properties(title=alt.TitleParams(title, subtitle=subtitle))
    )
    return chart


def by_machine(
    found: pl.DataFrame, metric: str, *, title: str, subtitle: str = ""
) -> alt.ConcatChart:
    """Draw one count on other machines: a panel a factor, a line a kernel, with its spread.

    Parameters
    ----------
    found : polars.DataFrame
        Schema WORLD_WHAT_IF.
    metric : str
    title, subtitle : str
    """
    frame = require(found, WORLD_WHAT_IF, "WORLD_WHAT_IF").filter(metric=metric)
    drawn = frame.group_by("factor", "setting", "rules", maintain_order=True).agg(
        value=pl.col("value").median(), low=pl.col("value").min(), high=pl.col("value").max()
    )
    panels = []
    for factor in drawn["factor"].unique(maintain_order=True):
        of_one = drawn.filter(factor=factor)
        base = alt.Chart(of_one).encode(
            x=alt.X("setting:O", title=factor, axis=alt.Axis(labelAngle=0, format="~g")),
            color=_rules_colour(),
        )
        lines = base.mark_line(point=alt.OverlayMarkDef(size=30), strokeWidth=1.6).encode(
            y=alt.Y("value:Q", title=None, scale=_COUNTS, axis=_COUNTS_AXIS)
        )
        spreads = base.mark_rule(strokeWidth=3, opacity=0.35).encode(y="low:Q", y2="high:Q")
        panels.append((spreads + lines).properties(width=310, height=150))
    chart: alt.ConcatChart = alt.concat(*panels, columns=2).properties(
        title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


def _long(frame: pl.DataFrame, kinds: dict[str, str], value: str, factor: float) -> pl.DataFrame:
    place = {name: number for number, name in enumerate(kinds.values())}
    return (
        frame.select("rules", "t_s", *kinds)
        .rename(kinds)
        .unpivot(index=["rules", "t_s"], variable_name="kind", value_name=value)
        .with_columns(
            (pl.col(value) * factor).round_sig_figs(3),
            place=pl.col("kind").replace_strict(place, return_dtype=pl.Int64),
        )
    )


def _key(field: str, title: str, shown: dict[str, str]) -> alt.Color:
    return alt.Color(
        field,
        title=title,
        scale=alt.Scale(domain=list(shown), range=list(shown.values())),
        legend=alt.Legend(labelLimit=220, symbolOpacity=1),
    )


def _rules_colour() -> alt.Color:
    return alt.Color(
        "rules:N",
        title="rules",
        scale=alt.Scale(domain=_KERNELS, range=list(colours.KERNELS.values())),
    )
