# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B's experiments in the lab: their machines, and what the lab counts of a run."""

from typing import Final

import polars as pl

from swapsim.machine.config import Machine
from swapsim.patches.batched_removal.workload import PATCH, THREADS
from swapsim.patches.lab import PAGES_OF_MEBIBYTE, UNTIL_DONE, run_as_lab

HOLD: Final = "pages a batched hold"
"""The metric of the lab for the number of pages that one hold removes."""

_WRITTEN: Final = 320 * PAGES_OF_MEBIBYTE
"""Pages that all tasks write together, whatever their number."""

_REMOVALS: Final = "xa_lock at __remove_mapping"


def machine(*, tasks: int, batched: bool, rotational: bool = False, seed: int = 1) -> Machine:
    """Return the machine of data/measured/batched-removal, or -rotational: writers that exit."""
    return Machine(
        patch=PATCH,
        kernel="6.1",
        removal="batched" if batched else "page-by-page",
        rotational=rotational,
        writers=tasks,
        accesses=_WRITTEN // tasks,
        frames=56_000,
        slots=192 * PAGES_OF_MEBIBYTE,
        warmup_ns=0,
        duration_ns=UNTIL_DONE,
        seed=seed,
    )


def machines(*, rotational: bool) -> list[Machine]:
    """Return the machines of an experiment, by value of the switch, number of tasks and seed."""
    return [
        machine(tasks=tasks, batched=batched, rotational=rotational, seed=seed)
        for batched in (False, True)
        for tasks in THREADS
        for seed in (1, 2, 3)
    ]


def count(config: Machine) -> pl.DataFrame:
    """Run a machine to its end and count as the lab does; the policy is the switch, off or on.

    With the patch there are ``pages a batched hold``. A disk has no clusters: si->lock protects its
    map, and has their acquisitions.
    """
    batched = config.removal == "batched"
    counted = run_as_lab(config).with_columns(policy=pl.lit("on" if batched else "off"))
    if config.rotational:
        named = counted.with_columns(pl.col("metric").str.replace("cluster lock", "si->lock"))
        labels = [name for name in counted.columns if name != "value"]
        summed = named.group_by(labels, maintain_order=True).agg(pl.col("value").sum())
        counted = summed.select(counted.columns)
    if not batched:
        return counted
    hold = counted.filter(metric=_REMOVALS).with_columns(
        metric=pl.lit(HOLD), value=1 / pl.col("value"), unit=pl.lit("page")
    )
    return pl.concat([counted, hold])
