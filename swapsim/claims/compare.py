# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons: the two layouts that mails use, and published beside simulated beside measured."""

from itertools import groupby
from typing import Final, TypedDict, cast

import polars as pl

from swapsim.errors import InputError
from swapsim.schemas import (
    CLAIMS,
    COMPARISON,
    HELD_AGAINST,
    MEDIANS,
    PUBLISHED,
    RESULTS,
    THREE_COLUMNS,
    TOLERANCES,
    VERDICT,
    require,
)

COUNT_TOLERANCE_PERCENT: Final = 5.0
"""How far a simulated count may lie from a real kernel's, in percent; set before the first run."""

_LKP_HEAD: Final = (
    "---------------- --------------------------\n"
    "         %stddev     %change         %stddev\n"
    "             \\          |                \\\n"
)


class _Cell(TypedDict):
    metric: str
    kernel: str
    value: float
    decimals: int
    stddev_percent: float | None
    better: str


def mmtests_change(base: float, value: float, better: str) -> float:
    """Return the percentage that mmtests prints behind a value; positive is better.

    Zero cells follow the tool's fixed answers, not a quotient: a value that did not change or fell
    to zero prints 0; a value above a zero base prints -99 where lower is better, else 100. (Later
    versions of the tool print 100 for a fall to zero where lower is better.)

    Parameters
    ----------
    base, value : float
        The base kernel's cell and the other's.
    better : {"higher", "lower", "neither"}
        Which direction is better; lower turns the sign.

    Source
    ------
    The tables of patch 03 in data/published; percentage functions of mmtests' statistics module.
    """
    lower = better == "lower"
    if value in (base, 0):
        return 0.0
    if base == 0:
        return -99.0 if lower else 100.0
    change = 100 * value / base - 100
    return -change if lower else change


def lkp_change(base: float, value: float) -> float:
    """Return the percentage that lkp prints between base and value, with its plain sign.

    A base of zero gives infinity, printed +Inf; no change gives 0.
    """
    if value == base:
        return 0.0
    return float("inf") if base == 0 else 100 * value / base - 100


def mmtests(comparison: pl.DataFrame) -> str:
    """Lay a comparison out as mmtests does: one column per kernel, value and percentage.

    Parameters
    ----------
    comparison : polars.DataFrame
        Schema COMPARISON; the rows of one metric stand together, its base kernel first.

    Returns
    -------
    str
        A line of kernels, then a line per metric.

    Raises
    ------
    InputError
        If the metrics do not have the same kernels in the same order.
    """
    metrics = _by_metric(comparison)
    width = max((len(cells[0]["metric"]) for cells in metrics), default=0)
    kernels = [cell["kernel"] for cell in metrics[0]] if metrics else []
    lines = [" " * width + "".join(f"{kernel:>23}" for kernel in kernels)]
    for cells in metrics:
        base = cells[0]
        row = f"{base['metric']:<{width}}"
        for cell in cells:
            change = mmtests_change(base["value"], cell["value"], cell["better"])
            row += f" {cell['value']:12.{cell['decimals']}f} ({change:6.2f}%)"
        lines.append(row)
    return "\n".join(lines) + "\n"


def lkp(comparison: pl.DataFrame) -> str:
    """Lay a comparison of two kernels out as lkp does: base, change, patched, metric.

    Parameters
    ----------
    comparison : polars.DataFrame
        Schema COMPARISON; the rows of one metric stand together, its base kernel first. A zero
        mean has no relative deviation: it prints -1%, as the tool does. A deviation that is null
        leaves its place empty.

    Returns
    -------
    str
        Four lines of heading, then a line per metric.

    Raises
    ------
    InputError
        If a metric does not have exactly two kernels, the same for all.
    """
    metrics = _by_metric(comparison)
    if any(len(cells) != 2 for cells in metrics):
        raise InputError("lkp's layout compares two kernels: choose a base and one other")
    lines = (
        [f"{metrics[0][0]['kernel']:<16} {metrics[0][1]['kernel']}\n{_LKP_HEAD}"] if metrics else []
    )
    for base, other in metrics:
        change = lkp_change(base["value"], other["value"])
        printed = "+Inf" if change == float("inf") else f"{change:+.1f}"
        lines.append(
            f"{_with_deviation(base, 10)}{printed:>10}% {_with_deviation(other, 10)}"
            f"  {base['metric']}\n"
        )
    return "".join(lines)


