# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A: the lock of a mapping's tree, with and without writeback tags in the swap cache.

A recorded page goes through the steps that a kernel takes for it; acquisitions of the lock and the
work under it are counted. No time is simulated here. The C side is ``mapping.h`` and
``mapping_replay.h``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

import polars as pl

from swapsim import ffi as core
from swapsim import tables as columns
from swapsim._core import ffi, lib
from swapsim.errors import InputError, check_choice, errors_of
from swapsim.ffi import KERNELS, MAPPING_KERNELS, MAPPING_SITES, MAPPING_SLOTS_MAX, check_ranges
from swapsim.progress import bar
from swapsim.tables import Column, Table, Vocabulary
from swapsim.traces import require_events
from swapsim.traces.folder import (
    PAGE_BYTES,
    SWAP_TYPE_SHIFT,
    Trace,
    event_names,
    not_counted,
    one_device,
    read_fields,
    swap_offset,
    unpaired,
)

if TYPE_CHECKING:
    import altair as alt

    from swapsim import charts

__all__ = ["replay"]

FOLIO_BYTES: Final = 64  # sizeof(struct page) on x86-64: a folio's address is vmemmap + 64 * pfn
VMEMMAP_BASE: Final = 0xFFFF_EA00_0000_0000
"""Start of vmemmap without address randomisation (Documentation/arch/x86/x86_64/mm.rst)."""

CHUNK_ROWS: Final = 1 << 18  # rows of one call into C: Ctrl-C is handled between two calls

