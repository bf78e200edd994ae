# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, simple model of cluster_folios.h: memory of processes, in folios.

================================ ==============================================================
here                             in corelib/src/clusters/folios
================================ ==============================================================
Memory.access, out, drop         steps.c: access_pages, out_pages, drop_pages
Memory._single, _give_back       slots.c: sws_cluster_folios__single, sws_cluster_folios__return
================================ ==============================================================
"""

from collections import Counter

from oracle_clusters import Allocator

CACHE, ACTIVATE, DEACTIVATE = 64, 320, 128


class Memory:
    """A page is absent, ("in", folio) with the pages of its folio, or ("out", slot)."""

    def __init__(
        self, allocator: Allocator, cpus: int, pages: int, swap_in_orders: int, return_cache: bool
    ) -> None:
        """Start with empty memory and an empty device."""
        self.allocator, self.pages, self.swap_in_orders = allocator, pages, swap_in_orders
        self.caches = allocator.rules.slot_cache
        self.return_caches = self.caches and return_cache
        self.active = False
        self.ready: list[list[int]] = [[] for _ in range(cpus)]
        self.returned: list[list[int]] = [[] for _ in range(cpus)]
        self.folios: dict[tuple[int, int], range] = {}
        self.slots: dict[tuple[int, int], int] = {}
        self.counts: Counter[tuple[str, int]] = Counter()
        self.stayed = 0

    def access(self, process: int, cpu: int, order: int, wanted: range) -> None:
        """Write each page."""
        for page in wanted:
            at = process, page
            if at in self.folios:
                continue
            if at in self.slots:
                self._swap_in(process, cpu, order, page)
                continue
            window = self._window(page, order)
            empty = all(
                each in wanted
                and (process, each) not in self.folios
                and (process, each) not in self.slots
                for each in window
            )
            self._map("mapped", process, window if empty else range(page, page + 1))

    def out(self, process: int, cpu: int, wanted: range) -> None:
        """Swap the resident pages out."""
        tried: set[int] = set()
        for page in wanted:
            if (process, page) not in self.folios or page in tried:
                continue
            folio = self.folios[process, page]
            if not set(folio) <= set(wanted):
                self._split(process, folio)
                folio = range(page, page + 1)
            tried.update(folio)
            order = len(folio).bit_length() - 1
            if order:
                found = self.allocator.allocate(cpu, order)
                if found:
                    self._take(process, folio, found[0][1], order)
                    continue
                self.counts["fallbacks", order] += 1
                self._split(process, folio)
            for each in folio:
                slot = self._single(cpu)
                if slot is None:
                    self.stayed += 1
                else:
                    self._take(process, range(each, each + 1), slot, 0)

    def drop(self, process: int, cpu: int, wanted: range) -> None:
        """Give the pages back."""
        runs: list[list[int]] = []
        for page in wanted:
            at = process, page
            if at in self.folios:
                if not set(self.folios[at]) <= set(wanted):
                    self._split(process, self.folios[at])
                del self.folios[at]
            if at not in self.slots:
                runs.append([])
                continue
            slot = self.slots.pop(at)
            size = self.allocator.size
            if runs and runs[-1] and slot == runs[-1][-1] + 1 and slot % size:
                runs[-1].append(slot)
            else:
                runs.append([slot])
        for run in filter(None, runs):
            if len(run) > 1:
                self.allocator.free_slots(0, run[0], len(run))
            else:
                self._give_back(cpu, run[0])

    def _window(self, page: int, order: int) -> range:
        first = page >> order << order
        return range(first, first + (1 << order))

    def _map(self, what: str, process: int, folio: range) -> None:
        self.counts[what, len(folio).bit_length() - 1] += 1
        self.folios.update({(process, page): folio for page in folio})

    def _split(self, process: int, folio: range) -> None:
        for page in folio:
            if (process, page) in self.folios:
                self.folios[process, page] = range(page, page + 1)

    def _take(self, process: int, folio: range, slot: int, order: int) -> None:
        self.counts["swapped_out", order] += 1
        for number, page in enumerate(folio):
            del self.folios[process, page]
            self.slots[process, page] = slot + number

    def _swap_in(self, process: int, cpu: int, order: int, page: int) -> None:
        """Bring the largest window whose slots follow each other, aligned like its pages."""
        for size in range(order, -1, -1):
            window = self._window(page, size)
            first = self.slots.get((process, window[0]), 0)
            slots = [self.slots.get((process, each)) for each in window]
            if size and not self.swap_in_orders >> size & 1:
                continue
            if not first or (first % len(window) and size) or window[-1] >= self.pages:
                continue
            if slots == [*range(first, first + len(window))]:
                break
        for each in window:
            del self.slots[process, each]
        if self.return_caches:
            for slot in range(first, first + len(window)):
                self._give_back(cpu, slot)
        else:
            self.allocator.free_slots(0, first, len(window))
        self._map("swapped_in", process, window)

    def _single(self, cpu: int) -> int | None:
        if self.caches:
            self._switch()
            if self.active and not self.ready[cpu]:
                found = self.allocator.allocate(cpu, 0, CACHE)
                self.ready[cpu] = [slot for _, slot in found]
            if self.ready[cpu]:
                return self.ready[cpu].pop(0)
        found = self.allocator.allocate(cpu, 0)
        return found[0][1] if found else None

    def _give_back(self, cpu: int, slot: int) -> None:
        if not self.return_caches or not self.active:
            self.allocator.free_slots(0, slot, 1)
            return
        if len(self.returned[cpu]) == CACHE:
            self._flush(self.returned[cpu])
        self.returned[cpu].append(slot)

    def _switch(self) -> None:
        """Start or stop the caches by the free slots per CPU."""
        free = self.allocator.available
        if not self.active:
            self.active = free > len(self.ready) * ACTIVATE
        elif free < len(self.ready) * DEACTIVATE:
            self.active = False
            for cpu in range(len(self.ready)):
                # The slots that would have been handed out last are freed first.
                self.ready[cpu].reverse()
                self._flush(self.ready[cpu])
                self._flush(self.returned[cpu])

    def _flush(self, slots: list[int]) -> None:
        for slot in slots:
            self.allocator.free_slots(0, slot, 1)
        slots.clear()
