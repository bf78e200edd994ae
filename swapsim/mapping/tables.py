# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of the swap cache's and the files' trees and locks.

Columns
-------
op : what is done, by the names of ``mapping_replay.h``
folio : the folio's address, a number that stands for it
index : the page's place in its mapping
file : the file, as a number; a value of its own for the swap cache
shadow : what a removed page leaves in its place; a value of its own for nothing
tags : whether the swap cache keeps writeback tags, which patch A ends
flow : whose pages: the swap cache's or files'
calls : times that the site was reached
unresolved : those whose place in a tree the trace does not tell
contradicted : stays in the swap cache that the trace contradicts there
LOCK_SITES.site, LOCK_SITES_PER_PAGE.site : code path that may take the mapping's lock
acquisitions : times that the mapping's lock was taken
LOCK_SITES_PER_PAGE.acquisitions [1/page] : times that the mapping's lock was taken
MIX.acquisitions [1/page] : times that a mapping's lock was taken
descents : walks of the tree from its root, made under the lock
LOCK_SITES_PER_PAGE.descents [1/page] : walks of the tree from its root, made under the lock
LOCK_SITES_PER_PAGE.nodes [1/page] : nodes of the tree touched under it
LOCK_SITES_PER_PAGE.tag_words [1/page] : words of tags touched under it
pages : pages whose writeback started in the flow
file_share : share of file pages among the pages written
"""

from typing import Final

import polars as pl

from swapsim.ffi import facts
from swapsim.frames.table import schema_of

SITE: Final = pl.Enum(facts.MAPPING_SITES)
"""Code paths that may take a mapping's lock, in the order in which a page meets them."""

REPLAY_ROWS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "op": pl.UInt8,
        "folio": pl.UInt64,
        "index": pl.UInt64,
        "file": pl.UInt64,
        "shadow": pl.UInt64,
    }
)
"""One row per event that touches a mapping, in trace order; ops are those of
``mapping_replay.h``, and so are the values that name no file and no shadow."""

FLOW: Final = pl.Enum(["swap, written", "swap, not written", "file"])
"""Whose page: in the swap cache with a writeback during its stay (swapped out), in the swap
cache without one (swapped in, or not written after all), or in a file's page cache."""

LOCK_SITES: Final = schema_of(
    {
        "kernel": pl.String,
        "tags": pl.Boolean,
        "flow": FLOW,
        "site": SITE,
        "calls": pl.UInt64,
        "unresolved": pl.UInt64,
        "contradicted": pl.UInt64,
        "acquisitions": pl.UInt64,
        "descents": pl.UInt64,
        "nodes": pl.UInt64,
        "tag_words": pl.UInt64,
    }
)
"""One row per flow and site of a replay of writeback-tags: calls of the site, those whose
place in a tree the trace does not tell, stays in the swap cache that the trace contradicts
there, acquisitions of the mapping's lock, and the work under those holds: descents of the tree,
nodes touched, tag words touched. ``tags`` says whether the
swap cache keeps writeback tags (patch A off)."""

LOCK_SITES_PER_PAGE: Final = schema_of(
    {
        "kernel": pl.String,
        "tags": pl.Boolean,
        "flow": FLOW,
        "site": SITE,
        "pages": pl.UInt64,
        "acquisitions": pl.Float64,
        "descents": pl.Float64,
        "nodes": pl.Float64,
        "tag_words": pl.Float64,
    }
)
"""LOCK_SITES divided by the pages whose writeback started in the flow; flows that wrote none
are left out, for there is no page to divide by."""

MIX: Final = schema_of(
    {
        "trace": pl.String,
        "tags": pl.Boolean,
        "pages": pl.UInt64,
        "file_share": pl.Float64,
        "acquisitions": pl.Float64,
    }
)
"""One row per trace and tags: pages written, the share of file pages among them, and
acquisitions of a mapping's lock per page written."""
