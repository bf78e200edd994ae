# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch B: its workload, the sweeps over memory, the noise of the mail, its verdicts."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import Column, Table, Vocabulary

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
