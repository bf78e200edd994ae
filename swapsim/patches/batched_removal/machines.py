# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of patch B's mail, and the constants that the mail leaves open.

A combination of what is open is a `Point`.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs, costs_by_name

PATCH: Final = "02-batched-removal"
"""Its folder in patches, and its rows in data."""

THREADS: Final = (1, 3, 5, 7, 8)
"""The numbers of threads in the mail's table."""

NODES: Final = 4
"""Fake NUMA nodes in uniform memory, each with its kswapd."""

TAG_SHARES: Final = (0.01, 0.1, 1.0)
"""``tag_ns / tree_ns``: the ends of what patch A's base leaves open, and their geometric mean."""

NEXT_SHARES: Final = (0.1, 0.3, 1.0)
"""``tree_next_ns / tree_ns``: the cost of each removal of a hold after the first. At 1 a hold is
the sum of its removals; below, the mapping's lines and the tree's nodes stay in the cache."""

_BASES: Final = {
    0.01: {"unmap_ns": 7844, "tree_ns": 949, "tag_ns": 9, "map_ns": 332},
    0.1: {"unmap_ns": 8045, "tree_ns": 871, "tag_ns": 87, "map_ns": 305},
    1.0: {"unmap_ns": 9164, "tree_ns": 482, "tag_ns": 482, "map_ns": 169},
}
"""Constants with which the machine meets patch A's base, by tag share, with the map share of the
swap series of 2017: there is no other measurement of 4.8's locks. A test repeats the fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A combination of what the mail leaves open: a tag share, a next share, and `again`."""

    tag_share: float
    next_share: float
    again: bool = False


MIDDLE: Final = Point(tag_share=0.1, next_share=0.3)
"""The point of headlines and what-ifs, with the middle shares."""


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
        usemem goes over its memory repeatedly, so pages are read back. The machine has no such
        sweep: False are tasks that write fresh pages without end, True are tasks that write to
        random pages, together half as many again as memory holds. The mail's tasks lie between.
    rotational : bool
        Whether the slot allocator treats brd as a disk, as in the mail.
    seed : int

    Notes
    -----
    Each thread and each kswapd has its own CPU; the mail does not give their number.

    Source
    ------
    Seed B (usemem, four fake nodes, brd); facts on who contends.
    """
    frames = 2**12 if again else 2**14
    return MachineConfig(
        patch=PATCH,
        kernel="4.8",
        policy="shared",
        removal="batched" if batched else "page-by-page",
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


def points() -> Iterator[Point]:
    """Yield all combinations of what is open."""
    for tag_share, next_share, again in itertools.product(TAG_SHARES, NEXT_SHARES, (False, True)):
        yield Point(tag_share=tag_share, next_share=next_share, again=again)


def constants_at(point: Point) -> pl.DataFrame:
    """Return the constants of a point (CONSTANTS): those of patch A's base, in uniform memory.

    InputError is raised if patch A's base was not fitted with the point's tag share.
    """
    base = _BASES.get(point.tag_share)
    if base is None:
        raise InputError(f"tag_share={point.tag_share}: choose of {TAG_SHARES}", field="point")
    return change_costs(
        costs(),
        base
        | {
            "tree_next_ns": max(round(point.next_share * base["tree_ns"]), 1),
            "travel_other_socket_ns": costs_by_name()["travel_same_socket_ns"],
        },
    )
