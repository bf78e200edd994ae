# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of one lock shows the published anchors."""

import polars as pl
import pytest

from swapsim.live import panels
from swapsim.machine import anchors


def test_published_points_are_those_with_a_rate() -> None:
    """Each published anchor whose loops are known is a point at its rate."""
    known = anchors.published_anchors().filter(
        pl.col("loops").is_not_null() | (pl.col("unit") == "operations/s")
    )
    (points,) = panels.locks().chart["datasets"].values()
    rates = dict(known.filter(unit="operations/s").select("anchor", "value").rows())
    assert [point["threads"] for point in points] == known["threads"].to_list()
    for name, last in rates.items():
        of_name = [each["value"] for each in points if each["published"].startswith(name)]
        assert of_name[-1] == pytest.approx(last / 1e6)
