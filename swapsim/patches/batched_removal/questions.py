# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases of patch B: longer lists, more CPUs, other remedies; and lengths of holds and waits."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim.machine.config import MachineConfig
from swapsim.machine.run import PAGE_KIB, metric_values
from swapsim.machine.tables import HOLDS_BY_LIST
from swapsim.machine.what_if import Case
from swapsim.patches.batched_removal.machines import (
    MIDDLE,
    NEXT_SHARES,
    Point,
    constants_at,
    machine,
)

WRITTEN: Final = "written"
"""The metric of all gains here: the rate at which tasks write."""

LISTS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Pages of a list; the kernel has 32."""

TASKS: Final = (1, 4, 8, 32)
"""Numbers of tasks, in addition to the four kswapds, each on its own CPU."""

MAP_SHARES: Final = (0.1, 0.3, 0.6, 1.0)
"""The values of `machines.NEXT_SHARES` in a map of the gain."""

_ADD: Final = "tree_lock.add_to_swap_cache.shrink_page_list"
_REMOVE: Final = "tree_lock.__remove_mapping"
_ONE_TREE: Final = 20
_TRUNK: Final = 14


def _large(config: MachineConfig, *, list_pages: int = 32) -> MachineConfig:
    """Return the machine with memory and slots for long lists, run until each CPU had many."""
    longer = max(list_pages // 128, 1)
    return replace(
        config,
        list_pages=list_pages,
        frames=2**16,
        slots=2**20,
        warmup_ns=longer * 20_000_000,
        duration_ns=longer * 100_000_000,
    )


def cases_by_list(lists: Sequence[int] = LISTS, tasks: Sequence[int] = TASKS) -> list[Case]:
    """Return a case per length of lists and number of tasks: page by page, and batched."""
    return [
        Case(
            factor="list_pages",
            setting=pages,
            label=f"{count} tasks" if count > 1 else "1 task",
            base=_large(machine(threads=count, batched=False), list_pages=pages),
            patched=_large(machine(threads=count, batched=True), list_pages=pages),
        )
        for count in tasks
        for pages in lists
    ]


def fits_by_next_share(shares: Sequence[float] = NEXT_SHARES) -> dict[str, pl.DataFrame]:
    """Return the constants of the middle point, with each cost of a further removal of a hold."""
    return {
        f"{share:g}": constants_at(Point(tag_share=MIDDLE.tag_share, next_share=share))
        for share in shares
    }


def cases_by_remedy(tasks: int = 8) -> list[Case]:
    """Return a case per remedy and kind of device, against page by page and one lock per device.

    All are 5.7 with writeback tags and without slot caches, so that only the remedies differ.
    """
    cases = []
    for rotational in (True, False):
        base = replace(
            _large(machine(threads=tasks, batched=False, rotational=rotational)),
            kernel="5.7",
            swap_writeback_tags=True,
            slot_cache=False,
            trunk_shift=_ONE_TREE,
        )
        batched = machine(threads=tasks, batched=True).removal
        remedies = {
            "batched": replace(base, removal=batched),
            "trunks of 64 MB": replace(base, trunk_shift=_TRUNK),
            "both": replace(base, trunk_shift=_TRUNK, removal=batched),
        }
        device = "rotational" if rotational else "non-rotational"
        cases += [
            Case(factor=device, setting=place, label=remedy, base=base, patched=patched)
            for place, (remedy, patched) in enumerate(remedies.items())
        ]
    return cases


def cases_by_kswapds(nodes: Sequence[int] = (1, 2, 4, 8)) -> list[Case]:
    """Return a case of one thread per number of nodes, each of which has a kswapd."""
    return [
        Case(
            factor="kswapds",
            setting=count,
            label=f"{count} kswapds",
            base=replace(machine(threads=1, batched=False), nodes=count),
            patched=replace(machine(threads=1, batched=True), nodes=count),
        )
        for count in nodes
    ]


def holds(point: tuple[float, int], *, tasks: int = 8) -> pl.DataFrame:
    """Return how long a batched hold is, and how long an add waits for it."""
    share, pages = point
    config = _large(machine(threads=tasks, batched=True), list_pages=pages)
    value = metric_values(config, fits_by_next_share([share])[f"{share:g}"])
    row = (
        share,
        pages,
        value[f"longest_hold.{_REMOVE}"] / 1000,
        value[f"longest_wait.{_ADD}"] / 1000,
        value[f"wait.{_ADD}"] / value[f"acquisitions.{_ADD}"] / 1000,
        value[WRITTEN] / PAGE_KIB,
    )
    return pl.DataFrame([row], schema=HOLDS_BY_LIST.schema, orient="row")
