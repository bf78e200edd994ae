# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine: C against the oracle event by event, and the facts of each kernel."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_des import QUEUED, TEST_AND_SET, TICKET
from oracle_machine import EXIT, SITES, SWAP, Config, Machine, Request
from oracle_slots import Kernel, Policy

from swapsim._core import ffi, lib
from swapsim.ffi import COST_NAMES

SITE_FIELDS = tuple(name for name, _ in ffi.typeof("struct sws_des_site").fields)
TIME_FIELDS = tuple(name for name, _ in ffi.typeof("struct sws_des_cpu").fields)
COUNT_FIELDS = (
    *("touched", "written_ns", "accesses", "pages_out", "pages_in", "reclaimed", "activated"),
    "changes",
)

_NS = "30 90 3 500 700 90 40 800 600 250 6000 900 100 60 70 50 20 6 25 33 17 35 2 4 15 10 12 14"
COSTS = dict(zip(COST_NAMES, map(int, _NS.split()), strict=True))
"""Costs whose sums show what they consist of."""

_CONFIG_FIELDS = {name for name, _ in ffi.typeof("struct sws_machine_config").fields}
_SAME_NAMES = sorted(_CONFIG_FIELDS & vars(Config)["__dataclass_fields__"].keys())


def make(config: Config, costs: dict[str, int] | None = None) -> Any:
    """Return a C machine that frees itself."""
    made = ffi.new("struct sws_machine_config *")
    lib.sws_machine_config_init(made)
    for name in ("slots", "cluster_size", "trunk_shift", "seed", "rotational"):
        setattr(made.device, name, getattr(config, name))
    made.device.kernel, made.device.policy = int(config.kernel), int(config.policy)
    made.removal = lib.SWS_REMOVAL_BATCHED if config.batched else lib.SWS_REMOVAL_PAGE_BY_PAGE
    for name, value in (COSTS if costs is None else costs).items():
        setattr(made.costs, name, value)
    for name in set(_SAME_NAMES) - {"swap_writeback_tags", "requests", "streams"}:
        setattr(made, name, getattr(config, name))
    made.swap_writeback_tags = {
        None: lib.SWS_TAGS_AS_RELEASED,
        True: lib.SWS_TAGS_KEPT,
        False: lib.SWS_TAGS_NOT_KEPT,
    }[config.swap_writeback_tags]
    rows = ffi.new("struct sws_machine_request[]", list(config.requests))
    made.requests, made.n_requests, made.streams = rows, len(rows), config.streams
    out = ffi.new("struct sws_machine **")
    assert lib.sws_machine_new(made, out) == lib.SWS_OK

    def free(machine: Any, _requests: Any = rows) -> None:
        """Free a machine, whose requests have to live until then."""
        lib.sws_machine_free(machine)

    return ffi.gc(out[0], free)


def advance(machine: Any, events: int, until_ns: int = 2**62) -> bool:
    """Let a C machine take events, and return whether any are left."""
    more, taken = ffi.new("bool *", True), ffi.new("uint64_t *")
    while more[0] and taken[0] < events:
        code = lib.sws_machine_run(machine, until_ns, events - taken[0], more, taken)
        assert code == lib.SWS_OK
    return bool(more[0])


def verify(machine: Any) -> None:
    """Check the invariants of a C machine."""
    reason = ffi.new("const char **")
    code = lib.sws_machine_verify(machine, reason)
    assert code == lib.SWS_OK, ffi.string(reason[0]).decode()


def sites_of(machine: Any) -> list[dict[str, int]]:
    """Return what each C site cost."""
    found = [lib.sws_machine_site_of(machine, site) for site in range(lib.SWS_SITES)]
    return [{name: getattr(cost, name) for name in SITE_FIELDS} for cost in found]


def cpu_of(machine: Any, cpu: int) -> dict[str, int]:
    """Return what a C CPU did."""
    found = lib.sws_machine_cpu_of(machine, cpu)
    times = {name: getattr(found.time, name) for name in TIME_FIELDS}
    return times | {name: getattr(found, name) for name in COUNT_FIELDS}


