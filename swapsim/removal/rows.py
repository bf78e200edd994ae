# SPDX-License-Identifier: GPL-2.0-or-later
"""The removals of a trace: as they were recorded, or as borders of lists and deletions tell."""

from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.mapping.config import MappingConfig
from swapsim.removal.tables import REMOVALS
from swapsim.traces import read_event, require_events
from swapsim.traces.event_fields import PAGE_BYTES, one_device, read_fields, swap_offset

REPLAY: Final = "batched-removal"
TRUNK_SLOTS: Final = 1 << MappingConfig().trunk_shift
"""Of a trunk of the swap device, as the kernel is shipped."""

_ISOLATE: Final = "mm_vmscan_lru_isolate"
_SHRINK: Final = "mm_vmscan_lru_shrink_inactive"
_FILE_DELETE: Final = "mm_filemap_delete_from_page_cache"


def removals(folder: Path | str) -> pl.DataFrame:
    """Return the removals of a trace: its own table of them, else `removals_of` its events.

    Returns
    -------
    polars.DataFrame
        Schema REMOVALS, sorted by seq.

    Raises
    ------
    InputError
        The trace has neither, naming the missing event; its table is another or out of order; or
        as `removals_of`.
    """
    if "removals" not in require_events(folder, REPLAY):
        return removals_of(folder)
    return read_event(folder, "removals", REMOVALS.schema)


def removals_of(folder: Path | str) -> pl.DataFrame:
    """Derive the removals from the events of a trace that has no table of them.

    A list begins where a task isolates pages of an inactive list and ends where the same task says
    what it reclaimed of them. What the task deletes from a mapping in between is a removal, but for
    a swap page that leaves no shadow: its slot was given up by other code. Each list must come out
    with as many removals as the kernel says that it reclaimed.

    **Not seen**: pages that could not be removed, and lists that reclaimed nothing. Lists whose
    beginning or end lies outside the trace are left out.

    Parameters
    ----------
    folder : Path or str
        A trace folder with mm_vmscan_lru_isolate, mm_vmscan_lru_shrink_inactive, and swp_del or
        mm_filemap_delete_from_page_cache or both.

    Returns
    -------
    polars.DataFrame
        Schema REMOVALS, sorted by seq; ``list`` is the seq of the list's isolation. A mapping is a
        trunk of the swap device, or a file's number in order of device and inode.

    Raises
    ------
    InputError
        An event or a field is missing, the trace swaps to several devices, or a list has not as
        many removals as the kernel reclaimed.
    """
    present = require_events(folder, REPLAY)
    deletions = []
    if "swp_del" in present:
        deletions.append(_swap_deletions(folder))
    if _FILE_DELETE in present:
        deletions.append(_file_deletions(folder))
    borders = _borders(folder)
    rows = (
        pl.concat(deletions)
        .sort("seq")
        .join_asof(borders, on="seq", by="pid", strategy="backward", check_sortedness=False)
        .filter(pl.col("begins") & pl.col("reclaimed").is_not_null())
    )
    _hold_to_the_kernel(borders, rows, folder)
    return REMOVALS.check(rows.select(REMOVALS.names()))


def _borders(folder: Path | str) -> pl.DataFrame:
    """Return where lists begin and end, and at a beginning what the list reclaimed.

    Null where the trace does not show the end; 0 where the task's next border is another beginning:
    it had taken no page.
    """
    begins = (
        read_fields(folder, _ISOLATE, ["lru"])
        .filter(pl.col("lru").str.starts_with("inactive"))
        .select("seq", "pid", begins=pl.lit(True), nr_reclaimed=pl.lit(0, dtype=pl.UInt64))
    )
    ends = read_fields(folder, _SHRINK, ["nr_reclaimed"]).select(
        "seq", "pid", begins=pl.lit(False), nr_reclaimed="nr_reclaimed"
    )
    return (
        pl.concat([begins, ends])
        .sort("seq")
        .select(
            "seq",
            "pid",
            "begins",
            list="seq",
            reclaimed=pl.col("nr_reclaimed").shift(-1).over("pid"),
        )
    )


def _swap_deletions(folder: Path | str) -> pl.DataFrame:
    rows = read_fields(folder, "swp_del", ["entry"], ["shadow"])
    frame = one_device(rows, folder, "swp_del")
    if "shadow" in frame.columns:
        frame = frame.filter(pl.col("shadow") != 0)
    return frame.select(
        "seq",
        "pid",
        mapping=swap_offset("entry") // TRUNK_SLOTS,
        swap=pl.lit(True),
        index=swap_offset("entry"),
        removed=pl.lit(True),
    )


def _file_deletions(folder: Path | str) -> pl.DataFrame:
    return (
        read_fields(folder, _FILE_DELETE, ["dev", "ino", "ofs"])
        .sort("seq")
        .select(
            "seq",
            "pid",
            mapping=pl.struct("dev", "ino").rank("dense").cast(pl.UInt64),
            swap=pl.lit(False),
            index=pl.col("ofs") // PAGE_BYTES,
            removed=pl.lit(True),
        )
    )


def _hold_to_the_kernel(borders: pl.DataFrame, rows: pl.DataFrame, folder: Path | str) -> None:
    """Refuse a trace in which a list's removals are not as many as its kernel reclaimed."""
    apart = (
        borders.filter(pl.col("begins") & pl.col("reclaimed").is_not_null())
        .join(rows.group_by("list").agg(removed=pl.len()), on="list", how="left")
        .with_columns(pl.col("removed").fill_null(0))
        .filter(pl.col("removed") != pl.col("reclaimed"))
        .sort("list")
    )
    if apart.height:
        first = apart.row(0, named=True)
        raise InputError(
            f"the list that begins at seq {first['list']} shows {first['removed']} removals where "
            f"the kernel reclaimed {first['reclaimed']} pages: the trace lacks deletions, or its "
            "pages are huge; record the removals themselves",
            path=folder,
        )
