# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulator of reclaim.h compared with its oracle, event by event, and what it refuses."""

import dataclasses
import os
import signal
from typing import Any

import oracle_reclaim
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapsim import reclaim as _native
from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import (
    RECLAIM_COSTS,
    RECLAIM_DEFAULTS,
    RECLAIM_RANGES,
    RECLAIM_RULES,
    STALL_RULES,
    STALL_SLEEPS,
)
from swapsim.reclaim import ReclaimConfig, run_config, values

COSTS = {name: ns for name, ns in values(None).items() if name in RECLAIM_COSTS}
SMALL = ReclaimConfig(
    rules="mmotm",
    dma32_pages=300,
    normal_pages=400,
    min_free_pages=24,
    reserve_ratio=64,
    swap_pages=600,
    disk_pages=5000,
    nr_requests=16,
    request_pages=16,
    items=110,
    serve_ns=100_000_000,
    files=(150, 400),
)
"""700 pages, of which the pool takes 550."""

EVENTS = 1200
"""Of one comparison; later events repeat what happened before."""

CONFIGS = st.builds(
    lambda rules, normal_pages, **changes: dataclasses.replace(
        SMALL, rules=rules, normal_pages=normal_pages if rules in RECLAIM_RULES else 0, **changes
    ),
    rules=st.sampled_from(STALL_RULES),
    normal_pages=st.sampled_from([0, 100, 400]),
    nr_requests=st.sampled_from([1, 2, 8, 9, 16, 32]),
    program_pages=st.sampled_from([0, 0, 30]),
    program_interval_ns=st.sampled_from([0, 1, 20_000_000]),
    working_pages=st.sampled_from([0, 0, 1, 90, 900]),
    working_interval_ns=st.sampled_from([0, 1, 30_000_000, 10**9]),
    executable_percent=st.sampled_from([0, 50, 100]),
    read_around_pages=st.sampled_from([1, 8, 32, 64]),
    cached_pages=st.sampled_from([0, 0, 60]),
    cached_normal_percent=st.sampled_from([0, 57, 100]),
    min_free_pages=st.integers(0, 70),
    swappiness=st.sampled_from([0, 60, 100]),
    swap_pages=st.sampled_from([0, 1, 2, 50, 600]),
    readahead_shift=st.integers(0, 4),
    dirty_percent=st.sampled_from([20, 60, 100]),
    background_percent=st.sampled_from([1, 10, 20]),
    flush_interval_ns=st.sampled_from([10**7, 10**8, 5 * 10**9]),
    flush_age_ns=st.sampled_from([10**8, 30 * 10**9]),
    disk_rate=st.sampled_from([500, 5000, 30720]),
    seek_near_ns=st.sampled_from([0, 500_000, 4_000_000]),
    request_pages=st.sampled_from([1, 2, 16, 128]),
    delays_allocation=st.booleans(),
    nfs=st.booleans(),
    net_rate=st.sampled_from([1000, 29440]),
    server_rate=st.sampled_from([500, 15360]),
    server_seek_ns=st.sampled_from([1, 8_000_000]),
    write_pages=st.sampled_from([1, 16, 256]),
    items=st.integers(20, 160),
    item_pages=st.sampled_from([1, 3, 5]),
    set_percent=st.sampled_from([0, 33, 100]),
    gap_ns=st.sampled_from([0, 0, 5_000_000]),
    start_used_pages=st.sampled_from([0, 0, 1, 250, 300]),
    start_look_ns=st.sampled_from([1_000_000, 40_000_000]),
    write_delay_ns=st.sampled_from([0, 7_000_000]),
    serve_ns=st.sampled_from([10**7, 10**8, 4 * 10**8]),
    files=st.lists(st.sampled_from([0, 1, 64, 150, 400, 900]), min_size=1, max_size=3).map(tuple),
    seed=st.integers(0, 2**64 - 1),
)


