# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of what is published, simulated and measured, and of their comparison."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, RATIO, Column, Table, Vocabulary

PER: Final = Vocabulary(
    "PER",
    "What a comparison is made for: the complete run, or each second of it.",
    ("run", "second"),
)

VERDICT: Final = Vocabulary(
    "VERDICT",
    "How a result stands to a claim; open: its range over the fits is too wide to say; not "
    "judged: no figure is published, or no tolerance stored.",
    (
        "agrees",
        "contradicts",
        "open",
        "not simulated",
        "not measured",
        "not judged",
    ),
)

_PATCH: Final = Column("patch", pl.String, "the patch, by its folder's name under patches/")
_SIMULATED: Final = Column("simulated", pl.Float64, "what the model gives", BY_ROW)
_MEASURED: Final = Column("measured", pl.Float64, "what a real kernel gave", BY_ROW)
_SIMULATED_VERDICT: Final = Column(
    "simulated_verdict", VERDICT.dtype, "whether the figure agrees with the published one"
)
_MEASURED_VERDICT: Final = Column(
    "measured_verdict", VERDICT.dtype, "whether the figure agrees with the published one"
)
THREE_COLUMNS: Final = Table(
    "THREE_COLUMNS",
    "One row per claim: published beside simulated beside measured, with a verdict on each.",
    columns.CLAIM,
    _PATCH,
    columns.METRIC,
    columns.PUBLISHED,
    _SIMULATED,
    _MEASURED,
    columns.UNIT,
    columns.TOLERANCE,
    _SIMULATED_VERDICT,
    _MEASURED_VERDICT,
)

_ROW: Final = Column("row", pl.String, "the row of the mail's profile or table")
_AGREES: Final = Column(
    "agrees", pl.Boolean, "whether the figures differ by no more than the tolerance"
)
GROWTH_IN_BOTH_MAILS: Final = Table(
    "GROWTH_IN_BOTH_MAILS",
    "One row per profile row that patch D's first mail and its third print: by how many "
    "percent it grows in each and in both together, and how far the simulated figure for "
    "both may lie off.",
    _ROW,
    columns.PUBLISHED,
    Column("published_third", pl.Float64, "the same for the third mail", "%"),
    Column("published_together", pl.Float64, "the same for both mails, as a geometric mean", "%"),
    _SIMULATED,
    Column("simulated_third", pl.Float64, "the same for the third mail", "%"),
    Column("simulated_together", pl.Float64, "the same for both mails, as a geometric mean", "%"),
    columns.TOLERANCE,
    _AGREES,
)

SOURCE: Final = Vocabulary(
    "SOURCE",
    "The three columns that stand side by side.",
    (
        "published",
        "simulated",
        "measured",
    ),
)

_SOURCE: Final = Column("source", SOURCE.dtype, "published, simulated or measured")
_N_TASKS: Final = Column("n_tasks", pl.UInt32, "tasks that swap")
RESULTS: Final = Table(
    "RESULTS",
    "Results in long form: one row per metric of one run.",
    _PATCH,
    _SOURCE,
    columns.KERNEL,
    columns.POLICY,
    _N_TASKS,
    columns.SEED,
    columns.METRIC,
    columns.VALUE,
    columns.UNIT,
)

_ROUNDS: Final = Column("rounds", pl.UInt32, "number of rounds (measured) or seeds (simulated)")
_MEDIAN: Final = Column("median", pl.Float64, "the median over the rounds", BY_ROW)
MEDIANS: Final = Table(
    "MEDIANS",
    "RESULTS over their rounds: the median of each metric and the interval that holds it.",
    _PATCH,
    _SOURCE,
    columns.KERNEL,
    columns.POLICY,
    _N_TASKS,
    columns.METRIC,
    columns.UNIT,
    _ROUNDS,
    _MEDIAN,
    columns.LOW,
    columns.HIGH,
)

