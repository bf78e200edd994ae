# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B beside the lab kernel: machines of its experiments, and why their xa_lock misses."""

import itertools
from concurrent.futures import Executor
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import MEASURED_COUNTS
from swapsim.errors import require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.lab import LEDGER, PAGES_OF_MEBIBYTE, UNTIL_DONE, machines_of, run_as_lab, runs
from swapsim.patches.batched_removal.machines import PATCH, THREADS

HOLD: Final = "pages a batched hold"
"""What the lab calls the number of pages that one hold removes."""

_WRITTEN: Final = 320 * PAGES_OF_MEBIBYTE
"""By all tasks together, whatever their number."""

_TREE: Final = "xa_lock acquisitions"
_SLOTS: Final = "slot cache mutex acquisitions"
_REMOVALS: Final = "xa_lock at __remove_mapping"

_OF_A_JOIN: Final = 3
"""Acquisitions of xa_lock for a page that joins the swap cache and leaves it unswapped: added,
deleted, its shadow cleared when the slot is given back."""


def lab_machine(
    *, tasks: int, batched: bool, rotational: bool = False, seed: int = 1
) -> MachineConfig:
    """Return the machine of data/measured/batched-removal, or -rotational: writers that exit.

    Parameters
    ----------
    tasks : int
        Each writes its share of 320 MiB once.
    batched : bool
        The switch batched_removal.
    rotational : bool
        Whether the RAM disk of 192 MiB calls itself so.
    seed : int

    Notes
    -----
    The guest has four nodes that share memory. Here writers that exit cannot share it, so memory
    is one node, with one kswapd: no lock of a page's way asks for the node. How many frames it has
    is read off the same runs: one task writes 81,920 pages and swaps out some 26,000 of them.

    Source
    ------
    data/capture/experiments/batched-removal.toml, batched-removal-rotational.toml.
    """
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
"""Those of data/measured that are machines here."""


def lab_machines(experiment: str) -> list[MachineConfig]:
    """Return the machines of an experiment, one per value of the switch and number of tasks.

    Parameters
    ----------
    experiment : str
        One of EXPERIMENTS.

    Raises
    ------
    InputError
        There is no machine of it.
    """
    return machines_of(EXPERIMENTS, experiment)


def lab_runs(experiment: str, seeds: int, *, executor: Executor | None = None) -> pl.DataFrame:
    """Run an experiment's machines to their end and count as the lab does.

    Parameters
    ----------
    experiment : str
        One of EXPERIMENTS.
    seeds : int
        Runs of each, from seed 1 on.
    executor : concurrent.futures.Executor, optional
        As for `sweep.run`.

    Returns
    -------
    polars.DataFrame
        As `machine.lab.run_as_lab` returns, one run after another; the policy is the switch
        batched_removal, "off" or "on", and where it is on, there are ``pages a batched hold``.

    Raises
    ------
    InputError
        There is no machine of it, or no seed.
    """
    return runs(lab_machines(experiment), seeds, count=_run, executor=executor)


def compare_lab(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Hold the locks of the ledger, and the length of a hold, against a real kernel's.

    Parameters
    ----------
    simulated : polars.DataFrame
        As `lab_runs` returns.
    medians : polars.DataFrame
        Schema MEDIANS of the same experiment.

    Returns
    -------
    polars.DataFrame
        ``n_tasks`` and the columns of MEASURED_COUNTS, by number of tasks.

    Raises
    ------
    InputError
        As for `claims.held_against`.
    """
    judged = simulated.filter(pl.col("metric").is_in([*LEDGER, HOLD]))
    require_some(judged.rows(), "simulated")
    return pl.concat(
        claims.held_against(judged.filter(n_tasks=tasks), medians.filter(n_tasks=tasks)).select(
            pl.lit(tasks, dtype=pl.UInt32).alias("n_tasks"), *MEASURED_COUNTS.names()
        )
        for tasks in judged["n_tasks"].unique().sort()
    )


def lab_off_percent(held: pl.DataFrame) -> pl.DataFrame:
    """Say how far each count is from the real kernel's, a column per number of tasks.

    Parameters
    ----------
    held : polars.DataFrame
        As `compare_lab` returns.

    Returns
    -------
    polars.DataFrame
        ``metric, policy`` and per number of tasks the difference in percent of the median.
    """
    return held.pivot("n_tasks", index=["metric", "policy"], values="apart_percent").sort(
        "metric", "policy"
    )


def xa_lock_misses(held: pl.DataFrame) -> pl.DataFrame:
    """Say what of the swap cache's acquisitions the machine lacks, and why.

    The machine swaps out each page that joins the swap cache, and removes whole lists. A slot's
    acquisition of the slot cache's mutex counts the pages that joined; the lab counts holds.

    Parameters
    ----------
    held : polars.DataFrame
        As `compare_lab` returns.

    Returns
    -------
    polars.DataFrame
        ``n_tasks, policy, measured, simulated, agrees``; what the kernel takes beyond the machine
        for pages that joined and left unswapped, ``joins``, and because its holds are shorter,
        ``short_holds``, a page; ``rest_percent``, what neither explains, of the measured median.
    """
    found = held.filter(metric=_TREE).select("n_tasks", "policy", "measured", "simulated", "agrees")
    for metric, name in ((_SLOTS, "slots"), (HOLD, "hold")):
        counts = held.filter(metric=metric).select(
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
    """Call the lock what it is: a disk has no clusters, and what theirs guard si->lock does."""
    named = counted.with_columns(pl.col("metric").str.replace("cluster lock", "si->lock"))
    labels = [name for name in counted.columns if name != "value"]
    summed = named.group_by(labels, maintain_order=True).agg(pl.col("value").sum())
    return summed.select(counted.columns)
