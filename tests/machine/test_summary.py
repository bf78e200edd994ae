# SPDX-License-Identifier: GPL-2.0-or-later
"""Summaries of runs and what-ifs: the time of a page, relief of a lock, sentences."""

from dataclasses import replace

import polars as pl
import pytest

from swapsim.machine._native import run_window
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs, costs_by_name
from swapsim.machine.running import run_rows, time_per_page
from swapsim.patches import cluster_next, writeback_tags


def machine(kernel: str) -> Machine:
    """Return a short machine of a kernel: writers under 4.8, walkers since."""
    if kernel == "4.8":
        config = writeback_tags.machine()
        return replace(config, frames=2**13, slots=2**17, duration_ns=10_000_000)
    config = cluster_next.machine()
    return replace(
        config, kernel=kernel, frames=3 * 2**12, pages=2**12, slots=2**16, duration_ns=10_000_000
    )


@pytest.mark.parametrize("kernel", ["4.8", "5.7", "6.1"])
def test_the_parts_of_a_page_are_those_of_the_cpus(kernel: str) -> None:
    """No part is negative, they add up to busy, and work, holds and waits are the CPUs' own."""
    ran = run_rows(machine(kernel))
    parts = time_per_page(ran)
    assert (parts["microseconds"] >= 0).all(), parts
    busy = ran.filter(metric="busy")["value"].item()
    assert 1000 * parts["microseconds"].sum() == pytest.approx(busy)
    assert parts["percent"].sum() == pytest.approx(100)
    cost = costs_by_name()
    window = run_window(machine(kernel), cost)
    pages = int(window.cpus["pages_out"].sum())

    def a_page(column: str, sites: str) -> float:
        found = window.sites.filter(pl.col("site").str.contains(sites))
        return float(found[column].sum()) / pages

    # A wait inside si->lock is part of its hold; work under a slot cache's own lock and waits for
    # that lock count as work.
    within = a_page("wait_ns", r"^cluster_lock|clear_shadow")
    caches = cost["cache_ns"] * a_page("acquisitions", "^(alloc|free)_lock")
    rare = a_page("wait_ns", "^(alloc|free)_lock")
    run_ns, hold_ns, wait_ns = (
        float(window.cpus[name].sum()) / pages for name in ("run_ns", "hold_ns", "wait_ns")
    )
    for suffix, expected in (
        ("without a lock", run_ns + caches + rare),
        (", held", hold_ns - caches + within),
        (", waited for", wait_ns - rare - within),
    ):
        found = parts.filter(pl.col("part").str.ends_with(suffix))["microseconds"].sum()
        # The ends of the window cut holds of complete batches of slots.
        assert 1000 * found == pytest.approx(expected, rel=0.01), suffix


def test_a_look_at_a_map_byte_is_under_si_lock_in_4_8_alone() -> None:
    """The same waits and holds of the map go to si->lock under 4.8, and to others since."""
    cost = {"map_ns": 2 * int(costs().filter(name="map_ns")["value"].item())}
    longer = change_costs(costs(), cost)
    for kernel, part in (("4.8", "si->lock, held"), ("5.7", "other locks, held")):
        usual, slow = (
            time_per_page(run_rows(machine(kernel), table)).filter(part=part)
            for table in (costs(), longer)
        )
        added = slow["microseconds"].item() - usual["microseconds"].item()
        # Four looks a page.
        assert added == pytest.approx(4 * cost["map_ns"] / 2 / 1000, rel=0.1), kernel


def test_a_writer_alone_never_waits() -> None:
    """Without a kswapd an acquisition of the swap cache's lock costs switching interrupts off."""
    alone = Machine(
        kernel="4.8",
        policy="shared",
        tags=True,
        writers=1,
        memory_max=4096,
        slots=2**17,
        warmup_ns=20_000_000,
        duration_ns=10_000_000,
    )
    ran = run_rows(alone)
    contended = ran.filter(pl.col("metric").str.starts_with("contended."))
    assert contended["value"].sum() == 0
    parts = dict(time_per_page(ran).select("part", "microseconds").iter_rows())
    off = costs().filter(name="irq_save_ns")["value"].item() / 1000
    taken = ran.filter(pl.col("metric").str.starts_with("acquisitions.tree_lock."))["value"].sum()
    assert taken == pytest.approx(4, abs=0.01)
    assert parts["swap cache's lock, waited for"] == pytest.approx(off * taken)
    assert parts["si->lock, waited for"] == 0
    assert parts["swap cache's lock, held"] > 0


def test_each_kind_of_cpu_spends_all_of_its_time() -> None:
    """Work, holds, waits and idling add up to 100 %, and a drive has a CPU for its interrupts."""
    shares = run_rows(Machine(kernel="4.8", writers=2, channels=8, frames=2**13)).filter(
        unit="% of time"
    )
    by_actor = shares.group_by(pl.col("metric").str.extract(r"\.(\w+)$")).agg(pl.sum("value"))
    assert set(by_actor["metric"]) == {"writer", "kswapd", "interrupt"}
    assert by_actor["value"].to_list() == pytest.approx([100] * 3)
