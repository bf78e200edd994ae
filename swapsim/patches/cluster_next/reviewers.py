# SPDX-License-Identifier: GPL-2.0-or-later
"""The reviewers' questions and guesses about patch D and its alternatives, and the answers."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim import slots
from swapsim.errors import InputError
from swapsim.slots.tables import SLOT_ANSWERS


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
        guess holds. A change counts if it is more than SAME of the greater mean and the intervals
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
                "claim": question.claim,
                "asks": question.asks,
                "guess": question.guess,
                "metric": question.metric,
                **{f"base_{name}": base[name] for name in ("mean", "low", "high")},
                **{f"other_{name}": other[name] for name in ("mean", "low", "high")},
                "holds": fell is question.falls,
            }
        )
    frame = pl.DataFrame(rows, schema=SLOT_ANSWERS.schema)
    return SLOT_ANSWERS.check(frame)


def mean_of(ranking: pl.DataFrame, factor: str, setting: str, policy: str) -> dict[str, float]:
    """Return ``mean, low, high`` of a setting and policy, which SLOT_RANKING has once."""
    found = ranking.filter(factor=factor, setting=setting, policy=policy)
    if found.height != 1:
        raise InputError(f"measure {factor} at {setting} with policy {policy}, once", field=factor)
    row = found.row(0, named=True)
    return {name: row[name] for name in ("mean", "low", "high")}
