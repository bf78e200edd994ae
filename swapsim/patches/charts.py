# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of what-ifs: gains along a setting, by drive, and at the ends of constants."""

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.charts import colours


def gains(ranges: pl.DataFrame, title: str, setting: str, by: str = "") -> alt.ConcatChart:
    """Draw the range of a gain (`what_if.gains`) along a setting; figures where it is one line."""
    words = {"setting": setting, "middle": "gain, %", "fill": "slots in use"}
    look: charts.Look = {"title": title, "words": words, "log": "x", "zero": True}
    if by == "fill":
        # Their gains differ by orders of magnitude.
        ends = min(ranges["low"].to_list()), max(ranges["high"].to_list())
        look |= {"log": "xy", "domain": ends}
    if not by:
        look["figures"] = ".0f"
    tick = "label" if by == "latency" else ""
    return charts.lines(ranges, "setting", "middle", by, tick=tick, **look)


def gains_by_drive(ranges: pl.DataFrame) -> alt.ConcatChart:
    """Draw the range of a gain on the drives of `what_if.by_drive`, a line for each latency."""
    served = "pages per second that the drive can serve: queue depth / latency"
    return gains(ranges, "Gain by the drive's latency and queue", served, "latency")


def gains_at_ends(ends: pl.DataFrame, *, usual: float) -> alt.ConcatChart:
    """Draw the gain with each constant at both ends of its range (`what_if.by_constant`)."""
    values = [f"{low:g} to {high:g}" for low, high in ends.select("at_low", "at_high").iter_rows()]
    named = ends.with_columns(name=pl.col("constant") + ", " + pl.Series(values))
    drawn = pl.concat(
        named.select("name", "low", "high", gain=side, end=pl.lit(f"at its {side}"))
        for side in ("low", "high")
    )
    return charts.dots(
        drawn.drop_nulls("gain"),
        "gain",
        "name",
        "end",
        title="Gain with each constant at its low and its high",
        subtitle="the line: all constants as they are",
        rule=usual,
        rule_colour=colours.PATCHED,
        tight=True,
        words={"gain": "gain, %"},
    )
