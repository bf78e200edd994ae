# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of reclaim's stall decisions: the rules as a table, and one list's pages under them."""

import json

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.stall.tables import LED_PAGES, RULE_SPANS


@interactive(name="rule set", decision="what", text="is decided", middle="", left="", right="")
def rules_table(spans: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.LayerChart:
    """Draw the rules as a table: a row a decision, a bar over the rule sets that decide it alike.

    Parameters
    ----------
    spans : polars.DataFrame
        Schema RULE_SPANS.
    title, subtitle : str
    """
    frame = RULE_SPANS.check(spans)
    names = frame["rules"].explode().unique(maintain_order=True).to_list()
    order = frame["decision"].unique(maintain_order=True).to_list()
    place = {name: at for at, name in enumerate(names)}
    lines = pl.col("text").str.split("\n")
    drawn = frame.select(
        "decision",
        "since",
        text=pl.col("text").str.replace_all("\n", " "),
        lines=lines.list.len(),
        line_1=lines.list.first(),
        line_2=lines.list.last(),
        left=pl.col("rules").list.first().replace_strict(place, return_dtype=pl.Float64) + 0.03,
        right=pl.col("rules").list.last().replace_strict(place, return_dtype=pl.Float64) + 0.97,
    ).with_columns(middle=(pl.col("left") + pl.col("right")) / 2)
    heads = pl.DataFrame({"name": names, "middle": [at + 0.5 for at in range(len(names))]})
    y = alt.Y(
        "decision:N",
        title=None,
        sort=order,
        axis=alt.Axis(labelLimit=300, domain=False, ticks=False),
    )
    x = alt.X("left:Q", title=None, axis=None, scale=alt.Scale(domain=[0, len(names)], nice=False))
    eras = list(colours.ERAS)
    base = alt.Chart(drawn).encode(y=y)
    bars = base.mark_bar(height=32, cornerRadius=2).encode(
        x=x,
        x2="right:Q",
        color=alt.Color(
            "since:N",
            title="rule in force since",
            scale=alt.Scale(domain=eras, range=list(colours.ERAS.values())),
            legend=alt.Legend(orient="bottom"),
        ),
    )
    one, upper, lower = (
        base.transform_filter(f"datum.lines == {of}")
        .mark_text(fontSize=10, dy=dy, color="black")
        .encode(x="middle:Q", text=f"line_{line}:N")
        for of, line, dy in ((1, 1, 0), (2, 1, -6), (2, 2, 7))
    )
    top = (
        alt.Chart(heads)
        .mark_text(fontSize=11, fontWeight="bold", baseline="bottom")
        .encode(x="middle:Q", y=alt.value(-6), text="name:N")
    )
    chart: alt.LayerChart = (bars + one + upper + lower + top).properties(
        width=74 * len(names),
        height=alt.Step(36),
        title=alt.TitleParams(title, subtitle=subtitle, offset=28),
    )
    return chart


@interactive(place="place in the list", page="page", rules="rule set")
def pages_by_rules(led: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.Chart:
    """Draw what becomes of each page of one list under each rule set: a column a rule set.

    Parameters
    ----------
    led : polars.DataFrame
        Schema LED_PAGES, one meeting.
    title, subtitle : str
    """
    frame = LED_PAGES.check(led).with_columns(pl.col("rules").cast(pl.String))
    rules = frame["rules"].unique(maintain_order=True).to_list()
    words = dict(frame.select(pl.col("place").cast(pl.String), "page").iter_rows())
    met = set(frame["fate"])
    fates = [fate for fate in colours.FATES if fate in met]
    chart: alt.Chart = (
        alt.Chart(
            frame.select("place", "page", "rules", "fate"),
            title=alt.TitleParams(title, subtitle=subtitle),
        )
        .mark_rect()
        .encode(
            x=alt.X(
                "rules:N",
                title=None,
                sort=rules,
                axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
            ),
            y=alt.Y(
                "place:O",
                title=None,
                axis=alt.Axis(
                    labelExpr=f"{json.dumps(words)}[datum.value] + '  ' + datum.value",
                    labelLimit=260,
                    domain=False,
                    ticks=False,
                ),
            ),
            color=alt.Color(
                "fate:N",
                title="the page is",
                scale=alt.Scale(domain=fates, range=[colours.FATES[fate] for fate in fates]),
            ),
        )
        .properties(width=58 * len(rules), height=alt.Step(17))
    )
    return chart
