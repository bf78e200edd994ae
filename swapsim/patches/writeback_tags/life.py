# SPDX-License-Identifier: GPL-2.0-or-later
"""The complete life of a benchmark such as swap-w-seq: memory fills, tasks swap, and they exit.

A tool's metric describes one part of it, its window: `data.window_of` says which.
"""

import math
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine._native import Window, run_life
from swapsim.machine.config import Machine
from swapsim.machine.constants import costs_by_name
from swapsim.machine.running import PAGE_KIB, window_metrics

_SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A complete run of a machine whose writers exit.

    ``throughput`` is the sum of the writers' rates while they write, ``swap_out`` the mean rate of
    the complete run (both KiB/s). ``swapped`` is the share of the pages written that went out.
    ``out_of_swap`` is whether a writer found no slot and gave up; the rates are those up to then.
    """

    throughput: float
    swap_out: float
    elapsed_ns: int
    swapped: float
    out_of_swap: bool
    _windows: dict[str, Window | None]

    def metrics(self, window: str) -> dict[str, float]:
        """Return the metrics of a run in a window: swap or run."""
        found = self._windows.get(window)
        if found is None:
            raise InputError(
                f"{window!r} has no counts: choose one of {', '.join(self._windows)}; if no page "
                "went out before the first exit, give the machine less memory, or the tasks more "
                "pages"
            )
        return {metric: value for metric, value, _ in window_metrics(found)}


def live(machine: Machine, constants: pl.DataFrame) -> Life:
    """Run a machine with costs (CONSTANTS) from its empty memory to the exit of its last writer."""
    if not machine.accesses or not machine.writers or machine.walkers:
        raise InputError(
            f"accesses={machine.accesses}, writers={machine.writers}, walkers={machine.walkers}: a "
            "complete life needs writers that exit, and no other tasks"
        )
    found = run_life(machine, costs_by_name(constants))
    out = int(found.run.cpus["pages_out"].sum())
    rates = [PAGE_KIB * pages * _SECOND_NS / ns for pages, ns in found.written if ns]
    return Life(
        throughput=math.fsum(rates),
        swap_out=PAGE_KIB * out * _SECOND_NS / max(found.run.elapsed_ns, 1),
        elapsed_ns=found.run.elapsed_ns,
        swapped=out / max(sum(pages for pages, _ in found.written), 1),
        out_of_swap=found.stuck,
        _windows={"swap": found.swap, "run": found.run},
    )
