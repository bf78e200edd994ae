# SPDX-License-Identifier: GPL-2.0-or-later
"""What was simulated and measured, and how it stands to what was published.

Columns
-------
DIRECTIONS.base, PAIRED.base : the figure without the change
DIRECTIONS.value, PAIRED.value : the figure with the change
simulated_verdict, measured_verdict : whether the figure agrees with the published one
row : the row of the mail's profile or table
published_third, simulated_third [%] : the same for the third mail
published_together, simulated_together [%] : the same for both mails, as a geometric mean
agrees : whether the figures differ by no more than the tolerance
source : published, simulated or measured
n_tasks : tasks that swap
rounds : number of rounds (measured) or seeds (simulated)
median : the median over the rounds
size : the size of the part, as the experiment names it
apart_percent : from the measured to the simulated figure, in percent
base_kernel, value_kernel : the claim's kernel without the change; the one with it
claimed : whether the figure falls, rises or stays, by the claim
seen : whether it falls or rises by the rounds; either, if they do not tell
says : whether the rounds are for or against the claim, however few there are
base_policy : the policy that ``policy`` is compared with
set : the set of slots
first : the first slot of the row
count : how many slots it has
open_low, open_high : lowest and highest over the settings of the simulation that are open
measured_low, measured_high : the interval of the measured median
WORLD_AND_LAB.factor : the larger figure divided by the smaller one
near : whether that factor is small enough
pairs : pairs of rule sets that the real kernel tells apart
in_order : pairs that the simulation has in the same order
holds : whether it has all pairs in order
lab, world : base -> value, in the real kernel; in the simulation
like_the_mail : which of the two shows what is claimed
"""

from typing import Final

import polars as pl

from swapsim.frames.table import schema_of

VERDICT: Final = pl.Enum(
    ["agrees", "contradicts", "open", "not simulated", "not measured", "not judged"]
)
"""How a result stands to a claim; open: its range over the fits is too wide to say; not judged: no
figure is published, or no tolerance stored."""

THREE_COLUMNS: Final = schema_of(
    {
        "claim": pl.String,
        "patch": pl.String,
        "metric": pl.String,
        "published": pl.Float64,
        "simulated": pl.Float64,
        "measured": pl.Float64,
        "unit": pl.String,
        "tolerance": pl.Float64,
        "simulated_verdict": VERDICT,
        "measured_verdict": VERDICT,
    }
)
"""One row per claim: published beside simulated beside measured, with a verdict on each."""

GROWTH_IN_BOTH_MAILS: Final = schema_of(
    {
        "row": pl.String,
        "published": pl.Float64,
        "published_third": pl.Float64,
        "published_together": pl.Float64,
        "simulated": pl.Float64,
        "simulated_third": pl.Float64,
        "simulated_together": pl.Float64,
        "tolerance": pl.Float64,
        "agrees": pl.Boolean,
    }
)
"""One row per profile row that patch D's first mail and its third print: by how many percent it
grows in each and in both together, and how far the simulated figure for both may lie off."""

SOURCE: Final = pl.Enum(["published", "simulated", "measured"])
"""The three columns that stand side by side."""

RESULTS: Final = schema_of(
    {
        "patch": pl.String,
        "source": SOURCE,
        "kernel": pl.String,
        "policy": pl.String,
        "n_tasks": pl.UInt32,
        "seed": pl.UInt64,
        "metric": pl.String,
        "value": pl.Float64,
        "unit": pl.String,
    }
)
"""Results in long form: one row per metric of one run."""

