# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases of patch D's what-ifs: other machines, drives and costs, and V1 over its life.

To settle takes minutes of the mail's machine. `settled` is therefore a machine that is SMALLER
times smaller, trunk by trunk: it has as many trunks, the tasks go around a device in so much less
time, and they change CPU as much more often, so that the bases behave in one turn as in the mail's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from swapsim.machine import what_if
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import to_rows
from swapsim.machine.what_if import CPUS, TRUNK_SHIFTS, Case, on_drives
from swapsim.patches.cluster_next.machines import (
    DEVICE_GIGABYTES,
    IN_MEMORY,
    IN_MEMORY_HIGH,
    IN_MEMORY_LOW,
    IN_USE,
    aged_device,
    machine,
)
from swapsim.patches.cluster_next.mails import fit
from swapsim.policies.policy import Policy
from swapsim.slots.config import ChurnConfig, SlotsConfig
from swapsim.study.constants import Moved

SCORE: Final = "accesses"
"""The metric that stands for pmbench's score."""

GIGABYTES: Final = DEVICE_GIGABYTES // 4
"""Size of a device in most cases: 192 trunks of 64 MB, filled in a quarter of the time."""

MERGED: Final = "percpu-rerandomise"


def _case(
    factor: str,
    setting: float,
    label: str,
    *,
    policy: str | Policy,
    make: Callable[..., MachineConfig],
    costs: Mapping[str, int] = MappingProxyType({}),
    **changes: Any,
) -> Case:
    """Return a case whose machines are ``make(policy=...)`` with some fields changed."""
    base, patched = (replace(make(policy=used), **changes) for used in ("shared", policy))
    return Case(
        factor=factor, setting=setting, label=label, base=base, patched=patched, costs=dict(costs)
    )


_SMALL: Final = partial(machine, gigabytes=GIGABYTES)


