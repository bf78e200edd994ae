# SPDX-License-Identifier: GPL-2.0-or-later
"""The general verbs over results in long form, next to what plain Python says."""

from itertools import product
from statistics import mean, median
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from swapsim import study
from swapsim.errors import InputError
from swapsim.tables import Metric, Metrics

SETTINGS = list(product(("shared", "percpu"), (1, 8)))
VALUES = st.floats(-1e6, 1e6)


def rows_of(values: list[list[float]]) -> pl.DataFrame:
    """Return long rows of each setting's values."""
    return pl.DataFrame(
        [
            (policy, tasks, seed, value)
            for (policy, tasks), row in zip(SETTINGS, values, strict=True)
            for seed, value in enumerate(row)
        ],
        schema={"policy": pl.String, "tasks": pl.Int64, "seed": pl.Int64, "value": pl.Float64},
        orient="row",
    )


@given(st.lists(st.lists(VALUES, min_size=3, max_size=3), min_size=4, max_size=4), st.randoms())
def test_over_seeds(values: list[list[float]], chance: Any) -> None:
    """The middle and the ends of each setting are those of its values, in any order of rows."""
    rows = rows_of(values)
    for statistic, plain in (("median", median), ("mean", mean)):
        found = study.over(rows, stat=statistic)  # type: ignore[arg-type]
        assert found.select("policy", "tasks").rows() == SETTINGS
        for row, own in zip(found.iter_rows(named=True), values, strict=True):
            assert row["middle"] == pytest.approx(plain(own))
            assert (row["runs"], row["low"], row["high"]) == (3, min(own), max(own))
    shuffled = rows.sample(fraction=1, shuffle=True, seed=chance.randrange(1000))
    assert_frame_equal(study.over(rows), study.over(shuffled), check_row_order=False)


def test_over_has_intervals_and_several_columns() -> None:
    """An interval lies within the range, and a summary over all columns has one row."""
    rows = rows_of([[1.0, 2.0, 9.0]] * 4)
    found = study.over(rows, interval=True).row(0, named=True)
    assert 1.0 <= found["low"] <= found["middle"] <= found["high"] <= 9.0
    assert study.over(rows.select("value")).rows() == [(12, 2.0, 1.0, 9.0)]
    assert study.over(rows, "tasks", stat="mean").rows() == [
        (1, 6, 4.0, 1.0, 9.0),
        (8, 6, 4.0, 1.0, 9.0),
    ]


@given(st.lists(st.lists(st.floats(1, 1e6), min_size=2, max_size=2), min_size=4, max_size=4))
def test_against_a_base(values: list[list[float]]) -> None:
    """A change is that of the row with the same other settings and seed."""
    found = study.against(rows_of(values), policy="shared")
    percent = [
        100 * (b / a - 1) for n in (0, 1) for a, b in zip(values[n], values[n + 2], strict=True)
    ]
    assert found["policy"].unique().to_list() == ["percpu"]
    assert found["value"].to_list() == pytest.approx(percent)


def test_a_change_from_zero_has_no_percent() -> None:
    """A base of zero leaves the change open."""
    found = study.against(rows_of([[0.0]] * 2 + [[1.0]] * 2), policy="shared")
    assert found["value"].to_list() == [None, None]


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda rows: study.over(rows, "round"), "round"),
        (lambda rows: study.against(rows, policy="avoid"), "choose a base"),
        (lambda rows: study.against(rows.drop("seed"), policy="shared"), "m:1"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, remedy: str) -> None:
    """A base that was not run, several rows for one base, a column that is not there."""
    with pytest.raises((InputError, pl.exceptions.PolarsError), match=remedy):
        call(rows_of([[1.0, 2.0]] * 4))


def test_a_metric_is_declared() -> None:
    """One that is not is an error."""
    metrics = Metrics("the workbench", {"run": Metric("slots", "run of slots", "higher"),
                                        "cycles.*": Metric("%", "cycles in waiting")})  # fmt: skip
    assert metrics["cycles.si_lock"].unit == "%"
    with pytest.raises(InputError, match="scanned"):
        metrics["scanned"]
