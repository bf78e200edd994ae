# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch C: the simulation compared with the mail's tables, and a list of pages."""

from typing import Final

import polars as pl

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

LIST_OF_PAGES: Final = Table(
    "LIST_OF_PAGES",
    "One row per page of a list: in words, and as in STALL_PAGES.",
    Column("place", pl.UInt32, "position of the page on its list, from 1"),
    Column("page", pl.String, "the page in words"),
    *STALL_PAGES.columns,
    Column("locked", pl.Boolean, "whether another task holds its lock, so that reclaim skips it"),
)
