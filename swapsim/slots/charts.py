# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of swap slots and of the policies that choose where scans begin."""

from collections.abc import Iterable
from typing import Final

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.slots.tables import HANDED_OUT, POLICY_RANKING, SLOT_RANKING


@interactive(run="run")
def slots_over_time(
    handed_out: pl.DataFrame,
    *,
    title: str = "Where each CPU's slots are, in the order in which they are handed out",
    subtitle: str = "",
) -> alt.Chart:
    """Draw where on the device each CPU's slots lie, in the order handed out, one panel per run.

    Parameters
    ----------
    handed_out : polars.DataFrame
        Schema HANDED_OUT, at most 5,000 rows; `slots.thinned` thins it.
    title, subtitle : str
    """
    HANDED_OUT.check(handed_out)
    cpus = [str(cpu) for cpu in handed_out["cpu"].unique().sort()]
    frame = handed_out.select("run", "nth", pl.col("cpu").cast(pl.String), "mebibytes")
    chart: alt.Chart = (
        alt.Chart(frame, title=alt.TitleParams(title, subtitle=subtitle))
        .mark_circle(size=9, opacity=0.8)
        .encode(
            x=alt.X("nth:Q", title="slots handed out", axis=alt.Axis(tickCount=5, format=",d")),
            y=alt.Y("mebibytes:Q", title="place on the device, MiB"),
            color=alt.Color(
                "cpu:N",
                title="CPU",
                scale=alt.Scale(
                    domain=cpus,
                    range=[colours.CPUS[i % len(colours.CPUS)] for i in range(len(cpus))],
                ),
                legend=alt.Legend(symbolSize=80),
            ),
            column=alt.Column(
                "run:N", title=None, sort=frame["run"].unique(maintain_order=True).to_list()
            ),
        )
        .properties(width=300, height=260)
    )
    return chart


_METRICS: Final = {
    "lock.moved.add": (
        "Additions that fetch the lock's cache line from another CPU",
        "share of additions",
    ),
    "trunk.pairs": ("CPUs that use the same trunk", "pairs of CPUs in one trunk"),
}
"""Title and axis of metrics that are drawn along a factor."""

_FACTORS: Final = {"warm_up_pages": "pages swapped out before the count", "cpus": "CPUs"}


