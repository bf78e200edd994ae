# SPDX-License-Identifier: GPL-2.0-or-later
"""The layout of tables in the mails of lkp, and results with the rows and digits of a mail."""

from itertools import groupby
from typing import Any, Final

import polars as pl

from swapsim.claims.tables import COMPARISON, PUBLISHED, RESULTS
from swapsim.errors import InputError

_LKP_HEAD: Final = (
    "---------------- --------------------------\n"
    "         %stddev     %change         %stddev\n"
    "             \\          |                \\\n"
)

_Cell = dict[str, Any]  # a row of COMPARISON


def lkp_change(base: float, value: float) -> float:
    """Return the percentage that lkp prints between base and value, with its plain sign.

    A base of zero gives infinity, printed +Inf; no change gives 0.
    """
    if value == base:
        return 0.0
    return float("inf") if base == 0 else 100 * value / base - 100


def lkp(comparison: pl.DataFrame) -> str:
    """Return a COMPARISON of two kernels in lkp's layout: base, change, patched, metric.

    The rows of a metric are adjacent, its base kernel first. A deviation that is null leaves its
    place empty.
    """
    metrics = _by_metric(comparison)
    if any(len(cells) != 2 for cells in metrics):
        raise InputError("lkp's layout compares two kernels: choose a base and another one")
    lines: list[str] = []
    for base, other in metrics:
        if not lines:
            lines.append(f"{base['kernel']:<16} {other['kernel']}\n{_LKP_HEAD}")
        change = lkp_change(base["value"], other["value"])
        printed = "+Inf" if change == float("inf") else f"{change:+.1f}"
        lines.append(
            f"{_with_deviation(base)}{printed:>10}% {_with_deviation(other)}  {base['metric']}\n"
        )
    return "".join(lines)


def as_printed(results: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Return COMPARISON: RESULTS of one patch with the rows, digits and order of printed cells.

    Values are means over the seeds, with their relative standard deviation; null with one seed, and
    for a mean of zero. Metrics and kernels without a result are left out; without any it is an
    InputError.
    """
    RESULTS.check(results)
    PUBLISHED.check(cells)
    keys = ["metric", "kernel"]
    found = (
        results.sort(pl.all())  # float sums depend on their order
        .group_by(keys, maintain_order=True)
        .agg(mean=pl.col("value").mean(), deviation=pl.col("value").std())
    )
    kernels = cells["kernel"].unique(maintain_order=True)
    kernels = kernels.filter(kernels.is_in(results["kernel"].unique().to_list()))
    share = 100 * pl.col("deviation") / pl.col("mean")
    rows = (
        cells.select("metric", "decimals", "better")
        .unique("metric", maintain_order=True)
        .join(pl.DataFrame({"kernel": kernels}), how="cross")
        .join(found, on=keys, how="left", maintain_order="left")
        .filter(pl.col("mean").is_not_null().all().over("metric"))
        .select(
            *keys,
            "decimals",
            "better",
            value="mean",
            stddev_percent=pl.when(pl.col("mean") != 0).then(share),
        )
        .select(COMPARISON.names())
    )
    if rows.is_empty():
        raise InputError(
            "results and printed table have no metric in common: give those of one patch"
        )
    return COMPARISON.check(rows)


def _by_metric(comparison: pl.DataFrame) -> list[list[_Cell]]:
    rows = COMPARISON.check(comparison).to_dicts()
    metrics = [list(cells) for _, cells in groupby(rows, key=lambda cell: cell["metric"])]
    ordered = [[cell["kernel"] for cell in cells] for cells in metrics]
    for cells, kernels in zip(metrics, ordered, strict=True):
        if kernels != (wanted := ordered[0]):
            raise InputError(
                f"metric {cells[0]['metric']!r} has kernels {kernels}, the first one {wanted}:"
                " give every metric the same, in the same order",
                field="kernel",
            )
    return metrics


def _with_deviation(cell: _Cell) -> str:
    deviation = cell["stddev_percent"]
    text = f"{cell['value']:10.{cell['decimals']}f}"
    return text + (" " * 6 if deviation is None else f" ±{deviation:3.0f}%")
