# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of patch C: the simulation judged by the mail's tables."""

from typing import Final

import polars as pl

from swapsim.claims.tables import SIMULATED_VERDICT, STANDING
from swapsim.frames import columns
from swapsim.frames.table import Column, Table

SIMULATED_VERDICTS: Final = Table(
    "SIMULATED_VERDICTS",
    "One row per row of the mail's tables; a judgement that its tolerances do not ask for is null.",
    columns.TABLE,
    Column("metric", pl.String, "row of the mail's table"),
    Column("standing", STANDING.dtype, "what the simulator does with the row"),
    Column("order", SIMULATED_VERDICT.dtype, "whether the three kernels are in the mail's order"),
    Column("inside", pl.UInt8, "cells within the allowed factor of the mail"),
    Column("cells", pl.UInt8, "cells that are judged by size"),
    Column("change", pl.Float64, "published change from mmotm to the series", "%"),
    Column("points", pl.Float64, "simulated change from mmotm to the series", "%"),
    Column("size", SIMULATED_VERDICT.dtype, "whether the two changes are as near as required"),
    Column("direction", SIMULATED_VERDICT.dtype, "whether the simulated change is below zero"),
    Column("collapse", pl.Boolean, "whether 3.9 collapses and the others do not"),
    columns.NOTE,
)
