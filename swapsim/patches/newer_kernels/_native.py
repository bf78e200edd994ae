# SPDX-License-Identifier: GPL-2.0-or-later
"""Allocators of the C library that serve requests for pages: which CPU uses which slot's lock.

``slot_cache.h`` serves 5.8. The caches of 6.12 in `ClusterAllocator` are those of ``clusters.h``'s
callers.
"""

from collections.abc import Sequence
from typing import Final

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.clusters._native import settings
from swapsim.ffi import CLUSTER_RULES, CLUSTER_SIZE_MAX, check, new
from swapsim.patches.newer_kernels.page_requests import BURST, Op, PageRequests, Row
from swapsim.slots import _native as native_slots
from swapsim.slots.config import Device

Access = tuple[int, Op, int]  # the CPU that takes the lock of a slot, why, and the slot
_SLOT_KERNEL: Final = "5.8"  # that of patch D; from 5.9 on a free takes the swap cache's lock, too
SLOT_CACHE: Final = int(lib.SWS_SLOT_CACHE_SIZE)


class SlotAllocator:
    """The allocator up to 6.11 with its slot caches (``slot_cache.h``), under a policy's base."""

    splits, locks_on_free = True, False

    def __init__(self, policy: str, *, cpus: int, slots: int, seed: int) -> None:
        device = Device(
            kernel=_SLOT_KERNEL,
            policy=policy,
            slots=slots,
            seed=seed,
            cluster_size=CLUSTER_SIZE_MAX,
            possible_cpus=cpus,
            address_spaces=cpus,
        )
        made = native_slots.settings(device)
        config = core.config(lib.sws_slot_cache_config_init, None, device=made[0])
        self._caches = new(lib.sws_slot_cache_new, config, free=lib.sws_slot_cache_free)
        self._device = lib.sws_slot_cache_device(self._caches)
        work = ffi.new("struct sws_slot_cache_work *")
        self._slot = ffi.new("uint32_t *")
        self._work = (ffi.new("struct sws_slots_call *"), work)
        self._device_work = (ffi.new("uint8_t *"), ffi.addressof(work, "device"))
        self._returned: list[list[int]] = [[] for _ in range(cpus)]

    def get(self, cpu: int, n: int) -> Sequence[int]:
        """Return slots for n pages, one by one."""
        slots = []
        for _ in range(n):
            error = lib.sws_slot_cache_get(self._caches, cpu, cpu, self._slot, *self._work)
            slot = self._slot[0]
            if not slot:
                break
            # The page table's reference; the page itself counts as cached until it is returned.
            error = error or lib.sws_slots_duplicate(self._device, slot, *self._device_work)
            if error:
                check(error)
            slots.append(slot)
        return slots

    def fill(self, cpu: int) -> Sequence[int]:
        """Return slots for BURST single pages."""
        return self.get(cpu, BURST)

    def put(self, cpu: int, slot: int, n: int) -> Sequence[int]:
        """Return slots to the CPU's cache of returns, which frees 64 at once."""
        waiting = self._returned[cpu]
        for each in range(slot, slot + n):
            error = (
                lib.sws_slots_uncache(self._device, each, *self._device_work)
                or lib.sws_slots_drop(self._device, each, *self._device_work)
                or lib.sws_slot_cache_put(self._caches, cpu, each, self._work[1])
            )
            if error:
                check(error)
            waiting.append(each)
        gone = len(waiting) - lib.sws_slot_cache_returned(self._caches, cpu)
        freed = waiting[:gone]
        del waiting[:gone]
        return freed


