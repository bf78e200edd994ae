# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine's log: C against the oracle, span by span."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_machine import Config, Machine, Page
from oracle_machine_log import HOLD, NONE, WAIT, LoggedDes, Span
from oracle_slots import Kernel
from test_machine import advance, begin, configs, frames_for

from swapsim._core import ffi, lib

CAPACITY = 100
SLEEP = lib.SWS_SPAN_SLEEP


def log_of(machine: Any) -> Any:
    """Return a C log that frees itself."""
    out = ffi.new("struct sws_machine_log **")
    assert lib.sws_machine_log_new(machine, out) == lib.SWS_OK
    return ffi.gc(out[0], lib.sws_machine_log_free)


def spans_of(log: Any, events: int) -> list[Any]:
    """Let a C machine take events, and return copies of the spans that ended."""
    spans, n = ffi.new("struct sws_span[]", CAPACITY), ffi.new("uint32_t *")
    more, found = ffi.new("bool *", True), []
    for _ in range(events):
        assert lib.sws_machine_log_run(log, 2**62, 1, spans, CAPACITY, n, more) == lib.SWS_OK
        found += [ffi.new("struct sws_span *", spans[i]) for i in range(n[0])]
    return found


def place(log: Any, lock: int) -> tuple[int, int, int]:
    """Return class, owner and part of a C lock."""
    found = ffi.new("struct sws_lock_identity *")
    assert lib.sws_machine_log_lock(log, lock, found) == lib.SWS_OK
    return found.lock_class, found.owner, found.part


def oracle_places(oracle: Machine) -> dict[int, tuple[int, int, int]]:
    """Return the same of the oracle's locks."""
    found = {oracle.avail_lock: (lib.SWS_LOCK_CLASS_SWAP_AVAIL, 0, 0)}
    for number in range(len(oracle.places)):
        found[oracle.mutexes + number] = (lib.SWS_LOCK_CLASS_ALLOC, number, 0)
        found[oracle.return_locks + number] = (lib.SWS_LOCK_CLASS_FREE, number, 0)
    for node in oracle.nodes:
        found[node.lru_lock] = (lib.SWS_LOCK_CLASS_LRU, node.number, 0)
        found[node.zone_lock] = (lib.SWS_LOCK_CLASS_ZONE, node.number, 0)
    for number, swap in enumerate(oracle.swaps):
        ends = [oracle.swaps[number + 1].si_lock] if number + 1 < len(oracle.swaps) else []
        end = ends[0] if ends else len(oracle.des.locks)
        first = swap.first_cluster_lock
        found[swap.si_lock] = (lib.SWS_LOCK_CLASS_SI, number, 0)
        found[swap.record_lock] = (lib.SWS_LOCK_CLASS_RECORD, number, 0)
        for lock in range(swap.first_tree_lock, end if first is None else first):
            part = lock - swap.first_tree_lock
            found[lock] = (lib.SWS_LOCK_CLASS_TREE, number, part)
        for lock in range(end if first is None else first, end):
            found[lock] = (lib.SWS_LOCK_CLASS_CLUSTER, number, lock - (first or 0))
    return found


def compare(log: Any, spans: list[Any], oracle: Machine, expected: list[Span]) -> None:
    """Check that both have the same waits and holds; within one event in any order."""
    places = oracle_places(oracle)
    ours = sorted(
        (s.until_ns, s.from_ns, s.cpu, s.kind, s.site, s.holder)
        + (() if s.lock == NONE else place(log, s.lock))
        for s in spans
        if s.kind != SLEEP
    )
    theirs = sorted(
        (s.end, s.start, s.cpu, s.kind, s.site, s.holder)
        + (() if s.lock == NONE else places[s.lock])
        for s in expected
    )
    assert ours == theirs


def in_swap_cache(oracle: Machine) -> int:
    """Count the oracle's pages in the swap cache; other items are shadows."""
    return sum(isinstance(item, Page) for swap in oracle.swaps for item in swap.cache.values())


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(config=configs(), before=st.integers(0, 900), strides=st.lists(st.integers(1, 400)))
def test_c_and_oracle_log_the_same_spans(config: Config, before: int, strides: list[int]) -> None:
    """Every wait and hold is the same, at any beginning of the log within a run."""
    machine, oracle = begin(config)
    clock = LoggedDes.of(oracle.des)
    for _ in range(before):
        advance(machine, 1)
        oracle.step()
    clock.begin_again()
    log = log_of(machine)
    for stride in strides:
        spans = spans_of(log, stride)
        for _ in range(stride):
            oracle.step()
        compare(log, spans, oracle, clock.spans)
        in_transit = len(oracle.actors) * max(config.list_pages, 32)
        assert abs(lib.sws_machine_log_cached(log) - in_swap_cache(oracle)) <= in_transit
        clock.spans.clear()


@pytest.mark.parametrize("kernel", Kernel)
def test_waits_have_a_holder(kernel: Kernel) -> None:
    """A wait for a held lock has the CPU that holds it, and sleeps are logged, too."""
    config = Config(
        kernel=kernel,
        slots=9000,
        nodes=1,
        channels=2,
        walkers=3,
        frames=frames_for(1, 3, 2),
        pages=2500,
    )
    machine, _ = begin(config)
    spans = spans_of(log_of(machine), 6000)
    behind = [span for span in spans if span.kind == WAIT and span.holder != NONE]
    assert behind
    assert all(span.holder != span.cpu for span in behind)
    assert any(span.kind == SLEEP and span.until_ns > span.from_ns for span in spans)
    assert {span.lock == NONE for span in spans if span.kind == HOLD} == {False}
