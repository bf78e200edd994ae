# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A on a trace: the mapping's lock, taken with tags kept and not.

Each page is led through the steps that a kernel takes for it; who takes the lock
there, and what is done under it, goes into a ledger. Nothing here knows a time.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi.facts import MAPPING_KERNELS, MAPPING_SLOTS_MAX
from swapsim.mapping._native_replay import File, replay_writeback_tags
from swapsim.mapping.config import MappingConfig
from swapsim.mapping.rows import writeback_rows
from swapsim.mapping.tables import REPLAY_ROWS
from swapsim.progress import bar
from swapsim.traces.event_fields import SWAP_TYPE_SHIFT

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
        raise error.of(folder) from None


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
    REPLAY_ROWS.check(rows)
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
    with bar(rows.height, label, "rows", shown=progress) as counted:

        def chunks() -> Iterator[pl.DataFrame]:
            for chunk in rows.iter_slices(_ROWS_A_CHUNK):
                yield chunk
                counted.update(chunk.height)

        sites = replay_writeback_tags(chunks(), config)
    return sites.filter(pl.col("calls") > 0)


def _device_slots(rows: pl.DataFrame, folder: Path | str) -> int:
    """Return the least device that has a slot for each swap row."""
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
