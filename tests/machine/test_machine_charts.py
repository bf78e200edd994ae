# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the machine draw the rows that they are given."""

from functools import partial

import polars as pl

from swapsim import charts
from swapsim.charts.colours import PARTS
from swapsim.machine import charts as machine_charts

PAGE = pl.DataFrame(
    [(kernel, part, 1.0) for kernel in ("patched", "base") for part in reversed(PARTS)],
    schema=["kernel", "part", "microseconds"],
    orient="row",
)
MADE = {"time_per_page": partial(machine_charts.time_per_page, PAGE, "T")}


def test_parts_are_stacked_as_the_legend_lists_them() -> None:
    """And drawn with their kernels."""
    spec = MADE["time_per_page"]().to_dict()
    (rows,) = spec["datasets"].values()
    assert [row["part"] for row in rows] == [part for part in PARTS for _ in range(2)]
    assert len(charts.png(spec)) > 6_000
