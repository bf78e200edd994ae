# SPDX-License-Identifier: GPL-2.0-or-later
"""The reclaim simulator of reclaim.h in plain Python: slow and obvious.

Each actor is a generator. It yields what it does next, and continues when that is done:

    ("run", ns)          it runs for a time
    ("sleep", why)       it sleeps until it is woken for this reason
    ("doze", ns, why)    the same, with a timeout

A list is a Python list; its first element is the tail, from which reclaim takes pages.

Which method stands for which function of corelib/src/reclaim (sws_reclaim__NAME or static):

    Simulation, _fill_cache                reclaim.c    assemble, fill_cache; zones.c make_zones
    _push, _wake_task, _next_event, step   des.h, and sws_reclaim_run
    _wake, _call                           disk.c       wake, call
    _list_*, _frame_*                      lists.c      the same names
    _zone_has, _is_balanced, _all_balanced, _reclaimable_pages, _is_reclaimable, _may_be_dirtier,
    _take_fast, _take_low, _limits         zones.c      the same names, reclaimable
    _leave_swap, _write_to, _map, _swap_is_full, _give_slot, _return_orphan, _start_writeback,
    _end_writeback, _remove_owner, _drop_entry, _drop_file_page, _was_touched
                                           pages.c      the same names
    _submit, _put_write, _service_ns, _disk, _complete, _end_pages, _is_full
                                           disk.c       submit, put, next, serve, complete
    _measure                               disk.c       measure
    _write_run, _has_work, _flusher, _pause_ns
                                           writeback.c  write_run, has_work, flush, pause_ns
    _send, _commit, _await_commit, _end_writes, _wake_waiters, _net, _server, _end_commit, _ask_nfs
                                           nfs.c        the same names, carry and store
    _sleep, _carry_out, _clear_flags       stalls.c     nap, carry_out, clear_flags
    _inactive_is_low, _set_targets, _is_enough, _shrink_zone, _age
                                           scan.c       the same names, adjust, shrink
    _shrink_list, _go_on, _release, _write_page, List
                                           shrink.c     the same names, meet
    _kswapd, _balance, _shrink_up_to       kswapd.c     live, balance, shrink_next
    _allocate, _reclaim_directly           direct.c     allocate, reclaim
    _fault, _read_cluster                  fault.c      fault, read_cluster
    _touch_part, _touch_window, _read_window, _fill_programs, _is_of_file
                                           programs.c   run, touch, read_window, fill
    _client, _serve, _touch, _draws, _drop client.c     live, serve, touch, draw, drop
    _writer, _write_file                   writer.c     live, write_file, fill, sync_file
    digest                                 report.c     sws_reclaim_digest
"""

from collections import Counter
from collections.abc import Generator as Actor
from dataclasses import dataclass, field
from itertools import takewhile
from operator import itemgetter
from typing import Any

import oracle_stall
from oracle_slots import Generator

INACTIVE_ANON, ACTIVE_ANON, INACTIVE_FILE, ACTIVE_FILE = range(4)
FREED, UNSTABLE = "freed", "unstable"
CLIENT, WRITER, FLUSHER, KSWAPD, DISK, NET, SERVER, PROGRAMS, WORKING = range(9)
CALL, CONGESTION, ROOM, READ, SYNC_ROOM = ("call", "congestion", "room", "read", "sync room")
READS, SYNC_WRITES, WRITES = range(3)
SYNC, COMMIT = "sync", "commit"
SECOND = 10**9
Steps = Actor[tuple[Any, ...], None, Any]


@dataclass
class Page:
    """The page in a frame; its place is a list, a reclaimer's hand, or unlisted."""

    index: int = 0
    slot: int = 0
    place: int | str = "hand"
    marks: set[str] = field(default_factory=set)


@dataclass
class Zone:
    """A zone with its lists."""

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

    def __post_init__(self) -> None:
        """Set the marks at which kswapd wakes and sleeps."""
        self.low, self.high = self.min + self.min // 4, self.min + self.min // 2


@dataclass
class Scan:
    """The state of one actor's reclaim."""

    kswapd: bool
    priority: int = 12
    wanted: float = 0
    reclaimed: int = 0
    scanned: int = 0
    sums: oracle_stall.Counts = field(default_factory=oracle_stall.Counts)


class List:
    """A list that is processed by the rules of oracle_stall."""

    def __init__(self, context: oracle_stall.Context, counts: oracle_stall.Counts) -> None:
        """Begin with an empty page."""
        self.reclaim = oracle_stall.Reclaim(context, counts)
        self.page = oracle_stall.Page()
        self.under_writeback = False

    def meet(
        self, marks: set[str], congested: bool, flags: int, answer: tuple[bool, bool] | None
    ) -> str:
        """Return what the rules decide on a page: sleep, keep, case 2, or go on."""
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
        """Return what is decided on a page of case 1 after the sleep, and the zone's flags."""
        self.reclaim.flags = flags
        self.reclaim.sleep_in_case_1()
        goes_on = self.reclaim.context.rules == "mmotm"
        self.under_writeback = goes_on and still
        return "go on" if goes_on else "keep", self.reclaim.flags

    def may_write(self, flags: int) -> bool:
        """Count a dirty page, and return whether it is written."""
        self.reclaim.flags = flags
        self.reclaim.count_late(self.page, under_writeback=self.under_writeback)
        return self.reclaim.may_write(self.page)

    def end(self, flags: int) -> list[tuple[str, Any]]:
        """Return the acts at the end of the list, in their order."""
        self.reclaim.flags = flags
        self.reclaim.end()
        return self.reclaim.events


@dataclass
class Task:
    """An actor: its next event, or the reason why it sleeps."""

    steps: Steps
    scan: Scan
    generator: Generator
    event: tuple[int, int] | None = None
    asleep_for: str | None = None
    dozing: bool = False


