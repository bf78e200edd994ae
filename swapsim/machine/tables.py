# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the contention machine: its windows, its fits and their predictions."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim.claims.tables import HAND, VERDICT
from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, RATIO, Column, Table, Vocabulary

ACTOR: Final = Vocabulary("ACTOR", "What runs on a CPU of the contention machine.", ffi.ACTORS)

SPAN: Final = Vocabulary(
    "SPAN", "What a CPU does with a lock in a span of the log, or that it sleeps.", ffi.SPANS
)

MACHINE_SITES: Final = Table(
    "MACHINE_SITES",
    "One row per site where the contention machine takes a lock.",
    Column("site", pl.String, "where the lock is taken, as ``lock.function``"),
    Column("acquisitions", pl.UInt64, "times that the lock was taken"),
    Column("contended", pl.UInt64, "acquisitions that found the lock held"),
    Column("moved", pl.UInt64, "acquisitions that moved the lock's cache line from another CPU"),
    Column("wait_ns", pl.UInt64, "total time of waiting for the lock"),
    Column("hold_ns", pl.UInt64, "total time of holding the lock"),
    Column("longest_wait_ns", pl.UInt64, "longest wait of one acquisition since the start"),
    Column("longest_hold_ns", pl.UInt64, "longest hold of one acquisition since the start"),
)

_CPU: Final = Column("cpu", pl.UInt32, "number of the CPU")

MACHINE_CPUS: Final = Table(
    "MACHINE_CPUS",
    "One row per CPU of the contention machine.",
    _CPU,
    Column("actor", ACTOR.dtype, "what runs on the CPU"),
    Column("node", pl.UInt32, "NUMA node of the CPU"),
    Column("run_ns", pl.UInt64, "time of work without a lock"),
    Column("hold_ns", pl.UInt64, "time of holding locks"),
    Column("wait_ns", pl.UInt64, "time of waiting for locks"),
    Column("idle_ns", pl.UInt64, "time without work"),
    Column("touched", pl.UInt64, "pages that a writer wrote"),
    Column("accesses", pl.UInt64, "memory accesses of a walker"),
    Column("pages_out", pl.UInt64, "pages that the CPU wrote to swap"),
    Column("pages_in", pl.UInt64, "pages that the CPU read from swap"),
    Column("reclaimed", pl.UInt64, "pages of memory that the CPU freed"),
    Column("activated", pl.UInt64, "referenced pages that the CPU found on the inactive list"),
)

MACHINE_SPANS: Final = Table(
    "MACHINE_SPANS",
    "One row per wait, hold and sleep of a CPU that has ended (``machine_log.h``). Times are "
    "simulated time since the devices were filled. A wait of zero length found the lock free.",
    Column("from_ns", pl.UInt64, "begin of the span"),
    Column("until_ns", pl.UInt64, "end of the span"),
    Column("kind", SPAN.dtype, "what the CPU did"),
    _CPU,
    Column("site", pl.String, "where the lock is taken, as ``lock.function``; null for a sleep"),
    Column("lock", pl.String, "lock by class, owner and part; null for sleeps and interrupt waits"),
    Column("behind", pl.UInt32, "CPU that held the lock or had interrupts off; null for none"),
)

FIT: Final = Table(
    "FIT",
    "One row per figure of a base column that a fit had to meet.",
    Column("target", pl.String, "figure of the base column"),
    Column("wanted", pl.Float64, "figure that the mail prints", BY_ROW),
    Column("found", pl.Float64, "figure of the fitted machine", BY_ROW),
    Column("off_percent", pl.Float64, "difference from wanted to found"),
)

_CONVERGED: Final = Column("converged", pl.Boolean, "whether the fit reached its targets")

FIT_ROWS: Final = Table(
    "FIT_ROWS",
    "One row per fitted constant, and per figure that was met with it: a fit as it is stored.",
    Column("fit", pl.String, "name of the fit"),
    Column("name", pl.String, "constant that was found, or figure that was met"),
    Column("value", pl.Float64, "value in ns for a constant, else in the figure's unit", BY_ROW),
    Column("wanted", pl.Float64, "figure that the mail prints; null for a constant", BY_ROW),
    _CONVERGED,
)

