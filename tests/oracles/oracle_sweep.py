# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that sweep over their memory under two lists a node, as slowly and plainly as possible.

A list is a dict whose keys are in the order of their entry; a page is (thread, number).
"""

from typing import Any

Page = tuple[int, int]


def sweep(config: Any) -> tuple[int, int, int, int, int, bool]:
    """Return elapsed and system time, accesses, faults, pages out, and whether swap was full."""
    shares, factors = config.shares, config.factors()
    active: list[dict[Page, None]] = [{} for _ in range(config.nodes)]
    inactive: list[dict[Page, None]] = [{} for _ in range(config.nodes)]
    room = [len(range(node, config.memory, config.nodes)) for node in range(config.nodes)]
    referenced: set[Page] = set()
    swapped: set[Page] = set()
    clock = [0] * config.threads
    done = [0] * config.threads
    faulting: set[int] = set()
    left = set(range(config.threads))
    system = accesses = faults = out = 0

    def is_full(node: int) -> bool:
        return len(active[node]) + len(inactive[node]) == room[node]

    def reclaim(node: int) -> int | None:
        """Return the pages that went out, or None after those for which there was a slot."""
        went = 0
        while is_full(node):
            ratio = config.active_per_inactive
            low = len(inactive[node]) * ratio < len(active[node])
            for page in list(active[node] if low else inactive[node])[: config.list_pages]:
                if low:
                    del active[node][page]
                    inactive[node][page] = None
                    referenced.discard(page)
                elif page in referenced:
                    del inactive[node][page]
                    active[node][page] = None
                    referenced.remove(page)
                elif len(swapped) == config.slots:
                    outs.append(went)
                    return None
                else:
                    del inactive[node][page]
                    swapped.add(page)
                    went += 1
        return went

    while left:
        thread = min(left, key=lambda each: (clock[each], each))
        page = (thread, done[thread] % shares[thread])
        fault = not any(page in pages for pages in (*active, *inactive))
        accesses += 1
        if fault:
            faults += 1
            faulting.add(thread)
            home = thread % config.nodes
            order = [*range(home, config.nodes), *range(home)]
            outs: list[int] = []
            if all(is_full(node) for node in order):
                for node in range(config.nodes):
                    went = reclaim(node)
                    if went is None:
                        out += sum(outs)
                        return clock[thread], system, accesses, faults, out, True
                    out += went
            swapped.discard(page)
            active[next(node for node in order if not is_full(node))][page] = None
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
                for pages in (*active, *inactive):
                    pages.pop((thread, number), None)
                swapped.discard((thread, number))
                referenced.discard((thread, number))
    return max(clock), system, accesses, faults, out, False
