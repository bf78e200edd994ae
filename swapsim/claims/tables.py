# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of what is published, simulated and measured, and of their comparison."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, RATIO, Column, Table, Vocabulary

BETTER: Final = Vocabulary(
    "BETTER", "Which direction of a metric is the better one.", ("higher", "lower", "neither")
)

HAND: Final = Vocabulary(
    "HAND",
    "Where a mail's figures are from: copied from its text, or from notes that were made of it.",
    ("first", "second"),
)

LINK: Final = Vocabulary(
    "LINK",
    "What a link leads to: a mail in the archive, a commit in Linus' tree, an article of LWN, or "
    "another source.",
    ("mail", "commit", "article", "source"),
)

SOURCE: Final = Vocabulary(
    "SOURCE", "The three columns that are compared.", ("published", "simulated", "measured")
)

STANDING: Final = Vocabulary(
    "STANDING",
    "What the simulator does with a row of the mail; fitted: constants were fitted to its cell of "
    "kernel 3.9.",
    ("fitted", "modelled", "not modelled"),
)

COVERS: Final = Vocabulary(
    "COVERS",
    "What a printed figure of patch 03 covers; iteration: the one with the fewest operations; run: "
    "the complete test; samples: the samples of 10 s of the complete test.",
    ("iteration", "run", "samples"),
)

KIND: Final = Vocabulary(
    "KIND",
    "What a claim states; change: a figure changes by so much; figure: a figure is so large; "
    "direction: it falls, rises, stays or vanishes; code: what the code does; guess: a reviewer's "
    "question or guess; remark: nothing that can be judged. data/published/rules.csv has the rule "
    "of judgement of each.",
    ("change", "figure", "direction", "code", "guess", "remark"),
)

SIMULATED_VERDICT: Final = Vocabulary(
    "SIMULATED_VERDICT",
    "How a model's answer compares with a claim; base not reproduced: the model misses the figure "
    "without the change by more than a factor of two, so its change is no answer; open: its range "
    "lies on both sides of an edge of what agrees, or no change would agree, too; not "
    "determinable: two equal kernels may differ as much, by the mail's own noise.",
    ("reproduced", "missed", "base not reproduced", "open", "not determinable", "not simulated"),
)

MEASURED_VERDICT: Final = Vocabulary(
    "MEASURED_VERDICT",
    "How the count of a real kernel compares with a claim; open: its rounds do not decide.",
    ("confirmed", "contradicted", "open", "not measured"),
)

SIZE: Final = Vocabulary(
    "SIZE",
    "Whether all of a measured interval agrees with the published change, or all of it does not.",
    ("as published", "other"),
)

REASON: Final = Vocabulary(
    "REASON",
    "Why a claim has no figure in a column.",
    (
        "no figure in the mail",
        "huge pages are not simulated",
        "inodes are not simulated",
        "the model has no such zone",
        "the model has no such counter",
        "the model has no such lock",
        "the model has no such caller",
        "the model has no time",
        "this test is not simulated",
        "the model has it by construction",
        "a replay has it by construction",
        "a constant is fitted to it",
        "time under emulation",
        "waits are counted by lock, not by call site",
        "the guest has no such zone",
        "the guest has no huge pages",
        "the kernel has no such counter",
        "a stand-in gives a direction only",
        "this test was not run",
        "no kernel with this rule was built",
    ),
)

RANGE_OVER: Final = Vocabulary(
    "RANGE_OVER",
    "What a range is over: all constants that the mail leaves open, the ages of patch D's bases, "
    "the seeds or rounds; interval: the exact interval of the median over seeds or rounds.",
    ("open constants", "ages", "seeds", "interval"),
)

DIRECTION: Final = Vocabulary(
    "DIRECTION",
    "How a figure changes by a claim; falls slightly: to a half at least; vanishes: to almost "
    "nothing.",
    ("falls", "rises", "stays", "vanishes", "falls slightly"),
)

SEEN: Final = Vocabulary(
    "SEEN",
    "How a figure changes by the rounds; either: their interval contains both signs.",
    ("falls", "rises", "either"),
)

_LOCATOR: Final = "where it is printed: "
_MAIL: Final = Column("mail", pl.String, "mail, by its name in data/published/mails.csv")
_DECIMALS: Final = Column("decimals", pl.UInt8, "digits after the decimal point")
_STDDEV: Final = Column(
    "stddev_percent", pl.Float64, "relative standard deviation; null where none is printed"
)
_BETTER: Final = Column("better", BETTER.dtype, "which direction of the metric is the better one")

