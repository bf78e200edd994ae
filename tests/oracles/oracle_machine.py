# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, plain model of machine.h: each actor is a generator that follows the kernel's code.

Each ``yield`` is a place where time passes: a request for a lock, work, a sleep. Pages are objects
on Python lists, the swap cache is a dictionary, slots are those of oracle_slots, time is that of
oracle_des. The model shares no code with the C library.

Which function stands for which C function (corelib/src/machine; ``sws_machine__`` is left out):

=============================================  ===================================================
here                                           there
=============================================  ===================================================
make_swap, make_actor                          build.c, layout.c: tasks, cpus_per_node, task
places_of, stay, change_cpu, place             place.c: place, stay, change_cpu
fill, put_into_memory, is_short, take_page     fill.c: fill, fill_with_writers, choose, fill_pages
ptes_of, resident, swapped, first_owner        layout.c: all_ptes, resident, swapped; pages.c
fill_and_drop, slot_of_fill, give_back_slot    drop.c: fill_and_drop, take_slot, give_back_slot
fill_device                                    fill.c: begin_device, take_slots
step, run, work, sleep, wake                   engine/engine.c, des/des.c
lock, unlock, under                            des/locks.c, and a call_* of each mechanism
transfer, lru_add, lru_add_drain, drain        pages.c: transfer, lru_add, lru_add_drain, drain_free
wake_kswapd, source, alloc_page                alloc.c: wake_kswapd, node_above, alloc_page
isolate, shrink_active, shrink                 shrink.c: isolate, shrink_active, shrink
flush_tlb                                      flush_tlb.c: unmap, flush_tlb
freed, remove, put_removed, remove_list        remove.c: remove, put_aside, remove_list
swap_out                                       swap_out.c: swap_out, write_out
tree_lock, take_out, tree, record              swap_cache.c: tree_add to tree_shadow, record
map_lock, map, may_leave_cache, leave_cache    swap_cache.c: duplicate to swap_free; evict.c
get_slot, get_swap_pages, cluster_locks        get_slot.c: get_slot, get_slots, next_cluster_lock
note_trunks, locked_part, reclaim_cached       get_slot.c: note_trunks, locked_part, reclaim_cached
put_slot, free_entries                         put_slot.c: put_slot, flush, free_one
look, next_look, next_free                     swap_cache.c: look_ns, next_look_ns
submit, rotate, interrupt                      device.c: submit, rotate, interrupt, complete
writer, life                                   writer.c: writer, write_page, fault; swap_out.c
exit, may_release, release, is_done            exit.c: exit, exit_mmap, release; walker.c: is_done
walker                                         walker.c: walker, draw, look_around, hit
stream, old_page                               stream.c: stream, begin, find_page, isolate
swap_in                                        swap_in.c: swap_in, prepare, read_in, settle
kswapd                                         kswapd.c: kswapd
=============================================  ===================================================
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import oracle_des
from oracle_slots import (
    CACHED,
    IDLE,
    LOCKED,
    OVER,
    UNLOCKED,
    Call,
    Device,
    Generator,
    Kernel,
    Policy,
    State,
    shared_start,
)
from oracle_slots import Config as DeviceConfig

BATCH, CACHE, PCP_BATCH, PCP_HIGH, QUEUE, DRAWS = 32, 64, 31, 186, 128, 64
START_NS = 20000
NOTHING = -1
FILL, SWAP, EXIT = range(3)

_SITES = (
    ("swap_avail_lock", "get_swap_pages"),
    ("alloc_lock", "get_swap_page"),
    ("free_lock", "free_swap_slot"),
    ("si_lock", "get_swap_pages scan_swap_map_slots swapcache_free_entries"),
    ("cluster_lock", "scan_swap_map_slots swapcache_free_entries"),
    ("map_lock", "swap_duplicate try_to_free_swap put_swap_page swapcache_prepare swap_free"),
    ("tree_lock", "add_to_swap_cache.shrink_page_list test_set_page_writeback"),
    ("tree_lock", "test_clear_page_writeback __remove_mapping add_to_swap_cache.do_swap_page"),
    ("tree_lock", "delete_from_swap_cache clear_shadow_from_swap_cache"),
    ("lru_lock", "__pagevec_lru_add mem_cgroup_commit_charge shrink_active_list"),
    ("lru_lock", "shrink_inactive_list rotate_reclaimable_page"),
    ("zone_lock", "rmqueue_bulk free_pcppages_bulk"),
    ("cluster_lock", "scan_swap_map_try_ssd_cluster"),
    ("map_lock", "swapcache_clear __swp_swapcount"),
    ("lru_lock", "release_pages"),
    ("record_lock.swap_cgroup_record", "mem_cgroup_swapout mem_cgroup_charge"),
    ("record_lock.swap_cgroup_record", "swapcache_free_entries"),
    ("interrupt", "try_to_unmap_flush"),
)
_WITH_INTERRUPTS_OFF = ("free_lock", "tree_lock", "lru_lock", "record_lock.swap_cgroup_record")
SITES = tuple(
    (f"{lock}.{site}", lock in _WITH_INTERRUPTS_OFF)
    for lock, sites in _SITES
    for site in sites.split()
)
"""The sites and whether their lock is taken with interrupts off, in the order of the enum."""

SITE = {name: number for number, (name, _) in enumerate(SITES)}

Steps = Iterator[None]


class Request(NamedTuple):
    """A ``struct sws_machine_request``."""

    stream: int
    mm: int
    page: int
    put: bool


