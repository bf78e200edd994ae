# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of batched removals: ranges beside the mail, a map of the loss, waits behind a hold."""

import altair as alt
import polars as pl

from swapsim.charts.colours import PATCHED, PUBLISHED, UNPATCHED
from swapsim.charts.interaction import interactive
from swapsim.claims.tables import RANGES
from swapsim.machine.tables import HOLDS_BY_LIST, WHAT_IF


@interactive(
    claim="claim", published="published", low="simulated, least", high="simulated, greatest"
)
def ranges_beside_published(
    ranges: pl.DataFrame, *, title: str, axis: str, subtitle: str = ""
) -> alt.LayerChart:
    """Draw each claim's range of predictions as a bar, and the published figure on it as a dot.

    Parameters
    ----------
    ranges : polars.DataFrame
        Schema RANGES.
    title, axis, subtitle : str
    """
    frame = RANGES.check(ranges).select("claim", "published", "low", "high")
    y = alt.Y("claim:N", title=None, sort=frame["claim"].to_list())
    base = alt.Chart(frame).encode(y=y)
    zero = alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(color="#888").encode(x="zero:Q")
    key = alt.Color(
        "is:N",
        title=None,
        scale=alt.Scale(domain=["simulated", "published"], range=[PATCHED, PUBLISHED]),
        legend=alt.Legend(orient="top", symbolOpacity=1),
    )
    bars = (
        base.transform_calculate(**{"is": "'simulated'"})
        .mark_bar(height=9, opacity=0.55)
        .encode(x=alt.X("low:Q", title=axis), x2="high:Q", color=key)
    )
    dots = (
        base.transform_calculate(**{"is": "'published'"})
        .mark_point(filled=True, size=70, opacity=1)
        .encode(x="published:Q", color=key)
    )
    chart: alt.LayerChart = (zero + bars + dots).properties(
        width=520, height=alt.Step(24), title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


@interactive(label="tasks", gain="gain, %")
def gain_map(
    what_if: pl.DataFrame, *, title: str, cost_axis: str, subtitle: str = ""
) -> alt.FacetChart:
    """Colour the gain by length of lists and cost of a further removal, a panel a number of tasks.

    Parameters
    ----------
    what_if : polars.DataFrame
        Schema WHAT_IF: setting is the length, label the panel, fit the cost.
    title, cost_axis, subtitle : str
    """
    frame = (
        WHAT_IF.check(what_if)
        .group_by("setting", "label", "fit", maintain_order=True)
        .agg(gain=pl.col("gain_percent").mean())
        .with_columns(pl.col("setting").cast(pl.Int64))
    )
    most = float(frame["gain"].abs().max() or 1.0)  # type: ignore[arg-type]
    costs = frame["fit"].unique(maintain_order=True).to_list()
    base = alt.Chart(frame).encode(
        x=alt.X("setting:O", title="pages in a list", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("fit:O", title=cost_axis, sort=costs[::-1], axis=alt.Axis(titleFontSize=11)),
    )
    colour = alt.Color(
        "gain:Q",
        title="gain, %",
        scale=alt.Scale(domain=[-most, 0, most], range=[UNPATCHED, "#f5f5f5", PATCHED]),
    )
    figures = base.mark_text(fontSize=9).encode(
        text=alt.Text("gain:Q", format=".0f"),
        color=alt.condition(
            f"abs(datum.gain) > {0.6 * most}", alt.value("white"), alt.value("black")
        ),
    )
    panels = frame["label"].unique(maintain_order=True).to_list()
    chart: alt.FacetChart = (
        alt.layer(base.mark_rect().encode(color=colour), figures)
        .properties(width=330, height=alt.Step(26))
        .facet(facet=alt.Facet("label:N", title=None, sort=panels), columns=2)
        .properties(title=alt.TitleParams(title, subtitle=subtitle))
    )
    return chart


@interactive()
def waits_by_list(
    holds: pl.DataFrame, *, title: str, key_title: str, subtitle: str = ""
) -> alt.HConcatChart:
    """Draw the longest hold, and the longest and mean wait behind it, by the length of lists.

    Parameters
    ----------
    holds : polars.DataFrame
        Schema HOLDS_BY_LIST.
    title, key_title, subtitle : str
    """
    frame = HOLDS_BY_LIST.check(holds)
    shares = frame["next_share"].unique().sort().to_list()
    x = alt.X(
        "list_pages:Q",
        title="pages in a list",
        scale=alt.Scale(type="log", base=2, nice=False, padding=8),
        axis=alt.Axis(values=frame["list_pages"].unique().sort().to_list(), labelFlush=False),
    )
    y = alt.Y(
        "microseconds:Q",
        title="microseconds",
        scale=alt.Scale(type="log", domain=[0.5, 1000]),
        axis=alt.Axis(values=[1, 10, 100, 1000], format=",d"),
    )
    colour = alt.Color(
        "next_share:O",
        title=key_title,
        scale=alt.Scale(domain=shares, range=[PATCHED, "#80b1d3", UNPATCHED]),
    )

    def panel(name: str, words: str) -> alt.LayerChart:
        rows = frame.select("next_share", "list_pages", microseconds=name)
        base = alt.Chart(rows).encode(x=x, y=y, color=colour)
        dots = base.mark_point(filled=True, size=40, opacity=1)
        drawn: alt.LayerChart = base.mark_line() + dots
        return drawn.properties(width=250, height=220, title=words)

    chart: alt.HConcatChart = alt.hconcat(
        panel("longest_hold_us", "longest hold"),
        panel("longest_wait_us", "longest wait of an add"),
        panel("mean_wait_us", "mean wait of an add"),
    ).properties(title=alt.TitleParams(title, subtitle=subtitle))
    return chart