def counts_of(simulation: Any, config: ReclaimConfig) -> dict[str, int]:
    """Return the library's counters under the oracle's names, without zeros."""
    counts = lib.sws_reclaim_counts_of(simulation)
    found = _native.counters(simulation)
    for number, reason in enumerate(STALL_SLEEPS):
        for name in ("sleeps", "declined", "slept_ns"):
            found[f"{name} {reason}"] = getattr(counts, name)[number]
    for number in range(1 + (config.normal_pages > 0)):
        zone = lib.sws_reclaim_zone_of(simulation, number)
        for name, _ in ffi.typeof("struct sws_reclaim_zone").fields:
            found[f"{number} {name}"] = getattr(zone, name)
    return {name: value for name, value in found.items() if value}


def oracle_counts(oracle: oracle_reclaim.Simulation) -> dict[str, int]:
    """Return the oracle's counters."""
    found = dict(oracle.counts)
    for number, zone in enumerate(oracle.zones):
        found |= {f"{number} {name}": value for name, value in zone.count.items()}
    return {name: int(value) for name, value in found.items() if value}


def compare(config: ReclaimConfig, events: int) -> oracle_reclaim.Simulation:
    """Run both, event by event, and compare them."""
    simulation = _native.make(config, COSTS)
    fields = {name: getattr(config, name) for name in RECLAIM_DEFAULTS if name != "rounds"}
    files = {"file_pages": list(config.files), "rounds": len(config.files)}
    oracle = oracle_reclaim.Simulation(fields | files | {"costs": COSTS})
    more, reason = ffi.new("bool *", True), ffi.new("const char **")
    for event in range(events):
        assert lib.sws_reclaim_run(simulation, 2**64 - 1, 1, more) == lib.SWS_OK
        assert oracle.step() == more[0]
        if event % 100 == 0 or not more[0]:
            assert lib.sws_reclaim_verify(simulation, reason) == lib.SWS_OK, ffi.string(reason[0])
            assert lib.sws_reclaim_digest(simulation) == oracle.digest(), event
        if not more[0]:
            break
    assert lib.sws_reclaim_digest(simulation) == oracle.digest()
    assert counts_of(simulation, config) == oracle_counts(oracle)
    assert (
        lib.sws_reclaim_outcome(simulation) == lib.SWS_RECLAIM_OUT_OF_MEMORY
    ) == oracle.out_of_memory
    for number, expected in enumerate(oracle.rounds):
        if "end_ns" in expected:
            found = lib.sws_reclaim_round_of(simulation, number)
            assert {name: getattr(found, name) for name in expected} == expected
    return oracle


@settings(max_examples=25)
@given(config=CONFIGS)
def test_a_small_simulation_is_the_oracles_event_by_event(config: ReclaimConfig) -> None:
    """Pages, lists, slots, queue and counters are those of plain Python, for any config."""
    compare(config, EVENTS)


@pytest.mark.parametrize(
    ("rules", "zones", "nfs"),
    [
        *((rules, (300, 400), False) for rules in RECLAIM_RULES),
        *((rules, (700, 0), True) for rules in RECLAIM_RULES),
        ("6.1", (740, 0), True),
        ("6.1", (700, 0), False),
    ],
)
def test_each_rule_set_runs_to_its_end_as_the_oracle(
    rules: str, zones: tuple[int, int], nfs: bool
) -> None:
    """A file next to a pool that leaves little, twice, by each kernel's rules, on both systems.

    The lists of 6.1 are per node, so it has one zone. It is larger on NFS: in 700 pages kswapd
    scans all of them six times while they are written, and the task is out of memory. Only 3.11
    writes file pages itself, and only of a larger file.
    """
    files = (150, 500) if rules == "3.11" else (100, 320)
    config = dataclasses.replace(
        SMALL,
        rules=rules,
        dma32_pages=zones[0],
        normal_pages=zones[1],
        items=126,
        files=files,
        disk_rate=5000,
        dirty_percent=20,
        nfs=nfs,
        server_rate=2000,
    )
    oracle = compare(config, 10**6)
    assert oracle.over
    assert oracle.counts["dirtied"] == sum(files)


