# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages that reclaim takes out of their mappings: those of a trace, and what the model does.

Columns
-------
list : what one call of shrink_folio_list handled
mapping : the same number for the same mapping; of swap, its trunk
swap : whether it is a mapping of the swap cache
index : the page's place in its mapping, of a swap page its slot
REMOVALS.removed, REMOVAL_OUTCOMES.removed : whether the page was removed
references : to the page; two are the mapping's and reclaim's own
locked : whether somebody else has it locked
dirty : whether it is dirty, so that it must stay
freepage : whether its filesystem is told when it goes
place : on its list's freed pages, or on the kept ones; 0 is the head
REMOVAL_HOLDS.removed : pages removed under the hold
failed : pages that could not be removed
passed_over : pages of other mappings that the walk met
descents : walks of the tree from its root, made under the hold
nodes_freed : nodes of the tree that were left empty, and freed
mappings : distinct mappings of the list
page_by_page, batched : acquisitions of a mapping's lock, one a page and one a mapping
longest : pages of the longest batched hold
lists : lists of reclaim
pages_a_list, mappings_a_list [1/list] : means over the lists
saved_a_page [1/page] : acquisitions that batching saves
pages_a_hold [1/hold] : pages that a batched hold removes, in the mean
base, value [s] : published system time without the patch, and with it
change [%] : from base to value, in percent
saved_percent : share of the mapping's lock's acquisitions that batching saves
needed_percent : share of the system time that must be waits for that lock if this is to explain
    the change
enough : whether that is a share that can be
"""

from typing import Final

import polars as pl

from swapsim.frames.table import schema_of

REMOVALS: Final = schema_of(
    {
        "seq": pl.UInt64,
        "pid": pl.Int32,
        "list": pl.UInt64,
        "mapping": pl.UInt64,
        "swap": pl.Boolean,
        "index": pl.UInt64,
        "removed": pl.Boolean,
    }
)
"""One row per page that a real kernel's reclaim tried to take out of its mapping, in lock order.

A list is what one call of shrink_folio_list handled. ``mapping`` is the same number for the same
mapping; ``swap`` says that it is one of the swap cache, where ``index`` is the slot."""

REMOVAL_PAGES: Final = schema_of(
    {
        "list": pl.UInt64,
        "swap": pl.Boolean,
        "mapping": pl.UInt64,
        "index": pl.UInt64,
        "references": pl.UInt32,
        "locked": pl.Boolean,
        "dirty": pl.Boolean,
        "freepage": pl.Boolean,
        "lazyfree": pl.Boolean,
    }
)
"""One row per page on reclaim's lists, each list's together and in the order in which its pages are
met: where the page is (a null mapping: nowhere; of a swap page the slot alone counts), and what
decides whether it can go. Two references are the mapping's and reclaim's own."""

REMOVAL_OUTCOMES: Final = schema_of({"removed": pl.Boolean, "place": pl.UInt32})
"""One row per row of REMOVAL_PAGES: was the page removed, and its place on its list's freed pages,
or on its kept ones; 0 is the head."""

REMOVAL_HOLDS: Final = schema_of(
    {
        "list": pl.UInt64,
        "swap": pl.Boolean,
        "mapping": pl.UInt64,
        "removed": pl.UInt32,
        "failed": pl.UInt32,
        "passed_over": pl.UInt32,
        "descents": pl.UInt64,
        "nodes": pl.UInt64,
        "tag_words": pl.UInt64,
        "nodes_freed": pl.UInt64,
    }
)
"""One row per hold of a mapping's lock, in order: pages removed, pages that could not be, pages of
other mappings that the walk met, and the work on the tree. The mapping of swap is its trunk, from
0."""

REMOVAL_LISTS: Final = schema_of(
    {
        "kernel": pl.String,
        "list": pl.UInt64,
        "pid": pl.Int32,
        "pages": pl.UInt32,
        "failed": pl.UInt32,
        "mappings": pl.UInt32,
        "page_by_page": pl.UInt32,
        "batched": pl.UInt32,
        "longest": pl.UInt32,
    }
)
"""One row per kernel and list: its pages, those that could not be removed, its distinct mappings,
the acquisitions of a mapping's lock page by page and batched, and the pages of the longest of the
batched holds."""

BATCHED_REMOVAL: Final = schema_of(
    {
        "trace": pl.String,
        "kernel": pl.String,
        "lists": pl.UInt64,
        "pages": pl.UInt64,
        "failed": pl.UInt64,
        "pages_a_list": pl.Float64,
        "mappings_a_list": pl.Float64,
        "page_by_page": pl.UInt64,
        "batched": pl.UInt64,
        "saved_a_page": pl.Float64,
        "pages_a_hold": pl.Float64,
        "longest": pl.UInt32,
    }
)
"""One row per trace and kernel: REMOVAL_LISTS added up, ``failed`` null where the trace does not
show failures; acquisitions saved a page, and how many pages a batched hold is long, in the mean and
at most."""

WAITS_NEEDED: Final = schema_of(
    {
        "claim": pl.String,
        "base": pl.Float64,
        "value": pl.Float64,
        "change": pl.Float64,
        "saved_percent": pl.Float64,
        "needed_percent": pl.Float64,
        "enough": pl.Boolean,
    }
)
"""One row per published system time: its change in percent, the share of the mapping's lock's
acquisitions that batching saves, and what share of the system time must be waits for that lock if
these acquisitions explain the change; null for a loss, which none explains. ``enough``: is that
share one that can be?"""
