# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machines of patch D: of its mail, at an age, of a trace, and of the lab kernel."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.patches.lab import PAGES_OF_MEBIBYTE, UNTIL_DONE
from swapsim.policies import Policy
from swapsim.slots.config import Churn, Device, Streams
from swapsim.slots.events import first_free, request_streams, traced_device
from swapsim.slots.ranking import aged_device as aged_device

PATCH: Final = "04-percpu-cluster-next"
"""The folder in patches, and the name in the rows of data."""

DEVICE_GIGABYTES: Final = 48
"""Size of each of the two devices of patch D's mails (the reply of 21 May 2020: memmap=48G)."""

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

WINDOW_NS: Final = 80_000_000
"""Measured nanoseconds for each GB of a device. Reclaim takes pages from the inactive lists for
some 14 ms a GB, then refills them, and no window should depend on where in this it begins. Until 28
November 2026 all windows were of 100 ms, and gains differed by up to 20 points with their start."""

WARM_UP_PART: Final = 10
"""Of the pages that go out after the first free, one in so many is part of the warm-up."""


def machine(
    *,
    policy: str | Policy,
    seed: int = 1,
    kernel: str = "5.7+scan-more",
    gigabytes: int = DEVICE_GIGABYTES,
    in_memory: float = IN_MEMORY,
) -> Machine:
    """Return the machine of patch D's mail: 16 walkers on two pmems, 8 each, fragmented.

    ``policy`` is "shared" for the base, "percpu" for V1, "percpu-rerandomise" for what was merged.
    V1 was measured on the kernel "5.7+scan-more"; "5.8" has the memory cgroup's charge of V2's and
    V3's base, without lru_lock. Memory and pages keep their share of devices of any size; the mail
    does not say how large they were: IN_MEMORY and IN_USE are assumed.

    The warm-up lasts until tasks reclaim themselves. The measured time covers several times in
    which reclaim refills the inactive lists (WINDOW_NS), about a twentieth of a scan around a
    device: it begins where the fill left the bases, and V1's drift together meanwhile. The LRU
    lists are balanced as on the mail's node of 12 GB, at any size.

    Source: seed D (16 pmbench processes, 80/20, random, a RAM disk per socket); the base holds
    "scan more".
    """
    nodes, devices, walkers, slots = 2, 2, 16, gigabytes * 2**18
    pages = round(devices * slots * IN_USE / (1 - in_memory))
    frames = round(pages * in_memory / nodes)
    return Machine(
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
        duration_ns=gigabytes * WINDOW_NS,
        seed=seed,
    )


# The mail's machine over the life of a device of a quarter of its size, with trunks of 64 MB. Tasks
# go around it in a quarter of the time, so on a settled one they change CPU four times as often:
# the bases behave in one turn as in the mail's. Trunks must not be smaller: in one of 2 MB, 512
# slots, the caches of nine CPUs do not fit, so that one base for all of them has several locks.

CHANGES: Final = 0.1
"""Changes of CPU per second and task. This is an assumption, neither published nor measured: the
kernel moves a task that always runs when it balances CPUs or needs its CPU for another task."""

CHANGES_LOW: Final = 0.03
CHANGES_HIGH: Final = 1.0
"""From 50 in the mail's half an hour to one per second; 0 is shown next to them."""

CPUS_OF_NODE: Final = 24  # CPUs of one of the mail's two sockets

TURN_S: Final = 18
"""Seconds in which tasks go around a device: half of 48 GB is free, at 350,000 pages a second."""

GIGABYTES: Final = DEVICE_GIGABYTES // 4
"""Size of a device in most cases: 192 trunks of 64 MB, filled in a quarter of the time."""

SETTLED_TURNS: Final = 2
"""Turns after which the distances of bases do not change any more on the slot workbench, unless
tasks change CPU less than once per turn."""


def settled(
    *,
    policy: str,
    kernel: str = "5.7+scan-more",
    changes: float = 0.0,
    seed: int = 1,
    gigabytes: int = GIGABYTES,
) -> Machine:
    """Return the mail's machine after SETTLED_TURNS of tasks around its devices.

    ``changes`` is the number of changes of CPU per second and task of the mail's machine.
    """
    usual = machine(policy=policy, kernel=kernel, seed=seed, gigabytes=gigabytes)
    smaller = DEVICE_GIGABYTES / gigabytes
    return replace(
        usual,
        spare_cpus=CPUS_OF_NODE - usual.cpus // usual.nodes,
        stay_ns=round(1e9 / changes / smaller) if changes else 0,
        warmup_ns=round(SETTLED_TURNS * TURN_S * 1e9 / smaller),
    )


def wanderers(changes: float) -> tuple[Device, Churn]:
    """Return the slot workbench of a device of GIGABYTES, settled: eight tasks and a kswapd.

    ``changes`` is the number of changes of CPU per second and task on the mail's device. All nine
    tasks swap out at one rate.
    """
    slots = GIGABYTES * 2**18
    free = round((1 - IN_USE) * slots)
    return (
        Device(kernel="5.8", slots=slots, cluster_size=512, possible_cpus=CPUS_OF_NODE),
        Churn(
            used_share=IN_USE,
            warm_up_pages=SETTLED_TURNS * free,
            pages=free // 2,
            tasks=9,
            pages_a_cpu=round(free / TURN_S / 9 / changes) if changes else 0,
        ),
    )


# The requests of a trace, for the race of notebook 05.


def traced_machine(folder: Path | str, *, policy: str | Policy, seed: int = 1) -> Machine:
    """Return the machine of kernel 6.1 on which the tasks of a slot trace repeat their requests.

    Each task has its own CPU and runs as fast as its work allows; the trace's times are dropped.
    Memory is twice the trace's device, so that only the pages of the trace go out. The warm-up
    fills the device and lasts for a tenth of the pages that go out after the first free.

    An InputError says that the folder has no slot events or no set-up, or that no slot is ever
    freed in it; a InputError that too few rows are left after the warm-up, or that memory is too
    small for the pages that come in at a time.
    """
    device = traced_device(folder)
    return Machine(
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


def _at_work(folder: Path | str) -> Streams:
    """Return the rows of a trace up to each task's last page out, with the share of the warm-up.

    A trace does not say whether a slot was freed because its page came in or was discarded. Where
    a task only frees pages, likely the latter.
    """
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
    return Streams(requests=requests, skipped_share=round(skipped, 6))


# The lab's experiments with swap_base, the lab kernel's switch of patch D.

BASES: Final = ("shared", "percpu", "percpu-rerandomise", "spread", "avoid", "permm")
"""Values of the lab kernel's switch swap_base."""


def scan_bases(*, policy: str, drop_percent: int, seed: int = 1) -> Machine:
    """Return the machine of data/measured/scan-base-*: eight walkers on what is left of 34 MiB."""
    return Machine(
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