MEDIANS_BY_SIZE: Final = Table(
    "MEDIANS_BY_SIZE",
    "MEDIANS of an experiment whose runs have parts of several sizes; metric is told without it.",
    Column("size", pl.String, "the size of the part, as the experiment names it"),
    *MEDIANS.columns,
)

SIMULATED_AND_LAB: Final = Table(
    "SIMULATED_AND_LAB",
    "A row of the simulation and of a real kernel, by one rule set: medians over seeds and over "
    "rounds with their intervals, and the range of the simulated medians over its open constants.",
    columns.METRIC,
    columns.POLICY,
    columns.UNIT,
    _SIMULATED,
    columns.LOW,
    columns.HIGH,
    Column(
        "open_low",
        pl.Float64,
        "lowest and highest over the settings of the simulation that are open",
        BY_ROW,
    ),
    Column(
        "open_high",
        pl.Float64,
        "lowest and highest over the settings of the simulation that are open",
        BY_ROW,
    ),
    _MEASURED,
    Column("measured_low", pl.Float64, "the interval of the measured median", BY_ROW),
    Column("measured_high", pl.Float64, "the interval of the measured median", BY_ROW),
    Column("factor", pl.Float64, "the larger figure divided by the smaller one", RATIO),
    Column("near", pl.Boolean, "whether that factor is small enough"),
)

ORDER_IN_LAB: Final = Table(
    "ORDER_IN_LAB",
    "One row per row of the lab: how many of the pairs of rule sets that a real kernel "
    "distinguishes are simulated in the same order.",
    columns.METRIC,
    Column("pairs", pl.UInt32, "pairs of rule sets that the real kernel tells apart"),
    Column("in_order", pl.UInt32, "pairs that the simulation has in the same order"),
    Column(
        "open_low",
        pl.UInt32,
        "lowest and highest over the settings of the simulation that are open",
    ),
    Column(
        "open_high",
        pl.UInt32,
        "lowest and highest over the settings of the simulation that are open",
    ),
    Column("holds", pl.Boolean, "whether it has all pairs in order"),
)

HELD_AGAINST: Final = Table(
    "HELD_AGAINST",
    "A simulated count beside the median of a real kernel's rounds and its interval: how far"
    " apart they are, in percent of the measured one, and whether that is within the "
    "tolerance.",
    columns.POLICY,
    columns.METRIC,
    columns.UNIT,
    _SIMULATED,
    _MEASURED,
    columns.LOW,
    columns.HIGH,
    Column("apart_percent", pl.Float64, "from the measured to the simulated figure, in percent"),
    _AGREES,
)

DIRECTION: Final = Vocabulary(
    "DIRECTION",
    "Where a claim says that a figure goes.",
    (
        "falls",
        "rises",
        "stays",
    ),
)

SEEN: Final = Vocabulary(
    "SEEN",
    "Where rounds say that it goes; either: their interval holds both signs.",
    (
        "falls",
        "rises",
        "either",
    ),
)

SAYS: Final = Vocabulary(
    "SAYS",
    "What the interval of the rounds says of a claim, however many there are.",
    (
        "for",
        "against",
        "neither",
    ),
)

DIRECTION_VERDICT: Final = Vocabulary(
    "DIRECTION_VERDICT",
    "How rounds stand to a claim's direction; open: they do not tell, or there are too few.",
    (
        "holds",
        "contradicted",
        "open",
    ),
)

_CLAIMED: Final = Column(
    "claimed", DIRECTION.dtype, "whether the figure falls, rises or stays, by the claim"
)
DIRECTIONS_PARTED: Final = Table(
    "DIRECTIONS_PARTED",
    "A claimed direction on which a real kernel and the simulation do not agree: base -> value "
    "of each, and which of them agrees with the claim: lab, simulation, or neither.",
    columns.CLAIM,
    _CLAIMED,
    Column("lab", pl.String, "base -> value, in the real kernel"),
    Column("simulation", pl.String, "base -> value, in the simulation"),
    Column("like_the_mail", pl.String, "which of the two shows what is claimed"),
)

