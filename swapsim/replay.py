# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace x mechanism -> counts.

A replay takes what a real kernel did, page by page, and counts what each
version of the mechanism would have done for the same pages. It knows no time.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import polars as pl
from tqdm import tqdm

from swapsim import native, traces
from swapsim.config import MappingConfig
from swapsim.errors import InputError
from swapsim.schemas import (
    FLOW,
    LOCK_SITES,
    LOCK_SITES_PER_PAGE,
    REPLAY_ROWS,
    RESULTS,
    SOURCE,
    require,
)

WRITEBACK_TAGS_NEEDS: Final = ("swp_add", "swp_del", "wb_start", "wb_end")
"""Events without which the replay of patch A cannot run."""

SWAP_TYPE_SHIFT: Final = 58
"""A swap entry's type stands above this bit (include/linux/swapops.h, 5.7 to 6.1)."""

FOLIO_BYTES: Final = 64
"""sizeof(struct page) on x86-64: a folio's address is vmemmap + 64 * pfn."""

VMEMMAP_BASE: Final = 0xFFFF_EA00_0000_0000
"""Where vmemmap begins without address randomisation (Documentation/arch/x86/x86_64/mm.rst)."""

# The values of enum sws_replay_op, sws_replay_file and sws_replay_shadow.
_SWAP_ADD, _SWAP_DELETE, _SLOT_FREE, _START, _END, _FILE_ADD, _FILE_DELETE, _FILE_DIRTY = range(8)
_FILE_UNKNOWN, _FILE_SWAP, _FIRST_FILE = 0, 1, 2
_SHADOW_UNTOLD = 2

_ROWS_A_CHUNK = 4_000_000


def writeback_tags(
    folder: Path | str, *, kernel: str = "4.8", progress: bool = False
) -> pl.DataFrame:
    """Count the mapping lock's acquisitions and the tree work under them, tags kept and not.

    Each page of the trace is led through the steps of one kernel's row of ``mapping.h`` twice:
    once with writeback tags in the swap cache (before patch A) and once without.

    Parameters
    ----------
    folder : Path or str
        A trace folder with the events swp_add, swp_del, wb_start, wb_end; swp_free and the file
        events mm_filemap_add_to_page_cache, mm_filemap_delete_from_page_cache and
        writeback_dirty_folio are taken where they are there.
    kernel : {"4.8", "5.8", "6.1"}
        Whose locks and tree walks to follow.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    polars.DataFrame
        Schema LOCK_SITES, one row per tags, flow and site that was reached.

    Raises
    ------
    InputError
        A needed event is missing, or a row cannot be replayed.
    """
    rows = writeback_rows(folder)
    slots = int(rows.filter(pl.col("file") == _FILE_SWAP)["index"].max() or 0) + 1  # type: ignore[call-overload, operator]
    configs = [
        MappingConfig(kernel=kernel, swap_writeback_tags=tags, swap_slots=slots)
        for tags in (True, False)
    ]
    return pl.concat([replay_rows(rows, config, progress=progress) for config in configs])


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
    present = traces.require_events(folder, WRITEBACK_TAGS_NEEDS, "writeback-tags")
    frames = [
        _swap_rows(folder, "swp_add", _SWAP_ADD),
        _swap_rows(folder, "swp_del", _SWAP_DELETE),
        _writeback_rows(folder, "wb_start", _START),
        _writeback_rows(folder, "wb_end", _END),
    ]
    if "swp_free" in present:
        frames.append(_swap_rows(folder, "swp_free", _SLOT_FREE))
    frames += _file_rows(folder, present)
    return require(pl.concat(frames).sort("seq"), REPLAY_ROWS, "replay rows")


