# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader measured, which claim each of his metrics fits, and his figures beside the three.

Columns
-------
test : the test that gave the figure; empty if nobody says
YOUR_RUNS.kernel : the kernel, by the reader's own label
YOUR_RUNS.metric, UNMATCHED.metric : the metric, by the name that its tool gives it
YOUR_RUNS.value : the figure of one run
YOUR_RUNS.unit, UNMATCHED.unit : its unit; empty if nobody says
YOUR_METRICS.metric : a metric, by the name that its tool gives it
run : number of the run
source_file : file and version of the tool that the name comes from
your_metric : the reader's metric that fits the claim
FOUR_COLUMNS.published [%] : change, as the mail prints it
FOUR_COLUMNS.simulated, FOUR_COLUMNS.measured [%] : change that the model gives; that a real kernel
    gave
FOUR_COLUMNS.tolerance [points] : how far a change may be from the published one and agree
yours [%] : change from the reader's base to his patched kernel, of the means over his runs
spread [points] : one standard deviation of that change, from those of the runs on both sides; null
    with one run on either
base_runs, patched_runs : how many runs there are on each side
simulated_verdict, measured_verdict : whether the figure agrees with the published one
your_verdict : how the reader's change stands to the published one
runs : how many runs have the metric, of both kernels
why : why it fits no claim
"""

from typing import Final

import polars as pl

from swapsim.claims.tables import THREE_COLUMNS, VERDICT
from swapsim.frames.table import schema_of

YOUR_RUNS: Final = schema_of(
    {
        "kernel": pl.String,
        "test": pl.String,
        "metric": pl.String,
        "value": pl.Float64,
        "unit": pl.String,
        "run": pl.Int64,
    }
)
"""A reader's measurements: one row per kernel, test, metric and run."""

YOUR_METRICS: Final = schema_of(
    {
        "test": pl.String,
        "metric": pl.String,
        "claim": pl.String,
        "source_file": pl.String,
    }
)
"""Which claim a tool's metric fits: one row per test, metric and claim."""

FOUR_COLUMNS: Final = schema_of(
    {
        "claim": pl.String,
        "your_metric": pl.String,
        **{name: dtype for name, dtype in THREE_COLUMNS.items() if name not in ("claim", "unit")},
        "yours": pl.Float64,
        "spread": pl.Float64,
        "base_runs": pl.UInt32,
        "patched_runs": pl.UInt32,
        "your_verdict": VERDICT,
    }
)
"""THREE_COLUMNS with a reader's own: one row per claim that is a change and metric that fits."""

UNMATCHED: Final = schema_of(
    {"test": pl.String, "metric": pl.String, "unit": pl.String, "runs": pl.UInt32, "why": pl.String}
)
"""A reader's metrics that stand beside no claim, and why."""