@dataclass(frozen=True, kw_only=True)
class Config:
    """The fields of ``struct sws_machine_config``."""

    kernel: Kernel
    slots: int
    cluster_size: int = 256
    trunk_shift: int = 10
    policy: Policy = Policy.SHARED
    seed: int = 1
    swap_writeback_tags: bool | None = None
    rotational: bool = False
    batched: bool = False
    list_pages: int = BATCH
    slot_cache: bool = True
    lock_kind: int = oracle_des.QUEUED
    contended_ns: int = 0
    inactive_ratio: int = 0
    nodes: int = 1
    devices: int = 1
    channels: int = 0
    writers: int = 0
    walkers: int = 0
    frames: int = 2200
    shares_memory: bool = False
    pages: int = 1
    memory_max: int = 0
    accesses: int = 0
    drop_percent: int = 0
    sweeps: bool = False
    read_percent: int = 80
    spread_percent: int = 50
    fragmented: bool = False
    spare_cpus: int = 0
    stay_ns: int = 0
    requests: tuple[Request, ...] = ()

    @property
    def streams(self) -> int:
        """Tasks that do requests."""
        return self.requests[-1].stream + 1 if self.requests else 0

    @property
    def tasks(self) -> int:
        """Writers, walkers and streams."""
        return self.writers + self.walkers + self.streams

    @property
    def cpus_per_node(self) -> int:
        """Tasks, a kswapd if there is no limit, and a CPU for an asynchronous device."""
        return -(-self.tasks // self.nodes) + (not self.memory_max) + (self.channels > 0)


@dataclass(eq=False)
class Page:
    """A frame of memory."""

    node: "Node"
    number: int
    used: bool = False
    pte: int | None = None
    owner: int | None = None
    slot: int = 0
    active: bool = False
    written: bool = False
    referenced: bool = False
    kept_once: bool = False
    dirty: bool = False
    locked: bool = False
    writeback: bool = False
    unmapped: bool = False


@dataclass(eq=False)
class Node:
    """A socket's memory: lists with the newest page first, and the zone's free pages."""

    number: int
    lru_lock: int
    zone_lock: int
    active: list[Page] = field(default_factory=list)
    inactive: list[Page] = field(default_factory=list)
    free: list[Page] = field(default_factory=list)
    busy_until: int = 0


@dataclass(eq=False)
class Swap:
    """A device: its slots, its swap cache (slot -> page, or True for a shadow), its queue."""

    slots: Device
    si_lock: int
    record_lock: int
    first_tree_lock: int
    first_cluster_lock: int | None
    node: Node
    cache: dict[int, Page | bool] = field(default_factory=dict)
    channels: list[int] = field(default_factory=list)
    requests: list[tuple[int, Page, "Actor | None"]] = field(default_factory=list)
    writes: int = 0
    interrupt: "Actor | None" = None
    lines: set[int] = field(default_factory=set)


@dataclass(eq=False)
class Place:
    """A CPU as the devices know it: its number there, and its slots in the caches."""

    number: int
    taken: bool = False
    ready: list[int] = field(default_factory=list)
    returned: list[int] = field(default_factory=list)


@dataclass(eq=False)
class Actor:
    """A CPU and its state."""

    cpu: int
    node: Node
    swap: Swap
    generator: Generator
    mm: int = -1
    begins: bool = False
    first_pte: int = 0
    n_ptes: int = 0
    steps: Steps = field(default_factory=lambda: iter(()))
    asleep: bool = False
    throttled: bool = False
    slept_ns: int = 0
    pcp: list[Page] = field(default_factory=list)
    isolated: list[Page] = field(default_factory=list)
    pagevec: list[Page] = field(default_factory=list)
    aside: list[Page] = field(default_factory=list)
    stale: list[int] = field(default_factory=list)
    place: "Place" = field(default_factory=lambda: Place(-1))
    stays_until: int = 0
    count: Counter[str] = field(default_factory=Counter)


class Machine:
    """The machine."""

    def __init__(self, config: Config, costs: dict[str, int]) -> None:
        """Build the machine, fill memory and devices, and let the tasks begin."""
        self.config, self.costs = config, costs
        self.old = config.kernel is Kernel.V4_8
        self.new = config.kernel is Kernel.V6_1
        tags = config.swap_writeback_tags
        self.tags = self.old if tags is None else tags
        self.skips_cache = not self.old and config.channels == 0
        self.charges = config.kernel in (Kernel.V5_7, Kernel.V5_7_SCAN_MORE)
        self.records = config.kernel is Kernel.V5_8
        self.pagevec = 14 if self.old else 15
        self.low_water = max(config.frames // 128, BATCH)
        self.stuck = False
        cpus = config.nodes * config.cpus_per_node
        self.des = oracle_des.Des(
            oracle_des.Config(
                cpus=cpus,
                cpus_per_socket=config.cpus_per_node,
                sites=len(SITES),
                travel_same_core_ns=costs["travel_same_socket_ns"],
                travel_same_socket_ns=costs["travel_same_socket_ns"],
                travel_other_socket_ns=costs["travel_other_socket_ns"],
                irq_save_ns=costs["irq_save_ns"],
                contended_ns=config.contended_ns,
            )
        )
        places = cpus + config.nodes * config.spare_cpus
        self.places = [Place(number) for number in range(places)]
        self.avail_lock = self.locks(1)
        self.mutexes = self.locks(places)
        self.return_locks = self.locks(places)
        self.nodes = [Node(n, self.locks(1), self.locks(1)) for n in range(config.nodes)]
        for node in self.nodes:
            first = node.number * config.frames
            node.free = [Page(node, first + number) for number in range(config.frames)]
        self.swaps = [self.make_swap(n, places) for n in range(config.devices)]
        self.actors = [self.make_actor(cpu) for cpu in range(cpus)]
        self.ptes: list[Page | int] = [0] * (config.walkers * config.pages)
        self.ptes += [NOTHING] * (config.writers * config.accesses)
        self.charged = self.shared_slots = 0
        self.last_trunk: dict[int, int] = {}
        self.leaving: set[int] = set()
        self.awaited: dict[int, Actor] = {}
        self.requests_done = self.longest_ended = 0
        self.life = FILL
        self.place()
        free = sum(swap.slots.config.slots - 1 for swap in self.swaps) - sum(self.swapped())
        least = 128 if config.drop_percent else 320
        self.caches = not self.old and config.slot_cache and free > least * places
        self.fill()
        self.ptes += [0] * len(config.requests)
        for actor in self.actors:
            if actor.begins:
                self.des.run(actor.cpu, actor.generator.below(START_NS))

    def locks(self, n: int) -> int:
        """Add locks, return the first one's number."""
        return self.des.add_locks(self.config.lock_kind, n)

    def make_swap(self, number: int, cpus: int) -> Swap:
        """Return an empty device with its locks."""
        config = self.config
        slots = Device(
            DeviceConfig(
                kernel=config.kernel,
                slots=config.slots,
                cluster_size=config.cluster_size,
                trunk_shift=config.trunk_shift,
                rotational=config.rotational,
                possible_cpus=cpus,
                online_cpus=cpus,
                address_spaces=config.tasks,
                policy=config.policy,
                seed=config.seed + number,
            )
        )
        if not self.old:
            # Columns as wide as a trunk: SWAP_CLUSTER_COLS, with trunks of another size than 64 MB.
            columns = max(8, (1 << config.trunk_shift) // config.cluster_size)
            first = shared_start(slots.config) // config.cluster_size
            slots.free_list.sort(
                key=lambda cluster: ((cluster - first) % columns, cluster // columns)
            )
        si_lock = self.locks(1)
        record_lock = self.locks(1)
        trees = self.locks(1 if self.old else (config.slots - 1 >> config.trunk_shift) + 1)
        clusters = None
        if not self.old and not config.rotational:
            clusters = self.locks((config.slots - 1) // config.cluster_size + 1)
        swap = Swap(slots, si_lock, record_lock, trees, clusters, self.nodes[number])
        swap.channels = [0] * config.channels
        return swap

    def make_actor(self, cpu: int) -> Actor:
        """Return a CPU without a task."""
        node = self.nodes[cpu // self.config.cpus_per_node]
        swap = self.swaps[node.number % self.config.devices]
        place = self.places_of(node)[cpu % self.config.cpus_per_node]
        place.taken = True
        actor = Actor(cpu, node, swap, Generator(self.config.seed, cpu), place=place)
        self.stay(actor)
        return actor

    def places_of(self, node: Node) -> list[Place]:
        """Return a node's CPUs."""
        n = len(self.places) // self.config.nodes
        return self.places[node.number * n :][:n]

    def stay(self, actor: Actor) -> None:
        """Let an actor be where it is, for some time."""
        if self.config.stay_ns:
            actor.stays_until = self.des.now + actor.generator.below(2 * self.config.stay_ns)

    def change_cpu(self, actor: Actor) -> None:
        """Take an actor to another CPU of its node, if it was on its own for long enough."""
        free = [place for place in self.places_of(actor.node) if not place.taken]
        if self.config.stay_ns and self.des.now >= actor.stays_until and free:
            actor.place.taken = False
            actor.place = free[actor.generator.below(len(free))]
            actor.place.taken = True
            actor.count["changes"] += 1
            self.stay(actor)

    def place(self) -> None:
        """Give each CPU its task: walkers first, dealt to the nodes in turn; then the others."""
        config = self.config
        for task in range(config.tasks):
            actor = self.actors[task % config.nodes * config.cpus_per_node + task // config.nodes]
            actor.mm, actor.begins = task, True
            walks = task < config.walkers
            actor.first_pte = task * config.pages
            actor.n_ptes = config.pages if walks else config.accesses
            if not walks:
                ended = (task - config.walkers) * config.accesses
                actor.first_pte = config.walkers * config.pages + ended
            actor.steps = self.walker(actor) if walks else self.writer(actor)
            if config.requests:
                mine = [request for request in config.requests if request.stream == task]
                actor.mm, actor.steps = mine[0].mm, self.stream(actor, mine)
        self.kswapds = []
        for n in range(config.nodes):
            end = (n + 1) * config.cpus_per_node
            if not config.memory_max:
                kswapd = self.actors[end - 1 - (config.channels > 0)]
                kswapd.steps, kswapd.asleep = self.kswapd(kswapd), True
                self.kswapds.append(kswapd)
            if config.channels and n < config.devices:
                interrupt = self.actors[end - 1]
                interrupt.steps, interrupt.asleep = self.interrupt(interrupt), True
                self.swaps[n].interrupt = interrupt

    def ptes_of(self, node: Node) -> list[int]:
        """Return the walkers' pages of a node."""
        return [
            pte
            for pte in range(self.config.walkers * self.config.pages)
            if pte // self.config.pages % self.config.nodes == node.number
        ]

    def resident(self, node: Node) -> int:
        """Return how many of them are in memory at the start."""
        room = self.config.memory_max or self.config.frames - self.low_water * 3 // 2
        return min(len(self.ptes_of(node)), room)

    def swapped(self) -> list[int]:
        """Return how many slots of each device are in use at the start."""
        return [
            sum(
                len(self.ptes_of(node)) - self.resident(node)
                for node in self.nodes
                if node.number % self.config.devices == number
            )
            for number in range(self.config.devices)
        ]

    def fill(self) -> None:
        """Choose which pages are in memory, and give the others their slots."""
        draws = Generator(self.config.seed, 2**64 - 1)
        if self.config.drop_percent:
            self.fill_and_drop(draws)
            return
        left = {node.number: len(self.ptes_of(node)) for node in self.nodes}
        keep = {node.number: self.resident(node) for node in self.nodes}
        mixed = itertools.product(range(self.config.pages), range(self.config.walkers))
        for page, walker in mixed:
            pte = walker * self.config.pages + page
            n = pte // self.config.pages % self.config.nodes
            chosen = draws.below(left[n]) < keep[n]
            left[n] -= 1
            keep[n] -= chosen
            if chosen:
                self.put_into_memory(self.nodes[n], pte)
        for node in self.nodes:
            tasks = range(node.number, self.config.tasks, self.config.nodes)
            endless = not self.config.accesses and not self.config.requests
            shared = self.config.shares_memory and self.config.writers
            if endless and (shared or any(task >= self.config.walkers for task in tasks)):
                limit = self.config.memory_max or float("inf")
                while len(node.free) > self.low_water * 3 // 2 and self.charged < limit:
                    self.put_into_memory(node, None)
        for number, wanted in enumerate(self.swapped()):
            if wanted:
                self.fill_device(number, wanted, draws)
        for swap in self.swaps:
            swap.slots.work = type(swap.slots.work)()

    def put_into_memory(self, node: Node, pte: int | None) -> None:
        """Take the next free page for a walker's or a writer's, and keep the lists in balance."""
        page = self.take_page(node, pte)
        if not self.is_short(node):
            node.active.insert(0, page)
            return
        node.inactive.insert(0, page)
        if not self.new:
            page.referenced = pte is not None and len(node.inactive) % 2 == 1

    def is_short(self, node: Node) -> bool:
        """Return whether there are too few inactive pages for the active ones."""
        gigabytes = self.config.frames // 2**18
        ratio = self.config.inactive_ratio or max(math.isqrt(10 * gigabytes), 1)
        return len(node.inactive) * ratio < len(node.active)

    def first_owner(self, node: Node, page: Page, pte: int | None) -> int:
        """Return the CPU of a page's walker, or of one of the node's writers in turn."""
        config = self.config
        writers = range(config.walkers, config.walkers + config.writers)
        mine = [task for task in writers if task % config.nodes == node.number] or list(writers)
        task = mine[page.number % len(mine)] if pte is None else pte // config.pages
        return task % config.nodes * config.cpus_per_node + task // config.nodes

    def take_page(self, node: Node, pte: int | None) -> Page:
        """Return the next free page, written."""
        page = node.free.pop(0)
        page.used = page.dirty = page.referenced = True
        page.pte, page.owner = pte, self.first_owner(node, page, pte)
        page.written = pte is None or page.number * 37 % 100 >= self.config.read_percent
        self.charged += 1
        if pte is not None:
            self.ptes[pte] = page
        return page

    def fill_and_drop(self, draws: Generator) -> None:
        """Let walkers write all pages, one walker after another, then drop some of them."""
        config, node = self.config, self.nodes[0]
        walkers = self.actors[: config.walkers]
        for actor in walkers:
            for pte in range(actor.first_pte, actor.first_pte + config.pages):
                if self.charged == config.memory_max:
                    oldest = (node.inactive or node.active).pop()
                    assert oldest.pte is not None
                    self.ptes[oldest.pte] = self.slot_of_fill(actor)
                    node.free.insert(0, self.freed(oldest))
                lru = node.inactive if self.new else node.active
                lru.insert(0, self.take_page(node, pte))
        for actor in walkers:
            kept = list[Page | int]()
            for pte in range(actor.first_pte, actor.first_pte + config.pages):
                where = self.ptes[pte]
                dropped = draws.below(100) < config.drop_percent
                last = pte + 1 == actor.first_pte + config.pages
                if not dropped or (last and not kept):
                    kept.append(where)
                elif isinstance(where, Page):
                    (node.inactive if where in node.inactive else node.active).remove(where)
                    node.free.insert(0, self.freed(where))
                else:
                    self.give_back_slot(actor, where)
            actor.n_ptes = len(kept)
            for number in range(config.pages):
                pte = actor.first_pte + number
                self.ptes[pte] = kept[number] if number < len(kept) else NOTHING
                if number < len(kept) and isinstance(where := kept[number], Page):
                    where.pte = pte
        self.swaps[0].slots.work = type(self.swaps[0].slots.work)()

    def slot_of_fill(self, actor: Actor) -> int:
        """Return a slot of a page that is swapped out before the first event."""
        slots = actor.swap.slots
        if not actor.place.ready:
            _, call = slots.allocate(actor.place.number, actor.mm, CACHE if self.caches else 1)
            actor.place.ready = list(call.slots)
        slot = actor.place.ready.pop(0)
        slots.duplicate(slot)
        slots.uncache(slot)
        return slot

    def give_back_slot(self, actor: Actor, slot: int) -> None:
        """Drop a slot; the return cache is flushed when it is full."""
        slots = actor.swap.slots
        slots.drop(slot)
        if not self.caches:
            slots.free_entries([slot])
            return
        if len(actor.place.returned) == CACHE:
            slots.free_entries(actor.place.returned)
            actor.place.returned = []
        actor.place.returned.append(slot)

    def fill_device(self, number: int, wanted: int, draws: Generator) -> None:
        """Take slots in the calls' own order, then free those that no page needs."""
        swap, taken, turn = self.swaps[number], 0, 0
        while taken < wanted or (self.config.fragmented and swap.slots.free_list):
            actor = self.actors[turn % len(self.actors)]
            turn += 1
            if actor.mm < 0 or actor.swap is not swap:
                continue
            missing = wanted - taken if taken < wanted else 64
            _, call = swap.slots.allocate(actor.place.number, actor.mm, min(missing, 64))
            taken += len(call.slots)
            for slot in call.slots:
                swap.slots.duplicate(slot)
                swap.slots.uncache(slot)
        homeless = iter(
            pte
            for pte, where in enumerate(self.ptes)
            if where == 0
            and pte // self.config.pages % self.config.nodes % self.config.devices == number
        )
        for slot in range(1, swap.slots.config.slots):
            if not swap.slots.usage(slot):
                continue
            chosen = draws.below(taken) < wanted
            taken -= 1
            wanted -= chosen
            if chosen:
                self.ptes[next(homeless)] = slot
            else:
                swap.slots.drop(slot)
                swap.slots.free_entries([slot])

    def step(self) -> int | None:
        """Take the next event and continue on its CPU; return None without an event."""
        cpu = self.des.next()
        if cpu is not None:
            next(self.actors[cpu].steps)
        return cpu

    def run(self, actor: Actor, ns: int) -> Steps:
        """Spend time; no time makes no event."""
        if ns:
            self.des.run(actor.cpu, ns)
            yield

    def work(self, actor: Actor, name: str, times: int = 1) -> Steps:
        """Spend about what some work costs."""
        ns = self.costs[name] * times
        spread = ns * self.config.spread_percent // 100
        yield from self.run(actor, ns - spread + actor.generator.below(2 * spread + 1))

    def lock(self, actor: Actor, lock: int, site: str) -> Steps:
        """Take a lock."""
        number = SITE[site]
        self.des.lock(actor.cpu, lock, number, SITES[number][1])
        yield

    def unlock(self, actor: Actor, lock: int) -> None:
        """Give a lock back."""
        self.des.unlock(actor.cpu, lock)

    def under(self, actor: Actor, lock: int, site: str, action: Callable[[], int]) -> Steps:
        """Take a lock, do something, hold the lock for as long as that takes."""
        yield from self.lock(actor, lock, site)
        yield from self.run(actor, action())
        self.unlock(actor, lock)

    def sleep(self, actor: Actor, *, throttled: bool = False) -> Steps:
        """Do nothing until another actor wakes this one."""
        actor.asleep, actor.throttled = True, throttled
        yield

    def wake(self, actor: Actor) -> None:
        """Wake an actor that sleeps."""
        if actor.asleep:
            actor.asleep = actor.throttled = False
            self.des.run(actor.cpu, 0)

    def transfer(self, node: Node, ns: int) -> int:
        """Return how long a CPU is busy with a page, the node's memory being shared."""
        node.busy_until = max(node.busy_until, self.des.now) + self.costs["transfer_ns"]
        return max(node.busy_until - self.des.now, ns)

    def wake_kswapd(self, node: Node) -> None:
        """Wake a node's kswapd below the low watermark, if it has one."""
        low = self.low_water * 5 // 4
        if self.config.shares_memory and any(len(other.free) > low for other in self.nodes):
            return
        for short in self.nodes if self.config.shares_memory else [node]:
            if self.kswapds and len(short.free) < low:
                self.wake(self.kswapds[short.number])

    def source(self, node: Node) -> Node | None:
        """Return the node that free pages are taken from."""
        near = [*self.nodes[node.number :], *self.nodes[: node.number]]
        if not self.config.shares_memory:
            near = [node]
        for watermark in (self.low_water * 5 // 4, self.low_water):
            for found in near:
                if len(found.free) > watermark:
                    return found
        return None

    def alloc_page(self, actor: Actor) -> Iterator[None]:
        """Return a free page."""
        node = actor.node
        while self.is_full() or not actor.pcp:
            if not self.is_full() and (source := self.source(node)):

                def refill(source: Node = source) -> int:
                    taken = [source.free.pop(0) for _ in range(min(PCP_BATCH, len(source.free)))]
                    actor.pcp += taken
                    return (len(taken) + 1) * self.costs["zone_page_ns"]

                yield from self.under(actor, source.zone_lock, "zone_lock.rmqueue_bulk", refill)
                self.wake_kswapd(node)
                continue
            if not self.is_full():
                self.wake_kswapd(node)
            progress = yield from self.shrink(actor)
            room = not self.is_full() and (actor.pcp or self.source(node))
            if not progress and not room:
                if not actor.swap.writes:
                    self.stuck = True
                yield from self.sleep(actor, throttled=actor.swap.writes > 0)
        page = actor.pcp.pop()
        page.used = True
        self.charged += 1
        return page

    def is_full(self) -> bool:
        """Return whether the memory cgroup is at its limit."""
        return 0 < self.config.memory_max <= self.charged

    def lru_add(self, actor: Actor, page: Page) -> Steps:
        """Put a page on its list, with others of this CPU."""
        actor.pagevec.append(page)
        if len(actor.pagevec) == self.pagevec or page.node is not actor.pagevec[0].node:
            yield from self.lru_add_drain(actor)

    def lru_add_drain(self, actor: Actor) -> Steps:
        """Put what a CPU gathered on its list."""
        if not actor.pagevec:
            return
        node = actor.pagevec[0].node

        def add() -> int:
            first = [page for page in actor.pagevec if page.node is node]
            for added in first:
                (node.active if added.active else node.inactive).insert(0, added)
            actor.pagevec = [page for page in actor.pagevec if page.node is not node]
            return (len(first) + 1) * self.costs["lru_page_ns"]

        yield from self.under(actor, node.lru_lock, "lru_lock.__pagevec_lru_add", add)

    def drain(self, actor: Actor) -> Steps:
        """Give the zone what a CPU has too much of."""
        while len(actor.pcp) > PCP_HIGH:

            def give() -> int:
                for page in actor.pcp[:PCP_BATCH]:
                    actor.node.free.insert(0, page)
                del actor.pcp[:PCP_BATCH]
                return (PCP_BATCH + 1) * self.costs["zone_page_ns"]

            yield from self.under(actor, actor.node.zone_lock, "zone_lock.free_pcppages_bulk", give)

    def isolate(self, pages: list[Page], batch: list[Page]) -> int:
        """Move as many of the oldest pages into a batch as a list has."""
        while pages and len(batch) < self.config.list_pages:
            batch.append(pages.pop())
        return (len(batch) + 1) * self.costs["lru_page_ns"]

    def shrink_active(self, actor: Actor) -> Steps:
        """Move a list's pages from the active list to the inactive one."""
        node, batch = actor.node, list[Page]()
        site = "lru_lock.shrink_active_list"
        yield from self.under(actor, node.lru_lock, site, lambda: self.isolate(node.active, batch))
        yield from self.work(actor, "reference_ns", len(batch))

        def deactivate() -> int:
            for page in batch:
                page.referenced = False
                node.inactive.insert(0, page)
            return (len(batch) + 1) * self.costs["lru_page_ns"]

        yield from self.under(actor, node.lru_lock, site, deactivate)

    def shrink(self, actor: Actor) -> Iterator[None]:
        """Try to free a list's pages; return whether any was freed or activated."""
        node = actor.node
        batch, kept, activated = list[Page](), list[Page](), list[Page]()
        progress = False
        if self.is_short(node):
            yield from self.shrink_active(actor)
        site = "lru_lock.shrink_inactive_list"
        yield from self.under(
            actor, node.lru_lock, site, lambda: self.isolate(node.inactive, batch)
        )
        for page in batch:
            if page.locked or page.writeback:
                kept.append(page)
                continue
            page.locked = True
            if not page.unmapped:
                yield from self.work(actor, "reference_ns")
            if page.referenced and not page.unmapped:
                page.referenced = page.locked = False
                progress = True
                if self.new and not page.kept_once:
                    page.kept_once = True
                    kept.append(page)
                    continue
                actor.count["activated"] += 1
                activated.append(page)
                continue
            page.kept_once = False
            if page.pte is not None:
                self.leaving.add(page.pte)
            if (yield from self.swap_out(actor, page)):
                progress = True
                if self.config.batched:
                    actor.aside.insert(0, page)
                    continue
                yield from self.remove(actor, page)
                actor.pcp.append(self.freed(page))
                actor.count["reclaimed"] += 1
                continue
            page.locked = False
            if page.pte is not None and not page.unmapped:
                self.leaving.discard(page.pte)
            kept.append(page)
        yield from self.remove_list(actor)
        yield from self.flush_tlb(actor)
        yield from self.drain(actor)

        def put_back() -> int:
            for page in kept:
                node.inactive.insert(0, page)
            for page in activated:
                node.active.insert(0, page)
            return (len(kept) + len(activated) + 1) * self.costs["lru_page_ns"]

        yield from self.under(actor, node.lru_lock, site, put_back)
        return progress

    def flush_tlb(self, actor: Actor) -> Steps:
        """Interrupt all CPUs whose pages were unmapped, and wait until each has taken it."""
        sent = [(cpu, self.des.interrupts_on[cpu]) for cpu in actor.stale]
        actor.stale.clear()
        for cpu, times in reversed(sent):
            self.des.interrupt(actor.cpu, cpu, times, SITE["interrupt.try_to_unmap_flush"])
            yield

    def freed(self, page: Page) -> Page:
        """Return the page without a state."""
        self.charged -= 1
        page.used = page.referenced = page.dirty = page.locked = page.kept_once = False
        page.active = page.written = False
        page.writeback = page.unmapped = False
        page.pte, page.owner, page.slot = None, None, 0
        return page

    def swap_out(self, actor: Actor, page: Page) -> Iterator[None]:
        """Swap a page out to its slot; return whether it may be removed."""
        swap = actor.swap
        if not page.unmapped:
            yield from self.work(actor, "unmap_ns")
            if not page.slot:
                slot = yield from self.get_slot(actor)
                if not slot:
                    return False
                page.slot = slot
                yield from self.tree(actor, slot, "add_to_swap_cache.shrink_page_list", page)
            yield from self.map(actor, page.slot, "swap_duplicate", swap.slots.duplicate)
            if page.owner not in (None, actor.cpu, *actor.stale):
                actor.stale.append(page.owner)
            if page.written:
                yield from self.flush_tlb(actor)
            page.unmapped = True
            if page.dirty:
                yield from self.map(actor, page.slot, "try_to_free_swap", None)
                if self.tags:
                    yield from self.tree(actor, page.slot, "test_set_page_writeback")
                while self.config.channels and len(swap.requests) >= QUEUE and swap.writes:
                    yield from self.sleep(actor, throttled=True)
                page.dirty = False
                actor.count["pages_out"] += 1
                self.life = max(self.life, SWAP)
                if self.config.channels:
                    page.writeback = True
                    self.submit(swap, page, None)
                    return False
                yield from self.run(actor, self.transfer(swap.node, self.costs["copy_ns"]))
                if self.tags:
                    yield from self.tree(actor, page.slot, "test_clear_page_writeback")
        return True

    def remove(self, actor: Actor, page: Page) -> Steps:
        """Take a page out of the swap cache and put its slot."""
        lock = self.tree_lock(actor.swap, page.slot)
        yield from self.lock(actor, lock, "tree_lock.__remove_mapping")
        yield from self.run(actor, self.take_out(actor.swap, page.slot))
        yield from self.record(actor, "mem_cgroup_swapout")
        self.unlock(actor, lock)
        yield from self.put_removed(actor, page)

    def record(self, actor: Actor, caller: str) -> Steps:
        """Write down which memory cgroup a slot belongs to."""
        if self.records:
            site = f"record_lock.swap_cgroup_record.{caller}"
            lock = actor.swap.record_lock
            yield from self.under(actor, lock, site, lambda: self.costs["record_ns"])

    def put_removed(self, actor: Actor, page: Page) -> Steps:
        """Put the slot of a page that left the swap cache, and mark its address."""
        yield from self.map(actor, page.slot, "put_swap_page", actor.swap.slots.uncache)
        if page.pte is not None:
            self.ptes[page.pte] = page.slot
            self.leaving.discard(page.pte)

    def remove_list(self, actor: Actor) -> Steps:
        """Remove what was put aside, last first, one hold a mapping; then free all of it."""
        swap, freed = actor.swap, list[Page]()
        while actor.aside:
            lock = self.tree_lock(swap, actor.aside[0].slot)
            mine = [page for page in actor.aside if self.tree_lock(swap, page.slot) == lock]

            dearer = self.costs["tree_ns"] - self.costs["tree_next_ns"]
            yield from self.lock(actor, lock, "tree_lock.__remove_mapping")
            ns = sum(self.take_out(swap, page.slot) - dearer for page in mine) + dearer
            yield from self.run(actor, ns)
            for _ in mine:
                yield from self.record(actor, "mem_cgroup_swapout")
            self.unlock(actor, lock)
            for page in reversed(mine):
                yield from self.put_removed(actor, page)
                actor.aside.remove(page)
            freed = [*reversed(mine), *freed]
        for page in freed:
            actor.pcp.append(self.freed(page))
            actor.count["reclaimed"] += 1

    def tree_lock(self, swap: Swap, slot: int) -> int:
        """Return the lock of a slot's tree: the device's (4.8) or the trunk's."""
        return swap.first_tree_lock + (0 if self.old else slot >> self.config.trunk_shift)

    def take_out(self, swap: Swap, slot: int) -> int:
        """Remove a page that reclaim frees and return what that costs under the lock."""
        assert isinstance(swap.cache.pop(slot), Page)
        if self.config.kernel is Kernel.V6_1:
            swap.cache[slot] = True
        return self.costs["tree_ns"] + self.costs["descent_ns"]

    def tree(self, actor: Actor, slot: int, what: str, page: Page | None = None) -> Steps:
        """Do something to the swap cache under the lock of the device (4.8) or the trunk."""
        swap = actor.swap
        lock = self.tree_lock(swap, slot)

        def action() -> int:
            if what.startswith("add_to_swap_cache"):
                assert page is not None
                assert not isinstance(swap.cache.get(slot), Page)
                swap.cache[slot] = page
            elif what == "delete_from_swap_cache":
                assert isinstance(swap.cache.pop(slot), Page)
            elif what == "clear_shadow_from_swap_cache" and swap.cache.get(slot) is True:
                del swap.cache[slot]
            descents = 3 if what == "test_set_page_writeback" and self.old else 1
            name = "tag_ns" if what.endswith("page_writeback") else "tree_ns"
            return self.costs[name] + descents * self.costs["descent_ns"]

        yield from self.under(actor, lock, f"tree_lock.{what}", action)

    def map_lock(self, swap: Swap, slot: int) -> int:
        """Return the lock of a map byte: the cluster's, in 4.8 the device's."""
        if swap.first_cluster_lock is None:
            return swap.si_lock
        return swap.first_cluster_lock + slot // self.config.cluster_size

    def look(self, actor: Actor, slot: int) -> int:
        """Return what a hold costs that looks at one map byte, and takes its cache line away."""
        actor.swap.lines.discard(slot // 64)
        return self.costs["map_ns"]

    def next_look(self, actor: Actor, slot: int) -> int:
        """Return what a look costs in a hold of si->lock that has used some cache lines."""
        again = slot // 64 in actor.swap.lines
        actor.swap.lines.add(slot // 64)
        first, further = self.costs["map_ns"], self.costs["map_next_ns"]
        return min(first, further) if again else first

    def next_free(self, actor: Actor, slot: int) -> int:
        """Free a slot to the device in such a hold, and return what that costs."""
        actor.swap.slots.free_entries([slot])
        return self.next_look(actor, slot) + self.costs["free_ns"]

    def map(
        self, actor: Actor, slot: int, what: str, change: Callable[[int], tuple[int, int]] | None
    ) -> Steps:
        """Change or read a map byte; in 4.8 an unused slot is freed in the same hold."""
        swap = actor.swap

        def action() -> int:
            if change is None:
                return self.look(actor, slot)
            code, usage = change(slot)
            assert code == 0
            if not self.old or usage != CACHED | IDLE or what == "swap_duplicate":
                return self.look(actor, slot)
            swap.slots.free_entries([slot])
            return self.look(actor, slot) + self.costs["free_ns"]

        yield from self.under(actor, self.map_lock(swap, slot), f"map_lock.{what}", action)

    def may_leave_cache(self, page: Page) -> bool:
        """Return whether a page can be taken out of the swap cache."""
        return page.slot != 0 and not (page.locked or page.writeback or page.unmapped)

    def leave_cache(self, actor: Actor, page: Page) -> Steps:
        """Take a page out of the swap cache; it stays in memory, its slot is freed."""
        page.locked = True
        slot = page.slot
        if self.new:
            yield from self.map(actor, slot, "try_to_free_swap", None)
        yield from self.tree(actor, slot, "delete_from_swap_cache")

        def uncache(offset: int) -> tuple[int, int]:
            page.slot, page.dirty = 0, True
            return actor.swap.slots.uncache(offset)

        yield from self.map(actor, slot, "put_swap_page", uncache)
        page.locked = False
        yield from self.put_slot(actor, slot)

    def get_slot(self, actor: Actor) -> Iterator[None]:
        """Return a slot, 0 if there is none."""
        self.change_cpu(actor)
        if self.caches:
            mutex = self.mutexes + actor.place.number
            yield from self.lock(actor, mutex, "alloc_lock.get_swap_page")
            if not actor.place.ready:
                actor.place.ready = yield from self.get_swap_pages(actor, CACHE)
            slot = actor.place.ready.pop(0) if actor.place.ready else 0
            yield from self.run(actor, self.costs["cache_ns"])
            self.unlock(actor, mutex)
            if slot:
                return slot
        slots = yield from self.get_swap_pages(actor, 1)
        return slots[0] if slots else 0

    def get_swap_pages(self, actor: Actor, wanted: int) -> Iterator[None]:
        """Return at most wanted slots of the device."""
        swap, listed, site = actor.swap, 0, "si_lock.get_swap_pages"
        yield from self.under(
            actor, self.avail_lock, "swap_avail_lock.get_swap_pages", lambda: self.costs["avail_ns"]
        )
        _, call = swap.slots.begin(actor.mm, wanted)
        while call.state not in OVER:
            if call.state in UNLOCKED:
                tested = swap.slots.work.tested_scan
                swap.slots.unlocked(call)
                tested = swap.slots.work.tested_scan - tested
                yield from self.run(actor, tested * self.costs["test_ns"])
            elif call.state in LOCKED:
                yield from self.lock(actor, swap.si_lock, site)
                site = "si_lock.scan_swap_map_slots"
                searches, locks = swap.slots.work.searches, swap.slots.work.cluster_lock
                ns = self.locked_part(actor, call, listed)
                searches = swap.slots.work.searches - searches
                locks = swap.slots.work.cluster_lock - locks
                yield from self.run(actor, ns)
                if swap.first_cluster_lock is not None:
                    yield from self.cluster_locks(actor, call, listed, searches, locks)
                listed = len(call.slots)
                self.unlock(actor, swap.si_lock)
            else:
                yield from self.reclaim_cached(actor, call)
        return list(call.slots)

    def cluster_locks(
        self, actor: Actor, call: Call, listed: int, searches: int, locks: int
    ) -> Steps:
        """Take the clusters' locks of a locked part: searches', slots', and of a slot not got."""
        costs, slots = self.costs, list(call.slots[listed:])
        for _ in range(locks):
            slot, ns = slots[0] if slots else call.offset, 0
            if searches and searches >= len(slots):
                site = "cluster_lock.scan_swap_map_try_ssd_cluster"
                searches -= 1
            else:
                site = "cluster_lock.scan_swap_map_slots"
                ns = costs["slot_ns"] if slots else 0
                slots = slots[1:]
            lock = self.map_lock(actor.swap, slot)
            yield from self.under(
                actor, lock, site, lambda slot=slot, ns=ns: self.next_look(actor, slot) + ns
            )

    def note_trunks(self, actor: Actor, slots: list[int]) -> None:
        """Count slots in the trunk of the last one that some other CPU was handed out."""
        for slot in slots:
            trunk = slot >> self.config.trunk_shift
            others = (
                where
                for cpu, where in self.last_trunk.items()
                if cpu != actor.cpu and self.actors[cpu].swap is actor.swap
            )
            self.shared_slots += trunk in others
            self.last_trunk[actor.cpu] = trunk

    def locked_part(self, actor: Actor, call: Call, listed: int) -> int:
        """Do a part of a call under si->lock and return what it costs."""
        work, costs = actor.swap.slots.work, self.costs
        tested = work.tested_quick + work.tested_cluster
        looked = work.looked_at
        actor.swap.slots.locked(actor.place.number, call)
        self.note_trunks(actor, list(call.slots[listed:]))
        actor.swap.lines.clear()
        tested = work.tested_quick + work.tested_cluster - tested
        ns = costs["device_ns"] + tested * costs["test_ns"]
        ns += (work.looked_at - looked) * costs["base_ns"]
        if actor.swap.first_cluster_lock is None:
            ns += sum(
                self.next_look(actor, slot) + costs["slot_ns"] for slot in call.slots[listed:]
            )
        return ns

    def reclaim_cached(self, actor: Actor, call: Call) -> Steps:
        """Try to free a slot that only the swap cache holds."""
        assert call.state is State.RECLAIM
        page = actor.swap.cache.get(call.offset)
        cached = actor.swap.slots.usage(call.offset) == CACHED
        if isinstance(page, Page) and cached and self.may_leave_cache(page):
            yield from self.leave_cache(actor, page)
            actor.swap.slots.reclaimed(call, True)
            return
        actor.swap.slots.reclaimed(call, False)
        yield from self.run(actor, self.costs["descent_ns"])

    def put_slot(self, actor: Actor, slot: int) -> Steps:
        """Give back a slot without a reference; in 4.8 it is freed with its last one."""
        if self.old:
            return
        if not self.caches:
            actor.place.returned.append(slot)
            yield from self.free_entries(actor)
            return
        lock = self.return_locks + actor.place.number
        yield from self.lock(actor, lock, "free_lock.free_swap_slot")
        if len(actor.place.returned) == CACHE:
            yield from self.free_entries(actor)
        actor.place.returned.append(slot)
        yield from self.run(actor, self.costs["cache_ns"])
        self.unlock(actor, lock)

    def free_in_cluster(self, actor: Actor, slot: int) -> Steps:
        """Free a slot under its cluster's lock; si->lock is held."""
        lock, site = self.map_lock(actor.swap, slot), "cluster_lock.swapcache_free_entries"
        yield from self.under(actor, lock, site, lambda: self.next_free(actor, slot))

    def free_entries(self, actor: Actor) -> Steps:
        """Free what this CPU has been given back."""
        swap = actor.swap
        yield from self.lock(actor, swap.si_lock, "si_lock.swapcache_free_entries")
        swap.lines.clear()
        yield from self.run(actor, self.costs["device_ns"])
        for slot in actor.place.returned:
            if swap.first_cluster_lock is None:
                yield from self.run(actor, self.next_free(actor, slot))
            else:
                yield from self.free_in_cluster(actor, slot)
            yield from self.record(actor, "swapcache_free_entries")
            if self.config.kernel is Kernel.V6_1:
                yield from self.tree(actor, slot, "clear_shadow_from_swap_cache")
        actor.place.returned.clear()
        self.unlock(actor, swap.si_lock)

    def submit(self, swap: Swap, page: Page, reader: Actor | None) -> None:
        """Queue a page at the channel that is free first."""
        channel = swap.channels.index(min(swap.channels))
        done = max(swap.channels[channel], self.des.now) + self.costs["channel_ns"]
        swap.channels[channel] = done
        swap.requests.append((done, page, reader))
        swap.writes += reader is None
        assert swap.interrupt is not None
        self.wake(swap.interrupt)

    def rotate(self, actor: Actor) -> Steps:
        """Move written pages to the tail of their list and wake the actors that wait for it."""
        swap, node = actor.swap, actor.pagevec[0].node

        def action() -> int:
            for page in actor.pagevec:
                if page in node.inactive:
                    node.inactive.remove(page)
                    node.inactive.append(page)
            ns = (len(actor.pagevec) + 1) * self.costs["lru_page_ns"]
            swap.writes -= len(actor.pagevec)
            actor.pagevec.clear()
            for other in self.actors:
                if other.throttled and other.swap is swap:
                    self.wake(other)
            return ns

        yield from self.under(actor, node.lru_lock, "lru_lock.rotate_reclaimable_page", action)

    def interrupt(self, actor: Actor) -> Steps:
        """Complete the pages that a device has moved."""
        swap = actor.swap
        while True:
            while not swap.requests:
                if actor.pagevec:
                    yield from self.rotate(actor)
                else:
                    yield from self.sleep(actor)
            early = max(swap.requests[0][0] - self.des.now, 0)
            actor.slept_ns += early
            yield from self.run(actor, early)
            yield from self.run(actor, self.costs["interrupt_ns"])
            _, page, reader = swap.requests.pop(0)
            if reader is not None:
                self.wake(reader)
                continue
            if self.tags:
                yield from self.tree(actor, page.slot, "test_clear_page_writeback")
            while len(actor.pagevec) == self.pagevec or (
                actor.pagevec and actor.pagevec[0].node is not page.node
            ):
                yield from self.rotate(actor)
            page.writeback = False
            actor.pagevec.append(page)

    def writer(self, actor: Actor) -> Steps:
        """Write fresh pages one after another, and exit after the last."""
        while not self.is_done(actor.count["touched"]):
            yield from self.work(actor, "fault_ns")
            page: Any = yield from self.alloc_page(actor)
            page.dirty = page.referenced = True
            page.owner, page.written = actor.cpu, True
            page.active = not self.new
            if self.config.accesses:
                page.pte = actor.first_pte + actor.count["touched"]
                self.ptes[page.pte] = page
            yield from self.run(actor, self.transfer(actor.node, self.costs["touch_ns"]))
            actor.count["touched"] += 1
            yield from self.lru_add(actor, page)
        actor.count["written_ns"] = self.des.now
        self.life = EXIT
        yield from self.exit(actor)
        yield from self.sleep(actor)

    def is_done(self, accesses: int) -> bool:
        """Return whether a task made all of its accesses."""
        return 0 < self.config.accesses == accesses

    def exit(self, actor: Actor) -> Steps:
        """Give back slots one by one, pages in memory 32 at a time; wait for a reclaim's."""
        swap, end = actor.swap, actor.first_pte + actor.n_ptes
        yield from self.lru_add_drain(actor)
        for pte in range(actor.first_pte, end):
            while (where := self.ptes[pte]) != NOTHING:
                if isinstance(where, int):
                    self.ptes[pte] = NOTHING
                    yield from self.map(actor, where, "swap_free", swap.slots.drop)
                    yield from self.put_slot(actor, where)
                elif self.may_release(actor.node, pte):
                    batch = list[Page]()
                    yield from self.under(
                        actor,
                        actor.node.lru_lock,
                        "lru_lock.release_pages",
                        lambda pte=pte, batch=batch: self.release(actor, range(pte, end), batch),
                    )
                    actor.pcp += [self.freed(page) for page in batch]
                    yield from self.drain(actor)
                else:
                    yield from self.work(actor, "unmap_ns")

    def may_release(self, node: Node, pte: int) -> bool:
        """Return whether a page of an exiting task is in memory and unused."""
        page = self.ptes[pte]
        listed = isinstance(page, Page) and (page in node.inactive or page in node.active)
        return listed and pte not in self.leaving and not page.locked

    def release(self, actor: Actor, ptes: range, batch: list[Page]) -> int:
        """Take the next pages of an exiting task off their lists."""
        node = actor.node
        for pte in ptes:
            page = self.ptes[pte]
            if len(batch) < BATCH and isinstance(page, Page) and self.may_release(node, pte):
                (node.inactive if page in node.inactive else node.active).remove(page)
                self.ptes[pte] = NOTHING
                batch.append(page)
        return (len(batch) + 1) * self.costs["lru_page_ns"]

    def walker(self, actor: Actor) -> Steps:
        """Read and write pages at random or in sweeps, and rest after the last access."""
        config = self.config
        while not self.is_done(actor.count["accesses"]):
            accesses, found = 0, None
            while accesses < DRAWS and found is None:
                if self.is_done(actor.count["accesses"]):
                    break
                at = (
                    actor.count["accesses"] % actor.n_ptes
                    if config.sweeps
                    else actor.generator.below(actor.n_ptes)
                )
                pte = actor.first_pte + at
                write = actor.generator.below(100) >= config.read_percent
                accesses += 1
                where = self.ptes[pte]
                if isinstance(where, int):
                    found = where
                elif pte not in self.leaving:
                    actor.count["accesses"] += 1
                    where.referenced = True
                    where.written |= write
                    if self.new:
                        where.dirty |= write
                    elif write and self.may_leave_cache(where):
                        found = where
            yield from self.work(actor, "access_ns", accesses)
            if isinstance(found, Page):
                if self.may_leave_cache(found) and found.pte == pte:
                    yield from self.leave_cache(actor, found)
            elif found is not None:
                yield from self.work(actor, "fault_ns")
                yield from self.swap_in(actor, pte, write)
                actor.count["accesses"] += 1
        yield from self.sleep(actor)

    def stream(self, actor: Actor, requests: list[Request]) -> Steps:
        """Send pages out and bring them in as a trace's task did."""
        for request in requests:
            pte = request.page
            while request.put and not self.ptes[pte]:
                self.awaited[pte] = actor
                yield from self.sleep(actor)
            yield from self.work(actor, "fault_ns")
            if request.put:
                page: Any = yield from self.swap_in(actor, pte, True)
                if page.pte == pte:
                    page.pte = page.owner = None
            else:
                page = yield from self.old_page(actor)
                page.locked, page.dirty = True, True
                page.pte = page.owner = None
                if not (yield from self.swap_out(actor, page)):
                    self.stuck = True
                    yield from self.sleep(actor)
                yield from self.remove(actor, page)
                self.ptes[pte] = page.slot
                actor.pcp.append(self.freed(page))
                actor.count["reclaimed"] += 1
                if pte in self.awaited:
                    self.wake(self.awaited[pte])
                yield from self.drain(actor)
            self.requests_done += 1
        self.longest_ended = max(self.longest_ended, len(requests))
        yield from self.sleep(actor)

    def old_page(self, actor: Actor) -> Iterator[None]:
        """Return the oldest page of the node that came in, or a fresh one."""
        node = actor.node
        pages = node.inactive

        def isolate() -> int:
            while pages and not pages[-1].locked and len(actor.isolated) < BATCH:
                actor.isolated.append(pages.pop())
            return (len(actor.isolated) + 1) * self.costs["lru_page_ns"]

        while not actor.isolated:
            if not pages or pages[-1].locked:
                return (yield from self.alloc_page(actor))
            yield from self.under(actor, node.lru_lock, "lru_lock.shrink_inactive_list", isolate)
        return actor.isolated.pop(0)

    def swap_in(self, actor: Actor, pte: int, write: bool) -> Iterator[None]:
        """Bring a page back from its slot and return it."""
        swap = actor.swap
        slot = self.ptes[pte]
        assert isinstance(slot, int)
        holds_place = self.skips_cache and self.new
        if holds_place:
            yield from self.map(actor, slot, "swapcache_prepare", swap.slots.cache)
        elif self.new:
            yield from self.map(actor, slot, "__swp_swapcount", None)
        page: Any = yield from self.alloc_page(actor)
        page.locked = True
        if not self.skips_cache:
            page.slot = slot
            yield from self.map(actor, slot, "swapcache_prepare", swap.slots.cache)
            yield from self.tree(actor, slot, "add_to_swap_cache.do_swap_page", page)
        yield from self.record(actor, "mem_cgroup_charge")
        yield from self.lru_add(actor, page)
        actor.count["pages_in"] += 1
        if self.config.channels:
            self.submit(swap, page, actor)
            yield from self.sleep(actor)
        else:
            yield from self.run(actor, self.transfer(swap.node, self.costs["copy_ns"]))
        if self.charges:
            yield from self.under(
                actor,
                actor.node.lru_lock,
                "lru_lock.mem_cgroup_commit_charge",
                lambda: self.costs["lru_page_ns"],
            )
        self.ptes[pte], page.pte, page.owner = page, pte, actor.cpu
        page.written = write
        page.referenced = True
        yield from self.map(actor, slot, "swap_free", swap.slots.drop)
        if holds_place:
            yield from self.map(actor, slot, "swapcache_clear", swap.slots.uncache)
        page.locked = False
        page.dirty = not page.slot
        if not page.slot:
            yield from self.put_slot(actor, slot)
        elif write or swap.slots.swap_full():
            yield from self.leave_cache(actor, page)
        return page

    def kswapd(self, actor: Actor) -> Steps:
        """Reclaim from the low watermark up to the high one."""
        while True:
            while len(actor.node.free) >= self.low_water * 3 // 2:
                yield from self.sleep(actor)
            progress = yield from self.shrink(actor)
            if not progress:
                yield from self.sleep(actor, throttled=actor.swap.writes > 0)
