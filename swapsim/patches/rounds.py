# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics over rounds: medians with exact intervals, ranks, differences, counts."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.errors import InputError
from swapsim.published.data import BETTER, ONE_RUN
from swapsim.study import RANKED, interval_of, over, rank
from swapsim.tables import Table
from swapsim.tables import cases as first

SEEN: Final = pl.Enum(("falls", "rises", "either"))
"""How a figure changes by the rounds; either: their interval contains both signs."""

COMPARISON: Final = Table(
    "COMPARISON",
    "One row per metric and kernel of a printed comparison, the base kernel first.",
    {"metric": pl.String, "kernel": pl.String, "value": pl.Float64, "decimals": pl.UInt8},
    {"stddev_percent": pl.Float64, "better": BETTER},
)
MEDIANS: Final = Table(
    "MEDIANS",
    "One row per metric and setting: RESULTS over their rounds.",
    ONE_RUN,
    {"n_tasks": pl.UInt32, "metric": pl.String, "unit": pl.String, "rounds": pl.UInt32},
    dict.fromkeys(("median", "low", "high"), pl.Float64),
)


def medians(results: pl.DataFrame) -> pl.DataFrame:
    """Return the median of each metric over its rounds (MEDIANS), with its exact interval."""
    one_run = ("patch", "source", "kernel", "policy", "n_tasks", "metric", "unit")
    found = over(results.select(*one_run, "seed", "value"), interval=True)
    return found.rename({"runs": "rounds", "middle": "median"})


def side_by_side(medians: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return a row per metric, and a column per policy: "median [low, high]" as `spread` has it."""
    rows = pl.concat(_of_metric(medians, metric) for metric in metrics)
    text = pl.struct("median", "low", "high").map_elements(spread, return_dtype=pl.String)
    return rows.with_columns(text=text).pivot("policy", index="metric", values="text")


def _of_metric(rows: pl.DataFrame, metric: str) -> pl.DataFrame:
    if (found := rows.filter(metric=metric)).is_empty():
        raise InputError(f"no such metric: {metric!r}; take one of the rows", field="metric")
    return found


def ranks(results: pl.DataFrame, metric: str, *, better: str = "lower") -> pl.DataFrame:
    """Rank policies by one metric of RESULTS: ``policy, median, low, high, unit`` and `RANKED`."""
    rounds = _of_metric(results, metric).select("policy", "unit", "seed", "value")
    return rank(rounds, better).select("policy", "median", "low", "high", "unit", *RANKED)


def spread(row: dict[str, float]) -> str:
    """Return value, low and high end as "value [low, high]": three digits, large ones integers."""
    value, low, high = (
        f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" for value in row.values()
    )
    return f"{value} [{low}, {high}]"


def difference(base: pl.DataFrame, value: pl.DataFrame) -> dict[str, Any] | None:
    """Compare rounds (``seed, value``) with the same ones of a base; None without a common one."""
    both = base.join(value, on="seed", suffix="_other").sort("seed")
    if both.is_empty():
        return None
    low, high = interval_of((both["value_other"] - both["value"]).to_list())
    return {
        "rounds": both.height,
        "base": float(np.median(both["value"])),
        "value": float(np.median(both["value_other"])),
        "low": low,
        "high": high,
        "seen": "falls" if high < 0 else "rises" if low > 0 else "either",
    }


def steps(results: pl.DataFrame, policies: Sequence[str], metrics: Sequence[str]) -> pl.DataFrame:
    """Compare each policy of a series with the one before it, round by round: a row per step."""
    rows = []
    for metric in metrics:
        of_metric = _of_metric(results, metric)
        rounds = {name: of_metric.filter(policy=name).select("seed", "value") for name in policies}
        for base_policy, policy in pairwise(policies):
            found = difference(rounds[base_policy], rounds[policy])
            if found is not None:
                labels = {"metric": metric, "unit": of_metric["unit"][0]}
                rows.append({**labels, "base_policy": base_policy, "policy": policy, **found})
    return pl.DataFrame(rows, schema_overrides={"rounds": pl.UInt32, "seen": SEEN})


COUNT_TOLERANCE_PERCENT: Final = 5.0
"""Largest difference of a simulated count that agrees, in percent; set before the first run."""


def agreement(within: pl.Expr) -> pl.Expr:
    """Return reproduced where a condition is true, missed where it is false, else null."""
    return first((within, "reproduced"), (~within, "missed"))


def compare_counts(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare the means of simulated RESULTS with measured MEDIANS under the same workload.

    There is one row per policy and metric that both have, at least one. A count is reproduced
    within COUNT_TOLERANCE_PERCENT of the measured median.
    """
    keys = ["policy", "metric", "unit"]
    means = (
        simulated.sort(pl.all())  # float sums depend on their order
        .group_by(keys, maintain_order=True)
        .agg(simulated=pl.col("value").mean())
    )
    frame = (
        simulated.select(keys)
        .unique(maintain_order=True)
        .join(means, on=keys, how="left", maintain_order="left")
        .join(medians, on=keys, how="inner", maintain_order="left")
        .rename({"median": "measured"})
        .with_columns(
            apart_percent=100 * (pl.col("simulated") - pl.col("measured")) / pl.col("measured")
        )
        .with_columns(verdict=agreement(pl.col("apart_percent").abs() <= COUNT_TOLERANCE_PERCENT))
    )
    if frame.is_empty():
        raise InputError(
            "the simulation and the kernel have no policy and metric in common: "
            "give those of one experiment"
        )
    return frame.select(*keys, "simulated", "measured", "low", "high", "apart_percent", "verdict")


LARGE_PERCENT: Final = 1000  # from this change in percent on, its factor is shown
NO_PERCENT: Final = 0.005  # percentages and points below this are shown as zero


def range_text(low: float | None, high: float | None) -> str:
    """Return a range of changes in percent, or its one end; factors from +1000 % on."""
    if low is None or high is None:
        return ""
    if high >= LARGE_PERCENT:
        first, last = _factor(low), _factor(high)
    else:
        first, last = _change(low), f"{_change(high)} %"
    return last if last in (first, f"{first} %") else f"{first} to {last}"


def _factor(percent: float) -> str:
    times = 1 + percent / 100
    return f"\N{MULTIPLICATION SIGN}{f'{times:,.0f}' if times >= 100 else f'{times:.3g}'}"


def _change(percent: float) -> str:
    """Return a change in percent with its sign; next to 0 and to -100 % it has two decimals."""
    text = f"{percent:+.1f}"
    if text not in ("+0.0", "-0.0", "-100.0"):
        return text
    if abs(percent) < NO_PERCENT:
        return "0.0"
    return text if percent <= NO_PERCENT - 100 else f"{percent:+.2f}"


_LKP_HEAD: Final = (
    "---------------- --------------------------\n"
    "         %stddev     %change         %stddev\n"
    "             \\          |                \\"
)


def lkp(comparison: pl.DataFrame) -> str:
    """Return a COMPARISON of two kernels in lkp's layout: base, change, patched, metric.

    The rows of a metric are adjacent, its base kernel first. A deviation that is null leaves its
    place empty.
    """
    cells = comparison.to_dicts()
    lines = [f"{cells[0]['kernel']:<16} {cells[1]['kernel']}\n{_LKP_HEAD}"]
    for base, other in zip(cells[::2], cells[1::2], strict=True):
        if base["metric"] != other["metric"] or base["kernel"] != cells[0]["kernel"]:
            raise InputError("lkp's layout compares two kernels: choose a base and another one")
        printed = "+Inf"
        if base["value"] or not other["value"]:
            change = 100 * other["value"] / base["value"] - 100 if base["value"] else 0.0
            printed = f"{0.0 if base['value'] == other['value'] else change:+.1f}"
        old, new = map(_with_deviation, (base, other))
        lines.append(f"{old}{printed:>10}% {new}  {base['metric']}")
    return "\n".join([*lines, ""])


def _with_deviation(cell: dict[str, Any]) -> str:
    deviation = cell["stddev_percent"]
    text = f"{cell['value']:10.{cell['decimals']}f}"
    return text + (" " * 6 if deviation is None else f" ±{deviation:3.0f}%")


def as_printed(results: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Return COMPARISON: RESULTS of one patch with the rows, digits and order of printed cells.

    Values are means over the seeds, with their relative standard deviation; null with one seed, and
    for a mean of zero. Metrics and kernels without a result are left out.
    """
    found = (
        results.sort(pl.all())  # float sums depend on their order
        .group_by("metric", "kernel", maintain_order=True)
        .agg(value=pl.col("value").mean(), deviation=pl.col("value").std())
    )
    share = 100 * pl.col("deviation") / pl.col("value")
    kernels = cells.select(pl.col("kernel").unique(maintain_order=True))
    rows = (
        cells.select("metric", "decimals", "better")
        .unique("metric", maintain_order=True)
        .join(kernels.join(found, on="kernel", how="semi"), how="cross", maintain_order="left")
        .join(found, on=["metric", "kernel"], how="left", maintain_order="left")
        .filter(pl.col("value").is_not_null().all().over("metric"))
        .with_columns(stddev_percent=pl.when(pl.col("value") != 0).then(share))
    )
    if rows.is_empty():
        raise InputError("results and printed table have no metric in common: give one patch's")
    return rows.select(COMPARISON.names())