def replay_rows(
    rows: pl.DataFrame, config: MappingConfig, *, progress: bool = False
) -> pl.DataFrame:
    """Lead rows that are in memory through one kernel's mappings.

    Parameters
    ----------
    rows : polars.DataFrame
        Schema REPLAY_ROWS, sorted by seq.
    config : MappingConfig
    progress : bool

    Returns
    -------
    polars.DataFrame
        Schema LOCK_SITES, one row per flow and site that was reached.

    Raises
    ------
    InputError
        Rows out of order, or one that cannot be replayed.
    """
    if not rows["seq"].is_sorted():
        raise InputError("rows are out of order: sort them", field="seq")
    label = f"{config.kernel}, tags {'kept' if config.swap_writeback_tags else 'not kept'}"
    with tqdm(total=rows.height, desc=label, unit=" rows", disable=not progress) as bar:

        def chunks() -> Iterator[pl.DataFrame]:
            for chunk in rows.iter_slices(_ROWS_A_CHUNK):
                yield chunk
                bar.update(chunk.height)

        sites = native.replay_writeback_tags(chunks(), config)
    return sites.filter(pl.col("calls") > 0)


def per_page(sites: pl.DataFrame) -> pl.DataFrame:
    """Divide what each site did by the pages written in its flow.

    Parameters
    ----------
    sites : polars.DataFrame
        Schema LOCK_SITES.

    Returns
    -------
    polars.DataFrame
        Schema LOCK_SITES_PER_PAGE. Swap pages that were not written are left out: there is no
        page written to divide by.
    """
    require(sites, LOCK_SITES, "lock sites")
    pages = sites.filter(pl.col("site") == "start").select(
        "kernel", "tags", "flow", pages=pl.col("calls")
    )
    figures = ("acquisitions", "descents", "nodes", "tag_words")
    frame = (
        sites.join(pages, on=["kernel", "tags", "flow"], how="inner", maintain_order="left")
        .with_columns(pl.col(name) / pl.col("pages") for name in figures)
        .select(LOCK_SITES_PER_PAGE.names())
    )
    return require(frame, LOCK_SITES_PER_PAGE, "lock sites per page")


def totals_per_page(sites: pl.DataFrame) -> pl.DataFrame:
    """Sum `per_page` over the sites of each flow.

    Returns
    -------
    polars.DataFrame
        One row per kernel, tags and flow: pages, acquisitions, descents, nodes, tag_words.
    """
    keys = ["kernel", "tags", "flow", "pages"]
    return (
        per_page(sites)
        .group_by(keys, maintain_order=True)
        .agg(pl.col("acquisitions", "descents", "nodes", "tag_words").sum())
    )


def results(sites: pl.DataFrame, *, n_tasks: int) -> pl.DataFrame:
    """Turn a replay's acquisitions per page swapped out into RESULTS rows.

    Parameters
    ----------
    sites : polars.DataFrame
        Schema LOCK_SITES.
    n_tasks : int
        Tasks of the workload that was traced.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS; metrics ``acquisitions.SITE``, unit "per page"; policy "tags" or
        "no tags"; seed 0, for a replay draws no lot.
    """
    frame = (
        per_page(sites)
        .filter(pl.col("flow") == FLOW.categories[0])
        .select(
            patch=pl.lit("01-writeback-tags"),
            source=pl.lit("simulated", dtype=SOURCE),
            kernel=pl.col("kernel"),
            policy=pl.when("tags").then(pl.lit("tags")).otherwise(pl.lit("no tags")),
            n_tasks=pl.lit(n_tasks, dtype=pl.UInt32),
            seed=pl.lit(0, dtype=pl.UInt64),
            metric=pl.format("acquisitions.{}", pl.col("site").cast(pl.String)),
            value=pl.col("acquisitions"),
            unit=pl.lit("per page"),
        )
    )
    return require(frame, RESULTS, "results")


def _swap_rows(folder: Path | str, event: str, op: int) -> pl.DataFrame:
    """Rows of an event that names a swap entry, and a folio unless the slot is freed."""
    fields = ["entry"] if event == "swp_free" else ["folio", "entry"]
    frame = traces.scan_fields(folder, event, fields, optional=["shadow"]).collect()
    frame = _one_device(frame, event)
    has_shadow = "shadow" in frame.columns
    return frame.select(
        "seq",
        op=pl.lit(op, dtype=pl.UInt8),
        folio=pl.col("folio").cast(pl.UInt64)
        if "folio" in fields
        else pl.lit(0, dtype=pl.UInt64),
        index=_offset("entry"),
        file=pl.lit(_FILE_SWAP, dtype=pl.UInt64),
        shadow=pl.col("shadow").cast(pl.UInt64)
        if has_shadow
        else pl.lit(_SHADOW_UNTOLD, dtype=pl.UInt64),
    )


