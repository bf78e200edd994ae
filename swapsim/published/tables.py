# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of what is published, simulated and measured, and of their comparison."""

from typing import Final

import polars as pl

from swapsim import tables as columns
from swapsim.tables import BY_ROW, Column, Table, Vocabulary

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
    Column("model", _NAMES, "headers of corelib/include/swapsim: 'NAME.h' or 'NAME.h: functions'"),
    Column("not_modelled", _NAMES, "what the model leaves out, each in words"),
    Column("body", pl.String, "the card's text below the front matter, in markdown"),
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