def compare(machine: Any, oracle: Machine) -> None:
    """Check that both have the same counts of every site, CPU and device."""
    assert lib.sws_machine_now(machine) == oracle.des.now
    assert lib.sws_machine_stuck(machine) == oracle.stuck
    assert lib.sws_machine_longest_ended(machine) == oracle.longest_ended
    assert sites_of(machine) == [
        {name: site[name] for name in SITE_FIELDS} for site in oracle.des.sites
    ]
    for actor in oracle.actors:
        times = oracle.des.account(actor.cpu)
        times["run_ns"] -= actor.slept_ns
        times["idle_ns"] += actor.slept_ns
        counts = {name: actor.count[name] for name in COUNT_FIELDS}
        assert cpu_of(machine, actor.cpu) == times | counts
    assert lib.sws_machine_shared_slots(machine) == oracle.shared_slots
    work = lib.sws_machine_slots_work(machine)
    for name in ("calls", "given", "freed", "tested_scan", "tested_quick", "reclaims", "stores"):
        assert getattr(work, name) == sum(getattr(swap.slots.work, name) for swap in oracle.swaps)


def begin(config: Config) -> tuple[Any, Machine]:
    """Return both machines, filled."""
    machine = make(config)
    advance(machine, 2**60, until_ns=0)
    return machine, Machine(config, COSTS)


