# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches A, D and E on Linux 6.12 and 7.3: the points of stored studies, and what they need.

::

    alternatives    E: which list of clusters first, by one change of 7.3's rules each
    global_lock     A: 7.3 without the patch's flag, so one lock for all devices twice a page
    meetings        D: how often two CPUs use one lock of the swap cache, under four allocators
"""

from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.clusters import ranking
from swapsim.clusters._native_allocators import BURST, Allocator, allocator
from swapsim.machine._native import TRAVELS, closed_loop_ns
from swapsim.machine.config import Machine
from swapsim.machine.constants import LONGEST_TAGS_NS, change_costs, costs_by_name, costs_of
from swapsim.machine.running import PAGE_KIB, metric_values
from swapsim.study import Study


def _ranked(point: tuple[str, int]) -> pl.DataFrame:
    """Serve a shipped trace, or a generated stream of a seed, under all alternatives."""
    name, seed = point
    made = ranking.generated_stream(seed) if seed else ranking.shipped_stream(name)
    return ranking.measure([made])


alternatives: Final = Study(
    name="newer-kernels-alternatives",
    points=[
        *((name, 0) for name in ranking.TRACES),
        *(("generated", seed) for seed in range(1, ranking.SEEDS + 1)),
    ],
    run=_ranked,
    reads=tuple(f"traces/{name}/*" for name in ranking.TRACES),
)
"""Alternatives to the rules of 7.3 on identical requests."""


# Patch A. On 7.3 all devices share one address space, which the flag exempts from tags. Without it
# the start and the end of writeback of each folio would take the lock of its empty tree. A machine
# by the rules of 6.1, with a tree and its lock for each cluster of 2 MB, says how long a page
# takes; then a closed loop of as many CPUs takes one lock twice in that time. Its CPUs wait for
# other locks as long as without the tags, so the loss is rather too large; 7.3 takes si->lock less
# often than 6.1, so it is rather too small.

TASKS: Final = (1, 2, 4, 8, 16, 32, 64)
_ENDS: Final = ("low", "value", "high")  # columns of data/costs.csv
_TURNS: Final = 2**15  # acquisitions of a closed loop


def machine(tasks: int, seed: int = 1, **changed: Any) -> Machine:
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
        slots=2**22,
        trunk_shift=9,
        warmup_ns=20_000_000,
        duration_ns=60_000_000,
        seed=seed,
    )
    return usual.replace(**changed)


def page_ns(config: Machine, constants: pl.DataFrame) -> float:
    """Return the time in which a task of a machine moves a page out."""
    return config.tasks * PAGE_KIB * 1e9 / metric_values(config, constants)["swap_out"]


def relative_rate(
    without_ns: float, cost: Mapping[str, int], *, tasks: int, seed: int, per_page: int = 2
) -> float:
    """Return the rate with one more lock, taken so often, divided by the rate without it.

    Half of the CPUs are on each of two sockets; the critical section is the cost ``tag_ns``.
    """
    each_ns = closed_loop_ns(
        "queued",
        cpus=tasks,
        cpus_per_socket=-(-tasks // 2),
        travels={name: cost[name] for name in TRAVELS},
        think_ns=round(without_ns / per_page) + cost["irq_save_ns"],
        hold_ns=cost["tag_ns"],
        acquisitions=_TURNS,
        seed=seed,
    )
    return without_ns / (tasks * per_page * each_ns)


def without_flag(point: tuple[int, str, str, str, int]) -> pl.DataFrame:
    """Return the rate without patch A's flag, three costs at an end or at their own value.

    They are the critical section, the transfer of the lock's cache line, and the work for a page.
    """
    tasks, hold, travel, work, seed = point
    known = {row["name"]: row for row in costs_of().iter_rows(named=True)}
    # The highest value of the file is that of a tag of every level of a full tree.
    known["tag_ns"] |= {"high": LONGEST_TAGS_NS}
    ends = {"tag_ns": hold, "unmap_ns": work, **dict.fromkeys(TRAVELS, travel)}
    constants = change_costs(costs_of(), {name: known[name][end] for name, end in ends.items()})
    without = page_ns(machine(tasks, seed), constants)
    relative = relative_rate(without, costs_by_name(constants), tasks=tasks, seed=seed)
    row = {"tasks": tasks, "seed": seed, "hold": hold, "travel": travel, "work": work}
    return pl.DataFrame(
        [{**row, "page_ns": without, "relative": relative}],
        schema_overrides={"tasks": pl.UInt32, "seed": pl.UInt64},
    )


global_lock: Final = Study(
    name="newer-kernels-global-lock",
    points=[*product(TASKS, _ENDS, _ENDS, _ENDS, (1, 2, 3))],
    run=without_flag,
    reads=("costs.csv",),
)
"""What one global lock taken twice a page would cost."""


# Patch D. Tasks run at one rate: in each round each of them does a step, in a new random order, as
# in ``slot_workbench.h``; all allocators serve the same requests.

CPUS: Final = (2, 4, 8, 16, 32, 64)
ALLOCATORS: Final = ("shared", "percpu-rerandomise", "6.12", "7.3")
"""5.8 without patch D and with it, and the cluster allocators of two kernels."""

SLOTS: Final = 2**19  # 2 GB, 32 trunks: the device of patch D's studies
FRESH: Final = 2**14  # pages on the fresh device before the count
CHURN: Final = 2**17  # pages out and in before the count on the aged one, as in patch D's studies
COUNTED: Final = 2**15  # pages that are counted on each
FREE_A_CPU: Final = 1024  # slots that stay free, so that no allocator refuses one: two clusters
USED_SHARE: Final = 0.7
LOCK_SHIFTS: Final = {2: 9, 64: 14}  # MB of a lock: log2 of the slots of a cluster, of a trunk
WINDOW_TURNS: Final = (1, 4, 16)
"""Windows, in uses for each CPU: a use that is one turn back is about as old as one's own last."""

