# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the models' constants: costs of work, and facts that no source publishes."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import Column, Table

CONSTANTS: Final = Table(
    "CONSTANTS",
    "One row per constant of a model: the contention machine (data/costs.csv), the reclaim "
    "simulator of patch C's mail (data/reclaim.csv), or that of the lab guest "
    "(data/reclaim-lab-guest.csv).",
    Column(
        "name", pl.String, "constant; a cost has the name of its field in machine.h or reclaim.h"
    ),
    Column("value", pl.Int64, "value that the model uses"),
    Column("low", pl.Int64, "lowest value that the source allows"),
    Column("high", pl.Int64, "highest value that the source allows"),
    columns.UNIT,
    Column("source", pl.String, "where the value comes from"),
)
