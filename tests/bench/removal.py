# SPDX-License-Identifier: GPL-2.0-or-later
"""Removals from the mappings, batched and page by page, compared with the plain Python model.

Lists of 32 pages: the pages of a trunk in the order of their slots, and every eighth page of
a file. Ours are columns; the outcome of each page and the work of each hold are written out. The
time to put the pages into their mappings does not count.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import harness
import numpy as np
import polars as pl

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.ffi import REMOVAL_MODES, check

MODES = {"removal/batched": "batched", "removal/single": "page-by-page"}
NAMES = tuple(MODES)
PAGES = 2**20
MODEL_PAGES = 2**14
LIST_PAGES = 32
FILE_EVERY = 8
CHUNK = 2**14


def removals_a_second(mode: str) -> float:
    """Put pages into their mappings, as in 4.8; return the removals a second, chunk by chunk."""
    slots = core.config(lib.sws_mapping_config_init, None, swap_slots=PAGES + 1)
    mappings = core.new(lib.sws_mappings_new, slots, free=lib.sws_mappings_free)
    file, work = ffi.new("uint32_t *"), ffi.new("struct sws_mapping_work *")
    check(lib.sws_mapping_add_file(mappings, file))
    row = pl.int_range(PAGES)
    of_file = row % FILE_EVERY == 0
    swap = pl.lit(lib.SWS_REMOVAL_FILE_SWAP)
    pages = pl.select(
        index=pl.when(of_file).then(row // FILE_EVERY).otherwise(row + 1).cast(pl.UInt64),
        file=pl.when(of_file).then(pl.lit(0)).otherwise(swap).cast(pl.UInt32),
        references=pl.lit(2, pl.UInt32),
        locked=pl.lit(1, pl.UInt8),
        dirty=pl.lit(0, pl.UInt8),
        freepage=pl.lit(0, pl.UInt8),
        lazyfree=pl.lit(0, pl.UInt8),
    )
    for index, number in pages.select("index", "file").iter_rows():
        mapping = 0 if number == lib.SWS_REMOVAL_FILE_SWAP else file[0]
        check(lib.sws_mapping_add(mappings, mapping, index, 2, work))
    config = core.config(lib.sws_removal_config_init, None, mode=REMOVAL_MODES.index(mode))
    reclaimer = core.new(lib.sws_removal_new, config, mappings, free=lib.sws_removal_free)
    spent, removed = 0.0, np.zeros(CHUNK, dtype=np.uint8)
    holds, _ = core.records("struct sws_removal_hold", CHUNK)
    results = core.pointers("struct sws_removal_results", {"removed": removed, "holds": holds})
    ends = np.arange(LIST_PAGES, CHUNK + 1, LIST_PAGES, dtype=np.uint64)
    last = ffi.from_buffer("uint64_t[]", ends)
    for chunk in pages.iter_slices(CHUNK):
        rows = core.columns("struct sws_removal_rows", chunk)
        removed.fill(0)
        start = time.perf_counter()
        code = lib.sws_removal_lists(reclaimer, rows, len(ends), last, results)
        spent += time.perf_counter() - start
        check(code)
        harness.require(removed.all(), "removal left pages in their mappings")
    return PAGES / spent


def model(mode: str) -> float:
    """Return the same of the plain Python model."""
    import oracle_removal

    reclaim = oracle_removal.Reclaim("4.8", trunk_shift=14)
    lists = [
        [
            reclaim.bring(False, 0, row // FILE_EVERY)
            if row % FILE_EVERY == 0
            else reclaim.bring(True, 0, row + 1)
            for row in range(begin, begin + LIST_PAGES)
        ]
        for begin in range(0, MODEL_PAGES, LIST_PAGES)
    ]
    start = time.perf_counter()
    for pages in lists:
        reclaim.run(mode, pages)
    spent = time.perf_counter() - start
    all_removed = reclaim.counts()["reclaimed"] == MODEL_PAGES
    harness.require(all_removed, "the plain model left pages in their mappings")
    return MODEL_PAGES / spent


def run() -> Iterator[Any]:
    """Yield the benchmarks of NAMES."""
    unit = f"million removals/s ({harness.MODEL}, oracle_removal.py)"
    for name, mode in MODES.items():
        sides = partial(removals_a_second, mode), partial(model, mode)
        yield harness.compare(name, unit, *sides, 1e6)
