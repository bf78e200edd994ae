# SPDX-License-Identifier: GPL-2.0-or-later
"""Replay of reclaim's lists, removed page by page and with one hold for each mapping (patch B).

The lists are those of a real kernel, recorded or derived from the ends of lists and deletions; the
acquisitions of locks are counted under each kernel's row of ``mapping.h``: one mapping per swap
device in 4.8, trunks later.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import interrupt
from swapsim.checks import checked
from swapsim.errors import InputError
from swapsim.ffi import MAPPING_KERNELS, REMOVAL_MODES, REMOVAL_REFERENCES
from swapsim.mapping.config import MappingConfig
from swapsim.progress import bar
from swapsim.removal._native import remove_lists
from swapsim.removal.tables import (
    BATCHED_REMOVAL,
    REMOVAL_HOLDS,
    REMOVAL_LISTS,
    REMOVAL_PAGES,
    REMOVALS,
)
from swapsim.traces import locate, read_event, require_events
from swapsim.traces.event_fields import PAGE_BYTES, one_device, read_fields, swap_offset

REPLAY: Final = "batched-removal"
TRUNK_SLOTS: Final = 1 << MappingConfig().trunk_shift
"""Slots of a trunk of the swap device in a released kernel."""

_ISOLATE: Final = "mm_vmscan_lru_isolate"
_SHRINK: Final = "mm_vmscan_lru_shrink_inactive"
_FILE_DELETE: Final = "mm_filemap_delete_from_page_cache"


@checked
def removals(folder: Path | str) -> pl.DataFrame:
    """Return the recorded removals of a trace, or else `removals_of` its events (REMOVALS, by seq).

    InputError is raised if the trace has neither, naming the missing event, if its table has
    another schema or order, or as for `removals_of`.
    """
    if "removals" not in require_events(folder, REPLAY):
        return removals_of(folder)
    return read_event(folder, "removals", REMOVALS.schema)


@checked
def removals_of(folder: Path | str) -> pl.DataFrame:
    """Derive the removals from the events of a trace that has no table of them.

    A list begins where a task isolates inactive pages, and ends where the task reports what it
    reclaimed of them. Pages that it deletes from a mapping in between are removals, except swap
    pages that leave no shadow: other code freed their slots. Pages that could not be removed, lists
    that reclaimed nothing, and lists that begin or end outside of the trace are not found.

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


_PAGE_BY_PAGE, _BATCHED = REMOVAL_MODES


@checked
@interrupt.recording()
def batched_removal(folder: Path | str, *, progress: bool = False) -> pl.DataFrame:
    """Count the acquisitions of the mappings' locks in a trace, page by page and batched.

    Parameters
    ----------
    folder : Path or str
        A trace folder with ``removals``, or with the events that `removals_of` takes.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    polars.DataFrame
        Schema BATCHED_REMOVAL, one row per kernel that the mappings know; the trace's name is the
        folder's.

    Raises
    ------
    InputError
        An event is missing, or a row cannot be replayed.
    """
    return batched_removal_of({Path(folder).name: locate(folder)}, progress=progress)


@checked
def batched_removal_of(folders: Mapping[str, Path], *, progress: bool = False) -> pl.DataFrame:
    """Run `batched_removal` on several traces (BATCHED_REMOVAL, trace after trace)."""
    frames = [_kernels(name, folder, progress=progress) for name, folder in folders.items()]
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=BATCHED_REMOVAL.schema)
    return BATCHED_REMOVAL.check(frame)


@checked
def removal_lists(
    rows: pl.DataFrame, *, kernel: str = "4.8", progress: bool = False
) -> pl.DataFrame:
    """Count the locks that the lists of a trace take, page by page and batched, under one kernel.

    Parameters
    ----------
    rows : polars.DataFrame
        Schema REMOVALS, sorted by seq.
    kernel : {"4.8", "5.8", "6.1"}
    progress : bool

    Returns
    -------
    polars.DataFrame
        Schema REMOVAL_LISTS, in the order in which the lists began to remove.

    Raises
    ------
    InputError
        ``rows`` is empty, or a row cannot be replayed.
    """
    single = removal_holds(rows, mode=_PAGE_BY_PAGE, kernel=kernel, progress=progress)
    batched = removal_holds(rows, mode=_BATCHED, kernel=kernel, progress=progress)
    length = pl.col("removed") + pl.col("failed")
    frame = (
        batched.group_by("list", maintain_order=True)
        .agg(
            pages=length.sum(),
            failed=pl.col("failed").sum(),
            mappings=pl.struct("swap", "mapping").n_unique(),
            batched=pl.len(),
            longest=length.max(),
        )
        .join(single.group_by("list").agg(page_by_page=pl.len()), on="list", maintain_order="left")
        .join(rows.group_by("list").agg(pl.col("pid").first()), on="list", maintain_order="left")
        .with_columns(kernel=pl.lit(kernel))
        .select(pl.col(name).cast(dtype) for name, dtype in REMOVAL_LISTS.schema.items())
    )
    return REMOVAL_LISTS.check(frame)


