# SPDX-License-Identifier: GPL-2.0-or-later
"""What each list of reclaim takes out of the swap cache on 6.12 and 7.3, and writeback of swap."""

from pathlib import Path
from typing import Final

import polars as pl

from rig.collect import Captured, events, moved
from rig.counts import Metrics, Rows
from rig.errors import GuestError
from rig.kernel import CLUSTER_SLOTS
from swapsim.traces.folder import SWAP_TYPE_SHIFT

TRUNK_SHIFT: Final = 14
"""Log2 of the slots of 64 MiB, which one space of 6.12's swap cache serves."""

# A folio of several pages has this flag (PG_head), and its order in the low byte of _flags_1.
_LARGE: Final = 1 << 6
_ORDER_MASK: Final = 0xFF


def read(captured: Captured, work: Path) -> tuple[Metrics, Rows]:
    """Count, for each list of reclaim, the folios that it took out of the swap cache.

    Metrics count starts and ends of writeback of swap, per page swapped out.

    Raises
    ------
    GuestError
        Nothing was swapped out, or no list took a folio out of the swap cache.
    """
    recorded = events(captured, work, "list_removal", "list_begin", "wb_start", "wb_end")
    pages = moved(captured, "pswpout")
    removals = _sized(recorded["list_removal"])
    if not pages or removals.is_empty():
        raise GuestError("no page was swapped out, or none was taken out of the swap cache")
    lists = _lists(removals, recorded["list_begin"])
    metrics: Metrics = {
        "pages out": (pages, "page"),
        "lists": (lists.height, "list"),
        "folios removed": (int(lists["folios"].sum()), "folio"),
        "slots removed": (int(lists["slots"].sum()), "slot"),
    }
    for column in ("clusters", "runs", "trunks"):
        metrics[f"{column} of lists"] = (int(lists[column].sum()), "1")
    for event, name in (("wb_start", "starts"), ("wb_end", "ends")):
        # On its way to swap: an anonymous folio, whose mapping is odd, or a shared one without.
        mapping = _unsigned("mapping")
        swap = _sized(recorded[event]).filter((mapping & 1 == 1) | (mapping == 0))
        metrics[f"writeback {name}"] = (swap.height / pages, "1/page")
        metrics[f"pages of writeback {name}"] = (int(swap["pages"].sum()) / pages, "1/page")
    return metrics, [list(row) for row in lists.iter_rows()]


def _lists(removals: pl.DataFrame, begins: pl.DataFrame) -> pl.DataFrame:
    """Return one row per list that removed anything: a task's list is the last that it began."""
    numbered = begins.select("seq", "pid").sort("seq").with_row_index("list", 1)
    slot = _unsigned("entry") & ((1 << SWAP_TYPE_SHIFT) - 1)
    return (
        removals.sort("seq")
        .with_columns(cluster=slot // CLUSTER_SLOTS, trunk=slot // (1 << TRUNK_SHIFT))
        .join_asof(numbered, on="seq", by="pid", check_sortedness=False)
        .drop_nulls("list")
        .group_by("list", "pid", maintain_order=True)
        .agg(
            pl.col("cpu").first(),
            folios=pl.len(),
            slots=pl.col("pages").sum(),
            clusters=pl.col("cluster").n_unique(),
            runs=pl.col("cluster").rle_id().last() + 1,
            trunks=pl.col("trunk").n_unique(),
        )
        .sort("list")
    )


def _unsigned(name: str) -> pl.Expr:
    """Return a column of pointers or flags without its sign."""
    return pl.col(name).cast(pl.UInt64, wrap_numerical=True)


def _sized(folios: pl.DataFrame) -> pl.DataFrame:
    """Add the pages of each folio, from its flags and those of its second page."""
    large = _unsigned("flags") & _LARGE != 0
    pages = pl.lit(2).pow(_unsigned("size") & _ORDER_MASK)
    return folios.with_columns(pages=pl.when(large).then(pages).otherwise(1).cast(pl.UInt32))