Use = tuple[int, int]  # the CPU that takes the lock of a slot, and the slot


def device_life(
    made: Allocator, cpus: int, seed: int, *, slots: int = SLOTS, pages: int = COUNTED
) -> dict[str, list[Use]]:
    """Return the uses on a ``fresh`` device, from free clusters, and on an ``aged`` one.

    A page has two: it enters the swap cache, and it leaves it before its task's next step; where a
    free takes the swap cache's lock, a third.
    """
    random, uses, cached = np.random.default_rng(seed), list[Use](), dict[int, int]()
    own: list[list[int]] = [[] for _ in range(cpus)]

    def turns(steps: int) -> list[int]:
        """Return the CPUs of so many steps, each once a round, in random order."""
        order = np.tile(np.arange(cpus), (-(-steps // cpus), 1))
        found: list[int] = random.permuted(order, axis=1).ravel()[:steps].tolist()
        return found

    def leave(cpu: int) -> None:
        if cpu in cached:
            uses.append((cpu, cached.pop(cpu)))

    def swap_out(cpu: int) -> None:
        leave(cpu)
        (cached[cpu],) = made.get(cpu, 1)
        uses.append((cpu, cached[cpu]))
        own[cpu].append(cached[cpu])

    def swap_in(cpu: int, which: float) -> None:
        if mine := own[cpu]:
            leave(cpu)
            at = int(which * len(mine))
            mine[at], mine[-1] = mine[-1], mine[at]
            uses.extend((cpu, freed) for freed in made.put(cpu, mine.pop()))

    def churn(pages: int) -> None:
        rounds = -(-pages // cpus)
        which = random.random((rounds, cpus)).tolist()
        order = iter(turns(2 * rounds * cpus))
        for each in which:
            for cpu in islice(order, cpus):
                swap_out(cpu)
            for cpu in islice(order, cpus):
                swap_in(cpu, each[cpu])

    for cpu in turns(FRESH):
        swap_out(cpu)
    uses.clear()
    for cpu in turns(pages):
        swap_out(cpu)
    fresh, used = uses.copy(), round(USED_SHARE * (slots - 1))
    most = max(slots - 1 - FREE_A_CPU * cpus, used)
    for cpu in turns(-(-(most - FRESH - pages) // BURST)):
        own[cpu] += made.get(cpu, BURST)
    drops = max(sum(map(len, own)) - used, 0)
    which = random.random(drops).tolist()
    for cpu, each in zip(turns(drops), which, strict=True):
        swap_in(cpu, each)
    churn(CHURN * slots // SLOTS)
    uses.clear()
    cached.clear()
    churn(pages)
    return {"fresh": fresh, "aged": uses}


def count_meetings(uses: pl.DataFrame, windows: Sequence[int]) -> list[int]:
    """Count the uses (``cpu, lock``) that have one of their lock by another CPU within a window.

    A window is a number of uses before, of any lock by any CPU::

        uses, in time   CPU 0, lock 7   CPU 1, lock 7   CPU 1, lock 3   CPU 1, lock 7
        window of 2     no              meets           no              no: 3 ago
    """
    # The last use by another CPU is the one before, or that which was so for the one before.
    before = pl.col("at").shift(1).over("lock")
    changed = (pl.col("cpu") != pl.col("cpu").shift(1)).over("lock")
    ages = (
        uses.with_columns(at=pl.int_range(pl.len()))
        .with_columns(other=pl.when(changed).then(before))
        .select(age=pl.col("at") - pl.col("other").forward_fill().over("lock"))
    )["age"]
    return [int((ages <= window).sum()) for window in windows]


def met(point: tuple[int, int, str]) -> pl.DataFrame:
    """Count the uses of some CPUs' requests under an allocator, and those that meet."""
    cpus, seed, name = point
    rows: list[tuple[Any, ...]] = []
    for state, uses in device_life(
        allocator(name, cpus=cpus, slots=SLOTS, seed=seed), cpus, seed
    ).items():
        cpu, slot = np.array(uses).T
        for megabytes, shift in LOCK_SHIFTS.items():
            of_lock = pl.DataFrame({"cpu": cpu, "lock": slot >> shift})
            found = count_meetings(of_lock, [turns * cpus for turns in WINDOW_TURNS])
            key = ("generated", state, name, megabytes, cpus, seed)
            rows += [
                (*key, turns, len(uses), n) for turns, n in zip(WINDOW_TURNS, found, strict=True)
            ]
    return pl.DataFrame(rows, _MET, orient="row")


_MET: Final = {
    **dict.fromkeys(("requests", "state", "allocator"), pl.String),
    **dict.fromkeys(("lock_mb", "cpus"), pl.UInt32),
    "seed": pl.UInt64,
    "window_turns": pl.UInt32,
    **dict.fromkeys(("uses", "met"), pl.UInt64),
}

meetings: Final = Study(
    name="newer-kernels-meetings",
    points=[*product(CPUS, range(1, 6), ALLOCATORS)],
    run=met,
    reads=(),
)
"""How often two CPUs use one lock of the swap cache; on 6.12 that lock is still a trunk's."""
