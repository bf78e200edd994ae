# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranking with intervals: what runs with several seeds say about the order of policies."""

from collections.abc import Sequence
from math import comb, ldexp
from typing import Any, Final

from swapsim.errors import InputError

CONFIDENCE: Final = 0.95
"""Of an interval, unless a caller gives another one."""


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


def rank(rows: Sequence[dict[str, Any]], by: str, better: str) -> list[dict[str, Any]]:
    """Return rows with ``policy, low, high`` and a statistic, in the order of their ranks.

    ``rank`` is a place, or the places from ... to that the intervals allow, such as "1-3": below
    those whose complete interval is better, above those whose complete interval is worse. Lower is
    better unless higher is. ``tied_with`` names those whose intervals overlap, in the given order.
    """
    sign = -1 if better == "higher" else 1

    def is_better(row: dict[str, Any], other: dict[str, Any]) -> bool:
        return _is_above(row, other) if better == "higher" else _is_above(other, row)

    ranked = []
    for row in rows:
        first = 1 + sum(is_better(other, row) for other in rows)
        last = len(rows) - sum(is_better(row, other) for other in rows)
        tied = [
            other["policy"]
            for other in rows
            if not (other is row or _is_above(other, row) or _is_above(row, other))
        ]
        places = str(first) if first == last else f"{first}-{last}"
        ranked.append((first, last, {**row, "rank": places, "tied_with": tied}))
    in_order = sorted(ranked, key=lambda each: (*each[:2], sign * each[2][by], each[2]["policy"]))
    return [row for _, _, row in in_order]


def _is_above(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the complete interval of a row lies above another's."""
    return bool(row["low"] > other["high"])
