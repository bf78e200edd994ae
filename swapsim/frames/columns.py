# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns that tables of several packages have, each with one meaning."""

from typing import Final

import polars as pl

from swapsim.frames.table import BY_ROW, Column

PATCH: Final = Column("patch", pl.String, "patch, by the name of its folder under patches/")
TABLE: Final = Column("table", pl.String, "table of the mail")
METRIC: Final = Column("metric", pl.String, "quantity that was measured or simulated")
VALUE: Final = Column("value", pl.Float64, "value of the metric", BY_ROW)
UNIT: Final = Column("unit", pl.String, "unit of the row's figures")
KERNEL: Final = Column("kernel", pl.String, "kernel: its label in the mail or lab, or its version")
POLICY: Final = Column("policy", pl.String, "rule for a scan's start, or another switch's setting")
SEED: Final = Column("seed", pl.UInt64, "seed of the simulation, or number of the measured round")
TRACE: Final = Column("trace", pl.String, "trace, by the name of its folder under data/traces")

SEQ: Final = Column("seq", pl.UInt64, "position of the row in the complete trace")
CPU: Final = Column("cpu", pl.UInt16, "number of the CPU on which the row was written")
PID: Final = Column("pid", pl.Int32, "process ID of the task that the row is about")

PUBLISHED: Final = Column("published", pl.Float64, "figure as the mail prints it", BY_ROW)
LOW: Final = Column("low", pl.Float64, "lower end of the range or interval", BY_ROW)
HIGH: Final = Column("high", pl.Float64, "upper end of the range or interval", BY_ROW)
NOTE: Final = Column("note", pl.String, "explanation in words")

FACTOR: Final = Column("factor", pl.String, "parameter that is varied")

NODES: Final = Column("nodes", pl.UInt64, "nodes of the tree touched under the lock")
TAG_WORDS: Final = Column("tag_words", pl.UInt64, "words of tags touched under the lock")
LAZYFREE: Final = Column("lazyfree", pl.Boolean, "whether it was freed lazily, so needs no swap")
PAGES: Final = Column("pages", pl.UInt32, "number of pages of 4 KiB")
