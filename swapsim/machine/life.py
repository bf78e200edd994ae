# SPDX-License-Identifier: GPL-2.0-or-later
"""The complete life of a benchmark such as swap-w-seq: memory fills, tasks swap, and they exit.

A tool's metric describes one part of it, its window: `claims.window_of` says which.
"""

import math
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine._native import Window, run_life
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs_by_name
from swapsim.machine.run import PAGE_KIB, window_metrics

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
        """Return the metrics of `run.run` in a window: swap or run."""
        if window not in self._windows:
            raise InputError(
                f"{window!r} has no counts: choose one of {', '.join(self._windows)}",
                field="window",
            )
        found = self._windows[window]
        if found is None:
            raise InputError(
                f"{window!r} is outside of the run, in which no page went out before the first "
                "exit: give the machine less memory, or the tasks more pages",
                field="window",
            )
        return {metric: value for metric, value, _ in window_metrics(found)}


def live(config: MachineConfig, constants: pl.DataFrame | None = None) -> Life:
    """Run a machine from its empty memory to the exit of its last writer.

    ``constants`` has the schema CONSTANTS; default: data/costs.csv. The config's warm-up and
    duration are ignored. A InputError says that its writers do not exit, or that it has other
    tasks.
    """
    if not config.accesses or not config.writers or config.walkers:
        raise InputError(
            f"accesses={config.accesses}, writers={config.writers}, walkers={config.walkers}: a "
            "complete life needs writers that exit, and no other tasks"
        )
    found = run_life(config, costs_by_name(constants))
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
