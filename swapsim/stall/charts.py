# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the stall rules: as a table, on one list's pages, and on a kernel's lists."""

import json

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.ffi.facts import STALL_RULES
from swapsim.stall.tables import DECIDED_LISTS, LED_PAGES, RULE_SPANS, STALL_AGREEMENT


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


@interactive(one="one rule set", other="the other")
def agreement(pairs: pl.DataFrame, share: str, *, title: str, subtitle: str = "") -> alt.LayerChart:
    """Draw of how many lists two rule sets decide alike: a square a pair, in percent.

    Parameters
    ----------
    pairs : polars.DataFrame
        Schema STALL_AGREEMENT.
    share : {"decisions", "flags", "sleeps", "folios"}
    title, subtitle : str
    """
    frame = STALL_AGREEMENT.check(pairs)
    names = {*frame["one"].to_list(), *frame["other"].to_list()}
    rules = [name for name in STALL_RULES if name in names]
    # Only what is alike throughout may be called 100.
    percent = (100 * pl.col(share)).floor().cast(pl.Int64)
    drawn = frame.select(pl.col("one", "other").cast(pl.String), percent=percent)
    base = alt.Chart(drawn).encode(
        x=alt.X(
            "one:N",
            title=None,
            sort=rules[:-1],
            axis=alt.Axis(labelAngle=0, domain=False, ticks=False),
        ),
        y=alt.Y(
            "other:N",
            title=None,
            sort=rules[1:],
            axis=alt.Axis(domain=False, ticks=False),
        ),
    )
    squares = base.mark_rect().encode(
        color=alt.Color(
            "percent:Q",
            title="alike, %",
            scale=alt.Scale(
                domain=[0, 50, 100], range=[colours.UNPATCHED, "#f5f5f5", colours.PATCHED]
            ),
        )
    )
    figures = base.mark_text(fontSize=10).encode(
        text=alt.Text("percent:Q", format="d"),
        color=alt.condition(
            "datum.percent < 20 || datum.percent > 80", alt.value("white"), alt.value("black")
        ),
    )
    chart: alt.LayerChart = (squares + figures).properties(
        width=58 * (len(rules) - 1),
        height=alt.Step(27),
        title=alt.TitleParams(title, subtitle=subtitle),
    )
    return chart


@interactive(rules="rule set", end="")
def stretch(decided: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.Chart:
    """Draw what each rule set decides of a stretch of lists, one after another: a strip a set.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS, a stretch of it (`replay.stall_timeline`).
    title, subtitle : str
    """
    frame = DECIDED_LISTS.check(decided)
    decision = (
        pl.when("forced")
        .then(pl.lit("sleep, up to 100 ms"))
        .when("waits")
        .then(pl.lit("wait, if a device is congested"))
        .when(pl.col("flags_set") != 0)
        .then(pl.lit("a flag, no sleep"))
        .otherwise(pl.lit("nothing"))
    )
    drawn = frame.select(
        pl.col("rules").cast(pl.String),
        decision=decision,
        begin=pl.col("nth").cast(pl.Int64),
        end=pl.col("nth").cast(pl.Int64) + 1,
    )
    rules = drawn["rules"].unique(maintain_order=True).to_list()
    chart: alt.Chart = (
        alt.Chart(drawn, title=alt.TitleParams(title, subtitle=subtitle))
        .mark_bar(height=16)
        .encode(
            x=alt.X(
                "begin:Q",
                title="list of the recording",
                scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(format="d", grid=False),
            ),
            x2="end:Q",
            y=alt.Y("rules:N", title=None, sort=rules, axis=alt.Axis(domain=False, ticks=False)),
            color=alt.Color(
                "decision:N",
                title="after the list",
                scale=alt.Scale(domain=list(colours.STALLS), range=list(colours.STALLS.values())),
            ),
        )
        .properties(width=700, height=alt.Step(21))
    )
    return chart
