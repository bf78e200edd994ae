# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 08 alone needs: generations over all recordings, and the picture of the loop."""

from typing import Any, Final

import altair as alt
import polars as pl

from swapsim import generations
from swapsim.charts.colours import FAINT
from swapsim.charts.interaction import interactive
from swapsim.ffi import GENERATION_SWAPPINESS_MAX
from swapsim.generations.tables import TYPES

TRACE: Final = "generations-7.3-mixed-1"
ZERO: Final = "generations-7.3-zero-2"
_PARTS: Final = 60
_SECOND: Final = 30


def second() -> dict[str, Any]:
    """Return a second of a recording in which refault rates decide."""
    parts = generations.timeline(TRACE, parts=_PARTS).filter(lruvec=0)
    return parts.filter(pl.col("start_s").floor() == _SECOND).row(0, named=True)


_BOX: Final = (2.1, 1.15)
_PLACES: Final = {
    "evict": (0.0, 2.0),
    "return": (4.4, 2.0),
    "rate": (4.4, 0.0),
    "choose": (0.0, 0.0),
}
"""The centre of each box of the loop."""


@interactive(title="", text="", angle="")
def loop(second: dict[str, Any]) -> alt.LayerChart:
    """Draw the controller as a feedback loop, with the figures of a part of a timeline in it."""
    rate = {each: second[f"rate_{each}_percent"] for each in TYPES}
    swappiness = int(second["swappiness"])
    gain = {"anon": swappiness, "file": GENERATION_SWAPPINESS_MAX - swappiness}
    share = {"anon": second["anon_percent"], "file": 100 - second["anon_percent"]}

    def of_both(line: str, values: dict[str, Any]) -> list[str]:
        return [line.format(each, values[each]) for each in TYPES]

    boxes = {
        "evict": ("reclaim scans its oldest generation", of_both("{}: {:.0f} % of choices", share)),
        "return": ("some evicted pages come back", of_both("{}: {:.1f} % refaulted", rate)),
        "rate": (
            "refault rate over gain",
            [
                f"{each}: {rate[each]:.1f} / {gain[each]} = {rate[each] / gain[each]:.3f}"
                for each in TYPES
            ],
        ),
        "choose": (
            "the lower one is chosen",
            [min(TYPES, key=lambda each: rate[each] / gain[each])],
        ),
    }
    wide, high = _BOX
    frame = pl.DataFrame(
        [
            (
                x - wide,
                x + wide,
                y - high / 2,
                y + high / 2,
                x,
                y + 0.3,
                y - 0.15,
                title,
                "\n".join(lines),
            )
            for name, (title, lines) in boxes.items()
            for x, y in [_PLACES[name]]
        ],
        schema=["left", "right", "bottom", "top", "x", "high", "low", "title", "text"],
        orient="row",
    )
    arrows = pl.DataFrame(
        {
            "x": [wide, 4.4, 4.4 - wide, 0.0],
            "y": [2.0, 2 - high / 2, 0.0, high / 2],
            "x2": [4.4 - wide, 4.4, wide, 0.0],
            "y2": [2.0, high / 2, 0.0, 2 - high / 2],
            "angle": [90, 180, 270, 0],
        }
    )
    plain = {"axis": None, "scale": alt.Scale(nice=False, zero=False)}
    across, up = alt.X("x:Q", **plain), alt.Y("y:Q", **plain)
    box = alt.Chart(frame)
    rects = box.mark_rect(fill=FAINT, stroke="#888", cornerRadius=6).encode(
        x=alt.X("left:Q", **plain), x2="right:Q", y=alt.Y("bottom:Q", **plain), y2="top:Q"
    )
    titles = box.mark_text(fontWeight="bold", fontSize=13).encode(
        x=across, y=alt.Y("high:Q", **plain), text="title:N", color=alt.value("currentColor")
    )
    figures = box.mark_text(fontSize=13, lineBreak="\n", lineHeight=17, baseline="middle").encode(
        x=across, y=alt.Y("low:Q", **plain), text="text:N", color=alt.value("currentColor")
    )
    lines = alt.Chart(arrows).mark_rule(strokeWidth=2, color="#888")
    heads = alt.Chart(arrows).mark_point(shape="triangle-up", filled=True, size=130, color="#888")
    return alt.layer(
        rects,
        titles,
        figures,
        lines.encode(x=across, x2="x2:Q", y=up, y2="y2:Q"),
        heads.encode(
            x=alt.X("x2:Q", **plain),
            y=alt.Y("y2:Q", **plain),
            angle=alt.Angle("angle:Q", scale=alt.Scale(domain=[0, 360], range=[0, 360])),
        ),
    ).properties(width=620, height=250, title=f"A second of Linux 7.3: {TRACE}, second {_SECOND}")
