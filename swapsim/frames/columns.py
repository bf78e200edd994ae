# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns that tables of several packages have, each with one meaning."""

from typing import Final

import polars as pl

from swapsim.frames.table import BY_ROW, Column

CLAIM: Final = Column(
    "claim", pl.String, "the claim's name: a letter for its mail, and what it is about"
)
CONSTANT: Final = Column(
    "constant", pl.String, "a constant of the model, by its name in data/*.csv"
)
CPU: Final = Column("cpu", pl.UInt16, "CPU that the row was written on")
FACTOR: Final = Column("factor", pl.String, "what is varied")
FLIPS: Final = Column("flips", pl.Boolean, "whether the range includes both signs")
HIGH: Final = Column(
    "high",
    pl.Float64,
    "the lower and the upper end of the range, or of the interval of the median",
    BY_ROW,
)
KERNEL: Final = Column(
    "kernel", pl.String, "the kernel: its label in the mail or experiment, or its version"
)
LAZYFREE: Final = Column("lazyfree", pl.Boolean, "whether it needs no swap, as it was freed lazily")
LOW: Final = Column(
    "low",
    pl.Float64,
    "the lower and the upper end of the range, or of the interval of the median",
    BY_ROW,
)
METRIC: Final = Column("metric", pl.String, "what the figure is of")
NODES: Final = Column("nodes", pl.UInt64, "nodes of the tree touched under it")
NOTE: Final = Column("note", pl.String, "an explanation in words")
PAGES: Final = Column("pages", pl.UInt32, "how many pages")
PID: Final = Column("pid", pl.Int32, "task that the row is about")
POLICY: Final = Column(
    "policy",
    pl.String,
    "the rule for where a scan for swap slots begins, or the setting of another switch",
)
PUBLISHED: Final = Column("published", pl.Float64, "as the mail prints it", BY_ROW)
SEED: Final = Column(
    "seed",
    pl.UInt64,
    "of the simulation's random numbers; for a real kernel, the number of the round",
)
SEQ: Final = Column("seq", pl.UInt64, "the row's place in the whole trace, in the order of events")
SETTING: Final = Column("setting", pl.Float64, "what it is set to", BY_ROW)
SWAP_USED: Final = Column("swap_used", pl.UInt32, "slots in use")
TABLE: Final = Column("table", pl.String, "the mail's table")
TAG_WORDS: Final = Column("tag_words", pl.UInt64, "words of tags touched under it")
TOLERANCE: Final = Column(
    "tolerance",
    pl.Float64,
    "how far a result may be from the published figure and agree; stored before it is judged",
    BY_ROW,
)
TRACE: Final = Column("trace", pl.String, "the trace's name, its folder under data/traces")
UNIT: Final = Column("unit", pl.String, "the unit of the figures in the row")
VALUE: Final = Column("value", pl.Float64, "the figure, in the unit of its row", BY_ROW)
