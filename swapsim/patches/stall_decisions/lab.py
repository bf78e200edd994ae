# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's runs by the rules of 2013, under the names of the mail, and judged by its claims.

The lab runs a small version of the mail's test: a pool of four fifths of memory, and a file whose
size is a multiple of the fifth that is left.
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import RESULTS, SOURCE
from swapsim.ffi import STALL_RULES
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH, SIZES, STEPS

EXPERIMENT: Final = "stall-rules"

OF_SIZE: Final = r"^(.+)-([0-9.]+)$"
"""A metric of the lab that is counted for each size of the file."""


def measured_as_mailed() -> pl.DataFrame:
    """Return `as_mailed` of the shipped runs."""
    return as_mailed(claims.measured_results(EXPERIMENT))


def as_mailed(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the lab's runs under the names of the mail: its three kernels, its rows."""
    kernels = {rules: kernel for kernel, rules in KERNELS.items()}
    mailed = {size: name for name, size in SIZES.items()}
    rows = RESULTS.check(measured).filter(pl.col("policy").is_in(list(kernels)))
    metric, size = (pl.col("metric").str.extract(OF_SIZE, group) for group in (1, 2))
    by_size = pl.col("metric").str.starts_with("Ops ")
    return rows.filter(by_size | size.is_null()).with_columns(
        kernel=pl.col("policy").replace_strict(kernels),
        metric=pl.when(size.is_null())
        .then(pl.format("disk: {}", "metric"))
        .otherwise(pl.format("disk: {}-{}", metric, size.replace(mailed))),
    )


def directions(measured: pl.DataFrame) -> pl.DataFrame:
    """Judge the mail's claims of direction by runs under the lab's names.

    Each claim has its direction ``claimed``, ``figure`` (the change in percent, or the difference
    from a base of zero) with its interval, ``base``, ``value``, ``rounds`` and the ``verdict``.
    Simulated runs of the lab's guest are judged as measured ones are.
    """
    stated = claims.published_claims().filter(patch=PATCH)
    own = as_mailed(measured).with_columns(source=pl.lit("measured", SOURCE.dtype))
    found = claims.answers(stated, own).filter(range_over="interval")
    judged = claims.three_columns(stated, found, claims.tolerances())
    return found.select("claim", "base", "value", "figure", "low", "high", "rounds").join(
        judged.select("claim", "claimed", "published", verdict="measured_verdict"),
        on="claim",
        maintain_order="left",
    )


def in_order_of_rules(column: str = "policy") -> pl.Expr:
    """Return a rule set's place in the order of age."""
    return pl.col(column).cast(pl.Enum(STALL_RULES))


def steps(results: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return what each of the eight patches changes against the state before it (`steps`).

    ``text`` is the change in percent, or the figure where it was zero.
    """
    found = claims.steps(results, STEPS, metrics)
    change = 100 * (pl.col("value") - pl.col("base")) / pl.col("base")
    return found.with_columns(
        text=pl.when(pl.col("base") == 0)
        .then(_signed(pl.col("value").round_sig_figs(3).cast(pl.Int64)))
        .when(change.abs() >= 1)
        .then(pl.format("{} %", _signed(change.round().cast(pl.Int64, strict=False))))
        .when(change.abs() >= 0.05)
        .then(pl.format("{} %", _signed(change.round(1))))
        .otherwise(pl.lit("0 %"))
    )


def _signed(value: pl.Expr) -> pl.Expr:
    return pl.format("{}{}", pl.when(value > 0).then(pl.lit("+")).otherwise(pl.lit("")), value)
