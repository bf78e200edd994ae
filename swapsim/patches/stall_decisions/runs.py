# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the mail's tests, and of the lab's, by one rule set each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

import polars as pl

from swapsim import claims, reclaim
from swapsim.claims.tables import RESULTS
from swapsim.frames.table import Table
from swapsim.patches.stall_decisions.mail import ELAPSED, KERNELS, PATCH
from swapsim.reclaim.parallelio import WARM_UP

TARGETS: Final = ("disk", "nfs")
"""Where the file is: in the mail's first table, and in its second."""

_LABELS: Final = {rules: kernel for kernel, rules in KERNELS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the mail's test, or of the lab's, by one rule set.

    ``constants`` are values of data/reclaim.csv, or data/reclaim-lab-guest.csv, and ``fields``
    values of the config, that differ from those of the test. ``iterations`` are rounds of each size
    in the mail's test, by default the mail's, and ``warm_up`` rounds come before them.
    """

    rules: str
    target: str = "disk"
    seed: int = 1
    iterations: int | None = None
    warm_up: int = WARM_UP
    constants: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> tuple[reclaim.ReclaimConfig, pl.DataFrame]:
        """Return the config and the constants."""
        found = reclaim.change_constants(reclaim.constants(), self.constants)
        nfs = self.target == "nfs"
        config = reclaim.parallelio(
            self.rules, found, nfs=nfs, iterations=self.iterations, seed=self.seed
        )
        files = config.files[WARM_UP - self.warm_up :]
        return replace(config, **{"files": files, **self.fields}), found


def mails_constants() -> dict[str, int]:
    """Return the values of data/reclaim.csv by name."""
    return dict(reclaim.constants().select("name", "value").iter_rows())


def labelled(rows: pl.DataFrame, table: Table, *labels: object) -> pl.DataFrame:
    """Return rows of a table whose first columns are labels of the run."""
    given = [pl.lit(label).alias(name) for name, label in zip(table.names(), labels, strict=False)]
    return rows.with_columns(given).select(table.names()).cast(table.schema)


def mail_rows(run: Run) -> pl.DataFrame:
    """Run the mail's test and return its rows under the names of CLAIMS (RESULTS)."""
    result = reclaim.run(*run.config())
    ops = reclaim.ops(result, run.warm_up)
    rows = pl.concat([ops, reclaim.vmstat(result), reclaim.iostat(result)])
    elapsed = pl.DataFrame({"metric": [ELAPSED], "value": [result.elapsed_ns / 1e9]})
    named = pl.concat([rows, elapsed]).with_columns(
        metric=pl.format("{}: {}", pl.lit(run.target), "metric"),
        unit=pl.col("metric").replace_strict(_units(), default="").cast(pl.String),
    )
    return claims.results(named, labels(run, _LABELS.get(run.rules, run.rules)))


def labels(run: Run, kernel: str) -> dict[str, str | int]:
    """Return the columns of RESULTS that all rows of a run share."""
    return {"patch": PATCH, "kernel": kernel, "policy": run.rules, "n_tasks": 1, "seed": run.seed}


@cache
def _units() -> dict[str, str]:
    rows = claims.published_tables().filter(patch=PATCH).select("metric", "unit").unique()
    return {**dict(rows.iter_rows()), ELAPSED: "s"}


def rows_of_target(results: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return the rows of one of the mail's tests, without the name of the test.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of `studies.tables` or `studies.steps`.
    target : {"disk", "nfs"}

    Returns
    -------
    polars.DataFrame
        Schema RESULTS.
    """
    name = f"{target}: "
    own = RESULTS.check(results).filter(pl.col("metric").str.starts_with(name))
    return own.with_columns(pl.col("metric").str.strip_prefix(name))
