# SPDX-License-Identifier: GPL-2.0-or-later
"""Our radix tree compared with the kernel's own, built in user space from Debian's source package.

The same calls go to both in alternated runs: in order over one tree of 16,384 entries, again and
again.
"""

import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harness
import numpy as np

from swapsim.errors import SwapsimError

OPERATIONS = ("insert", "tag_set", "tag_clear", "lookup", "delete")
NAMES = tuple(f"rtree/single/{operation}" for operation in OPERATIONS)
ENTRIES = 16384
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


def write_rows(path: Path) -> None:
    """Write the file that the programs read: every index of one tree, in order."""
    with path.open("wb") as file:
        np.array([ENTRIES, 1, ROUNDS], dtype=np.uint64).tofile(file)
        np.arange(ENTRIES, dtype=np.uint64).tofile(file)
        np.zeros(ENTRIES, dtype=np.uint32).tofile(file)


def run_program(program: Path, rows: Path) -> tuple[Spent, str]:
    """Run either side's program; return its times, and the sum of all results."""
    *lines, last = harness.command(program, rows).splitlines()
    return {name: float(spent) for name, spent in map(str.split, lines)}, last


def results(ours: list[Spent], peer: list[Spent], reason: str | None) -> Iterator[Any]:
    """Yield one row per operation; without a peer its columns are null and the reason says why."""
    for operation in OPERATIONS:
        mine, theirs = (
            statistics.median(run[operation] for run in runs) if runs else None
            for runs in (ours, peer)
        )
        yield {
            "name": f"rtree/single/{operation}",
            "ours": harness.digits(mine),
            "peer": theirs and harness.digits(theirs),
            "unit": "ns/operation",
            "ratio": theirs and round(theirs / mine, 2),
            **({"reason": reason} if reason else {}),
        }


def run() -> Iterator[Any]:
    """Yield the benchmarks of NAMES."""
    harness.BUILD.mkdir(parents=True, exist_ok=True)
    peer, reason = None, None
    try:
        peer = build_peer()
    except harness.MissingPeerError as error:
        reason = str(error)
    rows = harness.BUILD / "rtree.rows"
    ours: list[Spent] = []
    theirs: list[Spent] = []
    try:
        single = harness.build("rtree_single", "-O3", mechanisms=("core", "rtree"))
        write_rows(rows)
        for _ in range(harness.RUNS):
            spent, total = run_program(single, rows)
            ours.append(spent)
            if peer:
                spent, peer_total = run_program(peer, rows)
                theirs.append(spent)
                harness.require(total == peer_total, "rtree: both sides did not do the same")
    except harness.MissingPeerError as error:
        raise SwapsimError(f"rtree: {error}") from error
    finally:
        rows.unlink(missing_ok=True)
    yield from results(ours, theirs, reason)
