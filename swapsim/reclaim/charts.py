# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the world in which reclaim decides: by the mail, page by page, on other machines."""

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.charts.theme import COUNTS, COUNTS_AXIS
from swapsim.patches.stall_decisions.tables import WORLD_CELLS, WORLD_LIFE_SPANS, WORLD_WHAT_IF

_KERNELS = list(colours.KERNELS)
_FURTHEST = 32
"""A quotient further from 1 is drawn here: a triangle at the edge."""

_PREDICTED, _FITTED, _BELOW, _ABOVE = "predicted", "fitted", "below the axis", "above the axis"


@interactive(row="figure", kind="the cell is", published="published", simulated="simulated")
def beside_the_mail(cells: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.LayerChart:
    """Draw simulated by published: a row a row of the tables, a mark a kernel, a band within 2.

    Parameters
    ----------
    cells : polars.DataFrame
        Schema WORLD_CELLS; cells of which one side is zero are left out.
    title, subtitle : str
    """
    frame = WORLD_CELLS.check(cells).drop_nulls("ratio")
    edge = pl.col("ratio").clip(1 / _FURTHEST, _FURTHEST)
    kind = pl.when(pl.col("inside").is_null()).then(pl.lit(_FITTED)).otherwise(pl.lit(_PREDICTED))
    drawn = frame.select(
        "rules",
        "published",
        "simulated",
        pl.col("metric").str.strip_prefix("Ops ").alias("row"),
        ratio=edge.round_sig_figs(3),
        kind=pl.when(edge < pl.col("ratio"))
        .then(pl.lit(_ABOVE))
        .when(edge > pl.col("ratio"))
        .then(pl.lit(_BELOW))
        .otherwise(kind),
    )
    rows = drawn["row"].unique(maintain_order=True).to_list()
    x = alt.X(
        "ratio:Q",
        title="simulated divided by published",
        scale=alt.Scale(type="log", base=2, domain=[0.9 / _FURTHEST, _FURTHEST / 0.9], nice=False),
        axis=alt.Axis(values=[1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16], format=".3~g"),
    )
    band = (
        alt.Chart(pl.DataFrame({"low": [0.5], "high": [2.0]}))
        .mark_rect(color=colours.FAINT)
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
            fillOpacity=alt.condition(f"datum.kind == '{_FITTED}'", alt.value(0), alt.value(0.75)),
            shape=alt.Shape(
                "kind:N",
                title="the cell is",
                scale=alt.Scale(
                    domain=[_PREDICTED, _FITTED, _BELOW, _ABOVE],
                    range=["circle", "circle", "triangle-left", "triangle-right"],
                ),
                legend=None,
            ),
        )
    )
    chart: alt.LayerChart = (band + marks).properties(
        width=420,
        height=alt.Step(15),
        title=alt.TitleParams(
            title,
            subtitle=[subtitle, "hollow: fitted; a triangle: beyond the axis; grey: within twice"],
        ),
    )
    return chart


@interactive(rules="rules of", place="page", begin="from, s", end="to, s")
def lives(spans: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.FacetChart:
    """Draw where pages of the pool are, all the time: a strip a page, a column a kernel.

    Parameters
    ----------
    spans : polars.DataFrame
        Schema WORLD_LIFE_SPANS.
    title, subtitle : str
    """
    frame = WORLD_LIFE_SPANS.check(spans)
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
    scale = alt.Scale(domain=list(shown), range=list(shown.values()))
    chart: alt.FacetChart = (
        alt.Chart(drawn)
        .mark_bar(height=3.6)
        .encode(
            x=alt.X(
                "begin:Q", title="seconds", axis=alt.Axis(grid=False), scale=alt.Scale(nice=False)
            ),
            x2="end:Q",
            y=alt.Y("place:Q", title="page", axis=None, scale=alt.Scale(nice=False)),
            color=alt.Color("where:N", title="the page is", scale=scale),
        )
        .properties(width=250, height=330)
        .facet(
            column=alt.Column(
                "rules:N",
                title=None,
                sort=names,
            )
        )
        .properties(title=alt.TitleParams(title, subtitle=subtitle))
    )
    return chart


@interactive(value="{}, median", low="least of the seeds", high="greatest of the seeds")
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
    frame = WORLD_WHAT_IF.check(found).filter(metric=metric)
    drawn = frame.group_by("factor", "setting", "rules", maintain_order=True).agg(
        value=pl.col("value").median(), low=pl.col("value").min(), high=pl.col("value").max()
    )
    panels = []
    for factor in drawn["factor"].unique(maintain_order=True):
        of_one = drawn.filter(factor=factor)
        scale = COUNTS if (of_one["low"] <= 0).any() else alt.Scale(type="log")
        base = alt.Chart(of_one).encode(
            x=alt.X("setting:O", title=factor, axis=alt.Axis(labelAngle=0, format="~g")),
            color=_rules_colour(),
        )
        medians = base.encode(y=alt.Y("value:Q", title=metric, scale=scale, axis=COUNTS_AXIS))
        lines = medians.mark_line(strokeWidth=1.6)
        dots = medians.mark_point(filled=True, size=30, opacity=1)
        spreads = base.mark_rule(strokeWidth=3, opacity=0.35).encode(y="low:Q", y2="high:Q")
        panels.append((spreads + lines + dots).properties(width=310, height=150))
    chart: alt.ConcatChart = alt.concat(*panels, columns=2).properties(
        title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


def _rules_colour() -> alt.Color:
    return alt.Color(
        "rules:N",
        title="rules",
        scale=alt.Scale(domain=_KERNELS, range=list(colours.KERNELS.values())),
    )
