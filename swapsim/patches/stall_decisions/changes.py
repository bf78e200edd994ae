# SPDX-License-Identifier: GPL-2.0-or-later
"""What each change from the first simulation of the mail's machine to the second does alone."""

from dataclasses import replace
from itertools import product
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim import claims
from swapsim.claims.tables import RESULTS
from swapsim.patches.stall_decisions.judgement import cells, count_by_the_old_rule, score, verdicts
from swapsim.patches.stall_decisions.mail import (
    BASE,
    BEFORE,
    ELAPSED,
    RULES,
    SERIES,
    printed_values,
)
from swapsim.patches.stall_decisions.runs import TARGETS, Run, mail_rows
from swapsim.patches.stall_decisions.tables import SIMULATED_CHANGES

CHANGE_SEEDS: Final = (201, 202, 203)

FIRST: Final = {
    "program_pages": 25_600,
    "program_interval_ms": 0,
    "working_pages": 0,
    "cached_pages": 0,
    "disk_rate": 38_400,
    "seek_near_ns": 5_000_000,
    "gap_ms": 0,
    "start_percent": 0,
    "write_delay_ms": 29_400,
    "redirty_ns": 400,
}
"""Constants of the first simulation that differ from those of data/reclaim.csv now."""

AS_BEFORE: Final = "none"
ALL: Final = "all, and the new fit"

_PROGRAMS: Final = ("program_pages", "program_interval_ms", "working_pages", "cached_pages")
_SCRIPT: Final = ("gap_ms", "start_percent", "write_delay_ms")


class Change(NamedTuple):
    """A change: constants that keep their new value, and whether the script and reclaim are new."""

    name: str
    new: tuple[str, ...] = ()
    script: bool = False
    reclaim: bool = False


CHANGES: Final = (
    Change(AS_BEFORE),
    Change("programs age", new=_PROGRAMS),
    Change("the script of May 2013", new=_SCRIPT, script=True),
    Change("the cost of a redirtied page", new=("redirty_ns",)),
    Change("kswapd's naps, unstable pages", reclaim=True),
    Change(ALL, new=tuple(FIRST), script=True, reclaim=True),
)


def change_points() -> list[tuple[Change, Run]]:
    """Return each change alone, and all, by the mail's kernels, on both targets."""
    return [
        (change, _run(change, rules, target, seed))
        for change, rules, target, seed in product(CHANGES, RULES, TARGETS, CHANGE_SEEDS)
    ]


def _run(change: Change, rules: str, target: str, seed: int) -> Run:
    constants = {name: value for name, value in FIRST.items() if name not in change.new}
    fields: dict[str, Any] = {} if change.reclaim else {"simplified_reclaim": True}
    run = Run(rules=rules, target=target, seed=seed, constants=constants, fields=fields)
    return run if change.script else replace(run, iterations=1, warm_up=0)


def run_change(point: tuple[Change, Run]) -> pl.DataFrame:
    """Run the mail's test with a change and return its rows (RESULTS); the kernel names it."""
    change, run = point
    rows = mail_rows(run).with_columns(kernel=pl.lit(change.name))
    return rows if change.script else _as_totals(rows, run)


def _as_totals(rows: pl.DataFrame, run: Run) -> pl.DataFrame:
    """Return rows whose NFS counts are scaled to the mail's time.

    A comparison of such totals is that of counts per second, the rule of the first simulation.
    """
    if run.target == "disk":
        return rows
    (elapsed,) = rows.filter(metric=f"nfs: {ELAPSED}")["value"]
    scale = printed_values()["nfs", ELAPSED, run.rules] / elapsed
    tolerances = claims.simulation_tolerances().filter(table="vmstat, nfs")
    rates = pl.col("metric").str.contains("velocity|efficiency|Percentage")
    counts = [f"nfs: {metric}" for metric in tolerances.filter(~rates)["metric"]]
    counted = pl.col("metric").is_in(counts)
    return rows.with_columns(pl.when(counted).then(pl.col("value") * scale).otherwise("value"))


def compare_changes(results: pl.DataFrame) -> pl.DataFrame:
    """Return how near the simulated tables are to the mail's with each change alone, and with all.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of `studies.changes`.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_CHANGES, in the order of CHANGES.
    """
    RESULTS.check(results)
    rows = [_judged(change.name, results.filter(kernel=change.name)) for change in CHANGES]
    return SIMULATED_CHANGES.check(pl.DataFrame(rows, schema=SIMULATED_CHANGES.schema))


def _judged(name: str, results: pl.DataFrame) -> dict[str, Any]:
    """Return the row of a change."""
    found, judged = cells(results), verdicts(results)
    sums = score(judged).drop("table").sum().row(0, named=True)
    values = {
        (row["table"].rpartition(", ")[2], row["metric"], row["rules"]): row["simulated"]
        for row in found.iter_rows(named=True)
    }
    old_rows, old_cells = count_by_the_old_rule(found)
    large = judged.drop_nulls("collapse")
    return {
        "change": name,
        "sized": sums["sized"],
        "cells_sized": sums["cells_sized"],
        "sized_before": old_rows,
        "cells_before": old_cells,
        "order_agrees": sums["order_agrees"],
        "order_contradicts": sums["order_contradicts"],
        "order_open": sums["order_open"],
        "ops": values["disk", "Ops memcachetest-4055M", BEFORE],
        "kswapd_scanned": values["disk", "Kswapd pages scanned", BASE],
        "file_writes": values["disk", "Page writes file", BASE],
        "swapped": values["disk", "Swap Outs", BASE],
        "swapped_series": values["disk", "Swap Outs", SERIES],
        "collapse": large.filter(pl.col("table").str.ends_with("nfs"))["collapse"].all(),
    }
