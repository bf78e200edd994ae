# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch B, stored in data/simulated, and the cases of its what-ifs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim.machine.config import Machine
from swapsim.machine.running import metric_values
from swapsim.patches.batched_removal import lab, prediction
from swapsim.patches.batched_removal.workload import FILE, LOCKS_FILE, PATCH, THREADS
from swapsim.patches.what_if import Case, Trial, at, report, trials
from swapsim.published.data import published_of
from swapsim.study import Study

LISTS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Pages of a list; the kernel has 32."""

TASKS: Final = (1, 4, 8, 32)
"""Numbers of tasks, in addition to the four kswapds, each on its own CPU."""

MAP_SHARES: Final = (0.1, 0.3, 0.6, 1.0)
"""The values of NEXT_SHARES in a map of the gain."""

_ADD: Final = "tree_lock.add_to_swap_cache.shrink_page_list"
_REMOVE: Final = "tree_lock.__remove_mapping"
_ONE_TREE: Final = 20
_TRUNK: Final = 14
_QUICK_THREADS: Final = 3

POLICIES: Final = {"page by page": {}, "batched": {"removal": "batched"}}
"""How lists are removed, as fields of a machine."""

REMEDIES: Final[Mapping[str, Mapping[str, Any]]] = {
    **POLICIES,
    "trunks of 64 MB": {"trunk_shift": _TRUNK},
    "both": {"trunk_shift": _TRUNK, "removal": "batched"},
}
"""The same, next to a lock for each trunk."""


def large(config: Machine, *, list_pages: int = 32) -> Machine:
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


def by_list(lists: Sequence[int] = LISTS, tasks: Sequence[int] = TASKS) -> list[Case]:
    """Return a case per length of lists and number of tasks."""
    return [
        Case(
            at(pages, f"{count} tasks" if count > 1 else "1 task"),
            large(prediction.machine(threads=count, batched=False), list_pages=pages),
        )
        for count in tasks
        for pages in lists
    ]


def fits_by_next_share(shares: Sequence[float] = prediction.NEXT_SHARES) -> dict[str, pl.DataFrame]:
    """Return the constants of the middle point, with each cost of a further removal of a hold."""
    return {
        f"{share:g}": prediction.constants_at(
            prediction.Point(tag_share=prediction.MIDDLE.tag_share, next_share=share)
        )
        for share in shares
    }


def by_device() -> list[Case]:
    """Return a case per kind of device, with one lock per device.

    It is 5.7 with writeback tags and without slot caches, so that only REMEDIES differ.
    """
    return [
        Case(
            {"device": "rotational" if rotational else "non-rotational"},
            replace(
                large(prediction.machine(threads=8, batched=False, rotational=rotational)),
                kernel="5.7",
                tags=True,
                slot_cache=False,
                trunk_shift=_ONE_TREE,
            ),
        )
        for rotational in (True, False)
    ]


def by_kswapds(nodes: Sequence[int] = (1, 2, 4, 8)) -> list[Case]:
    """Return a case of one thread per number of nodes, each of which has a kswapd."""
    one = prediction.machine(threads=1, batched=False)
    return [
        Case(at(count, f"{count} kswapds" if count > 1 else "1 kswapd"), replace(one, nodes=count))
        for count in nodes
    ]


def holds(point: tuple[float, int]) -> pl.DataFrame:
    """Return how long a batched hold is, and how long an add waits for it."""
    share, pages = point
    config = large(prediction.machine(threads=8, batched=True), list_pages=pages)
    value = metric_values(config, fits_by_next_share([share])[f"{share:g}"])
    figures = {
        "longest hold": value[f"longest_hold.{_REMOVE}"],
        "longest wait of an add": value[f"longest_wait.{_ADD}"],
        "mean wait of an add": value[f"wait.{_ADD}"] / value[f"acquisitions.{_ADD}"],
    }
    return pl.DataFrame(
        {
            "next_share": share,
            "list_pages": pages,
            "metric": figures.keys(),
            "value": [figure / 1000 for figure in figures.values()],
            "unit": "us",
        }
    )


_study = partial(Study, reads=("costs.csv", FILE, LOCKS_FILE, partial(published_of, PATCH)))
_gains = partial(_study, run=partial(report, "written"))


def _is_quick(where: tuple[object, int]) -> bool:
    return where[1] <= _QUICK_THREADS


def _by_points() -> list[tuple[prediction.Point, int]]:
    return list(product(prediction.points(), THREADS))


by_points: Final = _study(
    name="batched-removal-by-points",
    points=_by_points,
    run=prediction.predict_point,
    quick=_is_quick,
)
"""The mail's table predicted at each point that is left open; see `predict_point`."""

null: Final = _study(
    name="batched-removal-null",
    points=tuple(product(prediction.UNEVEN, THREADS)),
    run=prediction.null_changes,
    quick=_is_quick,
)
"""How much two equal kernels differ, by how uneven the threads are; see `null_changes`."""

fit: Final = _study(
    name="batched-removal-fit",
    points=tuple(
        (lists, uneven, threads)
        for lists, tried in prediction.TRIED.items()
        for uneven, threads in product(tried, THREADS)
    ),
    run=prediction.vanilla,
)
"""Vanilla's times by how uneven the threads are, which is fitted; see `vanilla`."""


def _by_list() -> list[Trial]:
    return trials(by_list(), fits_by_next_share(MAP_SHARES), POLICIES, (1, 2))


gain_by_list: Final = _gains(name="batched-removal-gain-by-list", points=_by_list)
"""The gain by length of lists (setting), tasks (label) and a removal's share (fit)."""


def _by_cure() -> list[Trial]:
    return trials(by_device(), fits_by_next_share(), REMEDIES, (1, 2))


gain_by_cure: Final = _gains(name="batched-removal-gain-by-cure", points=_by_cure)
"""The gain of batching, of trunks of 64 MB and of both."""


def _by_kswapds() -> list[Trial]:
    return trials(by_kswapds(), fits_by_next_share(), POLICIES)


gain_by_kswapds: Final = _gains(name="batched-removal-gain-by-kswapds", points=_by_kswapds)
"""What one thread gains by the number of kswapds that run with it."""

holds_by_list: Final = _study(
    name="batched-removal-holds-by-list",
    points=tuple(product(prediction.NEXT_SHARES, LISTS)),
    run=holds,
)
"""How long a hold is and an add waits behind it, by length of lists; see `holds`."""

lab_on_a_disk: Final = _study(
    name="batched-removal-lab-rotational",
    points=partial(lab.machines, rotational=True),
    run=lab.count,
)
"""The machines of data/measured/batched-removal-rotational, counted as in the lab (RESULTS)."""

lab_on_flash: Final = _study(
    name="batched-removal-lab", points=partial(lab.machines, rotational=False), run=lab.count
)
"""The machines of data/measured/batched-removal, counted as in the lab (RESULTS)."""