class Simulation:
    """A simulation by the fields of ``struct sws_reclaim_config``; rules have their names."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Begin at time 0."""
        self.config = config
        self.costs = config["costs"]
        self.rules = config["rules"]
        self.by_pass = self.rules == "6.1"
        self.now = self.running = self.sequence = 0
        self.counts: Counter[str] = Counter()
        self.rounds: list[dict[str, int]] = []
        self.over = self.out_of_memory = False
        # Memory: pages by frame, the client's page table, slots, and the file.
        self.zones = [
            self._make_zone(number)
            for number in (0, 1)
            if config[("dma32_pages", "normal_pages")[number]]
        ]
        self.pages: dict[int, Page] = {}
        self.entries: dict[int, tuple[str, int]] = {}
        self.young: set[int] = set()
        self.writable: set[int] = set()
        self.owners: dict[int, int | str] = {}
        self.cached: dict[int, int] = {}
        self.file: dict[int, int] = {}
        self.dirty: set[int] = set()
        self.cursor = self.file_pages = 0
        self.dirtied_at = self.flush_cursor = self.flush_asked = 0
        self.writes_file = self.writer_looks = self.adjusted = False
        # The disk, and the server.
        self.queues: list[list[list[int]]] = [[], [], []]
        self.serving: list[int] | None = None
        self.head = self.queue_counted = self.measured_at = self.measured = self.in_memory = 0
        self.congested = self.server_congested = False
        self.bandwidth = config["net_rate" if config["nfs"] else "disk_rate"]
        self.net_calls: list[tuple[int, int, bool]] = []
        self.server_calls: list[tuple[int, int, bool]] = []
        self.unstable: list[int] = []
        self.committing: list[int] = []
        self._fill_cache()
        actors = (
            *(self._client, self._writer, self._flusher, self._kswapd),
            *(self._disk, self._net, self._server),
            *(lambda: self._touch_part("program"), lambda: self._touch_part("working")),
        )
        self.tasks = [
            Task(actor(), Scan(number == KSWAPD), Generator(config["seed"], number))
            for number, actor in enumerate(actors)
        ]
        for task in reversed(self.tasks):
            self._push(task, 0)

    def _make_zone(self, number: int) -> Zone:
        config = self.config
        sizes = (config["dma32_pages"], config["normal_pages"])
        first, pages = sizes[0] * number, sizes[number]
        free = list(range(first + pages - 1, first - 1, -1))
        marks = config["min_free_pages"] * pages // sum(sizes)
        reserve = 0 if number else sizes[1] // config["reserve_ratio"]
        return Zone(first, pages, free, marks, reserve, int((10 * (pages >> 18)) ** 0.5) or 1)

    def _push(self, task: Task, at: int) -> None:
        """Make an event behind all others of the same time."""
        task.event = (at, self.sequence)
        self.sequence += 1

    def _wake_task(self, task: Task) -> None:
        if task.asleep_for is None:
            return
        task.asleep_for = None
        if not (task.dozing and task.event and task.event[0] == self.now):
            self._push(task, self.now)
        task.dozing = False

    def _wake(self, why: str) -> None:
        for task in self.tasks:
            if task.asleep_for == why:
                self._wake_task(task)

    def _call(self, number: int) -> None:
        if self.tasks[number].asleep_for == CALL:
            self._wake_task(self.tasks[number])

    def _next_event(self, me: int) -> float:
        """Return the time of the next event of any other actor."""
        events = [t.event[0] for i, t in enumerate(self.tasks) if i != me and t.event]
        return min(events, default=float("inf"))

    def step(self) -> bool:
        """Take one event; return False if there is none, or the simulation has ended."""
        pending = [(task.event, i) for i, task in enumerate(self.tasks) if task.event]
        if self.over or self.out_of_memory or not pending:
            return False
        (self.now, _), self.running = min(pending)
        task = self.tasks[self.running]
        task.event = task.asleep_for = None
        task.dozing = False
        what, *rest = next(task.steps)
        if what in ("run", "await"):
            self._push(task, self.now + rest[0])
        elif what == "doze":
            self._push(task, self.now + rest[0])
            task.asleep_for, task.dozing = rest[1], True
        else:
            task.asleep_for = rest[0]
        return True

    # Frames, lists and zones.

    def _zone_of(self, frame: int) -> Zone:
        return self.zones[frame >= self.zones[0].pages]

    def _list_of(self, frame: int) -> list[int]:
        return self._zone_of(frame).lists[int(self.pages[frame].place)]

    def _list_add(self, frame: int, place: int) -> None:
        self.pages[frame].place = place
        self._list_of(frame).append(frame)

    def _list_remove(self, frame: int) -> None:
        self._list_of(frame).remove(frame)
        self.pages[frame].place = "hand"

    def _frame_give(self, frame: int) -> None:
        zone = self._zone_of(frame)
        del self.pages[frame]
        zone.free.append(frame)
        zone.pages_scanned, zone.unreclaimable = 0, False

    def _zone_has(self, number: int, mark: float, user_of: int) -> bool:
        """Return whether a zone is above a mark for users of zones up to a number."""
        zone = self.zones[number]
        return len(zone.free) > mark + (zone.reserve if user_of > number else 0)

    def _is_balanced(self, number: int, gap: int, user_of: int) -> bool:
        return self._zone_has(number, self.zones[number].high + gap, user_of)

    def _all_balanced(self) -> bool:
        """Return whether each zone is balanced or unreclaimable."""
        return self._balanced_up_to(len(self.zones))

    def _balanced_up_to(self, zones: int) -> bool:
        return all(
            zone.unreclaimable or self._is_balanced(i, 0, i)
            for i, zone in enumerate(self.zones[:zones])
        )

    def _swap_left(self) -> bool:
        pages = self.config["swap_pages"]
        return bool(pages) and len(self.owners) < pages - 1

    def _reclaimable_pages(self, zone: Zone) -> int:
        """Count the pages of a zone's lists, anonymous ones only if a slot is free."""
        lists = zone.lists if self._swap_left() else zone.lists[2:]
        return sum(map(len, lists))

    def _is_reclaimable(self, zone: Zone) -> bool:
        """Return whether fewer than six times its pages were scanned since one was freed."""
        return zone.pages_scanned < 6 * self._reclaimable_pages(zone)

    def _in_zone(self, number: int, mark: str) -> int:
        """Count a zone's pages with a mark; of dirty ones only file pages."""
        needed = {mark, "file"} if mark == "dirty" else {mark}
        frames = [frame for frame, page in self.pages.items() if needed <= page.marks]
        return sum(self._zone_of(frame) is self.zones[number] for frame in frames)

    def _under_writeback(self) -> int:
        return sum(1 for page in self.pages.values() if "writeback" in page.marks)

    def _may_be_dirtier(self, number: int) -> bool:
        """Return whether a zone has at most its share of dirty pages."""
        zone = self.zones[number]
        pages = max(len(zone.free) - zone.reserve - zone.high, 0) + self._reclaimable_pages(zone)
        now = sum(self._in_zone(number, mark) for mark in ("dirty", "unstable", "writeback"))
        return now <= pages * self.config["dirty_percent"] // 100

    def _take_fast(self, dirties: bool) -> int | None:
        return self._take([zone.low for zone in self.zones], dirties)

    def _take_low(self) -> int | None:
        return self._take([zone.min for zone in self.zones], False)

    def _take(self, marks: list[int], dirties: bool) -> int | None:
        top = len(self.zones) - 1
        for number in range(top, -1, -1):
            fits = not dirties or self._may_be_dirtier(number)
            if fits and self._zone_has(number, marks[number], top):
                return self._frame_take(number)
        return None

    def _frame_take(self, number: int) -> int:
        frame = self.zones[number].free.pop()
        self.pages[frame] = Page()
        return frame

    def _fill_cache(self) -> None:
        """Fill memory with the pages of programs, then with those of earlier files."""
        config = self.config
        first = self.first_program = max(config["file_pages"], default=0)
        for part in ("program", "working"):
            for i in range(config[f"{part}_pages"]):
                frame = self._take_fast(False)
                if frame is None:
                    return
                self._add_program_page(part, first + i, frame)
                self.pages[frame].marks |= {"mapped", "touched"}
                self._list_add(frame, ACTIVE_FILE)
            first += config[f"{part}_pages"]
        pages = config["cached_pages"]
        upper = pages * config["cached_normal_percent"] // 100
        for i in range(pages):
            zone = self.zones[-1 if i < upper else 0]
            frame = None
            if len(self.zones) > 1 and self._zone_has(self.zones.index(zone), zone.low, 1):
                frame = self._frame_take(self.zones.index(zone))
            if frame is None:
                frame = self._take_fast(False)
            if frame is None:
                return
            self.pages[frame].index = first + i
            self.pages[frame].marks.add("file")
            self.file[first + i] = frame
            self._list_add(frame, INACTIVE_FILE)

    def _add_program_page(self, part: str, index: int, frame: int) -> None:
        """Give a frame to a page of a program."""
        first = self._first_of(part)
        percent = self.config["executable_percent"]
        number = index - first
        page = self.pages[frame]
        page.index = index
        page.marks.add("file")
        if (number + 1) * percent // 100 > number * percent // 100:
            page.marks.add("executable")
        if not self.config[f"{part}_interval_ns"]:
            page.marks.add("program")
        self.file[index] = frame

    def _first_of(self, part: str) -> int:
        return self.first_program + (self.config["program_pages"] if part == "working" else 0)

    # Programs.

    def _touch_part(self, part: str) -> Steps:
        """Touch the pages of a part window after window, each once in its interval."""
        pages, interval = self.config[f"{part}_pages"], self.config[f"{part}_interval_ns"]
        first, size = self._first_of(part), self.config["read_around_pages"]
        number = WORKING if part == "working" else PROGRAMS
        if not pages or not interval:
            yield "sleep", CALL
        windows = [
            range(at, min(at + size, first + pages)) for at in range(first, first + pages, size)
        ]
        while True:
            for window in windows:
                yield "run", max(interval // len(windows), SECOND // 1000)
                yield from self._touch_window(number, part, window)

    def _touch_window(self, number: int, part: str, window: range) -> Steps:
        """Touch pages; read those that are missing."""
        ns, major, index = 0, False, window.start
        while index < window.stop:
            frame = self.file.get(index)
            if frame is None:
                frame = yield from self._allocate(number, False)
                self._read_window(part, range(index, window.stop), frame)
                major = True
                yield "run", self.costs["map_ns"]
                continue
            marks = self.pages[frame].marks
            if "reading" in marks:
                yield "sleep", READ
                continue
            if "mapped" not in marks:
                self.counts["minor_faults"] += not major
                ns += self.costs["map_ns"]
            major = False
            marks |= {"mapped", "touched"}
            index += 1
        yield from self._run(ns)

    def _read_window(self, part: str, window: range, frame: int) -> None:
        """Read the missing pages of a window in as few requests as possible."""
        self.counts["major_faults"] += 1
        self.counts["program_faults"] += 1
        run: list[int] = []
        for index in window:
            found = None
            if index == window.start:
                found = frame
            elif index not in self.file:
                found = self._take_low()
            if found is not None:
                self._add_program_page(part, index, found)
                self.pages[found].marks.add("reading")
                self._list_add(found, INACTIVE_FILE)
                self.counts["program_reads"] += 1
                run.append(index)
            if run and (found is None or index == window.stop - 1):
                self._submit(READS, run[0], len(run))
                run = []

    # Who points to pages.

    def _leave_swap(self, frame: int) -> None:
        page = self.pages[frame]
        del self.owners[page.slot]
        del self.cached[page.slot]
        page.slot = 0
        page.marks.discard("dirty")

    def _write_to(self, frame: int) -> None:
        page = self.pages[frame]
        self.writable.add(page.index)
        if page.slot and "writeback" in page.marks:
            page.marks.add("dirty")
        elif page.slot:
            self._leave_swap(frame)

    def _map(self, index: int, frame: int, writes: bool) -> None:
        self.entries[index] = ("frame", frame)
        self.young.add(index)
        self.writable.discard(index)
        self.pages[frame].index = index
        self.pages[frame].marks.add("mapped")
        if writes:
            self._write_to(frame)

    def _swap_is_full(self) -> bool:
        return len(self.owners) * 2 > self.config["swap_pages"]

    def _give_slot(self, frame: int) -> bool:
        if not self._swap_left():
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

    def _return_orphan(self, frame: int) -> None:
        """End the last use of an orphan other than a reclaimer."""
        page = self.pages[frame]
        if page.slot:
            self._leave_swap(frame)
        if page.place == "unlisted":
            self._frame_give(frame)

    def _end_writeback(self, frame: int) -> None:
        page = self.pages[frame]
        rotates = "reclaim" in page.marks and "dirty" not in page.marks
        if rotates and page.place in (INACTIVE_ANON, INACTIVE_FILE):
            self._list_of(frame).remove(frame)
            self._list_of(frame).insert(0, frame)
        page.marks -= {"writeback", "reclaim"}
        if "orphan" in page.marks:
            self._return_orphan(frame)

    def _remove_owner(self, frame: int) -> None:
        """Remove a page's owner: the task exits, or the file is deleted."""
        page = self.pages[frame]
        busy = bool(page.marks & {"writeback", "reading"})
        page.marks.add("orphan")
        page.marks.discard("mapped")
        if page.slot and busy:
            self.owners[page.slot] = "no task"
        elif page.slot:
            self._leave_swap(frame)
        if page.place == "hand":
            return
        self._list_remove(frame)
        if busy:
            page.place = "unlisted"
        else:
            self._frame_give(frame)

    def _drop_entry(self, index: int) -> None:
        kind, number = self.entries.pop(index, (None, 0))
        self.young.discard(index)
        self.writable.discard(index)
        if kind == "frame":
            self._remove_owner(number)
        elif kind == "slot" and number in self.cached:
            self._remove_owner(self.cached[number])
        elif kind == "slot":
            del self.owners[number]

    def _start_writeback(self, frame: int) -> None:
        page = self.pages[frame]
        page.marks.discard("dirty")
        if "file" in page.marks:
            self.dirty.discard(page.index)
        page.marks.add("writeback")

    def _file_writeback(self) -> int:
        return sum({"file", "writeback"} <= page.marks for page in self.pages.values())

    # The disk.

    def _requests_in(self, queue: int) -> int:
        """Count the requests of a queue, with the one in service."""
        return len(self.queues[queue]) + (self.serving is not None and self.serving[3] == queue)

    def _is_full(self, queue: int) -> bool:
        """Return whether a task that wrote has to wait."""
        return self._requests_in(queue) >= self.config["nr_requests"]

    def _count_queue(self) -> None:
        """Integrate the queue's length up to now."""
        length = sum(map(len, self.queues)) + (self.serving is not None)
        self.counts["queue_ns"] += length * (self.now - self.queue_counted)
        self.queue_counted = self.now

    def _submit(self, queue: int, at: int, pages: int) -> bool:
        """Add pages to a queue; return whether they joined a request."""
        self._count_queue()
        requests = self.queues[queue]
        joined = False
        if queue == READS:
            requests.append([at, pages, self.now, READS])
        else:
            joined = self._put_write(queue, at, pages)
        nr = self.config["nr_requests"]
        if self._requests_in(WRITES) >= min(nr - nr // 8 + 1, nr):
            self.congested = True
        self._call(DISK)
        return joined

    def _put_write(self, queue: int, at: int, pages: int) -> bool:
        """Join a request before or behind the pages, or make a new one."""
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

    def _service_ns(self, request: list[int]) -> int:
        """Return the time of a request: a seek, and the transfer."""
        way = abs(request[0] - self.head)
        pages_ns = request[1] * SECOND // self.config["disk_rate"]
        if not way:
            return pages_ns
        span = self.config["disk_pages"] + self.config["swap_pages"]
        near, far = self.config["seek_near_ns"], self.config["seek_far_ns"]
        return pages_ns + near + (far - near) * int(way**0.5) // (int(span**0.5) + 1)

    def _disk(self) -> Steps:
        """Serve requests one by one; the queues take turns."""
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
                until = self.now + (SECOND // 25 if turn == WRITES else SECOND // 10)
            if not self.queues[turn]:
                yield "doze", min(until, patient) - self.now, CALL
                continue
            self._count_queue()
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
            yield "run", self._service_ns(self.serving)
            if turn == READS:
                patient = self.now + SECOND // 125
            self._complete()

    def _complete(self) -> None:
        assert self.serving is not None
        self._count_queue()
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
        self._end_pages(at, pages, reads)
        if reads:
            self._wake(READ)
            return
        if not self._file_writeback():
            self._wake(SYNC)
        if not self._is_full(queue):
            self._wake(ROOM if queue == WRITES else SYNC_ROOM)
        nr = self.config["nr_requests"]
        if queue == WRITES and self._requests_in(WRITES) < max(nr - nr // 8 - nr // 16 - 1, 1):
            self.congested = False
            self._wake(CONGESTION)

    def _end_pages(self, at: int, pages: int, reads: bool) -> None:
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
                    self._return_orphan(frame)
            elif not reads and "writeback" in marks:
                self._end_writeback(frame)
        if of_file and not reads:
            self._measure(of_file)

    def _measure(self, pages: int) -> None:
        """Update the estimate of the disk's bandwidth."""
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

    def _limits(self) -> tuple[int, int]:
        """Return the background limit and the limit of dirty pages."""
        free = sum(len(zone.free) for zone in self.zones)
        reserve = sum(zone.reserve + zone.high for zone in self.zones)
        pages = max(free - reserve, 0) + sum(map(self._reclaimable_pages, self.zones))
        config = self.config
        return (pages * config["background_percent"] // 100, pages * config["dirty_percent"] // 100)

    def _take_run(self, most: int) -> tuple[int, int]:
        """Put the next run of dirty pages under writeback: return its first index, its length."""
        if not self.dirty:
            return 0, 0
        ahead = [index for index in self.dirty if index >= self.flush_cursor]
        first = min(ahead or self.dirty)
        n = 0
        while n < most and first + n in self.dirty:
            self._start_writeback(self.file[first + n])
            n += 1
        self.flush_cursor = first + n
        return first, n

    def _write_run(self, queue: int) -> int:
        """Write the next run of dirty pages."""
        nfs = self.config["nfs"]
        first, n = self._take_run(self.config["write_pages" if nfs else "request_pages"])
        if n and nfs:
            self._send(first, n, False)
        elif n:
            self._submit(queue, first, n)
        return n

    def _n_dirty(self) -> int:
        """Count dirty pages, and pages that only the memory of the server has."""
        return len(self.dirty) + len(self.unstable) + len(self.committing)

    def _has_work(self) -> bool:
        if not self.dirty:
            self.flush_asked = 0
            return False
        if self.now - self.dirtied_at >= self.config["flush_age_ns"]:
            self.dirtied_at = self.now
            self.flush_asked = max(self.flush_asked, len(self.dirty))
        return bool(self.flush_asked) or self._n_dirty() > self._limits()[0]

    def _flusher(self) -> Steps:
        while True:
            in_use = self._n_dirty() + self._file_writeback()
            if len(self.unstable) > in_use // 2:
                self._commit()
            if not self._has_work():
                yield "doze", self.config["flush_interval_ns"], CALL
                continue
            pages = self._write_run(WRITES)
            self.flush_asked -= min(self.flush_asked, pages)
            yield "run", pages * self.costs["submit_ns"]
            if self._is_full(WRITES):
                yield "sleep", ROOM

    def _pause_ns(self, batch: int) -> tuple[int, bool]:
        """Return the pause of the writer, and whether it has to ask again after it."""
        background, limit = self._limits()
        dirty = self._n_dirty() + self._under_writeback()
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
        return min(batch * SECOND // rate if rate else longest, longest), not rate

    # A server.

    def _nfs_congestion(self) -> int:
        """Return the pages under writeback above which the server is congested."""
        pages = self.config["dma32_pages"] + self.config["normal_pages"]
        return 16 * int(pages**0.5)

    def _send(self, first: int, pages: int, stable: bool) -> None:
        self.net_calls.append((first, pages, stable))
        if self._file_writeback() > self._nfs_congestion():
            self.server_congested = True
        self._call(NET)

    def _commit(self) -> None:
        if not self.unstable or self.committing:
            return
        self.committing, self.unstable = self.unstable, []
        self.server_calls.append((0, 0, False))
        self._call(SERVER)

    def _await_commit(self) -> Steps:
        """Wait for the commit under way, then for one of all unstable pages."""
        since = self.now
        self.counts["commit_waits"] += 1
        while self.committing:
            yield "sleep", COMMIT
        self._commit()
        while self.committing:
            yield "sleep", COMMIT
        self.counts["commit_wait_ns"] += self.now - since

    def _end_writes(self, first: int, pages: int, stable: bool) -> None:
        for index in range(first, first + pages):
            frame = self.file[index]
            if not stable:
                self.pages[frame].marks.add("unstable")
                self.unstable.append(index)
            self._end_writeback(frame)
        self._measure(pages)

    def _wake_waiters(self) -> None:
        """Wake tasks that wait for fewer pages under writeback."""
        writeback, most = self._file_writeback(), self._nfs_congestion()
        if not writeback:
            self._wake(SYNC)
        if writeback < most - most // 4:
            self.server_congested = False
            self._wake(CONGESTION)

    def _net(self) -> Steps:
        while True:
            while not self.net_calls:
                yield "sleep", CALL
            first, pages, stable = self.net_calls.pop(0)
            yield "run", pages * SECOND // self.config["net_rate"]
            if stable:
                self.server_calls.append((first, pages, stable))
                self._call(SERVER)
            else:
                self.in_memory += pages
                self._end_writes(first, pages, stable)
                self._wake_waiters()

    def _server(self) -> Steps:
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
                    self._end_writes(*call)
                self._wake_waiters()
                continue
            yield from self._end_commit()

    def _end_commit(self) -> Steps:
        """Release the pages of a commit, the last ones first, then wake the waiters."""
        last = False
        while not last:
            batch = self.committing[-1024:]
            del self.committing[-1024:]
            for index in batch:
                self.pages[self.file[index]].marks.discard("unstable")
            self.counts["committed"] += len(batch)
            last = not self.committing
            if last:
                self.counts["commits"] += 1
                self._wake(SYNC)
                self._wake(COMMIT)
            yield "run", len(batch) * self.costs["drop_ns"]

    def _ask_nfs(self, marks: set[str]) -> tuple[bool, bool] | None:
        """Return whether NFS says that a page is dirty and under writeback; None: not asked."""
        held = marks & {"dirty", "writeback", "unstable"}
        if not self.config["nfs"] or "file" not in marks or not held:
            return None
        if self.committing:
            return "dirty" in marks, True
        return True, "writeback" in marks

    # Reclaim.

    def _sleep(self, zone: Zone, sleep: str, most_us: int) -> Steps:
        """Throttle the running task, unless the throttle is skipped."""
        timeout = oracle_stall.sleep_us(
            sleep,
            hz=1000,
            congested_devices=int(self.congested) + int(self.server_congested),
            flags=zone.flags,
            reclaimable=sum(self._reclaimable_pages(zone) for zone in self.zones),
            write_pending=self._n_dirty() + self._under_writeback(),
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

    def _carry_out(self, zone: Zone, acts: list[tuple[str, Any]]) -> Steps:
        """Carry out the acts at the end of a list, a pass or a round."""
        for act, what in acts:
            if act == "set":
                zone.flags |= what
            elif act == "sleep":
                yield from self._sleep(zone, what, 2**32 - 1)
            elif act == "wake":
                self.flush_asked += self._n_dirty()
                self._call(FLUSHER)

    def _was_touched(self, page: Page) -> bool:
        """Test and clear the accessed bit."""
        if "file" in page.marks:
            touched = bool(page.marks & {"touched", "program"})
            page.marks.discard("touched")
            return touched
        if "mapped" not in page.marks or page.index not in self.young:
            return False
        self.young.discard(page.index)
        return True

    def _inactive_is_low(self, zone: Zone, file: bool) -> bool:
        if file:
            return len(zone.lists[ACTIVE_FILE]) > len(zone.lists[INACTIVE_FILE])
        inactive, active = len(zone.lists[INACTIVE_ANON]), len(zone.lists[ACTIVE_ANON])
        return bool(self.config["swap_pages"]) and inactive * zone.ratio < active

    def _age(self, zone: Zone, file: bool, pages: int) -> int:
        """Deactivate pages of an active list; return the time."""
        place = ACTIVE_FILE if file else ACTIVE_ANON
        taken = zone.lists[place][:pages]
        for frame in taken:
            touched = self._was_touched(self.pages[frame])
            zone.rotated_lately[file] += touched
            self._list_remove(frame)
            stays = touched and "executable" in self.pages[frame].marks
            self._list_add(frame, place if stays else place - 1)
        zone.scanned_lately[file] += len(taken)
        zone.pages_scanned += len(taken)
        zone.count["aged"] += len(taken)
        return len(taken) * self.costs["age_ns"]

    def _set_targets(self, scan: Scan, zone: Zone) -> list[int]:
        anon = len(zone.lists[INACTIVE_ANON]) + len(zone.lists[ACTIVE_ANON])
        file = len(zone.lists[INACTIVE_FILE]) + len(zone.lists[ACTIVE_FILE])
        swappiness = self.config["swappiness"]
        if not self._swap_left():
            parts, whole = (0, 1), 1
        elif not scan.priority and swappiness:
            parts, whole = (1, 1), 1
        elif file + len(zone.free) <= zone.high:
            parts, whole = (1, 0), 1
        elif not self._inactive_is_low(zone, True):
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

    def _is_enough(self, scan: Scan, targets: list[int], left: list[int], reclaimed: int) -> bool:
        """Return whether a zone was scanned enough; since mmotm, even out what is left."""
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

    def _shrink_zone(self, scan: Scan, zone: Zone) -> Steps:
        before = scan.reclaimed
        scan.sums = oracle_stall.Counts()
        targets = self._set_targets(scan, zone)
        left = list(targets)
        adjusted = False
        while True:
            if not left[INACTIVE_ANON] + left[INACTIVE_FILE] + left[ACTIVE_FILE]:
                break
            for place in range(4):
                pages = min(left[place], 32)
                left[place] -= pages
                if not pages:
                    continue
                if place in (INACTIVE_ANON, INACTIVE_FILE):
                    yield from self._shrink_list(scan, zone, place, pages)
                elif self._inactive_is_low(zone, place == ACTIVE_FILE):
                    yield from self._run(self._age(zone, place == ACTIVE_FILE, pages))
            self.adjusted = adjusted
            if self._is_enough(scan, targets, left, scan.reclaimed - before):
                break
            adjusted = self.adjusted
        if self._inactive_is_low(zone, False):
            yield from self._run(self._age(zone, False, 32))
        while not self.by_pass and self._too_much_writeback():
            yield from self._sleep(zone, "congestion_wait", 100000)
        context = oracle_stall.Context(self.rules, scan.priority, scan.kswapd, flags=zone.flags)
        yield from self._carry_out(zone, oracle_stall.decide_pass(context, scan.sums).events)

    def _too_much_writeback(self) -> bool:
        dirty = self._limits()[1]
        pages = self._under_writeback() + len(self.unstable) + len(self.committing)
        return pages > dirty + dirty // 10

    @staticmethod
    def _run(ns: int) -> Steps:
        """Run for a time, if it is not 0."""
        if ns:
            yield "run", ns

    @staticmethod
    def _await(ns: int) -> Steps:
        """Wait for a time without a CPU, if it is not 0."""
        if ns:
            yield "await", ns

    def _shrink_list(self, scan: Scan, zone: Zone, place: int, pages: int) -> Steps:
        file = place == INACTIVE_FILE
        taken = zone.lists[place][:pages]
        who = "kswapd" if scan.kswapd else "direct"
        for frame in taken:
            self._list_remove(frame)
        zone.scanned_lately[file] += len(taken)
        zone.pages_scanned += len(taken)
        zone.count[f"scanned_{who}"] += len(taken)
        if not taken:
            return
        n = len(taken)
        context = oracle_stall.Context(self.rules, scan.priority, scan.kswapd, flags=zone.flags)
        counts = oracle_stall.Counts(taken=n, file_taken=n if file else 0)
        met = List(context, counts)
        ns = len(taken) * self.costs["scan_ns"]
        fates: list[int | str] = []
        before = scan.reclaimed
        for frame in taken:
            page = self.pages[frame]
            kept = INACTIVE_FILE if "file" in page.marks else INACTIVE_ANON
            if page.marks & {"reading", "orphan"}:
                fates.append(kept)
                continue
            scan.scanned += 2 if "mapped" in page.marks or page.slot else 1
            remote = self.config["nfs"] and page.index < self.first_program
            congested = self.server_congested if remote else self.congested
            verdict = met.meet(page.marks, congested, zone.flags, self._ask_nfs(page.marks))
            if verdict == "sleep":
                yield from self._sleep(self.zones[0], "congestion_wait", 100000)
                still = "writeback" in page.marks
                verdict, zone.flags = met.slept(zone.flags, still=still)
            if verdict == "case 2":
                page.marks.add("reclaim")
            if verdict != "go on":
                fates.append(kept + self.by_pass)
                continue
            fate, spent, made = self._go_on(scan, zone, met, frame)
            if fate == UNSTABLE:
                yield from self._await_commit()
                fate, spent = self._release(scan, frame)
            fates.append(fate)
            ns += spent
            if made and self._is_full(WRITES):
                yield "sleep", ROOM
        yield from self._run(ns)
        for frame, fate in zip(taken, fates, strict=True):
            if fate == FREED:
                continue
            page = self.pages[frame]
            if "orphan" not in page.marks:
                self._list_add(frame, fate)  # type: ignore[arg-type]
                zone.rotated_lately[fate // 2] += fate % 2  # type: ignore[operator]
            elif page.marks & {"writeback", "reading"}:
                page.place = "unlisted"
            else:
                self._frame_give(frame)
        zone.count[f"reclaimed_{who}"] += scan.reclaimed - before
        for name, number in vars(counts).items():
            setattr(scan.sums, name, getattr(scan.sums, name) + number)
        yield from self._carry_out(zone, met.end(zone.flags))

    def _go_on(self, scan: Scan, zone: Zone, met: List, frame: int) -> tuple[int | str, int, bool]:
        """Test a page further: return its list, the time, and whether a request was made."""
        page = self.pages[frame]
        file = "file" in page.marks
        kept, active = (INACTIVE_FILE, ACTIVE_FILE) if file else (INACTIVE_ANON, ACTIVE_ANON)
        again = "referenced" in page.marks
        used = file and again
        page.marks.discard("referenced")
        touched = self._was_touched(page)
        if touched and file:
            page.marks.add("referenced")
            if not again and "executable" not in page.marks:
                return kept, 0, False
        if touched or (not file and not page.slot and not self._give_slot(frame)):
            mapped = "mapped" in page.marks and "writeback" not in page.marks
            if page.slot and mapped and self._swap_is_full():
                self._leave_swap(frame)
            return active, 0, False
        if "mapped" in page.marks and not file:
            self.entries[page.index] = ("slot", page.slot)
            self.young.discard(page.index)
            self.writable.discard(page.index)
        page.marks.discard("mapped")
        if "dirty" in page.marks:
            if not met.may_write(zone.flags):
                self.counts["reclaim_immediate"] += 1
                page.marks.add("reclaim")
                return kept + self.by_pass, 0, False
            if used or "writeback" in page.marks:
                return kept, 0, False
            redirties = file and self.config["delays_allocation"] and not self.config["nfs"]
            ns = self.costs["redirty_ns" if redirties else "submit_ns"]
            return kept, ns, self._write_page(frame)
        if "unstable" in page.marks and not scan.kswapd:
            return UNSTABLE, 0, False
        if "unstable" in page.marks:
            self._commit()
        return *self._release(scan, frame), False

    def _release(self, scan: Scan, frame: int) -> tuple[int | str, int]:
        """Free a clean page unless its file system needs it: return its list, and the time."""
        page = self.pages[frame]
        file = "file" in page.marks
        if file and page.marks & {"writeback", "unstable"}:
            return ACTIVE_FILE, 0
        if file:
            del self.file[page.index]
        else:
            del self.cached[page.slot]
        self.counts["freed_under_writeback"] += "writeback" in page.marks
        self._frame_give(frame)
        scan.reclaimed += 1
        return FREED, self.costs["remove_ns"]

    def _write_page(self, frame: int) -> bool:
        """Write a page for reclaim; return whether it made a request."""
        page = self.pages[frame]
        file = "file" in page.marks
        self.counts["reclaim_writes_file" if file else "swapped_out"] += 1
        nfs = self.config["nfs"]
        if file and self.config["delays_allocation"] and not nfs:
            page.marks.discard("reclaim")
            return False
        self._start_writeback(frame)
        page.marks.add("reclaim")
        if file and nfs:
            self._send(page.index, 1, True)
            return False
        at = page.index if file else self.config["disk_pages"] + page.slot
        return not self._submit(WRITES, at, 1)

    def _kswapd(self) -> Steps:
        """Balance the zones when woken; sleep in two steps."""
        scan = self.tasks[KSWAPD].scan
        while True:
            yield "sleep", CALL
            while True:
                self.counts["wakeups"] += 1
                zones = yield from self._balance(scan)
                if not self._balanced_up_to(zones):
                    continue
                until = self.now + SECOND // 10
                yield "doze", SECOND // 10, CALL
                if self.now >= until and self._balanced_up_to(zones):
                    break

    def _is_passed_over(self, scan: Scan, zone: Zone) -> bool:
        """Return whether a zone is not scanned at this priority."""
        return zone.unreclaimable and scan.priority != 12

    def _clear_flags(self, zone: Zone, why: str) -> None:
        zone.flags &= ~oracle_stall.clears(self.rules, why)

    def _balance(self, scan: Scan) -> Steps:
        """Balance the zones; return how many of them the last pass considered."""
        old = self.rules == "3.9"
        considered = 0
        scan.priority, scan.reclaimed = 12, 0
        while True:
            ns = self.costs["look_ns"]
            if not old:
                scan.reclaimed = 0
            end = None
            for number in range(len(self.zones) - 1, -1, -1):
                zone = self.zones[number]
                if self._is_passed_over(scan, zone):
                    continue
                if self._inactive_is_low(zone, False):
                    ns += self._age(zone, False, 32)
                if not self._is_balanced(number, 0, 0):
                    end = number
                    break
                self._clear_flags(zone, "balanced")
            yield "run", ns
            if end is None:
                return considered
            considered = end + 1
            lower = yield from self._shrink_up_to(scan, end)
            if old:
                if self._all_balanced():
                    return considered
                if scan.reclaimed >= 32 or not scan.priority:
                    scan.priority, scan.reclaimed = 12, 0
                else:
                    scan.priority -= 1
                continue
            if lower or not scan.reclaimed:
                scan.priority -= 1
            if not scan.priority or self._all_balanced():
                return considered

    def _shrink_up_to(self, scan: Scan, end: int) -> Steps:
        """Shrink all zones up to one; return whether the priority has to fall."""
        old = self.rules == "3.9"
        lower = True
        for number, zone in enumerate(self.zones[: end + 1]):
            if self._is_passed_over(scan, zone):
                continue
            if self._is_balanced(number, min(zone.low, (zone.pages + 99) // 100), end):
                lower = False
                if old:
                    self._clear_flags(zone, "balanced")
                continue
            scan.scanned = 0
            scan.wanted = float("inf") if old else max(zone.high, 32)
            yield from self._shrink_zone(scan, zone)
            if not self._is_reclaimable(zone):
                zone.unreclaimable = True
            self._clear_flags(zone, "shrunk")
            if not zone.unreclaimable and self._is_balanced(number, 0, end):
                self._clear_flags(zone, "balanced")
            if scan.scanned >= scan.wanted:
                lower = False
        return lower

    def _allocate(self, number: int, dirties: bool) -> Steps:
        """Return a free page, however long that takes; out of memory is the end."""
        frame = self._take_fast(dirties)
        if frame is not None:
            return frame
        if any(not self._zone_has(i, zone.low, 0) for i, zone in enumerate(self.zones)):
            self._call(KSWAPD)
        scan = self.tasks[number].scan
        fruitless = 0
        while True:
            frame = self._take_low()
            if frame is not None:
                return frame
            worth_it = yield from self._reclaim_directly(scan)
            kswapd = self.tasks[KSWAPD]
            writes = self._n_dirty() or self._under_writeback()
            sleeps = kswapd.asleep_for == CALL and not kswapd.dozing
            idle = sleeps or not kswapd.scan.reclaimed
            busy = self.serving is not None or any(self.queues)
            stands_still = idle and not writes and not busy
            fruitless = 0 if scan.reclaimed or not stands_still else fruitless + 1
            worth_it = worth_it and fruitless < 16
            frame = self._take_low()
            if frame is not None:
                return frame
            if not worth_it:
                self.out_of_memory = True
                yield "sleep", CALL
            if not self.by_pass:
                yield from self._sleep(self.zones[-1], "wait_iff_congested", 20000)

    def _reclaim_directly(self, scan: Scan) -> Steps:
        """Reclaim 32 pages; return whether another attempt may help."""
        self.counts["direct_reclaims"] += 1
        scan.priority, scan.wanted, scan.reclaimed = 12, 32, 0
        scanned = 0
        while True:
            scan.scanned = 0
            yield "run", self.costs["look_ns"]
            for zone in reversed(self.zones):
                if not self._is_passed_over(scan, zone):
                    yield from self._shrink_zone(scan, zone)
            scanned += scan.scanned
            if scan.reclaimed >= 32:
                return True
            if scanned > 48 and not self.by_pass:
                self.flush_asked += scanned
                self._call(FLUSHER)
            context = oracle_stall.Context(self.rules, scan.priority)
            naps = oracle_stall.decide_round(context, scan.scanned, scan.reclaimed, 32)
            yield from self._carry_out(self.zones[-1], [("sleep", nap) for nap in naps])
            if not scan.priority:
                hope = (
                    not zone.unreclaimable and self._is_reclaimable(zone) for zone in self.zones
                )
                return bool(scan.reclaimed) or any(hope)
            scan.priority -= 1

    # The tasks.

    def _fault(self, index: int, writes: bool) -> Steps:
        major = False
        while True:
            kind, number = self.entries.get(index, (None, 0))
            if kind is None:
                frame = yield from self._allocate(CLIENT, False)
                self._map(index, frame, True)
                self._list_add(frame, ACTIVE_ANON)
                self.counts["minor_faults"] += 1
                yield "run", self.costs["fault_ns"]
                return
            if kind == "frame":
                self._write_to(number)
                break
            if number not in self.cached:
                frame = yield from self._allocate(CLIENT, False)
                major = True
                self.counts["major_faults"] += 1
                self._read_cluster(number, frame)
                yield "run", self.costs["map_ns"]
                continue
            frame = self.cached[number]
            if "reading" in self.pages[frame].marks:
                yield "sleep", READ
                continue
            self._map(index, frame, writes)
            page = self.pages[frame]
            if page.slot and "writeback" not in page.marks and self._swap_is_full():
                self._leave_swap(frame)
            break
        self.counts["minor_faults"] += not major
        yield "run", self.costs["map_ns"]

    def _read_cluster(self, slot: int, frame: int) -> None:
        size = 1 << self.config["readahead_shift"]
        first = slot // size * size
        run = []
        for at in range(first, first + size):
            found = None
            if at == slot:
                found = frame
            elif at not in self.cached and isinstance(self.owners.get(at), int):
                found = self._take_low()
            if found is not None:
                page = self.pages[found]
                page.index, page.slot = self.owners[at], at  # type: ignore[assignment]
                page.marks.add("reading")
                self.cached[at] = found
                self._list_add(found, INACTIVE_ANON)
                self.counts["swapped_in"] += 1
                run.append(at)
            if run and (found is None or at == first + size - 1):
                self._submit(READS, self.config["disk_pages"] + run[0], len(run))
                run = []

    def _touch(self, index: int, writes: bool) -> bool:
        if self.entries.get(index, (None,))[0] != "frame":
            return False
        if writes and index not in self.writable:
            return False
        self.young.add(index)
        return True

    def _serve(self, items: Any, until: int | None) -> Steps:
        """Do operations; those that begin before another actor's event are one step."""
        size = self.config["item_pages"]
        at, done = self.now, 0
        horizon = self._next_event(CLIENT)
        for item, writes in items:
            page = 0
            while page < size:
                if self._touch(item * size + page, writes):
                    page += 1
                    continue
                yield from self._await(at - self.now)
                yield from self._fault(item * size + page, writes)
                at, horizon, done = self.now, self._next_event(CLIENT), 0
            if until is not None:
                self.counts["ops"] += 1
            at += self.costs["op_ns"]
            done += 1
            if at >= horizon or done == 1024:
                yield from self._await(at - self.now)
                at, horizon, done = self.now, self._next_event(CLIENT), 0
            if until is not None and at >= until:
                break
        yield from self._await(at - self.now)

    def _draws(self) -> Any:
        generator = self.tasks[CLIENT].generator
        while True:
            item = generator.below(self.config["items"])
            yield item, generator.below(100) < self.config["set_percent"]

    def _client(self) -> Steps:
        config = self.config
        for number in range(config["rounds"]):
            begin, scans = Counter(self.counts), self._scans()
            found = {"begin_ns": self.now, "io_ns": 0}
            self.rounds.append(found)
            self.file_pages = config["file_pages"][number] if config["file_pages"] else 0
            self.flush_cursor = 0
            yield from self._await(config["gap_ns"])
            if config["start_used_pages"]:
                self._begin_writing()
            yield from self._serve(((item, True) for item in range(config["items"])), None)
            until = self.now + config["serve_ns"]
            found["serve_ns"] = self.now
            if not config["start_used_pages"]:
                self._begin_writing()
            yield from self._serve(self._draws(), until)
            if self.writer_looks:
                self.writer_looks = self.writes_file = False
                self._call(WRITER)
            while self.writes_file:
                yield "sleep", CALL
            yield from self._drop()
            found["end_ns"] = self.now
            names = ("ops", "swapped_in", "swapped_out", "minor_faults", "major_faults")
            for name in (*names, "program_faults"):
                found[name] = self.counts[name] - begin[name]
            found |= {name: value - scans[name] for name, value in self._scans().items()}
            self.file_pages = 0
        self.over = True
        yield "sleep", CALL

    def _scans(self) -> dict[str, int]:
        """Return the pages that were scanned and reclaimed in all zones."""
        return {
            name: sum(
                zone.count[f"{name}_{who}"] for zone in self.zones for who in ("kswapd", "direct")
            )
            for name in ("scanned", "reclaimed")
        }

    def _begin_writing(self) -> None:
        self.writes_file = self.file_pages > 0
        if self.writes_file:
            self._call(WRITER)

    def _drop(self) -> Steps:
        """Delete the file and exit, 1024 pages at a time."""
        mapped = self.config["items"] * self.config["item_pages"]
        things = [(self._drop_file_page, i) for i in range(self.file_pages)]
        things += [(self._drop_entry, i) for i in range(mapped)]
        for first in range(0, len(things), 1024):
            batch = things[first : first + 1024]
            for drop, index in batch:
                drop(index)
            yield "run", len(batch) * self.costs["drop_ns"]

    def _drop_file_page(self, index: int) -> None:
        frame = self.file.pop(index, None)
        if frame is not None:
            self._remove_owner(frame)

    def _writer(self) -> Steps:
        while True:
            yield "sleep", CALL
            while self.writes_file and self._used_pages() < self.config["start_used_pages"]:
                self.writer_looks = True
                yield "doze", self.config["start_look_ns"], CALL
            if not self.writes_file:
                continue
            self.writer_looks = False
            yield from self._await(self.config["write_delay_ns"])
            since = self.now
            yield from self._write_file()
            self.rounds[-1]["io_ns"] = self.now - since
            self.writes_file = False
            self._call(CLIENT)

    def _used_pages(self) -> int:
        return sum(zone.pages - len(zone.free) for zone in self.zones)

    def _write_file(self) -> Steps:
        """Dirty the file page by page under the throttle, then write what is still dirty."""
        index = 0
        while index < self.file_pages:
            batch = 0
            while batch < 32 and index < self.file_pages:
                done = 0
                while batch + done < 32 and index < self.file_pages:
                    frame = self._take_fast(True)
                    if frame is None and done:
                        break
                    if frame is None:
                        frame = yield from self._allocate(WRITER, True)
                        self._file_add(index, frame)
                        index, done = index + 1, 1
                        break
                    self._file_add(index, frame)
                    index, done = index + 1, done + 1
                batch += done
                yield "run", done * self.costs["copy_ns"]
            again = True
            while again:
                pause, again = self._pause_ns(batch)
                if self._n_dirty() > self._limits()[0]:
                    self._call(FLUSHER)
                self.counts["throttled_ns"] += pause
                yield from self._await(pause)
        while True:
            pages = self._write_run(SYNC_WRITES)
            if pages:
                yield "run", pages * self.costs["submit_ns"]
                if self._is_full(SYNC_WRITES):
                    yield "sleep", SYNC_ROOM
            elif self._file_writeback():
                yield "sleep", SYNC
            elif self.unstable or self.committing:
                self._commit()
                yield "sleep", SYNC
            else:
                return

    def _file_add(self, index: int, frame: int) -> None:
        page = self.pages[frame]
        page.index = index
        page.marks |= {"file", "dirty", "referenced"}
        self.file[index] = frame
        if not self.dirty:
            self.dirtied_at = self.now
        self.dirty.add(index)
        self.counts["dirtied"] += 1
        self._list_add(frame, INACTIVE_FILE)

    # What the library can be compared by.

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
            bits = (*names, "orphan", "unstable", "program", "touched", "executable")
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