_BASE: Final = Column("base", pl.Float64, "the figure without the change", BY_ROW)
_VALUE: Final = Column("value", pl.Float64, "the figure with the change", BY_ROW)
_SEEN: Final = Column(
    "seen", SEEN.dtype, "whether it falls or rises by the rounds; either, if they do not tell"
)
DIRECTIONS: Final = Table(
    "DIRECTIONS",
    "One row per claim of direction that was measured: its published change in percent "
    "(null: words alone), the medians of both kernels, and the interval of the paired "
    "difference, in their unit.",
    columns.CLAIM,
    _ROW,
    Column("base_kernel", pl.String, "the claim's kernel without the change; the one with it"),
    Column("value_kernel", pl.String, "the claim's kernel without the change; the one with it"),
    _CLAIMED,
    columns.PUBLISHED,
    _ROUNDS,
    _BASE,
    _VALUE,
    columns.LOW,
    columns.HIGH,
    _SEEN,
    Column(
        "says", SAYS.dtype, "whether the rounds are for or against the claim, however few there are"
    ),
    Column("verdict", DIRECTION_VERDICT.dtype, "whether the result agrees with the claim"),
)

PAIRED: Final = Table(
    "PAIRED",
    "One row per metric and pair of policies: the medians of both, and the interval of the "
    "median of the rounds' differences; a round of one is held against the same round of the"
    " other.",
    columns.METRIC,
    columns.UNIT,
    Column("base_policy", pl.String, "the policy that ``policy`` is compared with"),
    columns.POLICY,
    _ROUNDS,
    _BASE,
    _VALUE,
    columns.LOW,
    columns.HIGH,
    _SEEN,
)

SLOTS_IN_USE: Final = Table(
    "SLOTS_IN_USE",
    "One row per run of neighbouring swap slots that a set has in use: ``count`` from "
    "``first`` on, in order. Policy and seed are those of the RESULTS that were measured "
    "with them.",
    columns.POLICY,
    columns.SEED,
    Column("set", pl.String, "the set of slots"),
    Column("first", pl.UInt32, "the first slot of the row"),
    Column("count", pl.UInt32, "how many slots it has"),
)

BETTER: Final = Vocabulary(
    "BETTER",
    "Which direction of a metric is the better one.",
    (
        "higher",
        "lower",
        "neither",
    ),
)

_MAIL: Final = Column("mail", pl.String, "the mail, by its name in data/published/mails.csv")
_LOCATOR: Final = Column(
    "locator",
    pl.String,
    "where it is printed: ``table | row | kernel``, for a claim ``where | row | base kernel "
    "-> value kernel``",
)
_DECIMALS: Final = Column("decimals", pl.UInt8, "digits after the point")
_STDDEV_PERCENT: Final = Column(
    "stddev_percent", pl.Float64, "relative standard deviation, where one is printed"
)
_BETTER: Final = Column("better", BETTER.dtype, "whether higher or lower is better")
PUBLISHED: Final = Table(
    "PUBLISHED",
    "One row per printed cell of a mail's table (data/published).",
    _PATCH,
    _MAIL,
    _LOCATOR,
    columns.TABLE,
    columns.METRIC,
    Column("parameters", pl.String, "the test's settings, as ``name=value`` pairs"),
    columns.KERNEL,
    columns.VALUE,
    Column("printed", pl.String, "the figure's text as printed"),
    _DECIMALS,
    _STDDEV_PERCENT,
    Column(
        "change_percent_printed",
        pl.String,
        "the percentage printed beside the cell, as text; as a number",
    ),
    Column(
        "change_percent", pl.Float64, "the percentage printed beside the cell, as text; as a number"
    ),
    columns.UNIT,
    _BETTER,
)

HAND: Final = Vocabulary(
    "HAND",
    "Where a mail's figures are from: copied from its text, or as they were noted when it "
    "was read.",
    (
        "first",
        "second",
    ),
)

