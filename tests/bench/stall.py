# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions of reclaim's stalls from columns, compared with the plain Python model.

Lists of 32 pages as a slow disk leaves them, two thirds of files, a third of those dirty and a
sixth under writeback, in the order of a generator; by the rules of 6.1. Ours is fed columns and
gives the counters, flags and sleeps of each list, and the branch of each page. The time to make
the columns is not measured, nor that to make the pages of the model.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import harness
import numpy as np

from swapsim._core import ffi, lib
from swapsim.errors import SwapsimError
from swapsim.ffi import STALL_RULES, STALL_STEPS

NAMES = ("stall/decisions",)
RULES = "6.1"
PAGES = 2**22
MODEL_PAGES = 2**13
LIST_PAGES = 32
KINDS = {
    "clean": (lib.SWS_STALL_PAGE_FILE, "freed"),
    "dirty": (lib.SWS_STALL_PAGE_FILE | lib.SWS_STALL_PAGE_DIRTY, "dirty"),
    "writing": (
        lib.SWS_STALL_PAGE_FILE | lib.SWS_STALL_PAGE_WRITEBACK | lib.SWS_STALL_PAGE_UNDER_WRITEBACK,
        "writeback_2",
    ),
    "anonymous": (0, "written"),
}
SHARES = (0.35, 0.2, 0.1, 0.35)


class Lists:
    """Pages in columns, and memory for the results."""

    def __init__(self) -> None:
        """Draw the kinds of pages, the same each time."""
        lists = PAGES // LIST_PAGES
        self.kinds = np.random.default_rng(1).choice(len(KINDS), size=PAGES, p=SHARES)
        of_kinds = list(KINDS.values())
        bits = np.array([bits for bits, _ in of_kinds], dtype=np.uint16)
        steps = np.array([STALL_STEPS.index(step) for _, step in of_kinds], dtype=np.uint8)
        self.page, self.step = bits[self.kinds], steps[self.kinds]
        self.ends = np.arange(LIST_PAGES, PAGES + 1, LIST_PAGES, dtype=np.uint64)
        caller = lib.SWS_STALL_KSWAPD | lib.SWS_STALL_IO | lib.SWS_STALL_FS
        self.caller = np.full(lists, caller, dtype=np.uint8)
        self.priority = np.full(lists, lib.SWS_STALL_PRIORITY_MAX, dtype=np.uint8)
        self.flags, self.file = np.zeros(lists, dtype=np.uint8), np.ones(lists, dtype=np.uint8)
        self.taken = np.full(lists, LIST_PAGES, dtype=np.uint32)
        self.branches = np.zeros(PAGES, dtype=np.uint8)
        self.found = ffi.new("struct sws_stall_result[]", lists)
        config, out = (
            ffi.new("struct sws_stall_replay_config *"),
            ffi.new("struct sws_stall_replay **"),
        )
        lib.sws_stall_replay_config_init(config)
        config.set = STALL_RULES.index(RULES)
        if lib.sws_stall_replay_new(config, out) != lib.SWS_OK:
            raise MemoryError("no memory for the rules' tables")
        self.replay = ffi.gc(out[0], lib.sws_stall_replay_free)

    def pages_a_second(self) -> float:
        """Decide all lists; return the pages a second."""
        rows, lists = ffi.new("struct sws_stall_rows *"), ffi.new("struct sws_stall_lists *")
        results = ffi.new("struct sws_stall_results *")
        rows.page = page = ffi.from_buffer("uint16_t[]", self.page)
        rows.step = step = ffi.from_buffer("uint8_t[]", self.step)
        keep = [page, step]
        for name in ("caller", "priority", "file", "flags"):
            keep.append(ffi.from_buffer("uint8_t[]", getattr(self, name)))
            setattr(lists, name, keep[-1])
        keep += [
            ffi.from_buffer("uint64_t[]", self.ends),
            ffi.from_buffer("uint32_t[]", self.taken),
            ffi.from_buffer("uint8_t[]", self.branches),
        ]
        lists.ends, lists.taken, results.branches = keep[-3:]
        results.lists = self.found
        start = time.perf_counter()
        code = lib.sws_stall_replay_lists(self.replay, rows, len(self.ends), lists, results)
        spent = time.perf_counter() - start
        if code != lib.SWS_OK:
            raise SwapsimError("stall rules refused their pages: run 'make test'")
        return PAGES / spent

    def counted(self, lists: int) -> list[tuple[int, ...]]:
        """Return the counters of the first lists."""
        return [
            (counts.dirty, counts.unqueued_dirty, counts.congested, counts.writeback)
            for counts in (self.found[i].counts for i in range(lists))
        ]


def model(lists: Lists) -> float:
    """Return the same of the plain Python model, whose counters must be the same."""
    import oracle_stall

    context = oracle_stall.Context(RULES, kswapd=True)
    rows = {
        "clean": oracle_stall.Page(),
        "dirty": oracle_stall.Page(dirty=True),
        "writing": oracle_stall.Page(writeback=True),
        "anonymous": oracle_stall.Page(file=False),
    }
    dealt = [
        oracle_stall.Row(rows[name], KINDS[name][1], flags=0)
        for name in np.array(list(KINDS))[lists.kinds[:MODEL_PAGES]].tolist()
    ]
    counted = []
    start = time.perf_counter()
    for begin in range(0, MODEL_PAGES, LIST_PAGES):
        some = dealt[begin : begin + LIST_PAGES]
        replayed = oracle_stall.replay(context, some, file=True, taken=LIST_PAGES)
        counted.append(replayed.reclaim.counts)
    spent = time.perf_counter() - start
    figures = [
        (counts.dirty, counts.unqueued_dirty, counts.congested, counts.writeback)
        for counts in counted
    ]
    if figures != lists.counted(len(figures)):
        raise SwapsimError("stall rules and the plain model count differently: run 'make test'")
    return MODEL_PAGES / spent


def run() -> Iterator[Any]:
    """Yield the benchmark of NAMES."""
    lists = Lists()
    rates = harness.alternate(lists.pages_a_second, partial(model, lists))
    yield harness.row(
        NAMES[0], f"million pages/s ({harness.MODEL}, oracle_stall.py)", *rates, scale=1e6
    )
