# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch D would gain on other machines, drives and costs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from swapsim.machine import what_if
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit_rows import to_rows
from swapsim.machine.what_if import CPUS, TRUNK_SHIFTS, Case, on_drives
from swapsim.patches.cluster_next.fitting import fit
from swapsim.patches.cluster_next.machines import (
    DEVICE_GIGABYTES,
    IN_MEMORY,
    IN_MEMORY_HIGH,
    IN_MEMORY_LOW,
    machine,
)
from swapsim.policies.policy import Policy
from swapsim.study.constants import Moved

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
    *, policy: str | Policy = "percpu-rerandomise", gigabytes: int = GIGABYTES
) -> list[Case]:
    """Return patch D's test on two drives, by latency and by queue apart, and on memory."""
    return on_drives(partial(_case, policy=policy, gigabytes=gigabytes))


def case_of_mail(fit: str) -> Case:
    """Return V1's test on devices of 24 GB, for a fit of `fit_at_end`.

    Parameters
    ----------
    fit : str
        Its name: that of an open part in memory has its own machine.
    """
    return _case("fit", 0, fit, "percpu", gigabytes=24, in_memory=in_memory_of(fit))


def in_memory_of(fit: str) -> float:
    """Return the part of all pages that memory holds in a fit of `fit_at_end`."""
    return {"in_memory, low": IN_MEMORY_LOW, "in_memory, high": IN_MEMORY_HIGH}.get(fit, IN_MEMORY)


def fit_at_end(moved: Moved) -> pl.DataFrame:
    """Fit the first mail's base with a constant, or the part in memory, at an end (FIT_ROWS).

    A fit that does not converge has no rows.
    """
    if moved.constant == "in_memory":
        fitted = fit(in_memory=in_memory_of(moved.label))
    else:
        fitted = fit(constants=change_costs(costs(), {moved.constant: moved.value}))
    return to_rows(moved.label, fitted).filter(fitted.converged)


def by_constant(gained: pl.DataFrame) -> pl.DataFrame:
    """Return V1's gain at the ends of each constant, the widest apart first (SENSITIVITY)."""
    return what_if.by_constant(gained, others={"in_memory": (IN_MEMORY_LOW, IN_MEMORY_HIGH)})


def _case(
    factor: str,
    setting: float,
    label: str,
    policy: str | Policy,
    gigabytes: int,
    *,
    in_memory: float = IN_MEMORY,
    costs: Mapping[str, int] = MappingProxyType({}),
    **fields: Any,
) -> Case:
    base, patched = (
        replace(machine(policy=used, gigabytes=gigabytes, in_memory=in_memory), **fields)
        for used in ("shared", policy)
    )
    return Case(
        factor=factor, setting=setting, label=label, base=base, patched=patched, costs=dict(costs)
    )
