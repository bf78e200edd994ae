# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch C: simulated results compared with the mail's tables."""

from typing import Final

import polars as pl

from swapsim.claims.tables import DIRECTION, DIRECTION_VERDICT, STANDING, VERDICT
from swapsim.ffi import STALL_COUNTERS
from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, COUNT, RATIO, Column, Table, Vocabulary
from swapsim.reclaim.tables import WHERE
from swapsim.stall.tables import DECIDED_LISTS, RULE_SET, STALL_PAGES

RANGE_END: Final = Vocabulary("RANGE_END", "An end of a constant's range.", ("low", "high"))

_METRIC: Final = Column("metric", pl.String, "row of the mail's table")
_RULES: Final = Column("rules", pl.String, "rule set, by the kernel that had it")
_INSIDE: Final = Column("inside", pl.Boolean, "whether it is within the allowed factor of the mail")

SIMULATED_CELLS: Final = Table(
    "SIMULATED_CELLS",
    "One row per cell of the mail's tables that is modelled.",
    columns.TABLE,
    _METRIC,
    _RULES,
    columns.PUBLISHED,
    Column("simulated", pl.Float64, "mean over the seeds", BY_ROW),
    Column("low", pl.Float64, "lowest figure over the seeds", BY_ROW),
    Column("high", pl.Float64, "highest figure over the seeds", BY_ROW),
    Column("ratio", pl.Float64, "simulated by published; null where either is zero", RATIO),
    _INSIDE,
    Column("judged", pl.Boolean, "whether it is judged; a cell that gives a constant is not"),
)

SIMULATED_VERDICTS: Final = Table(
    "SIMULATED_VERDICTS",
    "One row per row of the mail's tables; a judgement that its tolerances do not ask for is null.",
    columns.TABLE,
    _METRIC,
    Column("standing", STANDING.dtype, "what the simulator does with the row"),
    Column("order", DIRECTION_VERDICT.dtype, "whether the three kernels are in the mail's order"),
    Column("inside", pl.UInt8, "cells within the allowed factor of the mail"),
    Column("cells", pl.UInt8, "cells that are judged by size"),
    Column("change", pl.Float64, "published change from mmotm to the series", "%"),
    Column("points", pl.Float64, "simulated change from mmotm to the series", "%"),
    Column("size", VERDICT.dtype, "whether the two changes are as near as required"),
    Column("direction", DIRECTION_VERDICT.dtype, "whether the simulated change is below zero"),
    Column("collapse", pl.Boolean, "whether 3.9 collapses and the others do not"),
    columns.NOTE,
)

SIMULATED_SCORE: Final = Table(
    "SIMULATED_SCORE",
    "One row per table of the mail: counts of SIMULATED_VERDICTS.",
    columns.TABLE,
    Column("rows", pl.UInt32, "rows of the table"),
    Column("modelled", pl.UInt32, "rows that the simulator has"),
    Column("order_asked", pl.UInt32, "rows for which the mail has an order of the kernels"),
    Column("order_agrees", pl.UInt32, "rows that have this order"),
    Column("order_contradicts", pl.UInt32, "rows that have another order"),
    Column("order_open", pl.UInt32, "rows whose order is open"),
    Column("sized", pl.UInt32, "rows with all judged cells inside"),
    Column("cells", pl.UInt32, "cells that are judged by size"),
    Column("cells_sized", pl.UInt32, "cells that are inside"),
)

SIMULATED_CHANGES: Final = Table(
    "SIMULATED_CHANGES",
    "One row per change from the first simulation of the mail's machine to the second.",
    Column("change", pl.String, "what is changed"),
    Column("sized", pl.UInt32, "rows with all judged cells inside"),
    Column("cells_sized", pl.UInt32, "judged cells that are inside"),
    Column("sized_before", pl.UInt32, "rows inside by the rule of the first simulation, of 104"),
    Column("cells_before", pl.UInt32, "cells inside by the rule of the first simulation, of 288"),
    Column("order_agrees", pl.UInt32, "rows that have the mail's order"),
    Column("order_contradicts", pl.UInt32, "rows that have another order"),
    Column("order_open", pl.UInt32, "rows whose order is open"),
    Column("ops", pl.Float64, "3.9's operations per second at 4055M on the disk", "1/s"),
    Column("kswapd_scanned", pl.Float64, "pages that kswapd scanned by mmotm on the disk", COUNT),
    Column("file_writes", pl.Float64, "file pages written by reclaim, likewise", COUNT),
    Column("swapped", pl.Float64, "pages swapped out, likewise", COUNT),
    Column("swapped_series", pl.Float64, "pages swapped out by the series on the disk", COUNT),
    Column("collapse", pl.Boolean, "whether over NFS 3.9 collapses and the others do not"),
)

