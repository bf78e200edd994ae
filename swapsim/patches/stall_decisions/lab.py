# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's runs by the rules of 2013, under the names of the mail, and judged by its claims.

The lab runs a small version of the mail's test: a pool of four fifths of memory, and a file whose
size is a multiple of the fifth that is left.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import RESULTS
from swapsim.ffi import STALL_RULES
from swapsim.io.paths import data_root
from swapsim.patches.stall_decisions.mail import KERNELS, SIZES, STEPS

EXPERIMENT: Final = "stall-rules"

EXPERIMENTS: Final = {"disk": EXPERIMENT, "nfs": f"{EXPERIMENT}-nfs"}
"""The lab's experiments by the target of the mail's tables."""

TWO_ZONES: Final = f"{EXPERIMENT}-two-zones"  # the test on the disk in a memory of two zones

LARGEST_TURN: Final = "largest mean of a turn of 20 to 25 s"
"""What stands for the mail's maximum over samples of 10 s."""

OVER_NFS: Final = "client and server in one guest"
"""What differs from the mail's test over NFS: the server's own threads stall."""

BY_ZONE: Final = "pages allocated in each of two zones"
"""What stands for a zone's scans: 6.1 scans and counts by node."""

OF_SIZE: Final = r"^(.+)-([0-9.]+)$"
"""A metric of the lab that is counted for each size of the file."""


def measured_as_mailed() -> pl.DataFrame:
    """Return `as_mailed` of the shipped runs, on the disk and over NFS."""
    return pl.concat(as_mailed(rows, target) for target, rows in _shipped().items())


def largest_turns() -> pl.DataFrame:
    """Return `largest_of_turns` of the shipped runs under the names of the mail."""
    rows = _shipped().items()
    return pl.concat(as_mailed(largest_of_turns(found), target) for target, found in rows)


def zones_as_mailed() -> pl.DataFrame:
    """Return pages allocated by zone, under the mail's names of the zones' velocities."""
    named = {
        f"Pages allocated {zone}": f"Zone {zone.lower()} velocity" for zone in ("Normal", "DMA32")
    }
    measured = claims.measured_results(TWO_ZONES).filter(pl.col("metric").is_in(list(named)))
    return as_mailed(measured.with_columns(pl.col("metric").replace_strict(named)))


def largest_of_turns(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the largest mean wait and queue of a run's turns, as the mail's maxima."""
    row, size = (pl.col("metric").str.extract(OF_SIZE, group) for group in (1, 2))
    turns = measured.filter(row.str.starts_with("Mean sda-"), size.is_not_null())
    keys = [name for name in RESULTS.names() if name != "value"]
    return (
        turns.with_columns(metric=row.str.replace("^Mean", "Max"))
        .group_by(keys, maintain_order=True)
        .agg(pl.col("value").max())
        .select(RESULTS.names())
    )


def _shipped() -> Mapping[str, pl.DataFrame]:
    """Return the runs of each experiment that is stored, by target."""
    stored = {
        t: name for t, name in EXPERIMENTS.items() if (data_root() / "measured" / name).is_dir()
    }
    return {target: claims.measured_results(name) for target, name in stored.items()}


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
    found = claims.steps(results, STEPS, metrics)
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
