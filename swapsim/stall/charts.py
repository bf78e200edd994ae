# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of a kernel's lists under all sets of stall rules: their agreement, and their order."""

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.ffi import STALL_RULES
from swapsim.stall.tables import DECIDED_LISTS, STALL_AGREEMENT


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
