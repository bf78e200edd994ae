# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the models' constants."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import Column, Table

CONSTANTS: Final = Table(
    "CONSTANTS",
    "One row per constant: of the contention machine (data/costs.csv), of the world of patch"
    " C's mail (data/world.csv), or of the lab's guest as a world (data/guest.csv); low and "
    "high are what its source leaves open.",
    Column(
        "name",
        pl.String,
        "a constant; a cost is named after its field in ``machine.h`` or ``reclaim.h``",
    ),
    Column("value", pl.Int64, "the figure, in the unit of its row"),
    Column(
        "low",
        pl.Int64,
        "the lower and the upper end of the range, or of the interval of the median",
    ),
    Column(
        "high",
        pl.Int64,
        "the lower and the upper end of the range, or of the interval of the median",
    ),
    columns.UNIT,
    Column("source", pl.String, "where the value comes from"),
)
