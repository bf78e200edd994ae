# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of patch A's mail, without the patch and with it."""

from typing import Final

from swapsim.machine.config import MachineConfig

PATCH: Final = "01-writeback-tags"
"""Its folder in patches, and its rows in data."""


def machine(*, tags: bool, seed: int = 1) -> MachineConfig:
    """Return the machine of patch A's mail: 8 writers and 2 kswapds on one pmem under 4.8.

    Parameters
    ----------
    tags : bool
        Whether the swap cache has writeback tags: True is the base, False the patch.
    seed : int

    Notes
    -----
    Memory holds only what the tasks wrote last, because older pages are not accessed again. The
    device starts empty, as in swap-w-seq.

    Source
    ------
    Seed A (8 processes, Xeon E5 v3, one pmem); facts on who contends: two sockets, a kswapd each.
    """
    return MachineConfig(
        patch=PATCH,
        kernel="4.8",
        swap_writeback_tags=tags,
        policy="shared",
        nodes=2,
        devices=1,
        writers=8,
        frames=2**15,
        slots=2**20,
        warmup_ns=20_000_000,
        duration_ns=100_000_000,
        seed=seed,
    )
