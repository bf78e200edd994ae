# SPDX-License-Identifier: GPL-2.0-or-later
"""How often reclaim of 6.12 and 7.3 makes the decisions of patch 03, with lists or generations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from rig.collect import Captured, events, moved
from rig.counts import Metrics, Rows
from rig.errors import GuestError

# Of include/linux/mmzone.h and backing-dev-defs.h, the same in both kernels.
REASONS: Final = ("WRITEBACK", "ISOLATED", "NOPROGRESS", "CONGESTED")
_WOKEN_BY_RECLAIM: Final = 1
RECLAIMERS: Final = ("kswapd", "direct", "cgroup")
_PASS: Final = "node_pass"
_EVENTS: Final = (
    *(_PASS, "node_decided", "throttle", "flushers_woken"),
    *("mm_vmscan_lru_shrink_inactive", "mm_vmscan_throttled"),
)
# Bits of enum pgdat_flags; 7.3 has no flag for dirty pages.
_NODE_FLAGS: Final[Mapping[str, Mapping[str, int]]] = {
    "6.12": {"DIRTY": 1 << 0, "WRITEBACK": 1 << 1},
    "7.3": {"WRITEBACK": 1 << 0},
}
_COUNTERS: Final = (
    *("pswpout", "pgscan_kswapd", "pgscan_direct", "pgsteal_kswapd", "pgsteal_direct"),
    *("nr_vmscan_write", "nr_vmscan_immediate_reclaim", "nr_throttled_written"),
)


def read(captured: Captured, work: Path) -> tuple[Metrics, Rows]:
    """Count passes of reclaim over nodes, those that decide, and what is decided.

    All is counted for kswapd, for direct reclaim of all memory, and for that of a cgroup.

    Raises
    ------
    GuestError
        There was no reclaim.
    """
    recorded = events(captured, work, *_EVENTS, missing=True)
    if recorded[_PASS].is_empty():
        raise GuestError("there was no reclaim")
    release = captured.report["kernel"].splitlines()[0]
    flags = _NODE_FLAGS[".".join(release.split(".")[:2])]
    by_reclaimer = _by_reclaimer(recorded)
    metrics: Metrics = {}
    for reclaimer in RECLAIMERS:
        of = {
            name: frame.filter(pl.col("by") == reclaimer) if frame.width else frame
            for name, frame in by_reclaimer.items()
        }
        counted = _counts(of) | {
            f"passes flagged {flag}": (_flagged(of[_PASS], bit), "pass")
            for flag, bit in flags.items()
        }
        metrics |= {f"{name} {reclaimer}": value for name, value in counted.items()}
    for counter in _COUNTERS:
        metrics[counter] = (moved(captured, counter), "1")
    return metrics, []


def _by_reclaimer(recorded: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Add to each event who reclaims, by the task's last pass; compaction throttles without one."""
    cgroup = pl.col("memcg").cast(pl.UInt64, wrap_numerical=True) != 0
    by = (
        pl.when(pl.col("comm").str.starts_with("kswapd"))
        .then(pl.lit("kswapd"))
        .when(cgroup)
        .then(pl.lit("cgroup"))
        .otherwise(pl.lit("direct"))
    )
    passes = recorded[_PASS].sort("seq").with_columns(by=by)
    last = passes.select("seq", "pid", "by")
    others = {
        name: frame.sort("seq").join_asof(last, on="seq", by="pid", check_sortedness=False)
        for name, frame in recorded.items()
        if name != _PASS and not frame.is_empty()
    }
    return {name: pl.DataFrame() for name in _EVENTS} | others | {_PASS: passes}


def _counts(of: Mapping[str, pl.DataFrame]) -> Metrics:
    """Count the events of one reclaimer; one that did not occur has no columns."""

    def count(event: str, field: str, value: int | str) -> int:
        frame = of[event]
        return frame.filter(pl.col(field) == value).height if frame.width else 0

    lists = of["mm_vmscan_lru_shrink_inactive"]
    metrics: Metrics = {
        "passes": (of[_PASS].height, "pass"),
        "passes that decide": (count("node_decided", "tree", 1), "pass"),
        "lists": (lists.height, "list"),
        "flushers woken": (count("flushers_woken", "reason", _WOKEN_BY_RECLAIM), "1"),
    }
    for kind in ("dirty", "writeback", "congested", "immediate"):
        folios = int(lists[f"nr_{kind}"].sum()) if lists.width else 0
        metrics[f"folios {kind}"] = (folios, "folio")
    for number, reason in enumerate(REASONS):
        metrics[f"throttles {reason}"] = (count("throttle", "reason", number), "1")
        slept = count("mm_vmscan_throttled", "reason", f"VMSCAN_THROTTLE_{reason}")
        metrics[f"stalls {reason}"] = (slept, "1")
    return metrics


def _flagged(passes: pl.DataFrame, bit: int) -> int:
    """Count passes that begin on a node with a flag."""
    return passes.filter(
        pl.col("node_flags").cast(pl.UInt64, wrap_numerical=True) & bit != 0
    ).height
