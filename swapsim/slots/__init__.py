# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies of the swap slot allocator, measured on a workbench and put in order.

``measure`` drives one device with one workload; ``one_at_a_time`` does so around a
base case for many settings, policies and seeds; ``ranking`` says who is better at
what. Nothing here knows a time: it is all counts (``slot_workbench.h``).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import sweep
from swapsim.config import SlotsConfig
from swapsim.config.policies import POLICIES, Policy
from swapsim.config.workloads import MeterConfig, Workload
from swapsim.errors import ConfigError, InputError
from swapsim.native.slot_workbench import online
from swapsim.schemas import SLOT_RANKING, SLOT_SWEEP, require
from swapsim.slots.metrics import FAIRNESS, METRICS, Metric, Point, measure, measure_point
from swapsim.traces.slot_requests import repeated, request_streams, traced_device

__all__ = [
    "METRICS",
    "Metric",
    "birthday",
    "measure",
    "one_at_a_time",
    "ranking",
    "repeated",
    "request_streams",
    "traced_device",
]

GIGABYTE_SLOTS: Final = 2**18
"""Slots of a gigabyte: pages of 4 KB."""

RESAMPLES: Final = 9999
"""Of a bootstrap interval."""


def _cpus(device: SlotsConfig, workload: Workload, value: Any) -> tuple[SlotsConfig, Workload]:
    """So many CPUs, all online, or as many more possible ones as the base case has."""
    possible = value if device.online_cpus is None else max(value, device.possible_cpus)
    kept = None if device.online_cpus is None else value
    return replace(device, possible_cpus=possible, online_cpus=kept), workload


def _gigabytes(device: SlotsConfig, workload: Workload, value: Any) -> tuple[SlotsConfig, Workload]:
    return replace(device, slots=round(value * GIGABYTE_SLOTS)), workload


def _possible_cpus(
    device: SlotsConfig, workload: Workload, value: Any
) -> tuple[SlotsConfig, Workload]:
    return replace(device, possible_cpus=value, online_cpus=online(device)), workload


_FACTORS: Final[dict[str, Callable[[SlotsConfig, Workload, Any], tuple[SlotsConfig, Workload]]]] = {
    "cpus": _cpus,
    "gigabytes": _gigabytes,
    "possible_cpus": _possible_cpus,
}
"""Factors that are more than a field: CPUs come online with their possibility, and so on."""


def _changed(
    device: SlotsConfig, workload: Workload, factor: str, value: object
) -> tuple[SlotsConfig, Workload]:
    if factor in _FACTORS:
        return _FACTORS[factor](device, workload, value)
    if factor in {field.name for field in fields(workload)}:
        return device, replace(workload, **{factor: value})  # type: ignore[arg-type]
    known = {field.name for field in fields(device)} - {"policy", "seed", "address_spaces"}
    if factor in known:
        return replace(device, **{factor: value}), workload  # type: ignore[arg-type]
    names = [*_FACTORS, *sorted(known - {*_FACTORS}), *(field.name for field in fields(workload))]
    raise ConfigError(f"factor {factor!r}: choose one of {', '.join(names)}")


