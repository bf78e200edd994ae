# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B: reclaim's lists removed page by page, and with one hold of the lock for each mapping.

The lists are those of a real kernel, recorded or derived from the ends of lists and deletions; the
acquisitions of locks are counted under each kernel's row of ``mapping.h``: one mapping per swap
device in 4.8, trunks later. The C side is ``removal.h``.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swapsim import ffi as core
from swapsim import tables as columns
from swapsim._core import ffi, lib
from swapsim.errors import InputError, errors_of
from swapsim.ffi import (
    MAPPING_KERNELS,
    REMOVAL_LIST_MAX,
    REMOVAL_MODES,
    REMOVAL_REFERENCES,
    check,
    records,
)
from swapsim.mapping import MappingConfig, settings
from swapsim.progress import bar
from swapsim.tables import Column, Table
from swapsim.traces import locate, read_event, require_events
from swapsim.traces.folder import PAGE_BYTES, Trace, one_device, read_fields, swap_offset

__all__ = ["replay"]

REMOVALS: Final = Table(
    "REMOVALS",
    "One row per page that a real kernel's reclaim tried to remove, in lock order.",
    columns.SEQ,
    columns.PID,
    Column("list", pl.UInt64, "number of the list: what one shrink_folio_list handled"),
    Column("mapping", pl.UInt64, "number of the mapping; for swap, of its trunk"),
    Column("swap", pl.Boolean, "whether the mapping belongs to the swap cache"),
    Column("index", pl.UInt64, "position of the page in its mapping; for swap, its slot"),
    Column("removed", pl.Boolean, "whether the page was removed"),
)
BATCHED_REMOVAL: Final = Table(
    "BATCHED_REMOVAL",
    "One row per kernel: sums and means over the lists of reclaim.",
    columns.TRACE,
    columns.KERNEL,
    Column("lists", pl.UInt64, "number of reclaim's lists"),
    Column("pages", pl.UInt64, "number of pages on all lists"),
    Column(
        "failed",
        pl.UInt64,
        "pages that could not be removed; null where the trace does not show failures",
    ),
    Column("pages_a_list", pl.Float64, "mean number of pages on a list"),
    Column("mappings_a_list", pl.Float64, "mean number of distinct mappings of a list"),
    Column("page_by_page", pl.UInt64, "acquisitions of a mapping's lock with one hold per page"),
    Column("batched", pl.UInt64, "acquisitions of a mapping's lock with one hold per mapping"),
    Column("saved_a_page", pl.Float64, "acquisitions that batching saves"),
    Column("pages_a_hold", pl.Float64, "mean number of pages that a batched hold removes"),
    Column("longest", pl.UInt32, "pages removed in the longest batched hold"),
)

TRUNK_SLOTS: Final = 1 << MappingConfig().trunk_shift
"""Slots of a trunk of the swap device in a released kernel."""

CHUNK_ROWS: Final = 1 << 16
"""Rows of complete lists in one call into C: Ctrl-C is handled between two calls."""

PAGES: Final = {
    "list": pl.UInt64,
    "swap": pl.Boolean,
    "mapping": pl.UInt64,
    "index": pl.UInt64,
    "references": pl.UInt32,
    **dict.fromkeys(("locked", "dirty", "freepage", "lazyfree"), pl.Boolean),
}
"""Columns of the pages on reclaim's lists: list and mapping by number, the rest as
``struct sws_removal_rows`` has it. A null mapping means that the page has none."""

_ISOLATE: Final = "mm_vmscan_lru_isolate"
_SHRINK: Final = "mm_vmscan_lru_shrink_inactive"
_FILE_DELETE: Final = "mm_filemap_delete_from_page_cache"