def cases_by_tasks(tasks: Sequence[int] = CPUS[1:], *, policy: str | Policy = MERGED) -> list[Case]:
    """Return patch D's test with other numbers of walkers, which share the same pages."""
    pages = _SMALL(policy=policy).pages * 16
    case = partial(_case, "cpus", policy=policy, make=_SMALL)
    return [case(count, f"{count} tasks", walkers=count, pages=pages // count) for count in tasks]


def cases_by_trunk_size(
    shifts: Sequence[int] = TRUNK_SHIFTS, *, policy: str | Policy = MERGED
) -> list[Case]:
    """Return patch D's test with other sizes of a trunk."""
    case = partial(_case, "trunk", policy=policy, make=_SMALL)
    sizes = {shift: 2 ** (shift - 8) for shift in shifts}
    return [case(size, f"{size} MB a trunk", trunk_shift=shift) for shift, size in sizes.items()]


def cases_by_drive(*, policy: str | Policy = MERGED) -> list[Case]:
    """Return patch D's test on drives, which differ in latency or in queue, and on memory."""
    return on_drives(partial(_case, policy=policy, make=_SMALL))


def case_of_mail(fit: str) -> Case:
    """Return V1's test on devices of 24 GB for a fit of `fit_at_end`, by the fit's name."""
    make = partial(machine, gigabytes=24, in_memory=in_memory_of(fit))
    return _case("fit", 0, fit, policy="percpu", make=make)


def in_memory_of(fit: str) -> float:
    """Return the share of all pages that memory holds in a fit of `fit_at_end`."""
    return {"in_memory, low": IN_MEMORY_LOW, "in_memory, high": IN_MEMORY_HIGH}.get(fit, IN_MEMORY)


def fit_at_end(moved: Moved) -> pl.DataFrame:
    """Fit the first mail's base with a constant, or the share in memory, at an end (FIT_ROWS).

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


# V1 over its life.

CHANGES: Final = 0.1
"""Changes of CPU per second and task. This is an assumption, neither published nor measured: the
kernel moves a task that always runs when it balances CPUs or needs its CPU for another task."""

CHANGES_LOW: Final = 0.03
CHANGES_HIGH: Final = 1.0
"""From 50 in the mail's half an hour to one per second; 0 is shown next to them."""

CPUS_OF_NODE: Final = 24
"""CPUs of one of the mail's two sockets."""

TURN_S: Final = 18
"""Seconds in which tasks go around a device: half of 48 GB is free, at 350,000 pages a second."""

SMALLER: Final = 32
"""Ratio of the mail's slots to those of the settled machine, in each trunk."""

SETTLED_TURNS: Final = 2
"""Turns after which the distances of bases do not change any more on the slot workbench, unless
tasks change CPU less than once per turn."""

_SHIFT: Final = 14 - (SMALLER.bit_length() - 1)
"""Log2 of the slots of a trunk of the settled machine."""


def young(*, policy: str, age_ns: int, seed: int = 1) -> MachineConfig:
    """Return the mail's machine, measured from ``age_ns`` after the fill on; tasks stay."""
    usual = machine(policy=policy, seed=seed, gigabytes=GIGABYTES)
    return replace(usual, warmup_ns=age_ns)


def settled(*, policy: str, changes: float = 0.0, seed: int = 1) -> MachineConfig:
    """Return the mail's machine after SETTLED_TURNS, SMALLER times smaller.

    ``changes`` is the number of changes of CPU per second and task of the mail's machine.
    """
    full = machine(policy=policy, seed=seed)
    tasks_of_node = full.cpus // full.nodes
    return replace(
        full,
        frames=full.frames // SMALLER,
        pages=full.pages // SMALLER,
        slots=full.slots // SMALLER,
        trunk_shift=_SHIFT,
        # A cluster has at most half of the slots of a trunk.
        cluster_size=256,
        spare_cpus=CPUS_OF_NODE - tasks_of_node,
        stay_ns=round(1e9 / changes / SMALLER) if changes else 0,
        warmup_ns=round(SETTLED_TURNS * TURN_S * 1e9 / SMALLER),
        duration_ns=100_000_000,
    )


def ages_of_v1() -> list[Case]:
    """Return V1 and the merged patch at several ages, each against the shared base of that age."""
    cases = [
        _age(label, age_ns / 1e9, policy, partial(young, age_ns=age_ns))
        for label, age_ns in (("50 ms", 50_000_000), ("half a second", 500_000_000))
        for policy in ("percpu", MERGED)
    ]
    rates = [("percpu", rate) for rate in (0.0, CHANGES_LOW, CHANGES, CHANGES_HIGH)]
    for policy, changes in [*rates, (MERGED, CHANGES)]:
        stay = f"{changes:g} changes a second" if changes else "tasks stay"
        make = partial(settled, changes=changes)
        cases.append(_age(f"settled, {stay}", SETTLED_TURNS * TURN_S, policy, make))
    return cases


def _age(label: str, setting: float, policy: str, make: Callable[..., MachineConfig]) -> Case:
    return _case(policy, setting, f"{policy}, {label}", policy=policy, make=make)


def wanderers(changes: float) -> tuple[SlotsConfig, ChurnConfig]:
    """Return the slot workbench of one of the mail's devices, settled: eight tasks and a kswapd.

    ``changes`` is the number of changes of CPU per second and task. The device has as many trunks
    as the mail's, SMALLER times smaller; all nine tasks swap out at one rate.
    """
    slots = (DEVICE_GIGABYTES * 2**18 >> 14) << _SHIFT
    free = round((1 - IN_USE) * slots)
    return (
        SlotsConfig(
            kernel="5.8",
            slots=slots,
            trunk_shift=_SHIFT,
            cluster_size=256,
            possible_cpus=CPUS_OF_NODE,
        ),
        ChurnConfig(
            used_share=IN_USE,
            warm_up_pages=SETTLED_TURNS * free,
            pages=free // 2,
            tasks=9,
            pages_a_cpu=round(free / TURN_S / 9 / changes) if changes else 0,
        ),
    )


RACE_AGES_MS: Final = (50, 100, 200, 400, 800)
"""Times after the fill of notebook 05's aged device; its race is at 400."""


def race_by_age() -> list[Case]:
    """Return notebook 05's race at several ages: linear bases, and the merged patch."""
    return [
        _case(policy, age, f"{policy}, {age} ms", policy=policy, make=aged_device,
              warmup_ns=age * 1_000_000)
        for policy in ("percpu", "spread", MERGED)
        for age in RACE_AGES_MS
    ]  # fmt: skip
