# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies in order of one metric, with intervals over the seeds, and the odds of a draw."""

import math
from typing import Any

import numpy as np
import polars as pl

from swapsim.claims.intervals import check_confidence, interval, ranks_by_interval
from swapsim.errors import InputError
from swapsim.slots.metrics import FAIRNESS, METRICS
from swapsim.slots.tables import SLOT_RANKING, SLOT_SWEEP


def ranking(measures: pl.DataFrame, metric: str, *, confidence: float = 0.95) -> pl.DataFrame:
    """Put the policies in order of one metric at each setting, the best first.

    Parameters
    ----------
    measures : polars.DataFrame
        Schema SLOT_SWEEP.
    metric : str
        Of METRICS, or ``fairness``.
    confidence : float
        Between 0 and 1, of the bootstrap interval of the mean over the seeds.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_RANKING, one row per setting and policy; settings in the order of the sweep.
        Runs without a value are left out, and a policy that has none.

    Raises
    ------
    InputError
        The table has another schema, or has no such metric; or confidence is out of its range.
    """
    SLOT_SWEEP.check(measures)
    check_confidence(confidence)
    keys = ["factor", "setting", "policy", "n_cpus", "metric", "unit"]
    chosen = measures.filter(metric=metric)
    if chosen.is_empty():
        raise InputError(f"no such metric: {metric!r}; choose of slots.METRICS", field="metric")
    groups = (
        chosen.drop_nulls("value")
        .group_by(keys, maintain_order=True)
        .agg(pl.col("value").sort_by("seed"))
    )
    rows = [
        {**row, **_spread(row.pop("value"), confidence)} for row in groups.iter_rows(named=True)
    ]
    better = "higher" if metric == FAIRNESS else METRICS[metric].better
    by_setting: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        by_setting.setdefault((row["factor"], row["setting"]), []).append(row)
    ranked = [
        {**row, **rank}
        for group in by_setting.values()
        for row, rank in zip(group, ranks_by_interval(group, better), strict=True)
    ]
    frame = pl.DataFrame(ranked, schema=SLOT_RANKING.schema)
    best_first = pl.col("mean") * (-1 if better == "higher" else 1)
    settings = chosen.select("factor", "setting").unique(maintain_order=True)
    order = settings.with_row_index("at")
    frame = (
        frame.join(order, on=["factor", "setting"], how="left", maintain_order="left")
        .sort("at", best_first, "policy")
        .select(SLOT_RANKING.names())
    )
    return SLOT_RANKING.check(frame)


def _spread(values: list[float], confidence: float) -> dict[str, float]:
    low, high = interval(values, np.mean, confidence)
    return {
        "seeds": len(values),
        "mean": math.fsum(values) / len(values),
        "low": low,
        "high": high,
        "median": float(np.median(values)),
        "lowest": min(values),
        "highest": max(values),
    }


def chance_of_trunks_apart(cpus: int, trunks: int) -> float:
    """Return the chance that no two CPUs share a trunk, if each picks one at random.

    Parameters
    ----------
    cpus, trunks : int
        From 1.

    Raises
    ------
    InputError
        One of them is below 1.
    """
    for name, value in (("cpus", cpus), ("trunks", trunks)):
        if value < 1:
            raise InputError(f"{value} is too few: choose at least 1", field=name)
    return math.prod((trunks - taken) / trunks for taken in range(cpus))
