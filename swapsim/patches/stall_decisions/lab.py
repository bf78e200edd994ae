# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's runs by the rules of 2013, under the names of the mail, and judged by its claims.

The lab runs a small version of the mail's test: a pool of four fifths of memory, and a file whose
size is a multiple of the fifth that is left.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from swapsim.ffi import STALL_RULES
from swapsim.io import data_root
from swapsim.patches import rounds
from swapsim.patches.stall_decisions.mail import KERNELS, SIZES, STEPS
from swapsim.published import data
from swapsim.published.data import RESULTS

EXPERIMENT: Final = "stall-rules"

EXPERIMENTS: Final = {"disk": EXPERIMENT, "nfs": f"{EXPERIMENT}-nfs"}
"""The lab's experiments by the target of the mail's tables."""


OF_SIZE: Final = r"^(.+)-([0-9.]+)$"
"""A metric of the lab that is counted for each size of the file."""


def measured_as_mailed() -> pl.DataFrame:
    """Return `as_mailed` of the shipped runs, on the disk and over NFS."""
    return pl.concat(as_mailed(rows, target) for target, rows in _shipped().items())


def _shipped() -> Mapping[str, pl.DataFrame]:
    """Return the runs of each experiment that is stored, by target."""
    stored = {
        t: name for t, name in EXPERIMENTS.items() if (data_root() / "measured" / name).is_dir()
    }
    return {target: data.measured_results(name) for target, name in stored.items()}


def as_mailed(measured: pl.DataFrame, target: str = "disk") -> pl.DataFrame:
    """Return the lab's runs under the names of the mail: its three kernels, its rows."""
    kernels = {rules: kernel for kernel, rules in KERNELS.items()}
    mailed = {size: name for name, size in SIZES.items()}
    rows = RESULTS.check(measured).filter(pl.col("policy").is_in(list(kernels)))
    metric, size = (pl.col("metric").str.extract(OF_SIZE, group) for group in (1, 2))
    by_size = pl.col("metric").str.starts_with("Ops ")
    return rows.filter(by_size | size.is_null()).with_columns(
        kernel=pl.col("policy").replace_strict(kernels),
        metric=pl.when(size.is_null())
        .then(pl.format("{}: {}", pl.lit(target), "metric"))
        .otherwise(pl.format("{}: {}-{}", pl.lit(target), metric, size.replace(mailed))),
    )


def in_order_of_rules() -> pl.Expr:
    """Return a rule set's place in the order of age."""
    return pl.col("policy").cast(pl.Enum(STALL_RULES))


def steps(results: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return what each of the eight patches changes against the state before it (`steps`).

    ``text`` is the change in percent, or both figures if the first is zero and the other is not;
    "<0.05 %" is a small change of either sign.
    """
    found = rounds.steps(results, STEPS, metrics)
    change = 100 * (pl.col("value") - pl.col("base")) / pl.col("base")
    return found.with_columns(
        text=pl.when((pl.col("base") == 0) & (pl.col("value") == 0))
        .then(pl.lit("0"))
        .when(pl.col("base") == 0)
        .then(pl.format("0 to {}", pl.col("value").round_sig_figs(3).cast(pl.Int64)))
        .when(change.abs() >= 1)
        .then(pl.format("{} %", _signed(change.round().cast(pl.Int64, strict=False))))
        .when(change.abs() >= 0.05)
        .then(pl.format("{} %", _signed(change.round(1))))
        .when(change != 0)
        .then(pl.lit("<0.05 %"))
        .otherwise(pl.lit("0 %"))
    )


def _signed(value: pl.Expr) -> pl.Expr:
    return pl.format("{}{}", pl.when(value > 0).then(pl.lit("+")).otherwise(pl.lit("")), value)
