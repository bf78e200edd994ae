# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the pages that reclaim removes from their mappings."""

from typing import Final

import polars as pl

from swapsim.frames import columns
from swapsim.frames.table import Column, Table

_LIST: Final = Column("list", pl.UInt64, "what one call of shrink_folio_list handled")
_MAPPING: Final = Column(
    "mapping", pl.UInt64, "the same number for the same mapping; of swap, its trunk"
)
_SWAP: Final = Column("swap", pl.Boolean, "whether it is a mapping of the swap cache")
_INDEX: Final = Column(
    "index", pl.UInt64, "the page's place in its mapping, of a swap page its slot"
)
_REMOVED: Final = Column("removed", pl.Boolean, "whether the page was removed")
REMOVALS: Final = Table(
    "REMOVALS",
    "One row per page that a real kernel's reclaim tried to take out of its mapping, in lock"
    " order. A list is what one call of shrink_folio_list handled. ``mapping`` is the same "
    "number for the same mapping; ``swap`` says that it is one of the swap cache, where "
    "``index`` is the slot.",
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
    "One row per page on reclaim's lists, each list's together and in the order in which its"
    " pages are met: where the page is (a null mapping: nowhere; of a swap page the slot "
    "alone counts), and what decides whether it can go. Two references are the mapping's and"
    " reclaim's own.",
    _LIST,
    _SWAP,
    _MAPPING,
    _INDEX,
    Column("references", pl.UInt32, "to the page; two are the mapping's and reclaim's own"),
    Column("locked", pl.Boolean, "whether somebody else has it locked"),
    Column("dirty", pl.Boolean, "whether it is dirty, so that it must stay"),
    Column("freepage", pl.Boolean, "whether its filesystem is told when it goes"),
    columns.LAZYFREE,
)

REMOVAL_OUTCOMES: Final = Table(
    "REMOVAL_OUTCOMES",
    "One row per row of REMOVAL_PAGES: was the page removed, and its place on its list's "
    "freed pages, or on its kept ones; 0 is the head.",
    _REMOVED,
    Column("place", pl.UInt32, "on its list's freed pages, or on the kept ones; 0 is the head"),
)

_FAILED: Final = Column("failed", pl.UInt32, "pages that could not be removed")
REMOVAL_HOLDS: Final = Table(
    "REMOVAL_HOLDS",
    "One row per hold of a mapping's lock, in order: pages removed, pages that could not be,"
    " pages of other mappings that the walk met, and the work on the tree. The mapping of "
    "swap is its trunk, from 0.",
    _LIST,
    _SWAP,
    _MAPPING,
    Column("removed", pl.UInt32, "pages removed under the hold"),
    _FAILED,
    Column("passed_over", pl.UInt32, "pages of other mappings that the walk met"),
    Column("descents", pl.UInt64, "walks of the tree from its root, made under the hold"),
    columns.NODES,
    columns.TAG_WORDS,
    Column("nodes_freed", pl.UInt64, "nodes of the tree that were left empty, and freed"),
)

_LONGEST: Final = Column("longest", pl.UInt32, "pages of the longest batched hold")
REMOVAL_LISTS: Final = Table(
    "REMOVAL_LISTS",
    "One row per kernel and list: its pages, those that could not be removed, its distinct "
    "mappings, the acquisitions of a mapping's lock page by page and batched, and the pages "
    "of the longest of the batched holds.",
    columns.KERNEL,
    _LIST,
    columns.PID,
    columns.PAGES,
    _FAILED,
    Column("mappings", pl.UInt32, "distinct mappings of the list"),
    Column(
        "page_by_page", pl.UInt32, "acquisitions of a mapping's lock, one a page and one a mapping"
    ),
    Column("batched", pl.UInt32, "acquisitions of a mapping's lock, one a page and one a mapping"),
    _LONGEST,
)

BATCHED_REMOVAL: Final = Table(
    "BATCHED_REMOVAL",
    "One row per trace and kernel: REMOVAL_LISTS added up, ``failed`` null where the trace "
    "does not show failures; acquisitions saved a page, and how many pages a batched hold is"
    " long, in the mean and at most.",
    columns.TRACE,
    columns.KERNEL,
    Column("lists", pl.UInt64, "lists of reclaim"),
    Column("pages", pl.UInt64, "how many pages"),
    Column("failed", pl.UInt64, "pages that could not be removed"),
    Column("pages_a_list", pl.Float64, "means over the lists", "1/list"),
    Column("mappings_a_list", pl.Float64, "means over the lists", "1/list"),
    Column(
        "page_by_page", pl.UInt64, "acquisitions of a mapping's lock, one a page and one a mapping"
    ),
    Column("batched", pl.UInt64, "acquisitions of a mapping's lock, one a page and one a mapping"),
    Column("saved_a_page", pl.Float64, "acquisitions that batching saves", "1/page"),
    Column("pages_a_hold", pl.Float64, "pages that a batched hold removes, in the mean", "1/hold"),
    _LONGEST,
)

WAITS_NEEDED: Final = Table(
    "WAITS_NEEDED",
    "One row per published system time: its change in percent, the share of the mapping's "
    "lock's acquisitions that batching saves, and what share of the system time must be "
    "waits for that lock if these acquisitions explain the change; null for a loss, which "
    "none explains. ``enough``: is that share one that can be?",
    columns.CLAIM,
    Column("base", pl.Float64, "published system time without the patch, and with it", "s"),
    Column("value", pl.Float64, "published system time without the patch, and with it", "s"),
    Column("change", pl.Float64, "from base to value, in percent", "%"),
    Column(
        "saved_percent",
        pl.Float64,
        "share of the mapping's lock's acquisitions that batching saves",
    ),
    Column(
        "needed_percent",
        pl.Float64,
        "share of the system time that must be waits for that lock if this is to explain the "
        "change",
    ),
    Column("enough", pl.Boolean, "whether that is a share that can be"),
)
