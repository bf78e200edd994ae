# SPDX-License-Identifier: GPL-2.0-or-later
"""The C replay of mappings: rows of a trace in, the ledger of locks and work out."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi.codes import check
from swapsim.mapping._native import settings
from swapsim.mapping.config import MappingConfig
from swapsim.mapping.tables import FLOW, LOCK_SITES, SITE

CHUNK_ROWS: Final = 1 << 18
"""Rows fed to C in one call: between two calls Ctrl-C is heard."""

_COLUMNS: Final = {
    name: f"{field.type.item.cname}[]"
    for name, field in ffi.typeof("struct sws_mapping_replay_rows").fields
}
"""Arrays by the names of REPLAY_ROWS' columns."""


class Op(IntEnum):
    """What a row says."""

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
    """Values of the column of files that name none; those that do are greater."""

    UNKNOWN = lib.SWS_MAPPING_REPLAY_FILE_UNKNOWN
    SWAP = lib.SWS_MAPPING_REPLAY_FILE_SWAP


class Shadow(IntEnum):
    """Values of the column of shadows that are none; those that are one are odd."""

    NONE = lib.SWS_MAPPING_REPLAY_SHADOW_NONE
    UNTOLD = lib.SWS_MAPPING_REPLAY_SHADOW_UNTOLD


def replay_writeback_tags(chunks: Iterable[pl.DataFrame], config: MappingConfig) -> pl.DataFrame:
    """Lead the rows of a trace through the mappings of ``mapping_replay.h``.

    Parameters
    ----------
    chunks : iterable of polars.DataFrame
        Schema REPLAY_ROWS each, in trace order, without nulls: the caller has checked.
    config : MappingConfig

    Returns
    -------
    polars.DataFrame
        Schema LOCK_SITES, one row per flow and site, zeros included.

    Raises
    ------
    InputError
        Naming the row (by its seq) that the mechanism cannot take.
    NativeMemoryError
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
            cells,
            ((flow, site) for flow in FLOW.dtype.categories for site in SITE.dtype.categories),
            strict=True,
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
