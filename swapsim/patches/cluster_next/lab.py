# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's experiments with swap_base, the lab kernel's switch of patch D, and their models."""

import math
from concurrent.futures import Executor
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim import claims, slots
from swapsim.machine.config import MachineConfig
from swapsim.machine.lab import PAGES_OF_MEBIBYTE, UNTIL_DONE, machines_of, runs
from swapsim.patches.cluster_next.prediction import PATCH
from swapsim.slots.tables import WANDERINGS

BASES: Final = ("shared", "percpu", "percpu-rerandomise", "spread", "avoid", "permm")
"""Values of the lab kernel's switch swap_base."""

LOCK_METRICS: Final = (
    *("slots in a trunk with another CPU", "xa_lock acquisitions"),
    *("xa_lock contended acquisitions", "si->lock acquisitions"),
)
"""Metrics of both locks that the switch changes."""


def scan_bases(*, policy: str, drop_percent: int, seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/scan-base-*: eight walkers on what is left of 34 MiB."""
    return MachineConfig(
        patch=PATCH,
        kernel="6.1",
        policy=policy,
        walkers=8,
        pages=34 * PAGES_OF_MEBIBYTE,
        accesses=4000,
        drop_percent=drop_percent,
        memory_max=5504,
        frames=2**16,
        slots=2**16,
        trunk_shift=10,
        warmup_ns=0,
        duration_ns=UNTIL_DONE,
        seed=seed,
    )


def lock_ledger(*, channels: int = 0, seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/lock-ledger-brd, or -virtio: eight walkers, 64 MB trunks.

    ``channels`` is 0 for brd, and 8 for a virtio disk, which serves at most one request of each
    task, and whose pages come in through the swap cache (data/capture/experiments/lock-ledger-*).
    """
    return replace(
        scan_bases(policy="percpu-rerandomise", drop_percent=60, seed=seed),
        accesses=2000,
        trunk_shift=14,
        channels=channels,
    )


EXPERIMENTS: Final = {
    "lock-ledger-brd": lambda: [lock_ledger()],
    "lock-ledger-virtio": lambda: [lock_ledger(channels=8)],
    "scan-base-under-half": lambda: [scan_bases(policy=base, drop_percent=60) for base in BASES],
    "scan-base-above-half": lambda: [scan_bases(policy=base, drop_percent=25) for base in BASES],
}
"""The experiments of data/measured that have machines here."""


def lab_machines(experiment: str) -> list[MachineConfig]:
    """Return the machines of an experiment, one per value of the switch.

    Parameters
    ----------
    experiment : str
        One of EXPERIMENTS.

    Raises
    ------
    InputError
        The experiment has no machine.
    """
    return machines_of(EXPERIMENTS, experiment)


def lab_runs(experiment: str, seeds: int, *, executor: Executor | None = None) -> pl.DataFrame:
    """Run an experiment's machines and count as the lab does.

    Parameters
    ----------
    experiment : str
        One of EXPERIMENTS.
    seeds : int
        Runs of each, seeds 1 to this.
    executor : concurrent.futures.Executor, optional
        As for `study.run`.

    Returns
    -------
    polars.DataFrame
        As `machine.lab.run_as_lab` returns, one run after another.

    Raises
    ------
    InputError
        The experiment has no machine, or seeds is below 1.
    """
    return runs(lab_machines(experiment), seeds, executor=executor)


WANDERING: Final = "tasks-that-change-cpu"
"""The experiment of `measured_beside_simulated` in data/measured."""

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
None for tasks that the kernel moves."""


def measured_beside_simulated(simulated: pl.DataFrame) -> pl.DataFrame:
    """Compare the slots in a trunk with another task: a real kernel and the workbench.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema SLOT_SWEEP: the study ``wandering_tasks_of_the_lab``.

    Returns
    -------
    polars.DataFrame
        Schema WANDERINGS, in the order of TWINS.

    Source
    ------
    data/measured/tasks-that-change-cpu: the second half of each run, five rounds.
    """
    results = claims.measured_results(WANDERING)
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
            policy, pages = twin
            found = ranking.filter(policy=policy, setting=str(pages)).row(0, named=True)
            row |= {
                "simulated": found["mean"],
                "simulated_low": found["low"],
                "simulated_high": found["high"],
            }
        rows.append(row)
    return WANDERINGS.check(pl.DataFrame(rows, schema=WANDERINGS.schema))


def _pages_a_cpu(results: pl.DataFrame) -> float | None:
    """Return the median over the rounds; a round without a change has 0 and counts as infinite."""
    between = results.filter(metric="pages out between changes")["value"]
    median = between.replace(0.0, math.inf).median()
    return median if isinstance(median, float) and math.isfinite(median) else None
