# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of patch B's mail, as far as the mail tells it, without the patch and with it."""

from typing import Final

from swapsim.machine.config import MachineConfig

PATCH: Final = "02-batched-removal"
"""Its folder in patches, and its rows in data."""

THREADS: Final = (1, 3, 5, 7, 8)
"""Of the mail's table."""

NODES: Final = 4
"""Fake ones, in memory that is uniform: each has its kswapd."""

_PAGE_BY_PAGE: Final = "page-by-page"
_BATCHED: Final = "batched"


def machine(
    *,
    threads: int,
    batched: bool,
    again: bool = False,
    rotational: bool = True,
    seed: int = 1,
) -> MachineConfig:
    """Return the machine of patch B's mail: threads of usemem and 4 kswapds on one brd under 4.8.

    Parameters
    ----------
    threads : int
    batched : bool
        Whether a list's pages are removed with one hold for each mapping: True is the patch.
    again : bool
        usemem goes over its memory again and again, so pages come back. The machine has no such
        sweep: False are tasks that write fresh pages for ever, True are tasks that write to pages
        at random, each to half again as many as memory holds. The mail's lie between.
    rotational : bool
        Whether brd is a disk to the allocator of slots, as it was.
    seed : int

    Returns
    -------
    MachineConfig

    Notes
    -----
    Each thread and each kswapd has a CPU for itself; the mail does not say how many there were.

    Source
    ------
    Seed B (usemem, four fake nodes, brd); facts on who contends.
    """
    frames = 2**12 if again else 2**14
    return MachineConfig(
        patch=PATCH,
        kernel="4.8",
        policy="shared",
        removal=_BATCHED if batched else _PAGE_BY_PAGE,
        rotational=rotational,
        nodes=NODES,
        devices=1,
        shares_memory=True,
        writers=0 if again else threads,
        walkers=threads if again else 0,
        read_percent=0,
        frames=frames,
        pages=3 * NODES * frames // 2,
        slots=2**19,
        warmup_ns=150_000_000 if again else 20_000_000,
        duration_ns=60_000_000,
        seed=seed,
    )
