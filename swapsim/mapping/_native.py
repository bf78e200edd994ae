# SPDX-License-Identifier: GPL-2.0-or-later
"""Bindings of ``mapping.h`` and ``mapping_replay.h``: trees of mappings, and counts of a trace."""

from collections.abc import Iterable
from enum import IntEnum
from itertools import product
from typing import Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import KERNELS, check
from swapsim.mapping.config import MappingConfig
from swapsim.mapping.tables import FLOW, LOCK_SITES, SITE

# Nodes do not depend on what an entry means: a folio is even, a shadow odd.
_A_FOLIO: Final = 2
_A_SHADOW: Final = 1

CHUNK_ROWS: Final = 1 << 18
"""Rows of one call into C: Ctrl-C is handled between two calls."""

_COLUMNS: Final = {
    name: f"{field.type.item.cname}[]"
    for name, field in ffi.typeof("struct sws_mapping_replay_rows").fields
}
"""Columns of REPLAY_ROWS -> types of their arrays in C."""


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
    made = ffi.new("struct sws_mapping_config *")
    lib.sws_mapping_config_init(made)
    made.kernel = KERNELS.index(config.kernel)
    for name in ("swap_writeback_tags", "swap_slots", "trunk_shift", "tree_shift"):
        setattr(made, name, getattr(config, name))
    return made


def nodes_after_swap_out(offsets: Iterable[int], config: MappingConfig) -> int:
    """Return the nodes of the swap cache's trees after a page of each slot was swapped out."""
    out = ffi.new("struct sws_mappings **")
    check(lib.sws_mappings_new(settings(config), out))
    handle = ffi.gc(out[0], lib.sws_mappings_free)
    mapping = ffi.new("uint32_t *")
    work = ffi.new("struct sws_mapping_work *")
    for offset in offsets:
        if not 0 <= offset < config.swap_slots:
            raise InputError(f"slot {offset} is past the end of a device of {config.swap_slots}")
        check(lib.sws_mapping_of_swap(handle, offset, mapping))
        check(lib.sws_mapping_add(handle, mapping[0], offset, _A_FOLIO, work))
        check(lib.sws_mapping_delete(handle, mapping[0], offset, _A_SHADOW, work))
    return sum(lib.sws_mapping_nodes(handle, each) for each in range(lib.sws_mapping_count(handle)))


def replay_writeback_tags(chunks: Iterable[pl.DataFrame], config: MappingConfig) -> pl.DataFrame:
    """Replay chunks of REPLAY_ROWS, in trace order and without nulls, into LOCK_SITES.

    There is one row per flow and site, with zeros. InputError quotes the seq of a row that cannot
    be replayed.
    """
    out = ffi.new("struct sws_mapping_replay **")
    check(lib.sws_mapping_replay_new(settings(config), out))
    handle = ffi.gc(out[0], lib.sws_mapping_replay_free)
    for chunk in chunks:
        for start in range(0, chunk.height, CHUNK_ROWS):
            _feed(handle, chunk.slice(start, CHUNK_ROWS))
    cells = ffi.new(
        "struct sws_mapping_replay_cell[]",
        lib.SWS_MAPPING_REPLAY_FLOWS * lib.SWS_MAPPING_REPLAY_SITES,
    )
    check(lib.sws_mapping_replay_finish(handle, cells))
    rows = [
        (
            config.kernel,
            config.swap_writeback_tags,
            flow,
            site,
            cell.calls,
            cell.unresolved,
            cell.contradicted,
            cell.work.acquisitions,
            cell.work.tree.descents,
            cell.work.tree.nodes_touched,
            cell.work.tree.tag_words_touched,
        )
        for cell, (flow, site) in zip(
            cells, product(FLOW.dtype.categories, SITE.dtype.categories), strict=True
        )
    ]
    return pl.DataFrame(rows, schema=LOCK_SITES.schema, orient="row")


def _feed(handle: object, rows: pl.DataFrame) -> None:
    columns = {name: np.ascontiguousarray(rows[name].to_numpy()) for name in _COLUMNS}
    pointers = ffi.new("struct sws_mapping_replay_rows *")
    for name, kind in _COLUMNS.items():
        setattr(pointers, name, ffi.from_buffer(kind, columns[name]))
    at_fault = ffi.new("uint64_t *")
    code = lib.sws_mapping_replay_feed(handle, pointers, rows.height, at_fault)
    if code in (lib.SWS_ERROR_BAD_ARGUMENT, lib.SWS_ERROR_UNKNOWN_OP):
        row = rows.row(at_fault[0], named=True)
        raise InputError(
            f"the row with seq {row['seq']} cannot be replayed "
            f"(op {row['op']}, folio {row['folio']:#x}, index {row['index']}): "
            "a folio is an even address, an offset lies within the device"
        )
    check(code)
