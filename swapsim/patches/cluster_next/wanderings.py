# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks that change CPU: a real kernel's slots beside those of the slot workbench."""

import math
from typing import Final

import polars as pl

from swapsim import claims, slots
from swapsim.slots.tables import WANDERINGS

EXPERIMENT: Final = "tasks-that-change-cpu"
"""In data/measured."""

SHARED: Final = "slots in a trunk with another task"

TWINS: Final = {
    "shared": ("shared", 0),
    "percpu-rerandomise": ("percpu-rerandomise", 0),
    "percpu": ("percpu", 0),
    "percpu 1500": ("percpu", 1000),
    "percpu 150": ("percpu", 100),
    "percpu free": None,
}
"""A value of the experiment -> the workbench's policy, and pages that a task swaps out on a CPU;
none for tasks that the kernel moves as it likes."""


def measured_beside_simulated(simulated: pl.DataFrame) -> pl.DataFrame:
    """Say how many slots lie in a trunk with another task, in a real kernel and on the workbench.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema SLOT_SWEEP: as `studies.wandering_tasks_of_the_lab` returns.

    Returns
    -------
    polars.DataFrame
        Schema WANDERINGS, in the order of TWINS.

    Source
    ------
    data/measured/tasks-that-change-cpu: the second half of each run, five rounds.
    """
    results = claims.measured_results(EXPERIMENT)
    medians = claims.medians(results)
    ranking = slots.ranking(simulated, "trunk.shared")
    rows = []
    for value, twin in TWINS.items():
        base, _, stay = value.partition(" ")
        measured = medians.filter(policy=value, metric=SHARED).row(0, named=True)
        row = {
            "base": base,
            "tasks": {"": "stay", "free": "are the kernel's"}.get(stay, "change CPU"),
            "pages_a_cpu": _pages_a_cpu(results.filter(policy=value)),
            "measured": measured["median"],
            "measured_low": measured["low"],
            "measured_high": measured["high"],
        }
        if twin is not None:
            found = ranking.filter(policy=twin[0], setting=str(twin[1])).row(0, named=True)
            row |= {
                "simulated": found["mean"],
                "simulated_low": found["low"],
                "simulated_high": found["high"],
            }
        rows.append(row)
    frame = pl.DataFrame(rows, schema=WANDERINGS.schema)
    return WANDERINGS.check(frame)


def _pages_a_cpu(results: pl.DataFrame) -> float | None:
    """Return the median over the rounds; a round without a change has 0, and stands above all."""
    between = results.filter(metric="pages out between changes")["value"]
    median = between.replace(0.0, math.inf).median()
    return median if isinstance(median, float) and math.isfinite(median) else None
