# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch B: its workload, the sweeps over memory, the noise of the mail, its verdicts."""

from typing import Final

import polars as pl

from swapsim.claims.tables import VERDICT
from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, RATIO, Column, Table, Vocabulary
from swapsim.machine.tables import HOLDS_BY_LIST, PREDICTED_BY_SHARES

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

_UNEVEN: Final = Column(
    "uneven_percent", pl.Float64, "how far the time of a thread's accesses lies from the mean"
)
_CHANCE: Final = Column(
    "chance", pl.Float64, "probability that two equal kernels change by as much", RATIO
)
_NULL_LOW: Final = Column(
    "null_low", pl.Float64, "lower end of 95 % of the changes between equal kernels", "%"
)
_NULL_HIGH: Final = Column(
    "null_high", pl.Float64, "upper end of 95 % of the changes between equal kernels", "%"
)

PREDICTED_BY_POINTS: Final = Table(
    "PREDICTED_BY_POINTS",
    "One row per claim and combination of what patch B's mail leaves open. A change is that of the "
    "means of all simulated runs; an interval is that of the change between means of seven.",
    PREDICTED_BY_SHARES["tag_share"],
    HOLDS_BY_LIST["next_share"],
    _UNEVEN,
    columns.CLAIM,
    columns.PUBLISHED,
    columns.TOLERANCE,
    Column("base", pl.Float64, "mean of vanilla's simulated runs", "s"),
    Column("patched", pl.Float64, "mean of the patched kernel's simulated runs", "s"),
    Column("simulated", pl.Float64, "simulated change", "%"),
    Column(
        "seven_low", pl.Float64, "lower end of 95 % of changes between means of seven runs", "%"
    ),
    Column(
        "seven_high", pl.Float64, "upper end of 95 % of changes between means of seven runs", "%"
    ),
    _NULL_LOW,
    _NULL_HIGH,
    _CHANCE,
    Column("spread_percent", pl.Float64, "standard deviation of vanilla's runs"),
    Column("faults_percent", pl.Float64, "share of vanilla's accesses that fault"),
)

NULL_CHANGES: Final = Table(
    "NULL_CHANGES",
    "One row per unevenness, number of threads and part of the changes of elapsed time between two "
    "equal kernels: the change below which this part lies.",
    _UNEVEN,
    Column("threads", pl.UInt32, "number of threads"),
    Column("part_percent", pl.Float64, "part of the changes that lie below"),
    Column("change_percent", pl.Float64, "change between means of seven runs"),
)

SWEEP_SETTINGS: Final = Table(
    "SWEEP_SETTINGS",
    "One row per setting of the sweeps and number of threads: vanilla's runs.",
    Column("setting", pl.String, "what is changed against the middle"),
    Column("threads", pl.UInt32, "number of threads"),
    Column("elapsed_s", pl.Float64, "mean elapsed time"),
    Column("spread_percent", pl.Float64, "standard deviation of a run"),
    Column("faults_percent", pl.Float64, "share of the accesses that fault"),
)

NOISE_OF_ROWS: Final = Table(
    "NOISE_OF_ROWS",
    "One row per usemem row of the mail: what two equal kernels show, by the noise that the mail "
    "prints and by sweeps whose speeds are uneven.",
    columns.CLAIM,
    columns.PUBLISHED,
    Column("mail_error", pl.Float64, "standard deviation of the change by the mail's noise", "%"),
    Column("mail_chance", pl.Float64, "chance of such a change by the mail's noise", RATIO),
    _NULL_LOW,
    _NULL_HIGH,
    Column("chance_low", pl.Float64, "least chance by the sweeps, over the unevenness", RATIO),
    Column("chance_high", pl.Float64, "greatest chance by the sweeps, over the unevenness", RATIO),
)

HELD_OUT: Final = Table(
    "HELD_OUT",
    "One row per figure of the mail's vanilla kernel that no constant was fitted to.",
    Column("what", pl.String, "what is compared"),
    columns.PUBLISHED,
    columns.TOLERANCE,
    Column("simulated", pl.Float64, "figure at the middle of what is open", BY_ROW),
    columns.LOW,
    columns.HIGH,
    Column("verdict", VERDICT.dtype, "whether the simulated figure agrees"),
)
