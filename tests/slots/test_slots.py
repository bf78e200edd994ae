# SPDX-License-Identifier: GPL-2.0-or-later
"""The C swap slots against the plain model of oracle_slots, and facts that they must show."""

from dataclasses import asdict, replace
from itertools import product
from math import prod, sqrt
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from oracle_slots import (
    BAD,
    BAD_ARGUMENT,
    BUILT_IN,
    CACHED,
    IDLE,
    LOCKED,
    OK,
    OVER,
    UNLOCKED,
    BaseOf,
    CacheWork,
    Call,
    Config,
    Device,
    Initial,
    Kernel,
    Ops,
    Policy,
    Question,
    SlotCache,
    State,
    Work,
)
from slots_in_c import (
    CALL_FIELDS,
    DeviceInC,
    call_in_c,
    counted,
    fill_config,
    make_cache,
    make_device,
    verify,
    wayward,
)

from swapsim._core import ffi, lib

RELAXED = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
FRESH = CACHED | IDLE
SLOTS = st.sampled_from([1400, 1025, 1024, 1023, 700, 513, 511, 257, 256, 255, 17, 3, 2])
WANTED = (1, 1, 2, 7, 63, 64, 64, 65, 0)
OPERATIONS = ("duplicate", "drop", "cache", "uncache")


def assert_same_call(call: Any, expected: Call, kernel: Kernel) -> None:
    """Compare a call with the oracle's."""
    names = [*CALL_FIELDS, "state", "slots", "trail"]
    if kernel >= Kernel.V5_7_SCAN_MORE:
        names.append("scanned_many")
    assert call_in_c(call, kernel) == {name: getattr(expected, name) for name in names}


def assert_same_device(handle: Any, oracle: Device, *, slots: bool = True) -> None:
    """Compare everything that a device reports, its slots on request, and its invariants."""
    reason = ffi.new("const char **")
    verify(lib.sws_slots_verify(handle, reason), reason)
    assert lib.sws_slots_lowest(handle) == oracle.lowest
    assert lib.sws_slots_highest(handle) == oracle.highest
    assert lib.sws_slots_in_use(handle) == oracle.in_use
    assert lib.sws_slots_credit(handle) == oracle.credit
    assert lib.sws_slots_swap_full(handle) == oracle.swap_full()
    assert lib.sws_slots_free_clusters(handle) == len(oracle.free_list)
    owners = range(lib.sws_slots_bases(handle))
    assert [lib.sws_slots_base(handle, owner) for owner in owners] == oracle.bases
    if slots:
        usage = bytes(lib.sws_slots_usage(handle, slot) for slot in range(oracle.slots + 1))
        assert usage == bytes(oracle.map[:-1]) + bytes([BAD])


@st.composite
def configs(draw: st.DrawFn, slots: st.SearchStrategy[int]) -> Config:
    """Draw a config of a small device: any kernel and policy, more CPUs than trunks too."""
    policy = draw(st.sampled_from(Policy))
    user = None
    if policy is Policy.USER:
        base_of, initial = draw(st.sampled_from(BaseOf)), draw(st.sampled_from(Initial))
        user = Ops(base_of, initial, wayward)
    possible, online = draw(st.sampled_from([(4, 3), (6, 6), (2, 2), (1, 1), (40, 20)]))
    config = Config(
        kernel=draw(st.sampled_from(Kernel)),
        slots=draw(slots),
        cluster_size=draw(st.sampled_from([256, 512])),
        trunk_shift=draw(st.sampled_from([6, 8, 1, 4, 14])),
        rotational=draw(st.sampled_from([False, False, False, True])),
        possible_cpus=possible,
        online_cpus=online,
        address_spaces=draw(st.integers(0, 3)),
        policy=policy,
        user=user,
        seed=draw(st.integers(0, 2**64 - 1)),
    )
    if draw(st.sampled_from([True, True, True, False])):
        return config
    base = st.integers(1, config.slots - 1)
    bases = draw(st.lists(base, min_size=config.n_bases, max_size=config.n_bases))
    return replace(config, initial_bases=tuple(bases))


