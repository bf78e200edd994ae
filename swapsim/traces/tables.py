# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that every imported trace has."""

from typing import Final

import polars as pl

from swapsim import tables as columns
from swapsim.tables import Column, Table

EVENT_HEAD: Final = Table(
    "EVENT_HEAD",
    "One row per event, in trace order: the first columns of each event's table, which the event's "
    "own fields follow.",
    columns.SEQ,
    Column("t_ns", pl.Int64, "time of the event; null under a clock that counts events"),
    columns.CPU,
    columns.PID,
    Column("comm", pl.String, "name of the task"),
)

MATCHED: Final = Table(
    "MATCHED",
    "One row per kind of thing that a model and a kernel were compared in.",
    Column("kind", pl.String, "what was compared"),
    Column("equal", pl.UInt64, "how many were equal"),
    Column("compared", pl.UInt64, "how many there were"),
)

SHIPPED_TRACES: Final = Table(
    "SHIPPED_TRACES",
    "One row per trace that comes with the laboratory, in order of name.",
    Column("trace", pl.String, "name of the trace, which stands for its folder"),
    Column("kernel", pl.String, "release of the kernel"),
    Column("cpus", pl.UInt32, "CPUs of its machine"),
    Column("rows", pl.UInt64, "events recorded"),
    Column("replays", pl.List(pl.String), "replays, or a verification, that it can feed"),
)

TRACE_EVENTS: Final = Table(
    "TRACE_EVENTS",
    "One row per event of a trace, in order of name.",
    Column("event", pl.String, "event, by the name of its table"),
    Column("rows", pl.UInt64, "how often the event was recorded"),
)