PUBLISHED: Final = Table(
    "PUBLISHED",
    "One row per printed cell of a mail's table (data/published).",
    columns.PATCH,
    _MAIL,
    Column("locator", pl.String, f"{_LOCATOR}``table | row | kernel``"),
    columns.TABLE,
    columns.METRIC,
    Column("parameters", pl.String, "settings of the test, as ``name=value`` pairs"),
    columns.KERNEL,
    columns.VALUE,
    Column("printed", pl.String, "text of the figure as printed"),
    _DECIMALS,
    _STDDEV,
    Column("change_percent_printed", pl.String, "text of the change printed next to the cell"),
    Column("change_percent", pl.Float64, "change printed next to the cell"),
    columns.UNIT,
    _BETTER,
)

MAILS: Final = Table(
    "MAILS",
    "One row per mail whose figures are in data/published.",
    _MAIL,
    columns.PATCH,
    Column("hand", HAND.dtype, "whether figures were copied from the mail or from notes of it"),
    Column("message", pl.String, "message ID of the mail, or another name for it"),
)

LINKS: Final = Table(
    "LINKS",
    "One row per mail, commit, article or other source that our texts cite.",
    Column("name", pl.String, "mail, by its name in data/published/mails.csv, or another name"),
    Column("kind", LINK.dtype, "what the link leads to"),
    Column("target", pl.String, "message ID, commit, number of the article, or address; or null"),
    Column("title", pl.String, "its title, or what it is"),
    Column("author", pl.String, "author of a mail; else null"),
    Column("date", pl.String, "day of a mail in its author's time zone, as 2016-08-30; or null"),
    Column("merged", pl.String, "commit that merged a mailed patch in Linus' tree; else null"),
)

_BASE: Final = Column("base", pl.Float64, "figure without the change", BY_ROW)
_VALUE: Final = Column("value", pl.Float64, "figure with the change", BY_ROW)

CLAIMS: Final = Table(
    "CLAIMS",
    "One row per published claim, in a table or in prose, against its own base. Kernels have the "
    "labels of PUBLISHED and RESULTS.",
    columns.CLAIM,
    columns.PATCH,
    _MAIL,
    Column("locator", pl.String, f"{_LOCATOR}``where | row | base kernel -> value kernel``"),
    columns.METRIC,
    _BASE,
    _VALUE,
    Column(
        "change", pl.Float64, "change from base to value; as printed, where the mail has it", "%"
    ),
    Column("error", pl.Float64, "standard deviation of the change; null if not printed", "points"),
    columns.UNIT,
)

KINDS: Final = Table(
    "KINDS",
    "One row per claim: what it states, and so by which rule it is judged. Stored before it is "
    "judged.",
    columns.CLAIM,
    Column("kind", KIND.dtype, "what the claim states"),
    Column("claimed", DIRECTION.dtype, "direction that its words state; null without one"),
    Column("repeats", pl.String, "claim that states the same figure, which counts; else null"),
    Column("seen", pl.String, "columns that a page had shown before the rule: both, one, or null"),
)

_NAMES: Final = pl.List(pl.String)

CARD: Final = Table(
    "CARD",
    "One row per card of a patch: the fields of its front matter (TOML), all needed, and its text.",
    columns.PATCH,
    Column("title", pl.String, "subject of the mail, or what the card is on"),
    Column("author", pl.String, "who posted the patch; after a semicolon, others"),
    Column("date", pl.String, "day of the mail, as 2016-09-09; then other versions"),
    Column("outcome", pl.String, "what became of the patch; README shows the words up to a stop"),
    Column("before", pl.String, "kernel without the patch, as the mail names it"),
    Column("after", pl.String, "kernel with the patch"),
    Column("caveat", pl.String, "what to know of the verdicts; stands next to them"),
    Column("claims", _NAMES, "each claim of the patch, in the order of claims.csv"),
    Column("headlines", _NAMES, "main claims, the first one first: 'CLAIM: words', with a change"),
    Column("contradicted", _NAMES, "claims in prose that the mail's own table contradicts, or []"),
    Column("model", _NAMES, "headers of corelib/include/swapsim: 'NAME.h' or 'NAME.h: functions'"),
    Column("not_modelled", _NAMES, "what the model leaves out, each in words"),
    Column("body", pl.String, "the card's text below the front matter, in markdown"),
)

SECTIONS: Final = Table(
    "SECTIONS",
    "One row per table or place of a mail, in the mail's order.",
    _MAIL,
    Column("section", pl.String, "first part of a claim's locator"),
    Column("simulated", pl.String, "notebook and heading that compute the answers; null: none"),
    Column("measured", pl.String, "notebook and heading that show the counts; null: none"),
)

