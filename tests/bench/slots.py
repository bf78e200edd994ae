# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap slot allocator: free clusters, the scan, a user's policy; each against its peer.

The peers are the plain Python model of the tests, a byte loop in C that counts as
the kernel does, and the built-in twin of a user's policy.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import swapsim
from swapsim import slots
from swapsim._core import ffi, lib
from swapsim.errors import SwapsimError
from swapsim.io.paths import repository_root
from swapsim.slots._native import settings
from swapsim.slots.config import ChurnConfig, SlotsConfig

NAMES = ("slots/sequential", "slots/scan", "slots/policy")
RUNS = 5
BATCH = 64
SEQUENTIAL_SLOTS = 2**23
MODEL_SLOTS = 2**15
SCANNED_SLOTS = 2**24
"""16 MB of swap map."""

SCANS = 32
"""Of the whole map, in one run."""


def sequential() -> float:
    """Return the slots a second that a device with free clusters gives, 64 a call."""
    made, _keep = settings(SlotsConfig(slots=SEQUENTIAL_SLOTS, possible_cpus=1))
    out = ffi.new("struct sws_slots **")
    if lib.sws_slots_new(made, out) != lib.SWS_OK:
        raise MemoryError("no memory for a swap device")
    device = ffi.gc(out[0], lib.sws_slots_free)
    call, work = ffi.new("struct sws_slots_call *"), ffi.new("struct sws_slots_work *")
    calls = SEQUENTIAL_SLOTS // BATCH - 10
    start = time.perf_counter()
    for _ in range(calls):
        lib.sws_slots_allocate(device, 0, -1, BATCH, call, work)
    spent = time.perf_counter() - start
    if work.tested_scan or work.given != calls * BATCH:
        raise SwapsimError("slots/sequential gave another number of slots: run 'make test'")
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
        out, over = ffi.new("struct sws_workbench **"), ffi.new("bool *")
        if lib.sws_workbench_new(config, out) != lib.SWS_OK:
            raise MemoryError("no memory for a swap device")
        self.bench = ffi.gc(out[0], lib.sws_workbench_free)
        error = lib.sws_workbench_fill(self.bench, 2**64 - 1, False)
        while not error and not over[0]:
            error = lib.sws_workbench_run(self.bench, 2**30, over)
        self.device = lib.sws_slot_cache_device(lib.sws_workbench_cache(self.bench))
        self.work = ffi.new("struct sws_slots_work *")
        self.last = ffi.new("uint32_t *", SCANNED_SLOTS - 1)
        usage = ffi.new("uint8_t *")
        if error or lib.sws_slots_drop(self.device, self.last[0], usage, self.work):
            raise SwapsimError("slots/scan could not fill its device: run 'make test'")

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
        if call.slots[0] != self.last[0] or tested != SCANS * (SCANNED_SLOTS - 2):
            raise SwapsimError("slots/scan did not scan the whole map: run 'make test'")
        return float(tested / spent)

    def rescheduled(self) -> int:
        """Return how often a scan's ration ran out."""
        return int(self.work.rescheduled // (self.work.tested_scan // (SCANNED_SLOTS - 2)))


class ByteLoop:
    """The same scan, a byte at a time."""

    def __init__(self) -> None:
        """Build it."""
        folder = repository_root() / "build" / "bench"
        folder.mkdir(parents=True, exist_ok=True)
        self.program = folder / "byte_loop"
        source = repository_root() / "tests" / "bench" / "byte_loop.c"
        compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            raise MissingPeerError("no C compiler is installed")
        flags = ("-std=c11", "-D_POSIX_C_SOURCE=199309L", "-O3")
        command(compiler, *flags, source, "-o", self.program)
        self.rescheduled = -1

    def bytes_a_second(self) -> float:
        """Return the bytes that it passes a second."""
        spent, tested, rescheduled = command(self.program, SCANNED_SLOTS - 2, SCANS).split()
        self.rescheduled = int(rescheduled)
        return int(tested) / float(spent) * 1e9


class MissingPeerError(Exception):
    """The peer cannot be had here; the text says what is missing."""


def command(*words: object) -> str:
    """Run a command; return what it printed, or raise with the last line of its complaint."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise MissingPeerError(f"{words[0]} failed: {complaint[-1]}")
    return done.stdout


@swapsim.policy(base_of="cpu", initial="random")
def twin(base, next, lowest, highest, trunk_size, draw):  # type: ignore[no-untyped-def] # noqa: A002
    """Do as percpu-rerandomise does."""
    if base // trunk_size == next // trunk_size:
        return next
    if highest <= lowest:
        return base
    slot = lowest + draw % (highest - lowest + 1)
    return max(slot // trunk_size * trunk_size, lowest)


def runs_a_second(device: SlotsConfig) -> float:
    """Return whole runs of the workbench a second: fill, fragment, warm up, measure."""
    start = time.perf_counter()
    slots.measure(device, ChurnConfig())
    return 1 / (time.perf_counter() - start)


def alternated(
    ours: Callable[[], float], peer: Callable[[], float] | None
) -> tuple[float, float | None]:
    """Return the medians of both sides' rates, run in turn."""
    rates: tuple[list[float], list[float]] = ([], [])
    for _ in range(RUNS):
        rates[0].append(ours())
        if peer:
            rates[1].append(peer())
    return statistics.median(rates[0]), statistics.median(rates[1]) if peer else None


def row(
    name: str, unit: str, scale: float, rates: tuple[float, float | None], reason: str | None = None
) -> dict[str, Any]:
    """Return one line of the benchmark."""
    ours, peer = rates
    return {
        "name": name,
        "ours": round(ours / scale, 3),
        "peer": None if peer is None else round(peer / scale, 3),
        "unit": unit,
        "ratio": None if peer is None else round(ours / peer, 2),
        **({"reason": reason} if reason else {}),
    }


def scan_row() -> dict[str, Any]:
    """Measure the scan beside the byte loop."""
    unit = "GB of swap map/s (peer: a byte loop in C)"
    ours, loop, reason = Scanned(), None, None
    try:
        loop = ByteLoop()
        rates = alternated(ours.bytes_a_second, loop.bytes_a_second)
    except MissingPeerError as error:
        reason = str(error)
        rates = alternated(ours.bytes_a_second, None)
    if loop and not reason and loop.rescheduled != ours.rescheduled():
        raise SwapsimError("slots/scan: both sides counted another number of rations")
    return row("slots/scan", unit, 1e9, rates, reason)


def run() -> Iterator[Any]:
    """Yield the benchmarks of NAMES."""
    sys.path.insert(0, str(repository_root() / "tests" / "oracles"))
    yield row(
        "slots/sequential",
        "million slots/s (peer: the plain Python model, tests/oracles/oracle_slots.py)",
        1e6,
        alternated(sequential, sequential_model),
    )
    yield scan_row()
    device = SlotsConfig(possible_cpus=8)
    # The first run of a policy in a process compiles it.
    runs_a_second(replace(device, policy=twin))
    yield row(
        "slots/policy",
        "runs/s under a user's percpu-rerandomise (peer: the built-in one)",
        1,
        alternated(
            lambda: runs_a_second(replace(device, policy=twin)), lambda: runs_a_second(device)
        ),
    )
