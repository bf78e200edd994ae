# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of what became of the patches, which README, front page and cards print."""

from typing import Final

import polars as pl

from swapsim.frames.table import Column, Table

ON_NEWEST: Final = Table(
    "ON_NEWEST",
    "One row per patch: what became of it on Linux 7.3, and the figure that shows it.",
    Column("letter", pl.String, "letter of the patch; E are the alternatives to D"),
    Column("patch", pl.String, "folder of the patch under patches/; empty for E"),
    Column("subject", pl.String, "what the patch is about"),
    Column("state", pl.String, "in force, in part, obsolete or replaced"),
    Column("now", pl.String, "what does its work on 7.3"),
    Column("figure", pl.String, "the figure that shows it, in words"),
)
