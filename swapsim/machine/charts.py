# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the contention machine: time of a page, gains, and locks next to published ones."""

from typing import Final

import altair as alt
import polars as pl

from swapsim.charts import colours, general

_PUBLISHED: Final = ("#67000d", "#a50f15", colours.PUBLISHED, "#fb8d6a", "#fcbba1")
"""Anchors, in the order of their table."""


def time_per_page(
    parts: pl.DataFrame, title: str = "Where the CPU time of a page goes"
) -> alt.ConcatChart:
    """Draw where the CPU time of a page goes (`summary.time_per_page`), a bar for each kernel."""
    order = pl.Enum(list(colours.PARTS))
    return general.bars(
        parts.sort(pl.col("part").cast(order), maintain_order=True),
        "microseconds",
        "kernel",
        "part",
        title=title,
        colour=colours.PARTS,
        words={"microseconds": "CPU time per page swapped out, microseconds"},
    )


def gains(ranges: pl.DataFrame, title: str, setting: str, by: str = "") -> alt.ConcatChart:
    """Draw the range of a gain (`what_if.gains`) along a setting; figures where it is one line."""
    words = {"setting": setting, "middle": "gain, %", "fill": "slots in use"}
    look: general.Look = {"title": title, "words": words, "log": "x", "zero": True}
    if by == "fill":
        # Their gains differ by orders of magnitude.
        ends = min(ranges["low"].to_list()), max(ranges["high"].to_list())
        look |= {"log": "xy", "domain": ends}
    if not by:
        look["figures"] = ".0f"
    tick = "label" if by == "latency" else ""
    return general.lines(ranges, "setting", "middle", by, tick=tick, **look)


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
    return general.dots(
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


def locks_against_anchors(rates: pl.DataFrame, compared: pl.DataFrame) -> alt.ConcatChart:
    """Draw `anchors.lock_rates` and `anchors.against_anchors`: a panel for each kind of lock."""
    simulated = rates.select("kind", "threads", "ns", line="placement")
    # An anchor is compared with each placement that it may have had.
    published = compared.select("kind", "threads", ns="published_ns", line="anchor").unique(
        maintain_order=True
    )
    anchors = published["line"].unique(maintain_order=True).to_list()
    return general.lines(
        pl.concat([simulated, published], how="vertical_relaxed").with_columns(
            kind=pl.col("kind") + " lock"
        ),
        "threads",
        "ns",
        "line",
        title="Time to take a lock in a loop: simulated, and measured on other processors",
        panel="kind",
        colour=colours.PLACEMENTS | dict(zip(anchors, _PUBLISHED, strict=False)),
        words={"ns": "time of an acquisition, ns", "line": "simulated; in red published"},
        log="xy",
        domain=(50, 2500),
        format=",d",
        width=270,
        height=260,
    )
