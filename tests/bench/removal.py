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

from swapsim._core import ffi, lib
from swapsim.errors import SwapsimError
from swapsim.ffi import REMOVAL_MODES

MODES = {"removal/batched": "batched", "removal/single": "page-by-page"}
NAMES = tuple(MODES)
PAGES = 2**20
MODEL_PAGES = 2**14
LIST_PAGES = 32
FILE_EVERY = 8
CHUNK = 2**14


class Lists:
    """Pages in their mappings, and the columns that contain their numbers."""

    def __init__(self, mode: str) -> None:
        """Put each page into its mapping, as in 4.8."""
        config, out = ffi.new("struct sws_mapping_config *"), ffi.new("struct sws_mappings **")
        lib.sws_mapping_config_init(config)
        config.swap_slots = PAGES + 1
        if lib.sws_mappings_new(config, out) != lib.SWS_OK:
            raise MemoryError("no memory for mappings")
        self.mappings = ffi.gc(out[0], lib.sws_mappings_free)
        file, work = ffi.new("uint32_t *"), ffi.new("struct sws_mapping_work *")
        lib.sws_mapping_add_file(self.mappings, file)
        rows = np.arange(PAGES)
        of_file = rows % FILE_EVERY == 0
        self.index = np.where(of_file, rows // FILE_EVERY, rows + 1).astype(np.uint64)
        self.file = np.where(of_file, 0, lib.SWS_REMOVAL_FILE_SWAP).astype(np.uint32)
        for is_file, index in zip(of_file.tolist(), self.index.tolist(), strict=True):
            mapping = file[0] if is_file else 0
            if lib.sws_mapping_add(self.mappings, mapping, index, 2, work) != lib.SWS_OK:
                raise MemoryError("no memory for pages")
        self.references = np.full(PAGES, 2, dtype=np.uint32)
        self.yes, self.no = np.ones(PAGES, dtype=np.uint8), np.zeros(PAGES, dtype=np.uint8)
        self.removed = np.zeros(PAGES, dtype=np.uint8)
        self.reclaimer = self._reclaimer(mode)

    def _reclaimer(self, mode: str) -> Any:
        config, out = ffi.new("struct sws_removal_config *"), ffi.new("struct sws_removal **")
        lib.sws_removal_config_init(config)
        config.mode = REMOVAL_MODES.index(mode)
        if lib.sws_removal_new(config, self.mappings, out) != lib.SWS_OK:
            raise MemoryError("no memory for a reclaimer")
        return ffi.gc(out[0], lib.sws_removal_free)

    def removals_a_second(self) -> float:
        """Remove them all, chunk by chunk; return the removals a second."""
        spent = 0.0
        holds = ffi.new("struct sws_removal_hold[]", CHUNK)
        ends = np.arange(LIST_PAGES, CHUNK + 1, LIST_PAGES, dtype=np.uint64)
        ends_of_lists = ffi.from_buffer("uint64_t[]", ends)
        for begin in range(0, PAGES, CHUNK):
            chunk = slice(begin, begin + CHUNK)
            rows, results = (
                ffi.new("struct sws_removal_rows *"),
                ffi.new("struct sws_removal_results *"),
            )
            columns = [
                ffi.from_buffer("uint32_t[]", self.file[chunk]),
                ffi.from_buffer("uint64_t[]", self.index[chunk]),
                ffi.from_buffer("uint32_t[]", self.references[chunk]),
                ffi.from_buffer("uint8_t[]", self.yes[chunk]),
                ffi.from_buffer("uint8_t[]", self.no[chunk]),
            ]
            rows.file, rows.index, rows.references, rows.locked, rows.dirty = columns
            rows.freepage = rows.lazyfree = rows.dirty
            out = ffi.from_buffer("uint8_t[]", self.removed[chunk])
            results.removed, results.holds = out, holds
            start = time.perf_counter()
            code = lib.sws_removal_lists(self.reclaimer, rows, len(ends), ends_of_lists, results)
            spent += time.perf_counter() - start
            if code != lib.SWS_OK:
                raise SwapsimError("removal refused its pages: run 'make test'")
        if not self.removed.all():
            raise SwapsimError("removal left pages in their mappings: run 'make test'")
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
    if reclaim.counts()["reclaimed"] != MODEL_PAGES:
        raise SwapsimError("the plain model left pages in their mappings: run 'make test'")
    return MODEL_PAGES / spent


def run() -> Iterator[Any]:
    """Yield the benchmarks of NAMES."""
    for name, mode in MODES.items():
        rates = harness.alternate(lambda m=mode: Lists(m).removals_a_second(), partial(model, mode))
        unit = f"million removals/s ({harness.MODEL}, oracle_removal.py)"
        yield harness.row(name, unit, *rates, scale=1e6)