SITE: Final = Vocabulary(
    "SITE",
    "Code paths that may take a mapping's lock, in the order in which a page meets them.",
    MAPPING_SITES,
)
FLOW: Final = Vocabulary(
    "FLOW",
    "Kinds of pages: in the swap cache with a writeback during the stay (swapped out), in the swap "
    "cache without one (swapped in, or not written), or in a file's page cache.",
    ("swap, written", "swap, not written", "file"),
)
LOCK_SITES: Final = Table(
    "LOCK_SITES",
    "One row per kernel, rule of tags, flow and site that was reached.",
    columns.KERNEL,
    Column("tags", pl.Boolean, "whether the swap cache has writeback tags (before patch A)"),
    Column("flow", FLOW.dtype, "kind of the pages"),
    Column("site", SITE.dtype, "code path that may take the mapping's lock"),
    Column("pages", pl.UInt64, "pages whose writeback started in the flow"),
    Column("calls", pl.UInt64, "times that the site was reached"),
    Column("unresolved", pl.UInt64, "calls whose position in a tree the trace does not show"),
    Column(
        "contradicted", pl.UInt64, "stays in the swap cache that the trace contradicts at the site"
    ),
    Column("acquisitions", pl.UInt64, "times that the mapping's lock was taken"),
    Column("tree_walks", pl.UInt64, "walks of the tree from its root under the lock"),
    Column("nodes", pl.UInt64, "nodes of the tree touched under the lock"),
    Column("tag_words", pl.UInt64, "words of tags touched under the lock"),
)
_FIGURES: Final = ("acquisitions", "tree_walks", "nodes", "tag_words")
LOCK_SITES_PER_PAGE: Final = Table(
    "LOCK_SITES_PER_PAGE",
    "One row per flow and site: LOCK_SITES divided by the pages whose writeback started in the "
    "flow. Flows without such a page are left out.",
    *LOCK_SITES.columns[:5],
    *(Column(name, pl.Float64, LOCK_SITES[name].meaning) for name in _FIGURES),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingConfig:
    """The address_spaces of one swap device and of files (``mapping.h``).

    Parameters
    ----------
    kernel : {"4.8", "5.8", "6.1"}, default "4.8"
        The row of the lock table.
    swap_writeback_tags : bool, default True
        True if the swap cache has writeback tags, false with patch A.
    swap_slots : int, default ``2**32``
        Slots of the device, 1 to ``2**32``.
    trunk_shift : int, default 14
        Log2 of a trunk's slots from 5.8 on, 1 to 32.
    tree_shift : int, default 6
        Log2 of a node's slots, 1 to 6.
    """

    kernel: str = "4.8"
    swap_writeback_tags: bool = True
    swap_slots: int = 2**32
    trunk_shift: int = 14
    tree_shift: int = 6

    def __post_init__(self) -> None:
        """Check each field."""
        check_choice("kernel", self.kernel, MAPPING_KERNELS)
        check_ranges(self, "struct sws_mapping_config")


class Op(IntEnum):
    """Operations of a row."""

    SWAP_ADD = lib.SWS_MAPPING_REPLAY_SWAP_ADD
    SWAP_DELETE = lib.SWS_MAPPING_REPLAY_SWAP_DELETE
    SLOT_FREE = lib.SWS_MAPPING_REPLAY_SLOT_FREE
    START = lib.SWS_MAPPING_REPLAY_START
    END = lib.SWS_MAPPING_REPLAY_END
    FILE_ADD = lib.SWS_MAPPING_REPLAY_FILE_ADD
    FILE_DELETE = lib.SWS_MAPPING_REPLAY_FILE_DELETE
    FILE_DIRTY = lib.SWS_MAPPING_REPLAY_FILE_DIRTY
    MOVE = lib.SWS_MAPPING_REPLAY_MOVE


class File(IntEnum):
    """Special values of the column ``file``; numbers of files are greater."""

    UNKNOWN = lib.SWS_MAPPING_REPLAY_FILE_UNKNOWN
    SWAP = lib.SWS_MAPPING_REPLAY_FILE_SWAP


class Shadow(IntEnum):
    """Special values of the column ``shadow``; shadows are odd."""

    NONE = lib.SWS_MAPPING_REPLAY_SHADOW_NONE
    UNKNOWN = lib.SWS_MAPPING_REPLAY_SHADOW_UNTOLD


def settings(config: MappingConfig) -> object:
    """Return a config as ``struct sws_mapping_config *``."""
    kernel = KERNELS.index(config.kernel)
    return core.config(lib.sws_mapping_config_init, config, kernel=kernel)


def replay(
    trace: Trace | Path | str,
    *,
    kernels: str | Sequence[str] = "4.8",
    tags: Sequence[bool] = (True, False),
    progress: bool = False,
) -> pl.DataFrame:
    """Count how often a trace's pages take the lock of a mapping's tree, and the work under it.

    Each page goes through the steps of a kernel with writeback tags in the swap cache (before
    patch A), and without. Divided by ``pages`` the counts are those of a page written.

    Parameters
    ----------
    trace : Trace, Path or str
        It has the events swp_add, swp_del, wb_start and wb_end; swp_free, folio_move,
        mm_filemap_add_to_page_cache, mm_filemap_delete_from_page_cache and writeback_dirty_folio
        are used if present.
    kernels : str or sequence of str
        Whose locks and tree walks to follow: "4.8", "5.8", "6.1".
    tags : sequence of bool
        With tags, without, or both.
    progress : bool
        Show a bar on stderr.

    Returns
    -------
    polars.DataFrame
        A row per kernel, ``tags``, ``flow`` ("swap, written", "swap, not written", "file") and
        ``site`` that was reached: ``pages`` written in the flow, ``calls`` of the site, those
        ``unresolved`` and ``contradicted`` by the trace, ``acquisitions``, ``tree_walks``,
        ``nodes`` and ``tag_words`` (all UInt64).

    Raises
    ------
    InputError
        An event or field is missing, the trace swaps to several devices, a row cannot be replayed,
        or there is no such kernel.

    Source
    ------
    mm/swap_state.c, mm/filemap.c, mm/page-writeback.c, mm/vmscan.c: __remove_mapping (4.8, 5.8,
    6.1).

    Examples
    --------
    >>> import polars as pl
    >>> import swapsim
    >>> from swapsim import mapping
    >>> sites = mapping.replay(swapsim.open("swap-w-seq"))
    >>> swapped = sites.filter(flow="swap, written").group_by("tags", maintain_order=True)
    >>> swapped.agg(pl.col("acquisitions").sum() / pl.col("pages").first()).rows()
    [(True, 4.0), (False, 2.0)]
    """
    rows = writeback_rows(trace)
    last = rows.filter(pl.col("file") == File.SWAP).top_k(1, by="index")
    seq, offset = last.select("seq", "index").row(0) if last.height else (0, 0)
    if offset >= MAPPING_SLOTS_MAX:
        raise InputError(
            f"the row with seq {seq} has the swap offset {offset}: no device has so many slots; "
            f"the kernel's entries must have their type above bit {SWAP_TYPE_SHIFT}",
            path=trace,
        )
    configs = [
        MappingConfig(kernel=kernel, swap_writeback_tags=each, swap_slots=offset + 1)
        for kernel in ([kernels] if isinstance(kernels, str) else kernels)
        for each in tags
    ]
    with errors_of(trace):
        return pl.concat([replay_rows(rows, config, progress=progress) for config in configs])


def writeback_rows(trace: Trace | Path | str) -> pl.DataFrame:
    """Return the events that touch a mapping as rows for `replay_rows`, in trace order."""
    present = require_events(trace, "mapping")
    frames = [
        _swap_rows(trace, "swp_add", Op.SWAP_ADD),
        _swap_rows(trace, "swp_del", Op.SWAP_DELETE),
        _writeback_rows(trace, "wb_start", Op.START),
        _writeback_rows(trace, "wb_end", Op.END),
    ]
    if "swp_free" in present:
        frames.append(_swap_rows(trace, "swp_free", Op.SLOT_FREE))
    if "folio_move" in present:
        # A folio without a mapping is moved without a lock.
        moved = read_fields(trace, "folio_move", ["mapping", "new", "old"]).filter(
            pl.col("mapping") != 0
        )
        place = {"folio": pl.col("new"), "index": pl.col("old")}
        frames.append(_rows(moved, Op.MOVE, **place, file=File.UNKNOWN))
    return pl.concat([*frames, *_file_rows(trace, present)]).sort("seq")


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


def _swap_rows(trace: Trace | Path | str, event: str, op: Op) -> pl.DataFrame:
    """Return the rows of an event with a swap entry, and with a folio unless a slot is freed."""
    fields = ["entry"] if event == "swp_free" else ["folio", "entry"]
    frame = one_device(read_fields(trace, event, fields, ["shadow"]), trace, event)
    return _rows(
        frame,
        op,
        folio=pl.col("folio") if "folio" in fields else 0,
        index=swap_offset("entry"),
        file=File.SWAP,
        shadow=pl.col("shadow") if "shadow" in frame.columns else Shadow.UNKNOWN,
    )


def _writeback_rows(trace: Trace | Path | str, event: str, op: Op) -> pl.DataFrame:
    """Return the rows of a writeback transition, with the page's place if the probe read it.

    A page whose mapping has bit 0 (anonymous memory) or is null (shared memory) is in the swap
    cache, with its entry in ``private``. Other mappings are a file's address_space.
    """
    place = ["mapping", "index", "private"]
    frame = read_fields(trace, event, ["folio"], place)
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


def _file_rows(trace: Trace | Path | str, present: Iterable[str]) -> list[pl.DataFrame]:
    """Return the rows of the page cache's events; files are numbered in order of appearance."""
    page_cache = {
        "mm_filemap_add_to_page_cache": Op.FILE_ADD,
        "mm_filemap_delete_from_page_cache": Op.FILE_DELETE,
    }
    frames = [
        read_fields(trace, event, ["dev", "ino", "pfn", "ofs"]).select(
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
            read_fields(trace, "writeback_dirty_folio", ["bdi", "ino", "index"]).select(
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


def replay_rows(
    rows: pl.DataFrame, config: MappingConfig, *, progress: bool = False
) -> pl.DataFrame:
    """Replay rows, in order of seq and without nulls, through one kernel's mappings (LOCK_SITES).

    InputError quotes the seq of a row that cannot be replayed.
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
    replayed = core.new(
        lib.sws_mapping_replay_new, settings(config), free=lib.sws_mapping_replay_free
    )
    label = f"{config.kernel}, {'with' if config.swap_writeback_tags else 'without'} tags"
    with bar(rows.height, label, "rows", shown=progress) as counted:
        for part in rows.iter_slices(CHUNK_ROWS):
            _feed(replayed, part)
            counted.update(part.height)
    labels = pl.DataFrame(
        product(FLOW.words, SITE.words),
        schema={"flow": FLOW.dtype, "site": SITE.dtype},
        orient="row",
    )
    cells, out = core.records("struct sws_mapping_replay_cell", labels.height)
    core.check(lib.sws_mapping_replay_finish(replayed, out))
    sites = labels.hstack(core.frame_of(cells)).select(
        pl.lit(config.kernel).alias("kernel"),
        pl.lit(config.swap_writeback_tags).alias("tags"),
        *("flow", "site"),
        pl.col("calls").filter(site="start").sum().over("flow").alias("pages"),
        *("calls", "unresolved", "contradicted", "acquisitions"),
        tree_walks="descents",
        nodes="nodes_touched",
        tag_words="tag_words_touched",
    )
    return LOCK_SITES.check(sites.filter(pl.col("calls") > 0))


def _feed(replayed: object, rows: pl.DataFrame) -> None:
    at_fault = ffi.new("uint64_t *")
    given = core.columns("struct sws_mapping_replay_rows", rows)
    code = lib.sws_mapping_replay_feed(replayed, given, rows.height, at_fault)
    if code in (lib.SWS_ERROR_BAD_ARGUMENT, lib.SWS_ERROR_UNKNOWN_OP):
        row = rows.row(at_fault[0], named=True)
        raise InputError(
            f"the row with seq {row['seq']} cannot be replayed "
            f"(op {row['op']}, folio {row['folio']:#x}, index {row['index']}): "
            "a folio is an even address, an offset lies within the device"
        )
    core.check(code)


def per_page(
    sites: pl.DataFrame, by: Sequence[str] = ("kernel", "tags", "flow", "site")
) -> pl.DataFrame:
    """Divide the counts of `replay` by the pages written in their flow (LOCK_SITES_PER_PAGE).

    Without "site" in ``by`` they are summed over the sites. Flows that write no page have no rows.
    """
    written = sites.filter(pl.col("pages") > 0).group_by(*by, "pages", maintain_order=True)
    return written.agg(pl.col(_FIGURES).sum() / pl.col("pages").first())


def totals_per_page(sites: pl.DataFrame) -> pl.DataFrame:
    """Return the sums of `per_page` over the sites: a row per kernel, tags and flow."""
    return per_page(sites, ("kernel", "tags", "flow"))


def summed(sites: pl.DataFrame) -> list[str]:
    """Return a line for each flow of LOCK_SITES: its acquisitions a page over all sites."""
    totals = totals_per_page(sites).pivot("tags", index=["flow", "pages"])
    return [
        f"{row['flow']}: {row['acquisitions_true']:.2f} acquisitions a page with tags, "
        f"{row['acquisitions_false']:.2f} without"
        for row in totals.iter_rows(named=True)
    ]


def doubts(sites: pl.DataFrame, trace: Trace | Path | str) -> list[str]:
    """Return a line for each reason for which figures of a trace's LOCK_SITES may be off."""
    of_tags = sites.filter("tags")
    pages = sum(totals_per_page(sites).filter("tags", flow="swap, written")["pages"])
    added = of_tags.filter(flow="swap, written", site="add")["calls"].sum()
    too_few = (
        f"{pages - added:,} of {pages:,} pages were written without a recorded add, so the "
        "acquisitions of adding are too few"
    )
    return (
        not_counted(event_names(trace))
        + unpaired(trace)
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


_SITES_IN_WORDS: Final = {
    "add": "it is added",
    "dirty": "it becomes dirty",
    "start": "its writeback starts",
    "end": "its writeback ends",
    "move": "it is moved",
    "delete": "it is taken out",
    "clear-shadow": "its shadow is cleared",
}
_FLOWS_IN_WORDS: Final = {
    "swap, written": "pages swapped out",
    "swap, not written": "pages of the swap cache that are not written",
    "file": "pages of files",
}
_TITLES: Final = {
    "acquisitions": "Acquisitions of the mapping's lock per page written",
    "tree_walks": "Walks of the tree under the lock",
    "nodes": "Nodes of the tree that are visited under the lock",
    "tag_words": "Words of tags that are written under the lock",
}


def chart(
    sites: pl.DataFrame, figure: str = "acquisitions", **look: Unpack[charts.Look]
) -> alt.ConcatChart:
    """Draw one figure of `replay` per page by site, with and without tags, a panel per flow."""
    from swapsim import charts
    from swapsim.charts.colours import SITES, TAGS

    frame = (
        per_page(sites)
        .sort("site", "flow", pl.col("tags").not_())
        .select(
            pl.col(figure).round(4),
            flow=pl.col("flow").cast(pl.String).replace(_FLOWS_IN_WORDS),
            site=pl.col("site").cast(pl.String).replace(_SITES_IN_WORDS),
            tags=pl.col("tags").replace_strict((True, False), tuple(TAGS), return_dtype=pl.String),
        )
    )
    drawn: charts.Look = {
        "title": _TITLES[figure],
        "panel": "flow",
        "columns": 1,
        "width": 520,
        "words": {figure: f"{figure.replace('_', ' ')} per page", "site": "for a page, when"},
        "colour": {words: SITES[site] for site, words in _SITES_IN_WORDS.items()},
    }
    return charts.bars(frame, figure, "tags", "site", **(drawn | look))
