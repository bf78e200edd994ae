# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock and the locks: C against the oracle, closed forms, and SimPy."""

import math
import random
import statistics
from typing import Any

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_des import OK, QUEUED, TEST_AND_SET, TICKET, Config, Des

from swapsim._core import ffi, lib

SITE_FIELDS = tuple(name for name, _ in ffi.typeof("struct sws_des_site").fields)
CPU_FIELDS = tuple(name for name, _ in ffi.typeof("struct sws_des_cpu").fields)


def make(config: Config, kinds: list[int]) -> Any:
    """Return a C machine with a lock of each kind; it frees itself."""
    settings_of_c = ffi.new("struct sws_des_config *")
    lib.sws_des_config_init(settings_of_c)
    for name, value in vars(config).items():
        setattr(settings_of_c, name, value)
    out = ffi.new("struct sws_des **")
    assert lib.sws_des_new(settings_of_c, out) == OK
    des = ffi.gc(out[0], lib.sws_des_free)
    for kind in kinds:
        assert lib.sws_des_add_locks(des, kind, 1, ffi.new("uint32_t *")) == OK
    return des


def site(des: Any, number: int) -> dict[str, int]:
    """Return what a C site cost."""
    found = lib.sws_des_site_of(des, number)
    return {name: getattr(found, name) for name in SITE_FIELDS}


def account(des: Any, cpu: int) -> dict[str, int]:
    """Return where a C CPU's time went."""
    found = lib.sws_des_cpu_of(des, cpu)
    return {name: getattr(found, name) for name in CPU_FIELDS}


def next_cpu(des: Any) -> int | None:
    """Take the next C event."""
    cpu = ffi.new("uint32_t *")
    return int(cpu[0]) if lib.sws_des_next(des, cpu) else None


def verify(des: Any) -> None:
    """Check the invariants of a C machine."""
    assert lib.sws_des_verify(des, ffi.new("const char **")) == OK


OPERATION = st.tuples(
    st.sampled_from(["next"] * 3 + ["run", "lock", "unlock"] * 2 + ["interrupt"]),
    st.integers(0, 6),
    st.integers(0, 3),
    st.integers(0, 40),
)