def _offset(field: str) -> pl.Expr:
    return pl.col(field).cast(pl.UInt64) & ((1 << SWAP_TYPE_SHIFT) - 1)


def _one_device(frame: pl.DataFrame, event: str) -> pl.DataFrame:
    devices = frame.select((pl.col("entry").cast(pl.UInt64) // (1 << SWAP_TYPE_SHIFT)).unique())
    if devices.height > 1:
        raise InputError(
            f"event {event} has swap entries of {devices.height} devices: "
            "a replay takes one; filter the trace to one device",
            field="entry",
        )
    return frame


def _writeback_rows(folder: Path | str, event: str, op: int) -> pl.DataFrame:
    """Rows of a writeback transition, with the page's place where the probe read it.

    A folio's mapping has bit 0 set for anonymous memory and is null for shared memory in the
    swap cache; both have their entry in ``private``. Else it is the file's address_space.
    """
    place = ["mapping", "index", "private"]
    frame = traces.scan_fields(folder, event, ["folio"], optional=place).collect()
    unsigned = {name: pl.col(name).cast(pl.UInt64) for name in frame.columns if name != "seq"}
    if all(name in frame.columns for name in place):
        in_swap_cache = (unsigned["mapping"] & 1 == 1) | (unsigned["mapping"] == 0)
        file = pl.when(in_swap_cache).then(_FILE_SWAP).otherwise(unsigned["mapping"])
        index = pl.when(in_swap_cache).then(_offset("private")).otherwise(unsigned["index"])
    else:
        file, index = pl.lit(_FILE_UNKNOWN), pl.lit(0)
    return frame.select(
        "seq",
        op=pl.lit(op, dtype=pl.UInt8),
        folio=unsigned["folio"],
        index=index.cast(pl.UInt64),
        file=file.cast(pl.UInt64),
        shadow=pl.lit(0, dtype=pl.UInt64),
    )


def _file_rows(folder: Path | str, present: Iterable[str]) -> list[pl.DataFrame]:
    """Rows of the page cache's own events; files are numbered in order of appearance."""
    page_cache = {
        "mm_filemap_add_to_page_cache": _FILE_ADD,
        "mm_filemap_delete_from_page_cache": _FILE_DELETE,
    }
    frames = [
        traces.scan_fields(folder, event, ["dev", "ino", "pfn", "ofs"])
        .collect()
        .select(
            "seq",
            pl.col("dev").cast(pl.String),
            pl.col("ino").cast(pl.UInt64),
            op=pl.lit(op, dtype=pl.UInt8),
            folio=pl.col("pfn").cast(pl.UInt64) * FOLIO_BYTES + VMEMMAP_BASE,
            index=pl.col("ofs").cast(pl.UInt64) // 4096,
        )
        for event, op in page_cache.items()
        if event in present
    ]
    if "writeback_dirty_folio" in present:
        frames.append(
            traces.scan_fields(folder, "writeback_dirty_folio", ["bdi", "ino", "index"])
            .collect()
            .select(
                "seq",
                pl.col("bdi").cast(pl.String).alias("dev"),
                pl.col("ino").cast(pl.UInt64),
                op=pl.lit(_FILE_DIRTY, dtype=pl.UInt8),
                folio=pl.lit(0, dtype=pl.UInt64),
                index=pl.col("index").cast(pl.UInt64),
            )
        )
    if not frames:
        return []
    rows = pl.concat(frames).sort("seq")
    files = rows.select("dev", "ino").unique(maintain_order=True).with_row_index("file", _FIRST_FILE)
    numbered = rows.join(files, on=["dev", "ino"], how="left", maintain_order="left")
    return [
        numbered.select(
            "seq",
            "op",
            "folio",
            "index",
            pl.col("file").cast(pl.UInt64),
            shadow=pl.lit(0, dtype=pl.UInt64),
        )
    ]
