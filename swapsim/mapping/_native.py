# SPDX-License-Identifier: GPL-2.0-or-later
"""Bindings of ``mapping.h`` and ``mapping_replay.h``: trees of mappings, and counts of a trace."""

from collections.abc import Iterable
from enum import IntEnum
from itertools import product
from typing import Final

import polars as pl

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import KERNELS, check, columns, frame_of, new, records
from swapsim.mapping.config import MappingConfig
from swapsim.mapping.tables import FLOW, LOCK_SITES, SITE

# Nodes do not depend on what an entry means: a folio is even, a shadow odd.
_A_FOLIO: Final = 2
_A_SHADOW: Final = 1
CHUNK_ROWS: Final = 1 << 18  # rows of one call into C: Ctrl-C is handled between two calls


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


def nodes_after_swap_out(offsets: Iterable[int], config: MappingConfig) -> int:
    """Return the nodes of the swap cache's trees after a page of each slot was swapped out."""
    trees = new(lib.sws_mappings_new, settings(config), free=lib.sws_mappings_free)
    mapping = ffi.new("uint32_t *")
    work = ffi.new("struct sws_mapping_work *")
    for offset in offsets:
        if not 0 <= offset < config.swap_slots:
            raise InputError(f"slot {offset} is past the end of a device of {config.swap_slots}")
        check(lib.sws_mapping_of_swap(trees, offset, mapping))
        check(lib.sws_mapping_add(trees, mapping[0], offset, _A_FOLIO, work))
        check(lib.sws_mapping_delete(trees, mapping[0], offset, _A_SHADOW, work))
    return sum(lib.sws_mapping_nodes(trees, each) for each in range(lib.sws_mapping_count(trees)))


def replay_writeback_tags(chunks: Iterable[pl.DataFrame], config: MappingConfig) -> pl.DataFrame:
    """Replay chunks of rows, in trace order and without nulls, into LOCK_SITES.

    There is one row per flow and site, with zeros. InputError quotes the seq of a row that cannot
    be replayed.
    """
    replay = new(lib.sws_mapping_replay_new, settings(config), free=lib.sws_mapping_replay_free)
    for chunk in chunks:
        for part in chunk.iter_slices(CHUNK_ROWS):
            _feed(replay, part)
    labels = pl.DataFrame(
        product(FLOW.dtype.categories, SITE.dtype.categories),
        schema={"flow": FLOW.dtype, "site": SITE.dtype},
        orient="row",
    )
    cells, out = records("struct sws_mapping_replay_cell", labels.height)
    check(lib.sws_mapping_replay_finish(replay, out))
    return pl.concat([labels, frame_of(cells)], how="horizontal").select(
        pl.lit(config.kernel).alias("kernel"),
        pl.lit(config.swap_writeback_tags).alias("tags"),
        *LOCK_SITES.names()[2:-2],
        nodes="nodes_touched",
        tag_words="tag_words_touched",
    )


def _feed(replay: object, rows: pl.DataFrame) -> None:
    at_fault = ffi.new("uint64_t *")
    given = columns("struct sws_mapping_replay_rows", rows)
    code = lib.sws_mapping_replay_feed(replay, given, rows.height, at_fault)
    if code in (lib.SWS_ERROR_BAD_ARGUMENT, lib.SWS_ERROR_UNKNOWN_OP):
        row = rows.row(at_fault[0], named=True)
        raise InputError(
            f"the row with seq {row['seq']} cannot be replayed "
            f"(op {row['op']}, folio {row['folio']:#x}, index {row['index']}): "
            "a folio is an even address, an offset lies within the device"
        )
    check(code)
