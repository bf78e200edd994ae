# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments with swap_base, the lab kernel's switch of patch D, as machines."""

from concurrent.futures import Executor
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim.machine.config import MachineConfig
from swapsim.machine.lab import PAGES_OF_MEBIBYTE, UNTIL_DONE, machines_of, runs
from swapsim.patches.cluster_next.machines import PATCH

BASES: Final = ("shared", "percpu", "percpu-rerandomise", "spread", "avoid", "permm")
"""Values of the lab kernel's switch swap_base."""

CHANNELS: Final = 8
"""Requests that the virtio disk serves at a time: one of each task at most."""


def scan_bases(*, policy: str, drop_percent: int, seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/scan-base-*: eight walkers on what is left of 34 MiB.

    Parameters
    ----------
    policy : str
        The switch swap_base, one of BASES.
    drop_percent : int
        60 leaves the device less than half full, 25 more.
    seed : int

    Notes
    -----
    Of the 24 MiB of the memory cgroup the walkers' pages have 5504: the rest is page tables,
    stacks and nodes of the swap cache. That is what the first task of the fill left in memory in
    the slot events of those runs: it swapped out 3200 of its 8704 pages.

    Source
    ------
    data/capture/experiments/scan-base-under-half.toml, scan-base-above-half.toml.
    """
    return MachineConfig(
        patch=PATCH,
        kernel="6.1",
        policy=policy,
        walkers=8,
        pages=34 * PAGES_OF_MEBIBYTE,
        accesses=4000,
        drop_percent=drop_percent,
        memory_max=5504,
        frames=2**16,
        slots=2**16,
        trunk_shift=10,
        warmup_ns=0,
        duration_ns=UNTIL_DONE,
        seed=seed,
    )


def lock_ledger(*, channels: int = 0, seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/lock-ledger-brd, or -virtio: eight walkers, 64 MB trunks.

    Parameters
    ----------
    channels : int
        0 for brd; more for a virtio disk, whose pages pass the swap cache on their way in.
    seed : int

    Source
    ------
    data/capture/experiments/lock-ledger-brd.toml, lock-ledger-virtio.toml.
    """
    return replace(
        scan_bases(policy="percpu-rerandomise", drop_percent=60, seed=seed),
        accesses=2000,
        trunk_shift=14,
        channels=channels,
    )


EXPERIMENTS: Final = {
    "lock-ledger-brd": lambda: [lock_ledger()],
    "lock-ledger-virtio": lambda: [lock_ledger(channels=CHANNELS)],
    "scan-base-under-half": lambda: [scan_bases(policy=base, drop_percent=60) for base in BASES],
    "scan-base-above-half": lambda: [scan_bases(policy=base, drop_percent=25) for base in BASES],
}
"""Those of data/measured that are machines here."""


def lab_machines(experiment: str) -> list[MachineConfig]:
    """Return the machines of an experiment, one per value of the switch.

    Parameters
    ----------
    experiment : str
        One of EXPERIMENTS.

    Raises
    ------
    InputError
        There is no machine of it.
    """
    return machines_of(EXPERIMENTS, experiment)


def lab_runs(experiment: str, seeds: int, *, executor: Executor | None = None) -> pl.DataFrame:
    """Run an experiment's machines and count as the lab does.

    Parameters
    ----------
    experiment : str
        One of EXPERIMENTS.
    seeds : int
        Runs of each, from seed 1 on.
    executor : concurrent.futures.Executor, optional
        As for `sweep.run`.

    Returns
    -------
    polars.DataFrame
        As `machine.lab.run_as_lab` returns, one run after another.

    Raises
    ------
    InputError
        There is no machine of it, or no seed.
    """
    return runs(lab_machines(experiment), seeds, executor=executor)
