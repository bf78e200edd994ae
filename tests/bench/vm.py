# SPDX-License-Identifier: GPL-2.0-or-later
"""The world of the mail's first table, beside a machine that lives it.

Seven gigabytes of pages, a pool that takes four fifths of them, four rounds with files up to
4055 MB: by the rules of 3.9, whose reclaim works hardest. What is counted is the whole run,
the making of the world and its tables with it.
"""

import statistics
import time
from collections.abc import Iterator
from typing import Any

from swapsim import reclaim
from swapsim.errors import SwapsimError

NAMES = ("vm/real-time",)
RUNS = 5


def run() -> Iterator[Any]:
    """Yield the benchmark of NAMES."""
    rates = []
    for seed in range(1, RUNS + 1):
        start = time.perf_counter()
        world = reclaim.run(reclaim.parallelio("3.9", seed=seed))
        rates.append(world.elapsed_ns / 1e9 / (time.perf_counter() - start))
        if world.out_of_memory:
            raise SwapsimError("the world ran out of memory: run 'make test'")
    ours = statistics.median(rates)
    yield {
        "name": NAMES[0],
        "ours": round(ours, 1),
        "peer": 1.0,
        "unit": "simulated seconds/s (peer: a machine that lives them)",
        "ratio": round(ours, 1),
    }
