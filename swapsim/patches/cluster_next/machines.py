# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines of patch D and its alternatives: its mail's, an aged device, that of a trace."""

import math
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import slots
from swapsim.errors import InputError
from swapsim.machine.config import MachineConfig
from swapsim.policies.policy import Policy
from swapsim.slots.config import StreamsConfig
from swapsim.slots.events import first_free, request_streams, traced_device

PATCH: Final = "04-percpu-cluster-next"
"""The folder in patches, and the name in the rows of data."""

DEVICE_GIGABYTES: Final = 48
"""Size of each of the two devices of patch D's mails (V1 to V3: memmap=48G)."""

IN_MEMORY: Final = 3 / 8
"""Share of all pages that memory holds. The mail says that each process has 68,280 accesses a
second, but not under which kernel; this is the share if it was the base, with 2.84 GB/s swapped
in."""

IN_MEMORY_LOW: Final = 0.21
IN_MEMORY_HIGH: Final = 3 / 8
"""The share if it was V3's patched kernel, with 3.51 GB/s, and if it was the base; those of the
other kernels of both mails lie between."""

IN_USE: Final = 0.48
"""Share of a device's slots in use, which the mail does not say either. A memory of 64 GB per node
less two devices of 48 GB leaves some 29 GB to the test; if it holds 3 of 8 pages, 48 of the
devices' 96 GB are in use. Here it is a little less, because from one half on the kernel takes slots
back from pages in memory, and it is unknown on which side of one half the test was."""

WARM_UP_PART: Final = 10
"""Of the pages that go out after the first free, one in so many is part of the warm-up."""


def machine(
    *,
    policy: str | Policy,
    seed: int = 1,
    kernel: str = "5.7+scan-more",
    gigabytes: int = DEVICE_GIGABYTES,
    in_memory: float = IN_MEMORY,
) -> MachineConfig:
    """Return the machine of patch D's mail: 16 walkers on two pmems, 8 each, fragmented.

    Parameters
    ----------
    policy : str or Policy
        "shared" is the base, "percpu" V1 of the patch, "percpu-rerandomise" what was merged.
    seed : int
    kernel : str
        "5.7+scan-more" is what V1 was measured on; "5.8" has the memory cgroup's charge of V2 and
        V3's base, without lru_lock.
    gigabytes : int
        Of each device; memory and pages keep their share of it.
    in_memory : float
        Share of all pages that memory holds; IN_MEMORY_LOW to IN_MEMORY_HIGH are possible.

    Returns
    -------
    MachineConfig

    Notes
    -----
    The devices have the 48 GB of the mail and thus as many trunks. The mail does not say how much
    memory and how many pages the test had; IN_MEMORY and IN_USE are assumed. The warm-up lasts
    until memory's free pages are used up and tasks reclaim themselves. The measured time is short
    against a scan around a device (20 s), so the bases are where the fill left them, not where
    they drift to. The LRU lists are balanced as on the mail's node of 12 GB, at any size.

    Source
    ------
    Seed D (16 pmbench processes, 80/20, random, a RAM disk per socket); the base holds "scan more".
    """
    nodes, devices, walkers, slots = 2, 2, 16, gigabytes * 2**18
    pages = round(devices * slots * IN_USE / (1 - in_memory))
    frames = round(pages * in_memory / nodes)
    return MachineConfig(
        patch=PATCH,
        kernel=kernel,
        policy=policy,
        nodes=nodes,
        devices=devices,
        walkers=walkers,
        frames=frames,
        inactive_ratio=math.isqrt(10 * (frames * DEVICE_GIGABYTES // gigabytes >> 18)),
        pages=pages // walkers,
        slots=slots,
        cluster_size=512,
        fragmented=True,
        warmup_ns=20_000_000 + gigabytes * 1_250_000,
        duration_ns=100_000_000,
        seed=seed,
    )


def aged_device(*, policy: str | Policy, seed: int = 1) -> MachineConfig:
    """Return the aged device of notebook 05: 8 CPUs on 2 GB, fragmented by use.

    Parameters
    ----------
    policy : str or Policy
    seed : int

    Returns
    -------
    MachineConfig

    Notes
    -----
    Seven tenths of the device are in use, at random places. Some 130,000 pages are swapped out in
    the warm-up, after which the bases are where swapping has left them.
    """
    in_use = 7 * 2 * slots.GIGABYTE_SLOTS // 10
    frames = 2**16
    return MachineConfig(
        patch=PATCH,
        kernel="5.8",
        policy=policy,
        walkers=8,
        frames=frames,
        pages=(in_use + frames) // 8,
        slots=2 * slots.GIGABYTE_SLOTS,
        fragmented=True,
        warmup_ns=400_000_000,
        duration_ns=50_000_000,
        seed=seed,
    )


def traced_machine(folder: Path | str, *, policy: str | Policy, seed: int = 1) -> MachineConfig:
    """Return the contention machine on which the tasks of a slot trace repeat their requests.

    Each task has its own CPU and runs as fast as its work allows; the times of the emulator are
    dropped. A trace does not say whether a slot was freed because its page came in, or because the
    page was discarded. Where a task only frees pages it is likely the latter, so the rows of each
    task end with its last page out. The warm-up fills the device and lasts for a tenth of the
    pages that go out after the first slot was freed.

    Parameters
    ----------
    folder : Path or str
        A trace folder with slot events and its set-up (`traces.slot_set_up`).
    policy : str or Policy
    seed : int

    Returns
    -------
    MachineConfig
        One node, the device of the trace, kernel 6.1. Memory is twice the device, so that only the
        pages of the trace go out.

    Raises
    ------
    InputError
        The folder has no slot events or no set-up, or no slot is ever freed in it.
    ConfigError
        After the warm-up fewer rows are left than there are tasks, or more pages come in at a time
        than memory holds.
    """
    device = traced_device(folder)
    return MachineConfig(
        patch=PATCH,
        kernel=device.kernel,
        policy=policy,
        streams=_at_work(folder),
        frames=2 * device.slots,
        slots=device.slots,
        cluster_size=device.cluster_size,
        trunk_shift=device.trunk_shift,
        seed=seed,
    )


def _at_work(folder: Path | str) -> StreamsConfig:
    """Return the rows of a trace up to each task's last page out, with the share of the warm-up."""
    requests = request_streams(folder)
    first = first_free(requests, folder)
    goes_out = pl.col("op") == "get"
    requests = requests.filter(goes_out.reverse().cum_max().reverse().over("task"))
    later = requests.select(pl.arg_where(goes_out & (pl.int_range(pl.len()) > first))).to_series()
    if later.is_empty():
        raise InputError(
            "no page goes out after the first slot is freed: choose a longer trace",
            path=Path(folder) / "slot_events.parquet",
        )
    skipped = later[later.len() // WARM_UP_PART] / requests.height
    return StreamsConfig(requests=requests, skipped_share=round(skipped, 6))
