# SPDX-License-Identifier: GPL-2.0-or-later
"""Scan bases ranked by simulated throughput: one policy after another on the same machine."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import study
from swapsim.claims import results
from swapsim.errors import ConfigError, require_some
from swapsim.ffi import POLICIES
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.run import PAGE_KIB, labels, metric_values
from swapsim.policies.policy import Policy

PAGES_MOVED: Final = "pages moved"
"""Pages out and in, a second: the metric that policies are ranked by."""


def run_policies(
    machine: Callable[..., MachineConfig],
    policies: Sequence[str | Policy] = POLICIES,
    *,
    seeds: int = 5,
    constants: pl.DataFrame | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    folder: Path | str | None = None,
) -> pl.DataFrame:
    """Run a machine under each policy.

    Parameters
    ----------
    machine : callable
        Takes ``policy=`` and ``seed=``: a patch's machine, or a ``functools.partial`` of it.
    policies : sequence of str or Policy
    seeds : int
        Runs of each, seeds 1 to this.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/costs.csv.
    executor, progress, folder
        As for `study.run`.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, per policy and seed: ``pages moved`` (pages/s, out and in), ``waits`` (% of
        the busy time of all CPUs, in waiting for locks), ``tested`` (slots tested for one that
        is handed out) and ``si->lock`` (acquisitions a page swapped out). `claims.medians` and
        `claims.ranks` put them in order.

    Raises
    ------
    InputError
        No policy is given.
    ConfigError
        seeds is below 1.
    """
    require_some(policies, "policies")
    if seeds < 1:
        raise ConfigError(f"seeds={seeds}: choose at least 1")
    task = partial(run_policy, machine, constants=constants)
    points = [(policy, seed) for policy in policies for seed in range(1, seeds + 1)]
    return study.table(
        task, points, executor=executor, batch_points=2, progress=progress, folder=folder
    )


def run_policy(
    machine: Callable[..., MachineConfig],
    point: tuple[str | Policy, int],
    *,
    constants: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Run a machine under one policy with one seed; return the rows of `run_policies`."""
    policy, seed = point
    config = machine(policy=policy, seed=seed)
    value = metric_values(config, costs() if constants is None else constants)

    def total(prefix: str) -> float:
        return math.fsum(figure for metric, figure in value.items() if metric.startswith(prefix))

    rows = [
        (PAGES_MOVED, (value["swap_out"] + value["swap_in"]) / PAGE_KIB, "pages/s"),
        ("waits", total("cycles."), "% of cycles"),
        ("tested", total("slots.tested_"), "per slot"),
        ("si->lock", total("acquisitions.si_lock."), "per page"),
    ]
    return results(rows, labels(config))
