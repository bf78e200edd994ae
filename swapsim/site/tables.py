# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of a trace at a glance."""

from typing import Final

import polars as pl

from swapsim.frames.table import BY_ROW, Column, Table

AT_A_GLANCE: Final = Table(
    "AT_A_GLANCE",
    "One row per replay that a trace can feed, with the figure that its patch changes.",
    Column("replay", pl.String, "verb of ``swapsim replay``"),
    Column("quantity", pl.String, "quantity of the two figures"),
    Column("base", pl.Float64, "figure without the patch; null without pages of the kind", BY_ROW),
    Column("patched", pl.Float64, "figure with the patch; null without pages of the kind", BY_ROW),
    Column("change", pl.Float64, "change from base to patched; null where base is zero", "%"),
)
