# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's tables in its world: held against the mail's, cell by cell and row by row.

Columns
-------
metric : a row of that table
low, high : lowest and highest over the seeds, or over the settings tried
WORLD_CELLS.simulated : the mean over the seeds
ratio : simulated divided by published; null where either is zero
inside : whether the cell is within the allowed factor of the mail, or how many are
order : whether the three kernels are in the mail's order; null where the mail has none
cells : number of cells that are judged by size
WORLD_VERDICTS.change [%] : published change from mmotm to the series
points [%] : the same, simulated
near : whether it is as near to the published change as required
worse : whether the simulated change is below zero
collapse : whether 3.9 collapses and the others do not
base, series : the median by mmotm's rules; by the series'
change [%] : from base to series; null where base is zero
differs : whether the change is over 10 %, with the same sign in all seeds
t_s : second of the run
free : pages that are free
active_anon, inactive_anon : anonymous pages on the active list; on the inactive list
clean, dirty, written : file pages that are clean; dirty; under writeback
scanned_normal, scanned_dma32 : pages of that zone that kswapd scanned in this second
kswapd_sleeps, tasks_sleep : share of the second that kswapd slept in reclaim; that tasks did
writer_throttled : share of the second that the writer was throttled
client_waits : share of the second in which the client waited
WORLD_SUMMED.kswapd_sleeps, WORLD_SUMMED.tasks_sleep [s] : time that kswapd slept in reclaim;
    that tasks did
WORLD_SUMMED.writer_throttled, WORLD_SUMMED.client_waits [s] : time that the writer was throttled;
    that the client waited
WORLD_SUMMED.scanned_normal, WORLD_SUMMED.scanned_dma32 : pages of the zone that kswapd scanned
page : a page of the pool, by its number
zone : the zone that the page is in; null where it is in none
begin_s, end_s : begin and end of the span, in seconds
end : which end of the constant's range was used
WORLD_OPEN.simulated : the figure with one seed
one, other : the two kernels
claimed : whether the figure falls or rises from one to the other
low_by, high_by : the constant that was moved for the lowest figure; for the highest
worlds : number of settings tried
ordered : in how many of them the row has the mail's order; null where the mail has none
rows : rows of the table
modelled : rows that the simulation has
order_asked : rows for which the mail has an order of the kernels
order_holds, order_contradicted, order_open : rows that have that order; another one; are open
sized : rows with all judged cells inside
WORLD_SCORE.cells, cells_sized : cells that are judged by size; cells inside
most_swapped : the most slots that were in use at once
net_mb, server_mb : megabytes per second of the network; of the server's disk
"""

from typing import Final

import polars as pl

from swapsim.claims.tables import DIRECTION, DIRECTION_VERDICT
from swapsim.claims.tables_published import STANDING
from swapsim.ffi.facts import WORLD_WHERE
from swapsim.frames.table import schema_of

WORLD_CELLS: Final = schema_of(
    {
        "table": pl.String,
        "metric": pl.String,
        "rules": pl.String,
        "published": pl.Float64,
        "simulated": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "ratio": pl.Float64,
        "inside": pl.Boolean,
    }
)
"""One row per cell that is modelled: the mean over the seeds, the least and the greatest, and
simulated by published (null where either is zero). A cell that is compared a second has all of
them a second. ``inside``: within its width; null for one that constants were fitted on."""

WORLD_VERDICTS: Final = schema_of(
    {
        "table": pl.String,
        "metric": pl.String,
        "standing": STANDING,
        "order": DIRECTION_VERDICT,
        "inside": pl.UInt8,
        "cells": pl.UInt8,
        "change": pl.Float64,
        "points": pl.Float64,
        "near": pl.Boolean,
        "worse": DIRECTION_VERDICT,
        "collapse": pl.Boolean,
        "note": pl.String,
    }
)
"""One row per row of the tables. ``order`` of the three kernels, null where none is asked for; of
``cells`` that are judged by size so many are ``inside``. ``change``: published from mmotm to the
series in percent, ``points`` the simulated one, ``near`` if it lies as near as is asked, ``worse``
if it is below zero; ``collapse`` if 3.9 alone collapses. Null where it is not asked for."""

WORLD_SCORE: Final = schema_of(
    {
        "table": pl.String,
        "rows": pl.UInt32,
        "modelled": pl.UInt32,
        "order_asked": pl.UInt32,
        **{f"order_{word}": pl.UInt32 for word in DIRECTION_VERDICT.categories},
        "sized": pl.UInt32,
        "cells": pl.UInt32,
        "cells_sized": pl.UInt32,
    }
)
"""WORLD_VERDICTS counted, one row per table: of its rows those that are modelled, those whose order
is asked for and how it was judged, those ``sized``: with all cells inside; and the cells alone."""

WORLD_WHAT_IF: Final = schema_of(
    {
        "factor": pl.String,
        "setting": pl.Float64,
        "rules": pl.String,
        "seed": pl.UInt64,
        "metric": pl.String,
        "value": pl.Float64,
    }
)
"""One row per figure of one run on another machine: what was asked about, and its value there."""

WORLD_SERVERS: Final = schema_of(
    {
        "net_mb": pl.UInt32,
        "server_mb": pl.UInt32,
        "rules": pl.String,
        "seed": pl.UInt64,
        "metric": pl.String,
        "value": pl.Float64,
    }
)
"""One row per figure of one run over NFS: megabytes a second of its net and its server's disk."""

