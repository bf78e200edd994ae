# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of a trace that touch a mapping, in one table."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.mapping._native import File, Op, Shadow
from swapsim.mapping.tables import REPLAY_ROWS
from swapsim.traces import require_events
from swapsim.traces.event_fields import PAGE_BYTES, one_device, read_fields, swap_offset

FOLIO_BYTES: Final = 64
"""sizeof(struct page) on x86-64: a folio's address is vmemmap + 64 * pfn."""

VMEMMAP_BASE: Final = 0xFFFF_EA00_0000_0000
"""Start of vmemmap without address randomisation (Documentation/arch/x86/x86_64/mm.rst)."""


def writeback_rows(folder: Path | str) -> pl.DataFrame:
    """Read the events that touch a mapping, in trace order (REPLAY_ROWS).

    The events are those of `mapping.writeback_tags`. InputError is raised if a required event or
    field is missing, or the trace swaps to more than one device.
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


def _rows(
    frame: pl.DataFrame,
    op: Op,
    *,
    index: pl.Expr,
    file: pl.Expr | File,
    folio: pl.Expr | int = 0,
    shadow: pl.Expr | Shadow = Shadow.NONE,
) -> pl.DataFrame:
    """Return an event's rows with the columns of REPLAY_ROWS."""
    values = {"folio": folio, "index": index, "file": file, "shadow": shadow}
    return frame.select(
        "seq",
        op=pl.lit(op, dtype=pl.UInt8),
        **{
            name: (value if isinstance(value, pl.Expr) else pl.lit(value)).cast(pl.UInt64)
            for name, value in values.items()
        },
    )


def _swap_rows(folder: Path | str, event: str, op: Op) -> pl.DataFrame:
    """Return the rows of an event with a swap entry, and with a folio unless a slot is freed."""
    fields = ["entry"] if event == "swp_free" else ["folio", "entry"]
    frame = one_device(read_fields(folder, event, fields, ["shadow"]), folder, event)
    return _rows(
        frame,
        op,
        folio=pl.col("folio") if "folio" in fields else 0,
        index=swap_offset("entry"),
        file=File.SWAP,
        shadow=pl.col("shadow") if "shadow" in frame.columns else Shadow.UNKNOWN,
    )


def _writeback_rows(folder: Path | str, event: str, op: Op) -> pl.DataFrame:
    """Return the rows of a writeback transition, with the page's place if the probe read it.

    A page is in the swap cache if folio->mapping has bit 0 (anonymous memory) or is null (shared
    memory); both have their entry in ``private``. Other mappings are a file's address_space.
    """
    place = ["mapping", "index", "private"]
    frame = read_fields(folder, event, ["folio"], place)
    if not all(name in frame.columns for name in place):
        return _rows(frame, op, folio=pl.col("folio"), index=pl.lit(0), file=File.UNKNOWN)
    mapping = pl.col("mapping")
    swapped = (mapping & 1 == 1) | (mapping == 0)
    return _rows(
        frame,
        op,
        folio=pl.col("folio"),
        index=pl.when(swapped).then(swap_offset("private")).otherwise("index"),
        file=pl.when(swapped).then(File.SWAP).otherwise(mapping),
    )


def _move_rows(folder: Path | str) -> pl.DataFrame:
    """Return the rows of compaction's moves; a folio without a mapping moves without a lock."""
    frame = read_fields(folder, "folio_move", ["mapping", "new", "old"])
    return _rows(
        frame.filter(pl.col("mapping") != 0),
        Op.MOVE,
        folio=pl.col("new"),
        index=pl.col("old"),
        file=File.UNKNOWN,
    )


def _file_rows(folder: Path | str, present: Iterable[str]) -> list[pl.DataFrame]:
    """Return the rows of the page cache's events; files are numbered in order of appearance."""
    page_cache = {
        "mm_filemap_add_to_page_cache": Op.FILE_ADD,
        "mm_filemap_delete_from_page_cache": Op.FILE_DELETE,
    }
    frames = [
        read_fields(folder, event, ["dev", "ino", "pfn", "ofs"]).select(
            "seq",
            "dev",
            "ino",
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
                "ino",
                op=pl.lit(Op.FILE_DIRTY, dtype=pl.UInt8),
                folio=pl.lit(0, dtype=pl.UInt64),
                index="index",
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
            *("seq", "op", "folio", "index"),
            file=pl.col("file").cast(pl.UInt64),
            shadow=pl.lit(Shadow.NONE, dtype=pl.UInt64),
        )
    ]
