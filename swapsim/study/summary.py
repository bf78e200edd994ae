# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rows of many runs say: five verbs over rows in long form.

::

    rows      settings ..., seed, value       one row for each run and figure
    over      middle, low, high of each setting over its seeds
    against   the change of each row from the row of a base with the same other settings
    ends      what a figure is with each constant at its low and at its high
    wide      a column for each value of a setting, for reading
    ranked    policies in the order of their ranks, with their statistics over the seeds

Each takes a frame and returns a new one. The rows are in the order of first appearance.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from swapsim.errors import InputError
from swapsim.study.ranking import CONFIDENCE, RANKED, interval, rank
from swapsim.study.tables import RANKING
from swapsim.tables import Metric

Statistic = Literal["mean", "median"]
Spread = Literal["range", "interval"]


def over(
    rows: pl.DataFrame,
    *names: str,
    value: str = "value",
    statistic: Statistic = "median",
    spread: Spread = "range",
    confidence: float = CONFIDENCE,
) -> pl.DataFrame:
    """Return the middle of a figure over columns (default: the seed), and its low and high end.

    There is one row for each combination of the other columns, which stand before ``runs, middle,
    low, high``. A null value counts as no run. The ends are the least and the greatest value, or
    with ``spread="interval"`` those of the median's interval (`study.ranking.interval`).

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim.study import summary
    >>> rows = pl.DataFrame({"tasks": [1, 1, 2], "seed": [1, 2, 1], "value": [10, 12, 20]})
    >>> summary.over(rows).rows()
    [(1, 2, 11.0, 10.0, 12.0), (2, 1, 20.0, 20.0, 20.0)]
    """
    if spread == "interval" and statistic != "median":
        raise InputError("an interval is that of the median: choose it", field="statistic")
    summarised = names or ("seed",)
    _require(rows, *summarised, value)
    keys = [name for name in rows.columns if name not in {*summarised, value}]
    constant = "" if keys else "of"
    if constant:
        rows, keys = rows.with_columns(pl.lit("all").alias(constant)), [constant]
    groups = (
        rows.drop_nulls(value)
        .group_by(keys, maintain_order=True)
        .agg(pl.col(value).sort_by(*summarised))
    )
    ends = [
        interval(each, confidence) if spread == "interval" else (min(each), max(each))
        for each in groups[value]
    ]
    made = groups.select(
        *keys,
        runs=pl.col(value).list.len(),
        # Sums of floats depend on their order; fsum rounds once.
        middle=pl.col(value).list.median()
        if statistic == "median"
        else pl.Series([math.fsum(each) / len(each) for each in groups[value]], dtype=pl.Float64),
        low=pl.Series([low for low, _ in ends], dtype=pl.Float64),
        high=pl.Series([high for _, high in ends], dtype=pl.Float64),
    )
    return made.drop(constant) if constant else made


def against(
    rows: pl.DataFrame, base: Mapping[str, Any], *, value: str = "value", points: bool = False
) -> pl.DataFrame:
    """Return the change of each row from the base row with the same other settings.

    ``base`` has columns and their values in the base, whose own rows are left out. The columns
    ``base`` and ``change`` are added: percent of the base, null where it is missing or zero, or
    with ``points`` the difference.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim.study import summary
    >>> rows = pl.DataFrame({"policy": ["shared", "percpu"], "seed": [1, 1], "value": [10.0, 12.5]})
    >>> summary.against(rows, {"policy": "shared"}).rows()
    [('percpu', 1, 12.5, 10.0, 25.0)]
    """
    _require(rows, *base, value)
    keys = [name for name in rows.columns if name not in {*base, value}]
    # A null is no value of the base: its row is one of the others.
    is_base = pl.all_horizontal(pl.col(name).eq_missing(given) for name, given in base.items())
    bases = rows.filter(is_base).select(*keys, base=value)
    if bases.is_empty():
        raise InputError(f"no row has {dict(base)}: choose a base that was run", field="base")
    if keys and bases.select(keys).is_duplicated().any():
        raise InputError("the base has several rows for one setting: summarise them", field="base")
    others = rows.filter(~is_base)
    joined = (
        others.join(bases, on=keys, how="left", maintain_order="left", nulls_equal=True)
        if keys
        else others.join(bases, how="cross", maintain_order="left")
    )
    change = (
        pl.col(value) - pl.col("base")
        if points
        else pl.when(pl.col("base") != 0).then(100 * (pl.col(value) / pl.col("base") - 1))
    )
    return joined.with_columns(change=change)


def ends(
    rows: pl.DataFrame, constant: str = "constant", end: str = "end", value: str = "value"
) -> pl.DataFrame:
    """Return a figure at the "low" and the "high" end of each constant, the widest apart first.

    Several rows of an end are averaged, and an end without a row is null. The columns are
    ``constant, low, high`` and ``flips``, whether both have different signs.
    """
    _require(rows, constant, end, value)
    wrong = [each for each in rows[end].unique() if each not in ("low", "high")]
    if wrong:
        raise InputError(f"{wrong[0]!r} is no end: give low or high", field=end)
    return (
        rows.group_by(constant, end, maintain_order=True)
        .agg(pl.col(value).mean())
        .pivot(end, index=constant, values=value, on_columns=["low", "high"])
        .with_columns(flips=(pl.col("low") * pl.col("high") < 0).fill_null(value=False))
        .sort((pl.col("high") - pl.col("low")).abs(), descending=True, nulls_last=True)
    )


