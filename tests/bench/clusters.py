# SPDX-License-Identifier: GPL-2.0-or-later
"""The recording of a cluster allocator: verified, and served under other rules, a row at a time.

The rows are those of a shipped trace from which nothing has to be taken; times are those of the
CPU. The peer is the plain Python model, which is driven by the
same rows: it compares each point of a call (verify), or runs each request to its end (replay).
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import harness
import polars as pl

from swapsim import ffi as core
from swapsim import traces
from swapsim._core import ffi, lib
from swapsim.clusters._native import columns_of, configured, switches_of, verify_rows
from swapsim.clusters.events import CLUSTER_LIST, ClusterRows, cluster_rows
from swapsim.ffi import check

NAMES = ("clusters/replay", "clusters/verify")
TRACE = "clusters-7.3-zram-1"
OTHER = "6.12"
"""Rules of the replay."""

AGAIN = 40
"""Times that the C library processes the trace in one run."""

NOT_IN_ROWS = {"window", "relock", "visited", "discard", "discarded", "busy"}
"""Points of a call that the rows of 7.3 do not show."""


def fed_a_second(rows: ClusterRows, create: Any, config: Any, free: Any, feed: Any) -> float:
    """Return the rows that C processes a second; ``feed`` is called with a new handle and rows."""
    columns, spent = columns_of(rows.events), 0.0
    for _ in range(AGAIN):
        handle = core.new(create, config, free=free)
        start = time.process_time()
        code = feed(handle, columns, rows.events.height)
        spent += time.process_time() - start
        check(code)
    return AGAIN * rows.events.height / spent


def verify(rows: ClusterRows) -> float:
    """Return the rows that C compares a second."""
    counts, _, mismatch = verify_rows(rows, lambda _: None)
    harness.require(counts["grants"] and mismatch is None, "a shipped trace does not verify")
    return fed_a_second(
        rows,
        lib.sws_cluster_replay_new,
        configured(rows, rows.rules),
        lib.sws_cluster_replay_free,
        lib.sws_cluster_replay_feed,
    )


def replay(rows: ClusterRows) -> float:
    """Return the rows that C serves a second under other rules."""
    clusters = configured(rows, OTHER)
    config = core.config(
        lib.sws_cluster_what_if_config_init,
        None,
        clusters=clusters[0],
        trace_has_slot_cache=switches_of(rows.rules)["slot_cache"],
    )
    none, count = ffi.new("struct sws_cluster_what_if_sample[1]"), ffi.new("uint64_t *")
    return fed_a_second(
        rows,
        lib.sws_cluster_what_if_new,
        config,
        lib.sws_cluster_what_if_free,
        lambda *fed: lib.sws_cluster_what_if_feed(*fed, none, count),
    )


def _model(rows: ClusterRows, rules: str) -> Any:
    import oracle_clusters

    fields = ("slots", "priority", "file", "rotational", "discard")
    devices = [
        oracle_clusters.DeviceConfig(**row) for row in rows.devices.select(fields).rows(named=True)
    ]
    return oracle_clusters.Allocator(oracle_clusters.RULES[rules], devices, rows.cluster_size)


def _numbered(rows: ClusterRows) -> list[dict[str, Any]]:
    """Return the rows with lists as numbers, and 0 for what a row does not have."""
    lists = {word: number for number, word in enumerate(CLUSTER_LIST.categories)}
    numbers = pl.col("list").cast(pl.String).replace_strict(lists, return_dtype=pl.Int64)
    return list(rows.events.with_columns(list=numbers).fill_null(0).iter_rows(named=True))


def model_verify(rows: ClusterRows) -> float:
    """Return the same of the plain Python model."""
    from oracle_clusters import Call

    allocator, calls, done = _model(rows, rows.rules), {}, 0
    some = _numbered(rows)
    start = time.process_time()
    for row in some:
        if row["op"] == "call":
            calls[row["pid"]] = allocator.call(Call(row["cpu"], row["order"], row["n"]))
            next(calls[row["pid"]])
        elif row["op"] == "free":
            allocator.free_slots(row["device"], row["slot"], row["n"])
        elif row["op"] not in ("move", "try") or row["pid"] in calls:
            if not _equal(calls[row["pid"]], row):
                break
            if row["op"] == "done":
                del calls[row["pid"]]
        done += 1
    spent = time.process_time() - start
    harness.require(done == len(some), "the plain model differs from a shipped trace")
    return done / spent


def _equal(points: Any, row: dict[str, Any]) -> bool:
    """Run a call to its next point that rows show; return whether that is the row."""
    for point in points:
        if point is None:
            continue
        if point.op.name.lower() in NOT_IN_ROWS:
            points.send(point)
            continue
        same = point.op.name.lower() == row["op"] and point[1:3] == (row["device"], row["slot"])
        if same and row["op"] != "done":
            points.send(point)
        return bool(same)
    return False


def model_replay(rows: ClusterRows) -> float:
    """Return the same of the plain Python model, without slot cache and fallbacks."""
    allocator, ours, cpus = _model(rows, OTHER), {}, {}
    some = _numbered(rows)
    start = time.process_time()
    for row in some:
        if row["op"] == "call":
            cpus[row["pid"]] = allocator.allocate(row["cpu"], row["order"], row["n"])
        elif row["op"] == "grant" and cpus.get(row["pid"]):
            device, slot = cpus[row["pid"]].pop()
            for n in range(row["n"]):
                ours[row["device"], row["slot"] + n] = device, slot + n
        elif row["op"] == "free":
            for n in range(row["n"]):
                known = ours.pop((row["device"], row["slot"] + n), None)
                if known is not None:
                    allocator.free_slots(*known, 1)
    return len(some) / (time.process_time() - start)


def run() -> Iterator[Any]:
    """Yield the benchmarks of NAMES."""
    rows = cluster_rows(traces.shipped_folders("clusters")[TRACE])
    unit = "million events/s (peer: the plain Python model, oracle_clusters.py)"
    sides = ((replay, model_replay), (verify, model_verify))
    for name, (ours, peer) in zip(NAMES, sides, strict=True):
        yield harness.compare(name, unit, partial(ours, rows), partial(peer, rows), 1e6)
