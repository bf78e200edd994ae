# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the reclaim simulator: rounds, counters, and its memory over time."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim.frames import columns
from swapsim.frames.table import Column, Table, Vocabulary
from swapsim.stall.tables import THROTTLE

WHERE: Final = Vocabulary(
    "WHERE", "The state of a page of the simulated client's pool.", ffi.RECLAIM_WHERE
)

ZONE: Final = Vocabulary("ZONE", "A zone of memory, the lower one first.", ("dma32", "normal"))

_OPS: Final = Column("ops", pl.UInt64, "operations of the client")
_PAGE_SUMS: Final = (
    Column("swapped_in", pl.UInt64, "pages read from swap"),
    Column("swapped_out", pl.UInt64, "pages written to swap"),
)
SIMULATED_ROUNDS: Final = Table(
    "SIMULATED_ROUNDS",
    "One row per round that began, up to its end or to the end of the simulation.",
    Column("round", pl.UInt32, "number of the round, from 0"),
    Column("file_pages", pl.UInt32, "pages of its file; 0: no file"),
    Column("begin_ns", pl.UInt64, "start of the round"),
    Column("serve_ns", pl.UInt64, "time at which the pool was full and serving began; 0: not yet"),
    Column("end_ns", pl.UInt64, "time at which all its memory was freed; 0: not yet"),
    Column("io_ns", pl.UInt64, "time that the file took, with fdatasync; 0: no file"),
    _OPS,
    Column("ops_per_second", pl.Float64, "operations of the client per second of serving"),
    *_PAGE_SUMS,
    Column("minor_faults", pl.UInt64, "faults that read no page"),
    Column("major_faults", pl.UInt64, "faults that waited for a page from the disk"),
    Column("program_faults", pl.UInt64, "those of them on pages of programs"),
    Column("scanned", pl.UInt64, "pages of inactive lists that were scanned"),
    Column("reclaimed", pl.UInt64, "pages that were reclaimed"),
)

SIMULATED_COUNTERS: Final = Table(
    "SIMULATED_COUNTERS",
    "One row per counter of ``struct sws_reclaim_counts`` that is a single number, in its order.",
    Column("name", pl.String, "a counter of ``struct sws_reclaim_counts``"),
    Column("value", pl.UInt64, "its value at the end: pages, ns or events, by its name"),
)

_ZONE: Final = Column("zone", ZONE.dtype, "the zone; null where the page is not in memory")
_SCANNED_KSWAPD: Final = Column(
    "scanned_kswapd", pl.UInt64, "pages of inactive lists that kswapd scanned, so far"
)
_SCANNED_DIRECT: Final = Column(
    "scanned_direct", pl.UInt64, "pages of inactive lists that direct reclaim scanned, so far"
)
_RECLAIMED_KSWAPD: Final = Column(
    "reclaimed_kswapd", pl.UInt64, "pages that kswapd reclaimed, so far"
)
SIMULATED_ZONES: Final = Table(
    "SIMULATED_ZONES",
    "One row per zone: what was scanned and reclaimed in it.",
    _ZONE,
    _SCANNED_KSWAPD,
    _SCANNED_DIRECT,
    _RECLAIMED_KSWAPD,
    Column("reclaimed_direct", pl.UInt64, "pages that direct reclaim reclaimed, so far"),
    Column("aged", pl.UInt64, "pages of active lists that were scanned"),
)

SIMULATED_THROTTLES: Final = Table(
    "SIMULATED_THROTTLES",
    "One row per kind of throttle in reclaim.",
    Column("reason", THROTTLE.dtype, "the kind of throttle"),
    Column("slept", pl.UInt64, "throttles that took place"),
    Column("declined", pl.UInt64, "throttles that were requested and skipped"),
    Column("slept_ns", pl.UInt64, "time of the throttles that took place"),
)

_T_NS: Final = Column("t_ns", pl.UInt64, "time of the row since the simulation began")
SIMULATED_MEMORY: Final = Table(
    "SIMULATED_MEMORY",
    "One row per sample and zone: its pages of each kind, its flags, and its sums so far.",
    _T_NS,
    _ZONE,
    Column("free", pl.UInt32, "free pages of the zone"),
    Column("inactive_anon", pl.UInt32, "pages on the zone's inactive list of anonymous pages"),
    Column("active_anon", pl.UInt32, "pages on the zone's active list of anonymous pages"),
    Column("inactive_file", pl.UInt32, "pages on the zone's inactive list of file pages"),
    Column("active_file", pl.UInt32, "pages on the zone's active list of file pages"),
    Column("dirty", pl.UInt32, "dirty pages of the zone"),
    Column("writeback", pl.UInt32, "pages of the zone under writeback"),
    Column("unstable", pl.UInt32, "pages of the zone that only the server's memory has"),
    Column("flags", pl.UInt8, "the zone's stall flags, bits of ``enum sws_stall_flag``"),
    _SCANNED_KSWAPD,
    _RECLAIMED_KSWAPD,
    _SCANNED_DIRECT,
)

SIMULATED_ACTIVITY: Final = Table(
    "SIMULATED_ACTIVITY",
    "One row per sample: sums so far, slots in use, the disk's queue, and kswapd's state.",
    _T_NS,
    _OPS,
    Column("dirtied", pl.UInt64, "pages that the writer dirtied so far"),
    *_PAGE_SUMS,
    columns.SWAP_USED,
    Column("queued_reads", pl.UInt32, "read requests in the disk's queue"),
    Column("queued_writes", pl.UInt32, "write requests in the disk's queue"),
    Column("congested", pl.Boolean, "whether the disk's queue, or the server, is congested"),
    Column("queued_calls", pl.UInt32, "calls that wait for the network or the server"),
    Column("kswapd_runs", pl.Boolean, "whether kswapd is awake"),
    Column("kswapd_priority", pl.UInt8, "the priority at which kswapd scans"),
    Column("kswapd_slept_ns", pl.UInt64, "time that kswapd was throttled so far"),
    Column("tasks_slept_ns", pl.UInt64, "time that direct reclaim was throttled so far"),
    Column("throttled_ns", pl.UInt64, "time that balance_dirty_pages throttled the writer so far"),
    Column("reads", pl.UInt64, "read requests that completed so far"),
    Column("writes", pl.UInt64, "write requests that completed so far"),
    Column("read_ns", pl.UInt64, "total time of the completed read requests"),
    Column("write_ns", pl.UInt64, "total time of the completed write requests"),
    Column("queue_ns", pl.UInt64, "integral of the queue's length over time"),
)

SIMULATED_PAGES: Final = Table(
    "SIMULATED_PAGES",
    "One row per followed page and change of its state or its zone.",
    Column("page", pl.UInt32, "number of the page in the client's pool"),
    _T_NS,
    Column("where", WHERE.dtype, "state of the page from then on"),
    _ZONE,
)