SIMULATED_WHAT_IF: Final = Table(
    "SIMULATED_WHAT_IF",
    "One row per figure of one run on another machine.",
    columns.FACTOR,
    columns.SETTING,
    _RULES,
    columns.SEED,
    _METRIC,
    columns.VALUE,
)

SIMULATED_SERVERS: Final = Table(
    "SIMULATED_SERVERS",
    "One row per figure of one run over NFS.",
    Column("net_mb", pl.UInt32, "bandwidth of the network in MB/s"),
    Column("server_mb", pl.UInt32, "bandwidth of the server's disk in MB/s"),
    _RULES,
    columns.SEED,
    _METRIC,
    columns.VALUE,
)

SIMULATED_MATTERS: Final = Table(
    "SIMULATED_MATTERS",
    "One row per machine and figure: whether the series changes it.",
    columns.FACTOR,
    columns.SETTING,
    _METRIC,
    Column("base", pl.Float64, "median with mmotm's rules", BY_ROW),
    Column("series", pl.Float64, "median with the series' rules", BY_ROW),
    Column("change", pl.Float64, "change from base to series; null where base is zero", "%"),
    Column("differs", pl.Boolean, "whether it is over 10 %, with the same sign in all seeds"),
)

SIMULATED_BY_TIME: Final = Table(
    "SIMULATED_BY_TIME",
    "One row per rule set and second of the run.",
    _RULES,
    Column("t_s", pl.UInt32, "second of the run"),
    Column("free", pl.UInt32, "free pages"),
    Column("active_anon", pl.UInt32, "anonymous pages on the active list"),
    Column("inactive_anon", pl.UInt32, "anonymous pages on the inactive list"),
    Column("clean", pl.UInt32, "clean file pages"),
    Column("dirty", pl.UInt32, "dirty file pages"),
    Column("written", pl.UInt32, "file pages under writeback"),
    columns.SWAP_USED,
    Column("scanned_normal", pl.Float64, "pages of zone normal that kswapd scanned", COUNT),
    Column("scanned_dma32", pl.Float64, "pages of zone dma32 that kswapd scanned", COUNT),
    Column("kswapd_sleeps", pl.Float64, "share of the second that kswapd slept in reclaim", RATIO),
    Column("tasks_sleep", pl.Float64, "share of the second that tasks slept in reclaim", RATIO),
    Column("writer_throttled", pl.Float64, "share of the second of the writer's throttle", RATIO),
    Column("client_waits", pl.Float64, "share of the second in which the client waited", RATIO),
)

SIMULATED_SUMMED: Final = Table(
    "SIMULATED_SUMMED",
    "One row per rule set: sums of SIMULATED_BY_TIME.",
    _RULES,
    Column("client_waits", pl.Float64, "time that the client waited", "s"),
    Column("writer_throttled", pl.Float64, "time that the writer was throttled", "s"),
    Column("kswapd_sleeps", pl.Float64, "time that kswapd slept in reclaim", "s"),
    Column("tasks_sleep", pl.Float64, "time that tasks slept in reclaim", "s"),
    Column("scanned_normal", pl.Float64, "pages of zone normal that kswapd scanned", COUNT),
    Column("scanned_dma32", pl.Float64, "pages of zone dma32 that kswapd scanned", COUNT),
    Column("most_swapped", pl.UInt32, "most swap slots that were in use at once"),
)

SIMULATED_PAGE_SPANS: Final = Table(
    "SIMULATED_PAGE_SPANS",
    "One row per span of time that a page of the pool spent in one place.",
    _RULES,
    Column("page", pl.UInt32, "number of the page in the pool"),
    Column("where", WHERE.dtype, "place of the page"),
    Column("zone", pl.String, "zone of the page; null outside of memory"),
    Column("begin_s", pl.Float64, "begin of the span"),
    Column("end_s", pl.Float64, "end of the span"),
)

SIMULATED_OPEN: Final = Table(
    "SIMULATED_OPEN",
    "One row per constant at an end of its range, and cell.",
    columns.CONSTANT,
    Column("end", RANGE_END.dtype, "end of the constant's range"),
    columns.TABLE,
    _METRIC,
    _RULES,
    Column("simulated", pl.Float64, "figure of one seed", BY_ROW),
    _INSIDE,
)

SIMULATED_ORDERS: Final = Table(
    "SIMULATED_ORDERS",
    "One row per row of the mail's tables and two kernels that differ in it.",
    columns.TABLE,
    _METRIC,
    Column("one", pl.String, "first kernel"),
    Column("other", pl.String, "second kernel"),
    Column("claimed", DIRECTION.dtype, "how the figure changes from the first to the second"),
)