SENSITIVITY: Final = Table(
    "SENSITIVITY",
    "One row per constant: the gain at both ends of its range, with the base fitted again.",
    columns.CONSTANT,
    Column("at_low", pl.Float64, "low value of the constant", BY_ROW),
    Column("at_high", pl.Float64, "high value of the constant", BY_ROW),
    Column(
        "low", pl.Float64, "gain at the low value; null where the base could not be fitted", "%"
    ),
    Column("high", pl.Float64, "gain at the high value; null where the base did not fit", "%"),
    columns.FLIPS,
)

SWAP_W_SEQ: Final = Table(
    "SWAP_W_SEQ",
    "One row per figure that swap-w-seq reports of a simulated machine.",
    columns.METRIC,
    Column("value", pl.Float64, "figure with the first set of constants", BY_ROW),
    Column("low", pl.Float64, "least figure over all sets of constants", BY_ROW),
    Column("high", pl.Float64, "greatest figure over all sets of constants", BY_ROW),
    columns.UNIT,
)

TIME_PER_PAGE: Final = Table(
    "TIME_PER_PAGE",
    "One row per part of the CPU time between two pages swapped out: work without a lock, and "
    "holds and waits of the swap cache's lock, of si->lock, and of all other locks.",
    columns.KERNEL,
    Column("part", pl.String, "part of the time"),
    Column(
        "microseconds", pl.Float64, "CPU time between two pages swapped out", "\N{MICRO SIGN}s/page"
    ),
    Column("percent", pl.Float64, "share of all parts", "%"),
)

_CASE: Final = (
    columns.FACTOR,
    columns.SETTING,
    Column("label", pl.String, "factor and setting in words"),
)
_WAITS: Final = tuple(
    Column(name, pl.Float64, f"share of busy CPU time in lock waits {which} the patch", "%")
    for name, which in (("base_waits", "without"), ("patched_waits", "with"))
)

WHAT_IF: Final = Table(
    "WHAT_IF",
    "One row per setting, set of fitted constants and seed.",
    *_CASE,
    Column("fit", pl.String, "set of fitted constants"),
    columns.SEED,
    Column("base", pl.Float64, "rate without the patch", BY_ROW),
    Column("patched", pl.Float64, "rate with the patch", BY_ROW),
    Column("gain_percent", pl.Float64, "change of the rate"),
    *_WAITS,
)

WHAT_IF_RANGES: Final = Table(
    "WHAT_IF_RANGES",
    "One row per setting: the gains over all fits and seeds.",
    *_CASE,
    Column("low", pl.Float64, "lowest gain", "%"),
    Column("middle", pl.Float64, "median gain", "%"),
    Column("high", pl.Float64, "highest gain", "%"),
    *_WAITS,
    columns.FLIPS,
)

MACHINE_METRICS: Final = Table(
    "MACHINE_METRICS",
    "One figure per metric of a run of the contention machine, in RESULTS. SITE is one of "
    "MACHINE_SITES, ACTOR one of ACTOR, WORK a count of ``slots.h``.",
    Column("swap_out", pl.Float64, "rate at which pages are swapped out", "KiB/s"),
    Column("swap_in", pl.Float64, "rate at which pages are swapped in", "KiB/s"),
    Column("written", pl.Float64, "rate at which files are written", "KiB/s"),
    Column("accesses", pl.Float64, "rate of memory accesses", "accesses/s"),
    Column("cycles.SITE", pl.Float64, "share of busy CPU time in the lock's function", "%"),
    Column("acquisitions.SITE", pl.Float64, "acquisitions of the lock", "1/page"),
    Column("contended.SITE", pl.Float64, "acquisitions that found the lock held", "1/page"),
    Column("moved.SITE", pl.Float64, "acquisitions that moved the lock's cache line", "1/page"),
    Column("wait.SITE", pl.Float64, "time of waiting for the lock per page swapped out", "ns/page"),
    Column("hold.SITE", pl.Float64, "time of holding the lock per page swapped out", "ns/page"),
    Column("longest_wait.SITE", pl.Float64, "longest wait of one acquisition", "ns"),
    Column("longest_hold.SITE", pl.Float64, "longest hold of one acquisition", "ns"),
    Column("run.ACTOR", pl.Float64, "share of these CPUs' time in work without a lock", "%"),
    Column("hold.ACTOR", pl.Float64, "share of these CPUs' time of holding locks", "%"),
    Column("wait.ACTOR", pl.Float64, "share of these CPUs' time of waiting for locks", "%"),
    Column("idle.ACTOR", pl.Float64, "share of these CPUs' time without work", "%"),
    Column("slots.WORK", pl.Float64, "work of the allocator per slot handed out", "1/slot"),
    Column("busy", pl.Float64, "busy time of all CPUs, including waits for locks", "ns/page"),
    Column("elapsed", pl.Float64, "simulated duration of the run", "ns"),
)

