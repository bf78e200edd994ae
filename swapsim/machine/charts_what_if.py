# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of what-ifs: drives by latency and queue, constants at their ends, a series predicted."""

from typing import Any

import altair as alt
import polars as pl

from swapsim.charts.colours import PATCHED, PUBLISHED, UNPATCHED, ramp
from swapsim.charts.interaction import interactive
from swapsim.machine.tables import SENSITIVITY, SWAP_SERIES, WHAT_IF_RANGES


@interactive(
    factor="latency of the drive", low="least of the fits, %", high="greatest of the fits, %"
)
def gain_on_drives(ranges: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.HConcatChart:
    """Draw a patch's gain on drives, a line a latency along what the drive can do, beside memory.

    Parameters
    ----------
    ranges : polars.DataFrame
        Schema WHAT_IF_RANGES, as of cases that `what_if.on_drives` returns: the factor is the
        latency or the word memory, the setting pages a second.
    title, subtitle : str
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
    asked: pl.DataFrame, *, title: str, usual: float, subtitle: str = ""
) -> alt.LayerChart:
    """Draw a tornado: a bar a constant, from the gain at its low to that at its high.

    Parameters
    ----------
    asked : polars.DataFrame
        Schema SENSITIVITY, the widest bar first; an end without a fit is left out.
    usual : float
        The gain with every constant as it is, in percent.
    title, subtitle : str
    """
    SENSITIVITY.check(asked)
    frame = asked.with_columns(
        name=pl.format(
            "{}, {} to {}",
            "constant",
            *(_number(pl.col(f"at_{side}")) for side in ("low", "high")),
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
        width=420,
        height=alt.Step(24),
        title=alt.TitleParams(title, subtitle=subtitle or "the line: all constants as they are"),
    )
    return chart


@interactive(
    name="step and figure",
    published="published",
    published_low="less a deviation",
    published_high="and a deviation",
    low="predicted, least",
    high="predicted, greatest",
)
def series_beside_published(held: pl.DataFrame, *, title: str) -> alt.VConcatChart:
    """Draw the swap series' figures, published beside predicted, rates above cycles.

    Parameters
    ----------
    held : polars.DataFrame
        Schema SWAP_SERIES.
    title : str
    """
    frame = SWAP_SERIES.check(held).with_columns(
        name=pl.format("{}: {}", "step", "metric"),
        published_low=pl.col("published") - pl.col("tolerance"),
        published_high=pl.col("published") + pl.col("tolerance"),
    )

    def drawn(unit: str, axis: str) -> alt.LayerChart:
        rows = frame.filter(unit=unit)
        y = alt.Y("name:N", title=None, sort=rows["name"].to_list(), axis=alt.Axis(labelLimit=300))
        x = alt.X(
            "low:Q", title=axis, scale=alt.Scale(zero=True), axis=alt.Axis(format="~s", tickCount=6)
        )
        base = alt.Chart(rows).encode(y=y)
        band = base.mark_bar(height=14, opacity=0.25, color=PUBLISHED).encode(
            x=alt.X("published_low:Q", title=axis), x2="published_high:Q"
        )
        cell = base.mark_tick(thickness=3, size=16, color=PUBLISHED).encode(x="published:Q")
        span = base.mark_rule(strokeWidth=5, color=PATCHED, opacity=0.8).encode(x=x, x2="high:Q")
        ends = base.mark_point(filled=True, size=45, color=PATCHED, opacity=1)
        layers = band + cell + span + ends.encode(x="low:Q") + ends.encode(x="high:Q")
        chart: alt.LayerChart = layers.properties(width=460, height=alt.Step(26))
        return chart

    chart: alt.VConcatChart = alt.vconcat(
        drawn("KiB/s", "swapped out, KiB/s"), drawn("% of cycles", "% of cycles in waiting")
    ).properties(
        title=alt.TitleParams(
            title, subtitle="tick and band: published, one standard deviation; bar: predicted"
        )
    )
    return chart


def _number(column: pl.Expr) -> pl.Expr:
    """Write a number as short as it is."""
    return column.map_elements(lambda value: f"{value:g}", return_dtype=pl.String)