class DeviceTwins:
    """A device of the library and of the oracle, in the same random steps."""

    def __init__(self, config: Config, seed: int) -> None:
        self.config, self.random = config, Random(seed)
        self.handle, self.oracle = make_device(config), Device(config)
        self.work = ffi.new("struct sws_slots_work *")
        self.open: list[tuple[Any, Call]] = []

    def run(self, steps: int) -> None:
        """Do random steps and compare after each."""
        for number in range(steps):
            (step,) = self.random.choices(list(DEVICE_STEPS), weights=list(DEVICE_STEPS.values()))
            note(f"step {number}: {step.__name__}")
            step(self)
            assert_same_device(self.handle, self.oracle, slots=number % 4 == 3)
            assert counted(self.work, Work) == asdict(self.oracle.work)

    def draw_caller(self) -> tuple[int, int]:
        """Draw a CPU and an address space."""
        cpu = self.random.randrange(self.config.online_cpus)
        return cpu, self.random.randrange(-1, self.config.address_spaces)

    def draw_slot(self) -> int:
        """Draw a slot, at times one past the end."""
        return self.random.randrange(self.config.slots + 2)

    def draw_row(self) -> list[int]:
        """Draw a row of slots in use, a fixed step apart or anywhere."""
        first, step = self.draw_slot(), self.random.choice([1, 1, 1, 2, 3, 7, 257])
        in_use = [slot for slot in range(1, self.config.slots) if self.oracle.map[slot]]
        count = self.random.randrange(1, 800)
        if self.random.random() < 0.5:
            return [slot for slot in in_use if slot >= first][::step][:count]
        return self.random.sample(in_use, min(count, len(in_use)))

    def allocate(self, cpu: int, mm: int, wanted: int) -> Call:
        """Do a complete call on both."""
        call = ffi.new("struct sws_slots_call *")
        code, expected = self.oracle.allocate(cpu, mm, wanted)
        assert lib.sws_slots_allocate(self.handle, cpu, mm, wanted, call, self.work) == code
        if code == OK:
            assert_same_call(call, expected, self.config.kernel)
        return expected

    def free(self, slots: list[int]) -> None:
        """Free slots on both."""
        code = self.oracle.free_entries(slots)
        assert lib.sws_slots_free_entries(self.handle, slots, len(slots), self.work) == code

    def change(self, operation: str, slot: int) -> None:
        """Change a slot on both."""
        usage = ffi.new("uint8_t *")
        code, expected = getattr(self.oracle, operation)(slot)
        call = getattr(lib, f"sws_slots_{operation}")
        assert call(self.handle, slot, usage, self.work) == code
        assert code != OK or usage[0] == expected

    def next_part(self, call: Any, expected: Call, cpu: int) -> None:
        """Do the next part of a call on both."""
        if expected.state in LOCKED:
            code = self.oracle.locked(cpu, expected)
            assert lib.sws_slots_call_locked(self.handle, cpu, call, self.work) == code == OK
        elif expected.state in UNLOCKED:
            code = self.oracle.unlocked(expected)
            assert lib.sws_slots_call_unlocked(self.handle, call, self.work) == code == OK
        else:
            freed = self.random.random() < 0.5
            if freed and self.oracle.map[expected.offset] == CACHED:
                self.free([expected.offset])
            code = self.oracle.reclaimed(expected, freed)
            assert lib.sws_slots_call_reclaimed(call, freed) == code == OK
        assert_same_call(call, expected, self.config.kernel)

    def whole_call(self) -> None:
        """Do a call that nothing interrupts; some want no slot."""
        self.allocate(*self.draw_caller(), self.random.choice(WANTED))

    def many_calls(self) -> None:
        """Do calls one after another, some until the device is full; most slots get pages."""
        caller, wanted = self.draw_caller(), self.random.choice(WANTED)
        pages = self.random.random() < 0.8
        for _ in range(self.random.choice([3, 10, 40])):
            slots = self.allocate(*caller, wanted).slots
            for slot in slots if pages else []:
                self.change("duplicate", slot)
            if not slots:
                break

    def begin(self) -> None:
        """Begin a call that others interrupt."""
        _, mm = self.draw_caller()
        wanted = self.random.choice(WANTED)
        call = ffi.new("struct sws_slots_call *")
        code, expected = self.oracle.begin(mm, wanted)
        assert lib.sws_slots_call_begin(self.handle, mm, wanted, call, self.work) == code
        if code == OK:
            assert_same_call(call, expected, self.config.kernel)
            self.open += [] if expected.state in OVER else [(call, expected)]

    def next_parts(self) -> None:
        """Continue open calls, some on another CPU than before."""
        for call, expected in self.random.sample(self.open, len(self.open)):
            for _ in range(self.random.randrange(4)):
                if expected.state not in OVER:
                    self.next_part(call, expected, self.draw_caller()[0])
        self.open = [entry for entry in self.open if entry[1].state not in OVER]

    def wrong_part(self) -> None:
        """Try parts that are not next: each is refused and has no effect."""
        unknown = self.config.possible_cpus
        for call, expected in self.open:
            codes = [lib.sws_slots_call_locked(self.handle, unknown, call, self.work)]
            if expected.state not in LOCKED:
                codes += [lib.sws_slots_call_locked(self.handle, 0, call, self.work)]
            if expected.state not in UNLOCKED:
                codes += [lib.sws_slots_call_unlocked(self.handle, call, self.work)]
            if expected.state is not State.RECLAIM:
                codes += [lib.sws_slots_call_reclaimed(call, True)]
            assert set(codes) == {BAD_ARGUMENT}
            assert_same_call(call, expected, self.config.kernel)

    def free_row(self) -> None:
        """Free slots without a page: complete clusters, or holes."""
        self.free([slot for slot in self.draw_row() if self.oracle.map[slot] == FRESH])

    def free_any(self) -> None:
        """Free any slots: used, free, the same twice, or past the end."""
        self.free([self.draw_slot() for _ in range(self.random.randrange(4))])

    def fragment(self) -> None:
        """Fill the device, free a few slots, and put pages into most of the others."""
        while self.allocate(*self.draw_caller(), 64).slots:
            pass
        fresh = [slot for slot in range(self.config.slots) if self.oracle.map[slot] == FRESH]
        self.random.shuffle(fresh)
        holes = self.random.choice([1, 5, 50, 200])
        pages = self.random.choice([10, 400, 1400, 1400])
        self.free(fresh[:holes])
        for slot in fresh[holes : holes + pages]:
            self.change("duplicate", slot)

    def happen(self) -> None:
        """Change any slots in any way."""
        for _ in range(10):
            self.change(self.random.choice(OPERATIONS), self.draw_slot())

    def happen_to_row(self) -> None:
        """Put pages into many slots, remove them, or leave them in the cache only."""
        row = self.draw_row()
        operations = [["duplicate"], ["duplicate", "drop"], ["drop"], ["uncache"], ["cache"]]
        for operation in self.random.choice(operations):
            for slot in row:
                self.change(operation, slot)

    def reference_often(self) -> None:
        """Refer to a slot as often as possible, and once more."""
        slot = self.draw_slot()
        for _ in range(64):
            self.change("duplicate", slot)

    def set_base(self) -> None:
        """Set a base, sometimes at the end or past it."""
        owner = self.random.randrange(len(self.oracle.bases) + 1)
        base = self.draw_slot()
        if self.random.random() < 0.3:
            base = self.config.slots + self.random.randrange(3)
        expected = self.oracle.set_base(owner, base)
        assert lib.sws_slots_set_base(self.handle, owner, base) == expected