MEDIANS: Final = schema_of(
    {
        "patch": pl.String,
        "source": SOURCE,
        "kernel": pl.String,
        "policy": pl.String,
        "n_tasks": pl.UInt32,
        "metric": pl.String,
        "unit": pl.String,
        "rounds": pl.UInt32,
        "median": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
)
"""RESULTS over their rounds: the median of each metric and the interval that holds it."""

MEDIANS_BY_SIZE: Final = schema_of({"size": pl.String, **MEDIANS})
"""MEDIANS of an experiment whose runs have parts of several sizes; metric is told without it."""

WORLD_AND_LAB: Final = schema_of(
    {
        "metric": pl.String,
        "policy": pl.String,
        "unit": pl.String,
        "simulated": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "open_low": pl.Float64,
        "open_high": pl.Float64,
        "measured": pl.Float64,
        "measured_low": pl.Float64,
        "measured_high": pl.Float64,
        "factor": pl.Float64,
        "near": pl.Boolean,
    }
)
"""A row of a world beside the same of a real kernel, by one rule set: medians over seeds and over
rounds with their intervals, the world's medians at what is open of its constants, how many times
the larger is the smaller, and whether that is near enough."""

WORLD_AND_LAB_ORDER: Final = schema_of(
    {
        "metric": pl.String,
        "pairs": pl.UInt32,
        "in_order": pl.UInt32,
        "open_low": pl.UInt32,
        "open_high": pl.UInt32,
        "holds": pl.Boolean,
    }
)
"""Of the pairs of rule sets that a real kernel tells apart in a row, how many a world has in the
same order; at what is open of its constants the fewest and the most; whether it has all."""

HELD_AGAINST: Final = schema_of(
    {
        "policy": pl.String,
        "metric": pl.String,
        "unit": pl.String,
        "simulated": pl.Float64,
        "measured": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "apart_percent": pl.Float64,
        "agrees": pl.Boolean,
    }
)
"""A simulated count beside the median of a real kernel's rounds and its interval: how far apart
they are, in percent of the measured one, and whether that is within the tolerance."""

DIRECTION: Final = pl.Enum(["falls", "rises", "stays"])
"""Where a claim says that a figure goes."""

SEEN: Final = pl.Enum(["falls", "rises", "either"])
"""Where rounds say that it goes; either: their interval holds both signs."""

SAYS: Final = pl.Enum(["for", "against", "neither"])
"""What the interval of the rounds says of a claim, however many there are."""

DIRECTION_VERDICT: Final = pl.Enum(["holds", "contradicted", "open"])
"""How rounds stand to a claim's direction; open: they do not tell, or there are too few."""

WORLD_LAB_MAIL: Final = schema_of(
    {
        "claim": pl.String,
        "claimed": DIRECTION,
        "lab": pl.String,
        "world": pl.String,
        "like_the_mail": pl.String,
    }
)
"""A claimed direction on which a real kernel and a world do not agree: base -> value of each, and
which of them sees what is claimed; neither where both leave it open, or one against the other."""

DIRECTIONS: Final = schema_of(
    {
        "claim": pl.String,
        "row": pl.String,
        "base_kernel": pl.String,
        "value_kernel": pl.String,
        "claimed": DIRECTION,
        "published": pl.Float64,
        "rounds": pl.UInt32,
        "base": pl.Float64,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "seen": SEEN,
        "says": SAYS,
        "verdict": DIRECTION_VERDICT,
    }
)
"""One row per claim of direction that was measured: its published change in percent (null: words
alone), the medians of both kernels, and the interval of the paired difference, in their unit."""

PAIRED: Final = schema_of(
    {
        "metric": pl.String,
        "unit": pl.String,
        "base_policy": pl.String,
        "policy": pl.String,
        "rounds": pl.UInt32,
        "base": pl.Float64,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "seen": SEEN,
    }
)
"""One row per metric and pair of policies: the medians of both, and the interval of the median of
the rounds' differences; a round of one is held against the same round of the other."""

SLOTS_IN_USE: Final = schema_of(
    {
        "policy": pl.String,
        "seed": pl.UInt64,
        "set": pl.String,
        "first": pl.UInt32,
        "count": pl.UInt32,
    }
)
"""One row per run of neighbouring swap slots that a set has in use: ``count`` from ``first`` on, in
order. Policy and seed are those of the RESULTS that were measured with them."""
