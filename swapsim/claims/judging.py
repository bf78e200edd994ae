# SPDX-License-Identifier: GPL-2.0-or-later
"""Published, simulated and measured figures compared, and judged by stored rules.

Tolerances are stored before a result is judged; the rule of `directions` was stored before the
first measured table of patch 03 (data/published/README.md).
"""

import re
from typing import Any, Final

import polars as pl

from swapsim.claims.rounds import difference
from swapsim.claims.tables import (
    CLAIMS,
    DIRECTIONS,
    MEASURED_COUNTS,
    MEDIANS,
    RANGE_VERDICT,
    RANGES,
    RESULTS,
    THREE_COLUMNS,
    TOLERANCES,
    VERDICT,
)
from swapsim.errors import InputError

COUNT_TOLERANCE_PERCENT: Final = 5.0
"""Largest difference of a simulated count that agrees, in percent; set before the first run."""

OPEN_BEYOND: Final = 2.0
"""Widest range that is not open, in tolerances: the published figure is known to one tolerance
to either side. Set before the first fits that it judged."""

STAYS_WITHIN_PERCENT: Final = 10.0
"""Largest change of what stays, in percent: a mail's words are rounded as well."""

FEWEST_ROUNDS: Final = 5
"""With 4 rounds, all have the same sign by chance one time in eight."""

_WORD: Final = re.compile(r"(falls|rises|stays)\b")


