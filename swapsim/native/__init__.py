# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls into the C core: configs to structs, columns to arrays, codes to exceptions.

A C handle lives inside one function. Columns that come back are copied once.
"""

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.config import MAPPING_KERNELS, MappingConfig
from swapsim.errors import InputError, NativeError, NativeMemoryError
from swapsim.schemas import FLOW, LOCK_SITES, SITE

if TYPE_CHECKING:
    from collections.abc import Iterable

CHUNK_ROWS: Final = 1 << 18
"""Rows fed to C in one call: between two calls Ctrl-C is heard."""

# What a tree holds means nothing to its nodes: a folio is even, a shadow odd.
_A_FOLIO: Final = 2
_A_SHADOW: Final = 1


def check(code: int) -> None:
    """Raise what a negative code of the C library stands for.

    Raises
    ------
    NativeMemoryError
        Out of memory.
    NativeError
        Any other code.
    """
    if code == lib.SWS_OK:
        return
    message = ffi.string(lib.sws_strerror(code)).decode()
    raise (NativeMemoryError if code == lib.SWS_ERROR_NO_MEMORY else NativeError)(message)


def replay_writeback_tags(chunks: "Iterable[pl.DataFrame]", config: MappingConfig) -> pl.DataFrame:
    """Lead the rows of a trace through the mappings of ``replay.h``.

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
    check(lib.sws_mapping_replay_new(_mapping_settings(config), out))
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
            ((flow, site) for flow in FLOW.categories for site in SITE.categories),
            strict=True,
        )
    ]
    return pl.DataFrame(rows, schema=LOCK_SITES, orient="row")


def nodes_after_swap_out(offsets: "Iterable[int]", config: MappingConfig) -> int:
    """Count the nodes of the swap cache's trees once a page of each slot is written and gone.

    Parameters
    ----------
    offsets : iterable of int
        Slots of the device, all still in use.
    config : MappingConfig
        In 6.1 each slot keeps a shadow in its trunk's tree; earlier kernels keep nothing.

    Returns
    -------
    int
        Nodes of all trunks together.

    Raises
    ------
    InputError
        Naming an offset past the device's end.
    NativeMemoryError
    """
    out = ffi.new("struct sws_mappings **")
    check(lib.sws_mappings_new(_mapping_settings(config), out))
    handle = ffi.gc(out[0], lib.sws_mappings_free)
    mapping = ffi.new("uint32_t *")
    work = ffi.new("struct sws_mapping_work *")
    for offset in offsets:
        if not 0 <= offset < config.swap_slots:
            raise InputError(f"{offset} is no slot of a device of {config.swap_slots}")
        check(lib.sws_mapping_of_swap(handle, offset, mapping))
        check(lib.sws_mapping_add(handle, mapping[0], offset, _A_FOLIO, work))
        check(lib.sws_mapping_delete(handle, mapping[0], offset, _A_SHADOW, work))
    return sum(lib.sws_mapping_nodes(handle, each) for each in range(lib.sws_mapping_count(handle)))


def _mapping_settings(config: MappingConfig) -> object:
    settings = ffi.new("struct sws_mapping_config *")
    lib.sws_mapping_config_init(settings)
    settings.kernel = MAPPING_KERNELS.index(config.kernel)
    settings.swap_writeback_tags = config.swap_writeback_tags
    settings.swap_slots = config.swap_slots
    settings.trunk_shift = config.trunk_shift
    settings.tree_shift = config.tree_shift
    return settings


def _feed(handle: object, rows: pl.DataFrame) -> None:
    columns = [
        np.ascontiguousarray(rows[name].to_numpy())
        for name in ("op", "folio", "index", "file", "shadow")
    ]
    pointers = ffi.new("struct sws_mapping_replay_rows *")
    pointers.op = ffi.from_buffer("uint8_t[]", columns[0])
    pointers.folio = ffi.from_buffer("uint64_t[]", columns[1])
    pointers.index = ffi.from_buffer("uint64_t[]", columns[2])
    pointers.file = ffi.from_buffer("uint64_t[]", columns[3])
    pointers.shadow = ffi.from_buffer("uint64_t[]", columns[4])
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
