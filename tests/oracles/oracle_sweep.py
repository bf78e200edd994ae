# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that sweep over their memory under two lists, as slowly and plainly as possible.

A list is a dict whose keys are in the order of their entry; a page is (thread, number).
"""

from typing import Any

Page = tuple[int, int]


def sweep(config: Any) -> tuple[int, int, int, int, int, bool]:
    """Return elapsed and system time, accesses, faults, pages out, and whether swap was full."""
    shares, factors = config.shares, config.factors()
    active: dict[Page, None] = {}
    inactive: dict[Page, None] = {}
    referenced: set[Page] = set()
    swapped: set[Page] = set()
    clock = [0] * config.threads
    done = [0] * config.threads
    faulting: set[int] = set()
    left = set(range(config.threads))
    system = accesses = faults = out = 0

    def free_a_page() -> bool:
        while True:
            if len(inactive) * config.active_per_inactive < len(active):
                page = next(iter(active))
                del active[page]
                inactive[page] = None
                referenced.discard(page)
                continue
            page = next(iter(inactive))
            if page not in referenced:
                if len(swapped) == config.slots:
                    return False
                del inactive[page]
                swapped.add(page)
                return True
            del inactive[page]
            referenced.remove(page)
            active[page] = None

    while left:
        thread = min(left, key=lambda each: (clock[each], each))
        page = (thread, done[thread] % shares[thread])
        fault = page not in active and page not in inactive
        accesses += 1
        if fault:
            faults += 1
            faulting.add(thread)
            if len(active) + len(inactive) == config.memory:
                if not free_a_page():
                    return clock[thread], system, accesses, faults, out, True
                out += 1
            swapped.discard(page)
            active[page] = None
        else:
            faulting.discard(thread)
        referenced.add(page)
        cost = config.access_ns * factors[thread] // 1_000_000
        if fault:
            extra = config.fault_ns[len(faulting) - 1] * factors[thread] // 1_000_000
            system += extra
            cost += extra
        tasks = len(left) + (config.kswapds if faulting else 0)
        if tasks > config.cpus:
            cost = cost * tasks // config.cpus
        clock[thread] += cost
        done[thread] += 1
        if done[thread] == config.sweeps * shares[thread]:
            left.remove(thread)
            faulting.discard(thread)
            for number in range(shares[thread]):
                for pages in (active, inactive):
                    pages.pop((thread, number), None)
                swapped.discard((thread, number))
                referenced.discard((thread, number))
    return max(clock), system, accesses, faults, out, False
