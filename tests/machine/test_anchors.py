# SPDX-License-Identifier: GPL-2.0-or-later
"""Locks of the event simulation next to published ones: levels, shapes, and the collapse."""

import math

import polars as pl
import pytest

from swapsim.ffi import LOCK_KINDS
from swapsim.machine import anchors
from swapsim.machine._native import closed_loop_ns
from swapsim.machine.constants import costs_by_name

BUSY = {"think_ns": 2000, "hold_ns": 50, "acquisitions": 8000, "seed": 1}
"""A loop with work of its own, so that throughput rises at first."""


def throughput(kind: str, threads: int, cpus_per_socket: int) -> float:
    """Return the acquisitions in a microsecond of a busy loop with the project's transfers."""
    travels = costs_by_name()
    loop = closed_loop_ns(
        kind, cpus=threads, cpus_per_socket=cpus_per_socket, travels=travels, **BUSY
    )
    return 1000 / loop


@pytest.mark.parametrize("sockets", [1, 2])
def test_a_queued_lock_does_not_collapse_and_a_ticket_lock_does(sockets: int) -> None:
    """Throughput rises with threads to a plateau; only the ticket lock's falls after its peak."""
    threads = [1, 2, 4, 8, 16, 32, 64, 128]
    queued, ticket = (
        [throughput(kind, n, max(n // sockets, 1)) for n in threads] for kind in anchors.FAIR
    )
    assert queued[3] > 3 * queued[0]
    # On two sockets the plateau depends on the order of arrival, by which a seed fixes transfers.
    assert min(queued[4:]) > (0.98 if sockets == 1 else 0.85) * max(queued)
    peak = ticket.index(max(ticket))
    assert 0 < peak < len(threads) - 2
    assert ticket[peak:] == sorted(ticket[peak:], reverse=True)
    assert ticket[-1] < max(ticket) / 4


def test_a_saturated_loop_takes_a_hold_and_a_hand_over() -> None:
    """On one socket the time is a closed form: transfers and the hold."""
    travel = costs_by_name()["travel_same_socket_ns"]
    rates = anchors.lock_rates(placements=["one socket"], threads=[4, 16, 32])
    for kind, _, threads, ns, low, high in rates.iter_rows():
        waiters = threads - 1
        transfers = 3 if kind == "queued" else 1 + math.ceil(waiters / 2)
        assert ns == pytest.approx(anchors.HOLD_NS + transfers * travel, rel=0.01)
        assert low <= ns <= high


def test_a_lone_thread_works_and_transfers_nothing() -> None:
    """Its time is that of the work, whatever the lock: the one figure taken from an anchor."""
    rates = anchors.lock_rates(kinds=LOCK_KINDS, threads=[1])
    work = anchors.HOLD_NS + anchors.THINK_NS
    assert rates["ns"].to_list() == pytest.approx([work] * rates.height, rel=0.01)
    lone = anchors.published_anchors().filter(anchor="opteron-ticket", threads=1)
    assert 1e9 / lone["value"].item() == pytest.approx(work, abs=0.5)


def test_each_anchor_that_the_machine_allows_is_compared() -> None:
    """Placements that the sockets do not allow and times without a number of loops are absent."""
    compared = anchors.against_anchors()
    assert compared["threads"].min() == 2
    assert set(compared["anchor"]) == set(anchors.published_anchors()["anchor"]) - {
        "westmere-qspinlock"
    }
    both = compared.filter(anchor="opteron-ticket", threads=2)
    assert both["placement"].to_list() == ["one socket", "all remote"]
    most = compared.filter(anchor="opteron-ticket", threads=32)
    assert most.select("kind", "placement").rows() == [("ticket", "mixed")]
    printed = compared.filter(anchor="westmere-qrwlock", threads=20)["published_ns"]
    assert printed.to_list() == [pytest.approx(13767e6 / 5e6 / 20)]
    off = compared["simulated_ns"] / compared["published_ns"]
    assert compared["times"].to_list() == pytest.approx(off.to_list())
    near = compared["times"].is_between(1 / anchors.ORDER, anchors.ORDER)
    assert (compared["verdict"] == "reproduced").to_list() == near.to_list()


def test_shapes_are_quotients_of_one_anchor() -> None:
    """The published ticket lock collapses, no queued one does; an unchecked anchor is marked."""
    shapes = anchors.anchor_shapes()
    kept = shapes.filter(pl.col("quantity").str.starts_with("throughput"))
    collapsed = {
        kind: frame.select("published", "simulated") < anchors.COLLAPSE
        for (kind,), frame in kept.group_by("kind")
    }
    assert all(collapsed["ticket"].row(0))
    assert not any(any(row) for row in collapsed["queued"].iter_rows())
    first = shapes.row(0, named=True)
    assert first["published"] == pytest.approx(3925222 / 7383215)
    unchecked = shapes.filter(hand="second")
    assert set(unchecked["anchor"]) == {"westmere-qspinlock"}
    remote = unchecked.row(-1, named=True)
    assert remote["published"] == pytest.approx(12242 / 2324)
    assert remote["simulated"] == pytest.approx(355 / 133, rel=0.01)
