# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, simple model of cluster_rules.h and clusters.h.

A list of clusters is a dict in insertion order, a slot is a byte, a range is tested slot by slot,
and a call is a generator that reads like the kernel's functions. Each point where a probe shows
what the kernel does is yielded **before** it happens: the driver sends back what really happened
(the same point, or another one that a trace contains), and the generator applies that and pauses
(it yields None). So a driver computes a point at the moment of the row that it is compared with.

================================ ==============================================================
here                             in corelib/src/clusters
================================ ==============================================================
RULES                            rules.c: the table of rule sets
Allocator.__init__, _start       clusters.c: sws_clusters_new, start_lists
Allocator.call, _turns           call.c: begin, turn
Allocator._search, _lists        call.c: the steps of a search
Allocator._chosen                choose.c
Allocator._visit, _fits          visit.c: scan_cluster, test_range
Allocator._pick                  call.c: pick, picked
Allocator._reclaim_full          call.c: full
Allocator._discards              call.c: discard
Allocator.free, _relist          usage.c: sws_clusters_free_begin; lists.c
Allocator.allocate, free_slots   clusters.c: sws_clusters_allocate, sws_clusters_free_slots
================================ ==============================================================
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple

BATCH = 64
ORDERS = 10
FREE, FULL, DISCARD, NONFULL, FRAG, LISTS, NONE = 0, 1, 2, 3, 13, 23, 255
"""The lists; nonfull and frag have one for each order. NONE: the cluster is on no list."""
EMPTY, USED, CACHED, BAD = 0, 1, 2, 3
"""A slot: free, in use, in use by the swap cache only, never allocated."""
COLUMNS_MIN = 3
"""Clusters whose swap_cluster_info of 24 bytes share a cache line."""


class Op(IntEnum):
    """The rows of CLUSTER_EVENTS, and the points of a call."""

    CALL = 0
    VISIT = 1
    GRANT = 2
    DONE = 3
    FREE = 4
    TRY = 5
    FULL = 6
    FULL_DONE = 7
    WINDOW = 8
    RELOCK = 9
    PICK = 10
    PICKED = 11
    MOVE = 12
    DISCARD = 13
    DISCARDED = 14
    TURN = 15
    VISITED = 16
    BUSY = 17


@dataclass(frozen=True)
class Rules:
    """The switches between the allocators; the default is 6.12."""

    columns: bool = True
    large_from_free_only: bool = False
    nonfull_first: bool = False
    frag_all: bool = True
    isolates: bool = False
    trylock: bool = False
    full_before_frag: bool = False
    shared_next: bool = False
    turns_each_call: bool = True
    checks_own: bool = False
    credit_first: bool = True
    ends_at_device: bool = True
    global_next: bool = False
    discards_in_device: bool = True
    slot_cache: bool = True
    own_by_task: bool = False


V6_12 = Rules()
RULES = {
    "6.11": replace(V6_12, large_from_free_only=True),
    "6.12": V6_12,
    "6.12-nonfull-first": replace(V6_12, nonfull_first=True, full_before_frag=True),
    "7.3": Rules(
        columns=False,
        nonfull_first=True,
        frag_all=False,
        isolates=True,
        trylock=True,
        full_before_frag=True,
        shared_next=True,
        turns_each_call=False,
        checks_own=True,
        credit_first=False,
        ends_at_device=False,
        global_next=True,
        discards_in_device=False,
        slot_cache=False,
    ),
}


class Choice(IntEnum):
    """What a user's function chooses as the next step of a search."""

    FREE = 0
    NONFULL = 1
    FRAG = 2
    FULL = 3
    LARGER = 4
    END = 5


class FullDeviceError(Exception):
    """Thrown into a call whose device was full when it was searched."""


class Point(NamedTuple):
    """What a call does next; the fields that a row of CLUSTER_EVENTS has."""

    op: Op
    device: int = 0
    slot: int = 0
    n: int = 0
    order: int = 0
    list: int = 0


Points = Iterator[Point | None]


@dataclass(frozen=True)
class DeviceConfig:
    """One swap device."""

    slots: int
    priority: int = -1
    file: bool = False
    rotational: bool = False
    discard: bool = False


@dataclass
class Cluster:
    """A cluster: its slots in use (bad ones included), its order, its list, and its locks."""

    index: int
    count: int = 0
    order: int = 0
    list: int = NONE
    held: int = 0
    cpu: int | None = None
    """The CPU of the last visit."""


