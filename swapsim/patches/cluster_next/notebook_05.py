# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 05 asks: the reviewers' guesses, each answered by a count, and the verdict."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim import claims
from swapsim.patches.cluster_next import studies
from swapsim.patches.cluster_next.studies import MERGED
from swapsim.study.summary import over


class Question(NamedTuple):
    """A reviewer's guess about two policies, which one metric of the workbench can answer.

    ``claim`` is the claim's name in data/published; question and guess are in our words. ``base``
    and ``other`` are a study of ``studies.WORKBENCH``, a setting and a policy; ``falls`` is
    whether the metric falls from base to other according to the guess, None if it stays.
    """

    claim: str
    asks: str
    guess: str
    metric: str
    base: tuple[str, str, str]
    other: tuple[str, str, str]
    falls: bool | None


_FRESH: Final = ("ages-of-spread-bases", "8192")
_AGED: Final = ("ages-of-spread-bases", "131072")

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
        base=("possible-cpus", "8", "spread"),
        other=("possible-cpus", "128", "spread"),
        falls=False,
    ),
    Question(
        claim="D-prose-per-mm",
        asks="a base per address space, 4 threads each",
        guess="no gain in locality",
        metric="run",
        base=("address-spaces", "4", "percpu"),
        other=("address-spaces", "4", "permm"),
        falls=None,
    ),
    Question(
        claim="D-prose-hdd-seeks",
        asks="a base per CPU where seeks cost",
        guess="longer seeks",
        metric="seeks.distance",
        base=("solid-state", "False", "shared"),
        other=("solid-state", "False", "percpu-rerandomise"),
        falls=False,
    ),
    Question(
        claim="D-prose-slot-cache-seeks",
        asks="slot caches on an HDD",
        guess="more seeks",
        metric="seeks",
        base=("disk", "False", "shared"),
        other=("disk", "True", "shared"),
        falls=False,
    ),
)
"""The questions and guesses of patch D's mail thread."""

SAME: Final = 0.05
"""Share of the greater mean up to which two means count as equal."""


def guesses() -> pl.DataFrame:
    """Answer each question of REVIEWERS by its metric: both means, and the verdict on the guess.

    A change counts if it is more than SAME of the greater mean and the intervals do not overlap.
    """
    names = {name for each in REVIEWERS for name in (each.base[0], each.other[0])}
    counted = {name: studies.counts(name) for name in sorted(names)}
    return pl.DataFrame([guess(each, counted) for each in REVIEWERS])


def guess(question: Question, counted: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """Return the row of one question, from the rows of the studies that it names."""
    base, other = (
        _mean(counted[name], question.metric, setting, policy)
        for name, setting, policy in (question.base, question.other)
    )
    apart = base["high"] < other["low"] or other["high"] < base["low"]
    greater = max(abs(base["middle"]), abs(other["middle"]))
    changed = apart and abs(other["middle"] - base["middle"]) > SAME * greater
    fell = other["middle"] < base["middle"] if changed else None
    return {
        **{name: getattr(question, name) for name in ("claim", "asks", "guess", "metric")},
        "base_mean": base["middle"],
        "other_mean": other["middle"],
        "verdict": "reproduced" if fell is question.falls else "missed",
    }


def _mean(rows: pl.DataFrame, metric: str, setting: str, policy: str) -> dict[str, float]:
    chosen = rows.filter(metric=metric, setting=setting, policy=policy).select("seed", "value")
    return over(chosen, statistic="mean", spread="interval").row(0, named=True)


def verdict_on_alternatives(
    guesses: pl.DataFrame, lines: pl.DataFrame, aged: pl.DataFrame, traced: pl.DataFrame
) -> str:
    """Return the lead of notebook 05, from `guesses` and three rankings.

    ``lines`` ranks "lock.moved.add" at one setting (`slots.ranking`); ``aged`` and ``traced`` rank
    the pages moved (`claims.ranks`) on the aged device and on a trace's requests.
    """
    agree = (guesses["verdict"] == "reproduced").sum()
    best = lines.row(0, named=True)
    of = {row["policy"]: row for row in lines.iter_rows(named=True)}
    rate = {row["policy"]: row for row in aged.iter_rows(named=True)}
    faster = [each for each, row in rate.items() if row["low"] > rate[MERGED]["high"]]
    ahead = f"{' and '.join(faster)} beat" if faster else "No base beats"
    tied = f" (tied with {' and '.join(best['tied_with'])})" if best["tied_with"] else ""
    slower = traced.filter(pl.col("high") < traced.filter(policy=MERGED)["low"])["policy"].to_list()
    return claims.lead_on(
        f"{ahead} the merged one in throughput; what {best['policy']} avoids is most of the cache "
        f"lines that the merged one still moves.",
        does=f"A base that avoids the trunks of other CPUs, or uses trunks of its own, meets them "
        f"less. With {best['policy']}{tied} {_share(best)} of the additions to the swap cache "
        f"fetch the lock's line from another CPU, with the merged patch {_share(of[MERGED])}, with "
        f"one base for all {_share(of['shared'])}.",
        worth=f"On an aged device {_rate(rate[best['policy']])} pages a second go out and in with "
        f"{best['policy']} and {_rate(rate[MERGED])} with the merged patch. One base for all moves "
        f"{_rate(rate['shared'])}.",
        when=f"On a device that is not aged: on the requests of a short trace only "
        f"{' and '.join(slower)} {'is' if len(slower) == 1 else 'are'} slower, all others are "
        f"tied. The model reproduces {agree} of the {guesses.height} guesses in the mail thread.",
    )


def _share(row: Mapping[str, Any]) -> str:
    mean, low, high = (100 * row[name] for name in ("mean", "low", "high"))
    return f"{mean:.1f} % ({low:.1f} to {high:.1f} %)"


def _rate(row: Mapping[str, Any]) -> str:
    return f"{row['median']:,.0f} ({row['low']:,.0f} to {row['high']:,.0f})"
