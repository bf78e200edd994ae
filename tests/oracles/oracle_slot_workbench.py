# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, simple model of slot_workbench.h, on the device of oracle_slots.

Pages are a dictionary, the trunks of CPUs are compared pair by pair, and the tested slots of a scan
are a set. It is written from the text of the header and shares no code with the C library.

========================================= ====================================================
here                                      in corelib/src/slots/workbench
========================================= ====================================================
ObservedDevice                            make.c: observe_reclaimed, observe_freed
Workbench.lock, handed                    meter.c: sws_workbench__meter_lock, _meter_page
Workbench.called, round_over              meter.c: sws_workbench__meter_call, _meter_round
Workbench.begin_measures                  make.c: sws_workbench_begin_measures
Workbench.begin_swap_out, finish_swap_out page.c: sws_workbench__begin_swap_out, ...
Workbench.swap_in, free_page              page.c: sws_workbench__swap_in, sws_workbench__let_go
Workbench.swap_in_any, change_cpu         run.c: swap_in_any, change_cpu
Workbench.shuffled                        run.c: shuffle
Workbench.fill, thin, churn               phases.c and run.c: sws_workbench_fill, ..., step
Workbench.replay, row                     rows.c: sws_workbench_replay, sws_workbench__begin_row
========================================= ====================================================
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from oracle_slots import OK, Config, Device, Generator, Kernel, SlotCache

TASKS, ORDER, THIN, CHANGES = 1 << 32, 2 << 32, 3 << 32, 4 << 32
"""Streams of the seed: each task's own, the order in a round, pages to free, changes of CPU."""

ADD, DELETE, FREE = range(3)

Row = tuple[int, int]
"""Owner (-1: swap out) and ordinal."""


class ObservedDevice(Device):
    """A device that reports each acquisition of a trunk's lock to the workbench."""

    def __init__(self, config: Config, bench: "Workbench") -> None:
        super().__init__(config)
        self.bench = bench

    def free_entries(self, offsets: Sequence[int]) -> int:
        """Free slots; 6.1 clears the shadow of each."""
        code = super().free_entries(offsets)
        if self.config.kernel is Kernel.V6_1:
            for offset in offsets:
                self.bench.lock(FREE, offset)
        return code

    def cache(self, offset: int) -> tuple[int, int]:
        """Add a page to the swap cache."""
        self.bench.lock(ADD, offset)
        return super().cache(offset)

    def uncache(self, offset: int) -> tuple[int, int]:
        """Delete a page from the swap cache, if it is there."""
        found = super().uncache(offset)
        if found[0] == OK:
            self.bench.lock(DELETE, offset)
        return found


@dataclass
class Task:
    """One task."""

    cpu: int
    mm: int
    generator: Generator
    in_flight: int = 0
    rows: list[Row] = field(default_factory=list)
    got: list[int] = field(default_factory=list)


