# SPDX-License-Identifier: GPL-2.0-or-later
"""The questions and guesses of patch D's mail thread, each answered by a count over seeds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import polars as pl

from swapsim import claims
from swapsim.errors import InputError
from swapsim.patches.cluster_next import studies
from swapsim.patches.cluster_next.studies import CHURN, DEVICE, MERGED

Side = tuple[str, str, str]  # a study of ``studies.WORKBENCH``, a setting and a policy


class Question(NamedTuple):
    """A claim of the thread on two cases, which one metric of the workbench can answer.

    ``claim`` is the claim's name in data/published, which has the direction that it states from
    ``base`` to ``other``; question and guess are in our words. ``note`` is what to know of the
    figure.
    """

    claim: str
    asks: str
    guess: str
    metric: str
    base: Side
    other: Side
    note: str = ""


V1_CLAIM: Final = "D-prose-shared-trunk"
"""The claim of the first mail, which is no guess."""

FRESH: Final = "8192"  # pages swapped out before the count, while V1's bases are a trunk apart
_AGES: Final = "ages-of-spread-bases"
_AGED: Final = (_AGES, str(CHURN.warm_up_pages))

REVIEWERS: Final = (
    Question(
        claim=V1_CLAIM,
        asks="V1 while it is young",
        guess="CPUs seldom share a trunk",
        metric="trunk.pairs",
        base=(_AGES, FRESH, "shared"),
        other=(_AGES, FRESH, "percpu"),
    ),
    Question(
        claim="D-prose-even-spacing",
        asks="evenly spread bases, young and aged",
        guess="they do not keep CPUs apart for long",
        metric="trunk.pairs",
        base=(_AGES, FRESH, "spread"),
        other=(*_AGED, "spread"),
        note="the same count as D-prose-lock-step",
    ),
    Question(
        claim="D-prose-lock-step",
        asks="V1, young and aged",
        guess="its CPUs may get into step",
        metric="trunk.pairs",
        base=(_AGES, FRESH, "percpu"),
        other=(*_AGED, "percpu"),
    ),
    Question(
        claim="D-prose-rerandomise",
        asks="a new trunk at random, against V1",
        guess="CPUs almost never share one",
        metric="trunk.pairs",
        base=(*_AGED, "percpu"),
        other=(*_AGED, MERGED),
    ),
    Question(
        claim="D-prose-even-possible-cpus",
        asks="even spacing against V1, 128 possible CPUs",
        guess="worse, with 8 of them online",
        metric="lock.moved.add",
        base=("possible-cpus", "128", "percpu"),
        other=("possible-cpus", "128", "spread"),
    ),
    Question(
        claim="D-prose-per-mm",
        asks="a base per address space, 4 threads each",
        guess="no gain in locality",
        metric="run",
        base=("address-spaces", "4", "percpu"),
        other=("address-spaces", "4", "permm"),
    ),
    Question(
        claim="D-prose-hdd-seeks",
        asks="V1 against one base where seeks cost",
        guess="more seeks",
        metric="seeks",
        base=("solid-state", "False", "shared"),
        other=("solid-state", "False", "percpu"),
        note="nearly none is adjacent with one base, so that only the distance can grow, and does",
    ),
    Question(
        claim="D-prose-slot-cache-seeks",
        asks="slot caches on an HDD",
        guess="more seeks",
        metric="seeks",
        base=("disk", "False", "shared"),
        other=("disk", "True", "shared"),
    ),
)
"""The questions and guesses of patch D's mail thread, and a claim of its first mail."""

_PAIRS: Final = DEVICE.possible_cpus * (DEVICE.possible_cpus - 1) // 2
COUNTED: Final = {
    "trunk.pairs": ("pairs of CPUs in one trunk", "% of pairs", 100 / _PAIRS),
    "lock.moved.add": ("additions that fetch the lock's line", "share", 1.0),
    "run": ("adjacent slots that an address space gets", "slots", 1.0),
    "seeks": ("writes not adjacent to the last one", "1/page", 1.0),
}
"""A metric -> what it counts in an answer, in which unit, and the factor to it."""


def answers() -> list[claims.Answer]:
    """Return the simulated answers to REVIEWERS, but to the first mail's own claim (`by_age`)."""
    guesses = [each for each in REVIEWERS if each.claim != V1_CLAIM]
    names = {side[0] for each in guesses for side in (each.base, each.other)}
    counted = {name: studies.WORKBENCH[name].load() for name in sorted(names)}
    return [answer(each, counted) for each in guesses]


def by_age() -> list[claims.Answer]:
    """Return the answers to V1's own claim at each age of its bases, the youngest first."""
    (asked,) = (each for each in REVIEWERS if each.claim == V1_CLAIM)
    counted = {_AGES: studies.WORKBENCH[_AGES].load()}
    return [
        answer(asked._replace(base=(_AGES, age, "shared"), other=(_AGES, age, "percpu")), counted)
        for age in counted[_AGES]["setting"].unique(maintain_order=True)
    ]


def answer(question: Question, counted: Mapping[str, pl.DataFrame]) -> claims.Answer:
    """Return the answer to one question over the seeds, from the rows of the studies it names."""
    counts, unit, factor = COUNTED[question.metric]
    base, other = (
        _runs(counted[name].filter(setting=setting, policy=policy, metric=question.metric), factor)
        for name, setting, policy in (question.base, question.other)
    )
    found = claims.paired(question.claim, "simulated", base, other)
    if found is None:
        raise InputError("no seed has both sides", field=question.claim)
    parts = (f"{counts}, {unit}", "slot workbench", question.note, _of_seeds(base, other, found))
    return replace(found, what="; ".join(part for part in parts if part))


def _of_seeds(base: Mapping[int, float], other: Mapping[int, float], found: claims.Answer) -> str:
    """Return what to know of the seeds: that both sides are equal, or a figure outside its range.

    A figure is the change of the medians, its range that of the changes by seed.
    """
    if all(base[seed] == other[seed] for seed in base.keys() & other.keys()):
        return "equal in each seed"
    figure, low, high = found.figure, found.low, found.high
    if figure is None or low is None or high is None or low <= figure <= high:
        return ""
    return "change of medians, range of the changes by seed"


def _runs(rows: pl.DataFrame, factor: float) -> dict[int, float]:
    """Return a metric's value by seed."""
    return dict(rows.select("seed", pl.col("value") * factor).iter_rows())
