# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, simple model of cluster_what_if.h: the requests of a trace under other rules.

================================ ==============================================================
here                             in corelib/src/clusters/what_if
================================ ==============================================================
WhatIf.feed                      what_if.c: take_row
WhatIf._begin, _end, _grant      what_if.c: begin_request, end_request, grant
WhatIf._free                     what_if.c: free_slots
WhatIf._single, _allocate        serve.c: sws_cluster_what_if__single, allocate
WhatIf._request, _keep, _return  serve.c
================================ ==============================================================
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from oracle_cluster_replay import Row
from oracle_clusters import BATCH, Allocator, Op

CACHE, ACTIVATE, DEACTIVATE, SURPLUS = 64, 320, 128, 16

Run = tuple[int, int, int]
"""(device, slot, slots)"""


@dataclass
class Request:
    """The request of a task, whose runs wait for the grants of the trace."""

    cpu: int
    order: int
    pid: int
    runs: list[Run] = field(default_factory=list)
    granted: int = 0


@dataclass
class Cpu:
    """The caches of a CPU, and the runs that the trace refused."""

    ready: list[Run] = field(default_factory=list)
    returned: list[Run] = field(default_factory=list)
    surplus: list[Run] = field(default_factory=list)


class WhatIf:
    """The requests and frees of a trace, served by an allocator with other rules."""

    def __init__(
        self,
        allocator: Allocator,
        cpus: int,
        trace_has_slot_cache: bool,
        owners: dict[int, int] | None = None,
    ) -> None:
        """Start with empty devices."""
        self.allocator, self.owners = allocator, owners or {}
        self.tasks: dict[tuple[int, int], int] = {}
        """The task of each slot under the rules that took the place of one of the trace."""
        self.ends: dict[int, tuple[int, int]] = {}
        """Where each task's last run ended."""
        self.caches = allocator.rules.slot_cache and not trace_has_slot_cache
        self.active = False
        self.cpus = [Cpu() for _ in range(cpus)]
        self.requests: dict[int, Request] = {}
        self.slots: dict[tuple[int, int], tuple[int, int] | None] = {}
        """The slot under the rules for each slot in use in the trace; None where they had none."""
        self.totals: Counter[str] = Counter()
        self.by_order: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def feed(self, rows: list[Row]) -> None:
        """Replay rows."""
        for row in rows:
            self.totals["rows"] += 1
            if row.point.op == Op.FREE:
                self._free(row)
            elif row.point.op == Op.CALL:
                self._begin(row)
            elif row.point.op == Op.GRANT:
                self._grant(row)
            elif row.point.op == Op.DONE:
                self._end(row.pid)

    def _begin(self, row: Row) -> None:
        """Serve a request at once."""
        self._end(row.pid)
        request = Request(row.cpu, row.point.order, row.pid)
        self._request(request, min(row.point.n, BATCH))
        self.by_order["requests"][request.order] += 1
        self.by_order["granted"][request.order] += bool(request.runs)
        self.requests[row.pid] = request

    def _end(self, pid: int) -> None:
        """Keep the runs that the trace did not grant."""
        request = self.requests.pop(pid, None)
        if request is None:
            return
        self.by_order["granted_in_trace"][request.order] += request.granted > 0
        for run in request.runs:
            self._keep(request.cpu, run)

    def _grant(self, row: Row) -> None:
        """Let the next run, or single slots, take the place of those of the trace."""
        request, point = self.requests[row.pid], row.point
        request.granted += 1
        first = [(point.device, point.slot + i) for i in range(point.n)]
        if request.runs:
            self._take_place(first, request.runs.pop(0), row.pid)
            return
        for theirs in first:
            run = self._single(request)
            self.totals["single_slots" if run else "missing_slots"] += 1
            self.slots[theirs] = None
            if run:
                self._take_place([theirs], run, row.pid)

    def _take_place(self, theirs: list[tuple[int, int]], run: Run, pid: int) -> None:
        """Note which slots take the place of those of the trace, and whose they are."""
        device, slot, n = run
        for i, each in enumerate(theirs):
            self.slots[each] = device, slot + i
            self.tasks[device, slot + i] = pid
        self.totals["runs"] += 1
        self.totals["runs_in_sequence"] += self.ends.get(pid) == (device, slot)
        self.ends[pid] = device, slot + n

    def neighbours(self) -> tuple[int, int]:
        """Return the pairs of neighbouring slots in one cluster, and those of two tasks."""
        pairs = [
            (pid, self.tasks[device, slot + 1])
            for (device, slot), pid in self.tasks.items()
            if (device, slot + 1) in self.tasks and (slot + 1) % self.allocator.size
        ]
        return len(pairs), sum(first != second for first, second in pairs)

    def _free(self, row: Row) -> None:
        """Free what took the place of slots of the trace, in runs of neighbours of one cluster."""
        size, runs = self.allocator.size, list[Run]()
        before: tuple[int, int] | None = None
        for i in range(row.point.n):
            ours = self.slots.pop((row.point.device, row.point.slot + i))
            joins = before and ours and ours == (before[0], before[1] + 1)
            if joins and ours and ours[1] % size:
                runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
            elif ours:
                runs.append((*ours, 1))
            before = ours
        for run in runs:
            for i in range(run[2]):
                del self.tasks[run[0], run[1] + i]
            self._return(row.cpu, run)

    # Where a slot comes from and goes to.

    def _allocate(self, request: Request, order: int, wanted: int) -> list[Run]:
        """Run one call, after the waiting clusters are discarded."""
        for device in self.allocator.devices:
            self.allocator.discard(device.number)
        owner = self.owners.get(request.pid, 0)
        runs = self.allocator.allocate(request.cpu, order, wanted, owner)
        return [(device, slot, 1 << order) for device, slot in runs]

    def _surplus(self, cpu: int) -> Run | None:
        """Take a slot of a run that the trace refused."""
        runs = self.cpus[cpu].surplus
        if not runs:
            return None
        device, slot, n = runs.pop()
        if n > 1:
            runs.append((device, slot + 1, n - 1))
        return device, slot, 1

    def _switch(self) -> None:
        """Start or stop the caches by the number of free slots."""
        if not self.active:
            self.active = self.allocator.available > len(self.cpus) * ACTIVATE
        elif self.allocator.available < len(self.cpus) * DEACTIVATE:
            self.active = False
            for cpu in self.cpus:
                for run in [*reversed(cpu.ready), *cpu.returned]:
                    self.allocator.free_slots(*run)
                cpu.ready, cpu.returned = [], []

    def _single(self, request: Request) -> Run | None:
        """Obtain a single slot."""
        cpu = request.cpu
        run = self._surplus(cpu)
        if run is not None:
            return run
        if self.caches:
            self._switch()
            ready = self.cpus[cpu].ready
            if self.active and not ready:
                ready += self._allocate(request, 0, CACHE)
            if ready:
                return ready.pop(0)
        return next(iter(self._allocate(request, 0, 1)), None)

    def _request(self, request: Request, wanted: int) -> None:
        """Obtain the runs of a request."""
        batch = self.allocator.rules.slot_cache and not self.caches
        runs = request.runs
        if request.order:
            runs += self._allocate(request, request.order, wanted)
            return
        while len(runs) < wanted and (run := self._surplus(request.cpu)):
            runs.append(run)
        if batch and len(runs) < wanted:
            runs += self._allocate(request, 0, wanted - len(runs))
        while not batch and len(runs) < wanted and (run := self._single(request)):
            runs.append(run)

    def _keep(self, cpu: int, run: Run) -> None:
        """Keep a run that the trace refused for the next single slots."""
        if run[2] == 1 or len(self.cpus[cpu].surplus) == SURPLUS:
            self.allocator.free_slots(*run)
            return
        self.totals["surplus"] += 1
        self.cpus[cpu].surplus.append(run)

    def _return(self, cpu: int, run: Run) -> None:
        """Free slots; a single one through the cache of returns."""
        self.totals["freed"] += run[2]
        if not self.caches or not self.active or run[2] > 1:
            self.allocator.free_slots(*run)
            return
        returned = self.cpus[cpu].returned
        if len(returned) == CACHE:
            for old in returned:
                self.allocator.free_slots(*old)
            returned.clear()
        returned.append(run)
