# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of a run of tasks that change CPU: the tasks with slots in one trunk, over time."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from rig.counts import Metrics, vmstat
from rig.errors import GuestError

SAMPLE: Final = 8
"""Slots of the device of which guest/mark-slots records one."""

PARTS: Final = 12
"""Parts of a run, of equally many slots; it has settled in the second half of them."""

_TASK: Final = re.compile(r"^(\d+) visits in (\d+) usecs, (\d+) changes of CPU$", re.MULTILINE)


def read(report: Mapping[str, str], slots: pl.DataFrame, trunk_shift: int, tasks: int) -> Metrics:
    """Read the metrics of one run.

    A slot is shared if the last slot that another task was given lies in its trunk. Slots that CPUs
    without a task got earlier do not count.

    Parameters
    ----------
    report : mapping of str to str
        The guest's.
    slots : polars.DataFrame
        Schema SLOT_EVENTS: each SAMPLE-th slot of the device, when it was handed out.
    trunk_shift : int
        Log2 of the slots of a trunk.
    tasks : int

    Raises
    ------
    GuestError
        A task did not end, or too few slots were recorded.
    """
    reports = [tuple(map(int, line)) for line in _TASK.findall(report["output"])]
    if len(reports) != tasks:
        raise GuestError(f"{len(reports)} of {tasks} tasks reported their visits")
    busiest = slots["pid"].value_counts(sort=True)["pid"].head(tasks)
    slots = slots.filter(pl.col("pid").is_in(busiest.to_list()))
    if slots.height < PARTS * tasks:
        raise GuestError(f"{slots.height} slots were recorded: too few for {PARTS} parts")
    together = pl.DataFrame(
        list(_together(slots, trunk_shift)), schema=["shared", "pairs"], orient="row"
    ).with_columns(part=pl.int_range(pl.len()) * PARTS // pl.len())
    visits, slowest_us = sum(each[0] for each in reports), max(each[1] for each in reports)
    changes = sum(each[2] for each in reports)
    before, after = (vmstat(report[f"marked vmstat-{mark}"]) for mark in ("begin", "end"))
    return {
        "pages out": (after["pswpout"] - before["pswpout"], "page"),
        "throughput": (visits / slowest_us * 1e6, "visit/s"),
        "changes of CPU": (changes / tasks / slowest_us * 1e6, "1/(s task)"),
        "pages out between changes": _between(after["pswpout"] - before["pswpout"], changes),
        **_settled(together.filter(pl.col("part") >= PARTS // 2)),
        **_by_part(together),
    }


def _together(slots: pl.DataFrame, trunk_shift: int) -> Iterator[tuple[bool, int]]:
    """Yield of each slot whether another task is in its trunk, and the pairs of tasks in one."""
    last: dict[int, int] = {}
    in_trunk: Counter[int] = Counter()
    pairs = 0
    for pid, offset in slots.select("pid", "offset").iter_rows():
        trunk = offset >> trunk_shift
        if pid in last:
            in_trunk[last[pid]] -= 1
            pairs -= in_trunk[last[pid]]
        pairs += in_trunk[trunk]
        yield in_trunk[trunk] > 0, pairs
        last[pid] = trunk
        in_trunk[trunk] += 1


def _between(pages: int, changes: int) -> tuple[float, str]:
    return (pages / changes if changes else 0.0, "page")


def _settled(half: pl.DataFrame) -> Metrics:
    shared, pairs = half.select(pl.col("shared").mean(), pl.col("pairs").mean()).row(0)
    return {
        "slots in a trunk with another task": (shared, "1/slot"),
        "pairs of tasks in one trunk": (pairs, "pair"),
    }


def _by_part(together: pl.DataFrame) -> Metrics:
    parts = together.group_by("part").agg(pl.col("shared").mean()).sort("part")
    return {
        f"slots in a trunk with another task, part {part + 1}": (shared, "1/slot")
        for part, shared in parts.iter_rows()
    }
