# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the machine draw the rows that they are given."""

from collections.abc import Callable
from functools import partial
from typing import Any

import altair as alt
import polars as pl
import pytest

from swapsim import charts
from swapsim.charts.colours import PARTS
from swapsim.machine import charts as machine_charts

PAGE = pl.DataFrame(
    [(kernel, part, us) for kernel, us in (("patched", 1.0), ("base", 2.0)) for part in PARTS],
    schema=["kernel", "part", "microseconds"],
    orient="row",
)
RATES = pl.DataFrame(
    [("queued", where, n, 99.0 * n) for where in ("mixed", "all remote") for n in (1, 2)],
    schema=["kind", "placement", "threads", "ns"],
    orient="row",
)
COMPARED = pl.DataFrame(
    [("opteron", "queued", where, 2, 110.0) for where in ("mixed", "all remote")],
    schema=["anchor", "kind", "placement", "threads", "published_ns"],
    orient="row",
)

MADE: dict[str, Callable[[], alt.TopLevelMixin]] = {
    "time_per_page": partial(machine_charts.time_per_page, PAGE, title="T"),
    "locks_against_anchors": partial(
        machine_charts.locks_against_anchors, RATES, COMPARED, title="T"
    ),
}


def data(name: str) -> list[dict[str, Any]]:
    """Return all rows that a chart holds."""
    return [row for rows in MADE[name]().to_dict()["datasets"].values() for row in rows]


@pytest.mark.parametrize("name", MADE)
def test_each_chart_becomes_a_picture(name: str) -> None:
    """The renderer draws it, and the picture is larger than empty axes."""
    png = charts.png(MADE[name]().to_dict())
    assert png.startswith(b"\x89PNG")
    assert len(png) > 6_000


def test_bars_stack_the_parts_in_one_order() -> None:
    """The order is work, then two parts per lock."""
    order = {row["part"]: row["order"] for row in data("time_per_page")}
    assert order == {part: at for at, part in enumerate(PARTS)}


def test_a_published_point_is_drawn_once() -> None:
    """An anchor that is compared with several placements has one point for a number of threads."""
    rows = data("locks_against_anchors")
    assert [row for row in rows if "anchor" in row] == [
        {"anchor": "opteron", "threads": 2, "published_ns": 110.0}
    ]
    assert len([row for row in rows if "placement" in row]) == RATES.height