MAILS: Final = Table(
    "MAILS",
    "One row per mail whose figures are in data/published.",
    _MAIL,
    _PATCH,
    Column("hand", HAND.dtype, "first, if copied from the mail; second, if from notes on it"),
    Column("message", pl.String, "its message id, or another name for it"),
)

CLAIMS: Final = Table(
    "CLAIMS",
    "One row per published claim, in a table or in prose, against its own base. ``change`` "
    "is ``100 * (value - base) / base`` in percent with its plain sign (as the mail prints "
    "it, where it does), ``error`` one standard deviation of it in points. ``locator`` reads"
    " ``table | row | base kernel -> value kernel``; the kernels are the labels of PUBLISHED"
    " and RESULTS.",
    columns.CLAIM,
    _PATCH,
    _MAIL,
    _LOCATOR,
    columns.METRIC,
    _BASE,
    _VALUE,
    Column("change", pl.Float64, "from base to value; positive is more", "%"),
    Column("error", pl.Float64, "one standard deviation of the change, in points", "points"),
    columns.UNIT,
)

TOLERANCES: Final = Table(
    "TOLERANCES",
    "How far a result may lie from a claim's change (points) or, without one, from its value.",
    columns.CLAIM,
    Column(
        "tolerance",
        pl.Float64,
        "in percentage points of the change; without a change, in the value's unit",
        BY_ROW,
    ),
    columns.NOTE,
)

STANDING: Final = Vocabulary(
    "STANDING",
    "What a world says of a row; fitted: 3.9's cell was there to fit constants on.",
    (
        "fitted",
        "modelled",
        "not modelled",
    ),
)

SIMULATION_TOLERANCES: Final = Table(
    "SIMULATION_TOLERANCES",
    "What judges each row of patch 03's tables in the simulation; data/published/README.md has "
    "the rules. A cell up to ``nothing`` is none. ``points`` is how far the change from "
    "mmotm to the series may lie from the printed one, ``collapse`` the share of the round "
    "without a file that 3.9 alone falls below.",
    columns.TABLE,
    Column("metric", pl.String, "a row of the table"),
    Column(
        "standing",
        STANDING.dtype,
        "whether the simulation has the row, and whether constants were fitted to it",
    ),
    Column("per", PER.dtype, "whether figures are compared for the whole run or per second"),
    Column("nothing", pl.Float64, "a printed cell up to this counts as zero", BY_ROW),
    Column(
        "points",
        pl.Float64,
        "how far the change from mmotm to the series may be from the printed one",
        "points",
    ),
    Column(
        "collapse", pl.Float64, "only 3.9 falls below this share of its rate without a file", RATIO
    ),
    columns.NOTE,
)

CARDS: Final = Table(
    "CARDS",
    "One row per patch card; a headline is a claim that README leads with, and its words.",
    _PATCH,
    Column("title", pl.String, "the patch in one line"),
    Column("author", pl.String, "who wrote the patch"),
    Column("date", pl.String, "when it was posted"),
    Column("message_id", pl.String, "message id of the patch's mail"),
    Column("fate", pl.String, "what became of it"),
    Column("before", pl.String, "the kernel without the patch; the kernel with it"),
    Column("after", pl.String, "the kernel without the patch; the kernel with it"),
    Column("claims", pl.List(pl.String), "names of its claims"),
    Column(
        "headlines", pl.List(pl.String), "the claims that README shows, each with its words there"
    ),
    Column(
        "contradicted", pl.List(pl.String), "claims in prose that the mail's own tables contradict"
    ),
    Column("model", pl.List(pl.String), "headers and functions that model it"),
    Column("not_modelled", pl.List(pl.String), "what is left out"),
    Column("body", pl.String, "the card's text, markdown"),
)

COMPARISON: Final = Table(
    "COMPARISON",
    "What a printed comparison is made of: one row per metric and kernel, the base kernel first.",
    columns.METRIC,
    columns.KERNEL,
    columns.VALUE,
    _DECIMALS,
    _STDDEV_PERCENT,
    _BETTER,
)

