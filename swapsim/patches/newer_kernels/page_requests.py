# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests for swap slots that name pages in place of slots, so that any allocator can serve them.

Tasks run at one rate: in each round each of them does one step, in a new random order, as on the
slot workbench (``slot_workbench.h``). The order of tasks in a recording is that of an emulator's
time slices and is dropped; each task keeps its own order, and a free waits for its page.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import polars as pl

from swapsim.clusters.events import ClusterRows
from swapsim.errors import InputError, check_number
from swapsim.ffi import CLUSTER_CPUS_MAX

BURST: Final = 64
"""Pages that a task swaps out in one step where a device is only filled: a full slot cache."""

FRESH_PAGES: Final = 2**14
"""Pages with which the count on a fresh device begins, and which are not counted."""

COUNTED_PAGES: Final = 2**15  # pages that are counted, on the fresh device and on the aged one

CHURN_PAGES: Final = 2**17
"""Pages swapped out and in before the count on the aged device: as in patch D's studies."""

FREE_A_CPU: Final = 1024
"""Slots for each CPU that stay free, so that no allocator refuses one: two clusters."""

USED_SHARE: Final = 0.7


class Op(IntEnum):
    """What a task does with a page, or with adjacent ones that are one folio."""

    OUT = 0
    """It gets slots and enters the swap cache."""
    LEAVE = 1
    """It has been written and leaves the swap cache."""
    IN = 2
    """It is swapped in or dropped, and its slots are freed."""
    FILL = 3
    """It stands for BURST single pages, which get slots and leave the swap cache uncounted."""


Row = tuple[Op, int, int, int]  # operation, CPU, first page, number of pages


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequests:
    """What CPUs, each with one task, request of one swap device, its header included in ``slots``.

    ``rows`` are in the order of time; ``counted`` has the rows that count by the device's state.
    """

    rows: list[Row]
    cpus: int
    slots: int
    counted: dict[str, range]


def device_life(
    cpus: int,
    *,
    slots: int,
    seed: int,
    warm_up_pages: int = CHURN_PAGES,
    pages: int = COUNTED_PAGES,
) -> PageRequests:
    """Generate the life of a device: filled, thinned at random, then pages out and in, in turn.

    Counted are ``pages`` on the ``fresh`` device, from free clusters, and on the ``aged`` one at
    the end, after ``warm_up_pages`` out and in.
    """
    check_number("cpus", cpus, 1, CLUSTER_CPUS_MAX)
    check_number("warm_up_pages", warm_up_pages, 0)
    check_number("pages", pages, 1)
    check_number("slots", slots, FRESH_PAGES + pages + FREE_A_CPU * cpus + 1)
    life = _Life(cpus, slots, seed)
    begin = life.fill(FRESH_PAGES)
    fresh = range(begin, life.fill(pages))
    used = round(USED_SHARE * (slots - 1))
    life.fill_uncounted(max(slots - 1 - FREE_A_CPU * cpus, used) - life.made)
    life.thin(used)
    begin = life.churn(warm_up_pages, counted=False)
    aged = range(begin, life.churn(pages, counted=True))
    return PageRequests(
        rows=life.rows, cpus=cpus, slots=slots, counted={"fresh": fresh, "aged": aged}
    )


