# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of a kernel that ran by each set of stall rules: along them, and patch by patch."""

from collections.abc import Mapping

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.claims.tables import MEDIANS_BY_SIZE, PAIRED


@interactive(policy="rule set", low="interval from", high="interval to")
def along_rules(
    medians: pl.DataFrame, panels: Mapping[str, str], *, title: str, subtitle: str = ""
) -> alt.ConcatChart:
    """Draw measured figures along the rule sets, a panel a metric, with their intervals.

    Parameters
    ----------
    medians : polars.DataFrame
        Schema MEDIANS_BY_SIZE; the policy is the rule set.
    panels : mapping of str to str
        Metric to the words above its panel.
    title, subtitle : str
    """
    frame = MEDIANS_BY_SIZE.check(medians)
    rules = frame["policy"].unique(maintain_order=True).to_list()
    sizes = frame["size"].unique().sort().to_list()
    drawn = []
    for metric, words in panels.items():
        base = alt.Chart(
            frame.filter(metric=metric).select("policy", "size", "median", "low", "high")
        ).encode(
            x=alt.X("policy:N", title=None, sort=rules, axis=alt.Axis(labelAngle=-45)),
            color=alt.Color(
                "size:N",
                title=["file size, in units of", "the remaining memory"],
                scale=alt.Scale(domain=sizes, range=list(colours.SIZES[-len(sizes) :])),
            ),
        )
        spans = base.mark_rule(strokeWidth=3, opacity=0.4).encode(
            y=alt.Y("low:Q", title=None), y2="high:Q"
        )
        medians_on = base.encode(y=alt.Y("median:Q", axis=alt.Axis(format="~s")))
        lines = medians_on.mark_line(strokeWidth=1.5)
        dots = medians_on.mark_point(filled=True, size=36, opacity=1)
        drawn.append(
            (spans + lines + dots).properties(
                width=340, height=170, title=alt.TitleParams(words, fontSize=12, frame="group")
            )
        )
    chart: alt.ConcatChart = alt.concat(*drawn, columns=2).properties(
        title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


_SIGNS_IN_WORDS = {"falls": "falls", "either": "may fall or rise", "rises": "rises"}


@interactive(policy="up to patch", metric="figure", text="change")
def by_patch(steps: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.LayerChart:
    """Draw what each step changes: a column a step, a row a metric, colour where the sign is sure.

    Parameters
    ----------
    steps : polars.DataFrame
        Schema PAIRED.
    title, subtitle : str
    """
    frame = PAIRED.check(steps)
    change = 100 * (pl.col("value") - pl.col("base")) / pl.col("base")
    drawn = frame.select(
        "metric",
        "policy",
        seen=pl.col("seen").cast(pl.String).replace(_SIGNS_IN_WORDS),
        text=pl.when(pl.col("base") == 0)
        .then(_signed(pl.col("value").round_sig_figs(3).cast(pl.Int64)))
        .when(change.abs() >= 1)
        .then(pl.format("{} %", _signed(change.round().cast(pl.Int64, strict=False))))
        .when(change.abs() >= 0.05)
        .then(pl.format("{} %", _signed(change.round(1))))
        .otherwise(pl.lit("0 %")),
    )
    policies = drawn["policy"].unique(maintain_order=True).to_list()
    metrics = drawn["metric"].unique(maintain_order=True).to_list()
    base = alt.Chart(drawn).encode(
        x=alt.X(
            "policy:N",
            title=None,
            sort=policies,
            axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
        ),
        y=alt.Y(
            "metric:N",
            title=None,
            sort=metrics,
            axis=alt.Axis(labelLimit=260, domain=False, ticks=False),
        ),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "seen:N",
            title="by its rounds, the figure",
            scale=alt.Scale(
                domain=[_SIGNS_IN_WORDS[sign] for sign in colours.SIGNS],
                range=list(colours.SIGNS.values()),
            ),
        )
    )
    written = base.mark_text(fontSize=10, color="black").encode(text="text:N")
    open_ = base.mark_text(fontSize=10, fontStyle="italic").encode(text="text:N")
    told = f"datum.seen != '{_SIGNS_IN_WORDS['either']}'"
    chart: alt.LayerChart = (
        cells + written.transform_filter(told) + open_.transform_filter(f"!({told})")
    ).properties(
        width=70 * len(policies),
        height=alt.Step(26),
        title=alt.TitleParams(title, subtitle=subtitle),
    )
    return chart


def _signed(value: pl.Expr) -> pl.Expr:
    return pl.format("{}{}", pl.when(value > 0).then(pl.lit("+")).otherwise(pl.lit("")), value)
