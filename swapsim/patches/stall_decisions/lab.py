# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's runs by the rules of 2013: judged by the mail's claims, compared with the simulation.

The lab runs a small version of the mail's test: a pool of four fifths of memory, and a file whose
size is a multiple of the fifth that is left. Which rows are compared with the simulation, and
how, was fixed before the first simulation.
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.judging import agreement
from swapsim.claims.tables import (
    DIRECTIONS,
    DIRECTIONS_PARTED,
    MEDIANS_BY_SIZE,
    ORDER_IN_LAB,
    PAIRED,
    RESULTS,
    SIMULATED_AND_LAB,
)
from swapsim.ffi import STALL_RULES
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH, SIZES, STEPS
from swapsim.patches.stall_decisions.runs import rows_of_target

OF_SIZE: Final = r"^(.+)-([0-9.]+)$"
"""A metric of the lab that is counted for each size of the file."""


def as_mailed(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the lab's runs under the names of the mail: its three kernels, its rows."""
    kernels = {rules: kernel for kernel, rules in KERNELS.items()}
    mailed = {size: name for name, size in SIZES.items()}
    rows = RESULTS.check(measured).filter(pl.col("policy").is_in(list(kernels)))
    metric, size = (pl.col("metric").str.extract(OF_SIZE, group) for group in (1, 2))
    by_size = pl.col("metric").str.starts_with("Ops ")
    frame = rows.filter(by_size | size.is_null()).with_columns(
        kernel=pl.col("policy").replace_strict(kernels),
        metric=pl.when(size.is_null())
        .then(pl.format("disk: {}", "metric"))
        .otherwise(pl.format("disk: {}-{}", metric, size.replace(mailed))),
    )
    return RESULTS.check(frame)


# The lab runs a small version of the mail's test: a pool of four fifths of memory, and a file whose
# size is a multiple of the fifth that is left. Which rows are compared with the simulation, and
# how, was fixed before the first simulation.

EXPERIMENT: Final = "stall-rules"

AS_SET: Final = "as set"
"""The variant of the simulation in which each constant has its value."""

LAB_FACTOR: Final = 1.5
"""Maximum ratio between simulated and measured counts; fixed before the first run."""

LAB_ZERO: Final = {"pages": 32.0, "faults": 32.0, "sectors": 256.0, "1": 1.0, "s": 0.1, "%": 1.0}
"""By unit, a figure below this counts as this: a list of pages, one stall."""

ROWS: Final = (
    *("Kswapd pages scanned", "Kswapd pages reclaimed", "Kswapd efficiency"),
    *("Direct pages scanned", "Direct pages reclaimed"),
    *("Page writes file", "Page writes anon", "Page reclaim immediate"),
    *("Swap Ins", "Major Faults", "Sector Reads", "Sector Writes"),
    *("Stalls congestion_wait", "Time stalled"),
)
"""Simulated rows over all four sizes together."""

ROWS_BY_SIZE: Final = ("Ops memcachetest", "Ops io-duration", "Ops swaptotal")
"""Simulated rows of each size. Slab, inodes and the faults of other programs are not simulated."""

_DIRECTION: Final = ("base", "value", "verdict")


def measured_as_mailed() -> pl.DataFrame:
    """Return `as_mailed` of the shipped runs."""
    return as_mailed(claims.measured_results(EXPERIMENT))


def directions(measured: pl.DataFrame) -> pl.DataFrame:
    """Judge the mail's claims of direction by what a real 6.1 does with the rules of 2013.

    Parameters
    ----------
    measured : polars.DataFrame
        Schema RESULTS, of EXPERIMENT.

    Returns
    -------
    polars.DataFrame
        Schema DIRECTIONS.
    """
    stated = claims.published_claims().filter(patch=PATCH)
    return DIRECTIONS.check(claims.directions(stated, as_mailed(measured)))


def along_rules(measured: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return medians along all rule sets, by size of the file.

    Parameters
    ----------
    measured : polars.DataFrame
        Schema RESULTS, of EXPERIMENT.
    metrics : sequence of str
        Without their size.

    Returns
    -------
    polars.DataFrame
        Schema MEDIANS_BY_SIZE, in the order of the rule sets; a size is a multiple of the memory
        that the pool leaves.
    """
    metric, size = (pl.col("metric").str.extract(OF_SIZE, group) for group in (1, 2))
    chosen = RESULTS.check(measured).filter(metric.is_in(metrics))
    frame = (
        claims.medians(chosen)
        .with_columns(metric=metric, size=size)
        .sort(_rules_place(), "metric", "size")
    )
    return MEDIANS_BY_SIZE.check(frame.select(MEDIANS_BY_SIZE.names()))


STEPS_IN_THE_LAB: Final = (
    *("Kswapd pages scanned", "Direct pages scanned", "Kswapd efficiency"),
    *("Page writes file", "Page writes anon", "Stalls congestion_wait"),
    *("Stalls wait_iff_congested", "Ops memcachetest-2.84", "Ops io-duration-2.84"),
)
"""Metrics of the lab whose steps are shown."""


def steps(measured: pl.DataFrame, metrics: Sequence[str] = STEPS_IN_THE_LAB) -> pl.DataFrame:
    """Return what each of the eight patches changes, compared with the state before it.

    Parameters
    ----------
    measured : polars.DataFrame
        Schema RESULTS, of EXPERIMENT.
    metrics : sequence of str

    Returns
    -------
    polars.DataFrame
        Schema PAIRED.
    """
    return PAIRED.check(claims.steps(measured, STEPS, metrics))


_STEPS_SIMULATED: Final = (
    *("Kswapd pages scanned", "Direct pages scanned", "Kswapd efficiency"),
    *("Page writes file", "Swap Outs", "Page reclaim immediate"),
    *("Ops memcachetest-2385M", "Ops io-duration-4055M"),
)
"""Metrics of the simulation of the mail's machine whose steps are shown."""


def simulated_steps(results: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return what each of the eight patches changes in the simulation of one of the mail's tests.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of `studies.steps`.
    target : {"disk", "nfs"}

    Returns
    -------
    polars.DataFrame
        Schema PAIRED.
    """
    return steps(rows_of_target(results, target), _STEPS_SIMULATED)


def compare_with_lab(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Compare each simulated row with the lab's, by rule set.

    Parameters
    ----------
    simulated, measured : polars.DataFrame
        Schema RESULTS: of `studies.lab_guest`, one kernel per variant, and of EXPERIMENT.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_AND_LAB, in the order of ROWS_BY_SIZE, ROWS and the rule sets.
    """
    ours = claims.medians(_modelled(simulated).filter(kernel=AS_SET))
    open_ones = (
        _medians(_modelled(simulated))
        .group_by("metric", "policy")
        .agg(open_low=pl.col("median").min(), open_high=pl.col("median").max())
    )
    theirs = claims.medians(_modelled(measured)).select(
        "metric", "policy", measured="median", measured_low="low", measured_high="high"
    )
    frame = (
        ours.rename({"median": "simulated"})
        .join(open_ones, on=["metric", "policy"])
        .join(theirs, on=["metric", "policy"])
        .with_columns(factor=_factor("simulated", "measured"))
        .with_columns(near=pl.col("factor") <= LAB_FACTOR)
        .sort(*_place(), _rules_place())
    )
    return SIMULATED_AND_LAB.check(frame.select(SIMULATED_AND_LAB.names()))


def compare_orders(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Compare the order of the rule sets, by each two of them that the lab distinguishes in a row.

    The lab distinguishes two rule sets if the intervals of their medians do not overlap. The
    simulation has to have the higher one higher.

    Parameters
    ----------
    simulated, measured : polars.DataFrame
        As for `compare_with_lab`.

    Returns
    -------
    polars.DataFrame
        Schema ORDER_IN_LAB.
    """
    theirs = claims.medians(_modelled(measured)).with_columns(place=_rules_place().to_physical())
    apart = (pl.col("low") > pl.col("high_other")) | (pl.col("high") < pl.col("low_other"))
    pairs = (
        theirs.join(theirs, on="metric", suffix="_other")
        .filter(pl.col("place") < pl.col("place_other"))
        .select("metric", "policy", "policy_other", apart=apart, rise=_rise())
    )
    ours = _medians(_modelled(simulated)).drop("unit")
    frame = (
        pairs.join(ours, on=["metric", "policy"])
        .join(
            ours,
            left_on=["kernel", "metric", "policy_other"],
            right_on=["kernel", "metric", "policy"],
            suffix="_other",
        )
        .group_by("metric", "kernel")
        .agg(
            pairs=pl.col("apart").sum(), right=(pl.col("apart") & (_rise() == pl.col("rise"))).sum()
        )
        .group_by("metric")
        .agg(
            pl.col("pairs").first(),
            in_order=pl.col("right").filter(kernel=AS_SET).first(),
            open_low=pl.col("right").min(),
            open_high=pl.col("right").max(),
        )
        .with_columns(verdict=agreement(pl.col("in_order") == pl.col("pairs")))
        .sort(*_place())
    )
    return ORDER_IN_LAB.check(frame.cast(ORDER_IN_LAB.schema))


def _rise() -> pl.Expr:
    """Return -1, 0 or 1: how a median compares with that of the other rule set."""
    return (pl.col("median_other") - pl.col("median")).sign()


def by_variant(simulated: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Return the medians of a row in each variant of the simulation, a column per rule set.

    Parameters
    ----------
    simulated : polars.DataFrame
        As for `compare_with_lab`.
    metric : str

    Returns
    -------
    polars.DataFrame
        ``variant``, and a Float64 column per rule set.
    """
    medians = _medians(RESULTS.check(simulated).filter(metric=metric))
    wide = medians.pivot("policy", index="kernel", values="median", maintain_order=True)
    return wide.select(pl.col("kernel").alias("variant"), *STALL_RULES)


def parted_directions(simulated: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Return the mail's claims of direction that simulation and lab judge differently.

    Parameters
    ----------
    simulated, measured : polars.DataFrame
        As for `compare_with_lab`.

    Returns
    -------
    polars.DataFrame
        Schema DIRECTIONS_PARTED.
    """
    ours = directions(simulated.filter(kernel=AS_SET)).select(
        "claim", *(pl.col(name).alias(f"simulated_{name}") for name in _DIRECTION)
    )
    both = directions(measured).join(ours, on="claim", maintain_order="left")
    frame = both.filter(pl.col("verdict") != pl.col("simulated_verdict")).select(
        "claim",
        "claimed",
        measured=_from_to("base", "value"),
        measured_verdict="verdict",
        simulated=_from_to("simulated_base", "simulated_value"),
        simulated_verdict="simulated_verdict",
    )
    return DIRECTIONS_PARTED.check(frame)


def _from_to(base: str, value: str) -> pl.Expr:
    return pl.format("{} -> {}", *(pl.col(name).round_sig_figs(3) for name in (base, value)))


def _modelled(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that are simulated."""
    of_all = pl.col("metric").is_in(ROWS)
    by_size = _without_size().is_in(ROWS_BY_SIZE) & (pl.col("metric") != "Ops io-duration-0")
    return RESULTS.check(results).filter(of_all | by_size)


def _medians(simulated: pl.DataFrame) -> pl.DataFrame:
    labels = ("kernel", "metric", "policy", "unit")
    return simulated.group_by(labels, maintain_order=True).agg(median=pl.col("value").median())


def _without_size() -> pl.Expr:
    return pl.coalesce(pl.col("metric").str.extract(OF_SIZE, 1), "metric")


def _place() -> tuple[pl.Expr, pl.Expr]:
    return _without_size().cast(pl.Enum([*ROWS_BY_SIZE, *ROWS])), pl.col("metric")


def _rules_place() -> pl.Expr:
    return pl.col("policy").cast(pl.Enum(STALL_RULES))


def _factor(one: str, other: str) -> pl.Expr:
    """Return the larger figure divided by the smaller one, each at least LAB_ZERO of its unit."""
    zero = pl.col("unit").replace_strict(LAB_ZERO, default=1.0, return_dtype=pl.Float64)
    least, most = pl.min_horizontal(one, other), pl.max_horizontal(one, other)
    return pl.max_horizontal(most, zero) / pl.max_horizontal(least, zero)