REASONS: Final = Table(
    "REASONS",
    "One row per group of printed rows without a figure of a source; the first that fits counts.",
    Column("mail", pl.String, "letter of the mail"),
    Column("table", pl.String, "names of its tables, as a regular expression"),
    Column("metric", pl.String, "names of their rows, as a regular expression"),
    Column("source", pl.String, "simulated or measured, as a regular expression"),
    Column("reason", pl.String, "why there is no figure, in a word or two"),
)

TOLERANCES: Final = Table(
    "TOLERANCES",
    "One row per claim: the largest difference of a result that agrees. It is stored before the "
    "result is known.",
    columns.CLAIM,
    Column(
        "tolerance", pl.Float64, "points of the change; without one, in the value's unit", BY_ROW
    ),
    columns.NOTE,
)

WINDOW: Final = Vocabulary(
    "WINDOW",
    "Part of a run of swap-w-seq: each task up to its own last page (write), from the first page "
    "out to the first task's last page (swap), or all of it with the exit (run).",
    ("write", "swap", "run"),
)

WINDOWS: Final = Table(
    "WINDOWS",
    "One row per metric of a tool: the part of a run that it describes. It is stored before the "
    "run.",
    Column("metric", pl.String, "name of the metric, or the begin of its name"),
    Column("window", WINDOW.dtype, "part of the run"),
    Column("fitted", pl.String, "kernel whose figure constants are fitted to; null if held out"),
    columns.NOTE,
)

_STANDING: Final = Column("standing", STANDING.dtype, "what the simulator does with the row")

SIMULATION_TOLERANCES: Final = Table(
    "SIMULATION_TOLERANCES",
    "One row per row of patch 03's tables: how simulated figures are judged; the rules are in "
    "data/published/stored-before.md.",
    columns.TABLE,
    Column("metric", pl.String, "row of the table"),
    _STANDING,
    Column("covers", COVERS.dtype, "what the printed figure covers"),
    Column("identifies", pl.String, "rule sets whose cell gives a constant, and is not judged"),
    Column("nothing", pl.Float64, "largest printed figure that counts as zero", BY_ROW),
    Column("points", pl.Float64, "largest distance from the printed change to series", "points"),
    Column("collapse", pl.Float64, "share of its rate without a file that only 3.9 misses", RATIO),
    columns.NOTE,
)

COMPARISON: Final = Table(
    "COMPARISON",
    "One row per metric and kernel of a printed comparison, the base kernel first.",
    columns.METRIC,
    columns.KERNEL,
    columns.VALUE,
    _DECIMALS,
    _STDDEV,
    _BETTER,
)

_SOURCE: Final = Column("source", SOURCE.dtype, "whether it is published, simulated or measured")
_N_TASKS: Final = Column("n_tasks", pl.UInt32, "number of tasks that swap")

RESULTS: Final = Table(
    "RESULTS",
    "One row per metric of one run.",
    columns.PATCH,
    _SOURCE,
    columns.KERNEL,
    columns.POLICY,
    _N_TASKS,
    columns.SEED,
    columns.METRIC,
    columns.VALUE,
    columns.UNIT,
)

_ROUNDS: Final = Column("rounds", pl.UInt32, "number of measured rounds or simulated seeds")

MEDIANS: Final = Table(
    "MEDIANS",
    "One row per metric and setting: RESULTS over their rounds.",
    columns.PATCH,
    _SOURCE,
    columns.KERNEL,
    columns.POLICY,
    _N_TASKS,
    columns.METRIC,
    columns.UNIT,
    _ROUNDS,
    Column("median", pl.Float64, "median over the rounds", BY_ROW),
    columns.LOW,
    columns.HIGH,
)

_CHANCE: Final = Column(
    "chance",
    pl.Float64,
    "probability that two equal kernels change by as much in its direction, by the mail's noise",
    RATIO,
)
_SIMULATED: Final = Column("simulated", pl.Float64, "figure of the model", BY_ROW)
_MEASURED: Final = Column("measured", pl.Float64, "figure of a real kernel", BY_ROW)
_SIMULATED_VERDICT: Final = Column(
    "simulated_verdict", SIMULATED_VERDICT.dtype, "how the model's answer compares with the claim"
)
_MEASURED_VERDICT: Final = Column(
    "measured_verdict", MEASURED_VERDICT.dtype, "how a real kernel's answer compares with the claim"
)
_RANGE_OVER: Final = Column("range_over", RANGE_OVER.dtype, "what low and high are the ends of")
_WHAT: Final = "where it is not the mail's own figure; else null"

