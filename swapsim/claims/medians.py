# SPDX-License-Identifier: GPL-2.0-or-later
"""Results over their rounds: medians with their intervals, and the order of policies."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from swapsim.claims.intervals import interval, ranks_by_interval
from swapsim.claims.tables import MEDIANS, RESULTS
from swapsim.errors import InputError

_OF_ONE_RUN: Final = ("patch", "source", "kernel", "policy", "n_tasks", "metric", "unit")


def medians(results: pl.DataFrame, *, confidence: float = 0.95) -> pl.DataFrame:
    """Take the median of each metric over its rounds, with the interval that holds it.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of any source.
    confidence : float
        Between 0 and 1, of the percentile bootstrap interval.

    Returns
    -------
    polars.DataFrame
        Schema MEDIANS, in the order of first appearance. With one round the interval is the
        figure itself.

    Raises
    ------
    InputError
        If the table has another schema, or confidence is out of its range.
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
    """Set medians and their intervals side by side, a column per policy.

    Parameters
    ----------
    medians : polars.DataFrame
        Schema MEDIANS, one source and kernel.
    metrics : sequence of str
        In the order of the rows.

    Returns
    -------
    polars.DataFrame
        ``metric``, and per policy "median [low, high]" to three digits, large ones whole.

    Raises
    ------
    InputError
        If one of the metrics is not there.
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
    """Put the policies in order of one metric, the best first, ties told.

    Parameters
    ----------
    medians : polars.DataFrame
        Schema MEDIANS, one source and kernel; rows of other metrics are left out.
    metric : str
    better : {"lower", "higher"}
        Which end of the metric is the better one.

    Returns
    -------
    polars.DataFrame
        ``policy, median, low, high, unit, rank`` (UInt32, 1 is best) and ``tied_with``: the
        policies whose intervals overlap with this one's. A rank counts those surely better.

    Raises
    ------
    InputError
        If the metric is not there, or ``better`` is another word.
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
    """Return a figure and its two ends as "value [low, high]": three digits, large ones whole.

    Parameters
    ----------
    row : dict of str to float
        The figure, the low and the high end, in this order.
    """
    value, low, high = (
        f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" for value in row.values()
    )
    return f"{value} [{low}, {high}]"
