# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the contention machine: what a base leaves open, where time goes, what if."""

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.colours import PARTS, PATCHED, PUBLISHED
from swapsim.charts.interaction import interactive
from swapsim.errors import InputError
from swapsim.machine.tables import PREDICTED_BY_SHARES, TIME_PER_PAGE, WHAT_IF_RANGES


@interactive(low="published, less a deviation", high="published, and a deviation")
def claim_along_shares(
    points: pl.DataFrame, claim: str, *, title: str, axis: str, subtitle: str = ""
) -> alt.LayerChart:
    """Draw a claim's predicted change along the share that a base leaves open, and the published.

    Parameters
    ----------
    points : polars.DataFrame
        Schema PREDICTED_BY_SHARES; fits that did not converge are left out.
    claim : str
    title, axis, subtitle : str

    Raises
    ------
    InputError
        No fit that converged has this claim.
    """
    frame = PREDICTED_BY_SHARES.check(points).filter("converged", claim=claim)
    if frame.is_empty():
        raise InputError(f"no fit that converged has claim {claim!r}", field="claim")
    printed = frame.select("published", "tolerance").row(0)
    band = pl.DataFrame(
        {"low": [printed[0] - printed[1]], "high": [sum(printed)], "published": [printed[0]]}
    )
    shares = frame["map_share"].unique().sort().to_list()
    y = alt.Y("simulated:Q", title=axis)
    along = alt.Chart(frame.select("tag_share", "map_share", "simulated")).encode(
        x=alt.X(
            "tag_share:Q",
            title="tag_ns / tree_ns: hold for tags / hold for add",
            scale=alt.Scale(domain=[-0.02, 1.02], nice=False),
        ),
        y=y,
        color=alt.Color(
            "map_share:O",
            title=["map_ns / tree_ns:", "a look at a map byte"],
            scale=alt.Scale(domain=shares, range=colours.ramp(len(shares))),
        ),
    )
    line, dots = along.mark_line(strokeWidth=2), along.mark_point(filled=True, size=40, opacity=1)
    area = (
        alt.Chart(band)
        .mark_rect(opacity=0.15, color=PUBLISHED)
        .encode(y=alt.Y("low:Q", title=axis), y2="high:Q")
    )
    rule = alt.Chart(band).mark_rule(color=PUBLISHED, strokeDash=[6, 4]).encode(y="published:Q")
    text = (
        alt.Chart(band)
        .mark_text(align="right", dx=-4, dy=-7, color=PUBLISHED, fontSize=11)
        .encode(
            y="published:Q", x=alt.value(500), text=alt.value("published, ± one standard deviation")
        )
    )
    chart: alt.LayerChart = (area + rule + line + dots + text).properties(
        width=500, height=280, title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


@interactive(kernel="kernel", part="where")
def time_per_page(parts: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.Chart:
    """Stack where the CPUs' time goes between two pages swapped out, a bar a kernel.

    Parameters
    ----------
    parts : polars.DataFrame
        Schema TIME_PER_PAGE.
    title, subtitle : str
    """
    TIME_PER_PAGE.check(parts)
    order = pl.DataFrame({"part": list(PARTS), "order": range(len(PARTS))})
    frame = parts.join(order, on="part", maintain_order="left")
    kernels = frame["kernel"].unique(maintain_order=True).to_list()
    chart: alt.Chart = (
        alt.Chart(
            frame.select("kernel", "part", "microseconds", "order"),
            title=alt.TitleParams(title, subtitle=subtitle),
        )
        .mark_bar()
        .encode(
            x=alt.X("microseconds:Q", title="CPU time per page swapped out, microseconds"),
            y=alt.Y("kernel:N", title=None, sort=kernels),
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=list(PARTS), range=list(PARTS.values())),
                legend=alt.Legend(labelLimit=240),
            ),
            order="order:Q",
        )
        .properties(width=480, height=alt.Step(44))
    )
    return chart


@interactive(setting="", label="with", low="least of the fits, %", high="greatest of the fits, %")
def gain_along(
    ranges: pl.DataFrame, *, title: str, setting_axis: str, subtitle: str = ""
) -> alt.LayerChart:
    """Draw a patch's gain along one factor, the line in the band of its fits.

    Parameters
    ----------
    ranges : polars.DataFrame
        Schema WHAT_IF_RANGES, one factor whose settings about double; a label that is a word
        (memory) is its own tick.
    title, setting_axis, subtitle : str
    """
    WHAT_IF_RANGES.check(ranges)
    frame = ranges.select("setting", "label", "low", "middle", "high")
    words = {
        setting: label
        for setting, label in frame.select("setting", "label").iter_rows()
        if not label[0].isdigit()
    }
    named = " : ".join(f"datum.value == {at} ? '{word}'" for at, word in words.items())
    number = "format(datum.value, ',d')"
    axis = alt.Axis(
        values=frame["setting"].to_list(), labelExpr=f"{named} : {number}" if named else number
    )
    along_x = alt.Scale(type="log", base=2, nice=False, padding=14)
    x = alt.X("setting:Q", title=setting_axis, scale=along_x, axis=axis)
    base = alt.Chart(frame).encode(x=x)
    along = alt.Chart(frame.filter(~pl.col("setting").is_in(list(words)))).encode(x=x)
    y = alt.Y("low:Q", title="gain, %", scale=alt.Scale(padding=18))  # room for the figures
    band = along.mark_area(opacity=0.2, color=PATCHED).encode(y=y, y2="high:Q")
    line = along.mark_line(color=PATCHED).encode(y="middle:Q")
    # What has a word for a place is no point of the line.
    spans = base.mark_rule(color=PATCHED, opacity=0.3, strokeWidth=4).encode(y=y, y2="high:Q")
    dots = base.mark_point(filled=True, size=45, color=PATCHED, opacity=1).encode(y="middle:Q")
    figures = base.mark_text(dy=-12, fontSize=11).encode(
        y="middle:Q", text=alt.Text("middle:Q", format=".0f")
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(color="#888").encode(y="zero:Q")
    chart: alt.LayerChart = (zero + band + line + spans + dots + figures).properties(
        width=520, height=240, title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart
