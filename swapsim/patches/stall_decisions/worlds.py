# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's two tests in the world of `swapsim.reclaim`: one run, in the mail's rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

import polars as pl

from swapsim import claims, reclaim
from swapsim.claims.tables import RESULTS
from swapsim.patches.stall_decisions.mail import ELAPSED, KERNELS, PATCH
from swapsim.reclaim.config import ReclaimConfig

TARGETS: Final = ("disk", "nfs")
"""Where the file is: the mail's first table, and its second."""

SEEDS: Final = tuple(range(1, 21))
"""Of the client's draws, behind each figure of the tables."""

_LABELS: Final = {rules: kernel for kernel, rules in KERNELS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the mail's test.

    Attributes
    ----------
    rules : str
        One of RECLAIM_RULES.
    target : {"disk", "nfs"}
    seed : int
    constants : mapping of str to int
        Of data/world.csv, where others are asked for.
    fields : mapping of str to Any
        Of the world's config, likewise.
    """

    rules: str
    target: str = "disk"
    seed: int = 1
    constants: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def world(self) -> tuple[ReclaimConfig, pl.DataFrame]:
        """Return the world's config and its constants."""
        found = reclaim.change_constants(reclaim.constants(), self.constants)
        config = reclaim.parallelio(self.rules, found, nfs=self.target == "nfs", seed=self.seed)
        return replace(config, **self.fields), found


def watched(run: Run) -> reclaim.Result:
    """Run a world of the mail and return all that it tells."""
    config, found = run.world()
    return reclaim.run(config, found)


def told(run: Run) -> pl.DataFrame:
    """Run a world of the mail and return its rows.

    Parameters
    ----------
    run : Run

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: ``disk: Ops memcachetest-0M`` and so on, as in CLAIMS; the kernel is the
        mail's where it has one, else the rules. Rows of rounds that were not reached are missing.
    """
    world = watched(run)
    rows = pl.concat([reclaim.ops(world), reclaim.vmstat(world), reclaim.iostat(world)])
    elapsed = pl.DataFrame({"metric": [ELAPSED], "value": [world.elapsed_ns / 1e9]})
    labels: dict[str, str | int] = {
        "patch": PATCH,
        "kernel": _LABELS.get(run.rules, run.rules),
        "policy": run.rules,
        "n_tasks": 1,
        "seed": run.seed,
    }
    units = _units()
    named = pl.concat([rows, elapsed]).with_columns(
        metric=pl.format("{}: {}", pl.lit(run.target), "metric"),
        unit=pl.col("metric").replace_strict(units, default="").cast(pl.String),
    )
    return claims.results(named, labels)


def of_target(results: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return one test's rows without its name.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of `told`.
    target : {"disk", "nfs"}

    Returns
    -------
    polars.DataFrame
        Schema RESULTS.
    """
    name = f"{target}: "
    own = RESULTS.check(results).filter(pl.col("metric").str.starts_with(name))
    return own.with_columns(pl.col("metric").str.strip_prefix(name))


@cache
def _units() -> dict[str, str]:
    rows = claims.published_tables().filter(patch=PATCH).select("metric", "unit").unique()
    return {**dict(rows.iter_rows()), ELAPSED: "s"}
