# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranking with intervals: what lies above what, and which values belong together."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from swapsim import study

RUNS = {
    "low": dict(enumerate([1.0, 2.0, 3.0, 4.0, 5.0])),
    "between": dict(enumerate([1.0, 4.0, 9.0, 16.0, 25.0])),
    "high": dict(enumerate([1.1, 4.5, 9.3, 16.2, 25.1])),
}


def ranked(runs: Mapping[str, Mapping[int, float]], better: str) -> list[dict[str, Any]]:
    """Rank policies by their runs."""
    rows = [(name, seed, value) for name, of in runs.items() for seed, value in of.items()]
    frame = pl.DataFrame(rows, schema=["policy", "seed", "value"], orient="row")
    return study.rank(frame, better).to_dicts()


@pytest.mark.parametrize(
    ("better", "order", "ranks"),
    [
        ("lower", ["low", "between", "high"], ["1-2", "1-2", "3"]),
        ("neither", ["low", "between", "high"], ["1-2", "1-2", "3"]),
        ("higher", ["high", "between", "low"], ["1", "2-3", "2-3"]),
    ],
)
def test_policies_are_compared_seed_by_seed(
    better: str, order: list[str], ranks: list[str]
) -> None:
    """A small difference of each seed ranks, whatever the seeds' spread; one of 0 ties."""
    for runs in (RUNS, dict(reversed(RUNS.items()))):
        found = ranked(runs, better)
        assert [row["policy"] for row in found] == order
        assert [row["rank"] for row in found] == ranks
        tied = {row["policy"]: row["tied_with"] for row in found}
        assert tied == {"low": ["between"], "between": ["low"], "high": []}
        worse = {row["policy"]: sorted(row["better_than"]) for row in found}
        if better == "higher":
            assert worse == {"high": ["between", "low"], "between": [], "low": []}
        else:
            assert worse == {"high": [], "between": ["high"], "low": ["high"]}


@pytest.mark.parametrize("common", [0, 4, 5])
def test_of_few_common_seeds_policies_are_tied(common: int) -> None:
    """Fewer than five show no sign."""
    runs = {"a": dict.fromkeys(range(5), 1.0), "b": dict.fromkeys(range(5 - common, 10), 2.0)}
    found = ranked(runs, "lower")
    assert [row["tied_with"] for row in found] == ([["b"], ["a"]] if common < 5 else [[], []])


def test_equal_policies_stand_in_the_order_of_their_names() -> None:
    """The order of the given rows has no effect on that of the ranked ones."""
    equal = dict.fromkeys(("b", "c", "a"), RUNS["low"])
    assert [row["policy"] for row in ranked(equal, "higher")] == ["a", "b", "c"]


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9), min_size=1, max_size=4))
def test_policies_are_ranked_by_what_numpy_says_of_their_runs(runs: list[list[float]]) -> None:
    """The statistics are those of the values in the order of the seeds; nulls count as no run."""
    rows = [(str(n), seed, value) for n, of in enumerate(runs) for seed, value in enumerate(of)]
    frame = pl.DataFrame(
        [*rows, ("none", 0, None)], schema=["policy", "seed", "value"], orient="row"
    )
    found = study.rank(frame.reverse())
    assert set(found["policy"]) == {str(n) for n in range(len(runs))}
    for row in found.iter_rows(named=True):
        of = runs[int(row["policy"])]
        assert row["seeds"] == len(of)
        assert row["median"] == pytest.approx(np.median(of))
        assert (row["low"], row["high"]) == study.interval_of(of)


@given(st.lists(st.integers(-1000, 1000).map(float), min_size=2, max_size=40))
def test_an_interval_is_that_of_scipy(values: list[float]) -> None:
    """Where order statistics can have 95 %, else all of the values."""
    low, high = study.interval_of(values)
    exact = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    if not np.isnan([exact.low, exact.high]).any():
        assert (low, high) == (exact.low, exact.high)
    else:
        assert (low, high) == (min(values), max(values))
