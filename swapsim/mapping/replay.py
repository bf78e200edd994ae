# SPDX-License-Identifier: GPL-2.0-or-later
"""Replay of a trace through the mapping's lock, with and without writeback tags (patch A).

Each page goes through the steps that a kernel takes for it; the acquisitions of the lock and the
work under it are counted. No time is simulated here.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError, errors_of
from swapsim.ffi import MAPPING_KERNELS, MAPPING_SLOTS_MAX
from swapsim.mapping._native import File, Op, Shadow, replay_writeback_tags
from swapsim.mapping.config import MappingConfig
from swapsim.mapping.tables import LOCK_SITES, LOCK_SITES_PER_PAGE
from swapsim.progress import bar
from swapsim.traces import require_events
from swapsim.traces.event_fields import (
    PAGE_BYTES,
    SWAP_TYPE_SHIFT,
    one_device,
    read_fields,
    swap_offset,
)
from swapsim.traces.folder import event_names
from swapsim.traces.needed_fields import not_counted, unpaired

FOLIO_BYTES: Final = 64  # sizeof(struct page) on x86-64: a folio's address is vmemmap + 64 * pfn

VMEMMAP_BASE: Final = 0xFFFF_EA00_0000_0000
"""Start of vmemmap without address randomisation (Documentation/arch/x86/x86_64/mm.rst)."""


def writeback_rows(folder: Path | str) -> pl.DataFrame:
    """Read the events that touch a mapping, in trace order: rows for `replay_rows`.

    The events are those of `mapping.writeback_tags`. InputError is raised if a required event or
    field is missing, or the trace swaps to more than one device.
    """
    present = require_events(folder, "mapping")
    frames = [
        _swap_rows(folder, "swp_add", Op.SWAP_ADD),
        _swap_rows(folder, "swp_del", Op.SWAP_DELETE),
        _writeback_rows(folder, "wb_start", Op.START),
        _writeback_rows(folder, "wb_end", Op.END),
    ]
    if "swp_free" in present:
        frames.append(_swap_rows(folder, "swp_free", Op.SLOT_FREE))
    if "folio_move" in present:
        # A folio without a mapping is moved without a lock.
        moved = read_fields(folder, "folio_move", ["mapping", "new", "old"]).filter(
            pl.col("mapping") != 0
        )
        place = {"folio": pl.col("new"), "index": pl.col("old")}
        frames.append(_rows(moved, Op.MOVE, **place, file=File.UNKNOWN))
    frames += _file_rows(folder, present)
    return pl.concat(frames).sort("seq")


def _rows(
    frame: pl.DataFrame,
    op: Op,
    *,
    index: pl.Expr,
    file: pl.Expr | File,
    folio: pl.Expr | int = 0,
    shadow: pl.Expr | Shadow = Shadow.NONE,
) -> pl.DataFrame:
    """Return an event's rows with ``seq`` and the columns of ``struct sws_mapping_replay_rows``."""
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

    A page whose mapping has bit 0 (anonymous memory) or is null (shared memory) is in the swap
    cache, with its entry in ``private``. Other mappings are a file's address_space.
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


_ROWS_A_CHUNK = 4_000_000