def replay(
    trace: Trace | Path | str,
    *,
    kernels: str | Sequence[str] = MAPPING_KERNELS,
    progress: bool = False,
) -> pl.DataFrame:
    """Count how often reclaim takes the locks of mappings, page by page and batched (patch B).

    Parameters
    ----------
    trace : Trace, Path or str
        It has ``removals``, or the events from which they are derived: mm_vmscan_lru_isolate,
        mm_vmscan_lru_shrink_inactive, and swp_del or mm_filemap_delete_from_page_cache or both.
    kernels : str or sequence of str
        Whose mappings to follow: "4.8", "5.8", "6.1".
    progress : bool
        Show a bar on stderr.

    Returns
    -------
    polars.DataFrame
        A row per kernel: its ``lists`` and their ``pages``; acquisitions of a
        mapping's lock ``page_by_page``, and ``batched``; pages under the ``longest`` critical
        section; means of these (BATCHED_REMOVAL). ``failed`` is null where the trace does not show
        which pages could not be removed.

    Raises
    ------
    InputError
        An event or field is missing, the trace has no removal or those of several swap devices, or
        the removals of a list are not as many as its kernel counted.

    Source
    ------
    mm/vmscan.c: shrink_page_list, __remove_mapping (4.8, 5.8, 6.1), and the patch of 2016.

    Examples
    --------
    >>> import swapsim
    >>> from swapsim import removal
    >>> locks = removal.replay(swapsim.open("removals-mix"), kernels=["4.8", "6.1"])
    >>> locks.select("kernel", "lists", "pages", "page_by_page", "batched", "longest").rows()
    [('4.8', 7364, 73978, 73978, 9132, 32), ('6.1', 7364, 73978, 73978, 9297, 32)]
    """
    rows = removals(trace)
    if rows.is_empty():
        raise InputError("the trace has no removal: choose another", path=trace)
    trunks = (
        rows.filter("swap")
        .group_by(pl.col("index") // TRUNK_SLOTS)
        .agg(pl.col("mapping").n_unique())
    )
    if (trunks["mapping"] > 1).any():
        raise InputError(
            "the trace removes pages of several swap devices: filter it to one", path=trace
        )
    with errors_of(trace):
        lists = pl.concat(
            lists_of(rows, kernel, progress=progress).with_columns(kernel=pl.lit(kernel))
            for kernel in ([kernels] if isinstance(kernels, str) else kernels)
        )
    seen = pl.lit(value="removals" in require_events(trace, "removal"))
    pages, batched, single = (pl.col(each).sum() for each in ("pages", "batched", "page_by_page"))
    found = lists.group_by("kernel", maintain_order=True).agg(
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
    return BATCHED_REMOVAL.check(found.select(pl.lit(locate(trace).name).alias("trace"), pl.all()))


def removals(trace: Trace | Path | str) -> pl.DataFrame:
    """Return the recorded removals of a trace, or else `derived` from its events (REMOVALS)."""
    if "removals" not in require_events(trace, "removal"):
        return derived(trace)
    return read_event(trace, "removals", REMOVALS.schema)


def derived(trace: Trace | Path | str) -> pl.DataFrame:
    """Derive the removals from the events of a trace that has no table of them (REMOVALS).

    A list begins where a task isolates inactive pages, and ends where the task reports what it
    reclaimed of them; ``list`` is the seq of the isolation. Pages that it deletes from a mapping in
    between are removals, except swap pages that leave no shadow: other code freed their slots.
    Pages that could not be removed, lists that reclaimed nothing, and lists that begin or end
    outside of the trace are not found. A mapping is a trunk of the swap device, or a file's number
    in order of device and inode.
    """
    present = require_events(trace, "removal")
    deletions = []
    if "swp_del" in present:
        deletions.append(_swap_deletions(trace))
    if _FILE_DELETE in present:
        deletions.append(_file_deletions(trace))
    ends_of_lists = _list_ends(trace)
    rows = (
        pl.concat(deletions)
        .sort("seq")
        .join_asof(ends_of_lists, on="seq", by="pid", strategy="backward", check_sortedness=False)
        .filter(pl.col("begins") & pl.col("reclaimed").is_not_null())
    )
    _check_against_kernel(ends_of_lists, rows, trace)
    return REMOVALS.check(rows.select(REMOVALS.names()))


def _list_ends(trace: Trace | Path | str) -> pl.DataFrame:
    """Return the beginnings and ends of lists; a beginning has the pages that the list reclaimed.

    They are null if the trace lacks the end, and 0 if the task then begins another list: the
    first took no page.
    """
    begins = (
        read_fields(trace, _ISOLATE, ["lru"])
        .filter(pl.col("lru").str.starts_with("inactive"))
        .select("seq", "pid", begins=pl.lit(True), nr_reclaimed=pl.lit(0, dtype=pl.UInt64))
    )
    ends = read_fields(trace, _SHRINK, ["nr_reclaimed"]).select(
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


def _swap_deletions(trace: Trace | Path | str) -> pl.DataFrame:
    rows = read_fields(trace, "swp_del", ["entry"], ["shadow"])
    frame = one_device(rows, trace, "swp_del")
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


def _file_deletions(trace: Trace | Path | str) -> pl.DataFrame:
    return (
        read_fields(trace, _FILE_DELETE, ["dev", "ino", "ofs"])
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
    ends_of_lists: pl.DataFrame, rows: pl.DataFrame, trace: Trace | Path | str
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
            path=trace,
        )


def lists_of(rows: pl.DataFrame, kernel: str, *, progress: bool = False) -> pl.DataFrame:
    """Count the pages of each list of REMOVALS, and its locks page by page and batched.

    Each page is added to its mapping before its list is processed. The trace does not contain the
    rest of the trees, so walks and lengths are those of the kernel, but numbers of nodes are not.
    """
    pages = _pages(rows)
    last_slot = rows.filter("swap")["index"].max()
    slots = 1 if last_slot is None else int(str(last_slot)) + 1
    config = MappingConfig(kernel=kernel, swap_slots=slots)
    holds = {}
    for mode in REMOVAL_MODES:
        with bar(pages.height, f"{kernel}, {mode}", "rows", shown=progress) as counted:
            holds[mode] = remove_lists(pages, config, mode, tick=counted.update).holds
    single, batched = (holds[mode].group_by("list", maintain_order=True) for mode in REMOVAL_MODES)
    length = (pl.col("removed") + pl.col("failed")).cast(pl.UInt64)
    return batched.agg(
        pages=length.sum(),
        failed=pl.col("failed").cast(pl.UInt64).sum(),
        mappings=pl.struct("swap", "mapping").n_unique(),
        batched=pl.len().cast(pl.UInt64),
        longest=length.max().cast(pl.UInt32),
    ).join(single.agg(page_by_page=pl.len().cast(pl.UInt64)), on="list", maintain_order="left")


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


class Removed(NamedTuple):
    """Outcomes by page, holds in order, and the fields of ``struct sws_removal_counts``."""

    outcomes: pl.DataFrame
    holds: pl.DataFrame
    counts: dict[str, int]


def remove_lists(
    pages: pl.DataFrame,
    mappings: MappingConfig,
    mode: str,
    *,
    tick: Callable[[int], object] = lambda _rows: None,
) -> Removed:
    """Remove the pages of lists, one list after the other, in one of REMOVAL_MODES.

    ``pages`` has the columns PAGES, each list's rows together. A page that is not in its mapping is
    added before its list is processed. ``tick`` gets the number of rows after each chunk.
    InputError names the list, and the page of it counted from 0, that cannot be removed.
    """
    ends, lists = _ends(pages)
    trees = core.new(lib.sws_mappings_new, settings(mappings), free=lib.sws_mappings_free)
    swap_mappings = lib.sws_mapping_count(trees)
    rows, files = _numbered(pages)
    for _ in files:
        check(lib.sws_mapping_add_file(trees, ffi.new("uint32_t *")))
    longest = min(int(np.diff(ends, prepend=np.uint64(0)).max()), REMOVAL_LIST_MAX)
    made = core.config(
        lib.sws_removal_config_init,
        None,
        mode=REMOVAL_MODES.index(mode),
        list_pages=longest,
        brings_pages=True,
    )
    reclaimer = core.new(lib.sws_removal_new, made, trees, free=lib.sws_removal_free)
    outcomes, holds = [], []
    for some, part in core.chunks(ends, CHUNK_ROWS):
        own_ends = ends[some] - np.uint64(part.start)
        outcome, found = _process(reclaimer, rows[part], own_ends, lists[some])
        outcomes.append(outcome)
        holds.append(found)
        tick(part.stop - part.start)
    counts = lib.sws_removal_counts(reclaimer)
    return Removed(
        outcomes=pl.concat(outcomes),
        holds=_with_mappings(pl.concat(holds), swap_mappings, files),
        counts={name: getattr(counts, name) for name in dir(counts)},
    )


def _ends(pages: pl.DataFrame) -> tuple[NDArray[np.uint64], pl.Series]:
    """Return the end of each list, and its number; the rows of a list must be adjacent."""
    if pages.is_empty():
        raise InputError("the list is empty: give at least one page", field="list")
    for field in pages.columns:
        if field != "mapping" and pages[field].null_count():
            row = pages[field].is_null().arg_max()
            raise InputError(f"the page in row {row} has no value", field=field)
    runs = pages["list"].rle().struct.unnest()
    if runs["value"].is_duplicated().any():
        apart = runs["value"].filter(runs["value"].is_duplicated())[0]
        raise InputError(f"the rows of list {apart} are not adjacent: sort the pages", field="list")
    return runs["len"].cast(pl.UInt64).cum_sum().to_numpy(), runs["value"]


def _numbered(pages: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Return the rows with their files by number, and the files' own mappings in this order."""
    files = pages.filter(~pl.col("swap"))["mapping"].drop_nulls().unique(maintain_order=True)
    numbers = pl.DataFrame({"mapping": files}).with_row_index("file")
    numbered = pages.join(numbers, on="mapping", how="left", maintain_order="left")
    none, swap = (
        pl.lit(number, dtype=pl.UInt32)
        for number in (lib.SWS_REMOVAL_FILE_NONE, lib.SWS_REMOVAL_FILE_SWAP)
    )
    file = pl.when(pl.col("mapping").is_null()).then(none).when("swap").then(swap).otherwise("file")
    return numbered.with_columns(file=file), files


def _process(
    reclaimer: Any, rows: pl.DataFrame, ends: NDArray[np.uint64], lists: pl.Series
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Remove the lists of a chunk; return the outcomes, and the holds with the lists' numbers."""
    height = rows.height
    removed, place = np.empty(height, bool), np.empty(height, np.uint32)
    holds, _ = records("struct sws_removal_hold", height)
    results = core.pointers(
        "struct sws_removal_results",
        {"removed": removed.view(np.uint8), "place": place, "holds": holds},
    )
    given = core.columns("struct sws_removal_rows", rows)
    last = ffi.from_buffer("uint64_t[]", ends)
    code = lib.sws_removal_lists(reclaimer, given, len(ends), last, results)
    if results.problem != lib.SWS_REMOVAL_NO_PROBLEM:
        begin = int(ends[results.list - 1]) if results.list else 0
        raise InputError(
            f"page {results.row - begin} of list {lists[results.list]} cannot be removed: "
            f"{core.problem('enum sws_removal_problem', results.problem)}"
        )
    check(code)
    frame = core.frame_of(holds[: results.n_holds])
    return (
        pl.DataFrame({"removed": removed, "place": place}),
        frame.with_columns(list=lists.gather(frame["list"])),
    )


def _with_mappings(holds: pl.DataFrame, swap_mappings: int, files: pl.Series) -> pl.DataFrame:
    """Return the holds with the caller's mappings in place of the library's numbers."""
    swap = pl.col("mapping") < swap_mappings
    file = pl.when(~swap).then(pl.col("mapping") - swap_mappings)
    mapping = pl.when(swap).then("mapping").otherwise(pl.lit(files).gather(file))
    return holds.select(
        "list",
        swap.alias("swap"),
        mapping.alias("mapping"),
        *("removed", "failed", "passed_over", "descents"),
        *("nodes_touched", "tag_words_touched", "nodes_freed"),
    )