LOCK_KIND: Final = Vocabulary(
    "LOCK_KIND", "How the waiters of a lock are served and where they spin.", ffi.LOCK_KINDS
)

PLACEMENT: Final = Vocabulary(
    "PLACEMENT",
    "On which sockets the threads run; mixed: on two, half of them on each, arriving in any order.",
    ("one socket", "mixed", "all remote", "not stated"),
)

_ANCHOR: Final = Column("anchor", pl.String, "measurement on hardware, by machine and lock")
_HAND: Final = Column("hand", HAND.dtype, "first: compared with the source; second: not checked")
_KIND: Final = Column("kind", LOCK_KIND.dtype, "kind of lock in the simulation")
_PLACEMENT: Final = Column("placement", PLACEMENT.dtype, "on which sockets the threads run")
_THREADS: Final = Column("threads", pl.Int64, "threads that take the lock in a loop")

ANCHORS: Final = Table(
    "ANCHORS",
    "One row per published measurement of threads that take one lock in a loop "
    "(data/published/anchors.csv).",
    _ANCHOR,
    _HAND,
    Column("lock", pl.String, "lock, as the source calls it"),
    _KIND,
    Column("cpu", pl.String, "processor"),
    Column("sockets", pl.Int64, "sockets of the machine"),
    Column("cores", pl.Int64, "cores of a socket"),
    _PLACEMENT,
    _THREADS,
    Column("loops", pl.Int64, "loops of each thread in the printed time; null if not known"),
    columns.VALUE,
    columns.UNIT,
    Column("source", pl.String, "where it is printed"),
)

LOCK_RATES: Final = Table(
    "LOCK_RATES",
    "One row per kind of lock, placement and number of threads: a closed loop of the event "
    "simulation.",
    _KIND,
    _PLACEMENT,
    _THREADS,
    Column("ns", pl.Float64, "time of an acquisition, mean over the seeds", "ns"),
    Column("low", pl.Float64, "least mean of a seed", "ns"),
    Column("high", pl.Float64, "greatest mean of a seed", "ns"),
)

_TIMES: Final = Column("times", pl.Float64, "simulated figure, divided by the published one", RATIO)
_ANCHOR_VERDICT: Final = Column("verdict", VERDICT.dtype, "whether the rule of the table is met")

AGAINST_ANCHORS: Final = Table(
    "AGAINST_ANCHORS",
    "One row per measurement of ANCHORS whose time is known, kind of lock, and placement that its "
    "machine allows. It agrees within a factor of ``machine.anchors.ORDER``.",
    _ANCHOR,
    _HAND,
    _KIND,
    _PLACEMENT,
    _THREADS,
    Column("published_ns", pl.Float64, "published time of an acquisition"),
    Column("simulated_ns", pl.Float64, "simulated time of an acquisition"),
    _TIMES,
    _ANCHOR_VERDICT,
)

ANCHOR_SHAPES: Final = Table(
    "ANCHOR_SHAPES",
    "One row per anchor and quotient of two of its figures, which needs no unit.",
    _ANCHOR,
    _HAND,
    _KIND,
    Column("quantity", pl.String, "the two figures that are divided"),
    Column("published", pl.Float64, "published quotient", RATIO),
    Column("simulated", pl.Float64, "simulated quotient", RATIO),
    _ANCHOR_VERDICT,
)
