# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions of reclaim's stalls from columns, compared with the plain Python model.

Lists of 32 pages as a slow disk leaves them, two thirds of files, a third of those dirty and a
sixth under writeback, in the order of a generator; by the rules of 6.1. Ours is fed columns and
gives the counters, flags and sleeps of each list, and the branch of each page. The time to make
the columns is not measured, nor that to make the pages of the model.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import harness
import numpy as np

from swapsim import ffi as core
from swapsim._core import lib
from swapsim.ffi import STALL_RULES, STALL_STEPS, check

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


COUNTERS = ("dirty", "unqueued_dirty", "congested", "writeback")


class Lists:
    """Pages in columns, and memory for the results."""

    def __init__(self) -> None:
        """Draw the kinds of pages, the same each time."""
        self.kinds = np.random.default_rng(1).choice(len(KINDS), size=PAGES, p=SHARES)
        bits, steps = zip(*KINDS.values(), strict=True)
        self.rows = core.pointers(
            "struct sws_stall_rows",
            {
                "page": np.array(bits, dtype=np.uint16)[self.kinds],
                "step": np.array(list(map(STALL_STEPS.index, steps)), dtype=np.uint8)[self.kinds],
            },
        )
        ends = np.arange(LIST_PAGES, PAGES + 1, LIST_PAGES, dtype=np.uint64)
        caller = lib.SWS_STALL_KSWAPD | lib.SWS_STALL_IO | lib.SWS_STALL_FS
        self.count = len(ends)
        same = {"caller": caller, "priority": lib.SWS_STALL_PRIORITY_MAX, "file": 1, "flags": 0}
        columns = {name: np.full(self.count, value, dtype=np.uint8) for name, value in same.items()}
        columns["taken"] = np.full(self.count, LIST_PAGES, dtype=np.uint32)
        self.lists = core.pointers("struct sws_stall_lists", columns | {"ends": ends})
        self.found, _ = core.records("struct sws_stall_result", self.count)
        self.results = core.pointers(
            "struct sws_stall_results",
            {"lists": self.found, "branches": np.zeros(PAGES, dtype=np.uint8)},
        )
        rules = STALL_RULES.index(RULES)
        config = core.config(lib.sws_stall_replay_config_init, None, set=rules)
        self.replay = core.new(lib.sws_stall_replay_new, config, free=lib.sws_stall_replay_free)

    def pages_a_second(self) -> float:
        """Decide all lists; return the pages a second."""
        decide = partial(lib.sws_stall_replay_lists, self.replay, self.rows, self.count)
        spent = harness.seconds(lambda: check(decide(self.lists, self.results)))
        return PAGES / spent


def model(lists: Lists) -> float:
    """Return the same of the plain Python model, whose counters must be the same."""
    import oracle_stall

    context = oracle_stall.Context(RULES, kswapd=True)
    pages = {
        "clean": oracle_stall.Page(),
        "dirty": oracle_stall.Page(dirty=True),
        "writing": oracle_stall.Page(writeback=True),
        "anonymous": oracle_stall.Page(file=False),
    }
    rows = [oracle_stall.Row(pages[kind], step, flags=0) for kind, (_, step) in KINDS.items()]
    dealt = [rows[kind] for kind in lists.kinds[:MODEL_PAGES]]
    counted = []

    def count() -> None:
        for begin in range(0, MODEL_PAGES, LIST_PAGES):
            some = dealt[begin : begin + LIST_PAGES]
            replayed = oracle_stall.replay(context, some, file=True, taken=LIST_PAGES)
            counted.append(replayed.reclaim.counts)

    spent = harness.seconds(count)
    ours = lists.found["counts"][list(COUNTERS)][: len(counted)].tolist()
    theirs = [tuple(getattr(counts, name) for name in COUNTERS) for counts in counted]
    harness.require(ours == theirs, "stall rules and the plain model count differently")
    return MODEL_PAGES / spent


def run() -> Iterator[Any]:
    """Yield the benchmark of NAMES."""
    lists = Lists()
    unit = f"million pages/s ({harness.MODEL}, oracle_stall.py)"
    yield harness.compare(NAMES[0], unit, lists.pages_a_second, partial(model, lists), 1e6)