@pytest.mark.parametrize("rules", RECLAIM_RULES)
def test_a_task_that_reclaims_waits_for_a_servers_commit(rules: str) -> None:
    """Each wait is as long as the oracle's, however slow the server is."""
    config = dataclasses.replace(
        SMALL, rules=rules, items=130, files=(200,), nfs=True, server_rate=500, net_rate=2000
    )
    counts = compare(config, 10**6).counts
    assert counts["commit_waits"]
    assert counts["commit_wait_ns"] > config.server_seek_ns


@pytest.mark.parametrize("rules", ["3.9", "mmotm", "series-8"])
def test_programs_age_as_the_oracles(rules: str) -> None:
    """Two parts of programs are reclaimed and read again next to a file, over two rounds."""
    config = dataclasses.replace(
        SMALL,
        rules=rules,
        items=100,
        files=(450, 350),
        program_pages=40,
        program_interval_ns=20_000_000,
        working_pages=60,
        working_interval_ns=150_000_000,
        executable_percent=70,
        read_around_pages=8,
        cached_pages=30,
        cached_normal_percent=50,
        gap_ns=30_000_000,
        start_used_pages=400,
        start_look_ns=1_000_000,
        write_delay_ns=2_000_000,
        serve_ns=300_000_000,
    )
    oracle = compare(config, 10**6)
    assert oracle.over
    assert oracle.counts["program_faults"] > 3
    assert oracle.counts["dirtied"] == 800
    assert all(found["program_faults"] for found in oracle.rounds)


@pytest.mark.parametrize("enough", [True, False])
def test_a_writer_waits_for_memory_in_use(enough: bool) -> None:
    """A file starts when enough memory is in use; if that never comes true there is no file."""
    pool = SMALL.items * SMALL.item_pages
    config = dataclasses.replace(
        SMALL, start_used_pages=pool + (not enough), start_look_ns=1_000_000, files=(20, 60)
    )
    oracle = compare(config, 10**6)
    assert oracle.over
    assert [found["io_ns"] > 0 for found in oracle.rounds] == [enough, enough]
    assert oracle.counts["dirtied"] == (sum(config.files) if enough else 0)


def test_a_zone_scanned_for_exactly_its_target_is_scanned_enough() -> None:
    """When kswapd has scanned 32 pages for a target of 32, its priority stays, as the oracle's."""
    compare(dataclasses.replace(SMALL, normal_pages=100, min_free_pages=80), 600)


def test_out_of_memory_is_an_end() -> None:
    """A pool above memory and swap ends the simulation, which reports it."""
    config = dataclasses.replace(SMALL, items=300, swap_pages=100, files=(0,))
    found = run_config(config)
    assert found.out_of_memory
    assert found.rounds["end_ns"].to_list() == [0]


def test_where_a_kernel_would_try_for_ever_the_simulation_ends() -> None:
    """With nothing to wait for, 16 attempts that reclaim no page are out of memory."""
    memory = {"dma32_pages": 310, "normal_pages": 300, "min_free_pages": 82, "reserve_ratio": 8}
    fixed = {"program_pages": 20, "cached_pages": 50, "swappiness": 0}
    config = dataclasses.replace(SMALL, rules="3.11", **memory, **fixed, items=244, files=(0,))
    assert compare(config, 10**6).out_of_memory


@pytest.mark.parametrize(("rules", "freed"), [("mmotm", True), ("series-1", False)])
def test_mmotm_frees_a_page_that_is_being_written(rules: str, freed: bool) -> None:
    """Case 1 of mmotm goes on after its sleep even if the write has not ended; patch 1 fixes it."""
    config = dataclasses.replace(
        SMALL,
        rules=rules,
        min_free_pages=18,
        swappiness=100,
        disk_rate=30,
        nfs=True,
        items=104,
        files=(400,),
        set_percent=100,
        serve_ns=500_000_000,
        dirty_percent=100,
    )
    assert (compare(config, 10**6).counts["freed_under_writeback"] > 0) == freed