def writeback_tags(
    folder: Path | str, *, kernel: str = "4.8", progress: bool = False
) -> pl.DataFrame:
    """Count the acquisitions of the mapping's lock and the tree work, with and without tags.

    Each page of the trace goes through the steps of one kernel's row of ``mapping.h`` twice: once
    with writeback tags in the swap cache (before patch A) and once without.

    Parameters
    ----------
    folder : Path or str
        A trace folder with the events swp_add, swp_del, wb_start and wb_end; swp_free, folio_move,
        mm_filemap_add_to_page_cache, mm_filemap_delete_from_page_cache and writeback_dirty_folio
        are used if present.
    kernel : {"4.8", "5.8", "6.1"}
        The kernel whose locks and tree walks are followed.

    Returns
    -------
    polars.DataFrame
        Schema LOCK_SITES, one row per tags, flow and site that was reached.

    Examples
    --------
    >>> from swapsim import frames, mapping
    >>> sites = mapping.writeback_tags("swap-w-seq", kernel="4.8")
    >>> frames.show(sites.head(4).select("tags", "site", "acquisitions"))
    tags  site    acquisitions
    yes   add           34,021
    yes   start         34,021
    yes   end           34,021
    yes   delete        34,021
    """
    rows = writeback_rows(folder)
    slots = _device_slots(rows, folder)
    configs = [
        MappingConfig(kernel=kernel, swap_writeback_tags=tags, swap_slots=slots)
        for tags in (True, False)
    ]
    with errors_of(folder):
        return pl.concat([replay_rows(rows, config, progress=progress) for config in configs])


def writeback_tags_of(
    folders: Mapping[str, Path], *, kernel: str = "4.8", progress: bool = False
) -> dict[str, pl.DataFrame]:
    """Run `writeback_tags` on several traces, and return LOCK_SITES by the trace's name."""
    return {
        name: writeback_tags(folder, kernel=kernel, progress=progress)
        for name, folder in folders.items()
    }


def writeback_tags_by_kernel(folder: Path | str) -> pl.DataFrame:
    """Run `writeback_tags` under each kernel of the mappings, oldest first (LOCK_SITES)."""
    return pl.concat([writeback_tags(folder, kernel=kernel) for kernel in MAPPING_KERNELS])


def replay_rows(
    rows: pl.DataFrame, config: MappingConfig, *, progress: bool = False
) -> pl.DataFrame:
    """Replay rows in memory through one kernel's mappings, into the sites reached (LOCK_SITES).

    InputError is raised if rows are not sorted by seq, or one cannot be replayed.
    """
    if not rows["seq"].is_sorted():
        raise InputError("rows are out of order: sort them", field="seq")
    for field in rows.columns:
        if rows[field].null_count():
            row = rows.filter(pl.col(field).is_null()).row(0, named=True)
            raise InputError(
                f"the row with seq {row['seq']} has no value: an event of the trace lacks a field",
                field=field,
            )
    label = f"{config.kernel}, {'with' if config.swap_writeback_tags else 'without'} tags"
    with bar(rows.height, label, "rows", shown=progress) as counted:

        def chunks() -> Iterator[pl.DataFrame]:
            for chunk in rows.iter_slices(_ROWS_A_CHUNK):
                yield chunk
                counted.update(chunk.height)

        sites = replay_writeback_tags(chunks(), config)
    return sites.filter(pl.col("calls") > 0)


def per_page(sites: pl.DataFrame) -> pl.DataFrame:
    """Divide the counts of lock sites by the pages that were written in their flow.

    Parameters
    ----------
    sites : polars.DataFrame
        Schema LOCK_SITES, as of `writeback_tags`.

    Returns
    -------
    polars.DataFrame
        Schema LOCK_SITES_PER_PAGE, a row for each kernel, rule of tags, flow and site, counts per
        page. Swap pages that were not written have no rows.

    Examples
    --------
    >>> from swapsim import frames, mapping
    >>> sites = mapping.per_page(mapping.writeback_tags("swap-w-seq"))
    >>> frames.show(sites.filter(tags=True).select("site", "acquisitions", "nodes"))
    site    acquisitions   nodes
                  1/page  1/page
    add                1       3
    start              1       9
    end                1       3
    delete             1       3
    """
    LOCK_SITES.check(sites)
    pages = sites.filter(pl.col("site") == "start").select(
        "kernel", "tags", "flow", pages=pl.col("calls")
    )
    figures = ("acquisitions", "descents", "nodes", "tag_words")
    frame = (
        sites.join(pages, on=["kernel", "tags", "flow"], how="inner", maintain_order="left")
        .with_columns(pl.col(name) / pl.col("pages") for name in figures)
        .select(LOCK_SITES_PER_PAGE.names())
    )
    return LOCK_SITES_PER_PAGE.check(frame)


