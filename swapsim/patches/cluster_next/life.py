# SPDX-License-Identifier: GPL-2.0-or-later
"""V1 over its life: young, after half a second and settled, by tasks that stay and that change CPU.

What is settled takes minutes of the mail's machine, and so is asked of one whose devices are a
SMALLER-th, trunk by trunk: as many trunks, a turn in as much less time, and tasks that change CPU
as much oftener. One turn of the bases, and of how they fall apart, is one turn there as here.
"""

from dataclasses import replace
from functools import partial
from typing import Final

from swapsim.machine.config import MachineConfig
from swapsim.machine.what_if import Case
from swapsim.patches.cluster_next.machines import DEVICE_GIGABYTES, IN_USE, aged_device, machine
from swapsim.slots.config import ChurnConfig, SlotsConfig

CHANGES: Final = 0.1
"""Of CPU, a second and task. Nothing published tells it and no measurement of ours: assumed, a
task that always runs is moved when the kernel balances CPUs or has another use for one."""

CHANGES_LOW: Final = 0.03
CHANGES_HIGH: Final = 1.0
"""From 50 in the mail's half an hour to one a second; 0 is shown beside them."""

CPUS_OF_NODE: Final = 24
"""Of the mail's 48, on two sockets."""

TURN_S: Final = 18
"""In which a device's tasks go around it: half of 48 GB is free, at 350,000 pages a second."""

SMALLER: Final = 32
"""The settled machine's trunks have so many times fewer slots."""

SETTLED_TURNS: Final = 2
"""After which the slot workbench's bases fall together and apart no more, but for tasks that change
CPU less than once a turn."""

YOUNG_GIGABYTES: Final = DEVICE_GIGABYTES // 4
"""Of a device where the trunks' true size counts; it has a quarter of the mail's."""

_SHIFT: Final = SMALLER.bit_length() - 1
_TRUNK_SHIFT: Final = 14


def young(*, policy: str, age_ns: int, seed: int = 1) -> MachineConfig:
    """Return the mail's machine whose watch begins so long after the fill; tasks stay.

    Parameters
    ----------
    policy : str
    age_ns : int
    seed : int
    """
    usual = machine(policy=policy, seed=seed, gigabytes=YOUNG_GIGABYTES)
    return replace(usual, warmup_ns=age_ns)


def settled(*, policy: str, changes: float = 0.0, seed: int = 1) -> MachineConfig:
    """Return the mail's machine after SETTLED_TURNS, a SMALLER-th of its size.

    Parameters
    ----------
    policy : str
    changes : float
        Of CPU, a second and task of the mail's machine.
    seed : int
    """
    whole = machine(policy=policy, seed=seed, gigabytes=DEVICE_GIGABYTES)
    tasks_of_node = whole.cpus // whole.nodes
    return replace(
        whole,
        frames=whole.frames // SMALLER,
        pages=whole.pages // SMALLER,
        slots=whole.slots // SMALLER,
        trunk_shift=_TRUNK_SHIFT - _SHIFT,
        # A cluster has no more than half a trunk.
        cluster_size=256,
        spare_cpus=CPUS_OF_NODE - tasks_of_node,
        stay_ns=round(1e9 / changes / SMALLER) if changes else 0,
        warmup_ns=round(SETTLED_TURNS * TURN_S * 1e9 / SMALLER),
        duration_ns=100_000_000,
    )


def ages_of_v1() -> list[Case]:
    """Return the ages of V1 and of the merged rule, each against the shared base of that age."""
    return [
        *(
            _case(label, age_ns / 1e9, policy, partial(young, age_ns=age_ns))
            for label, age_ns in (("50 ms", 50_000_000), ("half a second", 500_000_000))
            for policy in ("percpu", "percpu-rerandomise")
        ),
        *(
            _case(_settled_label(changes), SETTLED_TURNS * TURN_S, policy, _settled_at(changes))
            for policy, changes in (
                ("percpu", 0.0),
                ("percpu", CHANGES_LOW),
                ("percpu", CHANGES),
                ("percpu", CHANGES_HIGH),
                ("percpu-rerandomise", CHANGES),
            )
        ),
    ]


def wanderers(changes: float) -> tuple[SlotsConfig, ChurnConfig]:
    """Return the slot workbench of one of the mail's devices, settled: eight tasks and a kswapd.

    Parameters
    ----------
    changes : float
        Of CPU, a second and task.

    Notes
    -----
    Trunks are a SMALLER-th of the mail's, and as many. All nine swap out at one rate.
    """
    trunks = DEVICE_GIGABYTES * 2**18 >> _TRUNK_SHIFT
    slots = trunks << _TRUNK_SHIFT - _SHIFT
    free = round((1 - IN_USE) * slots)
    return (
        SlotsConfig(
            kernel="5.8",
            slots=slots,
            trunk_shift=_TRUNK_SHIFT - _SHIFT,
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
"""After the fill of notebook 05's aged device; it is raced at 400."""


def race_by_age() -> list[Case]:
    """Return notebook 05's race at several ages: bases in a line, and the merged rule."""
    return [
        Case(
            factor=policy,
            setting=age,
            label=f"{policy}, {age} ms",
            base=replace(aged_device(policy="shared"), warmup_ns=age * 1_000_000),
            patched=replace(aged_device(policy=policy), warmup_ns=age * 1_000_000),
        )
        for policy in ("percpu", "spread", "percpu-rerandomise")
        for age in RACE_AGES_MS
    ]


def _settled_label(changes: float) -> str:
    return f"settled, {changes:g} changes a second" if changes else "settled, tasks stay"


def _settled_at(changes: float) -> "partial[MachineConfig]":
    return partial(settled, changes=changes)


def _case(label: str, setting: float, policy: str, made: "partial[MachineConfig]") -> Case:
    return Case(
        factor=policy,
        setting=setting,
        label=f"{policy}, {label}",
        base=made(policy="shared"),
        patched=made(policy=policy),
    )
