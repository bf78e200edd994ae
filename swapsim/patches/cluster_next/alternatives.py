# SPDX-License-Identifier: GPL-2.0-or-later
"""Alternatives to patch D: the reviewers' questions answered, policies' means, and a ranking."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from swapsim import slots
from swapsim.checks import checked
from swapsim.errors import ConfigError, InputError
from swapsim.ffi import POLICIES
from swapsim.machine.run import PAGES_MOVED, run_policies
from swapsim.patches.cluster_next.prediction import aged_device
from swapsim.patches.cluster_next.studies import CHURN, DEVICE
from swapsim.policies.policy import Policy
from swapsim.slots.tables import POLICY_RANKING, SLOT_ANSWERS, SLOT_SWEEP
from swapsim.study import ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A reviewer's guess about two policies, which one metric (of ``slots.METRICS``) can answer.

    ``claim`` is the claim's name in data/published; question and guess are in our words. ``base``
    and ``other`` are factor, setting and policy of both sides; ``falls`` is whether the metric
    falls from base to other according to the guess, None if it stays.
    """

    claim: str
    asks: str
    guess: str
    metric: str
    base: tuple[str, str, str]
    other: tuple[str, str, str]
    falls: bool | None


_FRESH: Final = ("warm_up_pages", "8192")
_AGED: Final = ("warm_up_pages", "131072")

REVIEWERS: Final = (
    Question(
        claim="D-prose-shared-trunk",
        asks="V1 while it is young",
        guess="CPUs seldom share a trunk",
        metric="trunk.pairs",
        base=(*_FRESH, "shared"),
        other=(*_FRESH, "percpu"),
        falls=True,
    ),
    Question(
        claim="D-prose-even-spacing",
        asks="evenly spread bases",
        guess="they do not keep CPUs apart for long",
        metric="trunk.pairs",
        base=(*_FRESH, "spread"),
        other=(*_AGED, "spread"),
        falls=False,
    ),
    Question(
        claim="D-prose-lock-step",
        asks="do V1's CPUs get into step?",
        guess="they may",
        metric="trunk.pairs",
        base=(*_FRESH, "percpu"),
        other=(*_AGED, "percpu"),
        falls=False,
    ),
    Question(
        claim="D-prose-rerandomise",
        asks="a new trunk at random",
        guess="CPUs seldom share one",
        metric="trunk.pairs",
        base=(*_AGED, "percpu"),
        other=(*_AGED, "percpu-rerandomise"),
        falls=True,
    ),
    Question(
        claim="D-prose-even-possible-cpus",
        asks="spread over 128 possible CPUs, 8 online",
        guess="worse than over 8",
        metric="lock.moved.add",
        base=("possible_cpus", "8", "spread"),
        other=("possible_cpus", "128", "spread"),
        falls=False,
    ),
    Question(
        claim="D-prose-per-mm",
        asks="a base per address space, 4 threads each",
        guess="no gain in locality",
        metric="run",
        base=("threads_per_address_space", "4", "percpu"),
        other=("threads_per_address_space", "4", "permm"),
        falls=None,
    ),
    Question(
        claim="D-prose-hdd-seeks",
        asks="a base per CPU where seeks cost",
        guess="longer seeks",
        metric="seeks.distance",
        base=("rotational", "False", "shared"),
        other=("rotational", "False", "percpu-rerandomise"),
        falls=False,
    ),
    Question(
        claim="D-prose-slot-cache-seeks",
        asks="slot caches on an HDD",
        guess="more seeks",
        metric="seeks",
        base=("slot_cache", "False", "shared"),
        other=("slot_cache", "True", "shared"),
        falls=False,
    ),
)
"""The questions and guesses of patch D's mail thread."""

SAME: Final = 0.05
"""Share of the greater mean up to which two means count as equal."""


def answers(questions: tuple[Question, ...], measures: pl.DataFrame) -> pl.DataFrame:
    """Answer each question by its metric.

    Parameters
    ----------
    questions : tuple of Question
    measures : polars.DataFrame
        Schema SLOT_SWEEP, with every setting and policy that the questions name.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_ANSWERS, one row per question: both means with their intervals, and whether the
        guess agrees. A change counts if it is more than SAME of the greater mean and the intervals
        do not overlap.

    Raises
    ------
    InputError
        A question names a setting and policy that were not measured.
    """
    rows = []
    for question in questions:
        ranking = slots.ranking(measures, question.metric)
        base, other = (mean_of(ranking, *side) for side in (question.base, question.other))
        apart = base["high"] < other["low"] or other["high"] < base["low"]
        greater = max(abs(base["mean"]), abs(other["mean"]))
        changed = apart and abs(other["mean"] - base["mean"]) > SAME * greater
        fell = other["mean"] < base["mean"] if changed else None
        rows.append(
            {
                **{name: getattr(question, name) for name in ("claim", "asks", "guess", "metric")},
                **{f"base_{name}": base[name] for name in ("mean", "low", "high")},
                **{f"other_{name}": other[name] for name in ("mean", "low", "high")},
                "verdict": "agrees" if fell is question.falls else "contradicts",
            }
        )
    return SLOT_ANSWERS.check(pl.DataFrame(rows, schema=SLOT_ANSWERS.schema))


def mean_of(ranking: pl.DataFrame, factor: str, setting: str, policy: str) -> dict[str, float]:
    """Return ``mean, low, high`` of a setting and policy, which SLOT_RANKING has once."""
    found = ranking.filter(factor=factor, setting=setting, policy=policy)
    if found.height != 1:
        raise InputError(f"measure {factor} at {setting} with policy {policy}, once", field=factor)
    row = found.row(0, named=True)
    return {name: row[name] for name in ("mean", "low", "high")}


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


@checked
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
