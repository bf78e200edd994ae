# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that writes SLOT_EVENTS: tasks on CPUs that use the device of oracle_slots.

Each call is a generator that pauses where another CPU may run (in the scan before each test, and
while the lock is dropped) or where the task itself yields its CPU. A random scheduler runs them, so
the map changes during a scan, as in a kernel. On one CPU only the second kind of pause counts.

It stands for no C function: it is the kernel whose rows corelib/src/slots/replay has to explain.

============================= ================================================================
here                          in the kernel (mm/swapfile.c, mm/swap_slots.c of 6.1)
============================= ================================================================
Machine._call                 get_swap_pages
Machine._scan_swap_map_slots  scan_swap_map_slots
Machine._scan, _test, _spend  its loops without si->lock: swap_offset_available_and_locked, ...
Machine._reclaim              __try_to_reclaim_swap
Machine._put, _flush          free_swap_slot, swapcache_free_entries
Machine._use_slots            swap_duplicate, delete_from_swap_cache
============================= ================================================================
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Any

import polars as pl
from oracle_slots import BATCH, CACHED, IDLE, RATION, Call, Config, Device, Kernel, Step

from swapsim.slots.events import SLOT_EVENTS


class Pause(Enum):
    """What may run at a pause: other CPUs, or other tasks of this CPU too."""

    OTHER_CPUS = 0
    ANY_TASK = 1


@dataclass
class Task:
    """A task, its CPU, and the rest of its current work."""

    pid: int
    cpu: int
    steps: Iterator[Pause] | None = None