@interactive(low="its interval from", high="to")
def metric_along(
    ranking: pl.DataFrame,
    *,
    title: str = "",
    axis: str = "",
    setting_axis: str = "",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw one metric along the settings of a factor: a line with its interval for each policy.

    Parameters
    ----------
    ranking : polars.DataFrame
        Schema SLOT_RANKING: one factor whose settings are numbers, on a logarithmic axis.
    title, axis, setting_axis, subtitle : str
        Without one, the words for the metric and the factor.
    """
    SLOT_RANKING.check(ranking)
    metric, factor = ranking.select("metric", "factor").row(0)
    of_metric, of_axis = _METRICS.get(metric, (metric, metric))
    title, axis = title or of_metric, axis or of_axis
    setting_axis = setting_axis or _FACTORS.get(factor, factor)
    frame = ranking.select("policy", "mean", "low", "high", pl.col("setting").cast(pl.Float64))
    ticks = alt.Axis(values=sorted(frame["setting"].unique().to_list()), format=",d")
    base = alt.Chart(frame).encode(
        x=alt.X(
            "setting:Q",
            title=setting_axis,
            scale=alt.Scale(type="log", base=2, nice=False, padding=12),
            axis=ticks,
        ),
        color=_colour(frame, legend=True),
    )
    y = alt.Y("low:Q", title=axis)
    bands = base.mark_area(opacity=0.18).encode(y=y, y2="high:Q")
    lines = base.mark_line(strokeWidth=2.5).encode(y="mean:Q", strokeDash=_dash(frame))
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(y="mean:Q")
    chart: alt.LayerChart = (bands + lines + dots).properties(
        width=520, height=280, title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


@interactive(
    label="here",
    right="",
    x_mean="{}",
    x_low="its interval from",
    x_high="to",
    y_mean="{}",
    y_low="its interval from",
    y_high="to",
)
def moves_against_locality(
    moves: pl.DataFrame,
    locality: pl.DataFrame,
    *,
    title: str = "Moved lines against locality",
    moves_axis: str = "share of additions that fetch the lock's cache line from another CPU",
    locality_axis: str = "adjacent slots in sequence",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw each policy at its moves of a lock's cache line and its locality, with both intervals.

    Parameters
    ----------
    moves, locality : polars.DataFrame
        Schema SLOT_RANKING, one setting each, the same policies.
    title, moves_axis, locality_axis, subtitle : str
    """
    for ranking in (moves, locality):
        SLOT_RANKING.check(ranking)
    figures = ("mean", "low", "high")
    frame = moves.select("policy", *(pl.col(name).alias(f"x_{name}") for name in figures))
    frame = frame.join(
        locality.select("policy", *(pl.col(name).alias(f"y_{name}") for name in figures)),
        on="policy",
        maintain_order="left",
    )
    x = alt.X("x_mean:Q", title=moves_axis, scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("y_mean:Q", title=locality_axis, scale=alt.Scale(domainMin=1, padding=25))
    base = alt.Chart(frame).encode(color=_colour(frame))
    labels = alt.Chart(_labels(frame)).encode(x=x, y=y, text="label:N")
    rule = base.mark_rule(strokeWidth=2, opacity=0.45)
    chart: alt.LayerChart = (
        rule.encode(x=alt.X("x_low:Q", title=moves_axis), x2="x_high:Q", y=y)
        + rule.encode(x=x, y=alt.Y("y_low:Q", title=locality_axis), y2="y_high:Q")
        + base.mark_point(size=120, filled=True, opacity=1).encode(x=x, y=y)
        + labels.transform_filter("!datum.right").mark_text(align="left", dx=9, dy=-8, fontSize=11)
        + labels.transform_filter("datum.right").mark_text(align="right", dx=-9, dy=-8, fontSize=11)
    ).properties(width=520, height=340, title=alt.TitleParams(title, subtitle=subtitle))
    return chart


@interactive(
    policy="policy", rank="rank", lowest="lowest of all seeds", highest="highest", seeds="seeds"
)
def policy_ranks(ranking: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.VConcatChart:
    """Draw each policy's median and interval, the best on top, one panel per metric."""
    POLICY_RANKING.check(ranking)
    panels = [
        _ranks_of_metric(ranking.filter(metric=metric))
        for metric in ranking["metric"].unique(maintain_order=True)
    ]
    chart: alt.VConcatChart = alt.vconcat(
        *panels, title=alt.TitleParams(title, subtitle=subtitle)
    ).resolve_scale(color="shared")
    return chart


_NEAR: Final = 0.03
"""Points that are closer than this share of both axes get one label."""


def _labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one label per point; points that lie on one another share a label."""
    points = sorted(frame.select("x_mean", "y_mean", "policy").iter_rows())
    heights = [y for _, y, _ in points]
    near_x = _NEAR * points[-1][0]
    near_y = _NEAR * (max(heights) - min(heights))
    groups: list[tuple[float, float, list[str]]] = []
    for x, y, policy in points:
        for at_x, at_y, names in groups:
            if abs(at_x - x) <= near_x and abs(at_y - y) <= near_y:
                names.append(policy)
                break
        else:
            groups.append((x, y, [policy]))
    rows = [(x, y, ", ".join(names), 2 * x > points[-1][0]) for x, y, names in groups]
    return pl.DataFrame(rows, schema=["x_mean", "y_mean", "label", "right"], orient="row")


def _dash(frame: pl.DataFrame) -> alt.StrokeDash:
    present = frame["policy"].unique().sort().to_list()
    dashes = [list(colours.POLICY_DASHES.get(policy, (1, 0))) for policy in present]
    return alt.StrokeDash("policy:N", scale=alt.Scale(domain=present, range=dashes), legend=None)


def _ranks_of_metric(frame: pl.DataFrame) -> alt.LayerChart:
    metric, unit, better = frame.row(0)[:3]
    policies = frame["policy"].to_list()
    shade = _shades(policies)
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


def _shades(policies: Iterable[str]) -> dict[str, str]:
    """Return the colour of each policy: the built-in ones in their order, then a user's by name."""
    present = set(policies)
    own = enumerate(sorted(present - colours.POLICIES.keys()))
    return {name: shade for name, shade in colours.POLICIES.items() if name in present} | {
        name: colours.USER_POLICIES[at % len(colours.USER_POLICIES)] for at, name in own
    }


def _colour(frame: pl.DataFrame, *, legend: bool = False) -> alt.Color:
    shade = _shades(frame["policy"])
    return alt.Color(
        "policy:N",
        title="policy",
        scale=alt.Scale(domain=list(shade), range=list(shade.values())),
        legend=alt.Legend() if legend else None,
    )
