# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads of usemem that sweep over more memory than there is."""

from dataclasses import replace
from typing import Any

import oracle_sweep
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapsim.errors import InputError
from swapsim.machine._native_sweeps import Sweeps, sweep

PLAIN = Sweeps(
    threads=3,
    sweeps=10,
    pages=90,
    memory=64,
    slots=40,
    active_per_inactive=4,
    cpus=8,
    kswapds=4,
    access_ns=100,
    fault_ns=(1000, 2000, 3000),
)


@st.composite
def configs(draw: st.DrawFn) -> Sweeps:
    """Few pages, so that each run meets full lists, full swap and shared CPUs."""
    threads = draw(st.integers(1, 5))
    nodes = draw(st.integers(1, 4))
    return Sweeps(
        threads=threads,
        nodes=nodes,
        list_pages=draw(st.sampled_from([1, 2, 8, 32])),
        sweeps=draw(st.integers(1, 6)),
        pages=draw(st.integers(threads, 240)),
        memory=draw(st.integers(16 * nodes, 16 * nodes + 64)),
        slots=draw(st.integers(1, 200)),
        active_per_inactive=draw(st.integers(1, 6)),
        cpus=draw(st.integers(1, 10)),
        kswapds=draw(st.integers(0, 4)),
        uneven_percent=draw(st.sampled_from([0.0, 20.0, 90.0])),
        access_ns=draw(st.integers(0, 300)),
        fault_ns=tuple(draw(st.lists(st.integers(1, 3000), min_size=threads, max_size=threads))),
        seed=draw(st.integers(0, 1000)),
    )


@settings(max_examples=150, deadline=None)
@given(config=configs())
def test_the_compiled_sweeps_are_those_of_the_oracle(config: Sweeps) -> None:
    """Times, faults and pages out are the same, up to the end or to full swap."""
    assert sweep(config) == oracle_sweep.sweep(config)


def test_a_thread_alone_misses_nearly_all_of_what_does_not_fit() -> None:
    """The page that it needs next is the one that has just left."""
    found = sweep(replace(PLAIN, threads=1, pages=90, sweeps=30))
    assert found.faults > 0.8 * found.accesses
    fits = sweep(replace(PLAIN, threads=1, pages=64))
    assert fits.faults == 64


def test_threads_of_uneven_speed_need_fewer_faults() -> None:
    """The fastest thread's share stays in memory."""
    even, uneven = (
        sweep(replace(PLAIN, uneven_percent=percent, sweeps=30)) for percent in (0.0, 50.0)
    )
    assert uneven.faults < 0.8 * even.faults


def test_more_tasks_than_cpus_take_longer_and_work_as_much() -> None:
    """A thread waits for its CPU, and its CPU time stays."""
    enough, few = (sweep(replace(PLAIN, cpus=cpus)) for cpus in (8, 2))
    assert few.elapsed_ns > 2 * enough.elapsed_ns
    assert few.system_ns == pytest.approx(enough.system_ns, rel=0.2)


def test_a_run_that_needs_more_slots_ends_and_says_so() -> None:
    """Working set larger than memory and swap: a result with a flag, and the time until then."""
    found = sweep(replace(PLAIN, slots=5))
    assert found.out_of_swap
    assert found.pages_out == 5
    assert not sweep(PLAIN).out_of_swap


@pytest.mark.parametrize(
    "change",
    [
        {"sweeps": 0},
        {"threads": 0},
        {"pages": 2},
        {"uneven_percent": 99},
        {"fault_ns": (5,)},
        {"fault_ns": (5, 0, 5)},
    ],
)
def test_a_bad_field_is_named(change: dict[str, Any]) -> None:
    """The error is one line with the field."""
    with pytest.raises(InputError, match=next(iter(change))):
        replace(PLAIN, **change)