class ClusterAllocator:
    """An allocator of ``clusters.h``; rules with slot caches have them here, as on 6.12."""

    splits, locks_on_free = False, True

    def __init__(self, rules: str, *, cpus: int, slots: int) -> None:
        config = settings(rules, [{"slots": slots}], cpus=cpus)
        self._clusters = new(lib.sws_clusters_new, config, free=lib.sws_clusters_free)
        self._caches, self._active = bool(config.rules.slot_cache), False
        self._cpus = cpus
        self._devices = ffi.new("uint8_t[]", SLOT_CACHE)
        self._slots = ffi.new("uint32_t[]", SLOT_CACHE)
        self._granted = ffi.new("uint32_t *")
        self._ready: list[list[int]] = [[] for _ in range(cpus)]
        self._returned: list[list[int]] = [[] for _ in range(cpus)]

    def _allocate(self, cpu: int, order: int, wanted: int) -> list[int]:
        """Return the first slots of the runs that a call grants."""
        out = (self._devices, self._slots, self._granted)
        error = lib.sws_clusters_allocate(self._clusters, cpu, 0, order, wanted, *out)
        if error:
            check(error)
        return ffi.unpack(self._slots, self._granted[0])  # type: ignore[no-any-return]

    def get(self, cpu: int, n: int) -> Sequence[int]:
        """Return a run of n slots, or single ones if the folio has to be split."""
        run = self._allocate(cpu, n.bit_length() - 1, 1) if n > 1 else []
        if run:
            return range(run[0], run[0] + n)
        return [slot for _ in range(n) for slot in self._single(cpu)]

    def fill(self, cpu: int) -> Sequence[int]:
        """Return slots for BURST single pages."""
        if self._caches:
            return self._allocate(cpu, 0, BURST)
        return [slot for _ in range(BURST) for slot in self._allocate(cpu, 0, 1)]

    def _single(self, cpu: int) -> Sequence[int]:
        if self._caches:
            self._switch_caches()
            ready = self._ready[cpu]
            if self._active and not ready:
                ready += reversed(self._allocate(cpu, 0, SLOT_CACHE))
            if ready:
                return (ready.pop(),)
        return self._allocate(cpu, 0, 1)

    def _switch_caches(self) -> None:
        """Start or stop the caches by the number of free slots; stopped ones are drained."""
        available = lib.sws_clusters_available(self._clusters)
        if not self._active:
            self._active = available > self._cpus * lib.SWS_SLOT_CACHE_ACTIVATE
        elif available < self._cpus * lib.SWS_SLOT_CACHE_DEACTIVATE:
            self._active = False
            for waiting in (*self._ready, *self._returned):
                self._free(waiting)
                waiting.clear()

    def _free(self, slots: Sequence[int], n: int = 1) -> None:
        for slot in slots:
            error = lib.sws_clusters_free_slots(self._clusters, 0, slot, n)
            if error:
                check(error)

    def put(self, cpu: int, slot: int, n: int) -> Sequence[int]:
        """Free slots; single ones through the CPU's cache of returns, where there is one."""
        if n > 1 or not self._active:
            self._free((slot,), n)
            return (slot,)
        waiting = self._returned[cpu]
        freed: list[int] = []
        if len(waiting) == SLOT_CACHE:
            freed = waiting.copy()
            self._free(freed)
            waiting.clear()
        waiting.append(slot)
        return freed


Allocator = SlotAllocator | ClusterAllocator
"""Slots for a folio of n pages (``get``) or BURST pages (``fill``), fewer if the device is full;
and their return (``put``), which says the first slot of each run that is freed now. A folio
``splits`` if it takes a lock for each of its pages; a free takes one if ``locks_on_free``."""


def accesses(requests: PageRequests, made: Allocator) -> dict[str, list[Access]]:
    """Serve requests; return the uses of slots' locks in each state that is counted.

    A folio that has one run of slots takes their lock once.
    """
    rows = requests.rows
    slot_of = [0] * (max(page + n for _, _, page, n in rows) if rows else 0)
    found: dict[str, list[Access]] = {}
    at = 0
    for state, span in requests.counted.items():
        _serve(rows[at : span.start], slot_of, made)
        found[state] = _serve(rows[span.start : span.stop], slot_of, made)
        at = span.stop
    return found


def _serve(rows: Sequence[Row], slot_of: list[int], made: Allocator) -> list[Access]:
    """Serve rows; ``slot_of`` has the slot of each page, 0 if it has none."""
    uses: list[Access] = []
    for op, cpu, page, n in rows:
        if op in (Op.OUT, Op.FILL):
            slots = made.get(cpu, n) if op == Op.OUT else made.fill(cpu)
            slot_of[page : page + n] = [*slots, *[0] * (n - len(slots))]
        if op == Op.FILL:
            continue
        for slot, length in _runs(slot_of[page : page + n], made.splits):
            if op == Op.IN:
                freed = made.put(cpu, slot, length)
                uses += [(cpu, op, each) for each in freed if made.locks_on_free]
            else:
                uses.append((cpu, op, slot))
        if op == Op.IN:
            slot_of[page : page + n] = [0] * n
    return uses


def _runs(slots: Sequence[int], splits: bool) -> list[tuple[int, int]]:
    """Return runs (first slot, slots) of neighbours of one cluster; of one slot if folios split."""
    runs: list[tuple[int, int]] = []
    for slot in slots:
        if not slot:
            continue
        if runs and not splits and slot == sum(runs[-1]) and slot % CLUSTER_SIZE_MAX:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((slot, 1))
    return runs


def allocator(name: str, *, cpus: int, slots: int, seed: int) -> Allocator:
    """Return the allocator of a rule set of clusters, or of a policy for the scan base.

    The seed draws the bases of such a policy.
    """
    if name in CLUSTER_RULES:
        return ClusterAllocator(name, cpus=cpus, slots=slots)
    return SlotAllocator(name, cpus=cpus, slots=slots, seed=seed)
