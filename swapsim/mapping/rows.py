# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a trace that touch a mapping, as rows of one table in trace order."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.mapping._native_replay import File, Op, Shadow
from swapsim.mapping.tables import REPLAY_ROWS
from swapsim.traces import require_events
from swapsim.traces.event_fields import PAGE_BYTES, one_device, read_fields, swap_offset

FOLIO_BYTES: Final = 64
"""sizeof(struct page) on x86-64: a folio's address is vmemmap + 64 * pfn."""

VMEMMAP_BASE: Final = 0xFFFF_EA00_0000_0000
"""Where vmemmap begins without address randomisation (Documentation/arch/x86/x86_64/mm.rst)."""


def writeback_rows(folder: Path | str) -> pl.DataFrame:
    """Bring the events that touch a mapping into one table, in trace order.

    Parameters
    ----------
    folder : Path or str
        As for `writeback_tags`.

    Returns
    -------
    polars.DataFrame
        Schema REPLAY_ROWS.

    Raises
    ------
    InputError
        A needed event or field is missing, or the trace swaps to more than one device.
    """
    present = require_events(folder, "writeback-tags")
    frames = [
        _swap_rows(folder, "swp_add", Op.SWAP_ADD),
        _swap_rows(folder, "swp_del", Op.SWAP_DELETE),
        _writeback_rows(folder, "wb_start", Op.START),
        _writeback_rows(folder, "wb_end", Op.END),
    ]
    if "swp_free" in present:
        frames.append(_swap_rows(folder, "swp_free", Op.SLOT_FREE))
    if "folio_move" in present:
        frames.append(_move_rows(folder))
    frames += _file_rows(folder, present)
    return REPLAY_ROWS.check(pl.concat(frames).sort("seq"))


def _swap_rows(folder: Path | str, event: str, op: Op) -> pl.DataFrame:
    """Rows of an event that names a swap entry, and a folio unless the slot is freed."""
    fields = ["entry"] if event == "swp_free" else ["folio", "entry"]
    frame = read_fields(folder, event, fields, ["shadow"])
    frame = one_device(frame, folder, event)
    has_shadow = "shadow" in frame.columns
    return frame.select(
        "seq",
        op=pl.lit(op, dtype=pl.UInt8),
        folio=pl.col("folio") if "folio" in fields else pl.lit(0, dtype=pl.UInt64),
        index=swap_offset("entry"),
        file=pl.lit(File.SWAP, dtype=pl.UInt64),
        shadow=pl.col("shadow") if has_shadow else pl.lit(Shadow.UNTOLD, dtype=pl.UInt64),
    )


def _in_swap_cache() -> pl.Expr:
    """Tell a swap page by folio->mapping: bit 0 for anonymous memory, null for shared memory.

    Both have their entry in ``private``; any other mapping is a file's address_space.
    """
    mapping = pl.col("mapping")
    return (mapping & 1 == 1) | (mapping == 0)


def _writeback_rows(folder: Path | str, event: str, op: Op) -> pl.DataFrame:
    """Rows of a writeback transition, with the page's place where the probe read it."""
    place = ["mapping", "index", "private"]
    frame = read_fields(folder, event, ["folio"], place)
    if all(name in frame.columns for name in place):
        mapping, index = pl.col("mapping"), pl.col("index")
        file = pl.when(_in_swap_cache()).then(File.SWAP).otherwise(mapping)
        index = pl.when(_in_swap_cache()).then(swap_offset("private")).otherwise(index)
    else:
        file, index = pl.lit(File.UNKNOWN), pl.lit(0)
    return frame.select(
        "seq",
        op=pl.lit(op, dtype=pl.UInt8),
        folio=pl.col("folio"),
        index=index.cast(pl.UInt64),
        file=file.cast(pl.UInt64),
        shadow=pl.lit(Shadow.NONE, dtype=pl.UInt64),
    )


def _move_rows(folder: Path | str) -> pl.DataFrame:
    """Rows of compaction's moves; a folio without a mapping moves without a lock."""
    return (
        read_fields(folder, "folio_move", ["mapping", "new", "old"])
        .filter(pl.col("mapping") != 0)
        .select(
            "seq",
            op=pl.lit(Op.MOVE, dtype=pl.UInt8),
            folio=pl.col("new"),
            index=pl.col("old"),
            file=pl.lit(File.UNKNOWN, dtype=pl.UInt64),
            shadow=pl.lit(Shadow.NONE, dtype=pl.UInt64),
        )
    )


def _file_rows(folder: Path | str, present: Iterable[str]) -> list[pl.DataFrame]:
    """Rows of the page cache's own events; files are numbered in order of appearance."""
    page_cache = {
        "mm_filemap_add_to_page_cache": Op.FILE_ADD,
        "mm_filemap_delete_from_page_cache": Op.FILE_DELETE,
    }
    frames = [
        read_fields(folder, event, ["dev", "ino", "pfn", "ofs"]).select(
            "seq",
            pl.col("dev"),
            pl.col("ino"),
            op=pl.lit(op, dtype=pl.UInt8),
            folio=pl.col("pfn") * FOLIO_BYTES + VMEMMAP_BASE,
            index=pl.col("ofs") // PAGE_BYTES,
        )
        for event, op in page_cache.items()
        if event in present
    ]
    if "writeback_dirty_folio" in present:
        frames.append(
            read_fields(folder, "writeback_dirty_folio", ["bdi", "ino", "index"]).select(
                "seq",
                pl.col("bdi").alias("dev"),
                pl.col("ino"),
                op=pl.lit(Op.FILE_DIRTY, dtype=pl.UInt8),
                folio=pl.lit(0, dtype=pl.UInt64),
                index=pl.col("index"),
            )
        )
    if not frames:
        return []
    rows = pl.concat(frames).sort("seq")
    files = (
        rows.select("dev", "ino").unique(maintain_order=True).with_row_index("file", max(File) + 1)
    )
    numbered = rows.join(files, on=["dev", "ino"], how="left", maintain_order="left")
    return [
        numbered.select(
            "seq",
            "op",
            "folio",
            "index",
            pl.col("file").cast(pl.UInt64),
            shadow=pl.lit(Shadow.NONE, dtype=pl.UInt64),
        )
    ]
