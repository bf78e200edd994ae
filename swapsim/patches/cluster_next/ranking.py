# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's policies for where scans begin, ranked among the built-in ones."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim import slots
from swapsim.errors import InputError, check_number
from swapsim.ffi import POLICIES
from swapsim.machine.run import PAGES_MOVED, run_policies
from swapsim.patches.cluster_next.machines import aged_device
from swapsim.patches.cluster_next.studies import CHURN, DEVICE
from swapsim.policies.policy import Policy
from swapsim.study.summary import ranking
from swapsim.tables import Metric

RANKED_BY: Final = {
    PAGES_MOVED: Metric("pages/s", "pages out and in that the machine moves", "higher"),
    **{name: slots.METRICS[name] for name in ("lock.moved.add", "run", "scanned")},
}
"""The metrics of a ranking; the first is the machine's, the others are the workbench's."""


def rank(
    policies: Sequence[Policy],
    *,
    seeds: int = 8,
    executor: Executor | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Rank a user's policies among the built-in ones, on the workbench and on `aged_device`.

    `policies.policy.policies_in` reads those of a file. Each runs with seeds 1 to ``seeds``. There
    is a row (RANKING) for each metric of RANKED_BY and policy, for each metric the best
    first. An InputError says that a policy raises, does not end or returns no slot
    (`slots.require_sound`), or that two have one name.
    """
    check_number("seeds", seeds, 1)
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
    columns = ["metric", "policy", "seed", "value"]
    values = pl.concat([moved.select(columns), counted.select(columns)])
    return ranking(values, RANKED_BY, POLICIES)


def _require_valid_answers(counted: pl.DataFrame, policies: Sequence[Policy]) -> None:
    """Observe a policy under each seed with which it returned an invalid answer."""
    invalid = counted.filter(pl.col("metric") == "nonsense", pl.col("value") > 0)
    for policy in policies:
        for seed in invalid.filter(policy=policy.name)["seed"]:
            slots.require_sound(policy, replace(DEVICE, seed=seed), CHURN)
