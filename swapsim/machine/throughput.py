# SPDX-License-Identifier: GPL-2.0-or-later
"""Scan bases ranked by simulated throughput: one policy after another on the same machine."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import simulate, slots, sweep
from swapsim.config import POLICIES, MachineConfig, Policy
from swapsim.errors import ConfigError, require_some
from swapsim.machine.costs import costs
from swapsim.schemas import RESULTS, require

MOVED: Final = "pages moved"
"""The metric that a race is about: pages out and in, a second."""


def aged_device(*, policy: str | Policy, seed: int = 1) -> MachineConfig:
    """Return the machine of notebook 05's ground: 8 CPUs on a 2 GB device, used and churned.

    Parameters
    ----------
    policy : str or Policy
    seed : int

    Returns
    -------
    MachineConfig

    Notes
    -----
    Seven tenths of the device are in use and strewn over it; the warm-up lasts as long as it takes
    to swap out some 130,000 pages, after which the bases are where swapping has left them.
    """
    in_use = 7 * 2 * slots.GIGABYTE_SLOTS // 10
    frames = 2**16
    return MachineConfig(
        patch="04-percpu-cluster-next",
        kernel="5.8",
        policy=policy,
        walkers=8,
        frames=frames,
        pages=(in_use + frames) // 8,
        slots=2 * slots.GIGABYTE_SLOTS,
        fragmented=True,
        warmup_ns=400_000_000,
        duration_ns=50_000_000,
        seed=seed,
    )


def run(
    machine: Callable[..., MachineConfig],
    policies: Sequence[str | Policy] = POLICIES,
    *,
    seeds: int = 5,
    constants: pl.DataFrame | None = None,
    executor: Executor | None = None,
    folder: Path | str | None = None,
) -> pl.DataFrame:
    """Run a machine under each policy.

    Parameters
    ----------
    machine : callable
        Takes ``policy=`` and ``seed=``: `aged_device`, or a ``functools.partial`` of
        `retimed.machine` with a trace folder, or of `simulate.cluster_next`.
    policies : sequence of str or Policy
    seeds : int
        Runs of each, seeds 1 to this.
    constants : polars.DataFrame, optional
        Schema COSTS; default: data/costs.csv.
    executor, folder
        As for `sweep.run`.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, per policy and seed: ``pages moved`` (pages/s, out and in), ``waits`` (% of
        the busy time of all CPUs, in waiting for locks), ``tested`` (slots tested for one that
        is handed out) and ``si->lock`` (acquisitions a page swapped out). `measured.medians` and
        `measured.ranks` put them in order.

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
    task = partial(_run, machine, costs() if constants is None else constants)
    points = [(policy, seed) for policy in policies for seed in range(1, seeds + 1)]
    frames = sweep.run(task, points, executor=executor, batch_points=2, folder=folder)
    return require(pl.concat(frames), RESULTS, "RESULTS")


def _run(
    machine: Callable[..., MachineConfig], constants: pl.DataFrame, point: tuple[str | Policy, int]
) -> pl.DataFrame:
    policy, seed = point
    results = simulate.run(machine(policy=policy, seed=seed), constants)
    value = dict(results.select("metric", "value").iter_rows())
    moved = (value["swap_out"] + value["swap_in"]) / simulate.PAGE_KIB
    waits = sum(share for metric, share in value.items() if metric.startswith("cycles."))
    tested = sum(count for metric, count in value.items() if metric.startswith("slots.tested_"))
    metrics = [(MOVED, moved, "pages/s"), ("waits", waits, "% of cycles")]
    device = sum(
        count for metric, count in value.items() if metric.startswith("acquisitions.si_lock.")
    )
    metrics += [("tested", tested, "per slot"), ("si->lock", device, "per page")]
    labels = results.drop("metric", "value", "unit").head(1)
    frame = pl.DataFrame(metrics, schema=["metric", "value", "unit"], orient="row")
    return labels.join(frame, how="cross").select(RESULTS.names())
