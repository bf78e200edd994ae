# SPDX-License-Identifier: GPL-2.0-or-later
"""Published, simulated and measured figures compared, and judged by stored rules.

Tolerances are stored before a result is judged; the rule of `directions` was stored before the
first measured table of patch 03 (data/published/README.md).
"""

import re
from typing import Any, Final

import polars as pl

from swapsim.checks import checked
from swapsim.claims.rounds import difference
from swapsim.claims.tables import (
    CHANCES,
    CLAIMS,
    DIRECTIONS,
    MEDIANS,
    RANGE_OVER,
    RANGE_VERDICT,
    RESULTS,
    SIMULATED_CLAIMS,
    SOURCE,
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

NOT_DETERMINABLE_ABOVE: Final = 0.05
"""A claim is not determinable if two equal kernels change by at least as much, in its direction,
with more than this probability."""

STAYS_WITHIN_PERCENT: Final = 10.0
"""Largest change of what stays, in percent: a mail's words are rounded as well."""

FEWEST_ROUNDS: Final = 5
"""With 4 rounds, all have the same sign by chance one time in eight."""

_WORD: Final = re.compile(r"(falls|rises|stays)\b")


@checked
def three_columns(
    claims: pl.DataFrame,
    results: pl.DataFrame,
    tolerances: pl.DataFrame,
    simulated: pl.DataFrame | None = None,
    chances: pl.DataFrame | None = None,
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
    simulated : polars.DataFrame, optional
        Schema SIMULATED_CLAIMS, in place of simulated rows of the results.
    chances : polars.DataFrame, optional
        Schema CHANCES.

    Returns
    -------
    polars.DataFrame
        Schema THREE_COLUMNS, one row per claim, in the order of the claims. A result agrees if it
        lies no farther from the published figure than the tolerance. A simulated figure is open if
        `range_verdict` of its range is, unless that is over seeds; whatever it is, the claim is not
        determinable if its chance is above NOT_DETERMINABLE_ABOVE. A measured figure is also judged
        by `directions`.

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
    of_source = {source: results.filter(pl.col("source") == source) for source in SOURCE.words[1:]}
    if simulated is None:
        simulated = simulated_claims(claims, of_source["simulated"])
    chances = pl.DataFrame(schema=CHANCES.schema) if chances is None else chances
    relative = pl.col("change").is_not_null()
    table = (
        claims.with_columns(
            published=pl.coalesce("change", "value"),
            relative=relative,
            unit=pl.when(relative).then(pl.lit("%")).otherwise("unit"),
        )
        .join(tolerances.drop("note"), on="claim", how="left", maintain_order="left")
        .join(SIMULATED_CLAIMS.check(simulated), on="claim", how="left", maintain_order="left")
        .join(CHANCES.check(chances), on="claim", how="left", maintain_order="left")
        .join(
            _changes(claims, of_source["measured"], "measured"), on="claim", maintain_order="left"
        )
        .with_columns(simulated_verdict=_simulated_verdict(), size=_verdict_or_none("measured"))
    )
    return THREE_COLUMNS.check(
        _with_directions(table, claims, of_source["measured"]).select(THREE_COLUMNS.names())
    )


@checked
def simulated_claims(
    claims: pl.DataFrame, results: pl.DataFrame, *, over: str = "seed", at: str | int | None = None
) -> pl.DataFrame:
    """Return SIMULATED_CLAIMS: the figure of each claim by RESULTS, and its range over a column.

    The figure is the mean over all values of the column, or that of the value `at`; a range over
    ``seed`` is one over seeds, over ``policy`` one over fits of the same base.
    """
    RESULTS.check(results)
    chosen = results if at is None else results.filter(pl.col(over) == at)
    ends = _changes(claims, results, "end", over).group_by("claim")
    frame = (
        _changes(claims, chosen, "simulated")
        .drop_nulls()
        .join(
            ends.agg(low=pl.col("end").min(), high=pl.col("end").max()),
            on="claim",
            how="left",
            maintain_order="left",
        )
        .with_columns(
            range_over=pl.lit("seeds" if over == "seed" else "open constants", RANGE_OVER.dtype)
        )
    )
    return SIMULATED_CLAIMS.check(frame.select(SIMULATED_CLAIMS.names()))


@checked
def compare_counts(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare the means of simulated RESULTS with measured MEDIANS under the same workload.

    There is one row per policy and metric that both have. A count agrees within
    COUNT_TOLERANCE_PERCENT of the measured median. Without a common one it is an InputError.
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
        .with_columns(verdict=agreement(pl.col("apart_percent").abs() <= COUNT_TOLERANCE_PERCENT))
    )
    if frame.is_empty():
        raise InputError(
            "the simulation and the kernel have no policy and metric in common: "
            "give those of one experiment"
        )
    return frame.select(*keys, "simulated", "measured", "low", "high", "apart_percent", "verdict")


def agreement(within: pl.Expr) -> pl.Expr:
    """Return the VERDICT agrees where a condition is true, contradicts where it is false."""
    verdict = pl.when(within).then(pl.lit("agrees")).when(~within).then(pl.lit("contradicts"))
    return verdict.cast(VERDICT.dtype)


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


def _verdict_or_none(source: str) -> pl.Expr:
    """Return the VERDICT on a source's figures; "not simulated" or "not measured" without one."""
    return (
        pl.when(pl.col(source).is_null())
        .then(pl.lit(f"not {source}").cast(VERDICT.dtype))
        .otherwise(verdict_on(source))
    )


def _simulated_verdict() -> pl.Expr:
    """Return the VERDICT on the simulated figure, its range and the claim's own noise."""
    judged = verdict_on("simulated").is_in(["agrees", "contradicts"])
    over_constants = pl.col("range_over") != "seeds"
    return (
        pl.when(pl.col("simulated").is_null() | ~judged)
        .then(_verdict_or_none("simulated"))
        .when(pl.col("chance") > NOT_DETERMINABLE_ABOVE)
        .then(pl.lit("not determinable").cast(VERDICT.dtype))
        .when(over_constants & (range_verdict("low", "high") == "open"))
        .then(pl.lit("open").cast(VERDICT.dtype))
        .otherwise(verdict_on("simulated"))
    )


def _with_directions(
    table: pl.DataFrame, claims: pl.DataFrame, measured: pl.DataFrame
) -> pl.DataFrame:
    """Add the measured direction, and the verdict on direction and size."""
    found = directions(claims if measured.height else claims.head(0), measured).select(
        "claim",
        "claimed",
        direction="verdict",
        moved=pl.when(pl.col("base") != 0).then(100 * (pl.col("value") / pl.col("base") - 1)),
    )
    worst = (
        pl.when((pl.col("direction") == "contradicts") | (pl.col("size") == "contradicts"))
        .then(pl.lit("contradicts"))
        .when(pl.col("direction") == "open")
        .then(pl.lit("open"))
        .when((pl.col("direction") == "agrees") | (pl.col("size") == "agrees"))
        .then(pl.lit("agrees"))
        .otherwise(pl.col("size").cast(pl.String))
        .cast(VERDICT.dtype)
    )
    # A claim in words has no change of means: its measured figure is that of the medians.
    return (
        table.join(found, on="claim", how="left", maintain_order="left")
        .with_columns(measured_verdict=worst)
        .with_columns(
            measured=pl.coalesce("measured", "moved"),
            relative=pl.col("relative")
            | (pl.col("measured").is_null() & pl.col("moved").is_not_null()),
        )
    )


def _changes(claims: pl.DataFrame, results: pl.DataFrame, figure: str, *by: str) -> pl.DataFrame:
    """Return each claim's change (its value where it states no change), or null without results.

    With columns `by` there is a row for each of their values that has the results.
    """
    kernels = pl.col("locator").str.extract_groups(r"\| (?<base>[^|]+) -> (?<value>[^|]+)$")
    table = claims.select(
        "claim", "patch", "metric", "change", kernels.struct.rename_fields(["from", "to"])
    ).unnest("locator")
    means = (
        results.sort(pl.all())  # float sums depend on their order
        .group_by("patch", "metric", "kernel", *by, maintain_order=True)
        .agg(pl.col("value").mean())
    )
    keys = ["patch", "metric"]
    for side, more in (("to", ()), ("from", by)):
        table = table.join(
            means.rename({"kernel": side, "value": f"{side}_mean"}),
            on=[*keys, side, *more],
            how="left",
            maintain_order="left",
        )
    change = 100 * (pl.col("to_mean") - pl.col("from_mean")) / pl.col("from_mean")
    found = (
        pl.when(pl.col("change").is_null())
        .then("to_mean")
        .when(pl.col("from_mean") != 0)
        .then(change)
    )
    return table.select("claim", *by, found.alias(figure))


@checked
def range_verdict(low: str, high: str) -> pl.Expr:
    """Judge a range, of two columns, by the columns ``published`` and ``tolerance``.

    It ``misses`` if the figure lies farther outside than its tolerance; else it is ``open`` if it
    is wider than OPEN_BEYOND tolerances; else it ``holds`` if the figure lies in the range, and is
    ``near`` if the figure lies outside. Null without a figure or a tolerance.
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


@checked
def directions(claims: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Judge each claim of direction by the rounds of its two kernels.

    The direction of a claim is that of its printed change, or of its words. With falls and rises
    the result agrees if the interval of the paired difference lies on their side of zero, and
    contradicts if it lies on the other; with stays it agrees if the interval lies within
    STAYS_WITHIN_PERCENT of the base, and contradicts if it lies outside. All else is open, and so
    is each claim with fewer rounds than FEWEST_ROUNDS.
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
        rows.append({**labels, **found, "verdict": _on_direction(claimed, found)})
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


def _on_direction(claimed: str, found: dict[str, Any]) -> str:
    """Return the DIRECTION_VERDICT on a claim by the interval of the difference."""
    low, high = found["low"], found["high"]
    if found["rounds"] < FEWEST_ROUNDS:
        return "open"
    if claimed != "stays":
        return {claimed: "agrees", "either": "open"}.get(found["seen"], "contradicts")
    width = STAYS_WITHIN_PERCENT / 100 * abs(found["base"])
    if -width <= low and high <= width:
        return "agrees"
    return "contradicts" if low > width or high < -width else "open"