def test_an_event_is_little_work() -> None:
    """A million operations without an interruption are many events; Ctrl-C is handled between."""
    config = dataclasses.replace(
        SMALL, files=(0,), flush_interval_ns=10**15, serve_ns=10**9, min_free_pages=2
    )
    simulation = _native.make(config, COSTS | {"op_ns": 1000})
    more, works = ffi.new("bool *", True), []
    while more[0]:
        assert lib.sws_reclaim_run(simulation, 2**64 - 1, 1, more) == lib.SWS_OK
        works.append(lib.sws_reclaim_work(simulation))
    assert lib.sws_reclaim_counts_of(simulation).ops == 10**6
    assert max(works) <= lib.SWS_RECLAIM_EVENT_WORK_MAX
    assert sum(works) > 5 * 10**6


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_ends_a_run_between_two_calls() -> None:
    """Ctrl-C is handled after the call into C that it meets, and the next is not made."""
    ticks: list[int] = []

    def interrupt(now: int) -> None:
        ticks.append(now)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_config(dataclasses.replace(SMALL, serve_ns=10**15), tick=interrupt)
    assert len(ticks) == 1


def test_samples_change_nothing() -> None:
    """A run with many samples is the same as one with a single sample at its end.

    In each sample free pages and pages on lists are all of a zone, except for the isolated ones.
    """
    often = run_config(SMALL, sample_ns=1_000_000)
    never = run_config(SMALL, sample_ns=_native.NEVER)
    for table in ("rounds", "zones"):
        assert getattr(often, table).equals(getattr(never, table))
    assert often.counters == never.counters
    assert often.memory.height > 2 * often.elapsed_ns // 1_100_000
    assert often.memory.tail(2).equals(never.memory)
    assert often.activity["t_ns"].is_sorted()
    kinds = often.memory.columns[2:7]
    sizes = often.memory.select("zone", pages=pl.sum_horizontal(pl.col(kinds).cast(pl.Int64)))
    for zone, size in (("dma32", SMALL.dma32_pages), ("normal", SMALL.normal_pages)):
        pages = sizes.filter(zone=zone)["pages"]
        assert pages.max() == size
        assert pages.min() >= size - 32 * 4  # type: ignore[operator]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"min_free_pages": 500}, "min_free_pages"),
        ({"reserve_ratio": 1}, "min_free_pages"),
        ({"background_percent": 30}, "background_percent"),
        ({"seek_near_ns": 20_000_000}, "seek_near_ns"),
        ({"items": 2**27}, "items"),
        ({"rules": "6.1"}, "rules"),
        ({"dma32_pages": 9, "normal_pages": 0}, "dma32_pages"),
        ({"working_pages": 4601}, "program_pages=0, working_pages"),
        ({"start_used_pages": 701}, "start_used_pages"),
        ({"files": (5001,)}, "files"),
        ({"files": ()}, "files"),
    ],
)
def test_fields_that_do_not_fit_together_are_refused_by_name(
    changes: dict[str, Any], field: str
) -> None:
    """The message begins with the field and its value, and says what to change."""
    with pytest.raises(InputError, match=f"^{field}=.*: "):
        _native.make(dataclasses.replace(SMALL, **changes), COSTS)


def test_a_number_out_of_its_range_is_refused_by_name() -> None:
    """Each field and each cost has a lowest and a highest value; fields are whole numbers."""
    for name in sorted(RECLAIM_RANGES.keys() - {"rounds"}):
        low, high = RECLAIM_RANGES[name]
        for value in (low - 1, high + 1, low + 0.5):
            with pytest.raises(InputError, match=f"^{name}="):
                dataclasses.replace(SMALL, **{name: value})  # type: ignore[arg-type]
    for name in RECLAIM_COSTS:
        without = {cost: ns for cost, ns in COSTS.items() if cost != name}
        for wrong in (without, COSTS | {name: 0}, COSTS | {name: 2**31}):
            with pytest.raises(InputError, match=f"^{name}"):
                _native.make(SMALL, wrong)
