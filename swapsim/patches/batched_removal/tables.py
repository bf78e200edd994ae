# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch B's files: its workload, and the costs of 4.8's locks."""

from typing import Final

import polars as pl

from swapsim import tables as columns
from swapsim.tables import RATIO, Column, Table, Vocabulary

WORKLOAD_STANDING: Final = Vocabulary(
    "WORKLOAD_STANDING",
    "How a value of the mail's workload is known: read in the mail, from the source of its test "
    "scripts, or inferred from either.",
    ("read", "source", "inferred"),
)

WORKLOAD: Final = Table(
    "WORKLOAD",
    "One row per value of the workload and the machine of patch B's mail (data/usemem.csv).",
    Column("name", pl.String, "name of the value"),
    columns.VALUE,
    columns.LOW,
    columns.HIGH,
    columns.UNIT,
    Column("standing", WORKLOAD_STANDING.dtype, "how the value is known"),
    Column("source", pl.String, "where it is from"),
)

LOCK_FITS: Final = Table(
    "LOCK_FITS",
    "One row per tag share and constant with which the machine meets patch A's base column "
    "(data/swap-cache-locks.csv).",
    Column("tag_share", pl.Float64, "hold for writeback tags / hold for an add", RATIO),
    Column("name", pl.String, "name of the constant, as in data/costs.csv"),
    Column("value", pl.Int64, "value of the constant"),
    columns.UNIT,
    Column("source", pl.String, "the fit that it is from"),
)
