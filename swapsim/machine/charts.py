# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the contention machine: fits, the time of a page, ranges of predictions, what-ifs."""

from typing import Any, Final

import altair as alt
import polars as pl

from swapsim.charts.colours import PARTS, PATCHED, PLACEMENTS, PUBLISHED, UNPATCHED, ramp
from swapsim.charts.interaction import interactive
from swapsim.machine.tables import (
    AGAINST_ANCHORS,
    LOCK_RATES,
    SENSITIVITY,
    TIME_PER_PAGE,
    WHAT_IF_RANGES,
)

_SHAPES: Final = ("square", "circle", "triangle-up", "diamond", "cross")
"""The points of anchors, in the order of their table."""


@interactive(kernel="kernel", part="where")
def time_per_page(
    parts: pl.DataFrame, *, title: str = "Where the CPU time of a page goes", subtitle: str = ""
) -> alt.Chart:
    """Draw where the CPUs' time goes between two pages swapped out, one stacked bar per kernel.

    ``parts`` has the schema TIME_PER_PAGE.
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
    """Draw a patch's gain along one factor, as a line in the band of its fits.

    ``ranges`` has the schema WHAT_IF_RANGES, of one factor whose settings about double. A label
    that is a word (memory) has a tick of its own.
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
    y = alt.Y("low:Q", title="gain, %", scale=alt.Scale(padding=18))  # space for the figures
    band = along.mark_area(opacity=0.2, color=PATCHED).encode(y=y, y2="high:Q")
    line = along.mark_line(color=PATCHED).encode(y="middle:Q")
    # A setting with a word is not a point of the line.
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


