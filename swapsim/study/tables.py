# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the models' constants (costs of work, facts that no source publishes), and of ranks."""

from typing import Final

import polars as pl

from swapsim import tables as columns
from swapsim.tables import BY_ROW, Column, Table

CONSTANTS: Final = Table(
    "CONSTANTS",
    "One row per constant of a model: the contention machine (data/costs.csv), or the reclaim "
    "simulator (data/reclaim.csv).",
    Column(
        "name", pl.String, "constant; a cost has the name of its field in machine.h or reclaim.h"
    ),
    Column("value", pl.Int64, "value that the model uses"),
    Column("low", pl.Int64, "lowest value that the source allows"),
    Column("high", pl.Int64, "highest value that the source allows"),
    columns.UNIT,
    Column("source", pl.String, "where the value comes from"),
)

RANKING: Final = Table(
    "RANKING",
    "One row per metric and policy, a metric's best policy first. The figure of a run is the "
    "metric's value, or its change from the rules of 7.3 on the same requests.",
    columns.METRIC,
    columns.UNIT,
    Column("better", pl.String, "which direction of the metric is the better one"),
    Column(
        "rank",
        pl.String,
        "place in the order, or the places that the differences of runs with the same seed allow",
    ),
    Column("policy", pl.String, "policy, or alternative to a kernel's rules"),
    Column("user", pl.Boolean, "whether it is a user's own policy"),
    Column("median", pl.Float64, "median over the runs", BY_ROW),
    Column(
        "low",
        pl.Float64,
        "lower end of the median's exact interval of 95 %; the least figure of fewer than six runs",
        BY_ROW,
    ),
    Column(
        "high",
        pl.Float64,
        "upper end of that interval; the greatest figure of fewer than six runs",
        BY_ROW,
    ),
    Column(
        "better_than",
        pl.List(pl.String),
        "policies that are worse: the interval of the median difference, seed by seed, excludes 0",
    ),
    Column("tied_with", pl.List(pl.String), "policies that are neither better nor worse"),
    Column("lowest", pl.Float64, "lowest figure of a run", BY_ROW),
    Column("highest", pl.Float64, "highest figure of a run", BY_ROW),
    Column("runs", pl.UInt32, "number of runs: seeds, or streams and seeds"),
)
