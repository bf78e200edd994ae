# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the machine draw the rows of their tables, and refuse other tables."""

from collections.abc import Callable
from functools import partial
from typing import Any

import altair as alt
import polars as pl
import pytest

from swapsim import charts
from swapsim.charts.colours import PARTS
from swapsim.errors import InputError
from swapsim.frames.table import Table
from swapsim.machine import charts as machine_charts
from swapsim.machine.tables import (
    AGAINST_ANCHORS,
    LOCK_RATES,
    SENSITIVITY,
    TIME_PER_PAGE,
    WHAT_IF_RANGES,
)


def table(of: Table, *rows: tuple[Any, ...]) -> pl.DataFrame:
    """Return rows written by hand as a table."""
    return pl.DataFrame(rows, schema=of.schema, orient="row")


PAGE = table(
    TIME_PER_PAGE,
    *((kernel, part, us, us) for kernel, us in (("patched", 1.0), ("base", 2.0)) for part in PARTS),
)
GAINS = table(
    WHAT_IF_RANGES,
    ("device", 8.0, "8 channels", 1.0, 2.0, 3.0, 9.0, 1.0, False),
    ("device", 16.0, "16 channels", -1.0, 3.0, 4.0, 9.0, 1.0, True),
    ("device", 32.0, "memory", 5.0, 6.0, 7.0, 9.0, 1.0, False),
)
DRIVES = table(
    WHAT_IF_RANGES,
    ("20 us a page", 4e5, "8 at a time, 20 us each", 1.0, 2.0, 3.0, 9.0, 1.0, False),
    ("80 us a page", 1e5, "8 at a time, 80 us each", -1.0, 0.0, 1.0, 9.0, 1.0, True),
    ("80 us a page", 4e5, "32 at a time, 80 us each", 1.0, 2.0, 3.0, 9.0, 1.0, False),
    ("memory", 2e7, "memory", 5.0, 6.0, 7.0, 9.0, 1.0, False),
)
ENDS = table(
    SENSITIVITY,
    ("map_ns", 30.0, 660.0, 12.0, 18.0, False),
    ("in_memory", 0.21, 0.375, None, 15.0, False),
)
RATES = table(
    LOCK_RATES,
    *(
        ("queued", where, n, 99.0 * n, 90.0, 400.0)
        for where in ("mixed", "all remote")
        for n in (1, 2)
    ),
)
COMPARED = table(
    AGAINST_ANCHORS,
    ("opteron", "first", "queued", "mixed", 2, 110.0, 198.0, 1.8, "agrees"),
    ("opteron", "first", "queued", "all remote", 2, 110.0, 198.0, 1.8, "agrees"),
)

DRAWN: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "time_per_page": (PAGE, {}),
    "gain_along": (GAINS, {"setting_axis": "channels"}),
    "gain_on_drives": (DRIVES, {}),
    "sensitivity": (ENDS, {"usual": 15.0}),
    "locks_against_anchors": (RATES, {"compared": COMPARED}),
}
"""The table and the options of each chart."""


def draw(name: str, frame: pl.DataFrame) -> alt.TopLevelMixin:
    """Draw a chart of a table."""
    chart: alt.TopLevelMixin = getattr(machine_charts, name)(frame, title="T", **DRAWN[name][1])
    return chart


MADE: dict[str, Callable[[], alt.TopLevelMixin]] = {
    name: partial(draw, name, frame) for name, (frame, _) in DRAWN.items()
}


def spec(name: str) -> dict[str, Any]:
    """Return a chart's Vega-Lite."""
    return dict(MADE[name]().to_dict())


def data(name: str) -> list[dict[str, Any]]:
    """Return all rows that a chart holds."""
    return [row for rows in spec(name)["datasets"].values() for row in rows]


@pytest.mark.parametrize("name", MADE)
def test_each_chart_becomes_a_picture(name: str) -> None:
    """The renderer draws it, and the picture is larger than empty axes."""
    png = charts.png(spec(name))
    assert png.startswith(b"\x89PNG")
    assert len(png) > 6_000


def test_bars_stack_the_parts_in_one_order_and_keep_that_of_the_kernels() -> None:
    """The order is work, then two parts per lock; kernels have the order of the table."""
    parts = list(PARTS)
    order = {row["part"]: row["order"] for row in data("time_per_page")}
    assert order == {part: at for at, part in enumerate(parts)}
    encoding = spec("time_per_page")["encoding"]
    assert encoding["y"]["sort"] == ["patched", "base"]
    assert encoding["color"]["scale"] == {"domain": parts, "range": list(PARTS.values())}


def test_a_band_and_a_line_follow_the_gains() -> None:
    """Low, middle and high of each setting are drawn; a word has its own tick, off the line."""
    chart = spec("gain_along")
    rows = {
        (row["low"], row["middle"], row["high"]) for row in data("gain_along") if "middle" in row
    }
    assert rows == {(1.0, 2.0, 3.0), (-1.0, 3.0, 4.0), (5.0, 6.0, 7.0)}
    for layer in chart["layer"]:
        if layer["mark"]["type"] in ("line", "area"):
            drawn = chart["datasets"][layer["data"]["name"]]
            assert [row["setting"] for row in drawn] == [8.0, 16.0]
    axes = [each["encoding"]["x"]["axis"] for each in chart["layer"] if "x" in each["encoding"]]
    assert len(axes) == 5
    for axis in axes:
        assert axis["values"] == [8.0, 16.0, 32.0]
        assert "datum.value == 32.0 ? 'memory'" in axis["labelExpr"]
        assert "channels" not in axis["labelExpr"]


def test_memory_is_drawn_next_to_the_drives() -> None:
    """Memory is drawn in a panel of its own, as it has neither latency nor queue."""
    rows = [row for row in data("gain_on_drives") if "factor" in row]
    assert {row["factor"] for row in rows} == {"20 us a page", "80 us a page", "memory"}
    assert len(rows) == DRIVES.height


def test_a_bar_shows_the_ends_of_its_constant() -> None:
    """Each constant's label has its low and high, and an end without a fit has no dot."""
    rows = data("sensitivity")
    names = {row["name"] for row in rows if "name" in row}
    assert names == {"map_ns, 30 to 660", "in_memory, 0.21 to 0.375"}
    assert len([row for row in rows if "end" in row]) == 3


def test_a_published_point_is_drawn_once() -> None:
    """An anchor that is compared with several placements has one point for a number of threads."""
    rows = data("locks_against_anchors")
    assert [row for row in rows if "anchor" in row] == [
        {"anchor": "opteron", "threads": 2, "published_ns": 110.0}
    ]
    assert len([row for row in rows if "placement" in row]) == RATES.height


@pytest.mark.parametrize("name", MADE)
def test_each_chart_refuses_another_table(name: str) -> None:
    """The error names a column that the chart's table has and this one lacks."""
    with pytest.raises(InputError, match=f"field '{DRAWN[name][0].columns[0]}': table"):
        draw(name, pl.DataFrame({"a": [1]}))
