# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of what is published, simulated and measured."""

from typing import Final

import polars as pl

from swapsim.tables import PATCH, Column, Table

HAND: Final = pl.Enum(("first", "second"))  # copied from the source, or from notes of it
LINK: Final = pl.Enum(("mail", "commit", "article", "source"))
WINDOW: Final = pl.Enum(("write", "swap", "run"))
"""Part of a run of swap-w-seq: each task up to its own last page (write), from the first page out
to the first task's last page (swap), or all of it with the exit (run)."""

SEEN: Final = pl.Enum(("falls", "rises", "either"))
"""How a figure changes by the rounds; either: their interval contains both signs."""

_BETTER: Final = pl.Enum(("higher", "lower", "neither"))
_SOURCE: Final = pl.Enum(("published", "simulated", "measured"))
_NAMES: Final = pl.List(pl.String)

PUBLISHED: Final = Table(
    "PUBLISHED",
    "One row per printed cell of a mail's table (data/published).",
    dict.fromkeys(("patch", "mail", "locator", "table", "metric", "parameters"), pl.String),
    {"kernel": pl.String, "value": pl.Float64, "printed": pl.String, "decimals": pl.UInt8},
    {"stddev_percent": pl.Float64, "change_percent_printed": pl.String},
    {"change_percent": pl.Float64, "unit": pl.String, "better": _BETTER},
)
MAILS: Final = Table(
    "MAILS",
    "One row per mail whose figures are in data/published.",
    {"mail": pl.String, "patch": pl.String, "hand": HAND, "message": pl.String},
)
LINKS: Final = Table(
    "LINKS",
    "One row per mail, commit, article or other source that our texts cite; ``target`` is a "
    "message ID, commit, number of the article, or address.",
    {"name": pl.String, "kind": LINK, "target": pl.String, "title": pl.String},
    {"author": pl.String, "date": pl.String, "merged": pl.String},
)
REASONS: Final = Table(
    "REASONS",
    "Printed rows without a figure of a source, by regular expressions; the first that fits counts",
    dict.fromkeys(("mail", "table", "metric", "source", "reason"), pl.String),
)
WINDOWS: Final = Table(
    "WINDOWS",
    "The part of a run that a metric, or all that begin so, describes; stored before the run. "
    "``fitted`` is the kernel whose figure constants are fitted to; null if held out.",
    {"metric": pl.String, "window": WINDOW, "fitted": pl.String, "note": pl.String},
)
CARD: Final = Table(
    "CARD",
    "One row per card of a patch: the fields of its front matter (TOML), all needed, and its text.",
    PATCH,
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
COMPARISON: Final = Table(
    "COMPARISON",
    "One row per metric and kernel of a printed comparison, the base kernel first.",
    {"metric": pl.String, "kernel": pl.String, "value": pl.Float64, "decimals": pl.UInt8},
    {"stddev_percent": pl.Float64, "better": _BETTER},
)

_ONE_RUN: Final = {"patch": pl.String, "source": _SOURCE, "kernel": pl.String, "policy": pl.String}
RESULTS: Final = Table(
    "RESULTS",
    "One row per metric of one run; the seed of a measurement is the number of its round.",
    _ONE_RUN,
    {"n_tasks": pl.UInt32, "seed": pl.UInt64},
    {"metric": pl.String, "value": pl.Float64, "unit": pl.String},
)
MEDIANS: Final = Table(
    "MEDIANS",
    "One row per metric and setting: RESULTS over their rounds.",
    _ONE_RUN,
    {"n_tasks": pl.UInt32, "metric": pl.String, "unit": pl.String, "rounds": pl.UInt32},
    dict.fromkeys(("median", "low", "high"), pl.Float64),
)
SLOTS_IN_USE: Final = Table(
    "SLOTS_IN_USE",
    "One row per range of adjacent swap slots that a set has in use, in order.",
    {"policy": pl.String, "seed": pl.UInt64, "set": pl.String},
    {"first": pl.UInt32, "count": pl.UInt32},
)
REMOVED_LISTS: Final = Table(
    "REMOVED_LISTS",
    "One row per call of shrink_folio_list that removed folios from the swap cache, in order.",
    {"kernel": pl.String, "policy": pl.String, "seed": pl.UInt64, "list": pl.UInt32},
    {"pid": pl.Int32, "cpu": pl.UInt16},
    dict.fromkeys(("folios", "slots", "clusters", "runs", "trunks"), pl.UInt32),
)