# How often each step is done.
DEVICE_STEPS = {
    DeviceTwins.whole_call: 3,
    DeviceTwins.many_calls: 3,
    DeviceTwins.begin: 6,
    DeviceTwins.next_parts: 9,
    DeviceTwins.wrong_part: 1,
    DeviceTwins.free_row: 4,
    DeviceTwins.free_any: 1,
    DeviceTwins.fragment: 2,
    DeviceTwins.happen: 1,
    DeviceTwins.happen_to_row: 3,
    DeviceTwins.reference_often: 1,
    DeviceTwins.set_base: 2,
}


@settings(max_examples=40, suppress_health_check=RELAXED)
@given(config=configs(SLOTS), seed=st.integers(0, 2**32 - 1))
def test_c_and_oracle_agree_on_devices(config: Config, seed: int) -> None:
    """Slots, bases, map and counters agree in any sequence of calls, frees and references."""
    DeviceTwins(config, seed).run(60)


class CacheTwins:
    """Slot caches of the library and of the oracle, in the same random steps."""

    def __init__(self, config: Config, enabled: bool, seed: int) -> None:
        self.config, self.random = config, Random(seed)
        self.handle, self.oracle = make_cache(config, enabled), SlotCache(config, enabled)
        self.work = ffi.new("struct sws_slot_cache_work *")

    def run(self, steps: int) -> None:
        """Do random steps and compare after each."""
        for number in range(steps):
            (step,) = self.random.choices(list(CACHE_STEPS), weights=list(CACHE_STEPS.values()))
            note(f"step {number}: {step.__name__}")
            step(self)
            self.assert_same(slots=number % 4 == 3)

    def assert_same(self, *, slots: bool) -> None:
        """Compare the caches and the device behind them."""
        reason = ffi.new("const char **")
        verify(lib.sws_slot_cache_verify(self.handle, reason), reason)
        cpus = range(self.config.online_cpus)
        ready = [lib.sws_slot_cache_ready(self.handle, cpu) for cpu in cpus]
        returned = [lib.sws_slot_cache_returned(self.handle, cpu) for cpu in cpus]
        assert ready == [len(self.oracle.ready[cpu]) for cpu in cpus]
        assert returned == [len(self.oracle.returned[cpu]) for cpu in cpus]
        assert counted(self.work, CacheWork) == asdict(self.oracle.work)
        assert counted(self.work.device, Work) == asdict(self.oracle.device.work)
        device = lib.sws_slot_cache_device(self.handle)
        assert_same_device(device, self.oracle.device, slots=slots)

    def draw_held(self) -> list[int]:
        """Draw some of the slots that are in use and not in a cache."""
        waiting = {slot for cache in self.oracle.ready + self.oracle.returned for slot in cache}
        usage = self.oracle.device.map
        held = [slot for slot in range(1, len(usage)) if usage[slot] and slot not in waiting]
        return self.random.sample(held, self.random.randrange(len(held) + 1))

    def draw_cpu(self) -> int:
        """Draw a CPU that is online."""
        return self.random.randrange(self.config.online_cpus)

    def get(self) -> None:
        """Get slots on one CPU."""
        cpu = self.draw_cpu()
        for _ in range(self.random.choice([1, 10, 70, 300])):
            mm = self.random.randrange(-1, self.config.address_spaces)
            offset, call = ffi.new("uint32_t *"), ffi.new("struct sws_slots_call *")
            code, slot, expected = self.oracle.get(cpu, mm)
            assert lib.sws_slot_cache_get(self.handle, cpu, mm, offset, call, self.work) == code
            assert offset[0] == slot
            if expected is None:
                assert (call.state, call.given) == (State.START, 0)
            else:
                assert_same_call(call, expected, self.config.kernel)

    def put(self, slots: list[int]) -> None:
        """Return slots on some CPU."""
        cpu = self.draw_cpu()
        for slot in slots:
            code = self.oracle.put(cpu, slot)
            assert lib.sws_slot_cache_put(self.handle, cpu, slot, self.work) == code

    def put_unused(self) -> None:
        """Return slots that never had a page."""
        usage = self.oracle.device.map
        self.put([slot for slot in self.draw_held() if usage[slot] == FRESH])

    def put_any(self) -> None:
        """Return slots that are free or still in use, which is refused."""
        slots = [self.random.randrange(self.config.slots + 1) for _ in range(3)]
        self.put([slot for slot in slots if self.oracle.device.usage(slot) != FRESH])

    def happen(self) -> None:
        """Change slots; return those that have no page and are not cached any more."""
        device = lib.sws_slot_cache_device(self.handle)
        usage = ffi.new("uint8_t *")
        operation = self.random.choice(OPERATIONS + OPERATIONS[:1])
        dead = []
        for slot in self.draw_held():
            code, expected = getattr(self.oracle.device, operation)(slot)
            call = getattr(lib, f"sws_slots_{operation}")
            assert call(device, slot, usage, ffi.addressof(self.work, "device")) == code
            if code == OK and expected == FRESH:
                dead.append(slot)
        self.put(dead)

    def unknown_caller(self) -> None:
        """Call for a CPU that is not online and for an unknown address space: refused."""
        online, spaces = self.config.online_cpus, self.config.address_spaces
        offset, call = ffi.new("uint32_t *"), ffi.new("struct sws_slots_call *")
        for cpu, mm in [(online, -1), (0, spaces), (0, -2)]:
            code = lib.sws_slot_cache_get(self.handle, cpu, mm, offset, call, self.work)
            assert (code, offset[0]) == (BAD_ARGUMENT, 0)
        assert lib.sws_slot_cache_put(self.handle, online, 1, self.work) == BAD_ARGUMENT


