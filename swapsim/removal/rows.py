# SPDX-License-Identifier: GPL-2.0-or-later
"""The removals of a trace: recorded ones, or derived from the ends of lists and deletions."""

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
"""Slots of a trunk of the swap device in a released kernel."""

_ISOLATE: Final = "mm_vmscan_lru_isolate"
_SHRINK: Final = "mm_vmscan_lru_shrink_inactive"
_FILE_DELETE: Final = "mm_filemap_delete_from_page_cache"


def removals(folder: Path | str) -> pl.DataFrame:
    """Return the recorded removals of a trace, or else `removals_of` its events (REMOVALS, by seq).

    InputError is raised if the trace has neither, naming the missing event, if its table has
    another schema or order, or as for `removals_of`.
    """
    if "removals" not in require_events(folder, REPLAY):
        return removals_of(folder)
    return read_event(folder, "removals", REMOVALS.schema)


def removals_of(folder: Path | str) -> pl.DataFrame:
    """Derive the removals from the events of a trace that has no table of them.

    A list begins where a task isolates pages of an inactive list, and ends where the same task
    reports what it reclaimed of them. Pages that the task deletes from a mapping in between are
    removals, except swap pages that leave no shadow: other code freed their slots. Each list must
    have as many removals as the kernel reports reclaimed pages. Pages that could not be removed,
    lists that reclaimed nothing, and lists that begin or end outside of the trace are not found.

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
        An event or a field is missing, the trace swaps to several devices, or the number of
        removals of a list differs from that of the kernel.
    """
    present = require_events(folder, REPLAY)
    deletions = []
    if "swp_del" in present:
        deletions.append(_swap_deletions(folder))
    if _FILE_DELETE in present:
        deletions.append(_file_deletions(folder))
    ends_of_lists = _list_ends(folder)
    rows = (
        pl.concat(deletions)
        .sort("seq")
        .join_asof(ends_of_lists, on="seq", by="pid", strategy="backward", check_sortedness=False)
        .filter(pl.col("begins") & pl.col("reclaimed").is_not_null())
    )
    _check_against_kernel(ends_of_lists, rows, folder)
    return REMOVALS.check(rows.select(REMOVALS.names()))


def _list_ends(folder: Path | str) -> pl.DataFrame:
    """Return the beginnings and ends of lists; a beginning has the pages that the list reclaimed.

    They are null if the trace lacks the end, and 0 if the task then begins another list: the
    first took no page.
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


def _check_against_kernel(
    ends_of_lists: pl.DataFrame, rows: pl.DataFrame, folder: Path | str
) -> None:
    """Raise InputError if the kernel reclaimed another number of pages than a list removes."""
    apart = (
        ends_of_lists.filter(pl.col("begins") & pl.col("reclaimed").is_not_null())
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
