# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that sweep over more memory than there is, under the two lists of the kernel's reclaim.

The contention machine gives the price of a page that goes out and comes in; the sweeps give how
many there are, and when. Each thread writes the pages of its share in order, again and again::

    thread 0   | share | 0 1 2 3 4 ... 0 1 2 3 4 ...          faults, or hits a page in memory
    thread 1   | share |   0 1 2 3 ...                        slower: a fault takes it longer

    fault  ->  active list  ->  inactive list  ->  swap       the oldest page leaves
                    ^                 |
                    +--- referenced --+                       since it became inactive

A thread alone finds the page that it needs next just swapped out, however much of its share fits
into memory. One that sweeps faster than the others finds its pages referenced: its share stays in
memory, it hits, sweeps faster still, and ends; then its memory is free for the others. The amount
of work therefore depends on how far the threads' speeds differ.

Modelled: both lists, the second chance, the balance of the lists (``shrink_active_list``,
``page_check_references`` and ``inactive_list_is_low`` of 4.8), the slot that is freed when its page
comes in, because swap is more than half full (``vm_swap_full``), the memory that a thread frees at
its end, a fair share of the CPUs. Left out: nodes, files (each thread of the second usemem reads
the same first part of its file, less than a twentieth of the time), readahead, lists in
batches, the CPU on which a task runs.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from swapsim.errors import InputError, check_number

PARTS: Final = 1_000_000  # a thread's speed of 1, so that times are whole numbers
_FREE, _SWAPPED, _INACTIVE, _ACTIVE = range(4)
_SIDE: Final = 2  # lists are numbered by state - _SIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepConfig:
    """Threads of usemem, their memory, their CPUs, and the time of an access.

    Each thread sweeps ``sweeps`` times over an equal share of the ``pages``, of which ``memory``
    has room for so many; a run that needs more ``slots`` ends there, and says so. ``kswapds`` also
    run on the ``cpus`` while any thread faults. An access takes ``access_ns``; the CPU time of a
    fault, ``fault_ns``, is by how many threads fault at the time. A thread's times lie up to
    ``uneven_percent`` (0 to 90) from the mean: uniform, and constant during a run.
    """

    threads: int
    sweeps: int
    pages: int
    memory: int
    slots: int
    active_per_inactive: int
    cpus: int
    kswapds: int
    uneven_percent: float = 0.0
    access_ns: int
    fault_ns: tuple[int, ...]
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each field."""
        for name, low, high in (
            ("threads", 1, 64),
            ("sweeps", 1, 10_000),
            ("pages", self.threads, 2**24),
            ("memory", 16, 2**24),
            ("slots", 1, 2**24),
            ("active_per_inactive", 1, 1000),
            ("cpus", 1, 1024),
            ("kswapds", 0, 1024),
            ("access_ns", 0, 10**9),
            ("seed", 0, 2**63 - 1),
        ):
            check_number(name, getattr(self, name), low, high)
        if not 0 <= self.uneven_percent <= 90:
            raise InputError(f"uneven_percent={self.uneven_percent!r}: choose 0 to 90")
        if len(self.fault_ns) < self.threads:
            raise InputError(
                f"fault_ns={self.fault_ns!r}: give a time for each of 1 to {self.threads} threads"
            )
        for time in self.fault_ns:
            check_number("fault_ns", time, 1, 10**9)

    @property
    def shares(self) -> list[int]:
        """Return the pages of each thread."""
        share, rest = divmod(self.pages, self.threads)
        return [share + (thread < rest) for thread in range(self.threads)]

    def factors(self) -> list[int]:
        """Return each thread's access time relative to the mean, in PARTS, drawn by the seed."""
        uneven = self.uneven_percent / 100
        drawn = np.random.default_rng(self.seed).uniform(1 - uneven, 1 + uneven, self.threads)
        return [round(PARTS * float(one) * self.threads / float(drawn.sum())) for one in drawn]


class Run(NamedTuple):
    """The times and counts of a run; those until its end if no slot was left (`out_of_swap`)."""

    elapsed_ns: int
    system_ns: int
    accesses: int
    faults: int
    pages_out: int
    out_of_swap: bool


