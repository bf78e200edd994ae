# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of a trace at a glance."""

from typing import Final

import polars as pl

from swapsim.frames.table import BY_ROW, Column, Table

AT_A_GLANCE: Final = Table(
    "AT_A_GLANCE",
    "One row per replay that a trace can feed: the figure that its patch is about, null "
    "where the trace has no page of the kind.",
    Column("replay", pl.String, "a verb of ``swapsim replay``"),
    Column("quantity", pl.String, "what the figures are of"),
    Column("base", pl.Float64, "the figure without the patch, and with it", BY_ROW),
    Column("patched", pl.Float64, "the figure without the patch, and with it", BY_ROW),
    Column("change", pl.Float64, "from base to patched, null from zero", "%"),
)
