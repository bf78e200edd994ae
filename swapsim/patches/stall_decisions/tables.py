# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch C: the simulated results compared with the mail's tables."""

from typing import Final

import polars as pl

from swapsim.claims.tables import DIRECTION, DIRECTION_VERDICT, STANDING
from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, COUNT, RATIO, Column, Table, Vocabulary
from swapsim.reclaim.tables import WHERE

RANGE_END: Final = Vocabulary("RANGE_END", "An end of a constant's range.", ("low", "high"))

_METRIC: Final = Column("metric", pl.String, "a row of that table")
_RULES: Final = Column(
    "rules", pl.String, "a set of stall rules, named after the kernel that had it"
)
_LOW: Final = Column(
    "low", pl.Float64, "lowest and highest over the seeds, or over the settings tried", BY_ROW
)
_HIGH: Final = Column(
    "high", pl.Float64, "lowest and highest over the seeds, or over the settings tried", BY_ROW
)
_INSIDE: Final = Column(
    "inside",
    pl.Boolean,
    "whether the cell is within the allowed factor of the mail, or how many are",
)
SIMULATED_CELLS: Final = Table(
    "SIMULATED_CELLS",
    "One row per cell that is modelled: the mean over the seeds, the least and the greatest,"
    " and simulated by published (null where either is zero). A cell that is compared a "
    "second has all of them a second. ``inside``: within its width; null for one that "
    "constants were fitted on.",
    columns.TABLE,
    _METRIC,
    _RULES,
    columns.PUBLISHED,
    Column("simulated", pl.Float64, "the mean over the seeds", BY_ROW),
    _LOW,
    _HIGH,
    Column("ratio", pl.Float64, "simulated divided by published; null where either is zero", RATIO),
    _INSIDE,
)

SIMULATED_VERDICTS: Final = Table(
    "SIMULATED_VERDICTS",
    "One row per row of the tables. ``order`` of the three kernels, null where none is asked"
    " for; of ``cells`` that are judged by size so many are ``inside``. ``change``: "
    "published from mmotm to the series in percent, ``points`` the simulated one, ``near`` "
    "if it lies as near as is asked, ``worse`` if it is below zero; ``collapse`` if 3.9 "
    "alone collapses. Null where it is not asked for.",
    columns.TABLE,
    _METRIC,
    Column(
        "standing",
        STANDING.dtype,
        "whether the simulation has the row, and whether constants were fitted to it",
    ),
    Column(
        "order",
        DIRECTION_VERDICT.dtype,
        "whether the three kernels are in the mail's order; null where the mail has none",
    ),
    Column(
        "inside",
        pl.UInt8,
        "whether the cell is within the allowed factor of the mail, or how many are",
    ),
    Column("cells", pl.UInt8, "number of cells that are judged by size"),
    Column("change", pl.Float64, "published change from mmotm to the series", "%"),
    Column("points", pl.Float64, "the same, simulated", "%"),
    Column("near", pl.Boolean, "whether it is as near to the published change as required"),
    Column("worse", DIRECTION_VERDICT.dtype, "whether the simulated change is below zero"),
    Column("collapse", pl.Boolean, "whether 3.9 collapses and the others do not"),
    columns.NOTE,
)

SIMULATED_SCORE: Final = Table(
    "SIMULATED_SCORE",
    "SIMULATED_VERDICTS counted, one row per table: of its rows those that are modelled, those "
    "whose order is asked for and how it was judged, those ``sized``: with all cells inside;"
    " and the cells alone.",
    columns.TABLE,
    Column("rows", pl.UInt32, "rows of the table"),
    Column("modelled", pl.UInt32, "rows that the simulation has"),
    Column("order_asked", pl.UInt32, "rows for which the mail has an order of the kernels"),
    Column("order_holds", pl.UInt32, "rows that have that order; another one; are open"),
    Column("order_contradicted", pl.UInt32, "rows that have that order; another one; are open"),
    Column("order_open", pl.UInt32, "rows that have that order; another one; are open"),
    Column("sized", pl.UInt32, "rows with all judged cells inside"),
    Column("cells", pl.UInt32, "cells that are judged by size; cells inside"),
    Column("cells_sized", pl.UInt32, "cells that are judged by size; cells inside"),
)

SIMULATED_WHAT_IF: Final = Table(
    "SIMULATED_WHAT_IF",
    "One row per figure of one run on another machine: what was asked about, and its value there.",
    columns.FACTOR,
    columns.SETTING,
    _RULES,
    columns.SEED,
    _METRIC,
    columns.VALUE,
)

SIMULATED_SERVERS: Final = Table(
    "SIMULATED_SERVERS",
    "One row per figure of one run over NFS: megabytes a second of its net and its server's disk.",
    Column("net_mb", pl.UInt32, "megabytes per second of the network; of the server's disk"),
    Column("server_mb", pl.UInt32, "megabytes per second of the network; of the server's disk"),
    _RULES,
    columns.SEED,
    _METRIC,
    columns.VALUE,
)

SIMULATED_MATTERS: Final = Table(
    "SIMULATED_MATTERS",
    "One row per machine and figure: medians by mmotm's rules and by the series', their "
    "change in percent (null from zero), and whether that is more than what stays, with one "
    "sign in all seeds.",
    columns.FACTOR,
    columns.SETTING,
    _METRIC,
    Column("base", pl.Float64, "the median by mmotm's rules; by the series'", BY_ROW),
    Column("series", pl.Float64, "the median by mmotm's rules; by the series'", BY_ROW),
    Column("change", pl.Float64, "from base to series; null where base is zero", "%"),
    Column(
        "differs", pl.Boolean, "whether the change is over 10 %, with the same sign in all seeds"
    ),
)

