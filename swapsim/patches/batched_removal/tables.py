# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch B's files: its workload, and the costs of 4.8's locks."""

from typing import Final

import polars as pl

from swapsim.tables import Table

WORKLOAD: Final = Table(
    "WORKLOAD",
    "One row per value of the workload and the machine of patch B's mail (data/usemem.csv): read "
    "in the mail, from the source of its test scripts, or inferred from either.",
    {"name": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64},
    {"unit": pl.String, "standing": pl.Enum(("read", "source", "inferred")), "source": pl.String},
)

LOCK_FITS: Final = Table(
    "LOCK_FITS",
    "One row per tag share and constant with which the machine meets patch A's base column "
    "(data/swap-cache-locks.csv).",
    {"tag_share": pl.Float64, "name": pl.String, "value": pl.Int64},
    {"unit": pl.String, "source": pl.String},
)
