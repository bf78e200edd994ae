# SPDX-License-Identifier: GPL-2.0-or-later
"""The world in which reclaim decides: its rounds, counters, and its memory by time.

Columns
-------
round : number of the round
file_pages : pages of its file; 0: no file
begin_ns, serve_ns, end_ns : when it began, when serving began, and when all was dropped again; 0:
    not yet
io_ns : how long its file took, with fdatasync
ops, ops_per_second : operations of the client
swapped_in, swapped_out : pages, in the round or so far
minor_faults, major_faults : faults of the round
WORLD_COUNTERS.name : a counter of ``struct sws_reclaim_counts``
WORLD_COUNTERS.value : since the world began, in pages, ns or times
zone : the zone, null where in none
scanned_kswapd, scanned_direct : pages of inactive lists that were scanned, by whom
reclaimed_kswapd, reclaimed_direct : pages that were reclaimed, by whom
aged : pages of active lists that were looked at
slept, declined : how often it was slept, and asked for but declined
slept_ns : the time of all such sleeps
t_ns : when the sample was taken
free, inactive_anon, active_anon, inactive_file, active_file, dirty, writeback, unstable : pages of
    the zone of this kind
flags : a sum of the zone's stall flags
dirtied : pages that the writer dirtied so far
queued_reads, queued_writes : requests in the disk's queue
congested : whether the disk is
queued_calls : calls of the client that wait
kswapd_runs, kswapd_priority : whether kswapd is at work, and at which priority
kswapd_slept_ns, tasks_slept_ns : time slept in reclaim so far
throttled_ns : time that the writer was throttled so far
reads, writes : requests of the disk so far
read_ns, write_ns : how long they waited in all
queue_ns : the queue's length times time
"""

from typing import Final

import polars as pl

from swapsim.ffi.facts import STALL_SLEEPS, WORLD_WHERE
from swapsim.frames.table import schema_of

ZONE: Final = pl.Enum(["dma32", "normal"])
"""A zone of memory, the lower one first."""

WORLD_ROUNDS: Final = schema_of(
    {
        "round": pl.UInt32,
        "file_pages": pl.UInt32,
        "begin_ns": pl.UInt64,
        "serve_ns": pl.UInt64,
        "end_ns": pl.UInt64,
        "io_ns": pl.UInt64,
        "ops": pl.UInt64,
        "ops_per_second": pl.Float64,
        "swapped_in": pl.UInt64,
        "swapped_out": pl.UInt64,
        "minor_faults": pl.UInt64,
        "major_faults": pl.UInt64,
    }
)
"""One row per round that was begun: when it began, when the pool was full and serving began, when
all was dropped again, how long its file took with fdatasync (0: no file); operations, pages and
faults of the round. Times that have not come are 0."""

WORLD_COUNTERS: Final = schema_of({"name": pl.String, "value": pl.UInt64})
"""One row per counter of ``struct sws_reclaim_counts`` that is one number, in its order: sums since the
world began, in pages, ns or times."""

WORLD_ZONES: Final = schema_of(
    {
        "zone": ZONE,
        "scanned_kswapd": pl.UInt64,
        "scanned_direct": pl.UInt64,
        "reclaimed_kswapd": pl.UInt64,
        "reclaimed_direct": pl.UInt64,
        "aged": pl.UInt64,
    }
)
"""One row per zone: pages of its inactive lists that were scanned and reclaimed, by whom, and pages
of its active lists that were looked at."""

WORLD_SLEEPS: Final = schema_of(
    {
        "reason": pl.Enum(STALL_SLEEPS),
        "slept": pl.UInt64,
        "declined": pl.UInt64,
        "slept_ns": pl.UInt64,
    }
)
"""One row per sleep of reclaim: how often it was slept, how often it was asked for and declined,
and the time."""

WORLD_MEMORY: Final = schema_of(
    {
        "t_ns": pl.UInt64,
        "zone": ZONE,
        "free": pl.UInt32,
        "inactive_anon": pl.UInt32,
        "active_anon": pl.UInt32,
        "inactive_file": pl.UInt32,
        "active_file": pl.UInt32,
        "dirty": pl.UInt32,
        "writeback": pl.UInt32,
        "unstable": pl.UInt32,
        "flags": pl.UInt8,
        "scanned_kswapd": pl.UInt64,
        "reclaimed_kswapd": pl.UInt64,
        "scanned_direct": pl.UInt64,
    }
)
"""One row per sample and zone: the pages that it has of each kind, a sum of stall flags, and what
was scanned and reclaimed so far."""

WORLD_ACTIVITY: Final = schema_of(
    {
        "t_ns": pl.UInt64,
        "ops": pl.UInt64,
        "dirtied": pl.UInt64,
        "swapped_in": pl.UInt64,
        "swapped_out": pl.UInt64,
        "swap_used": pl.UInt32,
        "queued_reads": pl.UInt32,
        "queued_writes": pl.UInt32,
        "congested": pl.Boolean,
        "queued_calls": pl.UInt32,
        "kswapd_runs": pl.Boolean,
        "kswapd_priority": pl.UInt8,
        "kswapd_slept_ns": pl.UInt64,
        "tasks_slept_ns": pl.UInt64,
        "throttled_ns": pl.UInt64,
        "reads": pl.UInt64,
        "writes": pl.UInt64,
        "read_ns": pl.UInt64,
        "write_ns": pl.UInt64,
        "queue_ns": pl.UInt64,
    }
)
"""One row per sample: sums so far, slots in use, the disk's queue, and what kswapd does; how long
kswapd and tasks slept in reclaim, and the writer was throttled; the disk's requests, how long they
waited in all, and the queue's length times time."""

WORLD_LIVES: Final = schema_of(
    {
        "page": pl.UInt32,
        "t_ns": pl.UInt64,
        "where": pl.Enum(WORLD_WHERE),
        "zone": ZONE,
    }
)
"""One row per page that is followed and each change of where it is, or of its zone (null where it
is in none)."""
