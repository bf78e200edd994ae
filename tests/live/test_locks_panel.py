# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of one lock shows what notebook 00 draws."""

import polars as pl
import pytest

from swapsim.live import panels
from swapsim.live.description import run
from swapsim.machine import anchors


@pytest.mark.parametrize("kind", anchors.FAIR)
def test_first_state_is_that_of_the_notebook(kind: str) -> None:
    """Over the notebook's seeds, its first state has the times of `lock_rates`."""
    panel = panels.locks()
    rows = run(panel, panel.first | {"kind": f"{kind} lock"}, anchors.SEEDS)
    drawn = rows.group_by("placement", "threads", maintain_order=True).agg(
        low=1000 / pl.max("value"), high=1000 / pl.min("value")
    )
    wanted = anchors.lock_rates([kind]).select("placement", "threads", "low", "high")
    met = drawn.join(wanted, on=["placement", "threads"], suffix="_of_notebook")
    assert met.height == wanted.height
    for end in ("low", "high"):
        assert met[end].to_list() == pytest.approx(met[f"{end}_of_notebook"].to_list())


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
