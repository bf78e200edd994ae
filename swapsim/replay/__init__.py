# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace x mechanism -> counts.

A replay takes what a real kernel did, page by page, and counts what each
version of the mechanism would have done for the same pages. It knows no time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import polars as pl
from tqdm import tqdm

from swapsim import traces
from swapsim.config import MAPPING_KERNELS, MappingConfig
from swapsim.errors import InputError
from swapsim.native.mapping_replay import replay_writeback_tags
from swapsim.schemas import (
    FLOW,
    LOCK_SITES,
    LOCK_SITES_PER_PAGE,
    MIX,
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

# The values of enum sws_mapping_replay_op, sws_mapping_replay_file and sws_mapping_replay_shadow.
_SWAP_ADD, _SWAP_DELETE, _SLOT_FREE, _START, _END = range(5)
_FILE_ADD, _FILE_DELETE, _FILE_DIRTY, _MOVE = range(5, 9)
_FILE_UNKNOWN, _FILE_SWAP, _FIRST_FILE = 0, 1, 2
_SHADOW_UNTOLD = 2

_ROWS_A_CHUNK = 4_000_000
_MOST_SLOTS = 1 << 32
_WORDS = ("dev", "bdi")


def writeback_tags(
    folder: Path | str, *, kernel: str = "4.8", progress: bool = False
) -> pl.DataFrame:
    """Count the mapping lock's acquisitions and the tree work under them, tags kept and not.

    Each page of the trace is led through the steps of one kernel's row of ``mapping.h`` twice:
    once with writeback tags in the swap cache (before patch A) and once without.

    Parameters
    ----------
    folder : Path or str
        A trace folder with the events swp_add, swp_del, wb_start and wb_end; swp_free, folio_move,
        mm_filemap_add_to_page_cache, mm_filemap_delete_from_page_cache and writeback_dirty_folio
        are taken where they are there.
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
    slots = _device_slots(rows, folder)
    configs = [
        MappingConfig(kernel=kernel, swap_writeback_tags=tags, swap_slots=slots)
        for tags in (True, False)
    ]
    try:
        return pl.concat([replay_rows(rows, config, progress=progress) for config in configs])
    except InputError as error:
        raise InputError(str(error), path=folder) from None


def writeback_tags_of(
    folders: Mapping[str, Path], *, kernel: str = "4.8", progress: bool = False
) -> dict[str, pl.DataFrame]:
    """Run `writeback_tags` on several traces.

    Parameters
    ----------
    folders : mapping of str to Path
        Name of a trace -> its folder.
    kernel, progress
        As for `writeback_tags`.

    Returns
    -------
    dict of str to polars.DataFrame
        Name of the trace -> its LOCK_SITES.
    """
    return {
        name: writeback_tags(folder, kernel=kernel, progress=progress)
        for name, folder in folders.items()
    }


def writeback_tags_by_kernel(folder: Path | str) -> pl.DataFrame:
    """Run `writeback_tags` under each kernel that the mappings know.

    Returns
    -------
    polars.DataFrame
        Schema LOCK_SITES, kernels in order of age.
    """
    return pl.concat([writeback_tags(folder, kernel=kernel) for kernel in MAPPING_KERNELS])


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
    if "folio_move" in present:
        frames.append(_move_rows(folder))
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
    require(rows, REPLAY_ROWS, "replay rows")
    if not rows["seq"].is_sorted():
        raise InputError("rows are out of order: sort them", field="seq")
    for field in rows.columns:
        if rows[field].null_count():
            row = rows.filter(pl.col(field).is_null()).row(0, named=True)
            raise InputError(
                f"the row with seq {row['seq']} has no value: an event of the trace lacks a field",
                field=field,
            )
    label = f"{config.kernel}, tags {'kept' if config.swap_writeback_tags else 'not kept'}"
    with tqdm(total=rows.height, desc=label, unit=" rows", disable=not progress) as bar:

        def chunks() -> Iterator[pl.DataFrame]:
            for chunk in rows.iter_slices(_ROWS_A_CHUNK):
                yield chunk
                bar.update(chunk.height)

        sites = replay_writeback_tags(chunks(), config)
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


def mix(sites_of: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Set traces side by side: file pages among the pages written, and what a page costs.

    Parameters
    ----------
    sites_of : mapping of str to polars.DataFrame
        Name of a trace -> its LOCK_SITES of one kernel.

    Returns
    -------
    polars.DataFrame
        Schema MIX, one row per trace and tags; acquisitions of the mapping's lock per page
        written of either kind, at the sites of the pages that were written.
    """
    frames = [
        require(sites, LOCK_SITES, "lock sites")
        .filter(pl.col("flow") != "swap, not written")
        .group_by("tags", maintain_order=True)
        .agg(
            acquisitions=pl.col("acquisitions").sum(),
            pages=pl.col("calls").filter(pl.col("site") == "start").sum(),
            file_pages=pl.col("calls")
            .filter((pl.col("site") == "start") & (pl.col("flow") == "file"))
            .sum(),
        )
        .select(
            trace=pl.lit(name),
            tags=pl.col("tags"),
            pages=pl.col("pages"),
            file_share=pl.col("file_pages") / pl.col("pages"),
            acquisitions=pl.col("acquisitions") / pl.col("pages"),
        )
        for name, sites in sites_of.items()
    ]
    return require(pl.concat(frames), MIX, "mix")


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


def _device_slots(rows: pl.DataFrame, folder: Path | str) -> int:
    """Return the least device that has a slot for each swap row."""
    last = rows.filter(pl.col("file") == _FILE_SWAP).top_k(1, by="index")
    if not last.height:
        return 1
    seq, offset = last.select("seq", "index").row(0)
    if offset >= _MOST_SLOTS:
        raise InputError(
            f"the row with seq {seq} has the swap offset {offset}: no device has so many slots; "
            f"the kernel's entries must have their type above bit {SWAP_TYPE_SHIFT}",
            path=folder,
        )
    return int(offset) + 1


def _scan(
    folder: Path | str, event: str, fields: Sequence[str], optional: Sequence[str]
) -> pl.LazyFrame:
    """Scan seq and the fields of one event; whole numbers become UInt64."""
    table = traces.scan_event(folder, event)
    schema = table.collect_schema()
    where = Path(folder) / f"{event}.parquet"
    missing = [field for field in fields if field not in schema]
    if missing:
        raise InputError(
            f"the event has no such field; it has: {', '.join(schema)}",
            path=where,
            field=missing[0],
        )
    taken = [*fields, *(field for field in optional if field in schema)]
    for field in taken:
        if field not in _WORDS and not schema[field].is_integer():
            raise InputError(
                f"holds {schema[field]} where a whole number is needed: import the trace again",
                path=where,
                field=field,
            )
    return table.select("seq", *(_unsigned(field) for field in taken))


def _unsigned(field: str) -> pl.Expr:
    """Read a field's bits as unsigned: a kprobe may print an address as a negative number."""
    if field in _WORDS or field == "t_ns":
        return pl.col(field)
    return pl.col(field).cast(pl.UInt64, wrap_numerical=True)


def _swap_rows(folder: Path | str, event: str, op: int) -> pl.DataFrame:
    """Rows of an event that names a swap entry, and a folio unless the slot is freed."""
    fields = ["entry"] if event == "swp_free" else ["folio", "entry"]
    frame = _scan(folder, event, fields, ["shadow"]).collect()
    frame = _one_device(frame, event)
    has_shadow = "shadow" in frame.columns
    return frame.select(
        "seq",
        op=pl.lit(op, dtype=pl.UInt8),
        folio=pl.col("folio") if "folio" in fields else pl.lit(0, dtype=pl.UInt64),
        index=_offset("entry"),
        file=pl.lit(_FILE_SWAP, dtype=pl.UInt64),
        shadow=pl.col("shadow") if has_shadow else pl.lit(_SHADOW_UNTOLD, dtype=pl.UInt64),
    )


def _in_swap_cache() -> pl.Expr:
    """Tell a swap page by folio->mapping: bit 0 for anonymous memory, null for shared memory.

    Both have their entry in ``private``; any other mapping is a file's address_space.
    """
    mapping = pl.col("mapping")
    return (mapping & 1 == 1) | (mapping == 0)


def _offset(field: str) -> pl.Expr:
    return pl.col(field) & ((1 << SWAP_TYPE_SHIFT) - 1)


def _one_device(frame: pl.DataFrame, event: str) -> pl.DataFrame:
    devices = frame.select((pl.col("entry") // (1 << SWAP_TYPE_SHIFT)).unique())
    if devices.height > 1:
        raise InputError(
            f"event {event} has swap entries of {devices.height} devices: "
            "a replay takes one; filter the trace to one device",
            field="entry",
        )
    return frame


def _writeback_rows(folder: Path | str, event: str, op: int) -> pl.DataFrame:
    """Rows of a writeback transition, with the page's place where the probe read it."""
    place = ["mapping", "index", "private"]
    frame = _scan(folder, event, ["folio"], place).collect()
    if all(name in frame.columns for name in place):
        mapping, index = pl.col("mapping"), pl.col("index")
        file = pl.when(_in_swap_cache()).then(_FILE_SWAP).otherwise(mapping)
        index = pl.when(_in_swap_cache()).then(_offset("private")).otherwise(index)
    else:
        file, index = pl.lit(_FILE_UNKNOWN), pl.lit(0)
    return frame.select(
        "seq",
        op=pl.lit(op, dtype=pl.UInt8),
        folio=pl.col("folio"),
        index=index.cast(pl.UInt64),
        file=file.cast(pl.UInt64),
        shadow=pl.lit(0, dtype=pl.UInt64),
    )


def _move_rows(folder: Path | str) -> pl.DataFrame:
    """Rows of compaction's moves; a folio without a mapping moves without a lock."""
    return (
        _scan(folder, "folio_move", ["mapping", "new", "old"], [])
        .filter(pl.col("mapping") != 0)
        .collect()
        .select(
            "seq",
            op=pl.lit(_MOVE, dtype=pl.UInt8),
            folio=pl.col("new"),
            index=pl.col("old"),
            file=pl.lit(_FILE_UNKNOWN, dtype=pl.UInt64),
            shadow=pl.lit(0, dtype=pl.UInt64),
        )
    )


def _file_rows(folder: Path | str, present: Iterable[str]) -> list[pl.DataFrame]:
    """Rows of the page cache's own events; files are numbered in order of appearance."""
    page_cache = {
        "mm_filemap_add_to_page_cache": _FILE_ADD,
        "mm_filemap_delete_from_page_cache": _FILE_DELETE,
    }
    frames = [
        _scan(folder, event, ["dev", "ino", "pfn", "ofs"], [])
        .collect()
        .select(
            "seq",
            pl.col("dev"),
            pl.col("ino"),
            op=pl.lit(op, dtype=pl.UInt8),
            folio=pl.col("pfn") * FOLIO_BYTES + VMEMMAP_BASE,
            index=pl.col("ofs") // 4096,
        )
        for event, op in page_cache.items()
        if event in present
    ]
    if "writeback_dirty_folio" in present:
        frames.append(
            _scan(folder, "writeback_dirty_folio", ["bdi", "ino", "index"], [])
            .collect()
            .select(
                "seq",
                pl.col("bdi").alias("dev"),
                pl.col("ino"),
                op=pl.lit(_FILE_DIRTY, dtype=pl.UInt8),
                folio=pl.lit(0, dtype=pl.UInt64),
                index=pl.col("index"),
            )
        )
    if not frames:
        return []
    rows = pl.concat(frames).sort("seq")
    files = (
        rows.select("dev", "ino").unique(maintain_order=True).with_row_index("file", _FIRST_FILE)
    )
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
