# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D's columns for the tables of V1, V3 and two replies: simulated, measured, by hand."""

import math
from collections.abc import Iterator
from typing import Final

import polars as pl

from swapsim import published
from swapsim.patches.cluster_next import drives, studies
from swapsim.patches.cluster_next.mails import VERSIONS
from swapsim.patches.cluster_next.studies import MERGED
from swapsim.published import data
from swapsim.published.rows import Side, side

_SUFFIX: Final = {"V1": "", "V3": ", V3"}
_SCORE: Final = "pmbench score"

_LOCKS: Final = {
    "V1": {"add_to_swap_cache": "xa_lock", "__remove_mapping": "xa_lock"},
    "V3": {
        "add_to_swap_cache": "xa_lock",
        "__remove_mapping": "xa_lock",
        "swapcache_free_entries": "si->lock",
        "shrink_inactive_list": "lru_lock",
        "shrink_active_list": "lru_lock",
    },
}
"""Caller in a row of a profile -> its lock on the real kernel, whose count has no callers: only
locks whose rows all say the same in that mail."""


def simulated() -> Iterator[Side]:
    """Yield the first second after the fill, with a range over the ages of the device."""
    young, later = studies.predicted.load(), studies.life.load()
    for version, mail in VERSIONS.items():
        rows = pl.concat(
            [
                young.filter(pl.col("kernel").is_in(list(mail.kernels))).select(
                    "policy", "metric", "value", label=pl.lit(studies.YOUNG)
                ),
                later.filter(pl.col("label") != studies.YOUNG, fit=version).select(
                    "policy", "metric", "value", "label"
                ),
            ]
        )
        fitted = {"swapout throughput", *(row for rows in mail.fitted.values() for row in rows)}
        for metric, base, patched in _by(rows, tuple(mail.kernels.values())):
            table = "profile" if metric.startswith("_raw") else "score"
            found = side(
                table + _SUFFIX[version],
                metric,
                base,
                patched,
                at=studies.YOUNG,
                fitted=metric in fitted,
            )
            if found:
                yield found
    for (drive,), part in studies.replies.load().group_by("drive", maintain_order=True):
        usual = f"{drive}, {drives.USUAL} at a time, {drives.YOUNG}"
        for metric, base, patched in _by(part, tuple(VERSIONS["V3"].kernels.values())):
            fitted_here = drive == "Optane" and metric == "swapout throughput"
            if drive == "P3600" and metric == _SCORE:
                metric = "performance improvement"
            if found := side(str(drive), metric, base, patched, at=usual, fitted=fitted_here):
                yield found


def _by(
    rows: pl.DataFrame, policies: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, float], dict[str, float]]]:
    """Yield each metric with its means by label, without the patch and with it."""
    means = rows.group_by("metric", "policy", "label", maintain_order=True).agg(
        pl.col("value").mean()
    )
    for (metric,), part in means.group_by("metric", maintain_order=True):
        base, patched = (
            dict(part.filter(policy=policy).select("label", "value").iter_rows())
            for policy in policies
        )
        yield str(metric), base, patched


def measured() -> Iterator[Side]:
    """Yield contended acquisitions a page on a real 6.1 with 8 CPUs, under half full."""
    runs = data.measured_results("scan-base-under-half")
    for version, policy in (("V1", "percpu"), ("V3", MERGED)):
        table = "profile" + _SUFFIX[version]
        for metric in published.table("D", table)["metric"]:
            lock = next(
                (lock for caller, lock in _LOCKS[version].items() if caller in metric), None
            )
            own = runs.filter(metric=f"{lock} contended acquisitions")
            base, patched = (
                dict(own.filter(policy=each).select("seed", "value").iter_rows())
                for each in ("shared", policy)
            )
            what = f"contended acquisitions of {lock} a page"
            if lock and (found := side(table, metric, base, patched, what=what)):
                yield found


def by_hand() -> dict[tuple[str, str], float]:
    """Return the rates' ratio if all cycles outside of the profile's rows were work."""
    found: dict[tuple[str, str], float] = {}
    for suffix in _SUFFIX.values():
        rows = published.table("D", "profile" + suffix)
        before, after = (math.fsum(rows.to_series(column).drop_nulls()) for column in (2, 3))
        gain = (100 - after) / (100 - before)
        found |= {
            ("score" + suffix, row): gain
            for row in published.table("D", "score" + suffix)["metric"]
        }
    return found