def wide(
    rows: pl.DataFrame, column: str = "metric", value: str = "value", only: Sequence[str] = ()
) -> pl.DataFrame:
    """Return a column for each value of a setting, in the order of first appearance or of ``only``.

    All other columns but ``value`` identify a row, and each has one row for each of the values.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim.study import summary
    >>> rows = pl.DataFrame({"tasks": [1, 1], "policy": ["shared", "percpu"], "value": [10, 12]})
    >>> summary.wide(rows, "policy").rows()
    [(1, 10, 12)]
    """
    _require(rows, column, value)
    names = list(only) or rows[column].cast(pl.String).unique(maintain_order=True).to_list()
    chosen = rows.with_columns(pl.col(column).cast(pl.String)).filter(pl.col(column).is_in(names))
    if missing := [name for name in names if name not in set(chosen[column])]:
        raise InputError(f"no row has {missing[0]!r}", field=column)
    index = [name for name in rows.columns if name not in {column, value}]
    if index and chosen.select(*index, column).is_duplicated().any():
        raise InputError("several rows would share a cell: summarise them first", field=value)
    if not index:
        return chosen.transpose(column_names=column, include_header=False).select(names)
    return chosen.pivot(
        column, index=index, values=value, on_columns=names, maintain_order=True
    ).select(*index, *names)


def ranked(rows: pl.DataFrame, better: str, *, confidence: float = CONFIDENCE) -> pl.DataFrame:
    """Return the policies of runs in the order of their ranks (`ranking.rank`).

    Runs with the same seed are compared with each other. The median's own interval is ``low,
    high``, next to ``seeds, mean, median, lowest, highest``. A null counts as no run.
    """
    ends = over(rows, spread="interval", confidence=confidence)
    whole = over(rows)
    runs = rows.drop_nulls("value")
    policies = runs.group_by(ends.columns[:-4], maintain_order=True)
    found = ends.select(
        pl.exclude("runs", "middle", "low", "high"),
        seeds="runs",
        mean=over(rows, statistic="mean")["middle"],
        # numpy's median of two values is their rounded mean, that of polars may be off by a bit.
        median=pl.Series(
            [float(np.median(each)) for each in policies.agg("value")["value"]], dtype=pl.Float64
        ),
        low="low",
        high="high",
        lowest=whole["low"],
        highest=whole["high"],
    )
    of = {
        name: dict(each.select("seed", "value").iter_rows())
        for (name,), each in runs.group_by("policy", maintain_order=True)
    }
    return pl.DataFrame(
        rank(found.to_dicts(), of, "median", better, confidence),
        schema=pl.Schema({**found.schema, **RANKED}),
    )


def ranking(
    rows: pl.DataFrame, metrics: Mapping[str, Metric], built_in: Collection[str]
) -> pl.DataFrame:
    """Rank policies by the median of each metric, the best first (RANKING).

    The rows have ``metric, policy, seed, value``; policies that are not ``built_in`` are a user's.
    """
    found = pl.concat(
        ranked(rows.filter(metric=name), metric.better).with_columns(
            unit=pl.lit(metric.unit), better=pl.lit(metric.better)
        )
        for name, metric in metrics.items()
    ).with_columns(runs="seeds", user=pl.col("policy").is_in(list(built_in)).not_())
    return RANKING.check(found.select(RANKING.names()))


def rank_table(
    rows: pl.DataFrame, metrics: Mapping[str, Metric], built_in: Collection[str]
) -> pl.DataFrame:
    """Rank policies in one table, the best by the first metric first.

    The rows are those of `ranking`. The columns are ``rule``, ``user``, the median of each metric
    under its name, and its place as ``NAME_rank``. Policies that are equal in all runs share a row.
    """
    chosen = rows.filter(pl.col("metric").is_in([*metrics]))
    alike: dict[object, list[str]] = {}
    for (policy,), part in chosen.group_by("policy", maintain_order=True):
        runs = part.select("metric", "seed", "value").sort("metric", "seed").rows()
        alike.setdefault(tuple(runs), []).append(str(policy))
    names = {same[0]: ", ".join(same) for same in alike.values()}
    found = pl.DataFrame(
        {
            "policy": [*names],
            "rule": [*names.values()],
            "user": [
                not built_in_ones for built_in_ones in map({*built_in}.issuperset, alike.values())
            ],
        }
    )
    for name, metric in metrics.items():
        of_metric = chosen.filter(pl.col("policy").is_in([*names]), metric=name)
        places = ranked(of_metric.select("policy", "seed", "value"), metric.better).with_row_index()
        found = found.join(
            places.select(
                "policy",
                pl.col("median").alias(name),
                pl.col("rank").alias(f"{name}_rank"),
                pl.col("index").alias(f"{name}_at"),
            ),
            on="policy",
            how="left",
            maintain_order="left",
        )
    ranks = [f"{name}_rank" for name in metrics]
    return found.sort(f"{next(iter(metrics))}_at", nulls_last=True).select(
        "rule", "user", *metrics, *ranks
    )


def _require(rows: pl.DataFrame, *columns: str) -> None:
    for name in columns:
        if name not in rows.columns:
            raise InputError(
                f"the rows have no column {name!r}, but {', '.join(rows.columns)}", field=name
            )
