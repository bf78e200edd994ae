# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of what-ifs draw each row that they are given, and refuse other tables."""

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl
import pytest

from swapsim import charts
from swapsim.errors import InputError
from swapsim.machine import charts_what_if as machine_charts_what_if
from swapsim.machine.tables import SENSITIVITY, SWAP_SERIES, WHAT_IF_RANGES

DRIVES = pl.DataFrame(
    [
        ("20 us a page", 4e5, "8 at a time, 20 us each", 1.0, 2.0, 3.0, 9.0, 1.0, False),
        ("80 us a page", 1e5, "8 at a time, 80 us each", -1.0, 0.0, 1.0, 9.0, 1.0, True),
        ("80 us a page", 4e5, "32 at a time, 80 us each", 1.0, 2.0, 3.0, 9.0, 1.0, False),
        ("memory", 2e7, "memory", 5.0, 6.0, 7.0, 9.0, 1.0, False),
    ],
    schema=WHAT_IF_RANGES.schema,
    orient="row",
)
ASKED = pl.DataFrame(
    [("map_ns", 30.0, 660.0, 12.0, 18.0, False), ("in_memory", 0.21, 0.375, None, 15.0, False)],
    schema=SENSITIVITY.schema,
    orient="row",
)
HELD = pl.DataFrame(
    [
        ("4.9-rc8", "swap out", "KiB/s", False, 1e6, 1e5, 1.1e6, 1.2e6, "near"),
        ("4.9-rc8", "tree_lock", "% of cycles", False, 27.0, 3.0, 20.0, 40.0, "open"),
        ("4.9-rc8", "tree_lock : si->lock", "ratio", True, 1.0, 0.1, 0.9, 1.1, None),
    ],
    schema=SWAP_SERIES.schema,
    orient="row",
)

MADE: dict[str, Callable[[], alt.TopLevelMixin]] = {
    "gain_on_drives": lambda: machine_charts_what_if.gain_on_drives(DRIVES, title="t"),
    "sensitivity": lambda: machine_charts_what_if.sensitivity(ASKED, title="t", usual=15.0),
    "series_beside_published": lambda: machine_charts_what_if.series_beside_published(
        HELD, title="t"
    ),
}


def data(name: str) -> list[dict[str, Any]]:
    """Return all rows that a chart holds."""
    spec: dict[str, Any] = dict(MADE[name]().to_dict())
    return [row for rows in spec["datasets"].values() for row in rows]


@pytest.mark.parametrize("name", MADE)
def test_each_chart_becomes_a_picture(name: str) -> None:
    """The renderer draws it, and its size is that of a chart and not of an empty plane."""
    png = charts.png(dict(MADE[name]().to_dict()))
    assert png.startswith(b"\x89PNG")
    assert len(png) > 6_000


def test_memory_stands_beside_the_drives() -> None:
    """It is no point of a line, for it has neither latency nor queue."""
    rows = [row for row in data("gain_on_drives") if "factor" in row]
    assert {row["factor"] for row in rows} == {"20 us a page", "80 us a page", "memory"}
    assert len(rows) == DRIVES.height


def test_a_bar_bears_its_constants_ends() -> None:
    """Each constant has its own low and high beside its name; an end without a fit has no dot."""
    rows = data("sensitivity")
    assert {row["name"] for row in rows if "name" in row} == {
        "map_ns, 30 to 660",
        "in_memory, 0.21 to 0.375",
    }
    dots = [row for row in rows if "end" in row]
    assert len(dots) == 3


def test_the_series_has_a_band_of_one_deviation() -> None:
    """Rates and cycles have a panel each, and what was fitted is in none."""
    rows = [row for row in data("series_beside_published") if "published_low" in row]
    assert {(row["name"], row["published_low"]) for row in rows} == {
        ("4.9-rc8: swap out", 9e5),
        ("4.9-rc8: tree_lock", 24.0),
    }


@pytest.mark.parametrize(
    "draw",
    [
        lambda bad: machine_charts_what_if.gain_on_drives(bad, title="t"),
        lambda bad: machine_charts_what_if.sensitivity(bad, title="t", usual=1.0),
        lambda bad: machine_charts_what_if.series_beside_published(bad, title="t"),
    ],
)
def test_other_tables_are_refused(draw: Callable[[pl.DataFrame], object]) -> None:
    """Each takes its own schema alone."""
    with pytest.raises(InputError):
        draw(pl.DataFrame({"a": [1]}))
