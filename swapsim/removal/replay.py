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

from swapsim.errors import InputError, errors_of
from swapsim.ffi import MAPPING_KERNELS, REMOVAL_MODES, REMOVAL_REFERENCES
from swapsim.mapping.config import MappingConfig
from swapsim.progress import bar
from swapsim.removal._native import remove_lists
from swapsim.removal.tables import BATCHED_REMOVAL, REMOVALS
from swapsim.traces import locate, read_event, require_events
from swapsim.traces.event_fields import PAGE_BYTES, one_device, read_fields, swap_offset

REPLAY: Final = "removal"
TRUNK_SLOTS: Final = 1 << MappingConfig().trunk_shift
"""Slots of a trunk of the swap device in a released kernel."""

_ISOLATE: Final = "mm_vmscan_lru_isolate"
_SHRINK: Final = "mm_vmscan_lru_shrink_inactive"
_FILE_DELETE: Final = "mm_filemap_delete_from_page_cache"


def removals(folder: Path | str) -> pl.DataFrame:
    """Return the recorded removals of a trace, or else `derived` from its events (REMOVALS).

    InputError is raised if the trace has neither, naming the missing event, if its table has
    another schema or order, or as for `derived`.
    """
    if "removals" not in require_events(folder, REPLAY):
        return derived(folder)
    return read_event(folder, "removals", REMOVALS.schema)


def derived(folder: Path | str) -> pl.DataFrame:
    """Derive the removals from the events of a trace that has no table of them (REMOVALS).

    A list begins where a task isolates inactive pages, and ends where the task reports what it
    reclaimed of them; ``list`` is the seq of the isolation. Pages that it deletes from a mapping in
    between are removals, except swap pages that leave no shadow: other code freed their slots.
    Pages that could not be removed, lists that reclaimed nothing, and lists that begin or end
    outside of the trace are not found. A mapping is a trunk of the swap device, or a file's number
    in order of device and inode.

    InputError is raised if an event or a field is missing, the trace swaps to several devices, or
    the number of removals of a list differs from that of the kernel.
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


def batched_removal(folder: Path | str, *, progress: bool = False) -> pl.DataFrame:
    """Count the acquisitions of the mappings' locks in a trace, page by page and batched.

    The folder has ``removals``, or the events from which they are derived: mm_vmscan_lru_isolate,
    mm_vmscan_lru_shrink_inactive, and swp_del or mm_filemap_delete_from_page_cache or both. There
    is one row per kernel that the mappings know (BATCHED_REMOVAL).

    Examples
    --------
    >>> from swapsim import frames, removal
    >>> holds = removal.batched_removal("removals-mix")
    >>> frames.show(holds.select("kernel", "lists", "pages", "page_by_page", "batched"))
    kernel  lists   pages  page_by_page  batched
       4.8  7,364  73,978        73,978    9,132
       5.8  7,364  73,978        73,978    9,297
       6.1  7,364  73,978        73,978    9,297
    """
    return batched_removal_of({Path(folder).name: locate(folder)}, progress=progress)


def batched_removal_of(folders: Mapping[str, Path], *, progress: bool = False) -> pl.DataFrame:
    """Run `batched_removal` on several traces (BATCHED_REMOVAL, trace after trace)."""
    frames = [_kernels(name, folder, progress=progress) for name, folder in folders.items()]
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=BATCHED_REMOVAL.schema)
    return BATCHED_REMOVAL.check(frame)


def lists_of(rows: pl.DataFrame, kernel: str, *, progress: bool = False) -> pl.DataFrame:
    """Count the pages of each list of REMOVALS, and its locks page by page and batched.

    Each page is added to its mapping before its list is processed. The trace does not contain the
    rest of the trees, so descents and lengths are those of the kernel, but numbers of nodes are
    not.
    """
    pages = _pages(rows)
    last_slot = rows.filter("swap")["index"].max()
    slots = 1 if last_slot is None else int(str(last_slot)) + 1
    config = MappingConfig(kernel=kernel, swap_slots=slots)
    holds = {}
    for mode in REMOVAL_MODES:
        with bar(pages.height, f"{kernel}, {mode}", "rows", shown=progress) as counted:
            holds[mode] = remove_lists(pages, config, mode, tick=counted.update).holds
    length = (pl.col("removed") + pl.col("failed")).cast(pl.UInt64)
    return (
        holds[_BATCHED]
        .group_by("list", maintain_order=True)
        .agg(
            pages=length.sum(),
            failed=pl.col("failed").cast(pl.UInt64).sum(),
            mappings=pl.struct("swap", "mapping").n_unique(),
            batched=pl.len().cast(pl.UInt64),
            longest=length.max().cast(pl.UInt32),
        )
        .join(
            holds[_PAGE_BY_PAGE].group_by("list").agg(page_by_page=pl.len().cast(pl.UInt64)),
            on="list",
            maintain_order="left",
        )
    )


def _pages(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the pages for `remove_lists`, list by list in the order of their first rows."""
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
    )


def _kernels(name: str, folder: Path, *, progress: bool) -> pl.DataFrame:
    """Return BATCHED_REMOVAL of a trace, a row per kernel."""
    rows = removals(folder)
    if rows.is_empty():
        raise InputError("the trace has no removal: choose another", path=folder)
    _one_device(rows, folder)
    with errors_of(folder):
        lists = pl.concat(
            lists_of(rows, kernel, progress=progress).with_columns(kernel=pl.lit(kernel))
            for kernel in MAPPING_KERNELS
        )
    seen = pl.lit(value="removals" in require_events(folder, REPLAY))
    pages, batched, single = (pl.col(each).sum() for each in ("pages", "batched", "page_by_page"))
    return (
        lists.group_by("kernel", maintain_order=True)
        .agg(
            lists=pl.len().cast(pl.UInt64),
            pages=pages,
            failed=pl.when(seen).then(pl.col("failed").sum()),
            pages_a_list=pl.col("pages").mean(),
            mappings_a_list=pl.col("mappings").mean(),
            page_by_page=single,
            batched=batched,
            saved_a_page=(single.cast(pl.Int64) - batched.cast(pl.Int64)) / pages,
            pages_a_hold=pages / batched,
            longest=pl.col("longest").max(),
        )
        .select(pl.lit(name).alias("trace"), pl.all())
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
