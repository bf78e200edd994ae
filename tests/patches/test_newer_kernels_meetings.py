# SPDX-License-Identifier: GPL-2.0-or-later
"""How often two CPUs use one lock, under allocators that serve the same requests."""

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_meetings import meetings

from swapsim import traces
from swapsim.clusters.events import ClusterRows, cluster_rows
from swapsim.errors import InputError
from swapsim.patches.newer_kernels._native import accesses, allocator
from swapsim.patches.newer_kernels.meetings import (
    ALLOCATORS,
    count_meetings,
    of_point,
    points,
    shares,
)
from swapsim.patches.newer_kernels.page_requests import (
    BURST,
    FREE_A_CPU,
    FRESH_PAGES,
    Op,
    PageRequests,
    device_life,
    trace_requests,
)
from swapsim.slots.ranking import CHURN, DEVICE
from swapsim.slots.workbench import measure

SMALL = 2**15
USES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=60)


def counted(uses: list[tuple[int, int]], window: int) -> int:
    """Return the count of the library for a list of uses."""
    frame = pl.DataFrame(uses, schema={"cpu": pl.UInt32, "lock": pl.UInt32}, orient="row")
    return count_meetings(frame, [window])[0]


@given(uses=USES, window=st.integers(1, 12))
def test_meetings_are_those_of_the_oracle(uses: list[tuple[int, int]], window: int) -> None:
    """The count by columns is the count by looking back from each use."""
    assert counted(uses, window) == meetings(uses, window)


def test_the_example_of_the_module() -> None:
    """Of the five uses in the docstring the second and the last one meet."""
    assert counted([(0, 7), (1, 7), (1, 3), (1, 7), (0, 3)], 2) == 2


@pytest.fixture(scope="module")
def life() -> PageRequests:
    """Return the requests of three CPUs on a small device."""
    return device_life(3, slots=SMALL, seed=1, warm_up_pages=600, pages=500)


def test_a_page_goes_out_once_leaves_the_cache_and_comes_in(life: PageRequests) -> None:
    """Each page is swapped out before anything else happens to it, and swapped in at most once."""
    seen: dict[int, list[Op]] = {}
    for op, _, page, n in life.rows:
        for each in range(page, page + n):
            seen.setdefault(each, []).append(op)
    legal = {
        (Op.OUT,),
        (Op.OUT, Op.LEAVE),
        (Op.OUT, Op.LEAVE, Op.IN),
        (Op.OUT, Op.IN),
        (Op.FILL,),
        (Op.FILL, Op.IN),
    }
    assert {tuple(ops) for ops in seen.values()} <= legal


def test_all_cpus_take_turns(life: PageRequests) -> None:
    """While pages are counted, no CPU swaps out more than a page more than another."""
    for span in life.counted.values():
        outs = Counter(cpu for op, cpu, _, _ in life.rows[span.start : span.stop] if op == Op.OUT)
        assert len(outs) == life.cpus
        assert max(outs.values()) - min(outs.values()) <= 1


@pytest.mark.parametrize("name", ALLOCATORS)
def test_no_slot_is_given_twice(name: str, life: PageRequests) -> None:
    """Under each allocator a slot is free before it is given, and no page lacks one."""
    made = allocator(name, cpus=life.cpus, slots=life.slots, seed=1)
    held: dict[int, int] = {}
    in_use: set[int] = set()
    for op, cpu, page, n in life.rows:
        if op in (Op.OUT, Op.FILL):
            got = made.get(cpu, 1) if op == Op.OUT else made.fill(cpu)
            assert len(got) == (BURST if op == Op.FILL else n)
            assert in_use.isdisjoint(got)
            in_use.update(got)
            held |= zip(range(page, page + n), got, strict=True)
        elif op == Op.IN:
            in_use.remove(held[page])
            made.put(cpu, held.pop(page), 1)


@pytest.mark.parametrize("name", ALLOCATORS)
def test_one_cpu_meets_nobody(name: str) -> None:
    """With one CPU each use is of its own lock, whatever the allocator."""
    alone = device_life(1, slots=SMALL, seed=1, warm_up_pages=200, pages=200)
    for uses in accesses(alone, allocator(name, cpus=1, slots=SMALL, seed=1)).values():
        assert counted([(cpu, slot >> 9) for cpu, _, slot in uses], 64) == 0


