# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch D would gain on other machines, drives and costs."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Final

import polars as pl

from swapsim.config import Policy
from swapsim.machine.fit import Fitted
from swapsim.machine.what_if import (
    CHANNELS,
    CPUS,
    MEMORY,
    TRUNK_SHIFTS,
    Case,
    by_constant,
    gains,
    ranges,
    refitted,
)
from swapsim.patches.cluster_next.fitting import fit
from swapsim.patches.cluster_next.machines import DEVICE_GIGABYTES, machine

SCORE: Final = "accesses"
"""The metric that stands for pmbench's score."""

GIGABYTES: Final = DEVICE_GIGABYTES // 4
"""Of a device in these cases: 192 trunks of 64 MB, and a quarter of the time to fill."""


def cases_by_tasks(
    tasks: Sequence[int] = CPUS[1:],
    *,
    policy: str | Policy = "percpu-rerandomise",
    gigabytes: int = GIGABYTES,
) -> list[Case]:
    """Return patch D's test with other numbers of walkers, who share the same pages."""
    pages = machine(policy=policy, gigabytes=gigabytes).pages * 16
    return [
        _case("cpus", count, f"{count} tasks", policy, gigabytes,
                   walkers=count, pages=pages // count)
        for count in tasks
    ]  # fmt: skip


def cases_by_trunk_size(
    shifts: Sequence[int] = TRUNK_SHIFTS,
    *,
    policy: str | Policy = "percpu-rerandomise",
    gigabytes: int = GIGABYTES,
) -> list[Case]:
    """Return patch D's test with other sizes of a trunk."""
    return [
        _case("trunk", 2 ** (shift - 8), f"{2 ** (shift - 8)} MB a trunk", policy, gigabytes,
                   trunk_shift=shift)
        for shift in shifts
    ]  # fmt: skip


def cases_by_drive(
    channels: Sequence[int] = CHANNELS,
    *,
    policy: str | Policy = "percpu-rerandomise",
    gigabytes: int = GIGABYTES,
) -> list[Case]:
    """Return patch D's test on two drives that serve so many pages at a time, and on memory."""
    return [
        *(
            _case("device", count, f"{count} channels", policy, gigabytes, channels=count)
            for count in channels
        ),
        _case("device", MEMORY, "memory", policy, gigabytes),
    ]


def gain_by_tasks(
    fits: Mapping[str, pl.DataFrame],
    tasks: Sequence[int] = CPUS[1:],
    *,
    seeds: Sequence[int] = (1,),
    executor: Executor | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Say from where to where the gain goes over some fits, by the number of tasks.

    Parameters
    ----------
    fits : mapping of str to polars.DataFrame
        A name -> constants, schema COSTS.
    tasks : sequence of int
        Half of them on each socket and device.
    seeds, executor, progress
        As for `what_if.gains`.

    Returns
    -------
    polars.DataFrame
        Schema WHAT_IF_RANGES.
    """
    found = gains(
        cases_by_tasks(tasks), fits, metric=SCORE, seeds=seeds, executor=executor, progress=progress
    )
    return ranges(found)


def gain_by_trunk_size(
    fits: Mapping[str, pl.DataFrame],
    shifts: Sequence[int] = TRUNK_SHIFTS,
    *,
    seeds: Sequence[int] = (1,),
    executor: Executor | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Say from where to where the gain goes over some fits, by the size of a trunk.

    Parameters
    ----------
    fits : mapping of str to polars.DataFrame
        A name -> constants, schema COSTS.
    shifts : sequence of int
        Log2 of the slots of a trunk.
    seeds, executor, progress
        As for `what_if.gains`.

    Returns
    -------
    polars.DataFrame
        Schema WHAT_IF_RANGES.
    """
    found = gains(
        cases_by_trunk_size(shifts),
        fits,
        metric=SCORE,
        seeds=seeds,
        executor=executor,
        progress=progress,
    )
    return ranges(found)


def gain_by_drive(
    fits: Mapping[str, pl.DataFrame],
    channels: Sequence[int] = CHANNELS,
    *,
    seeds: Sequence[int] = (1,),
    executor: Executor | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Say from where to where the gain goes over some fits, by the drives' speed.

    Parameters
    ----------
    fits : mapping of str to polars.DataFrame
        A name -> constants, schema COSTS.
    channels : sequence of int
        Pages that a drive serves at a time; memory is added to them.
    seeds, executor, progress
        As for `what_if.gains`.

    Returns
    -------
    polars.DataFrame
        Schema WHAT_IF_RANGES.
    """
    found = gains(
        cases_by_drive(channels),
        fits,
        metric=SCORE,
        seeds=seeds,
        executor=executor,
        progress=progress,
    )
    return ranges(found)


def fits_by_constant(
    names: Sequence[str], *, executor: Executor | None = None, progress: bool = False
) -> dict[str, Fitted]:
    """Put each of some constants at its low and high, and fit the first mail's base anew.

    Parameters
    ----------
    names : sequence of str
        Constants that the fit leaves alone.
    executor, progress
        As for `sweep.run`.

    Returns
    -------
    dict of str to Fitted
        As `what_if.refitted` returns.
    """
    return refitted(fit, names, executor=executor, progress=progress)


def gains_by_constant(
    fits: Mapping[str, Fitted],
    *,
    seeds: Sequence[int] = (1, 2, 3),
    executor: Executor | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Run V1's test at each constant's low and high: devices of 24 GB, sixteen tasks.

    Parameters
    ----------
    fits : mapping of str to Fitted
        As `fits_by_constant` returns.
    seeds, executor, progress
        As for `what_if.gains`.

    Returns
    -------
    polars.DataFrame
        Schema WHAT_IF.
    """
    case = cases_by_tasks([16], policy="percpu", gigabytes=24)
    constants = {name: fitted.constants for name, fitted in fits.items()}
    return gains(case, constants, metric=SCORE, seeds=seeds, executor=executor, progress=progress)


def gain_by_constant(
    fits: Mapping[str, Fitted], *, executor: Executor | None = None, progress: bool = False
) -> pl.DataFrame:
    """Set V1's gain at each constant's low and high side by side, the widest apart first.

    Parameters
    ----------
    fits, executor, progress
        As for `gains_by_constant`.

    Returns
    -------
    polars.DataFrame
        As `what_if.by_constant` returns.
    """
    return by_constant(gains_by_constant(fits, executor=executor, progress=progress))


def _case(
    factor: str, setting: float, label: str, policy: str | Policy, gigabytes: int, **fields: Any
) -> Case:
    base, patched = (
        replace(machine(policy=used, gigabytes=gigabytes), **fields) for used in ("shared", policy)
    )
    return Case(factor=factor, setting=setting, label=label, base=base, patched=patched)
