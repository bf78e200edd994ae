# SPDX-License-Identifier: GPL-2.0-or-later
"""How often two CPUs use one lock under four allocators, and what one global lock would cost."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_meetings import meetings

from swapsim.clusters._native_allocators import allocator
from swapsim.machine.constants import costs_by_name, costs_of
from swapsim.patches.newer_kernels import (
    ALLOCATORS,
    CHURN,
    FREE_A_CPU,
    FRESH,
    SLOTS,
    Use,
    count_meetings,
    device_life,
    machine,
    page_ns,
    relative_rate,
)
from swapsim.slots import ranking
from swapsim.slots.workbench import measure

SMALL = 2**15
USES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=60)


def counted(uses: list[Use], window: int) -> int:
    """Return the count of the library for a list of uses."""
    frame = pl.DataFrame(uses, schema={"cpu": pl.UInt32, "lock": pl.UInt32}, orient="row")
    return count_meetings(frame, [window])[0]


@given(uses=USES, window=st.integers(1, 12))
def test_meetings_are_those_of_the_oracle(uses: list[Use], window: int) -> None:
    """The count by columns is the count by looking back from each use."""
    assert counted(uses, window) == meetings(uses, window)


class Watched:
    """An allocator whose slots are all free before they are given, and given before they return."""

    def __init__(self, name: str, cpus: int) -> None:
        self.made = allocator(name, cpus=cpus, slots=SMALL, seed=1)
        self.in_use: set[int] = set()
        self.outs = [0] * cpus

    def get(self, cpu: int, n: int) -> Sequence[int]:
        """No slot is given twice, and none is refused."""
        slots = self.made.get(cpu, n)
        assert len(slots) == n
        assert self.in_use.isdisjoint(slots)
        self.in_use.update(slots)
        self.outs[cpu] += n == 1
        return slots

    def put(self, cpu: int, slot: int) -> Sequence[int]:
        """A slot that returns was given."""
        self.in_use.remove(slot)
        return self.made.put(cpu, slot)


@pytest.mark.parametrize("name", ALLOCATORS)
def test_no_slot_is_given_twice(name: str) -> None:
    """Under each allocator, of tasks that take turns; only from 5.9 on a free takes the lock."""
    watched = Watched(name, 3)
    life = device_life(watched, 3, 1, slots=SMALL, pages=600)
    assert max(watched.outs) - min(watched.outs) <= 2
    assert len(life["fresh"]) == 2 * 600
    frees = len(life["aged"]) - 2 * 600
    assert frees > 300 if name in {"6.12", "7.3"} else -3 <= frees <= 0


@pytest.mark.parametrize("name", ALLOCATORS)
def test_the_smallest_device_of_a_life_serves_it(name: str) -> None:
    """No allocator refuses a slot on a device that only just has those of the fresh count."""
    least = FRESH + 100 + 2 * FREE_A_CPU + 1
    made = allocator(name, cpus=2, slots=least, seed=1)
    assert len(device_life(made, 2, 1, slots=least, pages=100)["aged"]) >= 198


@pytest.mark.parametrize("name", ALLOCATORS)
def test_one_cpu_meets_nobody(name: str) -> None:
    """With one CPU each use is of its own lock, whatever the allocator."""
    made = allocator(name, cpus=1, slots=SMALL, seed=1)
    for uses in device_life(made, 1, 1, slots=SMALL, pages=200).values():
        assert counted([(cpu, slot >> 9) for cpu, slot in uses], 64) == 0


def test_the_slot_microbenchmark_moves_as_many_lines() -> None:
    """Additions whose lock was last used elsewhere are as frequent, on a device of a quarter."""
    slots, shift = SLOTS // 4, 14
    made = allocator("shared", cpus=8, slots=slots, seed=1)
    last: dict[int, int] = {}
    cached: set[int] = set()
    moved = added = 0
    for cpu, slot in device_life(made, 8, 1, slots=slots, pages=2**13)["aged"]:
        if slot not in cached:
            added += 1
            moved += last.get(slot >> shift, cpu) != cpu
        cached ^= {slot}
        last[slot >> shift] = cpu
    bench = measure(
        replace(ranking.DEVICE, slots=slots, cluster_size=512, policy="shared"),
        replace(ranking.CHURN, warm_up_pages=CHURN // 4, pages=2**13),
    )
    assert moved / added == pytest.approx(bench["lock.moved.add"], abs=0.06)


def test_one_cpu_pays_the_critical_section_twice_a_page() -> None:
    """A lone CPU loses the time of its critical sections, because it never waits."""
    cost = costs_by_name()
    expected = 10_000 / (10_000 + 2 * (cost["tag_ns"] + cost["irq_save_ns"]))
    assert relative_rate(10_000, cost, tasks=1, seed=1) == pytest.approx(expected, abs=0.01)


def test_a_saturated_lock_serves_one_cpu_at_a_time() -> None:
    """With many CPUs a critical section and a hand-over are what each acquisition takes."""
    cost = costs_by_name() | {"tag_ns": 5000}
    rate = relative_rate(10_000, cost, tasks=32, seed=1)
    hand_over = [cost[f"travel_{where}_socket_ns"] * 3 for where in ("same", "other")]
    fastest, slowest = (10_000 / (32 * 2 * (5000 + each)) for each in hand_over)
    assert slowest * 0.98 < rate < fastest * 1.02


@pytest.mark.parametrize(("tasks", "missing"), [(8, 0.06), (32, 0.01)])
def test_the_closed_loop_loses_what_the_machine_loses(tasks: int, missing: float) -> None:
    """Where the machine can run the case: one tree, whose lock is taken twice more with tags.

    The closed loop, which has one critical section, loses too little until the lock is saturated.
    """
    cost, tree = costs_by_name(), {"trunk_shift": 22}
    made = {tags: page_ns(machine(tasks, tags=tags, **tree), costs_of()) for tags in (False, True)}
    usual, rates = page_ns(machine(tasks), costs_of()), []
    for per_page, held in ((2, 2 * cost["tree_ns"]), (4, 2 * (cost["tree_ns"] + cost["tag_ns"]))):
        costs = {**cost, "tag_ns": held // per_page}
        rates.append(relative_rate(usual, costs, tasks=tasks, seed=1, per_page=per_page))
    of_machine, of_loop = 1 - made[False] / made[True], 1 - rates[1] / rates[0]
    assert of_machine - missing < of_loop < of_machine + 0.01