def sweep(config: SweepConfig) -> Run:
    """Run the threads to their end, or until no slot is left."""
    names = ("sweeps", "memory", "slots", "active_per_inactive", "access_ns", "cpus", "kswapds")
    *counts, out_of_swap = _compiled()(
        np.array(config.shares, dtype=np.int64),
        np.array(config.factors(), dtype=np.int64),
        np.array(config.fault_ns, dtype=np.int64),
        np.array([getattr(config, name) for name in names], dtype=np.int64),
    )
    return Run._make([*map(int, counts), bool(out_of_swap)])


@cache
def _compiled() -> Any:
    """Return `_run` as machine code; numba is imported here, because that takes half a second."""
    from numba import njit

    return njit(_run)


def _run(shares: Any, factors: Any, fault_ns: Any, settings: Any) -> Any:
    """Run all threads; return elapsed and system time, accesses, faults, pages out, and a flag.

    numba compiles it, so the lists are arrays: the neighbours of each page, and in the last two
    rows the first and the last page of each list.
    """
    sweeps, memory, slots, ratio, access_ns, cpus, kswapds = settings
    threads, pages = len(shares), shares.sum()
    first = np.zeros(threads, np.int64)
    for thread in range(1, threads):
        first[thread] = first[thread - 1] + shares[thread - 1]
    state, referenced = np.zeros(pages, np.int8), np.zeros(pages, np.bool_)
    after, before = np.empty(pages + 2, np.int64), np.empty(pages + 2, np.int64)
    for side in range(2):  # the heads of the inactive and of the active list
        after[pages + side] = before[pages + side] = pages + side
    count = np.zeros(2, np.int64)
    clock, done = np.zeros(threads, np.int64), np.zeros(threads, np.int64)
    faulting, ended = np.zeros(threads, np.bool_), np.zeros(threads, np.bool_)
    free, used, running = memory, 0, threads
    system, accesses, faults, out = 0, 0, 0, 0
    while running:
        thread = -1
        for each in range(threads):
            if not ended[each] and (thread < 0 or clock[each] < clock[thread]):
                thread = each
        page = first[thread] + done[thread] % shares[thread]
        fault = state[page] < _INACTIVE
        faulting[thread] = fault
        accesses += 1
        if fault:
            faults += 1
            while not free:
                side = 1 if count[0] * ratio < count[1] else 0
                oldest = after[pages + side]
                after[pages + side] = after[oldest]
                before[after[oldest]] = pages + side
                count[side] -= 1
                if side == 0 and not referenced[oldest]:
                    if used == slots:
                        return np.array(
                            [clock[thread], system, accesses, faults, out, 1], dtype=np.int64
                        )
                    state[oldest] = _SWAPPED
                    used, free, out = used + 1, free + 1, out + 1
                else:
                    referenced[oldest] = False
                    side = 1 - side
                    state[oldest] = side + _SIDE
                    last = before[pages + side]
                    after[last], before[oldest] = oldest, last
                    after[oldest], before[pages + side] = pages + side, oldest
                    count[side] += 1
            if state[page] == _SWAPPED:
                used -= 1
            state[page] = _ACTIVE
            last = before[pages + 1]
            after[last], before[page] = page, last
            after[page], before[pages + 1] = pages + 1, page
            count[1] += 1
            free -= 1
        referenced[page] = True
        crowd = faulting.sum()
        cost = access_ns * factors[thread] // PARTS
        if fault:
            extra = fault_ns[crowd - 1] * factors[thread] // PARTS
            system += extra
            cost += extra
        tasks = running + (kswapds if crowd else 0)
        if tasks > cpus:
            cost = cost * tasks // cpus
        clock[thread] += cost
        done[thread] += 1
        if done[thread] == sweeps * shares[thread]:
            ended[thread], faulting[thread] = True, False
            running -= 1
            for page in range(first[thread], first[thread] + shares[thread]):
                if state[page] >= _INACTIVE:
                    after[before[page]], before[after[page]] = after[page], before[page]
                    count[state[page] - _SIDE] -= 1
                    free += 1
                elif state[page] == _SWAPPED:
                    used -= 1
                state[page] = _FREE
    return np.array([clock.max(), system, accesses, faults, out, 0], dtype=np.int64)
