# SPDX-License-Identifier: GPL-2.0-or-later
"""Our radix tree compared with the kernel's own, built in user space from Debian's source package.

The same rows go through both in alternated runs: in order over one tree of
16,384 entries, again and again, and in random order over 256 such trees.
"""

import shutil
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness
import numpy as np

from swapsim._core import ffi, lib
from swapsim.errors import SwapsimError
from swapsim.ffi import structs

OPERATIONS = ("insert", "tag_set", "tag_clear", "lookup", "delete")
KINDS = ("batch/in-order", "batch/random", "single")
NAMES = tuple(f"rtree/{kind}/{operation}" for kind in KINDS for operation in OPERATIONS)
ENTRIES = 16384
TREES = 256
ROUNDS = 64

SOURCE_PACKAGE = Path("/usr/src/linux-source-6.1.tar.xz")
KERNEL = "linux-source-6.1"
# What tools/testing/radix-tree includes or compiles.
KERNEL_PATHS = ("tools/testing/radix-tree", "tools/include", "tools/arch/x86/include")
KERNEL_FOLDERS = ("tools/lib/*.c", "lib/*", "include/linux/*")
KERNEL_OBJECTS = (
    *("xarray", "radix-tree", "idr", "linux", "find_bit"),
    *("bitmap", "slab", "test", "maple"),
)
KERNEL_FLAGS = (
    *("-I.", "-I../../include", "-O2", "-g", "-w", "-D_LGPL_SOURCE"),
    "-Dfallthrough=__attribute__((__fallthrough__))",
)

# Nanoseconds per operation of one run.
Spent = dict[str, float]


def build_peer() -> Path:
    """Build the kernel's radix tree under our harness; return the program."""
    program = harness.BUILD / "kernel_radix_tree"
    sources = [harness.HERE / "kernel_radix_tree.c", harness.HERE / "rtree_rows.h"]
    if not SOURCE_PACKAGE.exists():
        raise harness.MissingPeerError("Debian's package linux-source-6.1 is not installed")
    changed = max(source.stat().st_mtime for source in sources)
    if program.exists() and program.stat().st_mtime > changed:
        return program
    tree = harness.BUILD / KERNEL
    shutil.rmtree(tree, ignore_errors=True)
    paths = [f"{KERNEL}/{path}" for path in KERNEL_PATHS + KERNEL_FOLDERS]
    harness.command("tar", "xf", SOURCE_PACKAGE, "-C", harness.BUILD, "--wildcards", *paths)
    tools = tree / "tools" / "testing" / "radix-tree"
    (tools / "generated").mkdir(exist_ok=True)
    # 64 slots to a node as in the kernel; these tools' own default is 8.
    (tools / "generated" / "map-shift.h").write_text("#define XA_CHUNK_SHIFT 6\n", encoding="ascii")
    flags = " ".join(f"'{flag}'" for flag in KERNEL_FLAGS)
    objects = [f"{name}.o" for name in KERNEL_OBJECTS]
    try:
        harness.command("make", "SHIFT=6", f"CFLAGS={flags}", "LDFLAGS=", *objects, cwd=tools)
        harness.command(
            harness.compiler(),
            *KERNEL_FLAGS,
            f"-I{harness.HERE}",
            sources[0],
            *objects,
            *("-lpthread", "-lurcu", "-o", program),
            cwd=tools,
        )
    except harness.MissingPeerError as error:
        raise harness.MissingPeerError(
            f"{error}: is Debian's package liburcu-dev installed?"
        ) from error
    return program


class Rows:
    """Rows for both sides, and the columns that our batch calls read and write."""

    def __init__(self, name: str, trees: np.ndarray, indexes: np.ndarray, rounds: int) -> None:
        self.count, self.rounds = len(indexes), rounds
        self.trees = np.ascontiguousarray(trees, dtype=np.uint32)
        self.indexes = np.ascontiguousarray(indexes, dtype=np.uint64)
        self.items = np.arange(1, self.count + 1, dtype=np.uint64) << np.uint64(2)
        self.words = np.zeros(self.count, dtype=np.uint64)
        self.status = np.zeros(self.count, dtype=np.int8)
        self.tree_count = int(self.trees.max()) + 1
        self.path = harness.BUILD / f"{name}.rows"

    def write(self) -> None:
        """Write the file that the programs read."""
        with self.path.open("wb") as file:
            np.array([self.count, self.tree_count, self.rounds], dtype=np.uint64).tofile(file)
            self.indexes.tofile(file)
            self.trees.tofile(file)


