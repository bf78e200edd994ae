# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B and the lab kernel: machines of its experiments, and why acquisitions differ."""

import itertools
from concurrent.futures import Executor
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import MEASURED_COUNTS
from swapsim.errors import require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.lab import LEDGER, PAGES_OF_MEBIBYTE, UNTIL_DONE, machines_of, run_as_lab, runs
from swapsim.patches.batched_removal.workload import PATCH, THREADS

HOLD: Final = "pages a batched hold"
"""The metric of the lab for the number of pages that one hold removes."""

_WRITTEN: Final = 320 * PAGES_OF_MEBIBYTE
"""Pages that all tasks write together, whatever their number."""

_TREE: Final = "xa_lock acquisitions"
_SLOTS: Final = "slot cache mutex acquisitions"
_REMOVALS: Final = "xa_lock at __remove_mapping"

_OF_A_JOIN: Final = 3
"""Acquisitions of xa_lock for a page that joins the swap cache and leaves it without being written:
added, deleted, its shadow cleared when the slot is given back."""


def lab_machine(
    *, tasks: int, batched: bool, rotational: bool = False, seed: int = 1
) -> MachineConfig:
    """Return the machine of data/measured/batched-removal, or -rotational: writers that exit."""
    return MachineConfig(
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


def _by_tasks(*, rotational: bool) -> list[MachineConfig]:
    return [
        lab_machine(tasks=tasks, batched=batched, rotational=rotational)
        for batched, tasks in itertools.product((False, True), THREADS)
    ]


EXPERIMENTS: Final = {
    "batched-removal": lambda: _by_tasks(rotational=False),
    "batched-removal-rotational": lambda: _by_tasks(rotational=True),
}
"""Experiments of data/measured that are simulated here."""


def lab_machines(experiment: str) -> list[MachineConfig]:
    """Return the machines of one of EXPERIMENTS, by value of the switch and number of tasks."""
    return machines_of(EXPERIMENTS, experiment)


def lab_runs(experiment: str, seeds: int, *, executor: Executor | None = None) -> pl.DataFrame:
    """Run the machines of one of EXPERIMENTS to their end with seeds 1 to n, counted as in the lab.

    Returns
    -------
    polars.DataFrame
        As `machine.lab.run_as_lab` returns, one run after another. The policy is the switch
        batched_removal, "off" or "on"; with "on" there are ``pages a batched hold``.

    Raises
    ------
    InputError
        The experiment is not simulated, or there is no seed.
    """
    return runs(lab_machines(experiment), seeds, count=_run, executor=executor)


def compare_lab(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare the locks of LEDGER, and the length of a hold, with those of a real kernel.

    ``simulated`` is from `lab_runs`, ``medians`` is MEDIANS of the same experiment. Returns
    ``n_tasks`` and the columns of MEASURED_COUNTS, by number of tasks. Errors are those of
    `claims.compare_counts`.
    """
    judged = simulated.filter(pl.col("metric").is_in([*LEDGER, HOLD]))
    require_some(judged.rows(), "simulated")
    return pl.concat(
        claims.compare_counts(judged.filter(n_tasks=tasks), medians.filter(n_tasks=tasks)).select(
            pl.lit(tasks, dtype=pl.UInt32).alias("n_tasks"), *MEASURED_COUNTS.names()
        )
        for tasks in judged["n_tasks"].unique().sort()
    )


def lab_off_percent(compared: pl.DataFrame) -> pl.DataFrame:
    """Return the deviation of each count of `compare_lab`, a column per number of tasks."""
    return compared.pivot("n_tasks", index=["metric", "policy"], values="apart_percent").sort(
        "metric", "policy"
    )


def xa_lock_misses(compared: pl.DataFrame) -> pl.DataFrame:
    """Explain the difference between simulated and measured acquisitions of the swap cache's lock.

    The machine swaps out each page that joins the swap cache, and removes complete lists. A slot's
    acquisition of the slot cache's mutex counts the pages that joined; the lab counts holds.

    Parameters
    ----------
    compared : polars.DataFrame
        From `compare_lab`.

    Returns
    -------
    polars.DataFrame
        ``n_tasks, policy, measured, simulated, verdict``; what the kernel takes in addition for
        pages that joined and left without being written (``joins``) and because its holds are
        shorter (``short_holds``), per page; and ``rest_percent``, the unexplained part of the
        measured median.
    """
    found = compared.filter(metric=_TREE).select(
        "n_tasks", "policy", "measured", "simulated", "verdict"
    )
    for metric, name in ((_SLOTS, "slots"), (HOLD, "hold")):
        counts = compared.filter(metric=metric).select(
            "n_tasks",
            "policy",
            pl.col("measured").alias(f"{name}_measured"),
            pl.col("simulated").alias(f"{name}_simulated"),
        )
        found = found.join(counts, on=["n_tasks", "policy"], how="left", maintain_order="left")
    joins = _OF_A_JOIN * (pl.col("slots_measured") - pl.col("slots_simulated"))
    short_holds = 1 / pl.col("hold_measured") - 1 / pl.col("hold_simulated")
    missed = pl.col("measured") - pl.col("simulated")
    return (
        found.with_columns(joins=joins, short_holds=short_holds.fill_null(0))
        .with_columns(
            rest_percent=100
            * (missed - pl.col("joins") - pl.col("short_holds"))
            / pl.col("measured")
        )
        .drop("slots_measured", "slots_simulated", "hold_measured", "hold_simulated")
        .sort("policy", "n_tasks")
    )


def _run(config: MachineConfig) -> pl.DataFrame:
    batched = config.removal == "batched"
    counted = run_as_lab(config).with_columns(policy=pl.lit("on" if batched else "off"))
    if config.rotational:
        counted = _without_clusters(counted)
    if not batched:
        return counted
    hold = counted.filter(metric=_REMOVALS).with_columns(
        metric=pl.lit(HOLD), value=1 / pl.col("value"), unit=pl.lit("page")
    )
    return pl.concat([counted, hold])


def _without_clusters(counted: pl.DataFrame) -> pl.DataFrame:
    """Count cluster locks as si->lock, which protects the map of a device without clusters."""
    named = counted.with_columns(pl.col("metric").str.replace("cluster lock", "si->lock"))
    labels = [name for name in counted.columns if name != "value"]
    summed = named.group_by(labels, maintain_order=True).agg(pl.col("value").sum())
    return summed.select(counted.columns)