@dataclass
class Workbench:
    """A device, its caches, tasks in rounds, and the counts."""

    config: Config
    enabled: bool = True
    tasks_on: Sequence[Row] | None = None
    asynchronous: bool = False
    pages_a_cpu: int = 0
    overlap_calls: int = 64
    lock_window: int = 64
    span_window: int = 1024

    def __post_init__(self) -> None:
        """Start empty."""
        self.cache = SlotCache(self.config, self.enabled)
        self.device = self.cache.device = ObservedDevice(self.config, self)
        cpus, spaces = self.config.online_cpus, self.config.address_spaces
        places = self.tasks_on or [(t, t % spaces if spaces else -1) for t in range(cpus)]
        self.tasks = [
            Task(cpu, mm, Generator(self.config.seed, TASKS + number))
            for number, (cpu, mm) in enumerate(places)
        ]
        self.order = list(range(len(self.tasks)))
        self.order_generator = Generator(self.config.seed, ORDER)
        self.thin_generator = Generator(self.config.seed, THIN)
        self.change_generator = Generator(self.config.seed, CHANGES)
        self.pages: dict[int, int] = {}
        self.cpu = 0
        self.last_slot: dict[int, int] = {}
        self.last_slot_of_mm: dict[int, int] = {}
        self.last_write = 0
        self.last_locked: dict[int, tuple[int, int]] = {}
        self.acquisitions = 0
        self.past_calls: list[tuple[int, set[int]]] = []
        self.together: set[tuple[int, int]] = set()
        self.counts: Counter[str] = Counter()
        self.begin_measures()

    def begin_measures(self) -> None:
        """Reset the counts, but not the places of CPUs, locks and writes."""
        self.counts = Counter(meetings=len(self.together))
        self.tested = [0] * self.config.online_cpus
        self.pages_of = [0] * self.config.online_cpus
        self.window: list[int] = []

    def lock(self, site: int, slot: int) -> None:
        """Take the lock of a slot's trunk; 4.8 has one for all."""
        one = self.config.kernel is Kernel.V4_8
        trunk = 0 if one else slot >> self.config.trunk_shift
        self.acquisitions += 1
        self.counts[f"locks.{site}.acquisitions"] += 1
        if trunk in self.last_locked:
            cpu, when = self.last_locked[trunk]
            if cpu != self.cpu:
                self.counts[f"locks.{site}.moved"] += 1
                if self.acquisitions - when <= self.lock_window:
                    self.counts[f"locks.{site}.close"] += 1
        self.last_locked[trunk] = (self.cpu, self.acquisitions)

    def handed(self, mm: int, slot: int) -> None:
        """Count a page that got a slot."""
        self.counts["pages_out"] += 1
        self.pages_of[self.cpu] += 1
        self.last_slot[self.cpu] = slot
        now = {
            (one, other)
            for one, other in combinations(sorted(self.last_slot), 2)
            if self.last_slot[one] >> self.config.trunk_shift
            == self.last_slot[other] >> self.config.trunk_shift
        }
        self.counts["meetings"] += len(now - self.together)
        self.together = now
        self.counts["pages_met"] += any(self.cpu in pair for pair in now)
        if self.last_slot_of_mm.get(mm) != slot - 1:
            self.counts["runs"] += 1
        self.last_slot_of_mm[mm] = slot
        if slot != self.last_write + 1:
            self.counts["seeks"] += 1
            self.counts["seek_slots"] += abs(slot - (self.last_write + 1))
        self.last_write = slot
        self.window.append(slot)
        if len(self.window) == self.span_window:
            self.counts["spans"] += 1
            self.counts["span_slots"] += max(self.window) - min(self.window) + 1
            self.window = []

    def called(self, tested: int, trail: Sequence[tuple[int, int]]) -> None:
        """Count the slots that a call tested, and those of them that other CPUs just tested."""
        self.tested[self.cpu] += tested
        others: set[int] = set()
        for cpu, slots in self.past_calls[-self.overlap_calls :]:
            if cpu != self.cpu:
                others |= slots
        mine: set[int] = set()
        for first, end in trail:
            slots = set(range(first, end))
            self.counts["on_trails"] += len(slots)
            self.counts["tested_again"] += len(slots & others)
            mine |= slots
        self.past_calls.append((self.cpu, mine))

    def round_over(self) -> None:
        """Count the CPUs in the same trunk at the end of a round."""
        self.counts["rounds"] += 1
        self.counts["rounds_met"] += bool(self.together)
        self.counts["pair_rounds"] += len(self.together)

    def total_tested(self) -> int:
        """Return the slots tested so far."""
        work = self.device.work
        return work.tested_scan + work.tested_quick + work.tested_cluster

    def begin_swap_out(self, task: Task) -> bool:
        """Give a page a slot and add it to the swap cache; False if the device is full."""
        self.cpu = task.cpu
        before = self.total_tested()
        code, slot, call = self.cache.get(task.cpu, task.mm)
        assert code == OK
        if call is not None:
            self.called(self.total_tested() - before, call.trail)
        if not slot:
            self.counts["without_slot"] += 1
            return False
        self.handed(task.mm, slot)
        self.lock(ADD, slot)
        assert self.device.duplicate(slot)[0] == OK
        task.in_flight = slot
        return True

    def finish_swap_out(self, task: Task) -> None:
        """Remove a written page from the swap cache, on its task's CPU."""
        if task.in_flight:
            here, self.cpu = self.cpu, task.cpu
            assert self.device.uncache(task.in_flight)[0] == OK
            self.cpu = here
            self.pages[task.in_flight] = task.mm
            task.in_flight = 0

    def swap_in(self, slot: int, *, may_keep: bool) -> None:
        """Swap in the page of a slot, on the CPU of the step."""
        self.counts["pages_in"] += 1
        if self.asynchronous:
            assert self.device.cache(slot)[0] == OK
        self.free_page(slot)
        if self.asynchronous:
            if may_keep and not self.device.swap_full():
                return
            assert self.device.uncache(slot)[0] == OK
        assert self.cache.put(self.cpu, slot) == OK

    def free_page(self, slot: int) -> None:
        """Drop the last reference of a page table to a slot."""
        del self.pages[slot]
        assert self.device.drop(slot)[0] == OK

    def swap_in_any(self, task: Task) -> None:
        """Swap in one of the pages of the task's address space."""
        mine = sorted(slot for slot, mm in self.pages.items() if mm == task.mm)
        if mine:
            self.swap_in(mine[task.generator.below(len(mine))], may_keep=True)

    def change_cpu(self, task: Task) -> None:
        """Move a task at random to an idle CPU; the last slot of the old CPU counts no more."""
        if not self.pages_a_cpu or self.change_generator.below(self.pages_a_cpu):
            return
        busy = {each.cpu for each in self.tasks}
        idle = [cpu for cpu in range(self.config.online_cpus) if cpu not in busy]
        if not idle:
            return
        left, task.cpu = task.cpu, idle[self.change_generator.below(len(idle))]
        self.counts["changes"] += 1
        if all(each.cpu != left for each in self.tasks):
            self.last_slot.pop(left, None)
            self.together = {pair for pair in self.together if left not in pair}

    def rest(self) -> None:
        """Finish all writes in flight."""
        for task in self.tasks:
            self.finish_swap_out(task)

    def shuffled(self) -> list[Task]:
        """Return the tasks in the order of a new round."""
        for left in range(len(self.order), 1, -1):
            other = self.order_generator.below(left)
            self.order[other], self.order[left - 1] = self.order[left - 1], self.order[other]
        return [self.tasks[number] for number in self.order]

    def fill(self, pages: int, *, clusters_alone: bool) -> None:
        """Swap out until so many pages are out, or the device is full."""
        clusters_alone = clusters_alone and not self.config.rotational

        def enough() -> bool:
            out = len(self.pages) + sum(task.in_flight > 0 for task in self.tasks)
            return out >= pages or (clusters_alone and not self.device.free_list)

        full = False
        while not (full or enough()):
            for task in self.shuffled():
                if full or enough():
                    break
                self.cpu = task.cpu
                if task.in_flight:
                    self.finish_swap_out(task)
                else:
                    full = not self.begin_swap_out(task)
            else:
                self.round_over()
        self.rest()

    def thin(self, pages: int) -> None:
        """Free random pages until so many are left."""
        need, ahead = max(0, len(self.pages) - pages), len(self.pages)
        for slot in sorted(self.pages):
            if not need:
                break
            if self.thin_generator.below(ahead) < need:
                owner = self.pages[slot]
                self.cpu = next(task.cpu for task in self.tasks if task.mm == owner)
                self.free_page(slot)
                assert self.cache.put(self.cpu, slot) == OK
                need -= 1
            ahead -= 1
        self.rest()

    def churn(self, rounds: int) -> None:
        """Swap one page out and one in, in turn."""
        for _ in range(rounds):
            for task in self.shuffled():
                if not task.in_flight:
                    self.change_cpu(task)
                self.cpu = task.cpu
                if task.in_flight:
                    self.finish_swap_out(task)
                    self.swap_in_any(task)
                elif not self.begin_swap_out(task):
                    self.swap_in_any(task)
            self.round_over()
        self.rest()

    def replay(self, rows: Sequence[Sequence[Row]], skipped: int) -> bool:
        """Do the rows of all tasks; return False if they wait for one another."""
        if not skipped:
            self.begin_measures()
        for task, mine in zip(self.tasks, rows, strict=True):
            task.rows, task.got = list(mine), []
        done, advanced = 0, True
        while any(task.rows for task in self.tasks):
            if not advanced:
                return False
            advanced = False
            whole = True
            for task in self.shuffled():
                if not any(task.rows for task in self.tasks):
                    whole = False
                    break
                self.cpu = task.cpu
                if task.in_flight:
                    self.finish_swap_out(task)
                    advanced = True
                elif task.rows and self.row(task):
                    task.rows.pop(0)
                    advanced = True
                    done += 1
                    if done == skipped:
                        self.begin_measures()
            if whole:
                self.round_over()
        self.rest()
        return True

    def row(self, task: Task) -> bool:
        """Do a task's next row; return False if it must wait."""
        owner, ordinal = task.rows[0]
        if owner < 0:
            task.got.append(task.in_flight if self.begin_swap_out(task) else 0)
            return True
        got = self.tasks[owner].got
        if ordinal >= len(got):
            return False
        slot = got[ordinal]
        if slot:
            if slot == self.tasks[owner].in_flight:
                self.finish_swap_out(self.tasks[owner])
            self.swap_in(slot, may_keep=False)
        return True