SIMULATED_RANGES: Final = Table(
    "SIMULATED_RANGES",
    "One row per cell: the range over all settings of SIMULATED_OPEN.",
    columns.TABLE,
    _METRIC,
    _RULES,
    Column("low", pl.Float64, "lowest figure over the settings", BY_ROW),
    Column("low_by", pl.String, "constant that gives the lowest figure"),
    Column("high", pl.Float64, "highest figure over the settings", BY_ROW),
    Column("high_by", pl.String, "constant that gives the highest figure"),
    Column("settings", pl.UInt32, "number of settings"),
    Column("inside", pl.UInt32, "settings with the cell within the allowed factor"),
    Column("ordered", pl.UInt32, "settings with the row in the mail's order; null without one"),
)

RULE_SPANS: Final = Table(
    "RULE_SPANS",
    "One row per decision and range of rule sets, by age, that take it in the same way.",
    Column("decision", pl.String, "decision"),
    Column("rules", pl.List(pl.String), "rule sets of the range"),
    Column("text", pl.String, "the rule in a few words"),
    Column("since", pl.String, 'kernel since which it applies, or "the series"'),
)

_PLACE: Final = Column("place", pl.UInt32, "position of the page on its list, from 1")
_PAGE: Final = Column("page", pl.String, "the page in words")

LIST_OF_PAGES: Final = Table(
    "LIST_OF_PAGES",
    "One row per page of a list: in words, and as in STALL_PAGES.",
    _PLACE,
    _PAGE,
    *STALL_PAGES.columns,
    Column("locked", pl.Boolean, "whether another task holds its lock, so that reclaim skips it"),
)

_MEETING: Final = Column("meeting", pl.UInt32, "how often reclaim has met the list, from 1")

PROCESSED_LISTS: Final = Table(
    "PROCESSED_LISTS",
    "One row per rule set and time that reclaim meets the list.",
    _MEETING,
    DECIDED_LISTS["rules"],
    Column("taken", pl.UInt64, "pages of 4 KiB that were isolated"),
    Column("file_taken", pl.UInt64, "file pages of 4 KiB that were isolated"),
    *(Column(name, pl.UInt64, DECIDED_LISTS[name].meaning) for name in STALL_COUNTERS),
    Column("flags_before", pl.List(pl.String), "flags when the list began"),
    Column("flags_set", pl.List(pl.String), "flags that the list set"),
    Column("flags_after", pl.List(pl.String), "flags when the list ended"),
    Column("slept", pl.UInt32, "sleeps of case 1 within the list"),
    DECIDED_LISTS["sleeps"],
    Column("written", pl.UInt32, "pages that reclaim wrote"),
    Column("freed", pl.UInt32, "pages that were freed"),
    Column("freed_under_writeback", pl.UInt32, "pages that were freed under writeback"),
)

PROCESSED_PAGES: Final = Table(
    "PROCESSED_PAGES",
    "One row per rule set, time that reclaim meets the list, and page.",
    _MEETING,
    DECIDED_LISTS["rules"],
    _PLACE,
    _PAGE,
    Column("outcome", pl.String, "outcome of the page in words"),
)

DECISION_REASONS: Final = Table(
    "DECISION_REASONS",
    "One row per act of a rule set, in order, each time that reclaim meets the list.",
    _MEETING,
    DECIDED_LISTS["rules"],
    Column("why", pl.String, "the act, whether it is done, and why"),
)

CODE_CLAIMS: Final = Table(
    "CODE_CLAIMS",
    "One row per test of a claim about the code.",
    Column("patch", pl.UInt8, "number of the patch in the series of eight"),
    columns.CLAIM,
    Column("pages", pl.String, "list that is processed"),
    Column("seen", pl.String, "quantity that is compared"),
    Column("before", pl.String, "its value with one patch less"),
    Column("after", pl.String, "its value with the patch"),
    Column("verdict", DIRECTION_VERDICT.dtype, "it agrees if the values are as claimed"),
)

_ONE: Final = Column("one", RULE_SET.dtype, "first rule set of the pair")
_OTHER: Final = Column("other", RULE_SET.dtype, "second rule set of the pair")

STALL_AGREEMENT: Final = Table(
    "STALL_AGREEMENT",
    "One row per pair of rule sets.",
    _ONE,
    _OTHER,
    Column("lists", pl.UInt64, "number of lists"),
    Column("decisions", pl.Float64, "share of lists with the same flags and throttles", RATIO),
    Column("flags", pl.Float64, "share of lists that set the same flags", RATIO),
    Column("sleeps", pl.Float64, "share of lists that request the same throttles", RATIO),
    Column("folios", pl.Float64, "share of lists with the same outcome of all folios", RATIO),
)

STALL_DIFFERENCES: Final = Table(
    "STALL_DIFFERENCES",
    "One row per pair of rule sets, decision in which lists differ, and first cause.",
    _ONE,
    _OTHER,
    Column("decision", pl.String, "decision in which they differ"),
    Column("cause", pl.String, "first counter that differs, else ``history`` or ``rule``"),
    Column("lists", pl.UInt64, "number of lists that differ so"),
    Column("list", pl.UInt64, "number of the first such list"),
    Column("seq", pl.UInt64, "position of the first such list in the trace"),
)
