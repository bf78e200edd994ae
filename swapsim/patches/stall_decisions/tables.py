# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch C: the simulation compared with the mail's tables, and a list of pages."""

from typing import Final

import polars as pl

from swapsim.claims.tables import SIMULATED_VERDICT, STANDING
from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, RATIO, Column, Table
from swapsim.stall.tables import STALL_PAGES

_METRIC: Final = Column("metric", pl.String, "row of the mail's table")
_RULES: Final = Column("rules", pl.String, "rule set, by the kernel that had it")

SIMULATED_CELLS: Final = Table(
    "SIMULATED_CELLS",
    "One row per cell of the mail's tables that is modelled.",
    columns.TABLE,
    _METRIC,
    _RULES,
    columns.PUBLISHED,
    Column("simulated", pl.Float64, "mean over the seeds", BY_ROW),
    Column("low", pl.Float64, "lowest figure over the seeds", BY_ROW),
    Column("high", pl.Float64, "highest figure over the seeds", BY_ROW),
    Column("ratio", pl.Float64, "simulated by published; null where either is zero", RATIO),
    Column("inside", pl.Boolean, "whether it is within the allowed factor of the mail"),
    Column("judged", pl.Boolean, "whether it is judged; a cell that gives a constant is not"),
)

SIMULATED_VERDICTS: Final = Table(
    "SIMULATED_VERDICTS",
    "One row per row of the mail's tables; a judgement that its tolerances do not ask for is null.",
    columns.TABLE,
    _METRIC,
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

LIST_OF_PAGES: Final = Table(
    "LIST_OF_PAGES",
    "One row per page of a list: in words, and as in STALL_PAGES.",
    Column("place", pl.UInt32, "position of the page on its list, from 1"),
    Column("page", pl.String, "the page in words"),
    *STALL_PAGES.columns,
    Column("locked", pl.Boolean, "whether another task holds its lock, so that reclaim skips it"),
)
