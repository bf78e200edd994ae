# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranking with intervals: what runs with several seeds say about the order of policies."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

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

    It is the value itself where all values are equal, and the same in each process.
    """
    check_confidence(confidence)
    if min(values) == max(values):
        return values[0], values[0]
    # Slow to import, and not needed by worker processes.
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
    """Require a number between 0 and 1."""
    if not 0 < confidence < 1:
        raise InputError(f"{confidence!r}: choose a number between 0 and 1", field="confidence")


def over_seeds(
    values: pl.DataFrame, statistic: Statistic, confidence: float = CONFIDENCE
) -> list[dict[str, Any]]:
    """Return mean, median and extremes over the seeds, with the interval of one statistic.

    `values` has ``seed`` and ``value``, and there is one row for each combination of its other
    columns, in the order of first appearance. A null counts as no run.
    """
    keys = [name for name in values.columns if name not in {"seed", "value"}]
    groups = (
        values.drop_nulls("value")
        .group_by(keys, maintain_order=True)
        .agg(pl.col("value").sort_by("seed"))
    )
    return [
        {**row, **_summary(row["value"], statistic, confidence)}
        for row in groups.iter_rows(named=True)
    ]


def _summary(values: list[float], statistic: Statistic, confidence: float) -> dict[str, float]:
    low, high = interval(values, statistic, confidence)
    return {
        "seeds": len(values),
        "mean": math.fsum(values) / len(values),
        "median": float(np.median(values)),
        "low": low,
        "high": high,
        "lowest": min(values),
        "highest": max(values),
    }


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
