# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies next to each other: means of their metrics, and a user's policies ranked."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from swapsim import slots
from swapsim.errors import ConfigError, InputError
from swapsim.ffi import POLICIES
from swapsim.machine.run import PAGES_MOVED, run_policies
from swapsim.patches.cluster_next.machines import aged_device
from swapsim.patches.cluster_next.studies import CHURN, DEVICE
from swapsim.policies.policy import Policy
from swapsim.slots.tables import POLICY_RANKING, SLOT_SWEEP
from swapsim.study import ranking

LEADING: Final = (
    "lock.moved.add",
    "lock.moved.free",
    "trunk.pairs",
    "scanned",
    "scanned.again",
    "run",
)
"""The metrics that describe a policy best: moved lock lines, repeated scanning, locality."""

RANKED_BY: Final = {
    PAGES_MOVED: "higher",
    **{name: slots.METRICS[name].better for name in ("lock.moved.add", "run", "scanned")},
}
"""A metric -> its better end; the first is the machine's, the others are the workbench's."""


def means(measures: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the means of some metrics as columns, one row per policy and setting.

    Parameters
    ----------
    measures : polars.DataFrame
        Schema SLOT_SWEEP.
    metrics : sequence of str
        Of ``slots.METRICS``, in the order of the columns.

    Returns
    -------
    polars.DataFrame
        ``factor, setting, policy`` and a column per metric, rounded to four digits.
    """
    SLOT_SWEEP.check(measures)
    return (
        measures.filter(pl.col("metric").is_in(metrics))
        .group_by("factor", "setting", "policy", "metric", maintain_order=True)
        .agg(pl.col("value").sort_by("seed").mean().round_sig_figs(4))
        .pivot("metric", index=["factor", "setting", "policy"], values="value")
        .select("factor", "setting", "policy", *metrics)
    )


def rank(
    policies: Sequence[Policy],
    *,
    seeds: int = 8,
    executor: Executor | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Rank a user's policies among the built-in ones.

    Parameters
    ----------
    policies : sequence of Policy
        `policies.policy.policies_in` reads those of a file.
    seeds : int
        Runs of each policy on the workbench and on the machine `aged_device`: seeds 1 to this.
    executor, progress
        As for `study.run`.

    Returns
    -------
    polars.DataFrame
        Schema POLICY_RANKING: metrics in the order of RANKED_BY, for each the best policy first.

    Raises
    ------
    InputError
        A policy raises, does not end or returns no slot on the workbench (`slots.require_sound`);
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
    _require_valid_answers(counted, policies)
    moved = run_policies(aged_device, ranked, seeds=seeds, executor=executor, progress=progress)
    columns = ["metric", "unit", "policy", "seed", "value"]
    values = pl.concat([moved.select(columns), counted.select(columns)])
    rows = [
        {**row, "better": better, "user": row["policy"] not in POLICIES}
        for metric, better in RANKED_BY.items()
        for row in ranking.rank(
            ranking.over_seeds(values.filter(metric=metric), np.median), "median", better
        )
    ]
    return POLICY_RANKING.check(pl.DataFrame(rows, schema=POLICY_RANKING.schema))


def _require_valid_answers(counted: pl.DataFrame, policies: Sequence[Policy]) -> None:
    """Observe a policy under each seed with which it returned an invalid answer."""
    invalid = counted.filter(pl.col("metric") == "nonsense", pl.col("value") > 0)
    for policy in policies:
        for seed in invalid.filter(policy=policy.name)["seed"]:
            slots.require_sound(policy, replace(DEVICE, seed=seed), CHURN)