def three_columns(
    claims: pl.DataFrame,
    results: pl.DataFrame,
    tolerances: pl.DataFrame,
    ranges: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Compare each claim with what was simulated and measured, and judge both.

    The comparison is of the claim's change in percent, or of its value where it has no change. A
    result's change is that of the means, over its seeds, policies and task numbers, at the two
    kernels of the claim's locator; filter the results first if they hold more than one set-up.

    Parameters
    ----------
    claims : polars.DataFrame
        Schema CLAIMS.
    results : polars.DataFrame
        Schema RESULTS; patch, metric and kernel as in the claims, no row of source published.
    tolerances : polars.DataFrame
        Schema TOLERANCES; a claim without a row here is not judged.
    ranges : polars.DataFrame, optional
        Schema RANGES, over the fits of a base: a claim that is open there is open here, too.

    Returns
    -------
    polars.DataFrame
        Schema THREE_COLUMNS, one row per claim, in the order of the claims. A result agrees if it
        lies no farther from the published figure than the tolerance.

    Raises
    ------
    InputError
        A table does not have its schema, or results hold published rows.
    """
    CLAIMS.check(claims)
    RESULTS.check(results)
    TOLERANCES.check(tolerances)
    if (results["source"] == "published").any():
        raise InputError("has published rows: drop them, the claims hold them", field="source")
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


def compare_counts(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare simulated counts with those of a real kernel under the same workload.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema RESULTS; means over the seeds are compared.
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
    frame = (
        simulated.select(keys)
        .unique(maintain_order=True)
        .join(means, on=keys, how="left", maintain_order="left")
        .join(medians, on=keys, how="inner", maintain_order="left")
        .rename({"median": "measured"})
        .with_columns(
            apart_percent=100 * (pl.col("simulated") - pl.col("measured")) / pl.col("measured")
        )
        .with_columns(agrees=pl.col("apart_percent").abs() <= COUNT_TOLERANCE_PERCENT)
    )
    if frame.is_empty():
        raise InputError(
            "the simulation and the kernel have no policy and metric in common: "
            "give those of one experiment"
        )
    return MEASURED_COUNTS.check(frame.select(MEASURED_COUNTS.names()))


def verdict_on(figure: str) -> pl.Expr:
    """Return the VERDICT on the figures of a column, by the published ones and their tolerances."""
    off = (pl.col(figure) - pl.col("published")).abs()
    return (
        pl.when(pl.col("published").is_null() | pl.col("tolerance").is_null())
        .then(pl.lit("not judged"))
        .when(off <= pl.col("tolerance"))
        .then(pl.lit("agrees"))
        .otherwise(pl.lit("contradicts"))
        .cast(VERDICT.dtype)
    )


def _open_where(ranges: pl.DataFrame | None) -> pl.Expr:
    """Return the verdict on the simulated figure, which is open where its range is."""
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
            .then(pl.lit(f"not {source}").cast(VERDICT.dtype))
            .otherwise(verdict_on(source))
            .alias(f"{source}_verdict")
        )
        .drop("base_mean", "value_mean")
    )


def range_verdict(low: str, high: str) -> pl.Expr:
    """Judge a range by the published figure and its tolerance.

    Parameters
    ----------
    low, high : str
        Names of the columns with the ends of the range; the frame also has the columns
        ``published`` and ``tolerance``.

    Returns
    -------
    polars.Expr
        ``misses`` if the figure lies farther outside than its tolerance; else ``open`` if the range
        is wider than OPEN_BEYOND tolerances; else ``holds`` if the figure lies in the range, and
        ``near`` if it lies outside. Null without a figure or a tolerance.
    """
    figure, tolerance = pl.col("published"), pl.col("tolerance")
    within_tolerance = figure.is_between(pl.col(low) - tolerance, pl.col(high) + tolerance)
    too_wide = pl.col(high) - pl.col(low) > OPEN_BEYOND * tolerance
    verdict = (
        pl.when(~within_tolerance)
        .then(pl.lit("misses"))
        .when(too_wide)
        .then(pl.lit("open"))
        .when(figure.is_between(low, high))
        .then(pl.lit("holds"))
        .when(within_tolerance)
        .then(pl.lit("near"))
    )
    return verdict.cast(RANGE_VERDICT.dtype)


def directions(claims: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Judge each claim of direction by the rounds of its two kernels.

    The direction of a claim is that of its printed change, or of its words. Falls and rises hold if
    the interval of the paired difference lies on their side of zero, and are contradicted if it
    lies on the other; stays holds if it lies within STAYS_WITHIN_PERCENT of the base, and is
    contradicted if it lies outside. All else is open, and so is each claim with fewer rounds than
    FEWEST_ROUNDS.

    Parameters
    ----------
    claims : polars.DataFrame
        Schema CLAIMS.
    measured : polars.DataFrame
        Schema RESULTS: patch, metric and kernel as in the claims, seed is the round.

    Returns
    -------
    polars.DataFrame
        Schema DIRECTIONS, in the order of the claims; those without a direction or without a
        measurement are left out.

    Raises
    ------
    InputError
        A table has another schema, or a round occurs twice.
    """
    CLAIMS.check(claims)
    RESULTS.check(measured)
    if measured.select("patch", "metric", "kernel", "seed").is_duplicated().any():
        raise InputError("a round occurs twice: give one set-up", field="seed")
    rows = []
    for claim in claims.iter_rows(named=True):
        claimed = claimed_direction(claim)
        where, row, kernels = claim["locator"].split(" | ")
        if not where.startswith("prose"):
            row = claim["metric"]
        row, _, base_row = row.partition(" against ")
        base_kernel, value_kernel = kernels.split(" -> ")
        base, value = (
            measured.filter(patch=claim["patch"], metric=metric, kernel=kernel)
            for metric, kernel in ((base_row or row, base_kernel), (row, value_kernel))
        )
        found = difference(base.select("seed", "value"), value.select("seed", "value"))
        if claimed is None or found is None:
            continue
        labels = {"claim": claim["claim"], "row": row, "published": claim["change"]}
        labels |= {"base_kernel": base_kernel, "value_kernel": value_kernel, "claimed": claimed}
        says = _says(claimed, found)
        verdict = "open" if found["rounds"] < FEWEST_ROUNDS else _VERDICTS[says]
        rows.append({**labels, **found, "says": says, "verdict": verdict})
    return DIRECTIONS.check(pl.DataFrame(rows, schema=DIRECTIONS.schema))


def claimed_direction(claim: dict[str, object]) -> str | None:
    """Return the direction of a row of CLAIMS: falls, rises, stays, or None if it states none."""
    word = _WORD.match(str(claim["metric"]).rpartition(": ")[2])
    if word:
        return word[1]
    change, base, value = (claim[name] for name in ("change", "base", "value"))
    if isinstance(change, float):
        if abs(change) <= STAYS_WITHIN_PERCENT:
            return "stays"
        return "falls" if change < 0 else "rises"
    if isinstance(base, float) and isinstance(value, float):
        return "stays" if value == base else "rises"  # above a base of zero there is no percent
    return None


_VERDICTS: Final = {"for": "holds", "against": "contradicted", "neither": "open"}


def _says(claimed: str, found: dict[str, Any]) -> str:
    """Return whether the interval of the difference speaks for a claim, against it, or neither."""
    low, high = found["low"], found["high"]
    if claimed != "stays":
        return {claimed: "for", "either": "neither"}.get(found["seen"], "against")
    width = STAYS_WITHIN_PERCENT / 100 * abs(found["base"])
    if -width <= low and high <= width:
        return "for"
    return "against" if low > width or high < -width else "neither"