ANSWERS: Final = Table(
    "ANSWERS",
    "One row per claim and source that has an answer. A change is in percent of the base, or in "
    "the unit of the figure where the base is zero.",
    columns.CLAIM,
    Column("source", SOURCE.dtype, "whether a model or a real kernel answers"),
    Column("what", pl.String, f"what was simulated or counted, {_WHAT}"),
    Column("base", pl.Float64, "figure without the change; null without one", BY_ROW),
    Column("value", pl.Float64, "figure with the change; null without one", BY_ROW),
    Column("figure", pl.Float64, "figure that is judged: the change, or the value", BY_ROW),
    columns.LOW,
    columns.HIGH,
    _RANGE_OVER,
    _ROUNDS,
    Column("base_ratio", pl.Float64, "base divided by the published one; null without one", RATIO),
    Column("base_spread", pl.Float64, "width of the interval of the base's own rounds", BY_ROW),
    Column("held", pl.UInt64, "cases in which a statement on the code holds; null for a figure"),
    Column("cases", pl.UInt64, "cases in which it could hold; null for a figure"),
)

CHANCES: Final = Table(
    "CHANCES", "One row per claim whose noise is known from its mail.", columns.CLAIM, _CHANCE
)

THREE_COLUMNS: Final = Table(
    "THREE_COLUMNS",
    "One row per claim: published, simulated and measured, with a verdict on each.",
    columns.CLAIM,
    columns.PATCH,
    _MAIL,
    *KINDS.columns[1:],
    Column("section", pl.String, "table or place of the mail"),
    columns.METRIC,
    _BASE,
    _VALUE,
    columns.PUBLISHED,
    columns.UNIT,
    Column("relative", pl.Boolean, "whether the figures are changes in percent of the base"),
    columns.TOLERANCE,
    _CHANCE,
    Column("simulated_base", pl.Float64, "figure of the model without the change", BY_ROW),
    Column("simulated_value", pl.Float64, "figure of the model with the change", BY_ROW),
    _SIMULATED,
    columns.LOW,
    columns.HIGH,
    _RANGE_OVER,
    Column("simulated_rounds", pl.UInt32, "number of simulated runs, of each side"),
    Column("base_ratio", pl.Float64, "simulated base divided by the published one", RATIO),
    Column("simulated_what", pl.String, f"what was simulated, {_WHAT}"),
    _SIMULATED_VERDICT,
    Column("simulated_reason", REASON.dtype, "why there is no simulated figure; else null"),
    Column("measured_base", pl.Float64, "figure of a real kernel without the change", BY_ROW),
    Column("measured_value", pl.Float64, "figure of a real kernel with the change", BY_ROW),
    _MEASURED,
    Column("measured_low", pl.Float64, "lower end of the interval over the rounds", BY_ROW),
    Column("measured_high", pl.Float64, "upper end of the interval over the rounds", BY_ROW),
    Column("measured_rounds", pl.UInt32, "number of measured rounds"),
    Column("held", pl.UInt64, "cases in which a statement on the code holds; null for a figure"),
    Column("cases", pl.UInt64, "cases in which it could hold; null for a figure"),
    Column("measured_what", pl.String, f"what was counted, {_WHAT}"),
    Column("size", SIZE.dtype, "whether the measured change is as large; null where not judged"),
    _MEASURED_VERDICT,
    Column("measured_reason", REASON.dtype, "why there is no measured figure; else null"),
)

_TEXT_OF: Final = "as text, with its unit"

CLAIM_TEXTS: Final = Table(
    "CLAIM_TEXTS",
    "One row per claim: THREE_COLUMNS in words, as all pages and commands print them. Sides are "
    "the figures without the change and with it.",
    columns.CLAIM,
    columns.PATCH,
    _MAIL,
    Column("section", pl.String, "table or place of the mail"),
    Column("what", pl.String, "quantity or statement"),
    Column("published", pl.String, f"published figure {_TEXT_OF}, or what the mail states"),
    Column("simulated", pl.String, f"simulated figure {_TEXT_OF}"),
    Column("simulated_sides", pl.String, "both simulated figures"),
    Column("range", pl.String, f"range of the simulated figure {_TEXT_OF}"),
    Column("simulated_verdict", pl.String, "verdict of the model, or why there is none"),
    Column("simulated_rests", pl.String, "what the model's verdict rests on"),
    Column("measured", pl.String, f"measured figure {_TEXT_OF}, or cases that hold"),
    Column("measured_sides", pl.String, "both measured figures"),
    Column("interval", pl.String, f"interval of the measured figure {_TEXT_OF}"),
    Column("measured_verdict", pl.String, "verdict of a real kernel, or why there is none"),
    Column("measured_rests", pl.String, "what the kernel's verdict rests on"),
)

