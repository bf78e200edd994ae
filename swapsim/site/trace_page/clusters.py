# SPDX-License-Identifier: GPL-2.0-or-later
"""Clusters of swap slots: which large folios were split, and by which rules."""

from pathlib import Path
from typing import Final

import polars as pl

from swapsim import charts, clusters
from swapsim.clusters import charts as clusters_charts
from swapsim.clusters.events import ClusterRows, opened
from swapsim.clusters.replay import calls
from swapsim.site.trace_page import blocks

_SAMPLES: Final = 100
"""Moments at which a device and its lists are shown."""


def section(folder: Path) -> blocks.Blocks:
    """Yield which large folios were split, and which the rules of other kernels split."""
    with opened(folder) as rows:
        yield from _of_clusters(rows)


def _of_clusters(rows: ClusterRows) -> blocks.Blocks:
    yield blocks.text(
        "A swap device is divided into clusters of slots, and a large folio needs adjacent slots "
        "of one cluster, or it is split. Were folios split, and would the rules of other kernels "
        "have split more of the same requests?"
    )
    replayed = clusters.replay(rows, samples=_SAMPLES)
    large = replayed.grants.filter((pl.col("order") > 0) & (pl.col("requests") > 0))
    ended = calls(rows.events).filter(pl.col("order") > 0)["got"].drop_nulls()
    yield blocks.text(f"The kernel split {(ended == 0).sum():,} of {len(ended):,} large folios.")
    verdict = clusters.verify(rows)
    yield blocks.verdict(verdict)
    use = _use(rows)
    yield blocks.chart(
        charts.lines(
            use,
            "seq",
            "used_percent",
            "device",
            title="The device over time",
            words={"seq": "row of the trace", "used_percent": "slots in use (%)"},
            domain=(0, 100),
        )
    )
    split = _split(rows)
    if split.height:
        yield blocks.text(
            "Large folios that were split, by what the devices had that were tried for them:"
        )
        yield blocks.table(split, _SPLIT)
    yield "<h3>Under other rules</h3>"
    yield blocks.text(
        "Each set of rules is given the trace's requests and frees, and chooses slots of its own, "
        "as do those of the kernel itself here. Calls do not overlap, and no slot that only the "
        "swap cache holds is freed for them; so figures of the kernel's own rules may differ from "
        f"what the kernel did. {_split_by_rules(large)}"
    )
    split_by = large.filter(pl.col("fallbacks").sum().over("order") > 0)
    if split_by.height:
        yield blocks.chart(
            charts.bars(
                split_by.with_columns(order=pl.format("order {}", "order")),
                "fallback_percent",
                "rules",
                panel="order",
                columns=3,
                width=200,
                domain=(0, 100),
                title="Large folios split, of the same requests",
                words={"fallback_percent": "split (%)"},
            )
        )
    yield blocks.table(replayed.grants, {}, fold="Requests by order")
    work = replayed.work.select(_WORK)
    yield blocks.table(work, {}, fold="Locks and list moves a grant")
    yield blocks.chart(clusters_charts.lists_over_time(replayed.lists, title="Clusters by list"))


def _split_by_rules(large: pl.DataFrame) -> str:
    """Return how many requests for large folios each rule set refuses; all have the same ones."""
    summed = large.group_by("rules").agg(pl.col("requests", "fallbacks").sum()).sort("rules")
    asked = f"Of {int(summed['requests'].max() or 0):,} requests for large folios"  # type: ignore[arg-type]
    if not summed["fallbacks"].sum():
        return f"{asked} each is granted under all rules."
    refused = summed.select("fallbacks", "rules").iter_rows()
    split = [f"{n:,} are split by the rules of {name}" for n, name in refused]
    return f"{asked} {blocks.listed(split)}."


_SPLIT: Final = {
    "order": "log2 of the pages of a folio",
    "reason": "why it was split, by the devices that were tried",
    "folios": "folios that were split",
    "median_free_slots": "slots free on these devices, the median over the folios",
}


_WORK: Final = (
    *("rules", "grants", "visits_a_grant", "moves_a_grant", "si_lock_a_grant"),
    *("cluster_lock_a_grant", "avail_lock_a_grant", "in_sequence_percent", "mixed_percent"),
)


def _in_use(rows: ClusterRows) -> pl.DataFrame:
    """Return each change of the slots in use of a device."""
    sign = pl.when(op="grant").then(1).when(op="free").then(-1)
    changed = rows.events.select("seq", "device", change=sign * pl.col("n").cast(pl.Int64))
    return changed.drop_nulls("change").with_columns(used=pl.col("change").cum_sum().over("device"))


def _use(rows: ClusterRows) -> pl.DataFrame:
    """Return at some moments how many percent of a device's slots are in use."""
    last = rows.events["seq"].max()
    step = max(int(last) // _SAMPLES, 1)  # type: ignore[arg-type]
    return (
        _in_use(rows)
        .join(rows.devices.select("device", "slots"), on="device")
        .group_by("device", moment=pl.col("seq") // step, maintain_order=True)
        .agg(pl.col("seq", "used", "slots").last())
        .select(
            pl.format("device {}", "device").alias("device"),
            "seq",
            used_percent=100 * pl.col("used") / pl.col("slots"),
        )
        .sort("device", "seq")
    )


def _split(rows: ClusterRows) -> pl.DataFrame:
    """Return the requests for several slots that were refused, by order and reason.

    The reason is computed from the slots that were free, when the call ended, on the devices that
    it tried: those that it turned to, or whose clusters it looked at.
    """
    refused = calls(rows.events).filter((pl.col("got") == 0) & (pl.col("order") > 0))
    # The first slot of a device is its header.
    devices = rows.devices.select("device", "file", usable=pl.col("slots").cast(pl.Int64) - 1)
    free = (
        refused.explode("device")
        .sort("seq")
        .join_asof(
            _in_use(rows).select("seq", "device", "used"),
            on="seq",
            by="device",
            check_sortedness=False,
        )
        .join(devices, on="device", how="left")
        .group_by("seq", "order")
        .agg(
            free=(pl.col("usable") - pl.col("used").fill_null(0)).sum(),
            file=pl.col("file").all() & pl.col("file").count().gt(0),
            tried=pl.col("device").count(),
        )
    )
    reason = (
        pl.when(tried=0)
        .then(pl.lit("no device was tried"))
        .when("file")
        .then(pl.lit("a swap file, which has no large folios"))
        .when(pl.col("free") < 2 ** pl.col("order").cast(pl.Int64))
        .then(pl.lit("fewer slots free than the folio has pages"))
        .otherwise(pl.lit("slots free, but no cluster for this order"))
    )
    return (
        free.group_by("order", reason=reason)
        .agg(folios=pl.len(), median_free_slots=pl.col("free").median())
        .sort("order", "reason")
    )
