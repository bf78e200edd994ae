# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranking with intervals: what runs with several seeds say about the order of policies."""

from collections.abc import Mapping, Sequence
from math import comb, inf, ldexp
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError

CONFIDENCE: Final = 0.95
"""Of an interval, unless a caller gives another one."""

FEWEST_RUNS: Final = 5
"""Fewest runs of which a median and a rank are stated. The interval of five, from the least to the
greatest, has 93.75 %; that of four has 87.5 %."""

RANKED: Final = {
    "rank": pl.String(),
    "better_than": pl.List(pl.String()),
    "tied_with": pl.List(pl.String()),
}
"""The columns that `rank` adds."""


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return an interval of the median, exact whatever the distribution (`coverage`).

    It is the narrowest from the k-th least to the k-th greatest value that has the confidence.
    Fewer than six values cannot have 95 %: theirs is from the least to the greatest.
    """
    check_confidence(confidence)
    in_order = sorted(values)
    left_out = _left_out(len(in_order), confidence)
    return in_order[left_out], in_order[-1 - left_out]


def coverage(count: int, confidence: float = CONFIDENCE) -> float:
    """Return with what probability the `interval` of a median of so many values holds the true one.

    Examples
    --------
    >>> from swapsim.study import ranking
    >>> [round(ranking.coverage(rounds), 4) for rounds in (5, 7, 9, 20)]
    [0.9375, 0.9844, 0.9609, 0.9586]
    """
    return 1 - 2 * _chance_up_to(_left_out(count, confidence), count)


def confidence_of(count: int) -> str:
    """Return the `coverage` of so many values in percent."""
    return f"{100 * coverage(count):.0f} %"


def statistics(count: int) -> str:
    """Return what the dots and lines of a chart of so many runs are."""
    if count == 1:
        return "dots are of 1 seed"
    if count < FEWEST_RUNS:
        return f"dots are medians of {count} seeds, lines go from the least to the greatest"
    return (
        f"dots are medians of {count} seeds, lines their {confidence_of(count)} intervals; "
        "ranks compare seed by seed"
    )


def _left_out(count: int, confidence: float) -> int:
    """Return how many values at each end lie outside of a median's interval."""
    left_out = 0
    while 2 * _chance_up_to(left_out + 1, count) <= 1 - confidence:
        left_out += 1
    return left_out


def _chance_up_to(heads: int, count: int) -> float:
    """Return the probability of at most so many heads of fair coins."""
    return ldexp(sum(comb(count, each) for each in range(heads + 1)), -count)


def check_confidence(confidence: float) -> None:
    """Require a number between 0 and 1."""
    if not 0 < confidence < 1:
        raise InputError(f"{confidence!r}: choose a number between 0 and 1", field="confidence")


def rank(
    rows: Sequence[dict[str, Any]],
    runs: Mapping[str, Mapping[int, float]],
    by: str,
    better: str,
    confidence: float = CONFIDENCE,
) -> list[dict[str, Any]]:
    """Return rows with a ``policy`` and a statistic, in the order of their ranks.

    A policy is above another if the `interval` of the median of their differences, seed by seed, is
    above 0, with at least FEWEST_RUNS: ``runs`` has each policy's values by their seeds. Lower is
    better unless higher is. ``rank`` is a place, or the places from ... to that this allows, such
    as "1-3": below those that are better, above those that are worse. ``better_than`` names the
    policies that are worse, ``tied_with`` those that are neither, in the given order.
    """
    sign = -1 if better == "higher" else 1
    names = [row["policy"] for row in rows]

    def is_better(name: str, other: str) -> bool:
        low, high = _difference(runs[name], runs[other], confidence)
        return low > 0 if better == "higher" else high < 0

    better_than = {
        name: [other for other in names if other != name and is_better(name, other)]
        for name in names
    }
    ranked = []
    for row in rows:
        worse = better_than[row["policy"]]
        better_ones = [other for other in names if row["policy"] in better_than[other]]
        first, last = 1 + len(better_ones), len(names) - len(worse)
        found = {
            "rank": str(first) if first == last else f"{first}-{last}",
            "better_than": worse,
            "tied_with": [
                other for other in names if other not in {row["policy"], *worse, *better_ones}
            ],
        }
        ranked.append((first, last, row | found))
    in_order = sorted(ranked, key=lambda each: (*each[:2], sign * each[2][by], each[2]["policy"]))
    return [row for _, _, row in in_order]


def _difference(
    runs: Mapping[int, float], others: Mapping[int, float], confidence: float
) -> tuple[float, float]:
    """Return the interval of the median difference of the seeds that both have; of few, any."""
    differences = [runs[seed] - others[seed] for seed in runs if seed in others]
    if len(differences) < FEWEST_RUNS:
        return -inf, inf
    return interval(differences, confidence)
