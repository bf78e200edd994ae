# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of the slot allocator: held against a trace, and on the workbench.

Columns
-------
SLOT_CALLS.seq, SLOT_CALLS.cpu : those of the call's first row
wanted : slots that the call asked for
slots : slots that were handed out
exact : slots that the model hands out as well
raced : slots that differ because another task acted during an unlocked scan
mismatched : slots that differ without such an explanation
fault : in what the call first differs from the model's
cpus : CPUs of the machine
trunks : parts of the device with a swap cache and lock each, 64 MB unless said otherwise
calls : calls of the allocator
reuses : slots held only by the swap cache that the kernel tried
n_cpus : CPUs that ask for slots
SLOT_MEASURES.metric, SLOT_SWEEP.metric, SLOT_RANKING.metric : one of ``slots.METRICS``, or
    ``fairness``
SLOT_MEASURES.value, SLOT_SWEEP.value : the metric, a quotient of two counts; null where there is
    nothing to divide by
seeds : number of runs
mean : the mean over the seeds
SLOT_RANKING.low, SLOT_RANKING.high : the bootstrap interval of the mean
median, lowest, highest : the same over the seeds
better : which end of the metric is the better one
reader : whether it is a policy of the reader's own
POLICY_RANKING.low, POLICY_RANKING.high : the bootstrap interval of the median, 95 %
POLICY_RANKING.median : the median over the seeds
POLICY_RANKING.lowest, POLICY_RANKING.highest : the least and the most over the seeds
rank : 1 plus the number of policies that are certainly better
tied_with : policies whose interval overlaps this one's
asks : what was asked
guess : what was guessed in the mail thread
base_mean, base_low, base_high : mean and bootstrap interval of the side that is compared with
other_mean, other_low, other_high : mean and bootstrap interval of the side that was asked about
holds : whether the guess holds
base : the rule for where scans begin
tasks : whether tasks stay on their CPUs or change
pages_a_cpu : pages that a task swaps out between two changes of CPU
WANDERINGS.measured, WANDERINGS.simulated : share of slots in a trunk that another task uses as well
measured_low, measured_high, simulated_low, simulated_high : the intervals of these shares
"""

from typing import Final

import polars as pl

from swapsim.ffi import facts
from swapsim.frames.table import schema_of

SLOT_FAULT: Final = pl.Enum(facts.SLOT_FAULTS)
"""Where a call first differs from the model's, by the names of ``slot_replay.h``."""

SLOT_CALLS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "wanted": pl.UInt32,
        "slots": pl.UInt32,
        "exact": pl.UInt32,
        "raced": pl.UInt32,
        "mismatched": pl.UInt32,
        "fault": SLOT_FAULT,
    }
)
"""One row per call of a SLOT_EVENTS trace that ended, in the order of their ends: the slots that
it was given, and of these the ones that the model gives too, those that another task's rows inside
an unlocked scan explain, and the others. ``seq`` and ``cpu`` are those of the call's first row."""

VERIFIED_SLOTS: Final = schema_of(
    {
        "trace": pl.String,
        "cpus": pl.UInt32,
        "policy": pl.String,
        "trunks": pl.UInt32,
        "calls": pl.UInt32,
        "slots": pl.UInt64,
        "exact": pl.UInt64,
        "raced": pl.UInt64,
        "mismatched": pl.UInt64,
        "reuses": pl.UInt64,
    }
)
"""One row per SLOT_EVENTS trace: its set-up, and SLOT_CALLS added up. ``reuses`` are the slots
held by the swap cache alone that the kernel tried."""

_MEASURES: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "policy": pl.String,
    "n_cpus": pl.UInt32,
    "seed": pl.UInt64,
    "metric": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
}

SLOT_MEASURES: Final = schema_of(_MEASURES)
"""One row per metric of one run of the slot workbench; ``value`` is a quotient of counted numbers,
null where there was nothing to divide by. ``slots.METRICS`` says what each metric is."""

WANDERINGS: Final = schema_of(
    {
        "base": pl.String,
        "tasks": pl.String,
        "pages_a_cpu": pl.Float64,
        "measured": pl.Float64,
        "measured_low": pl.Float64,
        "measured_high": pl.Float64,
        "simulated": pl.Float64,
        "simulated_low": pl.Float64,
        "simulated_high": pl.Float64,
    }
)
"""One row per scan base and way of the tasks: which part of the slots lies in a trunk with another
task, measured and simulated; and how many pages a task swaps out between two changes of CPU."""

SLOT_SWEEP: Final = schema_of({"factor": pl.String, "setting": pl.String, **_MEASURES})
"""SLOT_MEASURES of many runs: the ``factor`` that was varied, and its ``setting``."""

SLOT_RANKING: Final = schema_of(
    {
        "factor": pl.String,
        "setting": pl.String,
        "policy": pl.String,
        "n_cpus": pl.UInt32,
        "metric": pl.String,
        "unit": pl.String,
        "seeds": pl.UInt32,
        "mean": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "median": pl.Float64,
        "lowest": pl.Float64,
        "highest": pl.Float64,
        "rank": pl.UInt32,
        "tied_with": pl.List(pl.String),
    }
)
"""One metric of a SLOT_SWEEP over its seeds: the mean with its bootstrap interval, the median, the
least and the most. A rank, within a setting, is one more than the policies whose interval is better
as a whole; ``tied_with`` are those whose interval overlaps."""

POLICY_RANKING: Final = schema_of(
    {
        "metric": pl.String,
        "unit": pl.String,
        "better": pl.String,
        "rank": pl.UInt32,
        "policy": pl.String,
        "reader": pl.Boolean,
        "median": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "tied_with": pl.List(pl.String),
        "lowest": pl.Float64,
        "highest": pl.Float64,
        "seeds": pl.UInt32,
    }
)
"""One row per metric and policy, a metric's best first: the median over the seeds with its
bootstrap interval, the least and the most. A rank is one more than the policies whose interval is
better as a whole; ``tied_with`` are those whose interval overlaps."""

SLOT_ANSWERS: Final = schema_of(
    {
        "claim": pl.String,
        "asks": pl.String,
        "guess": pl.String,
        "metric": pl.String,
        "base_mean": pl.Float64,
        "base_low": pl.Float64,
        "base_high": pl.Float64,
        "other_mean": pl.Float64,
        "other_low": pl.Float64,
        "other_high": pl.Float64,
        "holds": pl.Boolean,
    }
)
"""One row per question of patch D's thread: a metric on both sides of what was asked, with
bootstrap intervals over the seeds, and whether the guess holds."""