@pytest.mark.parametrize("name", ALLOCATORS)
def test_a_free_counts_where_it_takes_the_lock(name: str, life: PageRequests) -> None:
    """From 5.9 on a free clears a shadow of the swap cache; under 5.7 and 5.8 no use is a free."""
    uses = accesses(life, allocator(name, cpus=life.cpus, slots=life.slots, seed=1))["aged"]
    ops = {op for _, op, _ in uses}
    assert ops == {Op.OUT, Op.LEAVE} | ({Op.IN} if name in ("6.12", "7.3") else set())


def test_the_workbench_moves_as_many_lines() -> None:
    """Additions whose lock was last used elsewhere are as frequent as on the slot workbench."""
    policy, shift = "shared", 14
    life = device_life(8, slots=2**17, seed=1, warm_up_pages=2**14, pages=2**13)
    last: dict[int, int] = {}
    moved = added = 0
    for cpu, op, slot in accesses(life, allocator(policy, cpus=8, slots=2**17, seed=1))["aged"]:
        if op == Op.OUT:
            added += 1
            moved += last.get(slot >> shift, cpu) != cpu
        last[slot >> shift] = cpu
    bench = measure(
        replace(DEVICE, slots=2**17, kernel="5.8", cluster_size=512, policy=policy),
        replace(CHURN, warm_up_pages=2**14, pages=2**13),
    )
    assert moved / added == pytest.approx(bench["lock.moved.add"], abs=0.06)


def test_a_recording_keeps_the_order_of_each_task() -> None:
    """Each task of a recording gets and frees in its own order, and every slot is there."""
    rows = cluster_rows(traces.shipped_folders("clusters")["clusters-7.3-full-4"])
    made = trace_requests(rows, seed=3)
    grants = rows.events.filter(op="grant")
    assert sum(n for op, _, _, n in made.rows if op == Op.OUT) == grants["n"].sum()
    by_task = [
        [(op, n) for op, cpu, _, n in made.rows if cpu == each and op == Op.OUT]
        for each in range(made.cpus)
    ]
    recorded = {pid: [(Op.OUT, n) for n in part["n"]] for (pid,), part in grants.group_by("pid")}
    assert sorted(filter(None, by_task)) == sorted(recorded.values())


def test_recordings_that_cannot_be_served_are_refused() -> None:
    """A recording of several devices, one without a free, or a number out of range: one line."""
    known = traces.shipped_folders("clusters")
    with pytest.raises(InputError, match="several swap devices"):
        trace_requests(cluster_rows(known["clusters-7.3-devices-4"]), seed=1)
    rows = cluster_rows(known["clusters-7.3-full-4"])
    unfreed = ClusterRows(events=rows.events.filter(pl.col("op") != "free"), devices=rows.devices)
    with pytest.raises(InputError, match="no slot is freed"):
        trace_requests(unfreed, seed=1)


@pytest.mark.parametrize(
    "wrong", [{"cpus": 0}, {"slots": 2**14}, {"warm_up_pages": -1}, {"pages": 0}]
)
def test_a_life_that_no_device_can_have_is_refused(wrong: dict[str, int]) -> None:
    """By the name of the argument, before a row is made."""
    (name,) = wrong
    with pytest.raises(InputError, match=name):
        device_life(**{"cpus": 2, "slots": SMALL, "seed": 1, "pages": 100, **wrong})


def test_the_smallest_device_of_a_life_serves_it() -> None:
    """All pages that are counted are swapped out on a device that only just has slots for them."""
    least = FRESH_PAGES + 100 + 2 * FREE_A_CPU + 1
    life = device_life(2, slots=least, seed=1, warm_up_pages=0, pages=100)
    for name in ALLOCATORS:
        used = accesses(life, allocator(name, cpus=2, slots=least, seed=1))
        assert [sum(op == Op.OUT for _, op, _ in uses) for uses in used.values()] == [100, 100]


def test_shares_name_kernel_and_lock() -> None:
    """A point's rows become a row for each kernel and lock, with shares between 0 and 1."""
    quick = next(point for point in points() if point.trace is not None)
    found = shares(of_point(quick), state="trace")
    assert found["kernel"].to_list() == ["5.8, one base", "5.8, patch D", "6.12", "6.12", "7.3"]
    assert found["share"].is_between(0, 1).all()
    assert (found["low"] == found["high"]).all()
