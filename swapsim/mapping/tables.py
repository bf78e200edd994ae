# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the swap cache's and the files' trees and locks."""

from typing import Final

import polars as pl

from swapsim.ffi import facts
from swapsim.frames import columns
from swapsim.frames.table import Column, Table, Vocabulary

SITE: Final = Vocabulary(
    "SITE",
    "Code paths that may take a mapping's lock, in the order in which a page meets them.",
    facts.MAPPING_SITES,
)

REPLAY_ROWS: Final = Table(
    "REPLAY_ROWS",
    "One row per event that touches a mapping, in trace order; ops are those of "
    "``mapping_replay.h``, and so are the values that name no file and no shadow.",
    columns.SEQ,
    Column("op", pl.UInt8, "what is done, by the names of ``mapping_replay.h``"),
    Column("folio", pl.UInt64, "the folio's address, a number that stands for it"),
    Column("index", pl.UInt64, "the page's place in its mapping"),
    Column("file", pl.UInt64, "the file, as a number; a value of its own for the swap cache"),
    Column(
        "shadow",
        pl.UInt64,
        "what a removed page leaves in its place; a value of its own for nothing",
    ),
)

FLOW: Final = Vocabulary(
    "FLOW",
    "Whose page: in the swap cache with a writeback during its stay (swapped out), in the "
    "swap cache without one (swapped in, or not written after all), or in a file's page "
    "cache.",
    (
        "swap, written",
        "swap, not written",
        "file",
    ),
)

_TAGS: Final = Column(
    "tags", pl.Boolean, "whether the swap cache keeps writeback tags, which patch A ends"
)
_FLOW: Final = Column("flow", FLOW.dtype, "whose pages: the swap cache's or files'")
_SITE: Final = Column("site", SITE.dtype, "code path that may take the mapping's lock")
LOCK_SITES: Final = Table(
    "LOCK_SITES",
    "One row per flow and site of a replay of writeback-tags: calls of the site, those whose"
    " place in a tree the trace does not tell, stays in the swap cache that the trace "
    "contradicts there, acquisitions of the mapping's lock, and the work under those holds: "
    "descents of the tree, nodes touched, tag words touched. ``tags`` says whether the swap "
    "cache keeps writeback tags (patch A off).",
    columns.KERNEL,
    _TAGS,
    _FLOW,
    _SITE,
    Column("calls", pl.UInt64, "times that the site was reached"),
    Column("unresolved", pl.UInt64, "those whose place in a tree the trace does not tell"),
    Column("contradicted", pl.UInt64, "stays in the swap cache that the trace contradicts there"),
    Column("acquisitions", pl.UInt64, "times that the mapping's lock was taken"),
    Column("descents", pl.UInt64, "walks of the tree from its root, made under the lock"),
    columns.NODES,
    columns.TAG_WORDS,
)

_PAGES: Final = Column("pages", pl.UInt64, "pages whose writeback started in the flow")
LOCK_SITES_PER_PAGE: Final = Table(
    "LOCK_SITES_PER_PAGE",
    "LOCK_SITES divided by the pages whose writeback started in the flow; flows that wrote "
    "none are left out, for there is no page to divide by.",
    columns.KERNEL,
    _TAGS,
    _FLOW,
    _SITE,
    _PAGES,
    Column("acquisitions", pl.Float64, "times that the mapping's lock was taken", "1/page"),
    Column(
        "descents", pl.Float64, "walks of the tree from its root, made under the lock", "1/page"
    ),
    Column("nodes", pl.Float64, "nodes of the tree touched under it", "1/page"),
    Column("tag_words", pl.Float64, "words of tags touched under it", "1/page"),
)

MIX: Final = Table(
    "MIX",
    "One row per trace and tags: pages written, the share of file pages among them, and "
    "acquisitions of a mapping's lock per page written.",
    columns.TRACE,
    _TAGS,
    _PAGES,
    Column("file_share", pl.Float64, "share of file pages among the pages written"),
    Column("acquisitions", pl.Float64, "times that a mapping's lock was taken", "1/page"),
)
