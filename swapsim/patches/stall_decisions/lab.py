# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's Linux 6.1 with the rules of 2013: its runs in the words of the mail, and step by step.

The lab makes the mail's test small: a pool of four fifths of memory, and a file beside it whose
size is a multiple of the fifth that is left.
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import DIRECTIONS, MEDIANS_BY_SIZE, PAIRED, RESULTS
from swapsim.ffi import facts
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH

EXPERIMENT: Final = "stall-rules"

SIZES: Final = {"0M": "0", "715M": "0.5", "2385M": "1.67", "4055M": "2.84"}
"""The mail's files, and what they are of the memory beside the pool."""

STEPS: Final = tuple(
    name for name in facts.STALL_RULES if name == "mmotm" or name.startswith("series")
)
"""The base, and each state of the series: a patch a step."""

_OF_SIZE: Final = r"^(.+)-([0-9.]+)$"


def as_mailed(measured: pl.DataFrame) -> pl.DataFrame:
    """Call the lab's runs by the names of the mail: its three kernels, its rows.

    Parameters
    ----------
    measured : polars.DataFrame
        Schema RESULTS, of EXPERIMENT.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS. Rows that the mail prints by size are those of the lab's sizes; the others
        are of all four together, as there.
    """
    kernels = {rules: kernel for kernel, rules in KERNELS.items()}
    mailed = {size: name for name, size in SIZES.items()}
    rows = RESULTS.check(measured).filter(pl.col("policy").is_in(list(kernels)))
    metric, size = (pl.col("metric").str.extract(_OF_SIZE, group) for group in (1, 2))
    by_size = pl.col("metric").str.starts_with("Ops ")
    frame = rows.filter(by_size | size.is_null()).with_columns(
        kernel=pl.col("policy").replace_strict(kernels),
        metric=pl.when(size.is_null())
        .then(pl.format("disk: {}", "metric"))
        .otherwise(pl.format("disk: {}-{}", metric, size.replace(mailed))),
    )
    return RESULTS.check(frame)


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
    """Take medians along all rule sets, by size of the file.

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
        beside the pool.
    """
    metric, size = (pl.col("metric").str.extract(_OF_SIZE, group) for group in (1, 2))
    chosen = RESULTS.check(measured).filter(metric.is_in(metrics))
    frame = (
        claims.medians(chosen)
        .with_columns(metric=metric, size=size)
        .sort(pl.col("policy").cast(pl.Enum(facts.STALL_RULES)), "metric", "size")
    )
    return MEDIANS_BY_SIZE.check(frame.select(MEDIANS_BY_SIZE.names()))


def steps(measured: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Say what each of the eight patches changes, against the one before it.

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