_TEST: Final = Column("test", pl.String, "the test that gave the figure; empty if nobody says")
_METRIC: Final = Column("metric", pl.String, "the metric, by the name that its tool gives it")
_UNIT: Final = Column("unit", pl.String, "its unit; empty if nobody says")
YOUR_RUNS: Final = Table(
    "YOUR_RUNS",
    "A reader's measurements: one row per kernel, test, metric and run.",
    Column("kernel", pl.String, "the kernel, by the reader's own label"),
    _TEST,
    _METRIC,
    Column("value", pl.Float64, "the figure of one run", BY_ROW),
    _UNIT,
    Column("run", pl.Int64, "number of the run"),
)

YOUR_METRICS: Final = Table(
    "YOUR_METRICS",
    "Which claim a tool's metric fits: one row per test, metric and claim.",
    _TEST,
    Column("metric", pl.String, "a metric, by the name that its tool gives it"),
    columns.CLAIM,
    Column("source_file", pl.String, "file and version of the tool that the name comes from"),
)

FOUR_COLUMNS: Final = Table(
    "FOUR_COLUMNS",
    "THREE_COLUMNS with a reader's own: one row per claim that is a change and metric that fits.",
    columns.CLAIM,
    Column("your_metric", pl.String, "the reader's metric that fits the claim"),
    _PATCH,
    columns.METRIC,
    Column("published", pl.Float64, "change, as the mail prints it", "%"),
    Column("simulated", pl.Float64, "change that the model gives; that a real kernel gave", "%"),
    Column("measured", pl.Float64, "change that the model gives; that a real kernel gave", "%"),
    Column(
        "tolerance",
        pl.Float64,
        "how far a change may be from the published one and agree",
        "points",
    ),
    _SIMULATED_VERDICT,
    _MEASURED_VERDICT,
    Column(
        "yours",
        pl.Float64,
        "change from the reader's base to his patched kernel, of the means over his runs",
        "%",
    ),
    Column(
        "spread",
        pl.Float64,
        "one standard deviation of that change, from those of the runs on both sides; null with "
        "one run on either",
        "points",
    ),
    Column("base_runs", pl.UInt32, "how many runs there are on each side"),
    Column("patched_runs", pl.UInt32, "how many runs there are on each side"),
    Column("your_verdict", VERDICT.dtype, "how the reader's change stands to the published one"),
)

UNMATCHED: Final = Table(
    "UNMATCHED",
    "A reader's metrics that stand beside no claim, and why.",
    _TEST,
    _METRIC,
    _UNIT,
    Column("runs", pl.UInt32, "how many runs have the metric, of both kernels"),
    Column("why", pl.String, "why it fits no claim"),
)

RANGE_VERDICT: Final = Vocabulary(
    "RANGE_VERDICT",
    "How a range stands to a published figure; open: it is too wide to say anything of it.",
    (
        "holds",
        "near",
        "misses",
        "open",
    ),
)

RANGES: Final = Table(
    "RANGES",
    "One row per claim: its change in percent as published, and from where to where several "
    "fits of the same base predict it; ``patched_low`` and ``patched_high`` are the patched "
    "kernel's figure.",
    columns.CLAIM,
    Column("published", pl.Float64, "the change as the mail prints it", "%"),
    Column("tolerance", pl.Float64, "how far a result may be from it and agree", "points"),
    Column("low", pl.Float64, "the lowest and the highest change that a fit predicts", "%"),
    Column("high", pl.Float64, "the lowest and the highest change that a fit predicts", "%"),
    Column("width", pl.Float64, "high minus low", "points"),
    Column("verdict", RANGE_VERDICT.dtype, "whether the result agrees with the claim"),
    columns.FLIPS,
    Column("patched_low", pl.Float64, "lowest and highest figure with the patch", BY_ROW),
    Column("patched_high", pl.Float64, "lowest and highest figure with the patch", BY_ROW),
    Column("fits", pl.UInt32, "number of fits in the range"),
)
