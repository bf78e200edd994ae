# SPDX-License-Identifier: GPL-2.0-or-later
"""Many runs of the workbench around a base case, one factor varied at a time."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import study
from swapsim.errors import ConfigError
from swapsim.ffi.facts import POLICIES
from swapsim.policies.policy import Policy
from swapsim.slots._native_workbench import online
from swapsim.slots.config import MeterConfig, SlotsConfig, Workload
from swapsim.slots.metrics import Point, measure_point
from swapsim.slots.tables import SLOT_SWEEP

GIGABYTE_SLOTS: Final = 2**18
"""Slots of a gigabyte: pages of 4 KB."""


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


def grid_points(
    device: SlotsConfig,
    workload: Workload,
    factors: Mapping[str, Sequence[object]],
    *,
    policies: Sequence[str | Policy] = POLICIES,
    seeds: int = 20,
    meter: MeterConfig | None = None,
) -> list[Point]:
    """Return the runs of `one_at_a_time`, whose parameters these are."""
    if seeds < 1:
        raise ConfigError(f"seeds={seeds}: choose at least 1")
    return [
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
    """Measure each policy at each setting of each factor, everything else as in the base case.

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
        As for `study.run`.
    progress : bool
        Show a progress bar on stderr.
    folder : Path or str, optional
        Where to store what is done, and to go on from: as for `study.run`.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_SWEEP: factors, settings, policies and seeds in the order given.

    Raises
    ------
    ConfigError
        No such factor, a setting out of its range, or no seed.
    """
    points = grid_points(device, workload, factors, policies=policies, seeds=seeds, meter=meter)
    frames = study.run(measure_point, points, executor=executor, progress=progress, folder=folder)
    return pl.concat([pl.DataFrame(schema=SLOT_SWEEP.schema), *frames])
