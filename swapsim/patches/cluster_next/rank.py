# SPDX-License-Identifier: GPL-2.0-or-later
"""Scan bases in order: a reader's policies among the built-in ones, by counts and by throughput."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import slots
from swapsim.claims.intervals import interval, ranks_by_interval
from swapsim.errors import ConfigError, InputError
from swapsim.ffi.facts import POLICIES
from swapsim.machine.throughput import PAGES_MOVED, run_policies
from swapsim.patches.cluster_next.machines import aged_device
from swapsim.patches.cluster_next.studies import CHURN, DEVICE
from swapsim.policies.policy import Policy
from swapsim.slots.tables import POLICY_RANKING

RANKED_BY: Final = {
    PAGES_MOVED: "higher",
    "lock.moved.add": slots.METRICS["lock.moved.add"].better,
    "run": slots.METRICS["run"].better,
    "scanned": slots.METRICS["scanned"].better,
}
"""Metric -> which end of it is the better one: the machine's throughput, then the workbench's."""

_CONFIDENCE: Final = 0.95


def rank(
    policies: Sequence[Policy],
    *,
    seeds: int = 8,
    executor: Executor | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Rank policies of your own among the built-in ones.

    Parameters
    ----------
    policies : sequence of Policy
        `config.policy_file.policies_in` reads those of a file.
    seeds : int
        Runs of each policy on the workbench and on the machine `aged_device`: seeds 1 to this.
    executor, progress
        As for `sweep.run`.

    Returns
    -------
    polars.DataFrame
        Schema POLICY_RANKING, metrics in the order of RANKED_BY, in each the best policy first.

    Raises
    ------
    InputError
        A policy raises, has no end or returns no slot on the workbench (`slots.require_sound`);
        or two have one name.
    ConfigError
        seeds is below 1.
    """
    if seeds < 1:
        raise ConfigError(f"seeds={seeds}: choose at least 1")
    names = [policy.name for policy in policies]
    twins = [name for name in names if names.count(name) > 1]
    if twins:
        raise InputError(f"two policies are called {twins[0]}: rename one", field="policies")
    for policy in policies:
        slots.require_sound(policy, DEVICE, CHURN)
    ranked: list[str | Policy] = [*POLICIES, *policies]
    counted = slots.one_at_a_time(
        DEVICE,
        CHURN,
        {"used_share": [CHURN.used_share]},
        policies=ranked,
        seeds=seeds,
        executor=executor,
        progress=progress,
    )
    _require_sense(counted, policies)
    raced = run_policies(aged_device, ranked, seeds=seeds, executor=executor, progress=progress)
    columns = ["metric", "unit", "policy", "seed", "value"]
    values = pl.concat([raced.select(columns), counted.select(columns)])
    rows = [row for metric in RANKED_BY for row in _ranked(values.filter(metric=metric))]
    frame = pl.DataFrame(rows, schema=POLICY_RANKING.schema)
    return POLICY_RANKING.check(frame)


def _require_sense(counted: pl.DataFrame, policies: Sequence[Policy]) -> None:
    """Follow a policy call by call under each seed with which it returned what is no slot."""
    nonsense = counted.filter(pl.col("metric") == "nonsense", pl.col("value") > 0)
    for policy in policies:
        for seed in nonsense.filter(policy=policy.name)["seed"]:
            slots.require_sound(policy, replace(DEVICE, seed=seed), CHURN)


def _ranked(values: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of one metric, the best policy first."""
    metric, unit = values.row(0)[:2]
    better = RANKED_BY[metric]
    rows = []
    for (policy,), runs in values.group_by(["policy"], maintain_order=True):
        figures = runs.sort("seed")["value"].to_list()
        low, high = interval(figures, np.median, _CONFIDENCE)
        rows.append(
            {
                "metric": metric,
                "unit": unit,
                "better": better,
                "policy": policy,
                "reader": policy not in POLICIES,
                "seeds": len(figures),
                "median": float(np.median(figures)),
                "low": low,
                "high": high,
                "lowest": min(figures),
                "highest": max(figures),
            }
        )
    ranked = [
        {**row, **place} for row, place in zip(rows, ranks_by_interval(rows, better), strict=True)
    ]
    sign = -1 if better == "higher" else 1
    return sorted(ranked, key=lambda row: (sign * row["median"], row["policy"]))
