# SPDX-License-Identifier: GPL-2.0-or-later
"""What the notebooks on patch D and its alternatives conclude, recomputed from the counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim import slots, verdicts
from swapsim.claims import compare, published
from swapsim.errors import InputError
from swapsim.schemas import SLOT_ANSWERS, SLOT_RANKING, SLOT_SWEEP, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A reviewer's guess about one policy against another, as one metric can answer it.

    Attributes
    ----------
    claim : str
        Its row in data/published.
    asks, guess : str
        In our words.
    metric : str
        Of ``slots.METRICS``.
    base, other : tuple of str
        Factor, setting and policy on both sides.
    falls : bool or None
        Whether the guess is that the metric falls from base to other; None: that it stays.
    """

    claim: str
    asks: str
    guess: str
    metric: str
    base: tuple[str, str, str]
    other: tuple[str, str, str]
    falls: bool | None


LEADING: Final = (
    "lock.moved.add",
    "lock.moved.free",
    "trunk.pairs",
    "scanned",
    "scanned.again",
    "run",
)
"""The metrics that tell most of a policy: contention, wasted scanning, locality."""

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
"""The questions and guesses of patch D's thread, each against the side that it was about."""

SAME: Final = 0.05
"""Two means that differ by no more than this share of the greater one have not changed."""


def profile() -> pl.DataFrame:
    """Lay out the lock rows of patch D's mail: percent of cycles, before and after.

    Returns
    -------
    polars.DataFrame
        ``waiting_in`` (the function that waits for its lock, and its callers), ``before``,
        ``after``: null where a list does not have the row.

    Source
    ------
    data/published, table "perf profile" of 04-percpu-cluster-next.
    """
    return (
        published.published_tables()
        .filter(patch="04-percpu-cluster-next", table="perf profile")
        .with_columns(waiting_in=pl.col("metric").str.splitn(".", 2).struct[1])
        .pivot("kernel", index="waiting_in", values="value")
    )


def table(measures: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Set the means of some metrics side by side, one row a policy and setting.

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
    require(measures, SLOT_SWEEP, "slot sweep")
    return (
        measures.filter(pl.col("metric").is_in(metrics))
        .group_by("factor", "setting", "policy", "metric", maintain_order=True)
        .agg(pl.col("value").sort_by("seed").mean().round_sig_figs(4))
        .pivot("metric", index=["factor", "setting", "policy"], values="value")
        .select("factor", "setting", "policy", *metrics)
    )


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
        Schema SLOT_ANSWERS, one row a question: both means with their intervals, and whether the
        guess holds. A change counts if it is more than SAME of the greater mean, and the
        intervals do not overlap.

    Raises
    ------
    InputError
        A question names a setting and policy that were not measured.
    """
    rows = []
    for question in questions:
        ranking = slots.ranking(measures, question.metric)
        base, other = (_mean(ranking, side) for side in (question.base, question.other))
        apart = base["high"] < other["low"] or other["high"] < base["low"]
        greater = max(abs(base["mean"]), abs(other["mean"]))
        changed = apart and abs(other["mean"] - base["mean"]) > SAME * greater
        fell = other["mean"] < base["mean"] if changed else None
        rows.append(
            {
                "claim": question.claim,
                "asks": question.asks,
                "guess": question.guess,
                "metric": question.metric,
                **{f"base_{name}": base[name] for name in ("mean", "low", "high")},
                **{f"other_{name}": other[name] for name in ("mean", "low", "high")},
                "holds": fell is question.falls,
            }
        )
    frame = pl.DataFrame(rows, schema=SLOT_ANSWERS)
    return require(frame, SLOT_ANSWERS, "slot answers")


def percpu_cluster_next(
    verified: pl.DataFrame, measures: pl.DataFrame, predicted: pl.DataFrame
) -> str:
    """Say what patch D does to the swap cache's locks, on which ground, and what it is worth.

    Parameters
    ----------
    verified : polars.DataFrame
        Schema VERIFIED.
    measures : polars.DataFrame
        Schema SLOT_SWEEP, one factor, the last setting counts; policies shared, percpu and
        percpu-rerandomise.
    predicted : polars.DataFrame
        Schema RESULTS of `predict.cluster_next`, V1.

    Returns
    -------
    str
        One sentence.
    """
    handed_out, alike = verdicts.slots_alike(verified)
    moved = slots.ranking(measures, "lock.moved.add")
    factor, last = moved.select("factor", "setting").row(-1)
    percent = {
        policy: 100 * _mean(moved, (factor, last, policy))["mean"]
        for policy in ("shared", "percpu", "percpu-rerandomise")
    }
    cpus = int(moved["n_cpus"].to_list()[-1])
    claims = published.claims().filter(claim="D-prose-score")
    three = compare.three_columns(claims, predicted, published.tolerances())
    score = three.row(0, named=True)
    return (
        f"The model hands out {alike:,} of the {handed_out:,} slots that a real kernel did in "
        f"{verified.height} runs; in it, {cpus} CPUs on a fragmented device find the swap cache's "
        f"lock on another CPU in {percent['shared']:.0f} of 100 additions with the "
        f"shared base, in {percent['percpu-rerandomise']:.0f} with the merged patch, and in "
        f"{percent['percpu']:.0f} with the patch as first posted, whose CPUs fall into step. "
        "Fitted to the base column of its mail alone, the contention machine gives it, while it "
        f"is young, {score['simulated']:+.1f} % in pmbench's score; {score['published']:+.1f} % is "
        "published."
    )


def collision_avoidance(answers: pl.DataFrame, ranking: pl.DataFrame) -> str:
    """Say how the reviewers' guesses did, and which policy keeps CPUs apart best.

    Parameters
    ----------
    answers : polars.DataFrame
        Schema SLOT_ANSWERS.
    ranking : polars.DataFrame
        Schema SLOT_RANKING of "lock.moved.add", one setting.

    Returns
    -------
    str
        One sentence.
    """
    require(answers, SLOT_ANSWERS, "slot answers")
    require(ranking, SLOT_RANKING, "slot ranking")
    best = ranking.row(0, named=True)
    merged = ranking.filter(policy="percpu-rerandomise").row(0, named=True)
    tied = f", tied with {' and '.join(best['tied_with'])}," if best["tied_with"] else ""
    return (
        f"Of {answers.height} questions and guesses of the thread, {int(answers['holds'].sum())} "
        f"hold in the model; of {ranking.height} policies, {best['policy']}{tied} keeps CPUs apart "
        f"best: {100 * best['mean']:.1f} of 100 additions to the swap cache find the lock on "
        f"another CPU, against {100 * merged['mean']:.1f} with the merged patch."
    )


def _mean(ranking: pl.DataFrame, side: tuple[str, str, str]) -> dict[str, float]:
    factor, setting, policy = side
    found = ranking.filter(factor=factor, setting=setting, policy=policy)
    if found.height != 1:
        raise InputError(f"measure {factor} at {setting} with policy {policy}, once", field=factor)
    row = found.row(0, named=True)
    return {name: row[name] for name in ("mean", "low", "high")}
