# SPDX-License-Identifier: GPL-2.0-or-later
"""Allocators of the C library that serve the same requests for single pages.

``slot_cache.h`` serves 5.8, ``clusters.h`` 6.12 and 7.3.
"""

from collections.abc import Sequence
from typing import Final

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.clusters import _native as native_clusters
from swapsim.ffi import CLUSTER_RULES, CLUSTER_SIZE_MAX, check, new
from swapsim.slots import _native as native_slots
from swapsim.slots.config import Device

BURST: Final = int(lib.SWS_SLOT_CACHE_SIZE)
"""Slots of a full cache."""


class _Slots:
    """5.8 with its slot caches (``slot_cache.h``), under a policy for cluster_next.

    A free takes no lock of the swap cache: there are no shadows to clear.
    """

    def __init__(self, policy: str, *, cpus: int, slots: int, seed: int) -> None:
        device = Device(
            kernel="5.8",
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
        self._work = ffi.new("struct sws_slot_cache_work *")
        self._call, self._slot = ffi.new("struct sws_slots_call *"), ffi.new("uint32_t *")
        self._on_device = (ffi.new("uint8_t *"), ffi.addressof(self._work, "device"))

    def get(self, cpu: int, n: int) -> Sequence[int]:
        found = []
        for _ in range(n):
            out = (self._slot, self._call, self._work)
            check(lib.sws_slot_cache_get(self._caches, cpu, cpu, *out))
            # The page table's reference; the page itself counts as cached until it is returned.
            check(lib.sws_slots_duplicate(self._device, self._slot[0], *self._on_device))
            found.append(int(self._slot[0]))
        return found

    def put(self, cpu: int, slot: int) -> Sequence[int]:
        check(lib.sws_slots_uncache(self._device, slot, *self._on_device))
        check(lib.sws_slots_drop(self._device, slot, *self._on_device))
        check(lib.sws_slot_cache_put(self._caches, cpu, slot, self._work))
        return ()


class _Clusters:
    """That of ``clusters.h``; the slot caches of 6.12 are its callers', so they are here."""

    def __init__(self, rules: str, *, cpus: int, slots: int) -> None:
        config = native_clusters.settings(rules, [{"slots": slots}], cpus=cpus)
        self._clusters = new(lib.sws_clusters_new, config, free=lib.sws_clusters_free)
        self._has_caches, self._active, self._cpus = bool(config.rules.slot_cache), False, cpus
        self._devices = ffi.new("uint8_t[]", BURST)
        self._slots, self._granted = ffi.new("uint32_t[]", BURST), ffi.new("uint32_t *")
        self._ready: list[list[int]] = [[] for _ in range(cpus)]
        self._returned: list[list[int]] = [[] for _ in range(cpus)]

    def get(self, cpu: int, n: int) -> Sequence[int]:
        if self._has_caches and n > 1:
            return self._allocate(cpu, n)
        return [slot for _ in range(n) for slot in self._single(cpu)]

    def _allocate(self, cpu: int, wanted: int) -> list[int]:
        out = (self._devices, self._slots, self._granted)
        check(lib.sws_clusters_allocate(self._clusters, cpu, 0, 0, wanted, *out))
        return ffi.unpack(self._slots, self._granted[0])  # type: ignore[no-any-return]

    def _single(self, cpu: int) -> Sequence[int]:
        if self._has_caches:
            self._switch_caches()
            ready = self._ready[cpu]
            if self._active and not ready:
                ready += reversed(self._allocate(cpu, BURST))
            if ready:
                return (ready.pop(),)
        return self._allocate(cpu, 1)

    def _switch_caches(self) -> None:
        """Start or stop the caches by the number of free slots; stopped ones are drained."""
        available = lib.sws_clusters_available(self._clusters)
        if not self._active:
            self._active = available > self._cpus * lib.SWS_SLOT_CACHE_ACTIVATE
        elif available < self._cpus * lib.SWS_SLOT_CACHE_DEACTIVATE:
            self._active = False
            for waiting in (*self._ready, *self._returned):
                self._free(waiting)

    def _free(self, slots: list[int]) -> Sequence[int]:
        """Free slots and clear their list."""
        freed = [*slots]
        for slot in freed:
            check(lib.sws_clusters_free_slots(self._clusters, 0, slot, 1))
        slots.clear()
        return freed

    def put(self, cpu: int, slot: int) -> Sequence[int]:
        if not self._active:
            return self._free([slot])
        waiting = self._returned[cpu]
        freed = self._free(waiting) if len(waiting) == BURST else ()
        waiting.append(slot)
        return freed


Allocator = _Slots | _Clusters
"""``get`` slots for n single pages; ``put`` one back, which says the slots that are freed now, if a
free takes the swap cache's lock."""


def allocator(name: str, *, cpus: int, slots: int, seed: int) -> Allocator:
    """Return the allocator of one of ALLOCATORS; the seed draws each cluster_next."""
    if name in CLUSTER_RULES:
        return _Clusters(name, cpus=cpus, slots=slots)
    return _Slots(name, cpus=cpus, slots=slots, seed=seed)
