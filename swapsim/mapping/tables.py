# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the swap cache's and the files' trees and locks."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim import tables as columns
from swapsim.tables import Column, Table, Vocabulary

SITE: Final = Vocabulary(
    "SITE",
    "Code paths that may take a mapping's lock, in the order in which a page meets them.",
    ffi.MAPPING_SITES,
)

FLOW: Final = Vocabulary(
    "FLOW",
    "Kinds of pages: in the swap cache with a writeback during the stay (swapped out), in the swap "
    "cache without one (swapped in, or not written), or in a file's page cache.",
    ("swap, written", "swap, not written", "file"),
)

_TAGS: Final = Column(
    "tags", pl.Boolean, "whether the swap cache has writeback tags (before patch A)"
)
_FLOW: Final = Column("flow", FLOW.dtype, "kind of the pages")
_SITE: Final = Column("site", SITE.dtype, "code path that may take the mapping's lock")

LOCK_SITES: Final = Table(
    "LOCK_SITES",
    "One row per flow and site of a replay of writeback-tags.",
    columns.KERNEL,
    _TAGS,
    _FLOW,
    _SITE,
    Column("calls", pl.UInt64, "times that the site was reached"),
    Column("unresolved", pl.UInt64, "calls whose position in a tree the trace does not show"),
    Column(
        "contradicted", pl.UInt64, "stays in the swap cache that the trace contradicts at the site"
    ),
    Column("acquisitions", pl.UInt64, "times that the mapping's lock was taken"),
    Column("descents", pl.UInt64, "walks of the tree from its root under the lock"),
    columns.NODES,
    columns.TAG_WORDS,
)

LOCK_SITES_PER_PAGE: Final = Table(
    "LOCK_SITES_PER_PAGE",
    "One row per flow and site: LOCK_SITES divided by the pages whose writeback started in the "
    "flow. Flows without such a page are left out.",
    columns.KERNEL,
    _TAGS,
    _FLOW,
    _SITE,
    Column("pages", pl.UInt64, "pages whose writeback started in the flow"),
    Column("acquisitions", pl.Float64, "times that the mapping's lock was taken", "1/page"),
    Column("descents", pl.Float64, "walks of the tree from its root under the lock", "1/page"),
    Column("nodes", pl.Float64, "nodes of the tree touched under the lock", "1/page"),
    Column("tag_words", pl.Float64, "words of tags touched under the lock", "1/page"),
)