class Device:
    """The map, the clusters and the lists of a device."""

    def __init__(self, number: int, config: DeviceConfig, size: int) -> None:
        """Make an empty device without lists."""
        self.number, self.config, self.size = number, config, size
        self.n_clusters = -(-config.slots // size)
        self.map = bytearray(self.n_clusters * size)
        self.map[0] = BAD
        for slot in range(config.slots, len(self.map)):
            self.map[slot] = BAD
        self.clusters = [Cluster(index) for index in range(self.n_clusters)]
        for cluster in self.clusters:
            cluster.count = sum(byte != EMPTY for byte in self.slots_of(cluster))
        self.lists: list[dict[int, None]] = [{} for _ in range(LISTS)]
        self.next = [0] * ORDERS
        self.pages = config.slots - 1
        self.in_use = 0

    def slots_of(self, cluster: Cluster) -> bytearray:
        """Return the bytes of a cluster."""
        return self.map[cluster.index * self.size : (cluster.index + 1) * self.size]

    def head(self, list_: int) -> Cluster | None:
        """Return the first cluster of a list."""
        return self.clusters[next(iter(self.lists[list_]))] if self.lists[list_] else None

    def first(self, list_: int, *, skips_held: bool) -> Cluster | None:
        """Return the first cluster of a list, with skips_held the first that no call holds."""
        members = (self.clusters[index] for index in self.lists[list_])
        return next((each for each in members if not (skips_held and each.held)), None)

    def unlink(self, cluster: Cluster) -> None:
        """Remove a cluster from its list."""
        if cluster.list != NONE:
            self.lists[cluster.list].pop(cluster.index, None)
        cluster.list = NONE

    def append(self, cluster: Cluster, list_: int) -> None:
        """Move a cluster to the tail of a list; on the free list it has no order."""
        self.unlink(cluster)
        self.lists[list_][cluster.index] = None
        cluster.list = list_
        if list_ == FREE:
            cluster.order = 0


@dataclass
class Call:
    """The state of a call that its driver may read."""

    cpu: int
    order: int
    wanted: int = 1
    device: int = 0
    granted: list[tuple[int, int]] = field(default_factory=list)
    visiting: Cluster | None = None
    """The cluster of the visit that runs."""
    start: int = 0
    """The slot where that visit began."""
    tested: bool = False
    """Whether that visit found enough free slots in its cluster."""
    full: Cluster | None = None
    """The full cluster whose cached slots are being reclaimed."""
    left: int = 0
    """Full clusters that a worker still has to reclaim."""
    next: int = 0
    """What the last visit left."""
    own: bool = False
    """Whether the last visit was to the CPU's own cluster."""
    now_cpu: int = -1
    """The CPU where the task runs; the next search uses it."""
    owner: int = 0
    """With own_by_task, whose current cluster is used."""

    def __post_init__(self) -> None:
        """Begin on the CPU of the call."""
        self.now_cpu = self.cpu


def kind(list_: int) -> int:
    """Return a list without its order, which is what the kernel's flag says."""
    return FRAG if FRAG <= list_ < LISTS else NONFULL if NONFULL <= list_ < FRAG else list_


class Allocator:
    """The devices, the per-CPU slots, and the calls on them."""

    def __init__(
        self,
        rules: Rules,
        devices: list[DeviceConfig],
        cluster_size: int = 512,
        trunk_shift: int = 14,
        choose: Callable[..., int] | None = None,
    ) -> None:
        """Make empty devices."""
        self.rules, self.size, self.choose = rules, cluster_size, choose
        self.visits_of_others = self.bad_choices = 0
        self.misses = self.lower = self.inversions = 0
        self.devices = [
            Device(number, config, cluster_size) for number, config in enumerate(devices)
        ]
        for device in self.devices:
            self._start(device, trunk_shift)
        by_priority = sorted(self.devices, key=lambda device: -device.config.priority)
        self.turn = [device.number for device in by_priority]
        self.total = sum(device.pages for device in self.devices)
        self.available = self.total
        self.own: dict[tuple[int, ...], tuple[int, int]] = {}
        self.hint: bool | None = None
        """Whether swap is full as the trace says, where the counter may be wrong."""
        self.hinted = 0

    def _start(self, device: Device, trunk_shift: int) -> None:
        """List all clusters: column by column, or in ascending order."""
        columns = max((1 << trunk_shift) // self.size, COLUMNS_MIN) if self.rules.columns else 1
        for column in range(columns):
            for index in range(column, device.n_clusters, columns):
                cluster = device.clusters[index]
                device.append(cluster, NONFULL if cluster.count else FREE)

    # The counter of free slots, and the devices in turn.

    def swap_full(self) -> bool:
        """Return whether less than half of all slots are free."""
        ours = self.available * 2 < self.total
        if self.hint is None or self.hint == ours:
            return ours
        self.hinted += 1
        return self.hint

    def requeue(self, number: int) -> None:
        """Move a device behind the others of its priority, if it is not full."""
        if number in self.turn:
            self.turn.remove(number)
            self.enqueue(number)

    def enqueue(self, number: int) -> None:
        """Add a device that is not full behind the others of its priority."""
        priority = self.devices[number].config.priority
        after = [
            at
            for at, other in enumerate(self.turn)
            if self.devices[other].config.priority >= priority
        ]
        self.turn.insert(after[-1] + 1 if after else 0, number)

    def following(self, number: int) -> int | None:
        """Return the device after another; one that is not listed would be first of its equals."""
        if number in self.turn:
            after = self.turn[self.turn.index(number) + 1 :]
        else:
            priority = self.devices[number].config.priority
            after = [each for each in self.turn if self.devices[each].config.priority <= priority]
        return next(iter(after), None)

    def _turns(
        self, call: Call, search: Callable[[Device], Points], late: Point | None = None
    ) -> Points:
        """Try the devices from the head on until one grants; a large order tries only one.

        A ``late`` turn has happened, of a device that is not listed here any more.
        """
        position, turns = next(iter(self.turn), None), 0
        while late or (position is not None and not (self.choose and turns == len(self.devices))):
            turns += 1
            actual = late or (yield Point(Op.TURN, position))
            late, following = None, self.following(actual.device)
            self.requeue(actual.device)
            call.device = actual.device
            yield None
            gone = not self.rules.isolates and actual.device not in self.turn
            try:
                if not gone:
                    yield from search(self.devices[actual.device])
            except FullDeviceError:
                gone = True
            if call.granted or (call.order and not gone) or following is None:
                return
            gone = following not in self.turn
            position = next(iter(self.turn), None) if gone else following

    # The slot where a CPU goes on.

    def owner(self, call: Call, cpu: int) -> int:
        """Return whose current cluster a call uses that runs on a CPU."""
        return call.owner if self.rules.own_by_task else cpu

    def own_slot(self, call: Call, device: Device) -> int:
        """Return the slot where this CPU goes on in a device; 0 for none."""
        if device.config.rotational:
            return device.next[call.order]
        owner = self.owner(call, call.cpu)
        if not self.rules.shared_next:
            return self.own.get((owner, call.order, device.number), (0, 0))[1]
        number, slot = self.own.get((owner, call.order), (0, 0))
        return slot if number == device.number else 0

    def set_own(self, call: Call, device: Device, slot: int) -> None:
        """Remember where this CPU goes on."""
        if device.config.rotational:
            device.next[call.order] = slot
            return
        owner = self.owner(call, call.cpu)
        self.own[owner, call.order] = device.number, slot
        if not self.rules.shared_next:
            self.own[owner, call.order, device.number] = device.number, slot

    def usable(self, cluster: Cluster, order: int) -> bool:
        """Return whether a CPU may go on in a cluster (7.3)."""
        if kind(cluster.list) in (FREE, FULL, DISCARD):
            return False
        return not order or not cluster.count or cluster.order == order

    def has_room(self, call: Call) -> bool:
        """Return whether the visited cluster has as many free slots as the call needs."""
        cluster = call.visiting
        assert cluster is not None
        return cluster.count + (1 << call.order) <= self.size and cluster.list != DISCARD

    # A call.

    def call(self, call: Call) -> Points:
        """Allocate up to ``wanted`` runs of 2^order slots."""
        size = 1 << call.order
        if self.rules.credit_first:
            call.wanted = min(call.wanted, BATCH, self.available // size)
            self.available -= call.wanted * size
        yield None
        late, again = None, size <= self.size and call.wanted > 0
        while again or late:
            if not self.rules.turns_each_call and not late:
                yield from self._own_first(call)
            if not call.granted:
                yield from self._turns(call, lambda device: self._fill(call, device), late)
            again, late = False, None
            if not call.granted and not call.order and not self.rules.discards_in_device:
                again = yield from self._discard_any()
            if not again:
                actual = yield Point(Op.DONE, n=len(call.granted))
                late = actual if actual.op == Op.TURN else None
        if size > self.size or not call.wanted:
            yield Point(Op.DONE, n=len(call.granted))
        if self.rules.credit_first:
            self.available += (call.wanted - len(call.granted)) * size

    def _own_first(self, call: Call) -> Points:
        """Go on where this CPU was, whatever the device (7.3's fast path)."""
        call.cpu = call.now_cpu
        number, _ = self.own.get((self.owner(call, call.cpu), call.order), (0, 0))
        if not self.rules.shared_next:
            if not self.turn:
                return
            number = self.turn[0]
        device = self.devices[number]
        if device.config.rotational:
            return
        yield from self._own(call, device)

    def _own(self, call: Call, device: Device) -> Points:
        """Visit the cluster where this CPU was."""
        slot = self.own_slot(call, device)
        if not slot:
            return
        cluster = device.clusters[slot // self.size]
        if self.rules.checks_own:
            if not self.usable(cluster, call.order):
                yield None
                return
            if not cluster.count:
                slot = cluster.index * self.size
        call.own = True
        yield from self._visit(call, device, slot)

    def _fill(self, call: Call, device: Device) -> Points:
        """Run one search for each run that is wanted."""
        if call.order and device.config.file:
            return
        if call.order and device.config.rotational and not self.rules.global_next:
            return
        while len(call.granted) < call.wanted:
            before = len(call.granted)
            yield from self._search(call, device)
            if len(call.granted) == before:
                return

    def _search(self, call: Call, device: Device) -> Points:
        """Find one run: own cluster, lists, discarded clusters, clusters of larger orders."""
        before, steals = len(call.granted), True
        while True:
            call.cpu = call.now_cpu
            call.next = 0
            by_device = self.rules.turns_each_call or not self.rules.shared_next
            if by_device or device.config.rotational:
                yield from self._own(call, device)
            self.misses += len(call.granted) == before
            if len(call.granted) == before and self.choose:
                steals = yield from self._chosen(call, device, before)
            elif len(call.granted) == before:
                yield from self._lists(call, device, before)
            if not steals or len(call.granted) > before or not self.rules.discards_in_device:
                break
            if not device.lists[DISCARD]:
                break
            yield from self._discards(device)
        if len(call.granted) == before and not call.order and steals:
            yield from self._steal(call, device, before)
        if not self.rules.isolates:
            self.set_own(call, device, call.next)

    def _lists(self, call: Call, device: Device, before: int) -> Points:
        """Visit clusters of the lists in the order that the rules have."""
        rules, order = self.rules, call.order
        free_first = not rules.nonfull_first or device.config.discard
        partial = 1 << order < self.size and not (rules.large_from_free_only and order)
        may_reclaim = not (rules.large_from_free_only and order)

        def granted() -> bool:
            return len(call.granted) > before

        tried = 0
        if free_first:
            yield from self._from_list(call, device, FREE, 1)
        if not granted() and may_reclaim and not rules.full_before_frag and self.swap_full():
            yield from self._reclaim_full(call, device)
        if not granted() and partial:
            tried = yield from self._from_list(call, device, NONFULL + order, None)
        if not granted() and not free_first:
            yield from self._from_list(call, device, FREE, 1)
        if not granted() and may_reclaim and rules.full_before_frag and self.swap_full():
            yield from self._reclaim_full(call, device)
        if not granted() and partial:
            if not rules.frag_all:
                yield from self._from_list(call, device, FRAG + order, 1)
            while rules.frag_all and not granted() and tried < len(device.lists[FRAG + order]):
                yield from self._from_list(call, device, FRAG + order, 1)
                tried += 1

    def _chosen(self, call: Call, device: Device, before: int) -> Points:
        """Take the steps that the user's function chooses; return whether larger orders follow."""
        most, order, last, times = 2 * device.n_clusters + 64, call.order, -1, 0
        partial = 1 << order < self.size
        for asked in range(most):
            lengths = [len(members) for members in device.lists]
            larger = sum(lengths[NONFULL + 1 : FRAG]) + sum(lengths[FRAG + 1 : LISTS])
            of_order = (lengths[NONFULL + order], lengths[FRAG + order]) if partial else (0, 0)
            choice = self.choose(
                order=order,
                asked=asked,
                most=most,
                last=last,
                times=times,
                free=lengths[FREE],
                nonfull=of_order[0],
                frag=of_order[1],
                larger=0 if order else larger,
                full=lengths[FULL],
                swap_full=int(self.swap_full()),
            )
            last, times = choice, times + 1 if choice == last else 1
            if choice == Choice.LARGER:
                return True
            if choice == Choice.END:
                return False
            if choice == Choice.FULL:
                yield from self._reclaim_full(call, device)
            elif choice == Choice.FREE:
                yield from self._from_list(call, device, FREE, 1)
            elif choice not in (Choice.NONFULL, Choice.FRAG):
                break
            elif partial:
                list_ = (NONFULL if choice == Choice.NONFULL else FRAG) + order
                yield from self._from_list(call, device, list_, 1)
            if len(call.granted) > before:
                return False
        self.bad_choices += 1
        return False

    def _steal(self, call: Call, device: Device, before: int) -> Points:
        """Take a single slot from a cluster of a larger order."""
        for order in range(1, ORDERS):
            for first in (FRAG, NONFULL):
                if len(call.granted) == before:
                    yield from self._from_list(call, device, first + order, None)

    def _from_list(self, call: Call, device: Device, list_: int, most: int | None) -> Points:
        """Visit the heads of a list until one grants, at most ``most``; return how many."""
        before, tried, call.own = len(call.granted), 0, False
        while (most is None or tried < most) and len(call.granted) == before:
            if self.rules.isolates:
                cluster = yield from self._pick(call, device, list_)
                if cluster is None:
                    break
                yield from self._visit(call, device, cluster.index * self.size, picked=True)
            else:
                head = device.first(list_, skips_held=False)
                if head is None:
                    break
                own = list_ in (NONFULL + call.order, FRAG + call.order)
                to = FRAG + call.order if own else None
                yield from self._visit(call, device, head.index * self.size, to=to)
            tried += 1
        return tried

    def _pick(self, call: Call, device: Device, list_: int) -> Points:
        """Take the first cluster off a list whose lock is free (7.3)."""
        waits = not self.rules.trylock
        while waits and (head := device.first(list_, skips_held=False)) and head.held:
            yield Point(Op.BUSY, device.number, head.index * self.size, list=list_)
            yield None
        yield Point(Op.PICK, device.number, list=list_)
        chosen = device.first(list_, skips_held=True)
        if chosen:
            chosen.held += 1
        yield None
        slot = chosen.index * self.size if chosen else 0
        actual = yield Point(Op.PICKED, device.number, slot, int(chosen is not None), 0, list_)
        if chosen:
            chosen.held -= 1
        chosen = device.clusters[actual.slot // self.size] if actual.n else None
        if chosen:
            chosen.held += list_ != FULL
            device.unlink(chosen)
        if list_ == FULL:
            call.full, call.left = chosen, call.left - 1
        yield None
        return chosen

    def _fits(self, device: Device, slot: int, size: int) -> int:
        """Return EMPTY if a range is free, CACHED if reclaim may free it, else USED."""
        worst = EMPTY
        for byte in device.map[slot : slot + size]:
            if byte in (USED, BAD) or (byte == CACHED and not self.swap_full()):
                return USED
            worst = max(worst, byte)
        return worst

    def _visit(
        self, call: Call, device: Device, slot: int, picked: bool = False, to: int | None = None
    ) -> Points:
        """Look for a fitting range in a cluster, from a slot on."""
        rules, size = self.rules, 1 << call.order
        actual = yield Point(Op.VISIT, device.number, slot, 0, call.order)
        if actual is None:
            return
        device, slot = self.devices[actual.device], actual.slot
        cluster = device.clusters[slot // self.size]
        if to is not None:
            device.append(cluster, to)
        if not picked:
            cluster.held += 1
        if rules.isolates:
            call.cpu = call.now_cpu
        self.visits_of_others += cluster.cpu not in (None, call.cpu)
        cluster.cpu = call.cpu
        call.visiting, call.start, call.device = cluster, slot, device.number
        call.tested = False
        yield None
        first = cluster.index * self.size
        end = (
            min(first + self.size, device.config.slots)
            if rules.ends_at_device
            else first + self.size
        )
        following = 0
        offset = slot
        closed = not call.tested and not self.has_room(call)
        while not closed and offset + size <= end:
            fits = self._fits(device, offset, size)
            if fits == CACHED:
                yield Point(Op.WINDOW, device.number, offset, size, call.order)
                cluster.held -= 1
                yield None
                cluster.held += 1
                usable = not rules.checks_own or self.usable(cluster, call.order)
                closed = cluster.list == DISCARD or not usable
                if not closed and rules.checks_own and not cluster.count:
                    offset = first
                fits = USED if any(device.map[offset : offset + size]) else EMPTY
                if closed or fits == USED:
                    # The locks are held; the rest is tested when the next row is known.
                    yield None
                    if closed:
                        break
            if fits == EMPTY:
                grant = yield Point(Op.GRANT, device.number, offset, size, call.order)
                if grant is None:
                    break
                self.take(call, device, grant.slot, grant.n)
                offset = grant.slot + grant.n
                if cluster.count < self.size and offset + size <= end:
                    following = offset
                if not rules.isolates or self.relocation(device, cluster) is not None:
                    yield None
                break
            offset += size
        else:
            grant = None
        if rules.isolates:
            target = self.relocation(device, cluster)
            if target is not None:
                actual = yield Point(Op.MOVE, device.number, first, list=target)
                self.move(device, actual)
            self.set_own(call, device, following)
        else:
            yield Point(Op.VISITED, device.number, following)
        cluster.held -= 1
        call.visiting, call.next = None, following
        yield None

    def move(self, device: Device, actual: Point | None) -> None:
        """Move a cluster, unless the kernel did not."""
        if actual is not None:
            device.append(device.clusters[actual.slot // self.size], actual.list)

    def take(self, call: Call, device: Device, slot: int, n: int) -> None:
        """Put slots into use; a cluster from the free list, or an empty one, gets the order."""
        cluster = device.clusters[slot // self.size]
        priorities = [each.config.priority for each in self.devices]
        if device.config.priority < max(priorities):
            self.lower += n
            first = self.turn[:1]
            self.inversions += any(priorities[each] > device.config.priority for each in first)
        if self.rules.isolates:
            if not cluster.count:
                cluster.order = call.order
        elif cluster.list == FREE:
            if n < self.size:
                device.append(cluster, NONFULL + call.order)
            cluster.order = call.order
        device.map[slot : slot + n] = bytes([USED]) * n
        cluster.count += n
        if not self.rules.isolates and cluster.count == self.size:
            device.append(cluster, FULL)
        device.in_use += n
        if not self.rules.credit_first:
            self.available -= n
        if device.in_use == device.pages:
            self.turn.remove(device.number)
        call.granted.append((device.number, slot))

    def relocation(self, device: Device, cluster: Cluster) -> int | None:
        """Return the list to which a cluster goes after a visit, None if it is there (7.3)."""
        if cluster.list == DISCARD:
            return None
        if not cluster.count:
            target = DISCARD if device.config.discard else FREE
            return None if cluster.list == FREE else target
        target = FULL if cluster.count == self.size else FRAG + cluster.order
        return None if kind(cluster.list) == kind(target) else target

    def _reclaim_full(self, call: Call, device: Device, force: bool = False) -> Points:
        """Reclaim the cached slots of the first full cluster, or of many (by a worker)."""
        yield Point(Op.FULL, device.number, n=int(force))
        call.left = device.in_use // self.size if force else 1
        if not self.rules.isolates:
            self.rotate_full(call, device)
            yield None
        else:
            yield None
            while True:
                yield from self._pick(call, device, FULL)
                if call.full is None:
                    break
                if call.full.list == NONE:
                    target = self.relocation(device, call.full)
                    assert target is not None
                    slot = call.full.index * self.size
                    actual = yield Point(Op.MOVE, device.number, slot, list=target)
                    self.move(device, actual)
                yield None
                if call.left <= 0:
                    break
        yield Point(Op.FULL_DONE, device.number)
        while not self.rules.isolates and call.left > 0 and device.lists[FULL]:
            self.rotate_full(call, device)
        call.full = None
        yield None

    def rotate_full(self, call: Call, device: Device) -> None:
        """Take the head of the full list for reclaim; it goes to the tail."""
        call.left -= 1
        call.full = device.head(FULL)
        if call.full:
            device.append(call.full, FULL)

    def worker(self, call: Call, number: int) -> Points:
        """Reclaim many full clusters, as the work that a full device schedules."""
        yield None
        yield from self._reclaim_full(call, self.devices[number], force=True)
        yield Point(Op.DONE)

    def _discards(self, device: Device) -> Points:
        """Discard all waiting clusters of a device."""
        while (cluster := device.head(DISCARD)) is not None:
            slot = cluster.index * self.size
            yield Point(Op.DISCARD, device.number, slot)
            device.lists[DISCARD].pop(cluster.index)
            yield None
            if self.rules.isolates:
                yield Point(Op.MOVE, device.number, slot, list=FREE)
            else:
                yield Point(Op.DISCARDED, device.number, slot)
            device.append(cluster, FREE)
            yield None

    def _discard_any(self) -> Points:
        """Discard the clusters of the first device that has any; return whether one had."""
        order = sorted(self.devices, key=lambda device: -device.config.priority)
        for device in order:
            if device.lists[DISCARD]:
                yield from self._discards(device)
                return True
        return False

    # Frees.

    def free(self, number: int, slot: int, n: int) -> int | None:
        """Free slots of one cluster; return the list to which 7.3 moves it next, None for none."""
        device = self.devices[number]
        cluster = device.clusters[slot // self.size]
        assert all(byte in (USED, CACHED) for byte in device.map[slot : slot + n])
        device.map[slot : slot + n] = bytes(n)
        was_full = device.in_use == device.pages
        cluster.count -= n
        device.in_use -= n
        self.available += n
        if was_full:
            self.enqueue(number)
        target = None
        if not cluster.count:
            target = DISCARD if device.config.discard else FREE
        elif kind(cluster.list) != NONFULL:
            target = NONFULL + cluster.order
        if target is None or self.rules.isolates:
            return target
        device.append(cluster, target)
        return None

    # Complete operations.

    def run(self, points: Points, call: Call) -> None:
        """Run a call without interruption; each cached slot that it meets is freed."""
        for point in points:
            if point is None:
                continue
            try:
                points.send(point)
            except StopIteration:
                return
            if point.op == Op.WINDOW:
                self._free_cached(point.device, range(point.slot, point.slot + point.n))
            elif point.op in (Op.FULL, Op.PICKED) and call.full is not None:
                first = call.full.index * self.size
                self._free_cached(point.device, range(first, first + self.size))

    def _free_cached(self, number: int, slots: range) -> None:
        """Free the cached slots among some."""
        for slot in slots:
            if self.devices[number].map[slot] == CACHED:
                self.free_slots(number, slot, 1)

    def allocate(
        self, cpu: int, order: int, wanted: int = 1, owner: int = 0
    ) -> list[tuple[int, int]]:
        """Run a complete call; return (device, slot) of each run."""
        call = Call(cpu, order, wanted, owner=owner)
        self.run(self.call(call), call)
        return call.granted

    def free_slots(self, number: int, slot: int, n: int) -> None:
        """Free slots of one cluster, list move included."""
        target = self.free(number, slot, n)
        if target is not None:
            device = self.devices[number]
            device.append(device.clusters[slot // self.size], target)

    def discard(self, number: int) -> None:
        """Discard all waiting clusters, as the worker does."""
        self.run(self._discards(self.devices[number]), Call(0, 0))

    def check(self) -> None:
        """Check every invariant."""
        for device in self.devices:
            assert device.in_use == sum(byte in (USED, CACHED) for byte in device.map)
            for cluster in device.clusters:
                assert cluster.count == sum(byte != EMPTY for byte in device.slots_of(cluster))
            listed = [index for members in device.lists for index in members]
            assert len(listed) == len(set(listed))
            for list_, members in enumerate(device.lists):
                for index in members:
                    cluster = device.clusters[index]
                    assert cluster.list == list_
                    assert (cluster.count == 0) == (list_ in (FREE, DISCARD))
                    assert (cluster.count == self.size) == (list_ == FULL)
                    if kind(list_) in (NONFULL, FRAG):
                        assert cluster.order == list_ - kind(list_)
            assert (device.number in self.turn) == (device.in_use < device.pages)
