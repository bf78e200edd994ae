# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the machine draw the rows that they are given."""

from functools import partial

import polars as pl
import pytest

from swapsim import charts
from swapsim.charts.colours import PARTS
from swapsim.machine import charts as machine_charts

PAGE = pl.DataFrame(
    [(kernel, part, 1.0) for kernel in ("patched", "base") for part in reversed(PARTS)],
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

MADE = {
    "time_per_page": partial(machine_charts.time_per_page, PAGE, "T"),
    "locks_against_anchors": partial(machine_charts.locks_against_anchors, RATES, COMPARED),
}


@pytest.mark.parametrize(
    ("name", "column", "order"),
    [
        ("time_per_page", "part", [part for part in PARTS for _ in range(2)]),
        # An anchor that is compared with several placements is drawn once.
        ("locks_against_anchors", "line", ["mixed"] * 2 + ["all remote"] * 2 + ["opteron"]),
    ],
)
def test_each_chart_draws_its_rows_in_order(name: str, column: str, order: list[str]) -> None:
    """Parts are stacked as the legend lists them, and published figures follow simulated ones."""
    spec = MADE[name]().to_dict()
    (rows,) = spec["datasets"].values()
    assert [row[column] for row in rows] == order
    assert len(charts.png(spec)) > 6_000
