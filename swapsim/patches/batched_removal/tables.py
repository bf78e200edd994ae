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

SWEEP_RUNS: Final = Table(
    "SWEEP_RUNS",
    "One row per run of threads that sweep over their memory.",
    Column("threads", pl.UInt32, "number of threads"),
    columns.SEED,
    Column("elapsed_ns", pl.Int64, "time until the last thread ended"),
    Column("system_ns", pl.Int64, "CPU time of the threads' faults"),
    Column("accesses", pl.Int64, "accesses of all threads"),
    Column("faults", pl.Int64, "accesses to pages that were not in memory"),
    Column("pages_out", pl.Int64, "pages that were written to swap"),
    Column("out_of_swap", pl.Boolean, "whether the run ended because no slot was left"),
)
