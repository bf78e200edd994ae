# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the pages that reclaim removes from their mappings."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import Column, Table

_LIST: Final = Column("list", pl.UInt64, "number of the list: what one shrink_folio_list handled")
_MAPPING: Final = Column("mapping", pl.UInt64, "number of the mapping; for swap, of its trunk")
_SWAP: Final = Column("swap", pl.Boolean, "whether the mapping belongs to the swap cache")
_INDEX: Final = Column(
    "index", pl.UInt64, "position of the page in its mapping; for swap, its slot"
)
_REMOVED: Final = Column("removed", pl.Boolean, "whether the page was removed")

REMOVALS: Final = Table(
    "REMOVALS",
    "One row per page that a real kernel's reclaim tried to remove, in lock order.",
    columns.SEQ,
    columns.PID,
    _LIST,
    _MAPPING,
    _SWAP,
    _INDEX,
    _REMOVED,
)

REMOVAL_PAGES: Final = Table(
    "REMOVAL_PAGES",
    "One row per page on reclaim's lists, each list's pages together and in the order in which "
    "they are met. A null mapping means that the page has none.",
    _LIST,
    _SWAP,
    _MAPPING,
    _INDEX,
    Column("references", pl.UInt32, "references to the page; the mapping and reclaim hold two"),
    Column("locked", pl.Boolean, "whether another task holds the page's lock"),
    Column("dirty", pl.Boolean, "whether the page is dirty, so that it has to stay"),
    Column("freepage", pl.Boolean, "whether the filesystem is called when the page is removed"),
    columns.LAZYFREE,
)

REMOVAL_OUTCOMES: Final = Table(
    "REMOVAL_OUTCOMES",
    "One row per row of REMOVAL_PAGES.",
    _REMOVED,
    Column("place", pl.UInt32, "position among the list's freed or remaining pages; 0 is the head"),
)

_FAILED: Final = "pages that could not be removed"

REMOVAL_HOLDS: Final = Table(
    "REMOVAL_HOLDS",
    "One row per hold of a mapping's lock, in order.",
    _LIST,
    _SWAP,
    _MAPPING,
    Column("removed", pl.UInt32, "pages removed under the hold"),
    Column("failed", pl.UInt32, _FAILED),
    Column("passed_over", pl.UInt32, "pages of other mappings that the walk met"),
    Column("descents", pl.UInt64, "walks of the tree from its root under the hold"),
    columns.NODES,
    columns.TAG_WORDS,
    Column("nodes_freed", pl.UInt64, "nodes of the tree that became empty and were freed"),
)

REMOVAL_LISTS: Final = Table(
    "REMOVAL_LISTS",
    "One row per kernel and list.",
    columns.KERNEL,
    _LIST,
    columns.PID,
    columns.PAGES,
    Column("failed", pl.UInt32, _FAILED),
    Column("mappings", pl.UInt32, "distinct mappings of the list"),
    Column("page_by_page", pl.UInt32, "acquisitions of a mapping's lock with one hold per page"),
    Column("batched", pl.UInt32, "acquisitions of a mapping's lock with one hold per mapping"),
    Column("longest", pl.UInt32, "pages removed in the longest batched hold"),
)

BATCHED_REMOVAL: Final = Table(
    "BATCHED_REMOVAL",
    "One row per trace and kernel: sums and means of REMOVAL_LISTS.",
    columns.TRACE,
    columns.KERNEL,
    Column("lists", pl.UInt64, "number of reclaim's lists"),
    Column("pages", pl.UInt64, "number of pages on all lists"),
    Column("failed", pl.UInt64, f"{_FAILED}; null where the trace does not show failures"),
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

WAITS_NEEDED: Final = Table(
    "WAITS_NEEDED",
    "One row per published system time.",
    columns.CLAIM,
    Column("base", pl.Float64, "published system time without the patch", "s"),
    Column("value", pl.Float64, "published system time with the patch", "s"),
    Column("change", pl.Float64, "change from base to value", "%"),
    Column("saved_percent", pl.Float64, "share of the lock's acquisitions that batching saves"),
    Column(
        "needed_percent",
        pl.Float64,
        "share of system time that waits for the lock need to explain the change; null for a loss",
    ),
    Column("enough", pl.Boolean, "whether the needed share is possible"),
)