def frames_for(nodes: int, tasks: int, channels: int, list_pages: int = 32) -> int:
    """Return the smallest memory of a node that is accepted."""
    kept = 265 + 2 * max(list_pages - 32, 0)
    return 2 * kept * (-(-tasks // nodes) + 1 + (channels > 0))


def drawn(draw: st.DrawFn, **fields: Any) -> Config:
    """Return a config with these fields; draw those of any small machine."""
    return Config(
        kernel=draw(st.sampled_from(Kernel)),
        trunk_shift=draw(st.sampled_from([8, 10])),
        policy=draw(st.sampled_from([policy for policy in Policy if policy is not Policy.USER])),
        seed=draw(st.integers(0, 2**32 - 1)),
        slot_cache=draw(st.booleans()),
        lock_kind=draw(st.sampled_from([QUEUED, QUEUED, TEST_AND_SET, TICKET])),
        **fields,
    )


def drawn_of_tasks(draw: st.DrawFn, **fields: Any) -> Config:
    """Return a config with these fields; draw those of any machine with writers and walkers."""
    return drawn(
        draw,
        swap_writeback_tags=draw(st.sampled_from([None, True, False])),
        rotational=draw(st.sampled_from([False, False, True])),
        batched=draw(st.booleans()),
        fragmented=draw(st.booleans()),
        stay_ns=draw(st.sampled_from([0, 0, 1000, 100_000])),
        **fields,
    )


SPARE_CPUS = st.sampled_from([0, 0, 1, 3])


@st.composite
def limited_configs(draw: st.DrawFn) -> Config:
    """Draw a small machine under a memory cgroup's limit, whose tasks may end."""
    writers, walkers = draw(st.sampled_from([(1, 0), (3, 0), (0, 1), (0, 3), (2, 2)]))
    channels = draw(st.sampled_from([0, 0, 2])) if not writers else 0
    cpus, spare = writers + walkers + (channels > 0), draw(SPARE_CPUS)
    limit = 265 * cpus + draw(st.integers(0, 200))
    pages = draw(st.sampled_from([limit // 2, limit]))
    accesses = draw(st.sampled_from([0, 300, limit]))
    return drawn_of_tasks(
        draw,
        slots=walkers * pages + writers * accesses + 400 * (cpus + spare) + 1000,
        list_pages=draw(st.sampled_from([1, 7, 32])),
        channels=channels,
        writers=writers,
        walkers=walkers,
        frames=limit + 265 * cpus + 48,
        pages=pages,
        memory_max=limit,
        accesses=accesses,
        drop_percent=draw(st.sampled_from([0, 25, 60])) if walkers else 0,
        spare_cpus=spare,
    )


@st.composite
def configs(draw: st.DrawFn) -> Config:
    """Draw a small machine that fits."""
    nodes = draw(st.integers(1, 2))
    writers, walkers = draw(
        st.sampled_from([(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0), (1, 1), (2, 2)])
    )
    channels = draw(st.sampled_from([0, 0, 1, 3]))
    list_pages = draw(st.sampled_from([1, 5, 32, 32, 32, 100]))
    frames = frames_for(nodes, writers + walkers, channels, list_pages)
    frames += draw(st.integers(0, 300))
    pages = draw(st.sampled_from([frames // 3, frames, frames + 900]))
    devices, spare = draw(st.integers(1, nodes)), draw(SPARE_CPUS)
    cpus = nodes * (-(-(writers + walkers) // nodes) + 1 + (channels > 0))
    needed = walkers * pages + (160 + max(list_pages - 32, 0)) * (cpus + nodes * spare)
    return drawn_of_tasks(
        draw,
        slots=draw(st.sampled_from([needed + 900, 2 * needed + 1500])),
        cluster_size=draw(st.sampled_from([256, 512])),
        list_pages=list_pages,
        inactive_ratio=draw(st.sampled_from([0, 1, 3, 11])),
        nodes=nodes,
        devices=devices,
        channels=channels,
        writers=writers,
        walkers=walkers,
        frames=frames,
        shares_memory=devices == 1 and draw(st.booleans()),
        pages=pages,
        sweeps=draw(st.booleans()),
        read_percent=draw(st.sampled_from([0, 50, 80, 100])),
        spread_percent=draw(st.sampled_from([0, 50, 100])),
        contended_ns=draw(st.sampled_from([0, 13])),
        spare_cpus=spare,
    )


def follow(machine: Any, oracle: Machine, strides: Iterable[int]) -> bool:
    """Let both take events, compare them after each stride, and return whether any are left."""
    more, ahead = True, 0
    for stride in strides:
        more = advance(machine, stride)
        for _ in range(stride):
            ahead = oracle.step()
        assert more or ahead is None
        compare(machine, oracle)
        verify(machine)
    return more


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
STRIDES = st.lists(st.integers(1, 2000), min_size=1, max_size=8)


@settings(max_examples=25, suppress_health_check=SLOW)
@given(config=st.one_of(configs(), limited_configs()), strides=STRIDES)
def test_c_and_oracle_agree(config: Config, strides: list[int]) -> None:
    """Every site, CPU and device is the same after any number of events, up to a standstill."""
    machine, oracle = begin(config)
    compare(machine, oracle)
    follow(machine, oracle, strides)


@pytest.mark.parametrize("kernel", Kernel)
@pytest.mark.parametrize(
    ("channels", "batched", "fake"),
    [(0, False, False), (2, False, False), (0, True, False), (2, True, True)],
)
def test_c_and_oracle_agree_event_by_event(
    kernel: Kernel, channels: int, batched: bool, fake: bool
) -> None:
    """Two walkers and a writer on two nodes: the same clock and ledgers after each event."""
    config = Config(
        kernel=kernel,
        batched=batched,
        rotational=fake,
        shares_memory=fake,
        slots=9000,
        nodes=2,
        channels=channels,
        writers=1,
        walkers=2,
        frames=frames_for(2, 3, channels),
        pages=2500,
        fragmented=True,
    )
    machine, oracle = begin(config)
    follow(machine, oracle, [1] * 250 + [250] * 20)
    assert oracle.des.sites[13]["acquisitions"] > 50


def test_c_and_oracle_agree_when_swap_is_nearly_full() -> None:
    """Scans that try slots of cached pages, and faults that drop theirs, agree."""
    config = Config(
        kernel=Kernel.V5_8,
        slots=9700,
        walkers=4,
        pages=3000,
        frames=4096,
        channels=8,
        fragmented=True,
    )
    machine, oracle = begin(config)
    follow(machine, oracle, [6000] * 10)
    assert oracle.swaps[0].slots.swap_full()
    assert oracle.swaps[0].slots.work.reclaims > 0


def requests_of(streams: int, pages: int, back: float, seed: int) -> tuple[Request, ...]:
    """Return requests that can be processed in the order in which they are drawn."""
    draws = Random(seed)
    spaces = [draws.randrange(-1, streams) for _ in range(streams)]
    rows: list[list[Request]] = [[] for _ in range(streams)]
    out: list[int] = []
    for page in range(pages):
        for put in (False, True):
            if not put or (out and draws.random() < back):
                stream = draws.randrange(streams) if page >= streams else page
                number = out.pop(draws.randrange(len(out))) if put else page
                rows[stream].append(Request(stream, spaces[stream], number, put))
        out.append(page)
    return tuple(row for mine in rows for row in mine)


@st.composite
def configs_of_streams(draw: st.DrawFn) -> Config:
    """Draw a small machine with streams."""
    nodes, streams = draw(st.integers(1, 2)), draw(st.integers(1, 4))
    pages = draw(st.integers(streams, 500))
    cpus = nodes * (-(-streams // nodes) + 1)
    cached = 160 * cpus
    back, seed = draw(st.sampled_from([0.3, 0.9, 1.0])), draw(st.integers(0, 2**32 - 1))
    return drawn(
        draw,
        slots=draw(st.sampled_from([cached + 2, cached + pages + 2, 330 * cpus + pages])),
        nodes=nodes,
        frames=frames_for(nodes, streams, 0) + pages,
        spread_percent=draw(st.sampled_from([0, 50, 100])),
        contended_ns=draw(st.sampled_from([0, 13])),
        requests=requests_of(streams, pages, back, seed),
    )


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(config=configs_of_streams(), stride=st.integers(100, 3000))
def test_c_and_oracle_agree_on_streams(config: Config, stride: int) -> None:
    """Streams process the same requests at the same times, until the end or a full device."""
    machine, oracle = begin(config)
    compare(machine, oracle)
    while follow(machine, oracle, [stride]):
        pass
    assert oracle.stuck or oracle.requests_done == len(config.requests)


@pytest.mark.parametrize("kernel", Kernel)
def test_c_and_oracle_agree_on_streams_event_by_event(kernel: Kernel) -> None:
    """Three streams on two nodes, one a kernel thread's: the same after each event."""
    config = Config(
        kernel=kernel,
        slots=9000,
        nodes=2,
        frames=frames_for(2, 3, 0) + 300,
        requests=requests_of(3, 200, 0.95, 2),
    )
    assert -1 in {request.mm for request in config.requests}
    machine, oracle = begin(config)
    follow(machine, oracle, [1] * 250)
    while follow(machine, oracle, [250]):
        pass
    assert oracle.requests_done == len(config.requests)
    assert taken(machine)["lru_lock.shrink_inactive_list"] > 5


@st.composite
def configs_of_lives(draw: st.DrawFn) -> Config:
    """Draw a small machine whose writers exit, with enough swap or not."""
    nodes, writers = draw(st.integers(1, 2)), draw(st.integers(1, 4))
    frames = frames_for(nodes, writers, 0) + draw(st.integers(0, 200))
    pages = draw(st.sampled_from([200, frames, 2 * frames])) * nodes // writers
    cpus = nodes * (-(-writers // nodes) + 1)
    needed = 160 * cpus + writers * pages
    return drawn_of_tasks(
        draw,
        slots=draw(st.sampled_from([160 * cpus + 300, needed + 900])),
        nodes=nodes,
        writers=writers,
        frames=frames,
        accesses=pages,
    )


@settings(max_examples=8, suppress_health_check=SLOW)
@given(config=configs_of_lives(), stride=st.integers(2000, 9000))
def test_c_and_oracle_agree_on_complete_lives(config: Config, stride: int) -> None:
    """The phases begin at the same events, and each slot is freed unless swap was too small."""
    machine, oracle = begin(config)
    while follow(machine, oracle, [stride]):
        pass
    if oracle.stuck:
        return
    assert oracle.life == EXIT
    assert total(machine, "touched") == config.writers * config.accesses
    held = sum(len(place.ready) + len(place.returned) for place in oracle.places)
    work = lib.sws_machine_slots_work(machine)
    assert work.given - work.freed == held


def test_a_run_stops_where_its_phase_ends() -> None:
    """The first page out ends the fill, a writer's last page the swapping, at the same clock."""
    config = replace(BASE, accesses=3000)
    machine, oracle = begin(config)
    more, events = ffi.new("bool *", True), ffi.new("uint64_t *")
    for life in (SWAP, EXIT):
        more[0] = True
        while more[0]:
            assert lib.sws_machine_run_life(machine, life, 1000, more, events) == lib.SWS_OK
        while oracle.life < life:
            oracle.step()
        compare(machine, oracle)
    assert total(machine, "touched") < 4 * 3000
    more[0] = True
    while more[0]:
        lib.sws_machine_run_life(machine, lib.SWS_LIVES, 1000, more, events)
    assert total(machine, "touched") == 4 * 3000
    assert all(cpu_of(machine, cpu)["written_ns"] for cpu in (0, 1, 3, 4))


def test_sites_have_the_names_of_the_library() -> None:
    """The sites of the oracle are those of the library, in its order."""
    names = [
        ffi.string(lib.sws_machine_site_name(site)).decode() for site in range(lib.SWS_SITES + 1)
    ]
    assert names == [*(name for name, _ in SITES), "unknown"]


BASE = Config(kernel=Kernel.V4_8, slots=2**16, nodes=2, writers=4, frames=4096)


def after(config: Config, ns: int = 20_000_000, costs: dict[str, int] | None = None) -> Any:
    """Return a C machine after some simulated time."""
    machine = make(config, costs)
    while advance(machine, 50_000, ns):
        pass
    verify(machine)
    return machine


def taken(machine: Any) -> dict[str, int]:
    """Return acquisitions per site by name."""
    return {
        name: site["acquisitions"] for (name, _), site in zip(SITES, sites_of(machine), strict=True)
    }


def total(machine: Any, name: str) -> int:
    """Return a count over all CPUs."""
    return sum(cpu_of(machine, cpu)[name] for cpu in range(lib.sws_machine_cpus(machine)))


@pytest.mark.parametrize("tags", [True, False])
def test_a_page_out_of_4_8_takes_the_locks_of_its_row(tags: bool) -> None:
    """tree_lock four times a page or twice, si->lock four times, swap_avail_lock twice."""
    machine = after(replace(BASE, swap_writeback_tags=tags))
    pages, found = total(machine, "pages_out"), taken(machine)
    assert pages > 5000
    tree = sum(count for name, count in found.items() if name.startswith("tree_lock"))
    device = sum(count for name, count in found.items() if name.startswith(("si_lock", "map_lock")))
    assert tree / pages == pytest.approx(4 if tags else 2, rel=0.002)
    assert device / pages == pytest.approx(4, rel=0.002)
    assert found["swap_avail_lock.get_swap_pages"] / pages == pytest.approx(1, rel=0.002)
    assert not any(count for name, count in found.items() if name.startswith("cluster_lock"))


def test_a_page_of_5_8_takes_the_locks_of_its_row() -> None:
    """xa_lock twice, map bytes four times, si->lock once per 64 out and once per 64 freed."""
    config = Config(
        kernel=Kernel.V5_8, slots=2**16, nodes=2, devices=2, walkers=4, frames=4096, pages=8192
    )
    machine = after(config, 60_000_000)
    pages, found = total(machine, "pages_in"), taken(machine)
    assert pages > 5000
    for name in ("add_to_swap_cache.shrink_page_list", "__remove_mapping"):
        assert found[f"tree_lock.{name}"] / pages == pytest.approx(1, rel=0.1)
    for name in ("swap_free", "swap_duplicate", "put_swap_page", "try_to_free_swap"):
        assert found[f"map_lock.{name}"] / pages == pytest.approx(1, rel=0.1)
    assert found["si_lock.swapcache_free_entries"] * 64 / pages == pytest.approx(1, rel=0.1)
    assert found["tree_lock.add_to_swap_cache.do_swap_page"] == 0
    assert found["lru_lock.mem_cgroup_commit_charge"] == 0


def test_shared_bandwidth_is_a_ceiling() -> None:
    """Pages written and copied cannot be more than the memory's time allows."""
    costs = COSTS | {"transfer_ns": 5000}
    config = replace(BASE, nodes=1, writers=6)
    machine = after(config, costs=costs)
    moved = total(machine, "pages_out") + total(machine, "touched")
    assert moved * 5000 <= 20_000_000 + 10 * 5000
    assert moved * 5000 > 0.9 * 20_000_000


def test_a_thousand_cpus_fit_into_a_gigabyte() -> None:
    """1,024 CPUs on two sockets run, and their machine takes less than 1 GB."""
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    machine = after(
        Config(kernel=Kernel.V5_8, slots=2**21, nodes=2, writers=1022, frames=2**19), 200_000
    )
    assert lib.sws_machine_cpus(machine) == 1024
    assert total(machine, "touched") > 1000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20