def as_printed(results: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Give results the rows, digits and order of a printed table, to lay them out alike.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, one patch; metrics and kernels as printed.
    cells : polars.DataFrame
        Schema PUBLISHED: the table's cells. Metrics and kernels without a result are left out.

    Returns
    -------
    polars.DataFrame
        Schema COMPARISON: means over the seeds, with their relative standard deviation; null with
        one seed, and for a mean of zero.

    Raises
    ------
    InputError
        If a table does not have its schema, or the two share no metric.
    """
    require(results, RESULTS, "RESULTS")
    require(cells, PUBLISHED, "PUBLISHED")
    keys = ["metric", "kernel"]
    found = (
        results.sort(pl.all())  # float sums depend on their order
        .group_by(keys, maintain_order=True)
        .agg(mean=pl.col("value").mean(), deviation=pl.col("value").std())
    )
    kernels = cells["kernel"].unique(maintain_order=True)
    kernels = kernels.filter(kernels.is_in(results["kernel"].unique().to_list()))
    rows = (
        cells.select("metric", "decimals", "better")
        .unique("metric", maintain_order=True)
        .join(pl.DataFrame({"kernel": kernels}), how="cross")
        .join(found, on=keys, how="left", maintain_order="left")
        .filter(pl.col("mean").is_not_null().all().over("metric"))
        .select(
            "metric",
            "kernel",
            "decimals",
            "better",
            value="mean",
            stddev_percent=pl.when(pl.col("mean") != 0).then(
                100 * pl.col("deviation") / pl.col("mean")
            ),
        )
        .select(COMPARISON.names())
    )
    if rows.is_empty():
        raise InputError("no metric that both the results and the printed table have")
    return require(rows, COMPARISON, "COMPARISON")


def three_columns(
    claims: pl.DataFrame, results: pl.DataFrame, tolerances: pl.DataFrame
) -> pl.DataFrame:
    """Set each claim beside what was simulated and measured, and judge both.

    What is compared is the claim's change in percent, or its value where it has no change. A
    result's change is that of the means, over its seeds, policies and task numbers, at the two
    kernels of the claim's locator; filter the results first if they hold more than one set-up.

    Parameters
    ----------
    claims : polars.DataFrame
        Schema CLAIMS.
    results : polars.DataFrame
        Schema RESULTS; patch, metric and kernel as in the claims. Rows of source published are
        refused: the claims are what was published.
    tolerances : polars.DataFrame
        Schema TOLERANCES; a claim without a row here is not judged.

    Returns
    -------
    polars.DataFrame
        Schema THREE_COLUMNS, one row per claim, in the order of the claims. A result agrees if it
        lies no farther from the published figure than the tolerance.

    Raises
    ------
    InputError
        If a table does not have its schema, or results hold published rows.
    """
    require(claims, CLAIMS, "CLAIMS")
    require(results, RESULTS, "RESULTS")
    require(tolerances, TOLERANCES, "TOLERANCES")
    if (results["source"] == "published").any():
        raise InputError("drop these rows: the claims are what was published", field="source")
    kernels = pl.col("locator").str.extract_groups(r"\| (?<base>[^|]+) -> (?<value>[^|]+)$")
    table = (
        claims.with_columns(kernels.struct.rename_fields(["base_kernel", "value_kernel"]))
        .unnest("locator")
        .with_columns(published=pl.coalesce("change", "value"))
        .join(tolerances.drop("note"), on="claim", how="left", maintain_order="left")
    )
    for source in ("simulated", "measured"):
        table = _with_result(table, results.filter(pl.col("source") == source), source)
    percent = pl.col("change").is_not_null()
    table = table.with_columns(unit=pl.when(percent).then(pl.lit("%")).otherwise("unit"))
    return require(table.select(THREE_COLUMNS.names()), THREE_COLUMNS, "THREE_COLUMNS")


def held_against(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Set simulated counts beside those of a real kernel under the same workload.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema RESULTS; the mean over its seeds counts.
    medians : polars.DataFrame
        Schema MEDIANS, measured (`measured.medians`).

    Returns
    -------
    polars.DataFrame
        Schema HELD_AGAINST, one row per policy and metric that both have, in the order of the
        simulated ones. A count agrees within COUNT_TOLERANCE_PERCENT of the measured median.

    Raises
    ------
    InputError
        A table has another schema, or the two have no policy and metric in common.
    """
    require(simulated, RESULTS, "RESULTS")
    require(medians, MEDIANS, "MEDIANS")
    keys = ["policy", "metric", "unit"]
    means = (
        simulated.sort(pl.all())  # float sums depend on their order
        .group_by(keys, maintain_order=True)
        .agg(simulated=pl.col("value").mean())
    )
    order = simulated.select(keys).unique(maintain_order=True)
    frame = (
        order.join(means, on=keys, how="left", maintain_order="left")
        .join(medians, on=keys, how="inner", maintain_order="left")
        .rename({"median": "measured"})
        .with_columns(
            apart_percent=100 * (pl.col("simulated") - pl.col("measured")) / pl.col("measured")
        )
        .with_columns(agrees=pl.col("apart_percent").abs() <= COUNT_TOLERANCE_PERCENT)
    )
    if frame.is_empty():
        raise InputError("no policy and metric that both the simulation and the kernel have")
    return require(frame.select(HELD_AGAINST.names()), HELD_AGAINST, "HELD_AGAINST")


def _by_metric(comparison: pl.DataFrame) -> list[list[_Cell]]:
    require(comparison, COMPARISON, "COMPARISON")
    rows = cast("list[_Cell]", comparison.to_dicts())
    metrics = [list(cells) for _, cells in groupby(rows, key=lambda cell: cell["metric"])]
    for cells in metrics:
        kernels = [cell["kernel"] for cell in cells]
        wanted = [cell["kernel"] for cell in metrics[0]]
        if kernels != wanted:
            raise InputError(
                f"metric {cells[0]['metric']!r} has kernels {kernels}, the first one {wanted}:"
                " give every metric the same, in the same order",
                field="kernel",
            )
    return metrics


def _with_deviation(cell: _Cell, width: int) -> str:
    deviation = cell["stddev_percent"]
    text = f"{cell['value']:{width}.{cell['decimals']}f}"
    return text + (" " * 6 if deviation is None else f" ±{deviation:3.0f}%")


def _with_result(table: pl.DataFrame, results: pl.DataFrame, source: str) -> pl.DataFrame:
    """Add one source's figure and its verdict to the claims."""
    means = (
        results.sort(pl.all())  # float sums depend on their order
        .group_by("patch", "metric", "kernel", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    for side in ("base", "value"):
        table = table.join(
            means.rename({"kernel": f"{side}_kernel", "value": f"{side}_mean"}),
            on=["patch", "metric", f"{side}_kernel"],
            how="left",
            maintain_order="left",
        )
    change = 100 * (pl.col("value_mean") - pl.col("base_mean")) / pl.col("base_mean")
    found = (
        pl.when(pl.col("change").is_null())
        .then("value_mean")
        .when(pl.col("base_mean") != 0)
        .then(change)
    )
    return (
        table.with_columns(found.alias(source))
        .with_columns(
            pl.when(pl.col(source).is_null())
            .then(pl.lit(f"not {source}"))
            .when(pl.col("published").is_null() | pl.col("tolerance").is_null())
            .then(pl.lit("not judged"))
            .when((pl.col(source) - pl.col("published")).abs() <= pl.col("tolerance"))
            .then(pl.lit("agrees"))
            .otherwise(pl.lit("contradicts"))
            .cast(VERDICT)
            .alias(f"{source}_verdict")
        )
        .drop("base_mean", "value_mean")
    )