@dataclass
class Machine:
    """Tasks that use one device; they write rows while they hold the lock.

    ``cached`` is the share of pages that only the swap cache holds: above half full, scans stop at
    them. If it is 0, scans are long.
    """

    config: Config
    random: Random
    n_tasks: int
    return_cache: int = 4
    cached: float = 0.7
    migrates: bool = True
    bursts: tuple[int, ...] = (1, 1, 2, 5, 40, 400)
    rows: list[dict[str, Any]] = field(default_factory=list)
    seq: int = 0

    def __post_init__(self) -> None:
        """Make the device and the tasks."""
        self.device = Device(self.config)
        cpus = self.config.possible_cpus
        self.tasks = [Task(100 + i, i % cpus) for i in range(self.n_tasks)]
        self.running: list[Task | None] = [None] * cpus
        self.in_use: list[int] = []
        self.returned: list[list[int]] = [[] for _ in range(cpus)]

    def frame(self) -> pl.DataFrame:
        """Return the rows."""
        return pl.DataFrame(self.rows, schema=SLOT_EVENTS)

    def write(self, task: Task, op: str, **values: int) -> None:
        """Write a row; seq has gaps, because other events have numbers too."""
        self.seq += self.random.choice((1, 1, 3))
        row = dict.fromkeys(SLOT_EVENTS.names())
        self.rows.append(
            row
            | {"seq": self.seq, "cpu": task.cpu, "pid": task.pid, "mm": task.pid * 4096, "op": op}
            | values
        )

    def run(self, steps: int, appetite: float) -> None:
        """Run the tasks; appetite is the share of the device that they tend to fill."""
        for _ in range(steps):
            ready = self._ready()
            task = self.random.choice(ready)
            if task.steps is None:
                if self.migrates and self.random.random() < 0.2:
                    task.cpu = self.random.randrange(self.config.possible_cpus)
                task.steps = self._next_work(task, appetite)
            for _ in range(self.random.choice(self.bursts)):
                pause = next(task.steps, None)
                self.running[task.cpu] = task
                if pause is None:
                    task.steps = None
                    self.running[task.cpu] = None
                    break
                if pause is Pause.ANY_TASK:
                    self.running[task.cpu] = None
                    if self.migrates and self.random.random() < 0.1:
                        task.cpu = self.random.randrange(self.config.possible_cpus)
                    break

    def _ready(self) -> list[Task]:
        """Return the tasks that run, and those whose CPU is idle."""
        return [task for task in self.tasks if self.running[task.cpu] in (None, task)]

    def _next_work(self, task: Task, appetite: float) -> Iterator[Pause]:
        device = self.device
        if self.random.random() < 0.5:
            self._use_slots()
        full = device.in_use / device.pages
        if self.random.random() < (0.85 if full < appetite else 0.15):
            return self._call(task, self.random.choice((1, 2, 7, BATCH, BATCH)))
        return self._give_back(task)

    def _use_slots(self) -> None:
        """Map pages, read them back, and remove them from the swap cache."""
        device = self.device
        touched = min(len(self.in_use), 12) if self.cached else len(self.in_use)
        for offset in self.random.sample(self.in_use, touched):
            usage = device.map[offset]
            if usage == CACHED | IDLE:
                device.duplicate(offset)
                if self.random.random() < self.cached:
                    device.drop(offset)
                    device.map[offset] = CACHED
            elif usage == CACHED:
                device.duplicate(offset)
            elif usage & CACHED:
                device.uncache(offset)

    # ---- freeing

    def _flush(self, task: Task, offsets: list[int]) -> None:
        for offset in offsets:
            self.device.free_entries([offset])
            self.write(task, "free", offset=offset, n=1)

    def _put(self, task: Task, offset: int) -> None:
        """Return a slot; a full return cache is flushed first."""
        mine = self.returned[task.cpu]
        if len(mine) >= self.return_cache:
            self._flush(task, mine)
            mine.clear()
        self.device.map[offset] = CACHED | IDLE
        if self.return_cache:
            mine.append(offset)
        else:
            self._flush(task, [offset])

    def _give_back(self, task: Task) -> Iterator[Pause]:
        count = min(len(self.in_use), self.random.choice((1, 4, 16, 64)))
        if self.random.random() < 0.5 and count:
            first = self.random.randrange(len(self.in_use) - count + 1)
            chosen = sorted(self.in_use)[first : first + count]
        else:
            chosen = self.random.sample(self.in_use, count)
        for offset in chosen:
            if offset in self.in_use:
                self.in_use.remove(offset)
                self._put(task, offset)
            yield Pause.OTHER_CPUS

    def _reclaim(self, task: Task, offset: int) -> bool:
        """Free the page of a slot that only the cache holds, if it is there and not busy."""
        if offset not in self.in_use or self.device.map[offset] != CACHED:
            return False
        if self.random.random() < 0.2:
            return False
        self.in_use.remove(offset)
        self._put(task, offset)
        return True

    # ---- one call of get_swap_pages

    def _call(self, task: Task, wanted: int) -> Iterator[Pause]:
        device = self.device
        _, call = device.begin(-1, wanted)
        if not call.wanted:
            return
        yield Pause.OTHER_CPUS
        if not device.highest:
            device.credit += call.wanted
            return
        yield from self._scan_swap_map_slots(task, call)
        yield Pause.OTHER_CPUS
        device.credit += call.wanted - len(call.slots)

    def _scan_swap_map_slots(self, task: Task, call: Call) -> Iterator[Pause]:
        device = self.device
        call.cpu = task.cpu
        call.offset = call.scan_base = device.bases[device.owner(task.cpu, -1)]
        self.write(
            task,
            "call",
            n=call.wanted,
            base=call.scan_base,
            lowest=device.lowest,
            highest=device.highest,
        )
        step = Step.CHECKS if device._try_cluster(call) else Step.SCAN
        while True:
            if step is Step.CHECKS:
                step = device._check(call)
            if step is Step.TAKEN:
                self.in_use.append(call.slots[-1])
                self.write(task, "alloc", offset=call.slots[-1])
                step = device._further(call)
            elif step is Step.RECLAIM:
                yield Pause.OTHER_CPUS
                freed = self._reclaim(task, call.offset)
                yield Pause.OTHER_CPUS
                self.write(task, "reuse", offset=call.offset, n=int(freed))
                step = Step.CHECKS if freed else Step.SCAN
            elif step is Step.SCAN:
                step = yield from self._scan(call)
                call.cpu = task.cpu
            if step is Step.NO_PAGE:
                self.write(task, "fail")
                return
            if step is Step.DONE:
                device._store(call)
                base = device.bases[device.owner(task.cpu, -1)]
                self.write(task, "done", n=len(call.slots), next=base)
                return

    def _scan(self, call: Call) -> Iterator[Pause]:
        """Scan without the lock; each step reads the current limits."""
        device = self.device
        yield Pause.OTHER_CPUS
        call.offset += 1
        while call.offset <= device.highest:
            if (yield from self._test(call)):
                return Step.CHECKS
            call.offset += 1
            yield Pause.OTHER_CPUS
        call.offset = device.lowest
        while call.offset < call.scan_base:
            if (yield from self._test(call)):
                return Step.CHECKS
            call.offset += 1
        yield Pause.OTHER_CPUS
        return Step.NO_PAGE

    def _test(self, call: Call) -> Iterator[Pause]:
        """Test one slot."""
        device = self.device
        if device.kernel >= Kernel.V6_1:
            yield from self._spend(call)
        yield Pause.OTHER_CPUS
        usage = device.map[call.offset]
        if usage == 0 or (device.swap_full() and usage & ~IDLE == CACHED):
            yield Pause.OTHER_CPUS
            return True
        if device.kernel < Kernel.V6_1:
            yield from self._spend(call)
        return False

    def _spend(self, call: Call) -> Iterator[Pause]:
        call.ration -= 1
        if call.ration < 0:
            call.ration = RATION
            call.scanned_many = True
            yield Pause.ANY_TASK
