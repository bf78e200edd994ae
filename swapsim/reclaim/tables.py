# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the reclaim simulator: rounds, counters, and its memory over time."""

from typing import Final

import polars as pl

from swapsim.ffi import facts
from swapsim.frames import columns
from swapsim.frames.table import Column, Table, Vocabulary
from swapsim.stall.tables import THROTTLE

WHERE: Final = Vocabulary("WHERE", "Where a page of the simulated machine is.", facts.WORLD_WHERE)

ZONE: Final = Vocabulary(
    "ZONE",
    "A zone of memory, the lower one first.",
    (
        "dma32",
        "normal",
    ),
)

_OPS: Final = Column("ops", pl.UInt64, "operations of the client")
_SWAPPED_IN: Final = Column("swapped_in", pl.UInt64, "pages, in the round or so far")
_SWAPPED_OUT: Final = Column("swapped_out", pl.UInt64, "pages, in the round or so far")
WORLD_ROUNDS: Final = Table(
    "WORLD_ROUNDS",
    "One row per round that was begun: when it began, when the pool was full and serving "
    "began, when all was dropped again, how long its file took with fdatasync (0: no file); "
    "operations, pages and faults of the round. Times that have not come are 0.",
    Column("round", pl.UInt32, "number of the round"),
    Column("file_pages", pl.UInt32, "pages of its file; 0: no file"),
    Column(
        "begin_ns",
        pl.UInt64,
        "when it began, when serving began, and when all was dropped again; 0: not yet",
    ),
    Column(
        "serve_ns",
        pl.UInt64,
        "when it began, when serving began, and when all was dropped again; 0: not yet",
    ),
    Column(
        "end_ns",
        pl.UInt64,
        "when it began, when serving began, and when all was dropped again; 0: not yet",
    ),
    Column("io_ns", pl.UInt64, "how long its file took, with fdatasync"),
    _OPS,
    Column("ops_per_second", pl.Float64, "operations of the client"),
    _SWAPPED_IN,
    _SWAPPED_OUT,
    Column("minor_faults", pl.UInt64, "faults of the round"),
    Column("major_faults", pl.UInt64, "faults of the round"),
)

WORLD_COUNTERS: Final = Table(
    "WORLD_COUNTERS",
    "One row per counter of ``struct sws_reclaim_counts`` that is one number, in its order: "
    "sums since the world began, in pages, ns or times.",
    Column("name", pl.String, "a counter of ``struct sws_reclaim_counts``"),
    Column("value", pl.UInt64, "since the world began, in pages, ns or times"),
)

_ZONE: Final = Column("zone", ZONE.dtype, "the zone, null where in none")
_SCANNED_KSWAPD: Final = Column(
    "scanned_kswapd", pl.UInt64, "pages of inactive lists that were scanned, by whom"
)
_SCANNED_DIRECT: Final = Column(
    "scanned_direct", pl.UInt64, "pages of inactive lists that were scanned, by whom"
)
_RECLAIMED_KSWAPD: Final = Column(
    "reclaimed_kswapd", pl.UInt64, "pages that were reclaimed, by whom"
)
WORLD_ZONES: Final = Table(
    "WORLD_ZONES",
    "One row per zone: pages of its inactive lists that were scanned and reclaimed, by whom,"
    " and pages of its active lists that were looked at.",
    _ZONE,
    _SCANNED_KSWAPD,
    _SCANNED_DIRECT,
    _RECLAIMED_KSWAPD,
    Column("reclaimed_direct", pl.UInt64, "pages that were reclaimed, by whom"),
    Column("aged", pl.UInt64, "pages of active lists that were looked at"),
)

WORLD_SLEEPS: Final = Table(
    "WORLD_SLEEPS",
    "One row per sleep of reclaim: how often it was slept, how often it was asked for and "
    "declined, and the time.",
    Column("reason", THROTTLE.dtype, "what the sleep is for"),
    Column("slept", pl.UInt64, "how often it was slept, and asked for but declined"),
    Column("declined", pl.UInt64, "how often it was slept, and asked for but declined"),
    Column("slept_ns", pl.UInt64, "the time of all such sleeps"),
)

_T_NS: Final = Column("t_ns", pl.UInt64, "when the sample was taken")
WORLD_MEMORY: Final = Table(
    "WORLD_MEMORY",
    "One row per sample and zone: the pages that it has of each kind, a sum of stall flags, "
    "and what was scanned and reclaimed so far.",
    _T_NS,
    _ZONE,
    Column("free", pl.UInt32, "pages of the zone of this kind"),
    Column("inactive_anon", pl.UInt32, "pages of the zone of this kind"),
    Column("active_anon", pl.UInt32, "pages of the zone of this kind"),
    Column("inactive_file", pl.UInt32, "pages of the zone of this kind"),
    Column("active_file", pl.UInt32, "pages of the zone of this kind"),
    Column("dirty", pl.UInt32, "pages of the zone of this kind"),
    Column("writeback", pl.UInt32, "pages of the zone of this kind"),
    Column("unstable", pl.UInt32, "pages of the zone of this kind"),
    Column("flags", pl.UInt8, "a sum of the zone's stall flags"),
    _SCANNED_KSWAPD,
    _RECLAIMED_KSWAPD,
    _SCANNED_DIRECT,
)

WORLD_ACTIVITY: Final = Table(
    "WORLD_ACTIVITY",
    "One row per sample: sums so far, slots in use, the disk's queue, and what kswapd does; "
    "how long kswapd and tasks slept in reclaim, and the writer was throttled; the disk's "
    "requests, how long they waited in all, and the queue's length times time.",
    _T_NS,
    _OPS,
    Column("dirtied", pl.UInt64, "pages that the writer dirtied so far"),
    _SWAPPED_IN,
    _SWAPPED_OUT,
    columns.SWAP_USED,
    Column("queued_reads", pl.UInt32, "requests in the disk's queue"),
    Column("queued_writes", pl.UInt32, "requests in the disk's queue"),
    Column("congested", pl.Boolean, "whether the disk is"),
    Column("queued_calls", pl.UInt32, "calls of the client that wait"),
    Column("kswapd_runs", pl.Boolean, "whether kswapd is at work, and at which priority"),
    Column("kswapd_priority", pl.UInt8, "whether kswapd is at work, and at which priority"),
    Column("kswapd_slept_ns", pl.UInt64, "time slept in reclaim so far"),
    Column("tasks_slept_ns", pl.UInt64, "time slept in reclaim so far"),
    Column("throttled_ns", pl.UInt64, "time that the writer was throttled so far"),
    Column("reads", pl.UInt64, "requests of the disk so far"),
    Column("writes", pl.UInt64, "requests of the disk so far"),
    Column("read_ns", pl.UInt64, "how long they waited in all"),
    Column("write_ns", pl.UInt64, "how long they waited in all"),
    Column("queue_ns", pl.UInt64, "the queue's length times time"),
)

WORLD_LIVES: Final = Table(
    "WORLD_LIVES",
    "One row per page that is followed and each change of where it is, or of its zone (null "
    "where it is in none).",
    Column("page", pl.UInt32, "the page, as a number or in words"),
    _T_NS,
    Column("where", WHERE.dtype, "where the page is"),
    _ZONE,
)
