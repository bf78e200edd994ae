# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranking with intervals: what runs with several seeds say about the order of policies."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

import numpy as np

from swapsim.errors import InputError

CONFIDENCE: Final = 0.95
"""Of an interval, unless a caller gives another one."""

RESAMPLES: Final = 9999
"""Bootstrap samples of each interval."""

Statistic = Callable[..., Any]
"""``numpy.mean`` or ``numpy.median``."""


def interval(
    values: Sequence[float], statistic: Statistic, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a statistic.

    It is the value itself where all values are equal, and the same in each process: that of
    ``scipy.stats.bootstrap`` with a generator of seed 1.
    """
    check_confidence(confidence)
    if min(values) == max(values):
        return values[0], values[0]
    return _interval(tuple(values), statistic, confidence)


@lru_cache(maxsize=1 << 14)
def _interval(
    values: tuple[float, ...], statistic: Statistic, confidence: float
) -> tuple[float, float]:
    found = np.asarray(values, dtype=float)
    if statistic is np.median:
        resampled = _resampled_medians(found)
    else:
        resampled = statistic(found[_draws(found.size)], axis=-1)
    outside = (1 - confidence) / 2
    low, high = _quantiles(resampled, (outside, 1 - outside))
    return low, high


@lru_cache(maxsize=8)
def _draws(count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return which of `count` values each resample has: a row for each."""
    return np.random.default_rng(1).integers(0, count, (RESAMPLES, count))


@lru_cache(maxsize=64)
def _times_drawn(count: int) -> np.ndarray[Any, np.dtype[Any]]:
    """Return how often each resample has each value: a row for each value."""
    times = np.zeros((count, RESAMPLES), dtype=np.min_scalar_type(count))
    for column in _draws(count).T:
        times[column, np.arange(RESAMPLES)] += 1
    return times


def _resampled_medians(values: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Return the median of each resample, by counts instead of sorting each."""
    count = values.size
    order = np.argsort(values)
    times = _times_drawn(count)
    up_to, lower, upper = (np.zeros_like(times[0]) for _ in range(3))
    for place in order:
        up_to += times[place]
        lower += up_to < (count + 1) // 2
        upper += up_to < count // 2 + 1
    in_order = values[order]
    return (in_order[lower] + in_order[upper]) / 2


def _quantiles(values: Any, shares: Sequence[float]) -> list[float]:
    """Return quantiles as scipy interpolates them."""
    places = [share * values.size + (1 - share) for share in shares]
    ends = [(int(place) - 1, min(int(place), values.size - 1)) for place in places]
    in_order = np.partition(values, sorted({*chain(*ends)}))
    return [
        float((1 - place % 1) * in_order[below] + place % 1 * in_order[above])
        for place, (below, above) in zip(places, ends, strict=True)
    ]


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