@settings(max_examples=300)
@given(
    shape=st.sampled_from([(6, 1, 1), (6, 1, 3), (6, 2, 4), (5, 3, 3), (1, 1, 1)]),
    kinds=st.lists(st.sampled_from([QUEUED, TEST_AND_SET, TICKET]), min_size=1, max_size=3),
    irq=st.sampled_from([0, 7]),
    moves=st.integers(1, 4),
    contended=st.sampled_from([0, 11]),
    operations=st.lists(OPERATION, max_size=150),
)
def test_c_and_oracle_agree_event_by_event(
    shape: tuple[int, int, int],
    kinds: list[int],
    irq: int,
    moves: int,
    contended: int,
    operations: list[tuple[str, int, int, int]],
) -> None:
    """Every call, allowed or not, has the same result, events, times and accounts."""
    cpus, per_core, per_socket = shape
    config = Config(
        cpus=cpus,
        cpus_per_core=per_core,
        cpus_per_socket=per_socket,
        sites=3,
        irq_save_ns=irq,
        hand_off_ways=moves,
        contended_ns=contended,
    )
    des, oracle = make(config, kinds), Des(config)
    for kind in kinds:
        oracle.add_locks(kind, 1)
    for name, cpu, lock, number in operations:
        if name == "next":
            assert next_cpu(des) == oracle.next()
        elif name == "run":
            assert lib.sws_des_run(des, cpu, number) == oracle.run(cpu, number)
        elif name == "lock":
            asked = (cpu, lock, number % 4, bool(number & 1))
            assert lib.sws_des_lock(des, *asked) == oracle.lock(*asked)
        elif name == "interrupt":
            asked_for = (cpu, number % 7, number // 7, lock)
            assert lib.sws_des_interrupt(des, *asked_for) == oracle.interrupt(*asked_for)
        else:
            assert lib.sws_des_unlock(des, cpu, lock) == oracle.unlock(cpu, lock)
        verify(des)
        assert lib.sws_des_now(des) == oracle.now
        for i in range(3):
            assert site(des, i) == {name: oracle.sites[i][name] for name in SITE_FIELDS}
        for i in range(cpus):
            assert account(des, i) == oracle.account(i)
            assert lib.sws_des_interrupts_on(des, i) == oracle.interrupts_on[i]


@settings(max_examples=40)
@given(
    cpus=st.integers(1, 130), latest=st.sampled_from([3, 60, 5000]), seed=st.integers(0, 2**32 - 1)
)
def test_events_of_many_cpus_come_by_time_then_creation(cpus: int, latest: int, seed: int) -> None:
    """However many events there are, the next one is that of the oracle's search of all."""
    rng, config = random.Random(seed), Config(cpus=cpus)
    des, oracle = make(config, []), Des(config)
    idle = list(range(cpus))
    for _ in range(3 * cpus):
        for cpu in idle:
            ns = rng.randrange(latest)
            assert lib.sws_des_run(des, cpu, ns) == oracle.run(cpu, ns)
        verify(des)
        idle = [oracle.next() for _ in range(rng.randrange(3))] if oracle.events else []
        assert [next_cpu(des) for _ in idle] == idle
        idle = [cpu for cpu in idle if cpu is not None]


class Crowd:
    """CPUs that think, take one lock, hold it and give it back, by given draws."""

    def __init__(self, cpus: int, think: Any, hold: Any, kind: int = QUEUED) -> None:
        """Make the machine; think and hold return ns."""
        self.des = make(
            Config(cpus=cpus, travel_same_socket_ns=0, travel_other_socket_ns=0), [kind]
        )
        self.think, self.hold, self.cpus = think, hold, cpus
        self.done = [0] * cpus

    def run(self, acquisitions: int) -> int:
        """Run until the lock was acquired and released this often, and return the time."""
        stage = [0] * self.cpus
        for cpu in range(self.cpus):
            assert lib.sws_des_run(self.des, cpu, self.think()) == OK
        while sum(self.done) < acquisitions:
            cpu = next_cpu(self.des)
            assert cpu is not None
            if stage[cpu] == 0:
                assert lib.sws_des_lock(self.des, cpu, 0, 0, False) == OK
            elif stage[cpu] == 1:
                assert lib.sws_des_run(self.des, cpu, self.hold()) == OK
            else:
                assert lib.sws_des_unlock(self.des, cpu, 0) == OK
                assert lib.sws_des_run(self.des, cpu, self.think()) == OK
                self.done[cpu] += 1
            stage[cpu] = (stage[cpu] + 1) % 3
        return int(lib.sws_des_now(self.des))


def exponential(rng: random.Random, mean: float) -> Any:
    """Return a source of whole ns that are exponentially distributed."""
    return lambda: round(rng.expovariate(1 / mean))


def repairman(cpus: int, think: float, hold: float) -> float:
    """Return acquisitions a ns of the machine repairman: M/M/1//N by its balance equations."""
    ratio = hold / think
    weights = [math.perm(cpus, n) * ratio**n for n in range(cpus + 1)]
    return (1 - weights[0] / sum(weights)) / hold


@pytest.mark.parametrize(("cpus", "think"), [(1, 3000.0), (4, 3000.0), (8, 6000.0), (16, 4000.0)])
def test_exponential_holds_give_the_machine_repairmans_rate(cpus: int, think: float) -> None:
    """Throughput and time per cycle are the closed form's within four standard errors."""
    rates = []
    for seed in range(8):
        rng = random.Random(1000 * cpus + seed)
        crowd = Crowd(cpus, exponential(rng, think), exponential(rng, 1000.0))
        rates.append(4000 / crowd.run(4000))
    error = statistics.stdev(rates) / math.sqrt(len(rates))
    assert abs(statistics.mean(rates) - repairman(cpus, think, 1000.0)) < 4 * error


def test_two_cpus_in_lockstep_by_hand() -> None:
    """Think 30, hold 50: one waits while the other holds, 20 ns each time but the first."""
    crowd = Crowd(2, lambda: 30, lambda: 50)
    assert crowd.run(6) == 30 + 6 * 50
    # CPU 1 waits 50 at first; from then on each comes 30 after its own end and waits 20.
    assert site(crowd.des, 0)["wait_ns"] == 50 + 5 * 20
    assert site(crowd.des, 0)["contended"] == 6


@pytest.mark.parametrize("kind", [QUEUED, TEST_AND_SET, TICKET])
def test_a_lone_cpu_never_waits(kind: int) -> None:
    """One CPU gets its lock at once, and its time is thinking and holding."""
    rng = random.Random(3)
    crowd = Crowd(1, lambda: rng.randrange(100), lambda: rng.randrange(100), kind)
    now = crowd.run(500)
    assert site(crowd.des, 0)["contended"] == 0
    assert account(crowd.des, 0)["wait_ns"] == account(crowd.des, 0)["idle_ns"] == 0
    assert account(crowd.des, 0)["run_ns"] + account(crowd.des, 0)["hold_ns"] >= now


@settings(max_examples=40)
@given(
    cpus=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from([QUEUED, TEST_AND_SET, TICKET]),
)
def test_nothing_is_lost(cpus: int, seed: int, kind: int) -> None:
    """Run, hold, wait and idle add up to each CPU's clock; holds never overlap."""
    rng = random.Random(seed)
    crowd = Crowd(cpus, lambda: rng.randrange(200), lambda: rng.randrange(50), kind)
    now = crowd.run(200)
    verify(crowd.des)
    assert site(crowd.des, 0)["hold_ns"] <= now
    assert site(crowd.des, 0)["acquisitions"] - sum(crowd.done) in (0, 1)
    # The loop is closed, so that no CPU idles.
    assert all(account(crowd.des, cpu)["idle_ns"] == 0 for cpu in range(cpus))


def by_simpy(cpus: int, seed: int, think: float, hold: float, acquisitions: int) -> float:
    """Return the mean wait of an acquisition in SimPy's model of the same crowd."""
    environment, rng = simpy.Environment(), random.Random(seed)
    resource = simpy.Resource(environment)
    waits: list[float] = []

    def looper() -> Any:
        while True:
            yield environment.timeout(rng.expovariate(1 / think))
            asked = environment.now
            with resource.request() as request:
                yield request
                waits.append(environment.now - asked)
                yield environment.timeout(rng.expovariate(1 / hold))

    for _ in range(cpus):
        environment.process(looper())
    while len(waits) < acquisitions:
        environment.step()
    return statistics.mean(waits)


def test_simpy_finds_the_same_wait() -> None:
    """An independent simulator's mean wait agrees within four of its standard errors."""
    ours, others = [], []
    for seed in range(8):
        rng = random.Random(seed)
        crowd = Crowd(12, exponential(rng, 5000.0), exponential(rng, 600.0))
        crowd.run(4000)
        cost = site(crowd.des, 0)
        ours.append(cost["wait_ns"] / cost["acquisitions"])
        others.append(by_simpy(12, 100 + seed, 5000.0, 600.0, 4000))
    error = math.hypot(statistics.stdev(ours), statistics.stdev(others)) / math.sqrt(len(ours))
    assert abs(statistics.mean(ours) - statistics.mean(others)) < 4 * error


def closed_loop(config: Config, **fields: int) -> tuple[dict[str, int], int]:
    """Return the site and the time of the library's closed loop."""
    loop = ffi.new("struct sws_closed_loop_config *")
    lib.sws_des_config_init(ffi.addressof(loop.des))
    for name, value in vars(config).items():
        setattr(loop.des, name, value)
    acquisitions = fields.pop("acquisitions")
    for name, value in fields.items():
        setattr(loop, name, value)
    found, now = ffi.new("struct sws_des_site *"), ffi.new("uint64_t *")
    assert lib.sws_closed_loop(loop, acquisitions, found, now) == OK
    return {name: getattr(found, name) for name in SITE_FIELDS}, int(now[0])


def test_a_closed_loop_is_as_fast_as_its_lock() -> None:
    """With more CPUs than one lock feeds, acquisitions come a hold and a hand-off apart."""
    config = Config(cpus=64, cpus_per_socket=64)
    cost, now = closed_loop(config, locks=1, think_ns=1000, hold_ns=70, seed=1, acquisitions=20000)
    assert cost["acquisitions"] == 20000
    assert now == pytest.approx(20000 * (70 + 3 * 30), rel=0.01)