CACHE_STEPS = {
    CacheTwins.get: 5,
    CacheTwins.put_unused: 2,
    CacheTwins.put_any: 1,
    CacheTwins.happen: 5,
    CacheTwins.unknown_caller: 1,
}


@settings(max_examples=25, suppress_health_check=RELAXED)
@given(
    config=configs(st.sampled_from([2000, 1400, 700, 330, 100, 2])),
    enabled=st.sampled_from([True, True, True, False]),
    seed=st.integers(0, 2**32 - 1),
)
def test_c_and_oracle_agree_on_slot_caches(config: Config, enabled: bool, seed: int) -> None:
    """Slots, locks, flushes and switches agree, the device behind the caches too."""
    online = min(config.online_cpus, 3)
    CacheTwins(replace(config, online_cpus=online), enabled, seed).run(40)


def full_device(**fields: Any) -> DeviceInC:
    """Return a small device with a shared base that has a page in each slot."""
    device = DeviceInC(Config(**({"policy": Policy.SHARED} | fields)))
    device.fill_with_pages()
    return device


@pytest.mark.parametrize("size", [256, 512])
def test_clusters_of_the_free_list_lie_a_trunk_apart(size: int) -> None:
    """The first slot of each CPU is 64 MB after that of the CPU before, then in the next column."""
    config = Config(slots=4 * 16384, cluster_size=size, possible_cpus=5, online_cpus=5)
    device = DeviceInC(config)
    firsts = [device.allocate(1, cpu)[0] for cpu in range(5)]
    # Cluster 0 holds the header and is never free.
    assert firsts == [16384, 32768, 49152, size, 16384 + size]


@pytest.mark.parametrize("kernel", Kernel)
def test_the_scan_does_not_test_the_base(kernel: Kernel) -> None:
    """The only free slot is missed if it is the base, but not in 4.8."""
    device = full_device(kernel=kernel, slots=300)
    device.free(100)
    device.start_at(100)
    found = device.allocate(1)
    assert found == ([100] if kernel is Kernel.V4_8 else [])
    assert device.bases() == [101 if found else 100]
    assert device.work.stores == len(found)
    assert lib.sws_slots_credit(device.handle) == 1 - len(found)


def test_after_a_slot_the_next_but_one_is_tested() -> None:
    """A call that begins where the last one ended skips its base."""
    device = full_device(kernel=Kernel.V5_7, slots=300)
    device.free(100, 101, 103)
    device.start_at(99)
    assert [device.allocate(64) for _ in range(3)] == [[100], [103], [101]]


@pytest.mark.parametrize(
    ("kernel", "given", "stands_after"),
    [
        (Kernel.V4_8, 1, 1),
        (Kernel.V5_7, 1, 1),
        (Kernel.V5_7_SCAN_MORE, 52, 1),
        (Kernel.V5_8, 52, 1),
        (Kernel.V6_1, 51, 4),
    ],
)
def test_how_far_the_ration_goes(kernel: Kernel, given: int, stands_after: int) -> None:
    """Of every third slot a call gets what 256 tests reach, 6.1 one less.

    Each slot costs one for itself and four of the quick scan: itself again, two in
    use, and the next free one. 6.1 spends one before the first is found; its last
    three do not reach a slot, and the base is stored where it stands, not after
    the last slot.
    """
    device = full_device(kernel=kernel, slots=1000)
    holes = list(range(303, 900, 3))
    device.free(*holes)
    # 4.8 tests the base, the others the slot after it.
    device.start_at(303 if kernel is Kernel.V4_8 else 302)
    slots = device.allocate(64)
    assert slots == holes[:given]
    quick = 0 if given == 1 else 4 * (given - 1) + stands_after - 1
    assert device.work.tested_quick == quick
    assert device.work.tested_scan == (0 if kernel is Kernel.V4_8 else 1)
    assert device.bases() == [slots[-1] + (1 if kernel < Kernel.V5_8 else stands_after)]


def begin_a_call(device: DeviceInC) -> Any:
    """Return a call for two slots that has scanned and waits for the lock."""
    call = ffi.new("struct sws_slots_call *")
    assert lib.sws_slots_call_begin(device.handle, -1, 2, call, device.work) == OK
    assert lib.sws_slots_call_locked(device.handle, 0, call, device.work) == OK
    assert lib.sws_slots_call_unlocked(device.handle, call, device.work) == OK
    return call


def end_of(call: Any, device: DeviceInC, cpu: int) -> list[int]:
    """Do the next part of a call under the lock; return its slots."""
    assert lib.sws_slots_call_locked(device.handle, cpu, call, device.work) == OK
    return list(call.slots[0 : call.given])


def test_quick_scan_past_the_end() -> None:
    """A quick scan up to a base after the last slot continues at the lowest, as in the kernel."""
    device = full_device(slots=300)
    device.free(100, 299)
    device.start_at(300)
    call = begin_a_call(device)
    assert (call.offset, call.scan_base) == (100, 300)
    device.free(50)
    device.start_at(298)
    assert device.allocate(1) == [299]
    assert end_of(call, device, 0) == [100, 50]
    assert device.work.tested_quick == 201


def test_a_call_with_slots_ends_at_a_conflict() -> None:
    """A free cluster that is not the list's head ends a call that has slots."""
    device = full_device(slots=2048, possible_cpus=2, online_cpus=2)
    # CPU 1 takes a cluster and stands within it when CPU 0's scan takes the rest.
    device.free(*range(512, 768))
    assert [slot for _ in range(4) for slot in device.allocate(50, cpu=1)] == list(range(512, 712))
    device.start_at(711)
    assert device.allocate(56) == list(range(712, 768))
    device.free(100, 300)
    device.start_at(98)
    call = begin_a_call(device)
    assert (State(call.state), call.offset) == (State.CHECK, 100)
    # Meanwhile the cluster is freed behind another one, and the call continues on CPU 1.
    device.free(*range(1024, 1280), *range(512, 768))
    assert end_of(call, device, 1) == [100]
    assert (State(call.state), device.bases()) == (State.DONE, [713])
    assert device.allocate(2, cpu=1) == [1024, 1025]


class CacheInC:
    """Slot caches of the library, with a call and the counters of their work."""

    def __init__(self, config: Config) -> None:
        self.handle = make_cache(config)
        self.work = ffi.new("struct sws_slot_cache_work *")

    def get(self) -> int:
        """Return a slot for CPU 0."""
        offset, call = ffi.new("uint32_t *"), ffi.new("struct sws_slots_call *")
        assert lib.sws_slot_cache_get(self.handle, 0, -1, offset, call, self.work) == OK
        return int(offset[0])

    def ready(self) -> int:
        """Return how many slots are ready for CPU 0."""
        return int(lib.sws_slot_cache_ready(self.handle, 0))


def test_slot_cache_works_64_at_a_time() -> None:
    """64 gets take one call; the 65th slot returned flushes the 64 before."""
    cache = CacheInC(Config(slots=2000))
    slots = []
    for number in range(1, 131):
        slots.append(cache.get())
        assert cache.work.device.calls == -(-number // 64)
    assert len(set(slots)) == 130
    for number, slot in enumerate(slots):
        assert lib.sws_slot_cache_put(cache.handle, 0, slot, cache.work) == OK
        assert cache.work.flushes == number // 64
        assert cache.work.device.freed == 64 * cache.work.flushes


@pytest.mark.parametrize(("free", "active"), [(640, False), (641, True)])
def test_slot_caches_start_above_320_free_slots_a_cpu(free: int, active: bool) -> None:
    """The caches of two CPUs start with 641 free slots, not with 640."""
    cache = CacheInC(Config(slots=free + 1, possible_cpus=2, online_cpus=2))
    cache.get()
    assert cache.work.switches == active
    assert cache.ready() == (63 if active else 0)


def test_slot_caches_stop_below_128_free_slots_a_cpu() -> None:
    """With 128 free a cache is filled once more, with 64 it is drained."""
    cache = CacheInC(Config(slots=385, policy=Policy.SHARED))
    device = lib.sws_slot_cache_device(cache.handle)
    # After each get: free slots without credit, slots ready, starts and stops.
    seen = []
    for _ in range(258):
        cache.get()
        seen.append((lib.sws_slots_credit(device), cache.ready(), cache.work.switches))
    assert seen[-3:] == [(128, 0, 1), (64, 63, 1), (126, 0, 2)]
    assert cache.work.device.freed == 63


SMALL = {"slots": 1400, "trunk_shift": 6, "address_spaces": 2}


@pytest.mark.parametrize("rotational", [False, True])
@pytest.mark.parametrize("kernel", Kernel)
@pytest.mark.parametrize("policy", BUILT_IN)
def test_each_slot_is_handed_out_once(policy: Policy, kernel: Kernel, rotational: bool) -> None:
    """Filling a device hands out each slot but the header's once, on an SSD and on an HDD."""
    cpus = {"possible_cpus": 3, "online_cpus": 2}
    device = DeviceInC(Config(kernel=kernel, policy=policy, rotational=rotational, **SMALL, **cpus))
    calls = [device.allocate(7, turn % 2, turn % 3 - 1) for turn in range(1400)]
    slots = [slot for call in calls for slot in call]
    assert len(slots) == len(set(slots))
    # A scan does not test its own base, so one slot may be left for another's base.
    assert set(range(1, 1400)) - set(slots) <= set(device.bases())
    assert 0 not in slots


def bases_of(config: Config) -> list[int]:
    """Return the first values of all bases."""
    return DeviceInC(config).bases()


@pytest.mark.parametrize("policy", BUILT_IN)
def test_first_bases_lie_on_the_device(policy: Policy) -> None:
    """Each first base is in 1 .. highest, also with more CPUs than slots."""
    config = Config(
        policy=policy, trunk_shift=6, possible_cpus=40, online_cpus=20, address_spaces=3
    )
    for slots, seed in product((2, 3, 300, 1400), range(20)):
        for kernel in (Kernel.V5_7_SCAN_MORE, Kernel.V6_1):
            bases = bases_of(replace(config, slots=slots, seed=seed, kernel=kernel))
            assert all(1 <= base < slots for base in bases)


@settings(max_examples=200)
@given(data=st.data(), policy=st.sampled_from(list(BUILT_IN)), shift=st.sampled_from([1, 4, 6]))
def test_policies_answer_as_the_oracle_does(
    data: st.DataObject, policy: Policy, shift: int
) -> None:
    """What a built-in policy stores and looks at agrees for any arguments."""
    slot = st.integers(1, 200)
    lowest = data.draw(slot)
    bases = data.draw(st.lists(slot, min_size=1, max_size=12))
    cpu = data.draw(st.integers(0, len(bases) - 1))
    question = Question(
        cpu=cpu,
        mm=-1,
        base=bases[cpu],
        next=data.draw(slot),
        lowest=lowest,
        # Below the lowest slot: the device is full.
        highest=data.draw(st.integers(lowest - 1, 200)),
        trunk_size=1 << shift,
        draw=data.draw(st.integers(0, 2**63 - 1)),
        bases=bases,
    )
    store, looked_at = lib.sws_base_ops_of(int(policy)).store, ffi.new("int64_t *")
    answer = store(*question[:-1], ffi.new("int64_t[]", bases), len(bases), looked_at)
    assert (answer, looked_at[0]) == BUILT_IN[policy].store(question)


def test_even_spacing() -> None:
    """Bases spread over CPUs lie highest / CPUs apart; CPUs that are not online have a share."""
    config = Config(slots=100_001, possible_cpus=50, online_cpus=20, policy=Policy.SPREAD)
    assert bases_of(config) == [1 + 2000 * cpu for cpu in range(50)]
    bases = bases_of(replace(config, policy=Policy.SPREAD_ONLINE))
    assert bases[:20] == [1 + 5000 * cpu for cpu in range(20)]


def test_apart_means_a_trunk_each_while_there_are_enough() -> None:
    """The first bases of avoid are in different trunks up to the last trunk."""
    for seed in range(50):
        config = Config(slots=640, trunk_shift=6, possible_cpus=14, policy=Policy.AVOID, seed=seed)
        trunks = [base >> 6 for base in bases_of(config)]
        assert sorted(trunks[:10]) == list(range(10))


@pytest.mark.parametrize("cpus", [8, 16, 24, 48])
def test_random_trunks_meet_as_birthdays_do(cpus: int) -> None:
    """Of 768 trunks no two CPUs draw the same one as often as the formula says."""
    seeds, trunks = 1000, 768
    formula = prod(1 - cpu / trunks for cpu in range(cpus))
    config = Config(slots=trunks << 4, trunk_shift=4, possible_cpus=cpus, policy=Policy.PERCPU)
    apart = sum(
        len({base >> 4 for base in bases_of(replace(config, seed=seed))}) == cpus
        for seed in range(seeds)
    )
    # Four standard deviations of a share of 1000 trials.
    assert apart / seeds == pytest.approx(formula, abs=4 * sqrt(formula * (1 - formula) / seeds))


@pytest.mark.parametrize("policy", [Policy.PERCPU_RERANDOMISE, Policy.AVOID])
def test_a_base_that_leaves_its_trunk(policy: Policy) -> None:
    """It goes to the start of a trunk or the lowest slot, under avoid of a free one."""
    device = DeviceInC(
        Config(policy=policy, slots=1 << 12, trunk_shift=6, possible_cpus=5, online_cpus=4, seed=3)
    )
    random, call = Random(3), device.call
    held: list[int] = []
    moves = 0
    for turn in range(4000):
        cpu = turn % 4
        held += device.allocate(8, cpu)
        lowest = lib.sws_slots_lowest(device.handle)
        highest = lib.sws_slots_highest(device.handle)
        if call.drew and lowest < highest:
            moves += 1
            assert call.base_after % 64 == 0 or call.base_after == lowest
            assert lowest <= call.base_after <= highest
            bases = device.bases()
            others = {bases[other] >> 6 for other in {0, 1, 2, 3} - {cpu}}
            if policy is Policy.AVOID and (highest >> 6) - (lowest >> 6) >= 3:
                assert call.base_after >> 6 not in others
        if len(held) > 3900:
            random.shuffle(held)
            device.free(*held[:200])
            del held[:200]
    assert moves > 500
    assert (device.work.looked_at > 0) == (policy is Policy.AVOID)


@pytest.mark.parametrize(
    "fields",
    [
        {"slots": 0},
        {"slots": 1},
        {"slots": 2**32 - 512},
        {"cluster_size": 128},
        {"trunk_shift": 0},
        {"trunk_shift": 32},
        {"possible_cpus": 0},
        {"possible_cpus": 1, "online_cpus": 2},
        {"online_cpus": 0},
        {"address_spaces": 2**24 + 1},
        {"initial_bases": (0,)},
        {"initial_bases": (2**20,)},
    ],
)
def test_bad_config_is_refused(fields: dict[str, Any]) -> None:
    """A field out of its range makes no device."""
    target, out = ffi.new("struct sws_slots_config *"), ffi.new("struct sws_slots **")
    alive = fill_config(target[0], replace(Config(), **fields))
    assert lib.sws_slots_new(target, out) == lib.SWS_ERROR_BAD_CONFIG
    assert out[0] == ffi.NULL
    del alive
