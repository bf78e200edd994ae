# SPDX-License-Identifier: GPL-2.0-or-later
"""Bootstrap intervals, and ranks of what has one: the only place where they are made."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypedDict

import numpy as np

from swapsim.errors import InputError

RESAMPLES: Final = 9999
"""Bootstrap samples behind each interval."""


class Rank(TypedDict):
    """A policy's place: one more than those that are surely better, and those that may be equal."""

    rank: int
    tied_with: list[str]


def interval(
    values: Sequence[float], statistic: Callable[..., Any], confidence: float
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a statistic.

    The same values give the same interval in any process.

    Parameters
    ----------
    values : sequence of float
        At least one; without spread the interval is the value itself.
    statistic : callable
        ``numpy.mean`` or ``numpy.median``.
    confidence : float
        Between 0 and 1.

    Raises
    ------
    InputError
        Confidence is out of its range.
    """
    check_confidence(confidence)
    if min(values) == max(values):
        return values[0], values[0]
    # Slow to import, and of no use to the processes of a sweep.
    from scipy import stats

    found = stats.bootstrap(
        (np.asarray(values),),
        statistic,
        n_resamples=RESAMPLES,
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    return float(found.low), float(found.high)


def check_confidence(confidence: float) -> None:
    """Refuse what is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise InputError(f"{confidence!r}: choose a number between 0 and 1", field="confidence")


def ranks_by_interval(rows: Sequence[dict[str, Any]], better: str) -> list[Rank]:
    """Rank rows by their intervals.

    Parameters
    ----------
    rows : sequence of dict
        With ``policy``, ``low`` and ``high``.
    better : {"higher", "lower", "neither"}
        Lower is ranked first unless higher is better.

    Returns
    -------
    list of Rank
        One a row: another is surely better if its interval is as a whole, tied if both overlap.
    """
    return [
        {
            "rank": 1
            + sum(
                other["low"] > row["high"] if better == "higher" else other["high"] < row["low"]
                for other in rows
            ),
            "tied_with": [
                other["policy"]
                for other in rows
                if other is not row and other["low"] <= row["high"] and row["low"] <= other["high"]
            ],
        }
        for row in rows
    ]