def totals_per_page(sites: pl.DataFrame) -> pl.DataFrame:
    """Return the sums of `per_page` over the sites: a row per kernel, tags and flow.

    Examples
    --------
    >>> from swapsim import frames, mapping
    >>> frames.show(mapping.totals_per_page(mapping.writeback_tags("swap-w-seq")))
    kernel: 4.8
    tags  flow            pages  acquisitions  descents   nodes  tag_words
                                       1/page    1/page  1/page     1/page
    yes   swap, written  34,021             4         6      18       12.7
    no    swap, written  34,021             2         2       6        3.0
    """
    keys = ["kernel", "tags", "flow", "pages"]
    return (
        per_page(sites)
        .group_by(keys, maintain_order=True)
        .agg(pl.col("acquisitions", "descents", "nodes", "tag_words").sum())
    )


def mix(sites_of: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare traces by the share of file pages and the acquisitions per page written.

    ``sites_of`` has the LOCK_SITES of one kernel by the trace's name. There is a row per trace and
    ``tags``: the pages written, of swap and of files, the share of files among them, and the
    acquisitions per page at their sites.
    """
    sites = pl.concat(frame.with_columns(trace=pl.lit(name)) for name, frame in sites_of.items())
    written = pl.col("calls").filter(pl.col("site") == "start")
    of_files = pl.col("calls").filter(pl.col("site") == "start", pl.col("flow") == "file")
    return (
        sites.filter(pl.col("flow") != "swap, not written")
        .group_by("trace", "tags", maintain_order=True)
        .agg(
            pages=written.sum(),
            file_share=of_files.sum() / written.sum(),
            acquisitions=pl.col("acquisitions").sum() / written.sum(),
        )
    )


def _device_slots(rows: pl.DataFrame, folder: Path | str) -> int:
    """Return the size of the smallest device that has a slot for each swap row."""
    last = rows.filter(pl.col("file") == File.SWAP).top_k(1, by="index")
    if not last.height:
        return 1
    seq, offset = last.select("seq", "index").row(0)
    if offset >= MAPPING_SLOTS_MAX:
        raise InputError(
            f"the row with seq {seq} has the swap offset {offset}: no device has so many slots; "
            f"the kernel's entries must have their type above bit {SWAP_TYPE_SHIFT}",
            path=folder,
        )
    return int(offset) + 1


def summed(sites: pl.DataFrame) -> list[str]:
    """Return a line for each flow of LOCK_SITES: its acquisitions a page over all sites."""
    totals = totals_per_page(sites).pivot("tags", index=["flow", "pages"])
    return [
        f"{row['flow']}: {row['acquisitions_true']:.2f} acquisitions a page with tags, "
        f"{row['acquisitions_false']:.2f} without"
        for row in totals.iter_rows(named=True)
    ]


def doubts(sites: pl.DataFrame, folder: Path | str) -> list[str]:
    """Return a line for each reason for which figures of a trace's LOCK_SITES may be off."""
    of_tags = sites.filter("tags")
    pages = sum(totals_per_page(sites).filter("tags", flow="swap, written")["pages"])
    added = of_tags.filter(flow="swap, written", site="add")["calls"].sum()
    too_few = (
        f"{pages - added:,} of {pages:,} pages were written without a recorded add, so the "
        "acquisitions of adding are too few"
    )
    return (
        not_counted(event_names(folder))
        + unpaired(folder)
        + [too_few] * (added < pages)
        + [
            f"{of_tags[name].sum():,} calls {words}, so these figures may be off"
            for name, words in (
                ("unresolved", "have a place in a tree that the trace does not show"),
                ("contradicted", "are of stays in the swap cache that the trace contradicts"),
            )
            if of_tags[name].sum()
        ]
    )
