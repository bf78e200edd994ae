# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A on 7.3: what one lock for all swap devices would cost, taken for tags that do not exist.

On 7.3 all devices share one address space, which patch A's flag exempts from tags. Without it the
start and the end of writeback of each folio would take the lock of its empty tree. The contention
machine does not model 7.3, so the figure has two steps:

- **the machine** by the rules of 6.1, with a tree and its lock for each cluster of 2 MB and no
  tags, says how long a task takes for a page,
- **a closed loop** of as many CPUs takes one lock twice in that time (``des.h``).

The costs are those of data/costs.csv. Three of them decide: the hold, the transfer of the lock's
line, and the work for a page outside of locks; each is set to its low, its own and its high value,
the hold at most to the longest plausible one of patch A (`machine.constants.LONGEST_TAGS_NS`).
The loop's CPUs wait for other locks as long as without the tags, so the loss is rather too large;
si->lock is that of 6.1, which 7.3 takes less often and holds shorter, so it is rather too small.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Final

import polars as pl

from swapsim.machine import Machine
from swapsim.machine._native import TRAVELS, closed_loop_ns
from swapsim.machine.constants import LONGEST_TAGS_NS, change_costs, costs, costs_by_name
from swapsim.machine.running import PAGE_KIB, metric_values

TASKS: Final = (1, 2, 4, 8, 16, 32, 64)
SEEDS: Final = (1, 2, 3)
ACQUISITIONS_A_PAGE: Final = 2
"""The start and the end of writeback of a folio that is one page; counted on 7.3 (notebook 07)."""

_SETTINGS: Final = ("low", "value", "high")
_HOLD: Final = "tag_ns"
_WORK: Final = "unmap_ns"
_TURNS: Final = 2**15  # acquisitions of a closed loop

_SCHEMA: Final = {
    "tasks": pl.UInt32,
    "seed": pl.UInt64,
    **dict.fromkeys(("hold", "travel", "work"), pl.String),
    **dict.fromkeys(("page_ns", "relative"), pl.Float64),
}
"""The columns of the study's rows: time of a page without the lock, and the throughput with it."""

_CLUSTER_SHIFT: Final = 9
_DEVICE_SHIFT: Final = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A run: tasks, seed, and for each of three costs whether it is low, its own value or high."""

    tasks: int
    seed: int
    hold: str = "value"
    travel: str = "value"
    work: str = "value"


def machine(*, tasks: int, seed: int = 1, **changes: int | bool) -> Machine:
    """Return the machine that stands for 7.3: patch A's tasks, a lock for each cluster of 2 MB."""
    usual = Machine(
        patch="newer-kernels",
        kernel="6.1",
        policy="percpu-rerandomise",
        tags=False,
        nodes=2 if tasks > 1 else 1,
        devices=1,
        writers=tasks,
        frames=2**15,
        slots=2**_DEVICE_SHIFT,
        trunk_shift=_CLUSTER_SHIFT,
        warmup_ns=20_000_000,
        duration_ns=60_000_000,
        seed=seed,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def page_ns(config: Machine, constants: pl.DataFrame) -> float:
    """Return the time in which a task of a machine moves a page out."""
    kibibytes = metric_values(config, constants)["swap_out"]
    return config.tasks * PAGE_KIB * 1e9 / kibibytes


def relative_rate(
    without_ns: float, cost: Mapping[str, int], *, tasks: int, per_page: float, seed: int
) -> float:
    """Return the rate with one more lock, divided by the rate without it.

    Without it a task moves a page in ``without_ns``. Half of the tasks' CPUs are on each of two
    sockets; the hold is the cost ``tag_ns``.
    """
    each_ns = closed_loop_ns(
        "queued",
        cpus=tasks,
        cpus_per_socket=-(-tasks // 2),
        travels={name: cost[name] for name in TRAVELS},
        think_ns=round(without_ns / per_page) + cost["irq_save_ns"],
        hold_ns=cost[_HOLD],
        acquisitions=_TURNS,
        seed=seed,
    )
    return without_ns / (tasks * per_page * each_ns)


def settings() -> list[Setting]:
    """Return all runs: each cost low, its own and high, by number of tasks."""
    return [
        Setting(tasks=tasks, seed=seed, hold=hold, travel=travel, work=work)
        for tasks in TASKS
        for hold, travel, work in product(_SETTINGS, repeat=3)
        for seed in SEEDS
    ]


def of_setting(setting: Setting) -> pl.DataFrame:
    """Run the machine and the closed loop of a setting."""
    constants = change_costs(costs(), dict(_changed(setting)))
    without = page_ns(machine(tasks=setting.tasks, seed=setting.seed), constants)
    relative = relative_rate(
        without,
        costs_by_name(constants),
        tasks=setting.tasks,
        per_page=ACQUISITIONS_A_PAGE,
        seed=setting.seed,
    )
    found = {**asdict(setting), "page_ns": without, "relative": relative}
    return pl.DataFrame([{name: found[name] for name in _SCHEMA}], schema=_SCHEMA)


def _changed(setting: Setting) -> Iterator[tuple[str, int]]:
    """Yield the costs that a setting sets to an end of their range."""
    chosen = {_HOLD: setting.hold, _WORK: setting.work, **dict.fromkeys(TRAVELS, setting.travel)}
    rows = {row["name"]: row for row in costs().iter_rows(named=True)}
    # The highest value of the file is that of a tag of every level of a full tree.
    rows[_HOLD] |= {"high": LONGEST_TAGS_NS}
    for name, end in chosen.items():
        yield name, rows[name][end]


def check_of_shortcut() -> pl.DataFrame:
    """Compare both steps with the machine itself where it can run the case alone.

    The case is a tree for the complete device, whose lock the machine takes for adding and removing
    a page without tags, and twice more with them; changes in percent.
    """
    cost = costs_by_name()
    rows = []
    for tasks in TASKS[1:]:
        by_cluster = page_ns(machine(tasks=tasks), costs())
        made = {
            tags: page_ns(machine(tasks=tasks, trunk_shift=_DEVICE_SHIFT, tags=tags), costs())
            for tags in (False, True)
        }
        # The loop has one hold: the mean of add and remove, and of the two tags.
        holds = {False: 2 * cost["tree_ns"], True: 2 * cost["tree_ns"] + 2 * cost[_HOLD]}
        loop = {
            tags: relative_rate(
                by_cluster,
                {**cost, _HOLD: holds[tags] // count},
                tasks=tasks,
                per_page=count,
                seed=1,
            )
            for tags, count in ((False, 2), (True, 4))
        }
        machine_change = 100 * (made[False] / made[True] - 1)
        rows.append((tasks, machine_change, 100 * (loop[True] / loop[False] - 1)))
    return pl.DataFrame(rows, schema=["tasks", "machine", "two_steps"], orient="row")


def changes(runs: pl.DataFrame) -> pl.DataFrame:
    """Return what the lock changes of throughput by number of tasks, in percent.

    The middle is the median over the seeds with the costs' own values; the range is that over all
    settings and seeds.
    """
    own = pl.all_horizontal(pl.col("hold", "travel", "work") == "value")
    change = 100 * (pl.col("relative") - 1)
    return runs.group_by("tasks", maintain_order=True).agg(
        change=change.filter(own).median(), low=change.min(), high=change.max()
    )