def run_program(program: Path, rows: Rows) -> tuple[Spent, str]:
    """Run either side's program; return its times, and the sum of all results."""
    *lines, last = harness.command(program, rows.path).splitlines()
    return {name: float(spent) for name, spent in map(str.split, lines)}, last


def run_batch(rows: Rows) -> Spent:
    """Time our batch calls as Python makes them, sorting included; check every result."""
    config = structs.config(lib.sws_forest_config_init, None, tree_count=rows.tree_count)
    forest = structs.new(lib.sws_forest_new, config, free=lib.sws_forest_free)
    trees = ffi.from_buffer("uint32_t[]", rows.trees)
    indexes = ffi.from_buffer("uint64_t[]", rows.indexes)
    items = ffi.from_buffer("uint64_t[]", rows.items)
    words = ffi.from_buffer("uint64_t[]", rows.words)
    status = ffi.from_buffer("int8_t[]", rows.status)
    place = (forest, rows.count, trees, indexes)
    tag = lib.SWS_RTREE_TAG_WRITEBACK
    calls: dict[str, Callable[[], int]] = {
        "insert": lambda: lib.sws_forest_insert(*place, items, status),
        "tag_set": lambda: lib.sws_forest_tag_set(*place, tag, status),
        "lookup": lambda: lib.sws_forest_lookup(*place, words),
        "tag_clear": lambda: lib.sws_forest_tag_clear(*place, tag, status),
        "delete": lambda: lib.sws_forest_delete(*place, words),
    }
    spent: Spent = defaultdict(float)
    for _ in range(rows.rounds):
        for operation, call in calls.items():
            rows.words.fill(0)
            rows.status.fill(1)
            start = time.perf_counter_ns()
            error = call()
            spent[operation] += (time.perf_counter_ns() - start) / rows.count / rows.rounds
            gives_items = operation in ("lookup", "delete")
            wrong = (rows.words != rows.items).any() if gives_items else rows.status.any()
            harness.require(not (error or wrong), f"rtree/batch {operation} gave a wrong result")
    return spent


def results(kind: str, ours: list[Spent], peer: list[Spent], reason: str | None) -> Iterator[Any]:
    """Yield one row per operation; without a peer its columns are null and the reason says why."""
    for operation in OPERATIONS:
        mine, theirs = (
            statistics.median(run[operation] for run in runs) if runs else None
            for runs in (ours, peer)
        )
        yield {
            "name": f"rtree/{kind}/{operation}",
            "ours": harness.digits(mine),
            "peer": theirs and harness.digits(theirs),
            "unit": "ns/operation",
            "ratio": theirs and round(theirs / mine, 2),
            **({"reason": reason} if reason else {}),
        }


def measure(rows: Rows, *programs: Path | None) -> list[list[Spent]]:
    """Run batch calls and programs in turn, five times; return the times of each."""
    found: list[list[Spent]] = [[], *([] for _ in programs)]
    for _ in range(harness.RUNS):
        sums = set()
        found[0].append(run_batch(rows))
        for program, runs in zip(programs, found[1:], strict=True):
            if program:
                spent, total = run_program(program, rows)
                runs.append(spent)
                sums.add(total)
        harness.require(len(sums) < 2, "rtree: both sides did not do the same with the same rows")
    return found


def run() -> Iterator[Any]:
    """Yield the benchmarks of NAMES."""
    harness.BUILD.mkdir(parents=True, exist_ok=True)
    peer, reason = None, None
    try:
        peer = build_peer()
    except harness.MissingPeerError as error:
        reason = str(error)
    in_order = Rows("in-order", np.zeros(ENTRIES), np.arange(ENTRIES), ROUNDS)
    shuffled = np.random.default_rng(1).permutation(TREES * ENTRIES)
    at_random = Rows("random", shuffled // ENTRIES, shuffled % ENTRIES, 1)
    try:
        single = harness.build("rtree_single", "-O3", mechanisms=("core", "rtree"))
        in_order.write()
        at_random.write()
        batches, singles, peers = measure(in_order, single, peer)
        yield from results("batch/in-order", batches, peers, reason)
        yield from results("single", singles, peers, reason)
        batches, peers = measure(at_random, peer)
        yield from results("batch/random", batches, peers, reason)
    except harness.MissingPeerError as error:
        raise SwapsimError(f"rtree: {error}") from error
    finally:
        in_order.path.unlink(missing_ok=True)
        at_random.path.unlink(missing_ok=True)
