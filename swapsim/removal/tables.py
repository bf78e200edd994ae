# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the pages that reclaim removes from their mappings."""

from typing import Final

import polars as pl

from swapsim import tables as columns
from swapsim.tables import Column, Table

REMOVALS: Final = Table(
    "REMOVALS",
    "One row per page that a real kernel's reclaim tried to remove, in lock order.",
    columns.SEQ,
    columns.PID,
    Column("list", pl.UInt64, "number of the list: what one shrink_folio_list handled"),
    Column("mapping", pl.UInt64, "number of the mapping; for swap, of its trunk"),
    Column("swap", pl.Boolean, "whether the mapping belongs to the swap cache"),
    Column("index", pl.UInt64, "position of the page in its mapping; for swap, its slot"),
    Column("removed", pl.Boolean, "whether the page was removed"),
)

BATCHED_REMOVAL: Final = Table(
    "BATCHED_REMOVAL",
    "One row per trace and kernel: sums and means over the lists of reclaim.",
    columns.TRACE,
    columns.KERNEL,
    Column("lists", pl.UInt64, "number of reclaim's lists"),
    Column("pages", pl.UInt64, "number of pages on all lists"),
    Column(
        "failed",
        pl.UInt64,
        "pages that could not be removed; null where the trace does not show failures",
    ),
    Column("pages_a_list", pl.Float64, "mean number of pages on a list", "1/list"),
    Column("mappings_a_list", pl.Float64, "mean number of distinct mappings of a list", "1/list"),
    Column("page_by_page", pl.UInt64, "acquisitions of a mapping's lock with one hold per page"),
    Column("batched", pl.UInt64, "acquisitions of a mapping's lock with one hold per mapping"),
    Column("saved_a_page", pl.Float64, "acquisitions that batching saves", "1/page"),
    Column(
        "pages_a_hold", pl.Float64, "mean number of pages that a batched hold removes", "1/hold"
    ),
    Column("longest", pl.UInt32, "pages removed in the longest batched hold"),
)
