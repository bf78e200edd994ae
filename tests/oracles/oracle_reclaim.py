# SPDX-License-Identifier: GPL-2.0-or-later
"""The world of reclaim.h in plain Python: actors are generators, lists are lists, slow and obvious.

An actor yields what it does next, and goes on when its time has come:

    ("run", ns)          it is busy
    ("sleep", why)       until somebody wakes those who sleep for this
    ("doze", ns, why)    the same, but for so long at most

A list's first element is its tail, where reclaim takes pages.
"""

from collections import Counter
from collections.abc import Generator as Actor
from dataclasses import dataclass, field
from itertools import takewhile
from operator import itemgetter
from typing import Any

import oracle_stall
from oracle_slots import Generator

DMA32, NORMAL = 0, 1
INACTIVE_ANON, ACTIVE_ANON, INACTIVE_FILE, ACTIVE_FILE = range(4)
FREED, UNSTABLE = "freed", "unstable"
CLIENT, WRITER, FLUSHER, KSWAPD, DISK, NET, SERVER = range(7)
CALL, CONGESTION, ROOM, READ, SYNC_ROOM = ("call", "congestion", "room", "read", "sync room")
READS, SYNC_WRITES, WRITES = range(3)
SYNC, COMMIT = "sync", "commit"
SECOND = 10**9
Steps = Actor[tuple[Any, ...], None, Any]


@dataclass
class Page:
    """What a frame holds."""

    index: int = 0
    slot: int = 0
    place: int | str = "hand"
    marks: set[str] = field(default_factory=set)


@dataclass
class Zone:
    """A zone, its lists, and what is known of them."""

    first: int
    pages: int
    free: list[int]
    min: int
    reserve: int
    ratio: int
    lists: list[list[int]] = field(default_factory=lambda: [[], [], [], []])
    scanned_lately: list[int] = field(default_factory=lambda: [0, 0])
    rotated_lately: list[int] = field(default_factory=lambda: [0, 0])
    flags: int = 0
    pages_scanned: int = 0
    unreclaimable: bool = False
    count: Counter[str] = field(default_factory=Counter)

    @property
    def low(self) -> int:
        """Return where kswapd is woken."""
        return self.min + self.min // 4

    @property
    def high(self) -> int:
        """Return where kswapd is content."""
        return self.min + self.min // 2


@dataclass
class Scan:
    """One actor's reclaim."""

    kswapd: bool
    priority: int = 12
    wanted: float = 0
    reclaimed: int = 0
    scanned: int = 0
    sums: oracle_stall.Counts = field(default_factory=oracle_stall.Counts)


@dataclass
class Met:
    """A list on its way through the rules of stall.h's oracle."""

    reclaim: oracle_stall.Reclaim
    page: oracle_stall.Page = field(default_factory=oracle_stall.Page)
    under_writeback: bool = False

    def meet(
        self, marks: set[str], congested: bool, flags: int, answer: tuple[bool, bool] | None
    ) -> str:
        """Return what the rules make of a page: sleep, keep, case 2, or go on.

        An answer is NFS's: is the page dirty, is it under writeback?
        """
        file = "file" in marks
        self.page = oracle_stall.Page(
            file=file,
            dirty="dirty" in marks,
            writeback="writeback" in marks,
            reclaim="reclaim" in marks,
            congested=file and congested,
            buffers=None if answer is None else False,
            fs_dirty=answer and answer[0],
            fs_writeback=answer and answer[1],
        )
        self.under_writeback = False
        self.reclaim.flags = flags
        self.reclaim.account(self.page)
        case = self.reclaim.case(self.page)
        if case == 1 and not oracle_stall.since(self.reclaim.context.rules, "series-3"):
            return "sleep"
        self.reclaim.counts.immediate += case == 1
        self.reclaim.counts.writeback += case == 2
        return ("go on", "keep", "case 2")[case]

    def slept(self, flags: int, *, still: bool) -> tuple[str, int]:
        """Return what becomes of a page of case 1, and the zone's flags."""
        self.reclaim.flags = flags
        self.reclaim.sleep_in_case_1()
        goes_on = self.reclaim.context.rules == "mmotm"
        self.under_writeback = goes_on and still
        return "go on" if goes_on else "keep", self.reclaim.flags

    def may_write(self, flags: int) -> bool:
        """Count a dirty page, and tell whether it is written."""
        self.reclaim.flags = flags
        self.reclaim.count_late(self.page, under_writeback=self.under_writeback)
        return self.reclaim.may_write(self.page)

    def end(self, flags: int) -> list[tuple[str, Any]]:
        """Return what follows, in its order."""
        self.reclaim.flags = flags
        self.reclaim.end()
        return self.reclaim.events


@dataclass
class Task:
    """An actor, and whether it has an event, or sleeps."""

    steps: Steps
    scan: Scan
    generator: Generator
    event: tuple[int, int] | None = None
    asleep_for: str | None = None
    dozing: bool = False


