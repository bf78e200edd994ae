# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the lab's guest as a world, beside the lab."""

from collections.abc import Mapping

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.claims.tables import WORLD_AND_LAB

_SIDES = list(colours.LAB_AND_WORLD)
_AXIS = alt.Axis(values=[0, 10, 100, 1_000, 10_000, 100_000], labelExpr="format(datum.value, '~s')")


@interactive(policy="rule set", side="in the", low="interval, or what is open, from")
def beside_the_lab(
    table: pl.DataFrame, panels: Mapping[str, str], *, title: str, subtitle: str = ""
) -> alt.ConcatChart:
    """Draw a row a panel, along the rule sets: the lab's median, and the world's as it is set.

    The lab's bar is its interval; the world's reaches from the least to the most of what is open.

    Parameters
    ----------
    table : polars.DataFrame
        Schema WORLD_AND_LAB.
    panels : mapping of str to str
        Metric to the words above its panel.
    title, subtitle : str
    """
    frame = WORLD_AND_LAB.check(table)
    rules = frame["policy"].unique(maintain_order=True).to_list()
    lab, world = _SIDES
    sides = [
        frame.select(
            "metric",
            "policy",
            side=pl.lit(side),
            median=pl.col(median),
            low=pl.col(low),
            high=pl.col(high),
        )
        for side, (median, low, high) in {
            lab: ("measured", "measured_low", "measured_high"),
            world: ("simulated", "open_low", "open_high"),
        }.items()
    ]
    both = pl.concat(sides)
    drawn = []
    for metric, words in panels.items():
        base = alt.Chart(both.filter(metric=metric).drop("metric")).encode(
            x=alt.X("policy:N", title=None, sort=rules, axis=alt.Axis(labelAngle=-45)),
            xOffset=alt.XOffset("side:N", sort=_SIDES),
            color=alt.Color(
                "side:N",
                title=None,
                scale=alt.Scale(domain=_SIDES, range=list(colours.LAB_AND_WORLD.values())),
            ),
        )
        scale = alt.Scale(type="symlog", constant=10)
        spans = base.mark_rule(strokeWidth=4, opacity=0.35).encode(
            y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q"
        )
        points = base.mark_point(size=42, filled=True, opacity=1).encode(
            y=alt.Y("median:Q", scale=scale, axis=_AXIS)
        )
        drawn.append(
            (spans + points).properties(
                width=360, height=170, title=alt.TitleParams(words, fontSize=12, frame="group")
            )
        )
    chart: alt.ConcatChart = alt.concat(*drawn, columns=2).properties(
        title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart
