# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, simple model of slot_base.h, slots.h and slot_cache.h.

A loop tests one slot at a time, each event counts one counter, the free list is a list, and a call
is a generator that reads like the kernel's function: each ``yield`` is a place where si->lock is
taken or dropped. It is written from facts about the kernel and shares no code with the C library.

=================================== ==========================================================
here                                in corelib/src/slots
=================================== ==========================================================
Generator                           ../core/generator.c: sws_generator_next, _below
run_on, rerandomise, avoid          slot_base.c: store_linear, store_rerandomise, store_avoid
first_bases, shared_start           slot_base.c: sws_base_start; slots.c: start_bases
Device.__init__, _make_clusters     slots.c: start; clusters.c: sws_slots__start_clusters
Device.begin, locked, reclaimed     call.c: sws_slots_call_begin, _locked, _reclaimed
Device.unlocked                     scan.c: sws_slots_call_unlocked
Device.allocate                     call.c: sws_slots_allocate
Device._scan_swap_map_slots         call.c: start_locked, take_slots (states instead of yields)
Device._try_cluster, _conflict      call.c: try_cluster, conflicts
Device._new_run, _search            call.c: next_of_disk, take_run; scan.c: search
Device._check, _take, _further      call.c: check, take_slot, look_for_more
Device._scan, _scan_one, _spend     scan.c: scan, scan_range, sws_slots__spend
Device._quick_scan                  scan.c: sws_slots__quick_scan
Device._store                       call.c: store_base, ask_policy
Device.free_entries, duplicate, ... usage.c: sws_slots_free_entries, sws_slots_duplicate, ...
SlotCache                           slot_cache.c: sws_slot_cache_get, _put, switch_caches, drain
=================================== ==========================================================
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple

OK, BAD_ARGUMENT, NOT_FOUND = 0, -3, -5
COUNT, BAD, CACHED, IDLE = 0x3F, 0x3F, 0x40, 0x80
BATCH, RATION, TRAIL = 64, 256, 8
CACHE_SIZE, ACTIVATE, DEACTIVATE = 64, 320, 128
WORD = 2**64 - 1


class Kernel(IntEnum):
    """The kernels whose allocators differ, oldest first."""

    V4_8 = 0
    V5_7 = 1
    V5_7_SCAN_MORE = 2
    V5_8 = 3
    V6_1 = 4


class State(IntEnum):
    """The next part of a call."""

    START = 0
    SEARCH = 1
    SEARCHED = 2
    SCAN = 3
    CHECK = 4
    RECLAIM = 5
    RECLAIMED = 6
    EXHAUSTED = 7
    DONE = 8
    NO_PAGE = 9


LOCKED = (State.START, State.SEARCHED, State.CHECK, State.RECLAIMED, State.EXHAUSTED)
UNLOCKED = (State.SEARCH, State.SCAN)
OVER = (State.DONE, State.NO_PAGE)


class Step(Enum):
    """Where a call continues: a label of the kernel's function."""

    CHECKS = 0
    SCAN = 1
    RECLAIM = 2
    TAKEN = 3
    DONE = 4
    NO_PAGE = 5


class Generator:
    """xoshiro256**, its state drawn from splitmix64."""

    def __init__(self, seed: int, stream: int) -> None:
        """Make one stream of a run's random numbers."""
        _, mixed = self._splitmix(stream)
        state = seed ^ mixed
        self.words = []
        for _ in range(4):
            state, word = self._splitmix(state)
            self.words.append(word)

    @staticmethod
    def _splitmix(state: int) -> tuple[int, int]:
        """Return the next state and its number."""
        state = state + 0x9E3779B97F4A7C15 & WORD
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & WORD
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & WORD
        return state, mixed ^ mixed >> 31

    def next(self) -> int:
        """Return 64 random bits."""
        a, b, c, d = self.words
        fives = b * 5 & WORD
        result = (fives << 7 | fives >> 57) * 9 & WORD
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        c ^= self.words[1] << 17 & WORD
        d = (d << 45 | d >> 19) & WORD
        self.words = [a, b, c, d]
        return result

    def below(self, bound: int) -> int:
        """Return a number in [0, bound); draws that would favour small numbers are repeated."""
        while (draw := self.next()) < 2**64 % bound:
            pass
        return draw % bound


class BaseOf(IntEnum):
    """What has a base."""

    DEVICE = 0
    CPU = 1
    MM = 2


class Initial(IntEnum):
    """The first values of the bases."""

    FIRST = 0
    RANDOM = 1
    EVEN_POSSIBLE = 2
    EVEN_ONLINE = 3
    APART = 4
    OF_KERNEL = 5


class Policy(IntEnum):
    """The built-in policies, and a user's."""

    SHARED = 0
    PERCPU = 1
    PERCPU_RERANDOMISE = 2
    SPREAD = 3
    SPREAD_ONLINE = 4
    AVOID = 5
    PERMM = 6
    USER = 7


class Question(NamedTuple):
    """The arguments of a policy when a base is stored."""

    cpu: int
    mm: int
    base: int
    next: int
    lowest: int
    highest: int
    trunk_size: int
    draw: int
    bases: Sequence[int]

    def leaves_trunk(self) -> bool:
        """Return whether the next slot lies in another trunk than the base."""
        return self.base // self.trunk_size != self.next // self.trunk_size

    def drawn(self) -> int:
        """Return the random slot between lowest and highest."""
        return self.lowest + self.draw % (self.highest - self.lowest + 1)


Answer = tuple[int, int]
"""The base to store, and how many bases were looked at."""


def run_on(question: Question) -> Answer:
    """Continue at the next slot."""
    return question.next, 0


def rerandomise(question: Question) -> Answer:
    """Continue at the next slot; past the trunk, at the start of a random one."""
    if not question.leaves_trunk():
        return question.next, 0
    if question.highest <= question.lowest:
        return question.base, 0
    start = question.drawn() // question.trunk_size * question.trunk_size
    return max(start, question.lowest), 0


def avoid(question: Question) -> Answer:
    """Continue at the next slot; past the trunk, in a random one without another CPU's base."""
    if not question.leaves_trunk():
        return question.next, 0
    if question.highest <= question.lowest:
        return question.base, 0
    size = question.trunk_size
    first, last = question.lowest // size, question.highest // size
    drawn = question.drawn() // size
    looked_at = 0
    for trunk in [*range(drawn, last + 1), *range(first, drawn)]:
        taken = False
        for cpu, base in enumerate(question.bases):
            if cpu == question.cpu:
                continue
            looked_at += 1
            if base // size == trunk:
                taken = True
                break
        if not taken:
            return max(trunk * size, question.lowest), looked_at
    return max(drawn * size, question.lowest), looked_at


class Ops(NamedTuple):
    """A policy: what has a base, the first values of bases, and what is stored."""

    base_of: BaseOf
    initial: Initial
    store: Callable[[Question], Answer]


BUILT_IN = {
    Policy.SHARED: Ops(BaseOf.DEVICE, Initial.OF_KERNEL, run_on),
    Policy.PERCPU: Ops(BaseOf.CPU, Initial.RANDOM, run_on),
    Policy.PERCPU_RERANDOMISE: Ops(BaseOf.CPU, Initial.RANDOM, rerandomise),
    Policy.SPREAD: Ops(BaseOf.CPU, Initial.EVEN_POSSIBLE, run_on),
    Policy.SPREAD_ONLINE: Ops(BaseOf.CPU, Initial.EVEN_ONLINE, run_on),
    Policy.AVOID: Ops(BaseOf.CPU, Initial.APART, avoid),
    Policy.PERMM: Ops(BaseOf.MM, Initial.RANDOM, run_on),
}


@dataclass(frozen=True)
class Config:
    """The fields of ``struct sws_slots_config``."""

    kernel: Kernel = Kernel.V6_1
    slots: int = 2**20
    cluster_size: int = 256
    trunk_shift: int = 14
    rotational: bool = False
    possible_cpus: int = 1
    online_cpus: int = 1
    address_spaces: int = 0
    policy: Policy = Policy.PERCPU_RERANDOMISE
    user: Ops | None = None
    initial_bases: tuple[int, ...] | None = None
    seed: int = 1

    @property
    def ops(self) -> Ops:
        """Return the policy; a rotational device has the shared base at slot 1."""
        if self.rotational:
            return Ops(BaseOf.DEVICE, Initial.FIRST, run_on)
        if self.policy is Policy.USER:
            assert self.user is not None
            return self.user
        return BUILT_IN[self.policy]

    @property
    def n_bases(self) -> int:
        """Return the number of bases."""
        return {
            BaseOf.DEVICE: 1,
            BaseOf.CPU: self.possible_cpus,
            BaseOf.MM: self.possible_cpus + self.address_spaces,
        }[self.ops.base_of]


