# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the mail's tests by one rule set each, and one round over time."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

import polars as pl

from swapsim.patches.stall_decisions.mail import ELAPSED, KERNELS, PATCH
from swapsim.published import data
from swapsim.reclaim import (
    MIB_PAGES,
    SECOND_NS,
    ReclaimConfig,
    change_constants,
    config_of,
    constants,
    run_config,
)

TARGETS: Final = ("disk", "nfs")  # where the file is: in the mail's first table, and in its second
_Type = pl.DataType | type[pl.DataType]

_LABELS: Final = {rules: kernel for kernel, rules in KERNELS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the mail's test by one rule set.

    ``constants`` are values of data/reclaim.csv, and ``fields`` values of the config, that differ
    from those of the test. ``iterations`` are rounds of each size
    in the mail's test, by default the mail's.
    """

    rules: str
    target: str = "disk"
    seed: int = 1
    iterations: int | None = None
    constants: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> tuple[ReclaimConfig, pl.DataFrame]:
        """Return the config and the constants."""
        found = change_constants(constants(), self.constants)
        nfs = self.target == "nfs"
        config = config_of(self.rules, found, nfs=nfs, iterations=self.iterations, seed=self.seed)
        return replace(config, **self.fields), found


def mails_constants() -> dict[str, int]:
    """Return the values of data/reclaim.csv by name."""
    return dict(constants().select("name", "value").iter_rows())


def labelled(rows: pl.DataFrame, schema: Mapping[str, _Type], *labels: object) -> pl.DataFrame:
    """Return rows of a schema whose first columns are labels of the run."""
    given = [pl.lit(label).alias(name) for name, label in zip(schema, labels, strict=False)]
    return rows.with_columns(given).select(*schema).cast(pl.Schema(schema))


def mail_rows(run: Run) -> pl.DataFrame:
    """Run the mail's test and return its rows under the names of CLAIMS (RESULTS)."""
    result = run_config(*run.config())
    elapsed = pl.DataFrame({"metric": [ELAPSED], "value": [result.elapsed_ns / 1e9]})
    named = pl.concat([result.rows, elapsed]).with_columns(
        metric=pl.format("{}: {}", pl.lit(run.target), "metric"),
        unit=pl.col("metric").replace_strict(_units(), default="").cast(pl.String),
    )
    return data.results(named, labels(run, _LABELS.get(run.rules, run.rules)))


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
    rows = data.published_tables().filter(patch=PATCH).select("metric", "unit").unique()
    return {**dict(rows.iter_rows()), ELAPSED: "s"}


FILE_PAGES: Final = 2385 * MIB_PAGES
"""The mail's second file, 1.67 times the memory that the pool leaves: the first that makes 3.9
collapse."""

ONE_ROUND: Final = {"files": (FILE_PAGES,)}
_HELD: Final = ("free", "active_anon", "inactive_anon", "clean", "dirty", "written", "swap_used")
_SCANNED: Final = ("scanned_normal", "scanned_dma32")
_SLEPT: Final = {
    "kswapd_sleeps": "kswapd_slept_ns",
    "tasks_sleep": "tasks_slept_ns",
    "writer_throttled": "throttled_ns",
    "client_waits": "waited",
}
"""Shares of the second, and the counters of ns that they are of."""

BY_TIME: Final[dict[str, pl.DataType]] = {
    "rules": pl.String(),
    **dict.fromkeys(("t_s", *_HELD), pl.UInt32()),
    **dict.fromkeys((*_SCANNED, *_SLEPT), pl.Float64()),
}
"""A second of the run: pages in each state at its end, pages that kswapd scanned, shares of it."""


def by_second(rules: str) -> pl.DataFrame:
    """Run the round and return its memory and activity, once per second (BY_TIME)."""
    config, found = Run(rules=rules, fields=ONE_ROUND).config()
    result = run_config(config, found)
    samples = result.memory.unique(["t_ns", "zone"], keep="last", maintain_order=True)
    memory = samples.group_by("t_ns").agg(pl.exclude("zone", "flags").cast(pl.Int64).sum())
    scanned = samples.pivot("zone", index="t_ns", values="scanned_kswapd")
    # All operations up to another actor's event are counted at once, so a sample may be ahead of
    # its time; the time that the client has waited never falls.
    op_ns = dict(found.select("name", "value").iter_rows())["op_ns"]
    served = (pl.col("t_ns").cast(pl.Int64) - result.rounds["serve_ns"][0]).clip(0, config.serve_ns)
    waited = (served - pl.col("ops").cast(pl.Int64) * op_ns).clip(0).cum_max()
    activity = (
        result.activity.unique("t_ns", keep="last")
        .join(memory, on="t_ns")
        .join(scanned, on="t_ns")
        .sort("t_ns")
        .with_columns(waited=waited)
    )
    # A sample is taken at the next event, so the last one before each second counts.
    times = pl.int_range(1, activity["t_ns"][-1] // SECOND_NS + 1, eager=True) * SECOND_NS
    sums = pl.DataFrame({"t_ns": times.cast(pl.UInt64)}).join_asof(activity, on="t_ns")
    file = pl.col("inactive_file") + pl.col("active_file")
    written = pl.min_horizontal("writeback", file - pl.col("dirty"))
    since = {
        name: pl.col(name).cast(pl.Int64).diff().fill_null(pl.col(name).cast(pl.Int64))
        for name in sums.columns
    }
    rows = sums.with_columns(
        t_s=pl.col("t_ns") // SECOND_NS,
        clean=file - pl.col("dirty") - written,
        written=written,
        swap_used=pl.col("swap_used").cast(pl.Int64),
        scanned_normal=since["normal"],
        scanned_dma32=since["dma32"],
        **{name: since[column] / SECOND_NS for name, column in _SLEPT.items()},
    )
    return labelled(rows, BY_TIME, rules)