class _Life:
    """The steps of a device's life, which append their rows and return how many there are then."""

    def __init__(self, cpus: int, slots: int, seed: int) -> None:
        self.rows: list[Row] = []
        self.made = 0
        self.slots = slots
        self._cpus = cpus
        self._random = np.random.default_rng(seed)
        self._own: list[list[int]] = [[] for _ in range(cpus)]
        self._cached = [-1] * cpus
        """The page of each CPU that has not left the swap cache yet."""

    def _turns(self, steps: int) -> Iterator[int]:
        """Yield the CPUs of so many steps, each once a round, in random order."""
        rounds = -(-steps // self._cpus)
        order = np.tile(np.arange(self._cpus), (rounds, 1))
        yield from self._random.permuted(order, axis=1).ravel()[:steps].tolist()

    def _leave(self, cpu: int) -> None:
        if self._cached[cpu] >= 0:
            self.rows.append((Op.LEAVE, cpu, self._cached[cpu], 1))
            self._cached[cpu] = -1

    def _out(self, cpu: int, *, counted: bool = True) -> None:
        self._leave(cpu)
        self.rows.append((Op.OUT, cpu, self.made, 1))
        self._cached[cpu] = self.made if counted else -1
        self._own[cpu].append(self.made)
        self.made += 1

    def _in(self, cpu: int, which: float) -> None:
        """Swap a random page of a CPU in."""
        own = self._own[cpu]
        if own:
            self._leave(cpu)
            at = int(which * len(own))
            own[at], own[-1] = own[-1], own[at]
            self.rows.append((Op.IN, cpu, own.pop(), 1))

    def fill(self, pages: int) -> int:
        for cpu in self._turns(pages):
            self._out(cpu)
        return len(self.rows)

    def fill_uncounted(self, pages: int) -> None:
        """Fill in bursts."""
        for cpu in self._turns(-(-pages // BURST)):
            self._leave(cpu)
            self.rows.append((Op.FILL, cpu, self.made, BURST))
            self._own[cpu] += range(self.made, self.made + BURST)
            self.made += BURST

    def thin(self, used: int) -> None:
        drops = max(self.made - used, 0)
        which = self._random.random(drops).tolist()
        for cpu, each in zip(self._turns(drops), which, strict=True):
            self._in(cpu, each)

    def churn(self, pages: int, *, counted: bool) -> int:
        rounds = -(-pages // self._cpus)
        which = self._random.random((rounds, self._cpus)).tolist()
        order = list(self._turns(2 * rounds * self._cpus))
        for n, each in enumerate(which):
            out, back = (
                order[at : at + self._cpus] for at in (2 * n * self._cpus, (2 * n + 1) * self._cpus)
            )
            for cpu in out:
                self._out(cpu, counted=counted)
            for cpu in back:
                self._in(cpu, each[cpu])
        return len(self.rows)


def trace_requests(rows: ClusterRows, *, seed: int) -> PageRequests:
    """Return the requests of a recording, its tasks at one rate and each on a CPU of its own.

    The seed is that of the order of the tasks within a round. Counted as ``trace`` from the first
    freed slot on, because before it the device only fills.
    """
    if rows.devices.height > 1:
        raise InputError("the recording has several swap devices: choose one of a single device")
    queues = _queues(rows.events)
    done: list[Row] = []
    gone: set[int] = set()
    cached: dict[int, tuple[int, int]] = {}
    random = np.random.default_rng(seed)
    while any(queues):
        for cpu in random.permutation(len(queues)).tolist():
            if not queues[cpu]:
                continue
            op, page, n = queues[cpu][0]
            if op == Op.IN and not gone.issuperset(range(page, page + n)):
                continue
            queues[cpu].popleft()
            if cpu in cached:
                done.append((Op.LEAVE, cpu, *cached.pop(cpu)))
            if op == Op.OUT:
                gone.update(range(page, page + n))
                cached[cpu] = (page, n)
            done.append((op, cpu, page, n))
    first = next((at for at, row in enumerate(done) if row[0] == Op.IN), None)
    if first is None:
        raise InputError("no slot is freed in this recording: choose a longer one")
    return PageRequests(
        rows=done,
        cpus=len(queues),
        slots=rows.devices["slots"][0],
        counted={"trace": range(first, len(done))},
    )


def _queues(events: pl.DataFrame) -> list[deque[tuple[Op, int, int]]]:
    """Return what each task does, tasks in order of their first row: operation, page, pages."""
    queues: dict[int, deque[tuple[Op, int, int]]] = {}
    page_at: dict[int, int] = {}
    made = 0
    chosen = events.filter(pl.col("op").is_in(["grant", "free"]))
    for pid, op, slot, n in chosen.select("pid", "op", "slot", "n").iter_rows():
        queue = queues.setdefault(pid, deque())
        if op == "grant":
            page_at.update(zip(range(slot, slot + n), range(made, made + n), strict=True))
            queue.append((Op.OUT, made, n))
            made += n
            continue
        pages = sorted(page_at.pop(each) for each in range(slot, slot + n))
        begin = 0
        for at in range(1, n + 1):
            if at == n or pages[at] != pages[at - 1] + 1:
                queue.append((Op.IN, pages[begin], at - begin))
                begin = at
    return [*queues.values()]