SLOTS_IN_USE: Final = Table(
    "SLOTS_IN_USE",
    "One row per range of adjacent swap slots that a set has in use, in order. Policy and seed are "
    "those of the RESULTS that were measured with them.",
    columns.POLICY,
    columns.SEED,
    Column("set", pl.String, "set of slots"),
    Column("first", pl.UInt32, "first slot of the range"),
    Column("count", pl.UInt32, "number of slots in the range"),
)

REMOVED_LISTS: Final = Table(
    "REMOVED_LISTS",
    "One row per call of shrink_folio_list that removed folios from the swap cache. Kernel, policy "
    "and seed are those of the RESULTS of the same experiment.",
    columns.KERNEL,
    columns.POLICY,
    columns.SEED,
    Column("list", pl.UInt32, "number of the list in its run, by its begin"),
    columns.PID,
    columns.CPU,
    Column("folios", pl.UInt32, "folios that the list removed from the swap cache"),
    Column("slots", pl.UInt32, "slots of these folios"),
    Column("clusters", pl.UInt32, "distinct clusters of 512 slots"),
    Column("runs", pl.UInt32, "longest runs of successive folios in one cluster"),
    Column("trunks", pl.UInt32, "distinct trunks of 64 MiB"),
)

_TEST: Final = Column("test", pl.String, "test that gave the figure; empty if not stated")
_YOUR_METRIC: Final = Column("metric", pl.String, "metric, by the name that its tool gives it")

YOUR_RUNS: Final = Table(
    "YOUR_RUNS",
    "One row per kernel, test, metric and run of a user's own measurements.",
    Column("kernel", pl.String, "kernel, by the user's own label"),
    _TEST,
    _YOUR_METRIC,
    Column("value", pl.Float64, "figure of one run", BY_ROW),
    Column("unit", pl.String, "unit of the figure; empty if not stated"),
    Column("run", pl.Int64, "number of the run"),
)

FOUR_COLUMNS: Final = Table(
    "FOUR_COLUMNS",
    "One row per claim of a change and metric of the user that fits it: the user's own change next "
    "to the published one, and THREE_COLUMNS.",
    columns.CLAIM,
    Column("your_metric", pl.String, "the user's metric that fits the claim"),
    Column("published", pl.Float64, "change as the mail prints it", "%"),
    Column("yours", pl.Float64, "change of the means over the user's runs", "%"),
    Column("your_low", pl.Float64, "lower end of its 95 % interval; null with one run", "%"),
    Column("your_high", pl.Float64, "upper end of its 95 % interval; null with one run", "%"),
    Column("spread", pl.Float64, "its standard deviation; null with one run of a kernel", "points"),
    Column("tolerance", pl.Float64, "largest difference from the published change", "points"),
    Column(
        "your_verdict",
        SIMULATED_VERDICT.dtype,
        "how the user's change compares with it; open also with too few runs of a kernel",
    ),
    Column("base_runs", pl.UInt32, "number of runs without the change"),
    Column("patched_runs", pl.UInt32, "number of runs with the change"),
    Column("simulated", pl.Float64, "change of the model", "%"),
    columns.LOW,
    columns.HIGH,
    _SIMULATED_VERDICT,
    Column("measured", pl.Float64, "change of a real kernel", "%"),
    _MEASURED_VERDICT,
    columns.PATCH,
    columns.METRIC,
    Column("setup", pl.String, "the claim's parameters; without any, its table or place"),
)

KNOWN_METRICS: Final = Table(
    "KNOWN_METRICS",
    "One row per test, metric of a tool, and claim that it fits (data/published/metrics.csv).",
    _TEST,
    _YOUR_METRIC,
    columns.CLAIM,
    Column("source_file", pl.String, "file and version of the tool that the name comes from"),
)

UNMATCHED: Final = Table(
    "UNMATCHED",
    "One row per metric of the user that fits no claim.",
    _TEST,
    _YOUR_METRIC,
    Column("unit", pl.String, "unit of the metric; empty if not stated"),
    Column("runs", pl.UInt32, "runs of both kernels that have the metric"),
    Column("why", pl.String, "why the metric fits no claim"),
)
