# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics over rounds: medians with bootstrap intervals, ranks, and paired differences."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, TypedDict

import numpy as np
import polars as pl

from swapsim.claims.tables import MEDIANS, PAIRED, RESULTS
from swapsim.errors import InputError

RESAMPLES: Final = 9999
"""Bootstrap samples of each interval."""

CONFIDENCE: Final = 0.95
"""Of the intervals of paired differences."""

_OF_ONE_RUN: Final = ("patch", "source", "kernel", "policy", "n_tasks", "metric", "unit")


def medians(results: pl.DataFrame, *, confidence: float = 0.95) -> pl.DataFrame:
    """Return the median of each metric over its rounds, with its interval.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of any source.
    confidence : float
        Of the percentile bootstrap interval, between 0 and 1.

    Returns
    -------
    polars.DataFrame
        Schema MEDIANS, in the order of first appearance. The interval of one round is its value.

    Raises
    ------
    InputError
        The table has another schema, or confidence is out of its range.
    """
    RESULTS.check(results)
    frame = (
        results.group_by(_OF_ONE_RUN, maintain_order=True)
        .agg(pl.col("value").sort_by("seed"))
        .with_columns(
            rounds=pl.col("value").list.len().cast(pl.UInt32),
            median=pl.col("value").list.median(),
        )
    )
    intervals = [interval(values, np.median, confidence) for values in frame["value"].to_list()]
    frame = frame.with_columns(
        low=pl.Series([low for low, _ in intervals], dtype=pl.Float64),
        high=pl.Series([high for _, high in intervals], dtype=pl.Float64),
    )
    return MEDIANS.check(frame.select(MEDIANS.names()))


def side_by_side(medians: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Arrange medians and their intervals with a column per policy.

    Parameters
    ----------
    medians : polars.DataFrame
        Schema MEDIANS, one source and kernel.
    metrics : sequence of str
        In the order of the rows.

    Returns
    -------
    polars.DataFrame
        ``metric``, and per policy "median [low, high]" as `spread` writes it.

    Raises
    ------
    InputError
        A metric is missing.
    """
    MEDIANS.check(medians)
    known = medians["metric"].unique()
    for metric in metrics:
        if metric not in known:
            raise InputError(f"no such metric: {metric!r}; take one of the medians", field="metric")
    order = pl.DataFrame({"metric": metrics}, schema={"metric": pl.String})
    return (
        order.join(medians, on="metric", maintain_order="left")
        .with_columns(
            text=pl.struct("median", "low", "high").map_elements(spread, return_dtype=pl.String)
        )
        .pivot("policy", index="metric", values="text")
    )


def ranks(medians: pl.DataFrame, metric: str, *, better: str = "lower") -> pl.DataFrame:
    """Rank the policies by one metric, the best first.

    Parameters
    ----------
    medians : polars.DataFrame
        Schema MEDIANS, one source and kernel; rows of other metrics are left out.
    metric : str
    better : {"lower", "higher"}
        Which values of the metric are better.

    Returns
    -------
    polars.DataFrame
        ``policy, median, low, high, unit, rank`` (UInt32, 1 is best) and ``tied_with``: the
        policies whose intervals overlap with this one's.

    Raises
    ------
    InputError
        The metric is missing, or ``better`` is another word.
    """
    if better not in ("lower", "higher"):
        raise InputError(f"better={better!r}: choose lower or higher", field="better")
    chosen = (
        MEDIANS.check(medians)
        .filter(metric=metric)
        .sort("median", "policy", descending=[better == "higher", False])
    )
    if chosen.is_empty():
        raise InputError(f"no such metric: {metric!r}; take one of the medians", field="metric")
    rows = chosen.select("policy", "median", "low", "high", "unit").to_dicts()
    ranked = zip(rows, ranks_by_interval(rows, better), strict=True)
    return pl.DataFrame(
        [{**row, **rank} for row, rank in ranked],
        schema_overrides={"rank": pl.UInt32, "tied_with": pl.List(pl.String)},
    )


def spread(row: dict[str, float]) -> str:
    """Return value, low and high end as "value [low, high]": three digits, large ones integers."""
    value, low, high = (
        f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" for value in row.values()
    )
    return f"{value} [{low}, {high}]"


class Difference(TypedDict):
    """The paired difference between the rounds of a base and those of another set-up."""

    rounds: int
    base: float
    value: float
    low: float
    high: float
    seen: str


def difference(base: pl.DataFrame, value: pl.DataFrame) -> Difference | None:
    """Compare the rounds of one metric with the same rounds of a base.

    Both frames have ``seed`` and ``value``, each seed once; rounds of one frame only are left out.
    Returns the medians of both, the bootstrap interval of the median of the rounds' differences,
    and its sign if it has one; None without a common round.
    """
    both = base.join(value, on="seed", suffix="_other").sort("seed")
    if both.is_empty():
        return None
    low, high = interval((both["value_other"] - both["value"]).to_list(), np.median, CONFIDENCE)
    return {
        "rounds": both.height,
        "base": float(np.median(both["value"])),
        "value": float(np.median(both["value_other"])),
        "low": low,
        "high": high,
        "seen": "falls" if high < 0 else "rises" if low > 0 else "either",
    }


def steps(results: pl.DataFrame, policies: Sequence[str], metrics: Sequence[str]) -> pl.DataFrame:
    """Compare each policy of a series with the one before it, round by round.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of one source, kernel and number of tasks.
    policies, metrics : sequence of str
        In the order of the series, and of the rows.

    Returns
    -------
    polars.DataFrame
        Schema PAIRED, by metric, with a row per step.

    Raises
    ------
    InputError
        The table has another schema, or a metric is missing.
    """
    RESULTS.check(results)
    rows = []
    for metric in metrics:
        of_metric = results.filter(metric=metric)
        if of_metric.is_empty():
            raise InputError(f"no such metric: {metric!r}; take one of the results", field="metric")
        for base_policy, policy in pairwise(policies):
            found = difference(
                *(of_metric.filter(policy=name).select("seed", "value")
                  for name in (base_policy, policy))
            )  # fmt: skip
            if found is not None:
                labels = {"metric": metric, "unit": of_metric["unit"][0]}
                rows.append({**labels, "base_policy": base_policy, "policy": policy, **found})
    return PAIRED.check(pl.DataFrame(rows, schema=PAIRED.schema))


class Rank(TypedDict):
    """The rank of a policy: one more than the number of those that are surely better."""

    rank: int
    tied_with: list[str]


def interval(
    values: Sequence[float], statistic: Callable[..., Any], confidence: float
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of ``numpy.mean`` or ``numpy.median``.

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


def ranks_by_interval(rows: Sequence[dict[str, Any]], better: str) -> list[Rank]:
    """Return the rank of each row with ``policy``, ``low`` and ``high``.

    A row is surely better than another if their intervals do not overlap; else they are tied. Lower
    is better unless `better` is "higher".
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
