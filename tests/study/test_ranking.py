# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranking with intervals: what lies above what, and which values belong together."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from swapsim.study import ranking, summary

ROWS = [
    {"policy": "low", "mean": 2.0, "low": 1.0, "high": 3.0},
    {"policy": "between", "mean": 3.5, "low": 3.0, "high": 4.0},
    {"policy": "high", "mean": 6.0, "low": 5.0, "high": 7.0},
]


@pytest.mark.parametrize(
    ("better", "order", "ranks"),
    [
        ("lower", ["low", "between", "high"], ["1-2", "1-2", "3"]),
        ("neither", ["low", "between", "high"], ["1-2", "1-2", "3"]),
        ("higher", ["high", "between", "low"], ["1", "2-3", "2-3"]),
    ],
)
def test_a_rank_has_the_places_that_the_intervals_allow(
    better: str, order: list[str], ranks: list[str]
) -> None:
    """Intervals that share an end overlap: their policies are tied, the others are apart."""
    for rows in (ROWS, ROWS[::-1]):
        ranked = ranking.rank(rows, "mean", better)
        assert [row["policy"] for row in ranked] == order
        assert [row["rank"] for row in ranked] == ranks
        tied = {row["policy"]: row["tied_with"] for row in ranked}
        assert tied == {"low": ["between"], "between": ["low"], "high": []}


def test_equal_policies_stand_in_the_order_of_their_names() -> None:
    """The order of the given rows has no effect on that of the ranked ones."""
    rows = [{**ROWS[0], "policy": name} for name in ("b", "c", "a")]
    assert [row["policy"] for row in ranking.rank(rows, "mean", "higher")] == ["a", "b", "c"]


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9), min_size=1, max_size=4))
def test_policies_are_ranked_by_what_numpy_says_of_their_runs(runs: list[list[float]]) -> None:
    """The statistics are those of the values in the order of the seeds; nulls count as no run."""
    rows = [(str(n), seed, value) for n, of in enumerate(runs) for seed, value in enumerate(of)]
    frame = pl.DataFrame(
        [*rows, ("none", 0, None)], schema=["policy", "seed", "value"], orient="row"
    )
    found = summary.ranked(frame.reverse(), "lower")
    assert set(found["policy"]) == {str(n) for n in range(len(runs))}
    for row in found.iter_rows(named=True):
        of = runs[int(row["policy"])]
        assert (row["seeds"], row["lowest"], row["highest"]) == (len(of), min(of), max(of))
        assert (row["mean"], row["median"]) == (math.fsum(of) / len(of), np.median(of))
        assert (row["low"], row["high"]) == ranking.interval(of)
    for row in summary.ranked(frame, "lower", confidence=0.5).iter_rows(named=True):
        ends = ranking.interval(runs[int(row["policy"])], 0.5)
        assert (row["low"], row["high"]) == ends


@given(
    st.lists(st.integers(-1000, 1000).map(float), min_size=2, max_size=40),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_an_interval_is_that_of_scipy(values: list[float], confidence: float) -> None:
    """Where order statistics can have the confidence, else all of the values."""
    low, high = ranking.interval(values, confidence)
    exact = stats.quantile_test(values, p=0.5).confidence_interval(confidence)
    if not np.isnan([exact.low, exact.high]).any():
        assert ranking.coverage(len(values), confidence) >= confidence
        assert (low, high) == (exact.low, exact.high)
    else:
        assert (low, high) == (min(values), max(values))
