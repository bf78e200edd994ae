# SPDX-License-Identifier: GPL-2.0-or-later
"""Kept: policies on the workbench, and raced on machines, as notebooks 04 and 05 rank them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import polars as pl

from swapsim import slots, traces
from swapsim.ffi.facts import POLICIES
from swapsim.machine.config import MachineConfig
from swapsim.machine.throughput import run_policies
from swapsim.patches.cluster_next.machines import aged_device, traced_machine
from swapsim.slots.config import ChurnConfig, SlotsConfig
from swapsim.study import SerialExecutor
from swapsim.study.kept import kept, picked

DEVICE: Final = SlotsConfig(slots=2 * slots.GIGABYTE_SLOTS, possible_cpus=8)
"""2 GB, 32 trunks."""

CHURN: Final = ChurnConfig(used_share=0.7, warm_up_pages=2**17, pages=2**14)
"""Tasks that swap on it until it has aged, and then are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a sweep varies, around which base case, and for which policies."""

    device: SlotsConfig = DEVICE
    churn: ChurnConfig = CHURN
    factor: str
    settings: tuple[object, ...]
    policies: tuple[str, ...]

    def measured(self, progress: bool) -> pl.DataFrame:
        """Return the measures of twenty seeds."""
        return slots.one_at_a_time(
            self.device,
            self.churn,
            {self.factor: self.settings},
            policies=self.policies,
            progress=progress,
        )

    def first_seed(self, rows: pl.DataFrame, pick: int) -> pl.DataFrame:
        """Measure one policy at one setting anew, with the first seed."""
        setting, policy = picked(rows, ["setting", "policy"], pick)
        return slots.one_at_a_time(
            self.device,
            self.churn,
            {self.factor: [each for each in self.settings if str(each) == setting]},
            policies=[policy],
            seeds=1,
            executor=SerialExecutor(),
        )


_AGES_OF_D: Final = _Asked(
    factor="warm_up_pages",
    settings=(2**13, 2**14, 2**15, 2**16, 2**17, 2**18),
    policies=("shared", "percpu", "percpu-rerandomise"),
)


@kept("cluster-next-ages", sample=_AGES_OF_D.first_seed, reads=())
def ages(progress: bool) -> pl.DataFrame:
    """Measure patch D's bases on devices of six ages (SLOT_SWEEP)."""
    return _AGES_OF_D.measured(progress)


_AGES_OF_BASES: Final = _Asked(
    factor="warm_up_pages",
    settings=(2**13, 2**15, 2**16, 2**17),
    policies=("shared", "percpu", "spread", "percpu-rerandomise"),
)


@kept("cluster-next-ages-of-spread-bases", sample=_AGES_OF_BASES.first_seed, reads=())
def ages_of_spread_bases(progress: bool) -> pl.DataFrame:
    """Measure bases that are spread, evenly and not, on devices of four ages (SLOT_SWEEP)."""
    return _AGES_OF_BASES.measured(progress)


_POSSIBLE_CPUS: Final = _Asked(
    factor="possible_cpus", settings=(8, 128), policies=("spread", "spread-online")
)


@kept("cluster-next-possible-cpus", sample=_POSSIBLE_CPUS.first_seed, reads=())
def possible_cpus(progress: bool) -> pl.DataFrame:
    """Measure bases spread over the possible CPUs and over those online (SLOT_SWEEP)."""
    return _POSSIBLE_CPUS.measured(progress)


_CPUS: Final = _Asked(
    factor="cpus", settings=(2, 8, 32, 64), policies=("shared", "percpu-rerandomise", "avoid")
)


@kept("cluster-next-cpus", sample=_CPUS.first_seed, reads=())
def cpus(progress: bool) -> pl.DataFrame:
    """Measure bases that avoid each other, with fewer CPUs than trunks and more (SLOT_SWEEP)."""
    return _CPUS.measured(progress)


_ADDRESS_SPACES: Final = _Asked(
    factor="threads_per_address_space",
    settings=(1, 4),
    policies=("percpu", "percpu-rerandomise", "permm"),
)


@kept("cluster-next-address-spaces", sample=_ADDRESS_SPACES.first_seed, reads=())
def address_spaces(progress: bool) -> pl.DataFrame:
    """Measure a base for each address space, with one thread in each and with four (SLOT_SWEEP)."""
    return _ADDRESS_SPACES.measured(progress)


_SOLID_STATE: Final = _Asked(
    factor="rotational", settings=(False,), policies=("shared", "percpu-rerandomise")
)


@kept("cluster-next-solid-state", sample=_SOLID_STATE.first_seed, reads=())
def solid_state(progress: bool) -> pl.DataFrame:
    """Measure how far apart slots lie on a device without seeks (SLOT_SWEEP)."""
    return _SOLID_STATE.measured(progress)


_DISK: Final = _Asked(
    device=replace(DEVICE, rotational=True),
    factor="slot_cache",
    settings=(True, False),
    policies=("shared",),
)


@kept("cluster-next-disk", sample=_DISK.first_seed, reads=())
def disk(progress: bool) -> pl.DataFrame:
    """Measure how far apart slots lie on a disk, with caches of slots and without (SLOT_SWEEP)."""
    return _DISK.measured(progress)


_POLICIES: Final = _Asked(factor="used_share", settings=(0.7,), policies=POLICIES)


@kept("cluster-next-policies", sample=_POLICIES.first_seed, reads=())
def policies(progress: bool) -> pl.DataFrame:
    """Measure all built-in policies on the aged device (SLOT_SWEEP)."""
    return _POLICIES.measured(progress)


_FEW_CPUS: Final = _Asked(factor="cpus", settings=(4, 8), policies=("percpu-rerandomise", "avoid"))


@kept("cluster-next-few-cpus", sample=_FEW_CPUS.first_seed, reads=())
def few_cpus(progress: bool) -> pl.DataFrame:
    """Measure bases that avoid each other, with few CPUs (SLOT_SWEEP)."""
    return _FEW_CPUS.measured(progress)


def _one_race(
    machine: Callable[[], Callable[..., MachineConfig]], rows: pl.DataFrame, pick: int
) -> pl.DataFrame:
    (policy,) = picked(rows, ["policy"], pick)
    return run_policies(machine(), [policy], seeds=1, executor=SerialExecutor())


def _aged() -> Callable[..., MachineConfig]:
    return aged_device


@kept("cluster-next-race", sample=partial(_one_race, _aged))
def race(progress: bool) -> pl.DataFrame:
    """Run the aged device's machine under all built-in policies (RESULTS)."""
    return run_policies(_aged(), progress=progress)


def _traced() -> Callable[..., MachineConfig]:
    return partial(traced_machine, traces.shipped("cluster-next")["slots-8-shared"])


@kept(
    "cluster-next-race-on-a-trace",
    sample=partial(_one_race, _traced),
    reads=["costs.csv", "traces/slots-8-shared/*"],
)
def race_on_a_trace(progress: bool) -> pl.DataFrame:
    """Run a trace's tasks under all built-in policies (RESULTS)."""
    return run_policies(_traced(), progress=progress)
