# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B's columns for the mail's tables: simulated, and counted on Linux 6.1."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from swapsim.patches.batched_removal import prediction, studies
from swapsim.patches.batched_removal.workload import FITTED, THREADS
from swapsim.published import data
from swapsim.published.rows import Side, side

TABLE: Final = "usemem"


def simulated() -> Iterator[Side]:
    """Yield each time at the middle of what the mail leaves open, with a range over all of it."""
    point = pl.concat_str("tag_share", "next_share", "uneven_percent", separator=" ")
    for (metric,), part in studies.by_points().group_by("metric", maintain_order=True):
        names = part.select(point).to_series().to_list()
        middle = part.filter(prediction.at_middle()).select(point).item()
        base, patched = (dict(zip(names, part[name], strict=True)) for name in ("base", "patched"))
        fitted = metric in FITTED
        if found := side(TABLE, str(metric), base, patched, at=middle, fitted=fitted):
            yield found


def measured() -> Iterator[Side]:
    """Yield acquisitions a page of the swap cache's lock, under the row that they stand for."""
    runs = data.measured_results("batched-removal")
    for threads in THREADS:
        for what in ("acquisitions", "contended acquisitions"):
            own = runs.filter(metric=f"xa_lock {what}", n_tasks=threads)
            base, patched = (
                dict(own.filter(policy=policy).select("seed", "value").iter_rows())
                for policy in ("off", "on")
            )
            what = f"{what} of xa_lock a page"
            if found := side(TABLE, f"Amean System-{threads}: {what}", base, patched, what=what):
                yield found


def by_hand() -> dict[tuple[str, str], float]:
    """Return nothing: the mail prints no profile."""
    return {}