WORLD_MATTERS: Final = schema_of(
    {
        "factor": pl.String,
        "setting": pl.Float64,
        "metric": pl.String,
        "base": pl.Float64,
        "series": pl.Float64,
        "change": pl.Float64,
        "differs": pl.Boolean,
    }
)
"""One row per machine and figure: medians by mmotm's rules and by the series', their change in
percent (null from zero), and whether that is more than what stays, with one sign in all seeds."""

WORLD_BY_TIME: Final = schema_of(
    {
        "rules": pl.String,
        "t_s": pl.UInt32,
        "free": pl.UInt32,
        "active_anon": pl.UInt32,
        "inactive_anon": pl.UInt32,
        "clean": pl.UInt32,
        "dirty": pl.UInt32,
        "written": pl.UInt32,
        "swap_used": pl.UInt32,
        "scanned_normal": pl.Float64,
        "scanned_dma32": pl.Float64,
        "kswapd_sleeps": pl.Float64,
        "tasks_sleep": pl.Float64,
        "writer_throttled": pl.Float64,
        "client_waits": pl.Float64,
    }
)
"""One row per rules and second: pages that are free, of programs (active and inactive), and of
files (clean, dirty, under writeback), and slots in use; since the second before, pages
scanned by kswapd a second, and the shares of the time that kswapd and tasks slept in
reclaim, the writer was throttled, and the client served nothing."""

WORLD_SUMMED: Final = schema_of(
    {
        "rules": pl.String,
        "client_waits": pl.Float64,
        "writer_throttled": pl.Float64,
        "kswapd_sleeps": pl.Float64,
        "tasks_sleep": pl.Float64,
        "scanned_normal": pl.Float64,
        "scanned_dma32": pl.Float64,
        "most_swapped": pl.UInt32,
    }
)
"""WORLD_BY_TIME added up, one row per rules: seconds that were waited or slept, pages scanned by
kswapd, and the most slots that were in use at once."""

WORLD_LIFE_SPANS: Final = schema_of(
    {
        "rules": pl.String,
        "page": pl.UInt32,
        "where": pl.Enum(WORLD_WHERE),
        "zone": pl.String,
        "begin_s": pl.Float64,
        "end_s": pl.Float64,
    }
)
"""One row per span in which a page of the pool was in one place; ``zone`` null where in none."""

WORLD_OPEN: Final = schema_of(
    {
        "constant": pl.String,
        "end": pl.Enum(["low", "high"]),
        "table": pl.String,
        "metric": pl.String,
        "rules": pl.String,
        "simulated": pl.Float64,
        "inside": pl.Boolean,
    }
)
"""One row per constant at an end of its range, and cell: as in WORLD_CELLS, of one seed."""

WORLD_ORDERS: Final = schema_of(
    {
        "table": pl.String,
        "metric": pl.String,
        "one": pl.String,
        "other": pl.String,
        "claimed": DIRECTION,
    }
)
"""One row per row of the tables and two kernels that differ in the mail: which way it goes."""

WORLD_RANGES: Final = schema_of(
    {
        "table": pl.String,
        "metric": pl.String,
        "rules": pl.String,
        "low": pl.Float64,
        "low_by": pl.String,
        "high": pl.Float64,
        "high_by": pl.String,
        "worlds": pl.UInt32,
        "inside": pl.UInt32,
        "ordered": pl.UInt32,
    }
)
"""One row per cell: the least and the greatest over ``worlds``, each with a constant at an end of
its range, and which; in how many the cell is ``inside``, and its row in the mail's order, null
where none is asked for."""
