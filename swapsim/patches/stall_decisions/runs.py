# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the mail's tests, and of the lab's, by one rule set each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

import polars as pl

from swapsim import claims, reclaim
from swapsim.patches.stall_decisions.mail import ELAPSED, KERNELS, PATCH

TARGETS: Final = ("disk", "nfs")  # where the file is: in the mail's first table, and in its second
_Type = pl.DataType | type[pl.DataType]

_LABELS: Final = {rules: kernel for kernel, rules in KERNELS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the mail's test, or of the lab's, by one rule set.

    ``constants`` are values of data/reclaim.csv, or data/reclaim-lab-guest.csv, and ``fields``
    values of the config, that differ from those of the test. ``iterations`` are rounds of each size
    in the mail's test, by default the mail's.
    """

    rules: str
    target: str = "disk"
    seed: int = 1
    iterations: int | None = None
    constants: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> tuple[reclaim.ReclaimConfig, pl.DataFrame]:
        """Return the config and the constants."""
        found = reclaim.change_constants(reclaim.constants(), self.constants)
        nfs = self.target == "nfs"
        config = reclaim.parallelio(
            self.rules, found, nfs=nfs, iterations=self.iterations, seed=self.seed
        )
        return replace(config, **self.fields), found


def mails_constants() -> dict[str, int]:
    """Return the values of data/reclaim.csv by name."""
    return dict(reclaim.constants().select("name", "value").iter_rows())


def labelled(rows: pl.DataFrame, schema: Mapping[str, _Type], *labels: object) -> pl.DataFrame:
    """Return rows of a schema whose first columns are labels of the run."""
    given = [pl.lit(label).alias(name) for name, label in zip(schema, labels, strict=False)]
    return rows.with_columns(given).select(*schema).cast(pl.Schema(schema))


def mail_rows(run: Run) -> pl.DataFrame:
    """Run the mail's test and return its rows under the names of CLAIMS (RESULTS)."""
    result = reclaim.run(*run.config())
    rows = pl.concat([reclaim.ops(result), reclaim.vmstat(result), reclaim.iostat(result)])
    elapsed = pl.DataFrame({"metric": [ELAPSED], "value": [result.elapsed_ns / 1e9]})
    named = pl.concat([rows, elapsed]).with_columns(
        metric=pl.format("{}: {}", pl.lit(run.target), "metric"),
        unit=pl.col("metric").replace_strict(_units(), default="").cast(pl.String),
    )
    return claims.results(named, labels(run, _LABELS.get(run.rules, run.rules)))


def rounds_until_file(run: Run) -> Run:
    """Return a run that ends with the round of its first file, for a sample of its study."""
    files = run.config()[0].files
    last = next(number for number, pages in enumerate(files) if pages)
    return replace(run, fields={**run.fields, "files": files[: last + 1]})


def labels(run: Run, kernel: str) -> dict[str, str | int]:
    """Return the columns of RESULTS that all rows of a run share."""
    return {"patch": PATCH, "kernel": kernel, "policy": run.rules, "n_tasks": 1, "seed": run.seed}


@cache
def _units() -> dict[str, str]:
    rows = claims.published_tables().filter(patch=PATCH).select("metric", "unit").unique()
    return {**dict(rows.iter_rows()), ELAPSED: "s"}