@checked
def removal_holds(
    rows: pl.DataFrame, *, mode: str, kernel: str = "4.8", progress: bool = False
) -> pl.DataFrame:
    """Remove the lists of a trace in one of REMOVAL_MODES, and return each hold (REMOVAL_HOLDS).

    Arguments and errors are those of `removal_lists`. Each page is added to its mapping before its
    list is processed. The trace does not contain the rest of the trees, so descents and lengths
    are those of the kernel, but numbers of nodes are not.
    """
    pages = _pages(REMOVALS.check(rows))
    last_slot = rows.filter("swap")["index"].max()
    slots = 1 if last_slot is None else int(str(last_slot)) + 1
    config = MappingConfig(kernel=kernel, swap_slots=slots)
    with bar(pages.height, f"{kernel}, {mode}", "rows", shown=progress) as counted:
        holds = remove_lists(pages, config, mode, tick=counted.update).holds
    return REMOVAL_HOLDS.check(holds)


def _pages(rows: pl.DataFrame) -> pl.DataFrame:
    """Return REMOVAL_PAGES, list by list in the order of their first rows."""
    references = pl.when("removed").then(REMOVAL_REFERENCES).otherwise(REMOVAL_REFERENCES + 1)
    return (
        rows.with_columns(first=pl.col("seq").min().over("list"))
        .sort("first", "list", "seq")
        .select(
            "list",
            "swap",
            "mapping",
            "index",
            references=references.cast(pl.UInt32),
            locked=pl.lit(True),
            dirty=pl.lit(False),
            freepage=pl.lit(False),
            lazyfree=pl.lit(False),
        )
        .pipe(REMOVAL_PAGES.check)
    )


def _kernels(name: str, folder: Path, *, progress: bool) -> pl.DataFrame:
    """Return BATCHED_REMOVAL of a trace, a row per kernel."""
    rows = removals(folder)
    if rows.is_empty():
        raise InputError("the trace has no removal: choose another", path=folder)
    _one_device(rows, folder)
    try:
        frames = [
            _summary(removal_lists(rows, kernel=kernel, progress=progress))
            for kernel in MAPPING_KERNELS
        ]
    except InputError as error:
        raise error.of(folder) from None
    seen = pl.lit(value="removals" in require_events(folder, REPLAY))
    return (
        pl.concat(frames)
        .with_columns(trace=pl.lit(name), failed=pl.when(seen).then("failed"))
        .select(pl.col(column).cast(dtype) for column, dtype in BATCHED_REMOVAL.schema.items())
    )


def _one_device(rows: pl.DataFrame, folder: Path) -> None:
    """Raise InputError for swap pages of two devices: a trunk would be in two mappings."""
    trunks = (
        rows.filter("swap")
        .group_by(pl.col("index") // TRUNK_SLOTS)
        .agg(pl.col("mapping").n_unique())
    )
    if (trunks["mapping"] > 1).any():
        raise InputError(
            "the trace removes pages of several swap devices: filter it to one", path=folder
        )


def _summary(lists: pl.DataFrame) -> pl.DataFrame:
    """Return the sums and means of a kernel's REMOVAL_LISTS."""
    pages, batched = pl.col("pages").sum(), pl.col("batched").sum()
    single = pl.col("page_by_page").sum()
    return lists.group_by("kernel").agg(
        lists=pl.len(),
        pages=pages,
        failed=pl.col("failed").sum(),
        pages_a_list=pl.col("pages").mean(),
        mappings_a_list=pl.col("mappings").mean(),
        page_by_page=single,
        batched=batched,
        saved_a_page=(single.cast(pl.Int64) - batched.cast(pl.Int64)) / pages,
        pages_a_hold=pages / batched,
        longest=pl.col("longest").max(),
    )
