# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B's machine and a real 6.1 kernel: acquisitions per page, batched removal off and on."""

from dataclasses import replace
from functools import cache

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.judging import COUNT_TOLERANCE_PERCENT
from swapsim.errors import InputError
from swapsim.machine import lab
from swapsim.patches import batched_removal as patch
from swapsim.patches.batched_removal.lab import EXPERIMENTS, HOLD, lab_machine
from swapsim.patches.batched_removal.prediction import NODES
from swapsim.patches.batched_removal.workload import THREADS
from swapsim.study import SerialExecutor

SOLID_STATE = "batched-removal"
ROTATIONAL = "batched-removal-rotational"


@cache
def simulated(experiment: str) -> pl.DataFrame:
    """Return the counts of an experiment's machines, run once for all tests."""
    return patch.lab_runs(experiment, 1, executor=SerialExecutor())


def compared(experiment: str) -> pl.DataFrame:
    """Compare them with the measured medians."""
    medians = claims.medians(claims.measured_results(experiment))
    return patch.compare_lab(simulated(experiment), medians)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_switch_is_one_field_of_the_machine(experiment: str) -> None:
    """Off and on are the same machines except for the removal, one per number of tasks."""
    machines = patch.lab_machines(experiment)
    off, on = machines[: len(THREADS)], machines[len(THREADS) :]
    assert [replace(config, removal="batched") for config in off] == on
    assert tuple(config.tasks for config in off) == THREADS


def test_an_experiment_without_machines_is_refused() -> None:
    """The machine has no pages of files."""
    with pytest.raises(InputError, match="batched-removal-file': no machine"):
        patch.lab_machines("batched-removal-file")


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_each_difference_of_the_swap_caches_lock_is_explained(experiment: str) -> None:
    """Pages that joined without being written and shorter holds explain it, off and on."""
    table = patch.xa_lock_misses(compared(experiment))
    assert table.height == 2 * len(THREADS)
    assert (table["rest_percent"].abs() <= COUNT_TOLERANCE_PERCENT).all(), table


def test_each_lock_agrees_where_each_page_that_joins_is_swapped() -> None:
    """Six locks are within the tolerance if the kernel requested one slot per page, as here."""
    table = compared(SOLID_STATE).filter(pl.col("metric").is_in(lab.LEDGER), policy="off")
    one_slot = table.filter(
        pl.col("apart_percent").abs() < 2, metric="slot cache mutex acquisitions"
    )
    judged = table.filter(pl.col("n_tasks").is_in(one_slot["n_tasks"].to_list()))
    assert judged.height == len(lab.LEDGER) * one_slot.height > 0
    assert judged["verdict"].eq("agrees").all(), judged


def test_the_switch_saves_only_removals() -> None:
    """One removal of a hold remains, and all other locks are taken as often as before."""
    counts = (
        simulated(SOLID_STATE).filter(n_tasks=8).pivot("policy", index="metric", values="value")
    )
    value = {metric: (off, on) for metric, off, on in counts.iter_rows()}
    assert value["xa_lock at __remove_mapping"] == (1, pytest.approx(1 / value[HOLD][1]))
    for metric in set(lab.LEDGER) - {"xa_lock acquisitions"}:
        off, on = value[metric]
        assert on == pytest.approx(off, rel=0.01), metric


@pytest.mark.parametrize("tasks", [1, 8])
def test_removals_do_not_depend_on_the_node(tasks: int) -> None:
    """Four nodes that share memory, with endless writers, need as many holds as one node."""
    one = lab_machine(tasks=tasks, batched=True)
    four = replace(
        one,
        nodes=NODES,
        frames=one.frames // NODES,
        shares_memory=True,
        accesses=0,
        duration_ns=200_000_000,
    )
    counts = [
        lab.run_as_lab(config).filter(metric="xa_lock at __remove_mapping")["value"].item()
        for config in (one, four)
    ]
    assert counts[0] == pytest.approx(counts[1], abs=0.01)


def test_a_disk_has_no_cluster_locks() -> None:
    """The map of a rotational device is counted with si->lock, as in the lab."""
    counts = simulated(ROTATIONAL)
    assert counts.filter(pl.col("metric").str.contains("cluster lock")).is_empty()
    assert (counts.filter(metric="si->lock acquisitions")["value"] > 4).all()