@interactive(
    factor="latency of the drive", low="least of the fits, %", high="greatest of the fits, %"
)
def gain_on_drives(ranges: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.HConcatChart:
    """Draw a patch's gain on drives, one line per latency, next to the gain on memory.

    ``ranges`` has the schema WHAT_IF_RANGES, of the cases of `what_if.on_drives`: the factor is
    the latency or the word memory, the setting is pages per second.
    """
    frame = WHAT_IF_RANGES.check(ranges).select("factor", "setting", "low", "middle", "high")
    drives = frame.filter(pl.col("factor") != "memory")
    latencies = drives["factor"].unique(maintain_order=True).to_list()
    ends = [min(0.0, *frame["low"].to_list()), max(0.0, *frame["high"].to_list())]
    y = alt.Y("low:Q", title="gain, %", scale=alt.Scale(domain=ends, nice=True))

    def drawn(rows: pl.DataFrame, x: alt.X, *, lines: bool) -> Any:
        colour = alt.Color(
            "factor:N",
            title="latency of the drive",
            scale=alt.Scale(domain=latencies, range=ramp(len(latencies))),
        )
        base = alt.Chart(rows).encode(x=x, color=colour if lines else alt.value(PATCHED))
        spans = base.mark_rule(strokeWidth=4, opacity=0.35).encode(y=y, y2="high:Q")
        dots = base.mark_point(filled=True, size=55, opacity=1).encode(y="middle:Q")
        zero = alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(color="#888").encode(y="zero:Q")
        if not lines:
            return zero + spans + dots
        return zero + base.mark_line(strokeWidth=1.5).encode(y="middle:Q") + spans + dots

    along = alt.X(
        "setting:Q",
        title="pages per second that the drive can serve: queue depth / latency",
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(format="~s"),
    )
    alone = alt.X("factor:N", title=None, axis=alt.Axis(labelAngle=0))
    chart: alt.HConcatChart = alt.hconcat(
        drawn(drives, along, lines=True).properties(width=430, height=240),
        drawn(frame.filter(factor="memory"), alone, lines=False).properties(width=70, height=240),
    ).properties(title=alt.TitleParams(title, subtitle=subtitle))
    return chart


@interactive(
    name="constant",
    end="the constant is",
    low="gain at its low, %",
    high="gain at its high, %",
    usual="gain with all as they are, %",
)
def sensitivity(
    rows: pl.DataFrame,
    *,
    title: str = "Gain with each constant at its low and its high",
    usual: float,
    subtitle: str = "the line: all constants as they are",
) -> alt.LayerChart:
    """Draw a tornado: one bar per constant, from the gain at its low to that at its high.

    Parameters
    ----------
    rows : polars.DataFrame
        Schema SENSITIVITY, the widest bar first; an end without a fit is left out.
    usual : float
        The gain with every constant at its value, in percent.
    title, subtitle : str
    """
    frame = SENSITIVITY.check(rows).with_columns(
        name=pl.format(
            "{}, {} to {}", "constant", *(_number(pl.col(f"at_{side}")) for side in ("low", "high"))
        )
    )
    names = frame["name"].to_list()
    y = alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=300))
    sides = pl.concat(
        frame.select("name", gain=side, end=pl.lit(f"at its {side}")) for side in ("low", "high")
    ).drop_nulls("gain")
    bars = (
        alt.Chart(frame.drop_nulls(["low", "high"]))
        .mark_bar(height=9, color="#888", opacity=0.5)
        .encode(y=y, x=alt.X("low:Q", title="gain, %", scale=alt.Scale(zero=False)), x2="high:Q")
    )
    dots = (
        alt.Chart(sides)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            y=y,
            x="gain:Q",
            color=alt.Color(
                "end:N",
                title=None,
                scale=alt.Scale(domain=["at its low", "at its high"], range=[UNPATCHED, PATCHED]),
            ),
        )
    )
    rule = alt.Chart(pl.DataFrame({"usual": [usual]})).mark_rule(color="#888").encode(x="usual:Q")
    chart: alt.LayerChart = (bars + rule + dots).properties(
        width=420, height=alt.Step(24), title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


def _number(column: pl.Expr) -> pl.Expr:
    """Return a number as text without trailing zeros."""
    return column.map_elements(lambda value: f"{value:g}", return_dtype=pl.String)


@interactive(threads="threads", ns="simulated, ns", published_ns="published, ns", anchor="anchor")
def locks_against_anchors(
    rates: pl.DataFrame,
    compared: pl.DataFrame,
    *,
    title: str = "Time to take a lock in a loop: simulated, and measured on other processors",
    subtitle: str = "",
) -> alt.HConcatChart:
    """Draw the time of an acquisition by threads: lines simulated, points published.

    Parameters
    ----------
    rates : polars.DataFrame
        Schema LOCK_RATES; each kind of lock has a panel, each placement a line.
    compared : polars.DataFrame
        Schema AGAINST_ANCHORS.
    title, subtitle : str
    """
    LOCK_RATES.check(rates)
    points = AGAINST_ANCHORS.check(compared).select("kind", "anchor", "threads", "published_ns")
    anchors = points["anchor"].unique(maintain_order=True).to_list()
    y = alt.Scale(type="log", domain=[50, 2500], nice=False)
    axis = alt.Axis(values=[50, 100, 200, 500, 1000, 2000], format=",d")
    x = alt.X(
        "threads:Q",
        title="threads",
        scale=alt.Scale(type="log", base=2, nice=False, padding=10),
        axis=alt.Axis(values=sorted(rates["threads"].unique()), format=",d"),
    )

    def panel(kind: str) -> Any:
        lines = (
            alt.Chart(rates.filter(kind=kind).select("placement", "threads", "ns"))
            .mark_line(strokeWidth=2)
            .encode(
                x=x,
                y=alt.Y("ns:Q", title="time of an acquisition, ns", scale=y, axis=axis),
                color=alt.Color(
                    "placement:N",
                    title="simulated",
                    scale=alt.Scale(domain=list(PLACEMENTS), range=list(PLACEMENTS.values())),
                ),
            )
        )
        printed = points.filter(kind=kind).unique(maintain_order=True)
        dots = (
            alt.Chart(printed.select("anchor", "threads", "published_ns"))
            .mark_point(size=55, color=PUBLISHED, strokeWidth=1.8, opacity=1)
            .encode(
                x=x,
                y=alt.Y("published_ns:Q", scale=y),
                shape=alt.Shape(
                    "anchor:N",
                    title="published",
                    scale=alt.Scale(domain=anchors, range=list(_SHAPES[: len(anchors)])),
                    legend=alt.Legend(symbolStrokeColor=PUBLISHED),
                ),
            )
        )
        return (lines + dots).properties(width=270, height=260, title=f"{kind} lock")

    kinds = rates["kind"].unique(maintain_order=True).to_list()
    chart: alt.HConcatChart = alt.hconcat(*map(panel, kinds)).properties(
        title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart
