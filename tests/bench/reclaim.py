# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulation of the mail's first table, compared with a machine in real time.

Seven gigabytes of pages, a pool that takes four fifths of them, four rounds with files up to
4055 MB, by the rules of 3.9, whose reclaim works hardest. The time includes creating the simulation
and its tables.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import harness

from swapsim.errors import SwapsimError
from swapsim.reclaim import config_of, run_config

NAMES = ("reclaim/real-time",)
MACHINE = partial(config_of, "3.9")


def run() -> Iterator[Any]:
    """Yield the benchmark of NAMES."""
    seeds = iter(range(1, harness.RUNS + 1))

    def ours() -> float:
        start = time.perf_counter()
        result = run_config(MACHINE(seed=next(seeds)))
        if result.out_of_memory:
            raise SwapsimError("the simulation ran out of memory: run 'make test'")
        return result.elapsed_ns / 1e9 / (time.perf_counter() - start)

    unit = "simulated seconds/s (peer: a machine in real time)"
    yield harness.row(NAMES[0], unit, *harness.alternate(ours), 1.0)
