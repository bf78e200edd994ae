# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds for writeback tags beside holds that add and remove pages, and what patch A gains by them.

The radix tree under a queued lock, a thread on each CPU: run it on a machine with two sockets to
learn what their lines cost. In a kernel add and remove do more under the lock than the tree's work:
so the share that is found here is an upper bound of `tag_ns / tree_ns`, and the hold for tags
itself, in ns, one of `tag_ns`.
"""

import os
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

from swapsim.claims import published_claims
from swapsim.errors import SwapsimError
from swapsim.io.paths import repository_root

NAMES = ("tag-share/hold", "tag-share/share", "tag-share/gain-by-share", "tag-share/gain-by-time")
RUNS = 5
PAGES = 100_000
CLAIM = "A-throughput"
ROUNDS = 3
"""Of fits, for tree_ns depends on the share and the share on tree_ns."""


def run() -> Iterator[dict[str, object]]:
    """Yield the hold for tags and its share, medians of five runs, and the gain that each gives."""
    program = build()
    runs = [holds(program) for _ in range(RUNS)]
    tags, tree = (
        statistics.median((each[one] + each[other]) / 2 for each in runs)
        for one, other in (("start", "end"), ("add", "remove"))
    )
    published = published_claims().filter(claim=CLAIM)["change"].item()
    yield row("hold", tags, None, f"ns for tags, on {threads()} CPUs")
    yield row("share", tags / tree, None, f"of a hold to add or remove, on {threads()} CPUs")
    yield row("gain-by-share", gain(tags / tree), published, "% of throughput; peer: the mail")
    yield row("gain-by-time", gain_by_time(tags), published, "% of throughput; peer: the mail")


def row(name: str, ours: float, peer: float | None, unit: str) -> dict[str, object]:
    """Return one line; without a ratio, for nobody is raced."""
    return {
        "name": f"tag-share/{name}",
        "ours": round(ours, 2),
        "peer": peer,
        "unit": unit,
        "ratio": None,
        "reason": "it bounds a constant of data/costs.csv",
    }


def threads() -> int:
    """Return how many CPUs there are for the threads."""
    return len(os.sched_getaffinity(0))


def build() -> Path:
    """Build the program with the library's tree; return it."""
    folder = repository_root() / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    core = repository_root() / "corelib"
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise SwapsimError("tag-share: no C compiler is installed")
    sources = [repository_root() / "tests" / "bench" / "tag_share.c"]
    for mechanism in ("core", "rtree"):
        sources += sorted((core / "src" / mechanism).glob("*.c"))
    flags = ("-std=c11", "-D_POSIX_C_SOURCE=199309L", "-O2", "-DNDEBUG", "-pthread")
    includes = (f"-I{core / 'include'}", f"-I{core / 'src'}")
    program = folder / "tag_share"
    command(compiler, *flags, *includes, *map(str, sources), "-o", str(program))
    return program


def holds(program: Path) -> dict[str, float]:
    """Return the mean of each kind of hold, in ns."""
    printed = command(str(program), str(threads()), str(PAGES))
    return {name: float(ns) for name, ns in map(str.split, printed.splitlines())}


def command(*words: str) -> str:
    """Run a command; return what it printed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SwapsimError(f"tag-share: {Path(words[0]).name} failed: {done.stderr.strip()}")
    return done.stdout


def gain(share: float) -> float:
    """Predict what patch A gains with so long a hold for tags beside add and remove, in percent."""
    from swapsim.patches import writeback_tags as patch
    from swapsim.patches.writeback_tags.fitting import MAP_SHARE

    points = patch.predict_at_shares((share, MAP_SHARE))
    return float(points.filter(claim=CLAIM)["simulated"].item())


def gain_by_time(tags_ns: float) -> float:
    """Predict what patch A gains with holds for tags of so many ns, in percent."""
    from swapsim.patches import writeback_tags as patch
    from swapsim.patches.writeback_tags.fitting import MAP_SHARE, TAG_SHARE

    share = TAG_SHARE
    for _ in range(ROUNDS):
        fitted = patch.fit(tag_share=share, map_share=MAP_SHARE).constants
        share = tags_ns / fitted.filter(name="tree_ns")["value"].item()
    return gain(share)