def one_at_a_time(
    device: SlotsConfig,
    workload: Workload,
    factors: Mapping[str, Sequence[object]],
    *,
    policies: Sequence[str | Policy] = POLICIES,
    seeds: int = 20,
    meter: MeterConfig | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    folder: Path | str | None = None,
) -> pl.DataFrame:
    """Measure every policy at each setting of each factor, all other things as in the base case.

    Parameters
    ----------
    device : SlotsConfig
        The base case; its policy and seed are not read.
    workload : FillConfig, ChurnConfig or StreamsConfig
        The base case.
    factors : mapping of str to sequence
        Name of a factor -> its settings: ``cpus`` (that are online, and at least as many
        possible), ``gigabytes`` (of the device), ``possible_cpus`` (the online ones stay), or a
        field of the device or the workload, as ``used_share``, ``cluster_size``, ``trunk_shift``.
    policies : sequence of str or Policy
    seeds : int
        Runs of each, seeds 1 to this. Policies see the same draws of the tasks.
    meter : MeterConfig, optional
    executor : concurrent.futures.Executor, optional
        As for ``sweep.run``.
    progress : bool
        Show a progress bar on stderr.
    folder : Path or str, optional
        Where to store what is done, and to go on from: as for ``sweep.run``.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_SWEEP: factors, settings, policies and seeds in the order given.

    Raises
    ------
    ConfigError
        No such factor, a setting out of its range, or no seed.
    """
    if seeds < 1:
        raise ConfigError(f"seeds={seeds}: choose at least 1")
    points = [
        Point(
            factor=factor,
            setting=str(value),
            device=replace(changed, policy=policy, seed=seed),
            workload=changed_workload,
            meter=meter,
        )
        for factor, values in factors.items()
        for value in values
        for changed, changed_workload in [_changed(device, workload, factor, value)]
        for policy in policies
        for seed in range(1, seeds + 1)
    ]
    frames = sweep.run(measure_point, points, executor=executor, progress=progress, folder=folder)
    found = pl.concat(frames) if frames else pl.DataFrame(schema=SLOT_SWEEP)
    return require(found, SLOT_SWEEP, "slot sweep")


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
    require(measures, SLOT_SWEEP, "slot sweep")
    if not 0 < confidence < 1:
        raise InputError("choose a number between 0 and 1", field="confidence")
    keys = ["factor", "setting", "policy", "n_cpus", "metric", "unit"]
    chosen = measures.filter(metric=metric)
    if chosen.is_empty():
        raise InputError(f"no such metric: {metric!r}; see slots.METRICS", field="metric")
    groups = (
        chosen.drop_nulls("value")
        .group_by(keys, maintain_order=True)
        .agg(pl.col("value").sort_by("seed"))
    )
    rows = [
        {**row, **_spread(row.pop("value"), confidence)} for row in groups.iter_rows(named=True)
    ]
    better = "higher" if metric == FAIRNESS else METRICS[metric].better
    ranked = [{**row, **_rank(row, rows, better)} for row in rows]
    frame = pl.DataFrame(ranked, schema=SLOT_RANKING)
    best_first = pl.col("mean") * (-1 if better == "higher" else 1)
    settings = chosen.select("factor", "setting").unique(maintain_order=True)
    order = settings.with_row_index("at")
    frame = (
        frame.join(order, on=["factor", "setting"], how="left", maintain_order="left")
        .sort("at", best_first, "policy")
        .select(SLOT_RANKING.names())
    )
    return require(frame, SLOT_RANKING, "slot ranking")


def _spread(values: list[float], confidence: float) -> dict[str, float]:
    """Describe one policy's values; the same ones give the same interval in any process."""
    # Slow to import, and of no use to the processes of a sweep.
    from scipy import stats

    array = np.asarray(values)
    low, high = values[0], values[0]
    if min(values) < max(values):
        interval = stats.bootstrap(
            (array,),
            np.mean,
            n_resamples=RESAMPLES,
            confidence_level=confidence,
            method="percentile",
            rng=np.random.default_rng(1),
        ).confidence_interval
        low, high = float(interval.low), float(interval.high)
    return {
        "seeds": len(values),
        "mean": math.fsum(values) / len(values),
        "low": low,
        "high": high,
        "median": float(np.median(array)),
        "lowest": min(values),
        "highest": max(values),
    }


def _rank(row: dict[str, Any], rows: list[dict[str, Any]], better: str) -> dict[str, Any]:
    others = [
        other
        for other in rows
        if other is not row
        and (other["factor"], other["setting"]) == (row["factor"], row["setting"])
    ]
    if better == "higher":
        surely_better = sum(other["low"] > row["high"] for other in others)
    else:
        surely_better = sum(other["high"] < row["low"] for other in others)
    return {
        "rank": 1 + surely_better,
        "tied_with": [
            other["policy"]
            for other in others
            if other["low"] <= row["high"] and row["low"] <= other["high"]
        ],
    }


def birthday(cpus: int, trunks: int) -> float:
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
