# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of batched removals draw what their frames hold, and refuse other frames."""

import polars as pl
import pytest

from swapsim.claims.tables import RANGES
from swapsim.errors import InputError
from swapsim.machine.tables import HOLDS_BY_LIST, WHAT_IF
from swapsim.removal import charts as removal_charts

RANGE = pl.DataFrame(
    [("B-elapsed-8", -42.5, 10.0, -30.0, 4.0, 34.0, "misses", True, 0.5, 1.0, 36)],
    schema=RANGES.schema,
    orient="row",
)
GAINS = pl.DataFrame(
    [
        ("list_pages", 32.0, "1 task", "0.3", 1, 100.0, 94.0, -6.0, 10.0, 20.0),
        ("list_pages", 32.0, "1 task", "0.3", 2, 100.0, 96.0, -4.0, 10.0, 20.0),
        ("list_pages", 32.0, "8 tasks", "0.3", 1, 100.0, 130.0, 30.0, 50.0, 20.0),
    ],
    schema=WHAT_IF.schema,
    orient="row",
)
HOLDS = pl.DataFrame([(0.3, 32, 8.7, 29.0, 2.6, 5e5)], schema=HOLDS_BY_LIST.schema, orient="row")


def test_a_range_stands_beside_what_was_printed() -> None:
    """A bar from low to high, a dot at the published figure."""
    spec = removal_charts.ranges_beside_published(RANGE, title="t", axis="change").to_dict()
    rows = [row for rows in spec["datasets"].values() for row in rows]
    assert {"claim": "B-elapsed-8", "published": -42.5, "low": -30.0, "high": 4.0} in rows


def test_a_map_colours_the_mean_over_the_seeds() -> None:
    """A panel per number of tasks, a cell per length and cost; loss and gain share one scale."""
    spec = removal_charts.gain_map(GAINS, title="t", cost_axis="cost").to_dict()
    rows = [row for rows in spec["datasets"].values() for row in rows]
    assert {"setting": 32, "label": "1 task", "fit": "0.3", "gain": -5.0} in rows
    assert spec["facet"]["sort"] == ["1 task", "8 tasks"]
    (rectangles, _) = spec["spec"]["layer"]
    assert rectangles["encoding"]["color"]["scale"]["domain"] == [-30.0, 0, 30.0]


def test_waits_have_three_panels() -> None:
    """The longest hold, the longest and the mean wait behind it, on one scale."""
    spec = removal_charts.waits_by_list(HOLDS, title="t", key_title="share").to_dict()
    assert len(spec["hconcat"]) == 3
    scales = {
        str(mark["encoding"]["y"]["scale"]) for panel in spec["hconcat"] for mark in panel["layer"]
    }
    assert len(scales) == 1


def test_other_frames_are_refused() -> None:
    """Each chart names the table that it was not given."""
    with pytest.raises(InputError, match="RANGES"):
        removal_charts.ranges_beside_published(HOLDS, title="t", axis="a")
    with pytest.raises(InputError, match="WHAT_IF"):
        removal_charts.gain_map(HOLDS, title="t", cost_axis="a")
    with pytest.raises(InputError, match="HOLDS_BY_LIST"):
        removal_charts.waits_by_list(GAINS, title="t", key_title="a")
