# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines of the lab's experiments that are compared with the machine in the tests alone."""

from dataclasses import replace

from swapsim.machine.config import Machine
from swapsim.patches.cluster_next.machines import scan_bases
from swapsim.patches.lab import PAGES_OF_MEBIBYTE, UNTIL_DONE
from swapsim.patches.writeback_tags.prediction import PATCH


def writers(*, policy: str = "off", seed: int = 1) -> Machine:
    """Return the machine of data/measured/writeback-tags: eight writers of 32 MiB that exit.

    ``policy`` is the switch swap_tags, "off" or "on": whether the swap cache has writeback tags.
    Source: data/capture/experiments/writeback-tags.toml.
    """
    return Machine(
        patch=PATCH,
        kernel="6.1",
        tags=policy == "on",
        writers=8,
        accesses=32 * PAGES_OF_MEBIBYTE,
        memory_max=64 * PAGES_OF_MEBIBYTE,
        frames=2**16,
        slots=2**17,
        warmup_ns=0,
        duration_ns=UNTIL_DONE,
        seed=seed,
    )


def lock_ledger(*, channels: int = 0, seed: int = 1) -> Machine:
    """Return the machine of data/measured/lock-ledger-brd, or -virtio: eight walkers, 64 MB trunks.

    ``channels`` is 0 for brd, and 8 for a virtio disk, which serves at most one request of each
    task, and whose pages come in through the swap cache (data/capture/experiments/lock-ledger-*).
    """
    return replace(
        scan_bases(policy="percpu-rerandomise", drop_percent=60, seed=seed),
        accesses=2000,
        trunk_shift=14,
        channels=channels,
    )
