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

from swapsim import study
from swapsim.errors import SwapsimError
from swapsim.published import table

NAMES = ("tag-share/hold", "tag-share/share", "tag-share/gain-by-share", "tag-share/gain-by-time")
PAGES = 100_000
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
    rates = table("A", "lkp comparison").filter(metric="vm-scalability.throughput")
    published = round(100 * (rates["ratio"].item() - 1), 1)
    reason = "it bounds a constant of data/costs.csv"
    gained = "% of throughput; peer: the mail"
    for name, unit, ours, peer in (
        ("hold", f"ns for tags, on {threads()} CPUs", tags, None),
        ("share", f"of a hold to add or remove, on {threads()} CPUs", tags / tree, None),
        ("gain-by-share", gained, gain(tags / tree), published),
        ("gain-by-time", gained, gain_by_time(tags), published),
    ):
        yield harness.without_ratio(f"tag-share/{name}", unit, round(ours, 2), peer, reason)


def threads() -> int:
    """Return how many CPUs there are for the threads."""
    return len(os.sched_getaffinity(0))


def holds(program: object) -> dict[str, float]:
    """Return the mean of each kind of hold, in ns."""
    printed = harness.command(program, threads(), PAGES)
    return {name: float(ns) for name, ns in map(str.split, printed.splitlines())}


def gain(share: float) -> float:
    """Predict the gain of patch A, in percent, when a hold for tags is this share of another."""
    from swapsim.patches import writeback_tags as patch

    found = patch.predict_at_shares((share, patch.MAP_SHARE)).filter(metric=patch.THROUGHPUT)
    means = study.over(found.select("kernel", "value"), "kernel", stat="mean")
    base, patched = means["middle"]
    return float(100 * (patched / base - 1))


def gain_by_time(tags_ns: float) -> float:
    """Predict what patch A gains with holds for tags of so many ns, in percent."""
    from swapsim.patches.writeback_tags import MAP_SHARE, TAG_SHARE, fit_and_share

    share = TAG_SHARE
    for _ in range(ROUNDS):
        fitted, _ = fit_and_share(share, MAP_SHARE)
        share = tags_ns / fitted.constants.filter(name="tree_ns")["value"].item()
    return gain(share)
