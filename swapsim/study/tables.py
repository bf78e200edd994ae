# SPDX-License-Identifier: GPL-2.0-or-later
"""The models' constants: what work costs, and what is not published of a machine.

Columns
-------
name : a constant; a cost is named after its field in ``machine.h`` or ``reclaim.h``
source : where the value comes from
"""

from typing import Final

import polars as pl

from swapsim.frames.table import schema_of

CONSTANTS: Final = schema_of(
    {
        "name": pl.String,
        "value": pl.Int64,
        "low": pl.Int64,
        "high": pl.Int64,
        "unit": pl.String,
        "source": pl.String,
    }
)
"""One row per constant: of the contention machine (data/costs.csv), of the world of patch C's mail
(data/world.csv), or of the lab's guest as a world (data/guest.csv); low and high are what its
source leaves open."""
