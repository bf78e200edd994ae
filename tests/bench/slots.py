# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap slot allocator: free clusters, the scan, a user's policy; each against its peer.

The peers are the plain Python model of the tests, a byte loop in C that counts as
the kernel does, and the built-in twin of a user's policy.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import harness

import swapsim
from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.slots._native import settings
from swapsim.slots.config import Churn, Device
from swapsim.slots.workbench import measure

NAMES = ("slots/sequential", "slots/scan", "slots/policy")
BATCH = 64
SEQUENTIAL_SLOTS = 2**23
MODEL_SLOTS = 2**15
SCANNED_SLOTS = 2**24
"""16 MB of swap map."""

SCANS = 32
"""Of the whole map, in one run."""


def sequential() -> float:
    """Return the slots a second that a device with free clusters gives, 64 a call."""
    made = settings(Device(slots=SEQUENTIAL_SLOTS, possible_cpus=1))
    device = core.new(lib.sws_slots_new, made, free=lib.sws_slots_free)
    call, work = ffi.new("struct sws_slots_call *"), ffi.new("struct sws_slots_work *")
    calls = SEQUENTIAL_SLOTS // BATCH - 10
    start = time.perf_counter()
    for _ in range(calls):
        lib.sws_slots_allocate(device, 0, -1, BATCH, call, work)
    spent = time.perf_counter() - start
    sequential = not work.tested_scan and work.given == calls * BATCH
    harness.require(sequential, "slots/sequential gave another number of slots")
    return float(work.given / spent)


def sequential_model() -> float:
    """Return the same of the plain Python model."""
    import oracle_slots

    device = oracle_slots.Device(oracle_slots.Config(slots=MODEL_SLOTS))
    start = time.perf_counter()
    while device.free_list:
        device.allocate(0, -1, BATCH)
    return device.work.given / (time.perf_counter() - start)


class Scanned:
    """A device whose one free slot is its last: each call scans all of the map for it."""

    def __init__(self) -> None:
        """Fill it."""
        config = ffi.new("struct sws_workbench_config *")
        lib.sws_workbench_config_init(config)
        config.cache.device.slots = SCANNED_SLOTS
        config.cache.device.address_spaces = 1
        self.bench = core.new(lib.sws_workbench_new, config, free=lib.sws_workbench_free)
        over = ffi.new("bool *")
        error = lib.sws_workbench_fill(self.bench, 2**64 - 1, False)
        while not error and not over[0]:
            error = lib.sws_workbench_run(self.bench, 2**30, over)
        self.device = lib.sws_slot_cache_device(lib.sws_workbench_cache(self.bench))
        self.work = ffi.new("struct sws_slots_work *")
        self.last = ffi.new("uint32_t *", SCANNED_SLOTS - 1)
        usage = ffi.new("uint8_t *")
        error = error or lib.sws_slots_drop(self.device, self.last[0], usage, self.work)
        harness.require(not error, "slots/scan could not fill its device")

    def bytes_a_second(self) -> float:
        """Return the bytes of the map that scans pass a second, counted as the kernel does."""
        call = ffi.new("struct sws_slots_call *")
        before = self.work.tested_scan
        start = time.perf_counter()
        for _ in range(SCANS):
            lib.sws_slots_free_entries(self.device, self.last, 1, self.work)
            lib.sws_slots_set_base(self.device, 0, 1)
            lib.sws_slots_allocate(self.device, 0, -1, 1, call, self.work)
        spent = time.perf_counter() - start
        tested = self.work.tested_scan - before
        whole = call.slots[0] == self.last[0] and tested == SCANS * (SCANNED_SLOTS - 2)
        harness.require(whole, "slots/scan did not scan the complete map")
        return float(tested / spent)

    def rescheduled(self) -> int:
        """Return how often a scan's ration ran out."""
        return int(self.work.rescheduled // (self.work.tested_scan // (SCANNED_SLOTS - 2)))


def byte_loop(program: Path) -> tuple[float, int]:
    """Return the bytes that a byte loop passes a second, and how often its ration ran out."""
    spent, tested, rescheduled = harness.command(program, SCANNED_SLOTS - 2, SCANS).split()
    return int(tested) / float(spent) * 1e9, int(rescheduled)


@swapsim.policy(base_of="cpu", initial="random")
def twin(base, next, lowest, highest, trunk_size, draw):  # type: ignore[no-untyped-def] # noqa: A002
    """Do as percpu-rerandomise does."""
    if base // trunk_size == next // trunk_size:
        return next
    if highest <= lowest:
        return base
    slot = lowest + draw % (highest - lowest + 1)
    return max(slot // trunk_size * trunk_size, lowest)


def runs_a_second(device: Device) -> float:
    """Return complete runs of the workbench a second: fill, fragment, warm up, measure."""
    return harness.rate(1, lambda: measure(device, Churn()))


def scan_row() -> dict[str, Any]:
    """Measure the scan against the byte loop."""
    ours, unit = Scanned(), "GB of swap map/s (peer: a byte loop in C)"
    result = partial(harness.row, "slots/scan", unit, scale=1e9)
    try:
        program = harness.build("byte_loop", "-O3")
        rates = harness.alternate(ours.bytes_a_second, lambda: byte_loop(program)[0])
    except harness.MissingPeerError as error:
        return result(*harness.alternate(ours.bytes_a_second), reason=str(error))
    same = byte_loop(program)[1] == ours.rescheduled()
    harness.require(same, "slots/scan: both sides counted another number of rations")
    return result(*rates)


def run() -> Iterator[Any]:
    """Yield the benchmarks of NAMES."""
    unit = f"million slots/s ({harness.MODEL}, tests/oracles/oracle_slots.py)"
    yield harness.compare("slots/sequential", unit, sequential, sequential_model, 1e6)
    yield scan_row()
    device = Device(possible_cpus=8)
    users = replace(device, policy=twin)
    # The first run of a policy in a process compiles it.
    runs_a_second(users)
    unit = "runs/s under a user's percpu-rerandomise (peer: the built-in one)"
    sides = partial(runs_a_second, users), partial(runs_a_second, device)
    yield harness.compare("slots/policy", unit, *sides)