def shared_start(config: Config) -> int:
    """Return the shared base after swapon: up to 5.7, a random slot of an SSD."""
    if config.rotational or config.kernel >= Kernel.V5_8:
        return 1
    return 1 + Generator(config.seed, config.n_bases).below(config.slots - 1)


def first_bases(config: Config, generators: Sequence[Generator]) -> list[int]:
    """Return the first value of each base; base i draws from generator i."""
    initial = config.ops.initial
    highest, size = config.slots - 1, 1 << config.trunk_shift
    bases: list[int] = []
    for owner, generator in enumerate(generators):
        if initial is Initial.FIRST:
            base = 1
        elif initial is Initial.OF_KERNEL:
            base = shared_start(config)
        elif initial is Initial.EVEN_POSSIBLE:
            base = 1 + owner % config.possible_cpus * (highest // config.possible_cpus)
        elif initial is Initial.EVEN_ONLINE:
            base = 1 + owner % config.online_cpus * (highest // config.online_cpus)
        else:
            base = 1 + generator.below(highest)
        if initial is Initial.APART:
            taken = {earlier // size for earlier in bases}
            drawn, trunks = base // size, highest // size + 1
            free = [trunk for trunk in [*range(drawn, trunks), *range(drawn)] if trunk not in taken]
            if free and free[0] != drawn:
                base = max(1, free[0] * size)
        bases.append(base)
    return bases


@dataclass
class Work:
    """The counters of ``struct sws_slots_work``."""

    calls: int = 0
    given: int = 0
    freed: int = 0
    si_lock: int = 0
    cluster_lock: int = 0
    tested_scan: int = 0
    tested_quick: int = 0
    tested_cluster: int = 0
    searches: int = 0
    rescheduled: int = 0
    reclaims: int = 0
    stores: int = 0
    looked_at: int = 0
    nonsense: int = 0


@dataclass
class Call:
    """A call in progress: the fields of ``struct sws_slots_call``."""

    mm: int
    wanted: int
    state: State = State.START
    cpu: int = -1
    slots: list[int] = field(default_factory=list)
    offset: int = 0
    scan_base: int = 0
    search_end: int = 0
    ration: int = RATION
    scanned_many: bool = False
    reclaimed: bool = False
    drew: bool = False
    base_before: int = 0
    next: int = 0
    base_after: int = 0
    trail: list[tuple[int, int]] = field(default_factory=list)
    parts: Iterator[State] = field(default_factory=lambda: iter(()))

    def tested(self, first: int, end: int) -> None:
        """Add the tested slots first .. end - 1 to the trail."""
        if first >= end:
            return
        if self.trail and self.trail[-1][0] <= first <= self.trail[-1][1]:
            self.trail[-1] = (self.trail[-1][0], max(self.trail[-1][1], end))
        elif len(self.trail) < TRAIL:
            self.trail.append((first, end))


class Device:
    """One swap device."""

    def __init__(self, config: Config) -> None:
        """Make an empty device."""
        self.config = config
        self.kernel, self.slots, self.size = config.kernel, config.slots, config.cluster_size
        self.solid = not config.rotational
        self.cluster_locks = self.solid and self.kernel >= Kernel.V5_7
        self.work = Work()
        # A scan up to a base after the last slot reads one byte past the end, which is zero.
        self.map = bytearray(self.slots + 1)
        self.map[0] = BAD
        self.lowest, self.highest = 1, self.slots - 1
        self.pages = self.credit = self.slots - 1
        self.in_use = 0
        self.cluster_nr = 0
        self.generators = [Generator(config.seed, owner) for owner in range(config.n_bases)]
        if config.initial_bases is None:
            self.bases = first_bases(config, self.generators)
        else:
            self.bases = list(config.initial_bases)
        self.own_cluster: list[tuple[int, int] | None] = [None] * config.possible_cpus
        self._make_clusters()

    def _make_clusters(self) -> None:
        """Count the header and slots past the end as used; list the empty clusters."""
        self.counts: list[int] = []
        self.free_list: list[int] = []
        if not self.solid:
            return
        clusters = -(-self.slots // self.size)
        self.counts = [0] * clusters
        self.counts[0] += 1
        for offset in range(self.slots, clusters * self.size):
            self.counts[offset // self.size] += 1
        first = shared_start(self.config) // self.size
        if self.kernel is Kernel.V4_8:
            order = [(first + step) % clusters for step in range(clusters)]
        else:
            columns = max(8, (1 << self.config.trunk_shift) // self.size)
            order = [
                cluster
                for step in range(columns)
                for cluster in range(clusters)
                if cluster % columns == (first + step) % columns
            ]
        self.free_list = [cluster for cluster in order if self.counts[cluster] == 0]

    def _conflict(self, offset: int) -> bool:
        """Return whether the slot lies in a free cluster that is not the next to be taken."""
        cluster = offset // self.size
        return bool(self.free_list) and cluster != self.free_list[0] and cluster in self.free_list

    def _try_cluster(self, call: Call) -> bool:
        """Find a free slot in this CPU's cluster, or in the first cluster of the free list."""
        while True:
            own = self.own_cluster[call.cpu]
            if own is None:
                if not self.free_list:
                    return False
                own = (self.free_list[0], self.free_list[0] * self.size)
            cluster, offset = own
            end = min(self.slots, (cluster + 1) * self.size)
            if offset < end:
                self.work.cluster_lock += self.cluster_locks
                self.work.searches += 1
            while offset < end:
                self.work.tested_cluster += 1
                if self.map[offset] == 0:
                    self.own_cluster[call.cpu] = (cluster, offset + 1)
                    call.offset = call.scan_base = offset
                    return True
                offset += 1
            self.own_cluster[call.cpu] = None

    def begin(self, mm: int, wanted: int) -> tuple[int, Call]:
        """Take credit for a call."""
        call = Call(mm, wanted)
        if wanted < 1 or not -1 <= mm < self.config.address_spaces:
            return BAD_ARGUMENT, call
        call.wanted = min(1 if self.kernel is Kernel.V4_8 else wanted, BATCH, self.credit)
        if call.wanted == 0:
            call.state = State.NO_PAGE
            return OK, call
        self.work.calls += 1
        self.credit -= call.wanted
        call.parts = self._scan_swap_map_slots(call)
        return OK, call

    def locked(self, cpu: int, call: Call) -> int:
        """Do the next part of a call under si->lock."""
        if call.state not in LOCKED or not 0 <= cpu < self.config.possible_cpus:
            return BAD_ARGUMENT
        call.cpu = cpu
        self.work.si_lock += 1
        call.state = next(call.parts)
        if call.state in OVER:
            self.credit += call.wanted - len(call.slots)
        return OK

    def unlocked(self, call: Call) -> int:
        """Do the next part of a call without the lock."""
        if call.state not in UNLOCKED:
            return BAD_ARGUMENT
        call.state = next(call.parts)
        return OK

    def reclaimed(self, call: Call, freed: bool) -> int:
        """Continue a call after its cached slot was freed, or was not."""
        if call.state is not State.RECLAIM:
            return BAD_ARGUMENT
        call.reclaimed = freed
        call.state = next(call.parts)
        return OK

    def allocate(self, cpu: int, mm: int, wanted: int) -> tuple[int, Call]:
        """Do a complete call; a cached slot that has a page is freed at once."""
        code, call = self.begin(mm, wanted)
        while code == OK and call.state not in OVER:
            if call.state in LOCKED:
                code = self.locked(cpu, call)
            elif call.state in UNLOCKED:
                self.unlocked(call)
            else:
                has_page = self.map[call.offset] == CACHED
                if has_page:
                    self.free_entries([call.offset])
                self.reclaimed(call, has_page)
        return code, call

    def _scan_swap_map_slots(self, call: Call) -> Iterator[State]:
        """Run a call from its first locked part to its end."""
        if self.highest == 0:
            yield State.NO_PAGE
            return
        call.offset = call.scan_base = self.bases[self.owner(call.cpu, call.mm)]
        step = Step.CHECKS
        if self.solid:
            # 4.8 ignores whether a cluster was found, and checks the base itself.
            if not self._try_cluster(call) and self.kernel is not Kernel.V4_8:
                step = Step.SCAN
        else:
            yield from self._new_run(call)
        while True:
            if step is Step.CHECKS:
                step = self._check(call)
            if step is Step.TAKEN:
                step = self._further(call)
            elif step is Step.RECLAIM:
                yield State.RECLAIM
                yield State.RECLAIMED
                step = Step.CHECKS if call.reclaimed else Step.SCAN
            elif step is Step.SCAN:
                yield State.SCAN
                found = self._scan(call)
                yield State.CHECK if found else State.EXHAUSTED
                step = Step.CHECKS if found else Step.NO_PAGE
            if step is Step.NO_PAGE:
                yield State.NO_PAGE
                return
            if step is Step.DONE:
                if self.kernel >= Kernel.V5_8:
                    self._store(call)
                yield State.DONE
                return

    def _new_run(self, call: Call) -> Iterator[State]:
        """On a rotational device, after a run is used up: search as many empty slots in a row."""
        left = self.cluster_nr
        self.cluster_nr = left - 1 & 0xFFFFFFFF
        if left:
            return
        if self.pages - self.in_use >= self.size:
            yield State.SEARCH
            self._search(call)
            yield State.SEARCHED
            if call.search_end:
                call.offset = self.bases[0] = call.search_end - (self.size - 1)
            else:
                call.offset = call.scan_base
        self.cluster_nr = self.size - 1

    def _search(self, call: Call) -> None:
        """Walk from the lowest slot to the end of the first run of cluster_size empty slots."""
        first = offset = call.offset = call.scan_base = self.lowest
        last = first + self.size - 1
        while last <= self.highest:
            self.work.tested_scan += 1
            if self.map[offset]:
                last = offset + self.size
            elif offset == last:
                call.search_end = last
                call.tested(first, last + 1)
                return
            call.ration -= 1
            if call.ration < 0:
                self.work.rescheduled += 1
                call.ration = RATION
            offset += 1
        call.tested(first, offset)

    def _check(self, call: Call) -> Step:
        """Check the slot where the scan stands under the lock, and take it if it is free."""
        if self.solid:
            while self._conflict(call.offset):
                self.own_cluster[call.cpu] = None
                if call.slots:
                    return Step.DONE
                if not self._try_cluster(call):
                    return Step.SCAN
        if self.highest == 0:
            return Step.NO_PAGE
        if call.offset > self.highest:
            call.offset = call.scan_base = self.lowest
        self.work.cluster_lock += self.cluster_locks
        if self.swap_full() and self._cached_only(call.offset):
            self.work.reclaims += 1
            return Step.RECLAIM
        if self.map[call.offset]:
            return Step.DONE if call.slots else Step.SCAN
        self._take(call.offset)
        call.slots.append(call.offset)
        if self.kernel < Kernel.V5_8:
            self._store(call)
        return Step.TAKEN

    def _take(self, offset: int) -> None:
        """Hand out a free slot."""
        self.map[offset] = CACHED | IDLE
        if self.solid:
            if offset // self.size in self.free_list:
                assert self.free_list.pop(0) == offset // self.size
            self.counts[offset // self.size] += 1
        if offset == self.lowest:
            self.lowest += 1
        if offset == self.highest:
            self.highest -= 1
        self.in_use += 1
        if self.in_use == self.pages:
            self.lowest, self.highest = self.slots, 0
        self.work.given += 1

    def _further(self, call: Call) -> Step:
        """Return how the call continues after a slot, with the lock held."""
        if len(call.slots) == call.wanted or call.offset >= self.highest:
            return Step.DONE
        call.ration -= 1
        if call.ration < 0:
            return Step.DONE
        if self.solid:
            if self._try_cluster(call):
                return Step.CHECKS
        elif self._next_of_run(call):
            return Step.CHECKS
        if self.kernel < Kernel.V5_7_SCAN_MORE or call.scanned_many:
            return Step.DONE
        return Step.CHECKS if self._quick_scan(call) else Step.DONE

    def _next_of_run(self, call: Call) -> bool:
        """On a rotational device: step to the next slot if the run is not over."""
        if self.cluster_nr == 0:
            return False
        call.offset += 1
        if self.map[call.offset]:
            return False
        self.cluster_nr -= 1
        return True

    def _quick_scan(self, call: Call) -> bool:
        """Scan with the lock held, as far as the ration lasts."""
        first = call.offset
        limit = call.scan_base if first < call.scan_base else self.highest
        while call.offset <= limit:
            call.ration -= 1
            if call.ration <= 0:
                break
            self.work.tested_quick += 1
            if self.map[call.offset] == 0:
                call.tested(first, call.offset + 1)
                return True
            call.offset += 1
        call.tested(first, call.offset)
        return False

    def _scan(self, call: Call) -> bool:
        """Scan without the lock from the current slot to highest, then from lowest to the base."""
        first = call.offset + 1
        call.offset = first
        while call.offset <= self.highest:
            if self._scan_one(call):
                call.tested(first, call.offset + 1)
                return True
            call.offset += 1
        call.tested(first, call.offset)
        first = call.offset = self.lowest
        while call.offset < call.scan_base:
            if self._scan_one(call):
                call.tested(first, call.offset + 1)
                return True
            call.offset += 1
        call.tested(first, call.offset)
        return False

    def _scan_one(self, call: Call) -> bool:
        """Test one slot; 6.1 spends the ration before the test, the others after a used slot."""
        if self.kernel >= Kernel.V6_1:
            self._spend(call)
        self.work.tested_scan += 1
        if self.map[call.offset] == 0:
            return True
        if self.swap_full() and self._cached_only(call.offset):
            return True
        if self.kernel < Kernel.V6_1:
            self._spend(call)
        return False

    def _spend(self, call: Call) -> None:
        """Spend one of the ration; yield the CPU when it is used up."""
        call.ration -= 1
        if call.ration < 0:
            self.work.rescheduled += 1
            call.ration = RATION
            call.scanned_many = True

    def owner(self, cpu: int, mm: int) -> int:
        """Return the owner of the base that a caller uses."""
        base_of = self.config.ops.base_of
        if base_of is BaseOf.DEVICE:
            return 0
        if base_of is BaseOf.MM and mm >= 0:
            return self.config.possible_cpus + mm
        return cpu

    def _store(self, call: Call) -> None:
        """Store the caller's base: the policy's answer, or the next slot if that is invalid."""
        owner = self.owner(call.cpu, call.mm)
        question = Question(
            cpu=call.cpu,
            mm=call.mm,
            base=self.bases[owner],
            next=call.offset + 1,
            lowest=self.lowest,
            highest=self.highest,
            trunk_size=1 << self.config.trunk_shift,
            draw=self.generators[owner].next() >> 1,
            bases=self._bases_to_read(),
        )
        answer, looked_at = self.config.ops.store(question)
        if not self.lowest <= answer <= self.highest and answer not in (
            question.next,
            question.base,
        ):
            self.work.nonsense += 1
            answer = question.next
        self.work.stores += 1
        self.work.looked_at += looked_at
        call.drew = question.leaves_trunk()
        call.base_before, call.next, call.base_after = question.base, question.next, answer
        self.bases[owner] = answer

    def _bases_to_read(self) -> Sequence[int]:
        """Return the bases that a policy may read; of bases per CPU, those of online CPUs."""
        if self.config.ops.base_of is BaseOf.CPU:
            return self.bases[: self.config.online_cpus]
        return self.bases[:]

    def set_base(self, owner: int, base: int) -> int:
        """Set a base."""
        if not 0 <= owner < len(self.bases) or not 1 <= base <= self.slots + 1:
            return BAD_ARGUMENT
        self.bases[owner] = base
        return OK

    def usage(self, offset: int) -> int:
        """Return the map byte of a slot, BAD past the end."""
        return self.map[offset] if offset < self.slots else BAD

    def _cached_only(self, offset: int) -> bool:
        """Return whether only the swap cache holds a slot; the kernel has no idle slots."""
        return self.map[offset] & ~IDLE == CACHED

    def swap_full(self) -> bool:
        """Return whether less than half of the slots are free."""
        return self.credit * 2 < self.pages

    def free_entries(self, offsets: Sequence[int]) -> int:
        """Free slots, si->lock held over all of them."""
        if not offsets:
            return OK
        self.work.si_lock += 1
        for offset in offsets:
            byte = self.usage(offset)
            if byte == 0:
                return NOT_FOUND
            if byte == BAD:
                return BAD_ARGUMENT
            self.map[offset] = 0
            self.work.cluster_lock += self.cluster_locks
            if self.solid:
                self.counts[offset // self.size] -= 1
                if self.counts[offset // self.size] == 0:
                    self.free_list.append(offset // self.size)
            self.lowest = min(self.lowest, offset)
            self.highest = max(self.highest, offset)
            self.credit += 1
            self.in_use -= 1
            self.work.freed += 1
        return OK

    def _change(self, offset: int, change: Callable[[int], int | None]) -> tuple[int, int]:
        """Change a map byte under its lock; ``change`` returns None if it does not fit the slot."""
        byte = self.usage(offset)
        changed = change(byte) if byte not in (0, BAD) else None
        if changed is None:
            return BAD_ARGUMENT, byte
        if self.cluster_locks:
            self.work.cluster_lock += 1
        else:
            self.work.si_lock += 1
        self.map[offset] = changed or CACHED | IDLE
        return OK, self.map[offset]

    def duplicate(self, offset: int) -> tuple[int, int]:
        """Add a reference of a page table."""
        return self._change(
            offset, lambda byte: (byte & ~IDLE) + 1 if byte & COUNT < COUNT - 1 else None
        )

    def drop(self, offset: int) -> tuple[int, int]:
        """Drop a reference of a page table."""
        return self._change(offset, lambda byte: byte - 1 if byte & COUNT else None)

    def cache(self, offset: int) -> tuple[int, int]:
        """Add the page to the swap cache again."""
        return self._change(offset, lambda byte: None if byte & CACHED else byte | CACHED)

    def uncache(self, offset: int) -> tuple[int, int]:
        """Remove the page from the swap cache."""
        return self._change(
            offset, lambda byte: byte & ~CACHED if byte & CACHED and not byte & IDLE else None
        )


@dataclass
class CacheWork:
    """The counters of ``struct sws_slot_cache_work``, without the device's."""

    gets: int = 0
    puts: int = 0
    cache_mutex: int = 0
    return_lock: int = 0
    flushes: int = 0
    switches: int = 0


class SlotCache:
    """Per-CPU caches of slots in front of a device."""

    def __init__(self, config: Config, enabled: bool = True) -> None:
        """Make an empty device with empty caches."""
        self.device = Device(config)
        self.enabled, self.active = enabled, False
        self.work = CacheWork()
        self.ready: list[list[int]] = [[] for _ in range(config.possible_cpus)]
        self.returned: list[list[int]] = [[] for _ in range(config.possible_cpus)]

    def _check_active(self) -> bool:
        """Start the caches above 320 free slots per CPU, stop and drain them below 128."""
        if not self.enabled:
            return False
        online = self.device.config.online_cpus
        if not self.active and self.device.credit > ACTIVATE * online:
            self.active = True
            self.work.switches += 1
        elif self.active and self.device.credit < DEACTIVATE * online:
            self.active = False
            self.work.switches += 1
            for cpu in range(online):
                self.work.cache_mutex += 1
                self.device.free_entries(self.ready[cpu])
                self.ready[cpu] = []
                self.work.return_lock += 1
                self.device.free_entries(self.returned[cpu])
                self.returned[cpu] = []
        return self.active

    def get(self, cpu: int, mm: int) -> tuple[int, int, Call | None]:
        """Return a code, one slot for a page or 0, and the last call of the device."""
        config = self.device.config
        if not 0 <= cpu < config.online_cpus or not -1 <= mm < config.address_spaces:
            return BAD_ARGUMENT, 0, None
        self.work.gets += 1
        call = None
        if self._check_active():
            self.work.cache_mutex += 1
            if not self.ready[cpu]:
                call = self._call(cpu, mm, BATCH)
                self.ready[cpu] = list(call.slots)
            if self.ready[cpu]:
                return OK, self.ready[cpu].pop(0), call
        call = self._call(cpu, mm, 1)
        return OK, call.slots[0] if call.slots else 0, call

    def _call(self, cpu: int, mm: int, wanted: int) -> Call:
        """Do a call; a cached slot that it frees is returned by this CPU."""
        device = self.device
        _, call = device.begin(mm, wanted)
        while call.state not in OVER:
            if call.state in LOCKED:
                device.locked(cpu, call)
            elif call.state in UNLOCKED:
                device.unlocked(call)
            else:
                code, usage = device.uncache(call.offset)
                if code == OK and usage == CACHED | IDLE:
                    self.put(cpu, call.offset)
                device.reclaimed(call, code == OK)
        return call

    def put(self, cpu: int, offset: int) -> int:
        """Return a slot that has no page any more."""
        if not 0 <= cpu < self.device.config.online_cpus:
            return BAD_ARGUMENT
        if self.device.usage(offset) != CACHED | IDLE:
            return BAD_ARGUMENT
        self.work.puts += 1
        if not (self.enabled and self.active):
            return self.device.free_entries([offset])
        self.work.return_lock += 1
        if len(self.returned[cpu]) == CACHE_SIZE:
            self.work.flushes += 1
            self.device.free_entries(self.returned[cpu])
            self.returned[cpu] = []
        self.returned[cpu].append(offset)
        return OK
