# SPDX-License-Identifier: GPL-2.0-or-later
"""Published beside simulated beside measured, and how far they lie apart."""

from typing import Final

import polars as pl

from swapsim.claims.tables import (
    CLAIMS,
    MEASURED_COUNTS,
    MEDIANS,
    RANGES,
    RESULTS,
    THREE_COLUMNS,
    TOLERANCES,
    VERDICT,
)
from swapsim.errors import InputError

COUNT_TOLERANCE_PERCENT: Final = 5.0
"""How far a simulated count may lie from a real kernel's, in percent; set before the first run."""


def three_columns(
    claims: pl.DataFrame,
    results: pl.DataFrame,
    tolerances: pl.DataFrame,
    ranges: pl.DataFrame | None = None,
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
    ranges : polars.DataFrame, optional
        Schema RANGES, over the fits of a base: a claim that is open there is open here, whatever
        the one fit says whose results are given.

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
    CLAIMS.check(claims)
    RESULTS.check(results)
    TOLERANCES.check(tolerances)
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
    table = table.with_columns(simulated_verdict=_open_where(ranges)).with_columns(
        unit=pl.when(percent).then(pl.lit("%")).otherwise("unit")
    )
    return THREE_COLUMNS.check(table.select(THREE_COLUMNS.names()))


def held_against(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Set simulated counts beside those of a real kernel under the same workload.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema RESULTS; the mean over its seeds counts.
    medians : polars.DataFrame
        Schema MEDIANS, measured (`claims.medians`).

    Returns
    -------
    polars.DataFrame
        Schema MEASURED_COUNTS, one row per policy and metric that both have, in the order of the
        simulated ones. A count agrees within COUNT_TOLERANCE_PERCENT of the measured median.

    Raises
    ------
    InputError
        A table has another schema, or the two have no policy and metric in common.
    """
    RESULTS.check(simulated)
    MEDIANS.check(medians)
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
        raise InputError(
            "no policy and metric that both the simulation and the kernel have: "
            "give those of one experiment"
        )
    return MEASURED_COUNTS.check(frame.select(MEASURED_COUNTS.names()))


def _open_where(ranges: pl.DataFrame | None) -> pl.Expr:
    """Return the verdict on what was simulated, open where its range is."""
    verdict = pl.col("simulated_verdict")
    if ranges is None:
        return verdict
    too_wide = RANGES.check(ranges).filter(verdict="open")["claim"]
    judged = verdict.is_in(["agrees", "contradicts"])
    return (
        pl.when(judged & pl.col("claim").is_in(too_wide.to_list()))
        .then(pl.lit("open"))
        .otherwise(verdict.cast(pl.String))
        .cast(VERDICT.dtype)
    )


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
            .cast(VERDICT.dtype)
            .alias(f"{source}_verdict")
        )
        .drop("base_mean", "value_mean")
    )