SIMULATED_BY_TIME: Final = Table(
    "SIMULATED_BY_TIME",
    "One row per rules and second: pages that are free, of programs (active and inactive), "
    "and of files (clean, dirty, under writeback), and slots in use; since the second "
    "before, pages scanned by kswapd a second, and the shares of the time that kswapd and "
    "tasks slept in reclaim, the writer was throttled, and the client served nothing.",
    _RULES,
    Column("t_s", pl.UInt32, "second of the run"),
    Column("free", pl.UInt32, "pages that are free"),
    Column("active_anon", pl.UInt32, "anonymous pages on the active list; on the inactive list"),
    Column("inactive_anon", pl.UInt32, "anonymous pages on the active list; on the inactive list"),
    Column("clean", pl.UInt32, "file pages that are clean; dirty; under writeback"),
    Column("dirty", pl.UInt32, "file pages that are clean; dirty; under writeback"),
    Column("written", pl.UInt32, "file pages that are clean; dirty; under writeback"),
    columns.SWAP_USED,
    Column(
        "scanned_normal", pl.Float64, "pages of that zone that kswapd scanned in this second", COUNT
    ),
    Column(
        "scanned_dma32", pl.Float64, "pages of that zone that kswapd scanned in this second", COUNT
    ),
    Column(
        "kswapd_sleeps",
        pl.Float64,
        "share of the second that kswapd slept in reclaim; that tasks did",
        RATIO,
    ),
    Column(
        "tasks_sleep",
        pl.Float64,
        "share of the second that kswapd slept in reclaim; that tasks did",
        RATIO,
    ),
    Column(
        "writer_throttled", pl.Float64, "share of the second that the writer was throttled", RATIO
    ),
    Column("client_waits", pl.Float64, "share of the second in which the client waited", RATIO),
)

SIMULATED_SUMMED: Final = Table(
    "SIMULATED_SUMMED",
    "SIMULATED_BY_TIME added up, one row per rules: seconds that were waited or slept, pages "
    "scanned by kswapd, and the most slots that were in use at once.",
    _RULES,
    Column(
        "client_waits",
        pl.Float64,
        "time that the writer was throttled; that the client waited",
        "s",
    ),
    Column(
        "writer_throttled",
        pl.Float64,
        "time that the writer was throttled; that the client waited",
        "s",
    ),
    Column("kswapd_sleeps", pl.Float64, "time that kswapd slept in reclaim; that tasks did", "s"),
    Column("tasks_sleep", pl.Float64, "time that kswapd slept in reclaim; that tasks did", "s"),
    Column("scanned_normal", pl.Float64, "pages of the zone that kswapd scanned", COUNT),
    Column("scanned_dma32", pl.Float64, "pages of the zone that kswapd scanned", COUNT),
    Column("most_swapped", pl.UInt32, "the most slots that were in use at once"),
)

SIMULATED_PAGE_SPANS: Final = Table(
    "SIMULATED_PAGE_SPANS",
    "One row per span in which a page of the pool was in one place; ``zone`` null where in none.",
    _RULES,
    Column("page", pl.UInt32, "a page of the pool, by its number"),
    Column("where", WHERE.dtype, "where the page is"),
    Column("zone", pl.String, "the zone that the page is in; null where it is in none"),
    Column("begin_s", pl.Float64, "begin and end of the span, in seconds"),
    Column("end_s", pl.Float64, "begin and end of the span, in seconds"),
)

SIMULATED_OPEN: Final = Table(
    "SIMULATED_OPEN",
    "One row per constant at an end of its range, and cell: as in SIMULATED_CELLS, of one seed.",
    columns.CONSTANT,
    Column("end", RANGE_END.dtype, "which end of the constant's range was used"),
    columns.TABLE,
    _METRIC,
    _RULES,
    Column("simulated", pl.Float64, "the figure with one seed", BY_ROW),
    _INSIDE,
)

SIMULATED_ORDERS: Final = Table(
    "SIMULATED_ORDERS",
    "One row per row of the tables and two kernels that differ in the mail: which way it goes.",
    columns.TABLE,
    _METRIC,
    Column("one", pl.String, "the two kernels"),
    Column("other", pl.String, "the two kernels"),
    Column("claimed", DIRECTION.dtype, "whether the figure falls or rises from one to the other"),
)

SIMULATED_RANGES: Final = Table(
    "SIMULATED_RANGES",
    "One row per cell: the least and the greatest over ``worlds``, each with a constant at "
    "an end of its range, and which; in how many the cell is ``inside``, and its row in the "
    "mail's order, null where none is asked for.",
    columns.TABLE,
    _METRIC,
    _RULES,
    _LOW,
    Column(
        "low_by", pl.String, "the constant that was moved for the lowest figure; for the highest"
    ),
    _HIGH,
    Column(
        "high_by", pl.String, "the constant that was moved for the lowest figure; for the highest"
    ),
    Column("worlds", pl.UInt32, "number of settings tried"),
    Column(
        "inside",
        pl.UInt32,
        "whether the cell is within the allowed factor of the mail, or how many are",
    ),
    Column(
        "ordered",
        pl.UInt32,
        "in how many of them the row has the mail's order; null where the mail has none",
    ),
)
