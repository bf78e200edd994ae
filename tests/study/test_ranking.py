# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranking with intervals: what lies above what, and which values belong together."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim.study import ranking

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


def test_values_are_grouped_by_all_columns_but_seed_and_value() -> None:
    """One row per group in the order of first appearance; nulls count as no run."""
    values = pl.DataFrame(
        {
            "policy": ["b", "a", "b", "a", "c", "b"],
            "seed": [2, 1, 1, 2, 1, 3],
            "value": [4.0, 7.0, 1.0, None, None, 1.0],
        }
    )
    found = ranking.over_seeds(values, np.median)
    assert [(row["policy"], row["seeds"], row["median"]) for row in found] == [
        ("b", 3, 1.0),
        ("a", 1, 7.0),
    ]
    first = found[0]
    assert (first["mean"], first["lowest"], first["highest"]) == (2.0, 1.0, 4.0)
    assert (first["low"], first["high"]) == (1.0, 4.0)
    assert (found[1]["low"], found[1]["high"]) == (7.0, 7.0)


@given(
    st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1.0]), min_size=2, max_size=40),
    st.sampled_from([np.mean, np.median]),
    st.sampled_from([0.5, 0.95, 1 - 1e-9]),
)
def test_an_interval_is_that_of_scipy(
    values: list[float], statistic: ranking.Statistic, confidence: float
) -> None:
    """The medians of resamples are counted, not sorted; both give the same bits."""
    from scipy import stats

    oracle = stats.bootstrap(
        (values,),
        statistic,
        n_resamples=ranking.RESAMPLES,
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert ranking.interval(values, statistic, confidence) == (oracle.low, oracle.high)


def test_the_order_of_rows_has_no_effect() -> None:
    """The values of a policy are resampled in the order of their seeds."""
    values = [5.031, 1.7, 4.22, 2.913, 9.41]
    frame = pl.DataFrame({"policy": "a", "seed": range(5), "value": values})
    (found,) = ranking.over_seeds(frame.reverse(), np.mean)
    assert (found["low"], found["high"]) == ranking.interval(values, np.mean)
    assert ranking.interval(sorted(values), np.mean) != ranking.interval(values, np.mean)
