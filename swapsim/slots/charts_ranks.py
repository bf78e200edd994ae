# SPDX-License-Identifier: GPL-2.0-or-later
"""A chart of policies in their order, by each metric."""

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.slots.tables import POLICY_RANKING


@interactive(
    policy="policy", rank="rank", lowest="lowest of all seeds", highest="highest", seeds="seeds"
)
def policy_ranks(ranking: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.VConcatChart:
    """Draw each policy's median and interval, the best above, a panel a metric.

    Parameters
    ----------
    ranking : polars.DataFrame
        Schema POLICY_RANKING.
    title, subtitle : str
    """
    POLICY_RANKING.check(ranking)
    panels = [
        _panel(ranking.filter(metric=metric))
        for metric in ranking["metric"].unique(maintain_order=True)
    ]
    chart: alt.VConcatChart = alt.vconcat(
        *panels, title=alt.TitleParams(title, subtitle=subtitle)
    ).resolve_scale(color="shared")
    return chart


def _panel(frame: pl.DataFrame) -> alt.LayerChart:
    metric, unit, better = frame.row(0)[:3]
    policies = frame["policy"].to_list()
    readers = [policy for policy in policies if policy not in colours.POLICIES]
    shade = colours.POLICIES | {
        policy: colours.USER_POLICIES[at % len(colours.USER_POLICIES)]
        for at, policy in enumerate(sorted(readers))
    }
    shown = ["policy", "rank", "median", "low", "high", "lowest", "highest", "seeds"]
    base = alt.Chart(frame.select(shown)).encode(
        y=alt.Y("policy:N", sort=policies, title="policy", axis=alt.Axis(labelLimit=240)),
        color=alt.Color(
            "policy:N",
            scale=alt.Scale(domain=policies, range=[shade[policy] for policy in policies]),
            legend=None,
        ),
    )
    axis = f"{metric}, {unit} ({better} is better)"
    chart: alt.LayerChart = (
        base.mark_rule(strokeWidth=3, opacity=0.45).encode(
            x=alt.X("low:Q", title=axis, scale=alt.Scale(zero=False)), x2="high:Q"
        )
        + base.mark_point(size=70, filled=True, opacity=1).encode(x="median:Q")
    ).properties(width=480, height=16 * len(policies))
    return chart