class World:
    """A world by the fields of ``struct sws_reclaim_config``; rules are named."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Make it, at time 0."""
        self.config = config
        self.costs = config["costs"]
        self.rules = config["rules"]
        self.by_pass = self.rules == "6.1"
        self.now = self.running = 0
        self.sequence = 0
        self.counts: Counter[str] = Counter()
        self.rounds: list[dict[str, int]] = []
        self.over = self.out_of_memory = False
        both = config["dma32_pages"] + config["normal_pages"]
        self.pages: dict[int, Page] = {}
        self.zones = []
        for number, (first, pages) in enumerate(
            ((0, config["dma32_pages"]), (config["dma32_pages"], config["normal_pages"]))
        ):
            if pages:
                gigabytes = pages >> 18
                self.zones.append(
                    Zone(
                        first,
                        pages,
                        list(range(first + pages - 1, first - 1, -1)),
                        config["min_free_pages"] * pages // both,
                        config["normal_pages"] // config["reserve_ratio"] if not number else 0,
                        int((10 * gigabytes) ** 0.5) if gigabytes else 1,
                    )
                )
        self.entries: dict[int, tuple[str, int]] = {}
        self.young: set[int] = set()
        self.writable: set[int] = set()
        self.owners: dict[int, int | str] = {}
        self.cached: dict[int, int] = {}
        self.cursor = 0
        self.file: dict[int, int] = {}
        self.file_pages = 0
        self.dirty: set[int] = set()
        self.dirtied_at = 0
        self.flush_cursor = 0
        self.flush_asked = 0
        self.writes_file = False
        self.queues: list[list[list[int]]] = [[], [], []]
        self.serving: list[int] | None = None
        self.head = 0
        self.congested = False
        self.queue_counted = 0
        self.bandwidth = config["net_rate" if config["nfs"] else "disk_rate"]
        self.measured_at = self.measured = 0
        self.net_calls: list[tuple[int, int, bool]] = []
        self.server_calls: list[tuple[int, int, bool]] = []
        self.unstable: list[int] = []
        self.committing: list[int] = []
        self.in_memory = 0
        self.server_congested = False
        self.fill_cache()
        lives = [self.client, self.writer, self.flusher, self.kswapd, self.disk]
        lives += [self.net, self.server]
        self.tasks = [
            Task(life(), Scan(number == KSWAPD), Generator(config["seed"], number))
            for number, life in enumerate(lives)
        ]
        for task in reversed(self.tasks):
            self.push(task, 0)

    def push(self, task: Task, at: int) -> None:
        """Make an event, behind all others of its time."""
        task.event = (at, self.sequence)
        self.sequence += 1

    def wake_task(self, task: Task) -> None:
        """End a sleep."""
        if task.asleep_for is None:
            return
        task.asleep_for = None
        if not (task.dozing and task.event and task.event[0] == self.now):
            self.push(task, self.now)
        task.dozing = False

    def wake(self, why: str) -> None:
        """End the sleeps of all that sleep for this."""
        for task in self.tasks:
            if task.asleep_for == why:
                self.wake_task(task)

    def call(self, number: int) -> None:
        """End an actor's sleep if it waits to be called."""
        if self.tasks[number].asleep_for == CALL:
            self.wake_task(self.tasks[number])

    def horizon(self, me: int) -> float:
        """Return when the next event of another actor comes."""
        events = [t.event[0] for i, t in enumerate(self.tasks) if i != me and t.event]
        return min(events, default=float("inf"))

    def step(self) -> bool:
        """Take one event; False when there is none, or the world has ended."""
        pending = [(task.event, i) for i, task in enumerate(self.tasks) if task.event]
        if self.over or self.out_of_memory or not pending:
            return False
        (self.now, _), self.running = min(pending)
        task = self.tasks[self.running]
        task.event = task.asleep_for = None
        task.dozing = False
        what, *rest = next(task.steps)
        if what == "run":
            self.push(task, self.now + rest[0])
        elif what == "doze":
            self.push(task, self.now + rest[0])
            task.asleep_for, task.dozing = rest[1], True
        else:
            task.asleep_for = rest[0]
        return True

    # Frames, lists and zones.

    def zone_of(self, frame: int) -> Zone:
        """Return the zone that a frame lies in."""
        return self.zones[frame >= self.zones[0].pages]

    def add(self, frame: int, place: int) -> None:
        """Put a page at a list's head."""
        self.zone_of(frame).lists[place].append(frame)
        self.pages[frame].place = place

    def remove(self, frame: int) -> None:
        """Take a page off its list."""
        page = self.pages[frame]
        self.zone_of(frame).lists[page.place].remove(frame)  # type: ignore[index]
        page.place = "hand"

    def give(self, frame: int) -> None:
        """Make a page free."""
        zone = self.zone_of(frame)
        del self.pages[frame]
        zone.free.append(frame)
        zone.pages_scanned = 0
        zone.unreclaimable = False

    def has(self, number: int, mark: float, user_of: int) -> bool:
        """Return whether a zone is above a mark for users of zones up to a number."""
        zone = self.zones[number]
        return len(zone.free) > mark + (zone.reserve if user_of > number else 0)

    def balanced(self, number: int, gap: int, user_of: int) -> bool:
        """Return whether a zone is above its high mark."""
        return self.has(number, self.zones[number].high + gap, user_of)

    def all_balanced(self) -> bool:
        """Return whether all zones are, those apart that cannot be reclaimed."""
        return all(
            zone.unreclaimable or self.balanced(i, 0, i) for i, zone in enumerate(self.zones)
        )

    def swap_left(self) -> bool:
        """Return whether a slot is free."""
        pages = self.config["swap_pages"]
        return bool(pages) and len(self.owners) < pages - 1

    def can_be_reclaimed(self, zone: Zone) -> int:
        """Count pages of a zone's lists, of anonymous ones only while there is swap."""
        lists = zone.lists if self.swap_left() else zone.lists[2:]
        return sum(map(len, lists))

    def reclaimable(self, zone: Zone) -> bool:
        """Return whether a zone was scanned less than six times since a page was freed."""
        return zone.pages_scanned < 6 * self.can_be_reclaimed(zone)

    def in_zone(self, number: int, mark: str) -> int:
        """Count pages of a zone with a mark; of dirty ones the file's."""
        return sum(
            mark in page.marks and (mark != "dirty" or "file" in page.marks)
            for frame, page in self.pages.items()
            if self.zone_of(frame) is self.zones[number]
        )

    def in_all(self, mark: str) -> int:
        """Count pages of all zones."""
        return sum(self.in_zone(number, mark) for number in range(len(self.zones)))

    @staticmethod
    def files(zone: Zone) -> int:
        """Count file pages of a zone."""
        return len(zone.lists[INACTIVE_FILE]) + len(zone.lists[ACTIVE_FILE])

    def may_be_dirtier(self, number: int) -> bool:
        """Return whether a zone has less than its share of dirty pages."""
        zone = self.zones[number]
        pages = max(len(zone.free) - zone.reserve - zone.high, 0) + self.can_be_reclaimed(zone)
        now = sum(self.in_zone(number, mark) for mark in ("dirty", "unstable", "writeback"))
        return now <= pages * self.config["dirty_percent"] // 100

    def take_fast(self, dirties: bool) -> int | None:
        """Return a free page above the low marks."""
        top = len(self.zones) - 1
        for number in range(top, -1, -1):
            if self.has(number, self.zones[number].low, top) and (
                not dirties or self.may_be_dirtier(number)
            ):
                return self.take(number)
        return None

    def take_low(self) -> int | None:
        """Return a free page above the min marks."""
        top = len(self.zones) - 1
        for number in range(top, -1, -1):
            if self.has(number, self.zones[number].min, top):
                return self.take(number)
        return None

    def take(self, number: int) -> int:
        """Return the page of a zone that was freed last."""
        frame = self.zones[number].free.pop()
        self.pages[frame] = Page()
        return frame

    def fill_cache(self) -> None:
        """Put programs' pages and clean ones of other files into memory."""
        first = max(self.config["file_pages"], default=0)
        programs = self.config["program_pages"]
        for i in range(programs + self.config["cached_pages"]):
            frame = self.take_fast(False)
            if frame is None:
                return
            self.pages[frame].index = first + i
            self.pages[frame].marks |= {"file", "program"} if i < programs else {"file"}
            self.file[first + i] = frame
            self.add(frame, ACTIVE_FILE if i < programs else INACTIVE_FILE)

    # Who points to pages.

    def leave_swap(self, frame: int) -> None:
        """Give a page's slot back."""
        page = self.pages[frame]
        del self.owners[page.slot]
        del self.cached[page.slot]
        page.slot = 0
        page.marks.discard("dirty")

    def write_to(self, frame: int) -> None:
        """Write to a mapped page."""
        page = self.pages[frame]
        self.writable.add(page.index)
        if page.slot and "writeback" in page.marks:
            page.marks.add("dirty")
        elif page.slot:
            self.leave_swap(frame)

    def map(self, index: int, frame: int, writes: bool) -> None:
        """Put a page into the page table."""
        self.entries[index] = ("frame", frame)
        self.young.add(index)
        self.writable.discard(index)
        self.pages[frame].index = index
        self.pages[frame].marks.add("mapped")
        if writes:
            self.write_to(frame)

    def swap_is_full(self) -> bool:
        """Return whether more than half of the swap area is used."""
        return len(self.owners) * 2 > self.config["swap_pages"]

    def give_slot(self, frame: int) -> bool:
        """Give an anonymous page the next slot."""
        if not self.swap_left():
            return False
        while True:
            self.cursor = self.cursor + 1 if self.cursor + 1 < self.config["swap_pages"] else 1
            if self.cursor not in self.owners:
                break
        page = self.pages[frame]
        self.owners[self.cursor] = page.index
        self.cached[self.cursor] = frame
        page.slot = self.cursor
        page.marks.add("dirty")
        return True

    def come_ashore(self, frame: int) -> None:
        """End the last use of an orphan but for a reclaimer's."""
        page = self.pages[frame]
        if page.slot:
            self.leave_swap(frame)
        if page.place == "adrift":
            self.give(frame)

    def end_writeback(self, frame: int) -> None:
        """End a page's write."""
        page = self.pages[frame]
        if "reclaim" in page.marks and "dirty" not in page.marks:
            lists = self.zone_of(frame).lists
            if page.place in (INACTIVE_ANON, INACTIVE_FILE):
                lists[page.place].remove(frame)  # type: ignore[index]
                lists[page.place].insert(0, frame)  # type: ignore[index]
        page.marks -= {"writeback", "reclaim"}
        if "orphan" in page.marks:
            self.come_ashore(frame)

    def abandon(self, frame: int) -> None:
        """Take a page's owner away."""
        page = self.pages[frame]
        busy = bool(page.marks & {"writeback", "reading"})
        page.marks.add("orphan")
        page.marks.discard("mapped")
        if page.slot and busy:
            self.owners[page.slot] = "nobody"
        elif page.slot:
            self.leave_swap(frame)
        if page.place == "hand":
            return
        self.remove(frame)
        if busy:
            page.place = "adrift"
        else:
            self.give(frame)

    def drop_entry(self, index: int) -> None:
        """Clear a page table entry."""
        kind, number = self.entries.pop(index, (None, 0))
        self.young.discard(index)
        self.writable.discard(index)
        if kind == "frame":
            self.abandon(number)
        elif kind == "slot" and number in self.cached:
            self.abandon(self.cached[number])
        elif kind == "slot":
            del self.owners[number]

    def write_back(self, frame: int) -> None:
        """Begin a page's write."""
        page = self.pages[frame]
        page.marks.discard("dirty")
        if "file" in page.marks:
            self.dirty.discard(page.index)
        page.marks.add("writeback")

    def file_writeback(self) -> int:
        """Count the file's pages under writeback."""
        return sum({"file", "writeback"} <= page.marks for page in self.pages.values())

    # The disk.

    def requests_in(self, queue: int) -> int:
        """Count the requests of a queue, the one in service with them."""
        return len(self.queues[queue]) + (self.serving is not None and self.serving[3] == queue)

    def is_full(self, queue: int) -> bool:
        """Return whether whoever wrote has to wait."""
        return self.requests_in(queue) >= self.config["nr_requests"]

    def count_queue(self) -> None:
        """Count the queue's length up to now."""
        length = sum(map(len, self.queues)) + (self.serving is not None)
        self.counts["queue_ns"] += length * (self.now - self.queue_counted)
        self.queue_counted = self.now

    def submit(self, queue: int, at: int, pages: int) -> bool:
        """Give pages to a queue; True if they joined a request."""
        self.count_queue()
        requests = self.queues[queue]
        joined = False
        if queue == READS:
            requests.append([at, pages, self.now, READS])
        else:
            joined = self.submit_write(queue, at, pages)
        nr = self.config["nr_requests"]
        if self.requests_in(WRITES) >= min(nr - nr // 8 + 1, nr):
            self.congested = True
        self.call(DISK)
        return joined

    def submit_write(self, queue: int, at: int, pages: int) -> bool:
        """Join a request before or behind, or make one."""
        requests = self.queues[queue]
        behind = sum(request[0] <= at for request in requests)
        most = self.config["request_pages"]
        if behind:
            before = requests[behind - 1]
            if before[0] + before[1] == at and before[1] + pages <= most:
                before[1] += pages
                return True
        if behind < len(requests):
            after = requests[behind]
            if at + pages == after[0] and after[1] + pages <= most:
                after[0] = at
                after[1] += pages
                return True
        requests.insert(behind, [at, pages, self.now, queue])
        return False

    def service_ns(self, request: list[int]) -> int:
        """Return how long a request takes from where the head is."""
        way = abs(request[0] - self.head)
        pages_ns = request[1] * SECOND // self.config["disk_rate"]
        if not way:
            return pages_ns
        span = self.config["disk_pages"] + self.config["swap_pages"]
        near, far = self.config["seek_near_ns"], self.config["seek_far_ns"]
        return pages_ns + near + (far - near) * int(way**0.5) // (int(span**0.5) + 1)

    def disk(self) -> Steps:
        """Serve requests one by one: the queues take turns."""
        wave = until = patient = 0
        turn = READS
        while True:
            waiting = sum(map(len, self.queues))
            if not waiting:
                yield "sleep", CALL
                continue
            if self.queues[turn]:
                goes_on = self.now < until or len(self.queues[turn]) == waiting
            else:
                goes_on = turn == READS and self.now < min(until, patient)
            if not goes_on:
                later = ((turn + i) % 3 for i in (1, 2, 3))
                turn = next(queue for queue in later if self.queues[queue])
                until = self.now + self.config[f"{'a' * (turn == WRITES)}sync_turn_ns"]
            if not self.queues[turn]:
                yield "doze", min(until, patient) - self.now, CALL
                continue
            self.count_queue()
            chosen = 0
            if turn != READS:
                wave += 1
                requests = self.queues[turn]
                oldest = min(range(len(requests)), key=lambda i: (requests[i][2], i))
                ahead = [i for i, request in enumerate(requests) if request[0] >= self.head]
                chosen = ahead[0] if ahead else 0
                if wave >= 16:
                    wave = 0
                    if self.now - requests[oldest][2] >= SECOND // 4:
                        chosen = oldest
            self.serving = self.queues[turn].pop(chosen)
            yield "run", self.service_ns(self.serving)
            if turn == READS:
                patient = self.now + SECOND // 125
            self.complete()

    def complete(self) -> None:
        """End a request: its pages, then whoever waits."""
        assert self.serving is not None
        self.count_queue()
        at, pages, since, queue = self.serving
        reads = queue == READS
        kind = "read" if reads else "write"
        self.counts[f"{kind}s"] += 1
        self.counts[f"{kind}_ns"] += self.now - since
        self.counts["disk_read" if reads else "disk_written"] += pages
        longest = f"longest_{kind}_ns"
        self.counts[longest] = max(self.counts[longest], self.now - since)
        self.serving = None
        self.head = at + pages
        self.end_pages(at, pages, reads)
        if reads:
            self.wake(READ)
            return
        if not self.file_writeback():
            self.wake(SYNC)
        if not self.is_full(queue):
            self.wake(ROOM if queue == WRITES else SYNC_ROOM)
        nr = self.config["nr_requests"]
        if queue == WRITES and self.requests_in(WRITES) < max(nr - nr // 8 - nr // 16 - 1, 1):
            self.congested = False
            self.wake(CONGESTION)

    def end_pages(self, at: int, pages: int, reads: bool) -> None:
        """End the reads or writes of a request's pages."""
        of_file = 0
        for place in range(at, at + pages):
            span = self.config["disk_pages"]
            of_file += place < span
            frame = self.file.get(place) if place < span else self.cached.get(place - span)
            if frame is None:
                continue
            marks = self.pages[frame].marks
            if reads and "reading" in marks:
                marks.discard("reading")
                if "orphan" in marks:
                    self.come_ashore(frame)
            elif not reads and "writeback" in marks:
                self.end_writeback(frame)
        if of_file and not reads:
            self.measure(of_file)

    def measure(self, pages: int) -> None:
        """Learn the disk's bandwidth."""
        elapsed = self.now - self.measured_at
        self.measured += pages
        if elapsed < SECOND // 5:
            return
        if elapsed <= SECOND:
            old = self.bandwidth * (3 * SECOND - elapsed)
            self.bandwidth = (self.measured * SECOND + old) // (3 * SECOND)
        self.measured = 0
        self.measured_at = self.now

    # Writeback and throttling.

    def limits(self) -> tuple[int, int]:
        """Return how many pages may be dirty before the flusher begins, and at most."""
        free = sum(len(zone.free) for zone in self.zones)
        reserve = sum(zone.reserve + zone.high for zone in self.zones)
        pages = max(free - reserve, 0) + sum(map(self.can_be_reclaimed, self.zones))
        config = self.config
        return (
            pages * config["background_percent"] // 100,
            pages * config["dirty_percent"] // 100,
        )

    def write_run(self, queue: int) -> int:
        """Give the next run of dirty pages to the queue."""
        if not self.dirty:
            return 0
        ahead = [index for index in self.dirty if index >= self.flush_cursor]
        first = min(ahead or self.dirty)
        n = 0
        nfs = self.config["nfs"]
        most = self.config["write_pages" if nfs else "request_pages"]
        while n < most and first + n in self.dirty:
            self.write_back(self.file[first + n])
            n += 1
        self.flush_cursor = first + n
        if nfs:
            self.send(first, n, False)
        else:
            self.submit(queue, first, n)
        return n

    def n_dirty(self) -> int:
        """Count dirty pages, those with them that a server has in its memory alone."""
        return len(self.dirty) + len(self.unstable) + len(self.committing)

    def flusher_has_work(self) -> bool:
        """Return whether the flusher has to write."""
        if not self.dirty:
            self.flush_asked = 0
            return False
        if self.now - self.dirtied_at >= self.config["flush_age_ns"]:
            self.dirtied_at = self.now
            self.flush_asked = max(self.flush_asked, len(self.dirty))
        return bool(self.flush_asked) or self.n_dirty() > self.limits()[0]

    def flusher(self) -> Steps:
        """Write dirty pages when there are too many, old ones, or reclaim wants it."""
        while True:
            in_use = self.n_dirty() + self.file_writeback()
            if len(self.unstable) > in_use // 2:
                self.commit()
            if not self.flusher_has_work():
                yield "doze", self.config["flush_interval_ns"], CALL
                continue
            pages = self.write_run(WRITES)
            self.flush_asked -= min(self.flush_asked, pages)
            yield "run", pages * self.costs["submit_ns"]
            if self.is_full(WRITES):
                yield "sleep", ROOM

    def pause(self, batch: int) -> tuple[int, bool]:
        """Return how long the writer has to pause, and whether it then asks again."""
        background, limit = self.limits()
        dirty = self.n_dirty() + self.in_all("writeback")
        free_run = (background + limit) // 2
        if dirty <= free_run:
            return 0, False
        rate = 0
        if dirty < limit:
            middle = (free_run + limit) // 2
            x = truncated((middle - dirty) * 1024, limit - middle + 1)
            ratio = truncated(truncated(x * x, 1024) * x, 1024) + 1024
            rate = self.bandwidth * min(max(ratio, 0), 2048) // 1024
        longest = SECOND // 5
        return (min(batch * SECOND // rate, longest) if rate else longest), not rate

    # A server.

    def congested_from(self) -> int:
        """Return above how many pages under writeback a server is congested."""
        pages = self.config["dma32_pages"] + self.config["normal_pages"]
        return 16 * int(pages**0.5)

    def send(self, first: int, pages: int, stable: bool) -> None:
        """Send a run of pages to the server."""
        self.net_calls.append((first, pages, stable))
        if self.file_writeback() > self.congested_from():
            self.server_congested = True
        self.call(NET)

    def commit(self) -> None:
        """Ask the server for all unstable pages, unless it is at that."""
        if not self.unstable or self.committing:
            return
        self.committing, self.unstable = self.unstable, []
        self.server_calls.append((0, 0, False))
        self.call(SERVER)

    def await_commit(self) -> Steps:
        """Wait for a commit under way, then for one of all that is unstable behind it."""
        since = self.now
        self.counts["commit_waits"] += 1
        while self.committing:
            yield "sleep", COMMIT
        self.commit()
        while self.committing:
            yield "sleep", COMMIT
        self.counts["commit_wait_ns"] += self.now - since

    def end_writes(self, first: int, pages: int, stable: bool) -> None:
        """End the writes of a call."""
        for index in range(first, first + pages):
            frame = self.file[index]
            if not stable:
                self.pages[frame].marks.add("unstable")
                self.unstable.append(index)
            self.end_writeback(frame)
        self.measure(pages)

    def wake_writers(self) -> None:
        """Wake who waits for less under writeback."""
        writeback, most = self.file_writeback(), self.congested_from()
        if not writeback:
            self.wake(SYNC)
        if writeback < most - most // 4:
            self.server_congested = False
            self.wake(CONGESTION)

    def net(self) -> Steps:
        """Carry calls to the server."""
        while True:
            while not self.net_calls:
                yield "sleep", CALL
            first, pages, stable = self.net_calls.pop(0)
            yield "run", pages * SECOND // self.config["net_rate"]
            if stable:
                self.server_calls.append((first, pages, stable))
                self.call(SERVER)
            else:
                self.in_memory += pages
                self.end_writes(first, pages, stable)
                self.wake_writers()

    def server(self) -> Steps:
        """Commit, and write what is to be stable."""
        while True:
            while not self.server_calls:
                yield "sleep", CALL
            calls = list(takewhile(itemgetter(2), self.server_calls[:8]))
            ns = self.config["server_seek_ns"]
            if not calls:
                self.server_calls.pop(0)
                ns += self.in_memory * SECOND // self.config["server_rate"]
                self.in_memory = 0
            yield "run", ns
            if calls:
                del self.server_calls[: len(calls)]
                for call in calls:
                    self.end_writes(*call)
                self.wake_writers()
                continue
            yield from self.end_commit()

    def end_commit(self) -> Steps:
        """Let go of a commit's pages, the last ones first, then wake who waits."""
        while self.committing:
            batch = self.committing[-1024:]
            del self.committing[-1024:]
            for index in batch:
                self.pages[self.file[index]].marks.discard("unstable")
            self.counts["committed"] += len(batch)
            if not self.committing:
                self.counts["commits"] += 1
                self.wake(SYNC)
                self.wake(COMMIT)
                yield "run", len(batch) * self.costs["drop_ns"]
                return
            yield "run", len(batch) * self.costs["drop_ns"]

    def answer(self, marks: set[str]) -> tuple[bool, bool] | None:
        """Return what NFS says of a page that it holds on to."""
        held = marks & {"dirty", "writeback", "unstable"}
        if not self.config["nfs"] or "file" not in marks or not held:
            return None
        if self.committing:
            return "dirty" in marks, True
        return True, "writeback" in marks

    # Reclaim.

    def nap(self, zone: Zone, sleep: str, most_us: int) -> Steps:
        """Sleep as the rules have it."""
        timeout = oracle_stall.sleep_us(
            sleep,
            hz=self.config["hz"],
            congested_devices=int(self.congested) + int(self.server_congested),
            flags=zone.flags,
            reclaimable=sum(self.can_be_reclaimed(zone) for zone in self.zones),
            write_pending=self.n_dirty() + self.in_all("writeback"),
        )
        if not timeout:
            self.counts[f"declined {sleep}"] += 1
            return
        since = self.now
        self.counts[f"sleeps {sleep}"] += 1
        yield "doze", min(timeout, most_us) * 1000, CONGESTION
        who = "kswapd" if self.running == KSWAPD else "tasks"
        for name in (f"slept_ns {sleep}", f"{who}_slept_ns"):
            self.counts[name] += self.now - since

    def obey(self, zone: Zone, acts: list[tuple[str, Any]]) -> Steps:
        """Do what follows from a list or a round."""
        for act, what in acts:
            if act == "set":
                zone.flags |= what
            elif act == "sleep":
                yield from self.nap(zone, what, 2**32 - 1)
            elif act == "wake":
                self.flush_asked += self.n_dirty()
                self.call(FLUSHER)

    def was_touched(self, page: Page) -> bool:
        """Test and clear the page table's mark."""
        if "mapped" not in page.marks or page.index not in self.young:
            return "program" in page.marks
        self.young.discard(page.index)
        return True

    def inactive_is_low(self, zone: Zone, file: bool) -> bool:
        """Return whether active pages have to become inactive."""
        if file:
            return len(zone.lists[ACTIVE_FILE]) > len(zone.lists[INACTIVE_FILE])
        inactive, active = len(zone.lists[INACTIVE_ANON]), len(zone.lists[ACTIVE_ANON])
        return bool(self.config["swap_pages"]) and inactive * zone.ratio < active

    def age(self, zone: Zone, file: bool, pages: int) -> int:
        """Make pages of an active list inactive; return the time."""
        place = ACTIVE_FILE if file else ACTIVE_ANON
        taken = zone.lists[place][:pages]
        for frame in taken:
            zone.rotated_lately[file] += self.was_touched(self.pages[frame])
            self.remove(frame)
            self.add(frame, place if "program" in self.pages[frame].marks else place - 1)
        zone.scanned_lately[file] += len(taken)
        zone.pages_scanned += len(taken)
        zone.count["aged"] += len(taken)
        return len(taken) * self.costs["age_ns"]

    def targets(self, scan: Scan, zone: Zone) -> list[int]:
        """Return how many pages of each list are to be scanned."""
        anon = len(zone.lists[INACTIVE_ANON]) + len(zone.lists[ACTIVE_ANON])
        file = self.files(zone)
        swappiness = self.config["swappiness"]
        if not self.swap_left():
            parts, whole = (0, 1), 1
        elif not scan.priority and swappiness:
            parts, whole = (1, 1), 1
        elif file + len(zone.free) <= zone.high:
            parts, whole = (1, 0), 1
        elif not self.inactive_is_low(zone, True):
            parts, whole = (0, 1), 1
        else:
            for kind, size in enumerate((anon, file)):
                if zone.scanned_lately[kind] > size // 4:
                    zone.scanned_lately[kind] //= 2
                    zone.rotated_lately[kind] //= 2
            parts = tuple(
                weight * (zone.scanned_lately[kind] + 1) // (zone.rotated_lately[kind] + 1)
                for kind, weight in enumerate((swappiness, 200 - swappiness))
            )
            whole = sum(parts) + 1
        targets = []
        for place in range(4):
            size = len(zone.lists[place])
            pages = size >> scan.priority
            if not pages and scan.kswapd and zone.unreclaimable:
                pages = min(size, 32)
            targets.append(pages * parts[place // 2] // whole)
        return targets

    def enough(self, scan: Scan, targets: list[int], left: list[int], reclaimed: int) -> bool:
        """Return whether a zone is scanned enough; from mmotm on, even out what is left."""
        if not left[INACTIVE_ANON] and not left[INACTIVE_FILE] and not left[ACTIVE_FILE]:
            return True
        if self.rules == "3.9":
            return reclaimed >= scan.wanted and scan.priority < 12
        if reclaimed < scan.wanted or self.adjusted:
            return False
        if not scan.kswapd:
            return True
        anon, file = (0, 1), (2, 3)
        less, more = (anon, file) if sum(left[2:]) > sum(left[:2]) else (file, anon)
        percent = sum(left[i] for i in less) * 100 // (sum(targets[i] for i in less) + 1)
        for i in less:
            left[i] = 0
        for i in more:
            scanned = targets[i] - left[i]
            left[i] = max(targets[i] * (100 - percent) // 100 - scanned, 0)
        self.adjusted = True
        return False

    def shrink_zone(self, scan: Scan, zone: Zone) -> Steps:
        """Scan a zone's lists in turn, 32 pages each."""
        before = scan.reclaimed
        scan.sums = oracle_stall.Counts()
        targets = self.targets(scan, zone)
        left = list(targets)
        adjusted = False
        while True:
            for place in range(4):
                pages = min(left[place], 32)
                left[place] -= pages
                if not pages:
                    continue
                if place in (INACTIVE_ANON, INACTIVE_FILE):
                    yield from self.shrink_list(scan, zone, place, pages)
                elif self.inactive_is_low(zone, place == ACTIVE_FILE):
                    yield from self.spend(self.age(zone, place == ACTIVE_FILE, pages))
            self.adjusted = adjusted
            if self.enough(scan, targets, left, scan.reclaimed - before):
                break
            adjusted = self.adjusted
        if self.inactive_is_low(zone, False):
            yield from self.spend(self.age(zone, False, 32))
        dirty = self.limits()[1]
        while not self.by_pass and self.in_all("writeback") > dirty + dirty // 10:
            yield from self.nap(zone, "congestion_wait", 100000)
            dirty = self.limits()[1]
        context = oracle_stall.Context(self.rules, scan.priority, scan.kswapd, flags=zone.flags)
        yield from self.obey(zone, oracle_stall.decide_pass(context, scan.sums).events)

    @staticmethod
    def spend(ns: int) -> Steps:
        """Be busy, if for any time."""
        if ns:
            yield "run", ns

    def shrink_list(self, scan: Scan, zone: Zone, place: int, pages: int) -> Steps:
        """Take up to 32 pages from an inactive list, and see."""
        file = place == INACTIVE_FILE
        taken = zone.lists[place][:pages]
        who = "kswapd" if scan.kswapd else "direct"
        for frame in taken:
            self.remove(frame)
        zone.scanned_lately[file] += len(taken)
        zone.pages_scanned += len(taken)
        zone.count[f"scanned_{who}"] += len(taken)
        if not taken:
            return
        n = len(taken)
        context = oracle_stall.Context(self.rules, scan.priority, scan.kswapd, flags=zone.flags)
        counts = oracle_stall.Counts(taken=n, file_taken=n if file else 0)
        met = Met(oracle_stall.Reclaim(context, counts))
        ns = len(taken) * self.costs["scan_ns"]
        fates: list[int | str] = []
        before = scan.reclaimed
        for frame in taken:
            page = self.pages[frame]
            kept = INACTIVE_FILE if "file" in page.marks else INACTIVE_ANON
            if page.marks & {"reading", "orphan"}:
                fates.append(kept)
                continue
            scan.scanned += 2 if page.marks & {"mapped", "program"} or page.slot else 1
            congested = self.server_congested if self.config["nfs"] else self.congested
            verdict = met.meet(page.marks, congested, zone.flags, self.answer(page.marks))
            if verdict == "sleep":
                yield from self.nap(self.zones[0], "congestion_wait", 100000)
                still = "writeback" in page.marks
                verdict, zone.flags = met.slept(zone.flags, still=still)
            if verdict == "case 2":
                page.marks.add("reclaim")
            if verdict != "go on":
                fates.append(self.passed(kept))
                continue
            fate, spent, made = self.go_on(scan, zone, met, frame)
            if fate == UNSTABLE:
                yield from self.await_commit()
                fate, spent = self.release(scan, frame)
            fates.append(fate)
            ns += spent
            if made and self.is_full(WRITES):
                yield "sleep", ROOM
        yield from self.spend(ns)
        for frame, fate in zip(taken, fates, strict=True):
            if fate == FREED:
                continue
            page = self.pages[frame]
            if "orphan" not in page.marks:
                self.add(frame, fate)  # type: ignore[arg-type]
                zone.rotated_lately[fate // 2] += fate % 2  # type: ignore[operator]
            elif page.marks & {"writeback", "reading"}:
                page.place = "adrift"
            else:
                self.give(frame)
        zone.count[f"reclaimed_{who}"] += scan.reclaimed - before
        for name, number in vars(counts).items():
            setattr(scan.sums, name, getattr(scan.sums, name) + number)
        yield from self.obey(zone, met.end(zone.flags))

    def passed(self, kept: int) -> int:
        """Return where a page goes that reclaim leaves to its write: in 6.1 it becomes active."""
        return kept + 1 if self.by_pass else kept

    def go_on(self, scan: Scan, zone: Zone, met: Met, frame: int) -> tuple[int | str, int, bool]:
        """Test a page further: its fate, the time, and whether the queue has a new request."""
        page = self.pages[frame]
        file = "file" in page.marks
        kept, active = (INACTIVE_FILE, ACTIVE_FILE) if file else (INACTIVE_ANON, ACTIVE_ANON)
        used = file and "referenced" in page.marks
        page.marks.discard("referenced")
        if self.was_touched(page) or (not file and not page.slot and not self.give_slot(frame)):
            mapped = "mapped" in page.marks and "writeback" not in page.marks
            if page.slot and mapped and self.swap_is_full():
                self.leave_swap(frame)
            return active, 0, False
        if "mapped" in page.marks:
            self.entries[page.index] = ("slot", page.slot)
            self.young.discard(page.index)
            self.writable.discard(page.index)
            page.marks.discard("mapped")
        if "dirty" in page.marks:
            if not met.may_write(zone.flags):
                self.counts["reclaim_immediate"] += 1
                page.marks.add("reclaim")
                return self.passed(kept), 0, False
            if used or "writeback" in page.marks:
                return kept, 0, False
            return kept, self.costs["submit_ns"], self.write_page(frame)
        if "unstable" in page.marks and not scan.kswapd:
            return UNSTABLE, 0, False
        if "unstable" in page.marks:
            self.commit()
        return *self.release(scan, frame), False

    def release(self, scan: Scan, frame: int) -> tuple[int | str, int]:
        """Free a clean page unless its filesystem holds on to it: its fate, and the time."""
        page = self.pages[frame]
        file = "file" in page.marks
        if file and page.marks & {"writeback", "unstable"}:
            return ACTIVE_FILE, 0
        if file:
            del self.file[page.index]
        else:
            del self.cached[page.slot]
        self.counts["freed_under_writeback"] += "writeback" in page.marks
        self.give(frame)
        scan.reclaimed += 1
        return FREED, self.costs["remove_ns"]

    def write_page(self, frame: int) -> bool:
        """Write a page for reclaim; True if it made a request."""
        page = self.pages[frame]
        file = "file" in page.marks
        self.counts["reclaim_writes_file" if file else "swapped_out"] += 1
        nfs = self.config["nfs"]
        if file and self.config["delays_allocation"] and not nfs:
            return False
        self.write_back(frame)
        page.marks.add("reclaim")
        if file and nfs:
            self.send(page.index, 1, True)
            return False
        at = page.index if file else self.config["disk_pages"] + page.slot
        return not self.submit(WRITES, at, 1)

    def wake_kswapd(self) -> None:
        """Call kswapd if a zone is short."""
        if any(not self.has(i, zone.low, 0) for i, zone in enumerate(self.zones)):
            self.call(KSWAPD)

    def kswapd(self) -> Steps:
        """Balance the zones when called, and lie down in two steps."""
        scan = self.tasks[KSWAPD].scan
        while True:
            yield "sleep", CALL
            while True:
                self.counts["wakeups"] += 1
                yield from self.balance(scan)
                until = self.now + SECOND // 10
                yield "doze", SECOND // 10, CALL
                if self.now >= until and self.all_balanced():
                    break

    def passed_over(self, scan: Scan, zone: Zone) -> bool:
        """Return whether a zone is hopeless at this priority."""
        return zone.unreclaimable and scan.priority != 12

    def clear(self, zone: Zone, why: str) -> None:
        """Clear what the rules clear then."""
        zone.flags &= ~oracle_stall.clears(self.rules, why)

    def balance(self, scan: Scan) -> Steps:
        """Reclaim until all zones have their high marks, or it is of no use."""
        old = self.rules == "3.9"
        scan.priority, scan.reclaimed = 12, 0
        while True:
            ns = self.costs["look_ns"]
            if not old:
                scan.reclaimed = 0
            end = None
            for number in range(len(self.zones) - 1, -1, -1):
                zone = self.zones[number]
                if self.passed_over(scan, zone):
                    continue
                if self.inactive_is_low(zone, False):
                    ns += self.age(zone, False, 32)
                if not self.balanced(number, 0, 0):
                    end = number
                    break
                self.clear(zone, "balanced")
            yield "run", ns
            if end is None:
                return
            lower = yield from self.balance_up_to(scan, end)
            if old:
                if self.all_balanced():
                    return
                if scan.reclaimed >= 32 or not scan.priority:
                    scan.priority, scan.reclaimed = 12, 0
                else:
                    scan.priority -= 1
                continue
            if lower or not scan.reclaimed:
                scan.priority -= 1
            if not scan.priority or self.all_balanced():
                return

    def balance_up_to(self, scan: Scan, end: int) -> Steps:
        """Shrink all zones up to one; True if none was scanned for what was wanted."""
        old = self.rules == "3.9"
        lower = True
        for number, zone in enumerate(self.zones[: end + 1]):
            if self.passed_over(scan, zone):
                continue
            if self.balanced(number, min(zone.low, (zone.pages + 99) // 100), end):
                lower = False
                if old:
                    self.clear(zone, "balanced")
                continue
            scan.scanned = 0
            scan.wanted = float("inf") if old else max(zone.high, 32)
            yield from self.shrink_zone(scan, zone)
            if not self.reclaimable(zone):
                zone.unreclaimable = True
            self.clear(zone, "shrunk")
            if not zone.unreclaimable and self.balanced(number, 0, end):
                self.clear(zone, "balanced")
            if scan.scanned >= scan.wanted:
                lower = False
        return lower

    def allocate(self, number: int, dirties: bool) -> Steps:
        """Return a free page, however long it takes; None: out of memory."""
        frame = self.take_fast(dirties)
        if frame is not None:
            return frame
        self.wake_kswapd()
        scan = self.tasks[number].scan
        fruitless = 0
        while True:
            frame = self.take_low()
            if frame is not None:
                return frame
            worth_it = yield from self.reclaim(scan)
            kswapd = self.tasks[KSWAPD]
            stands_still = kswapd.asleep_for == CALL and not kswapd.dozing
            stands_still = stands_still and not self.n_dirty() and not self.in_all("writeback")
            fruitless = 0 if scan.reclaimed or not stands_still else fruitless + 1
            worth_it = worth_it and fruitless < 16
            frame = self.take_low()
            if frame is not None:
                return frame
            if not worth_it:
                self.out_of_memory = True
                return None
            if not self.by_pass:
                yield from self.nap(self.zones[-1], "wait_iff_congested", 20000)

    def reclaim(self, scan: Scan) -> Steps:
        """Reclaim 32 pages; True if it is worth another attempt."""
        self.counts["direct_reclaims"] += 1
        scan.priority, scan.wanted, scan.reclaimed = 12, 32, 0
        scanned = 0
        while True:
            scan.scanned = 0
            yield "run", self.costs["look_ns"]
            for zone in reversed(self.zones):
                if not self.passed_over(scan, zone):
                    yield from self.shrink_zone(scan, zone)
            scanned += scan.scanned
            if scan.reclaimed >= 32:
                return True
            if scanned > 48 and not self.by_pass:
                self.flush_asked += scanned
                self.call(FLUSHER)
            context = oracle_stall.Context(self.rules, scan.priority)
            naps = oracle_stall.decide_round(context, scan.scanned, scan.reclaimed, 32)
            yield from self.obey(self.zones[-1], [("sleep", nap) for nap in naps])
            if not scan.priority:
                hope = (not zone.unreclaimable and self.reclaimable(zone) for zone in self.zones)
                return bool(scan.reclaimed) or any(hope)
            scan.priority -= 1

    # The tasks.

    def fault(self, index: int, writes: bool) -> Steps:
        """Bring a page in."""
        major = False
        while True:
            kind, number = self.entries.get(index, (None, 0))
            if kind is None:
                frame = yield from self.allocate(CLIENT, False)
                if frame is None:
                    yield "sleep", CALL
                self.map(index, frame, True)
                self.add(frame, ACTIVE_ANON)
                self.counts["minor_faults"] += 1
                yield "run", self.costs["fault_ns"]
                return
            if kind == "frame":
                self.write_to(number)
                break
            if number not in self.cached:
                frame = yield from self.allocate(CLIENT, False)
                if frame is None:
                    yield "sleep", CALL
                major = True
                self.counts["major_faults"] += 1
                self.read_cluster(number, frame)
                yield "run", self.costs["map_ns"]
                continue
            frame = self.cached[number]
            if "reading" in self.pages[frame].marks:
                yield "sleep", READ
                continue
            self.map(index, frame, writes)
            page = self.pages[frame]
            if page.slot and "writeback" not in page.marks and self.swap_is_full():
                self.leave_swap(frame)
            break
        self.counts["minor_faults"] += not major
        yield "run", self.costs["map_ns"]

    def read_cluster(self, slot: int, frame: int) -> None:
        """Read a slot, and those of its cluster that are out."""
        size = 1 << self.config["readahead_shift"]
        first = slot // size * size
        run = []
        for at in range(first, first + size):
            found = None
            if at == slot:
                found = frame
            elif at not in self.cached and isinstance(self.owners.get(at), int):
                found = self.take_low()
            if found is not None:
                page = self.pages[found]
                page.index, page.slot = self.owners[at], at  # type: ignore[assignment]
                page.marks.add("reading")
                self.cached[at] = found
                self.add(found, INACTIVE_ANON)
                self.counts["swapped_in"] += 1
                run.append(at)
            if run and (found is None or at == first + size - 1):
                self.submit(READS, self.config["disk_pages"] + run[0], len(run))
                run = []

    def touch(self, index: int, writes: bool) -> bool:
        """Touch a page; False if it is missed."""
        if self.entries.get(index, (None,))[0] != "frame":
            return False
        if writes and index not in self.writable:
            return False
        self.young.add(index)
        return True

    def serve(self, items: Any, until: int | None) -> Steps:
        """Do operations: all that begin before another actor's event in one go."""
        size = self.config["item_pages"]
        at, done = self.now, 0
        horizon = self.horizon(CLIENT)
        for item, writes in items:
            page = 0
            while page < size:
                if self.touch(item * size + page, writes):
                    page += 1
                    continue
                yield from self.spend(at - self.now)
                yield from self.fault(item * size + page, writes)
                at, horizon, done = self.now, self.horizon(CLIENT), 0
            if until is not None:
                self.counts["ops"] += 1
            at += self.costs["op_ns"]
            done += 1
            if at >= horizon or done == 1024:
                yield from self.spend(at - self.now)
                at, horizon, done = self.now, self.horizon(CLIENT), 0
            if until is not None and at >= until:
                break
        yield from self.spend(at - self.now)

    def draws(self) -> Any:
        """Yield items and whether they are written to."""
        generator = self.tasks[CLIENT].generator
        while True:
            item = generator.below(self.config["items"])
            yield item, generator.below(100) < self.config["set_percent"]

    def client(self) -> Steps:
        """Fill the pool, serve it, make place; round after round."""
        config = self.config
        for number in range(config["rounds"]):
            begin = Counter(self.counts)
            found = {"begin_ns": self.now, "io_ns": 0}
            self.rounds.append(found)
            self.file_pages = config["file_pages"][number] if config["file_pages"] else 0
            self.flush_cursor = 0
            yield from self.serve(((item, True) for item in range(config["items"])), None)
            until = self.now + config["serve_ns"]
            found["serve_ns"] = self.now
            self.begin_writing()
            yield from self.serve(self.draws(), until)
            while self.writes_file:
                yield "sleep", CALL
            yield from self.drop()
            found["end_ns"] = self.now
            for name in ("ops", "swapped_in", "swapped_out", "minor_faults", "major_faults"):
                found[name] = self.counts[name] - begin[name]
            self.file_pages = 0
        self.over = True
        yield "sleep", CALL

    def begin_writing(self) -> None:
        """Call the writer if the round has a file."""
        self.writes_file = self.file_pages > 0
        if self.writes_file:
            self.call(WRITER)

    def drop(self) -> Steps:
        """Delete the file, and exit, some pages at a time."""
        things: list[tuple[Any, int]] = [(self.drop_file_page, i) for i in range(self.file_pages)]
        things += [
            (self.drop_entry, i) for i in range(self.config["items"] * self.config["item_pages"])
        ]
        for first in range(0, len(things), 1024):
            batch = things[first : first + 1024]
            for drop, index in batch:
                drop(index)
            yield "run", len(batch) * self.costs["drop_ns"]

    def drop_file_page(self, index: int) -> None:
        """Drop a page of the file."""
        frame = self.file.pop(index, None)
        if frame is not None:
            self.abandon(frame)

    def writer(self) -> Steps:
        """Write the file of a round when called."""
        while True:
            yield "sleep", CALL
            yield from self.spend(self.config["write_delay_ns"])
            since = self.now
            yield from self.write_file()
            self.rounds[-1]["io_ns"] = self.now - since
            self.writes_file = False
            self.call(CLIENT)

    def write_file(self) -> Steps:
        """Dirty the file page by page, throttled; then write what is dirty still."""
        index = 0
        while index < self.file_pages:
            batch = 0
            while batch < 32 and index < self.file_pages:
                done = 0
                while batch + done < 32 and index < self.file_pages:
                    frame = self.take_fast(True)
                    if frame is None:
                        break
                    self.dirty_page(index, frame)
                    index, done = index + 1, done + 1
                if not done:
                    frame = yield from self.allocate(WRITER, True)
                    if frame is None:
                        yield "sleep", CALL
                    self.dirty_page(index, frame)
                    index, done = index + 1, 1
                batch += done
                yield "run", done * self.costs["copy_ns"]
            again = True
            while again:
                pause, again = self.pause(batch)
                if self.n_dirty() > self.limits()[0]:
                    self.call(FLUSHER)
                self.counts["throttled_ns"] += pause
                yield from self.spend(pause)
        while True:
            pages = self.write_run(SYNC_WRITES)
            if pages:
                yield "run", pages * self.costs["submit_ns"]
                if self.is_full(SYNC_WRITES):
                    yield "sleep", SYNC_ROOM
            elif self.file_writeback():
                yield "sleep", SYNC
            elif self.unstable or self.committing:
                self.commit()
                yield "sleep", SYNC
            else:
                return

    def dirty_page(self, index: int, frame: int) -> None:
        """Add a dirty page to the file."""
        page = self.pages[frame]
        page.index = index
        page.marks |= {"file", "dirty", "referenced"}
        self.file[index] = frame
        if not self.dirty:
            self.dirtied_at = self.now
        self.dirty.add(index)
        self.counts["dirtied"] += 1
        self.add(frame, INACTIVE_FILE)

    # What the library can be compared by.

    def pool_page(self, index: int) -> tuple[str, int, bool]:
        """Return where a page of the pool is, its zone, and whether it was touched lately."""
        kind, number = self.entries.get(index, ("none", 0))
        if kind == "none":
            return "untouched", 0, False
        frame = number if kind == "frame" else self.cached.get(number)
        if frame is None:
            return "swapped-out", 0, False
        page = self.pages[frame]
        if "reading" in page.marks:
            where = "reading"
        elif kind == "slot":
            where = "leaving" if page.marks & {"dirty", "writeback"} else "cached"
        else:
            where = {ACTIVE_ANON: "active", INACTIVE_ANON: "inactive"}.get(page.place, "in-hand")
        return where, int(frame >= self.zones[0].pages), kind == "frame" and index in self.young

    def digest(self) -> int:
        """Return what sws_reclaim_digest returns."""
        words = [self.now]
        for number, zone in enumerate(self.zones):
            for place, frames in enumerate(zone.lists):
                words.append(number * 4 + place)
                words += [frame << 32 | self.pages[frame].index for frame in frames]
        names = ("file", "dirty", "writeback", "reclaim", "referenced", "mapped", "reading")
        for frame in sorted(self.pages):
            page = self.pages[frame]
            bits = (*names, "orphan", "unstable", "program")
            flags = sum(1 << i for i, name in enumerate(bits) if name in page.marks)
            words.append(page.slot << 16 | flags)
        for index in range(self.config["items"] * self.config["item_pages"]):
            kind, number = self.entries.get(index, (None, 0))
            present = kind == "frame"
            words.append(
                present << 31
                | (present and index in self.young) << 30
                | (present and index in self.writable) << 29
                | number
            )
        for queue in (SYNC_WRITES, WRITES):
            words += [at << 16 | pages for at, pages, _, _ in self.queues[queue]]
        words.append(len(self.net_calls) << 32 | len(self.server_calls))
        words.append(len(self.unstable) << 32 | len(self.committing))
        digest = 0xCBF29CE484222325
        for word in words:
            digest = (digest ^ word) * 0x100000001B3 & 2**64 - 1
        return digest


def truncated(a: int, b: int) -> int:
    """Divide as C does."""
    return a // b if a >= 0 else -(-a // b)
