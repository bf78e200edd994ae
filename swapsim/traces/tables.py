# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that every imported trace has."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import Column, Table

EVENT_HEAD: Final = Table(
    "EVENT_HEAD",
    "The columns that each imported event table starts with; its own fields follow.",
    columns.SEQ,
    Column("t_ns", pl.Int64, "the event's time; null under a clock of whole numbers"),
    columns.CPU,
    columns.PID,
    Column("comm", pl.String, "the task's name"),
)

TRACE_EVENTS: Final = Table(
    "TRACE_EVENTS",
    "One row per event of a trace, in order of name.",
    Column("event", pl.String, "the event, by the name of its table"),
    Column("rows", pl.UInt64, "how often it was recorded"),
)
