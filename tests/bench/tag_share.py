# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds for writeback tags and holds that add or remove pages, and what patch A gains by them.

The radix tree under a queued lock, a thread on each CPU: run it on a machine with two sockets to
learn what their lines cost. In a kernel add and remove do more under the lock than the tree's work:
so the share that is found here is an upper bound of `tag_ns / tree_ns`, and the hold for tags
itself, in ns, one of `tag_ns`.
"""

import os
import statistics
from collections.abc import Iterator

import harness

from swapsim.claims import published_claims
from swapsim.errors import SwapsimError

NAMES = ("tag-share/hold", "tag-share/share", "tag-share/gain-by-share", "tag-share/gain-by-time")
PAGES = 100_000
CLAIM = "A-throughput"
ROUNDS = 3
"""Of fits, for tree_ns depends on the share and the share on tree_ns."""


def run() -> Iterator[dict[str, object]]:
    """Yield the hold for tags and its share, medians of five runs, and the gain that each gives."""
    try:
        program = harness.build("tag_share", "-O2", "-pthread", mechanisms=("core", "rtree"))
        runs = [holds(program) for _ in range(harness.RUNS)]
    except harness.MissingPeerError as error:
        raise SwapsimError(f"tag-share: {error}") from error
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
    """Return one line; without a ratio, since it is no comparison."""
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


def holds(program: object) -> dict[str, float]:
    """Return the mean of each kind of hold, in ns."""
    printed = harness.command(program, threads(), PAGES)
    return {name: float(ns) for name, ns in map(str.split, printed.splitlines())}


def gain(share: float) -> float:
    """Predict the gain of patch A, in percent, when a hold for tags is this share of another."""
    from swapsim.patches.writeback_tags import fits, notebook
    from swapsim.patches.writeback_tags.prediction import MAP_SHARE

    found = fits.predict_at_shares((share, MAP_SHARE))
    return float(notebook.gains_of_fits(found)["change"].item())


def gain_by_time(tags_ns: float) -> float:
    """Predict what patch A gains with holds for tags of so many ns, in percent."""
    from swapsim.patches import writeback_tags as patch
    from swapsim.patches.writeback_tags.prediction import MAP_SHARE, TAG_SHARE

    share = TAG_SHARE
    for _ in range(ROUNDS):
        fitted = patch.fit(tag_share=share, map_share=MAP_SHARE).constants
        share = tags_ns / fitted.filter(name="tree_ns")["value"].item()
    return gain(share)
