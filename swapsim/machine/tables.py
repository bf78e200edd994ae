# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the contention machine: its windows, its fits and their predictions."""

from typing import Final

import polars as pl

from swapsim.claims.tables import RANGE_VERDICT
from swapsim.ffi import facts
from swapsim.frames import columns
from swapsim.frames.table import BY_ROW, Column, Table, Vocabulary

MACHINE_SITES: Final = Table(
    "MACHINE_SITES",
    "One row per site where the contention machine takes a lock, as ``lock.function``: "
    "acquisitions, those that found the lock held, those after another CPU's, and the time "
    "of all together; the longest wait and hold of one of them are those since the machine "
    "began.",
    Column("site", pl.String, "where a lock is taken, as ``lock.function``"),
    Column("acquisitions", pl.UInt64, "times that the lock was taken"),
    Column("contended", pl.UInt64, "acquisitions that found the lock held"),
    Column(
        "moved",
        pl.UInt64,
        "acquisitions after another CPU's, so that the lock's cache line has to move",
    ),
    Column("wait_ns", pl.UInt64, "time of waiting for the lock"),
    Column("hold_ns", pl.UInt64, "time of holding the lock"),
    Column(
        "longest_wait_ns",
        pl.UInt64,
        "the longest wait and hold of one acquisition, since the start",
    ),
    Column(
        "longest_hold_ns",
        pl.UInt64,
        "the longest wait and hold of one acquisition, since the start",
    ),
)

ACTOR: Final = Vocabulary("ACTOR", "Who has a CPU of the contention machine.", facts.ACTORS)

_CPU: Final = Column("cpu", pl.UInt32, "number of the CPU")
MACHINE_CPUS: Final = Table(
    "MACHINE_CPUS",
    "One row per CPU of the contention machine: where its time went, pages that a writer "
    "wrote, accesses of a walker, pages that it gave to and read from a device, pages of "
    "memory that it freed, and pages that it found referenced on the inactive list.",
    _CPU,
    Column("actor", ACTOR.dtype, "what runs on the CPU"),
    Column("node", pl.UInt32, "the CPU's NUMA node"),
    Column("run_ns", pl.UInt64, "time of work without a lock"),
    Column("hold_ns", pl.UInt64, "time of holding locks"),
    Column("wait_ns", pl.UInt64, "time in waiting for locks"),
    Column("idle_ns", pl.UInt64, "time with nothing to do"),
    Column("touched", pl.UInt64, "pages that a writer wrote"),
    Column("accesses", pl.UInt64, "accesses of a walker"),
    Column("pages_out", pl.UInt64, "pages that it wrote to swap; pages that it read from there"),
    Column("pages_in", pl.UInt64, "pages that it wrote to swap; pages that it read from there"),
    Column("reclaimed", pl.UInt64, "pages of memory that it freed"),
    Column("activated", pl.UInt64, "pages that it found referenced on the inactive list"),
)

SPAN: Final = Vocabulary(
    "SPAN",
    "What a CPU of the contention machine does in a span of its log: it waits for a lock, "
    "holds one, or sleeps.",
    facts.SPANS,
)

MACHINE_SPANS: Final = Table(
    "MACHINE_SPANS",
    "One row per wait, hold and sleep of a machine's CPU that has ended (``machine_log.h``)."
    " A wait of no length found the lock free, and its line where it was.",
    Column(
        "from_ns",
        pl.UInt64,
        "when it began and ended, in simulated time since the devices were filled",
    ),
    Column(
        "until_ns",
        pl.UInt64,
        "when it began and ended, in simulated time since the devices were filled",
    ),
    Column("kind", SPAN.dtype, "what the CPU did"),
    _CPU,
    Column("site", pl.String, "where the lock is taken, as ``lock.function``; null for a sleep"),
    Column(
        "lock",
        pl.String,
        "which lock, by its class, owner and part; null for a sleep, and for a wait until "
        "another CPU has taken an interrupt",
    ),
    Column(
        "behind",
        pl.UInt32,
        "CPU that had the lock when this one asked for it, or that has interrupts off; null for "
        "none",
    ),
)

FIT: Final = Table(
    "FIT",
    "One row per figure of a base column that a fit had to meet, and by how much it missed.",
    Column("target", pl.String, "the figure of the base column that was fitted"),
    Column("wanted", pl.Float64, "what the mail prints", BY_ROW),
    Column("found", pl.Float64, "what the fitted machine gives", BY_ROW),
    Column("off_percent", pl.Float64, "from wanted to found, in percent"),
)

_CONVERGED: Final = Column("converged", pl.Boolean, "whether the fit reached its targets")
FIT_ROWS: Final = Table(
    "FIT_ROWS",
    "Fits to be kept: a row per constant found (ns, nothing wanted) and per figure met with them.",
    Column("fit", pl.String, "which fit"),
    Column("name", pl.String, "a constant that was found, or a figure that was met"),
    Column("value", pl.Float64, "in ns for a constant, else in the figure's unit", BY_ROW),
    Column("wanted", pl.Float64, "null for a constant", BY_ROW),
    _CONVERGED,
)

_TAG_SHARE: Final = Column(
    "tag_share",
    pl.Float64,
    "``tag_ns`` (a hold for tags) and ``map_ns`` (a look at the swap map), each as a share "
    "of ``tree_ns``",
)
_SIMULATED: Final = Column("simulated", pl.Float64, "predicted change, in percent", "%")
_PATCHED: Final = Column("patched", pl.Float64, "the figure with the patch", BY_ROW)
PREDICTED_BY_SHARES: Final = Table(
    "PREDICTED_BY_SHARES",
    "One row per fit of patch A's base and claim: the shares that were given, the constants "
    "that were found, the published and the predicted change in percent, and the patched "
    "kernel's own figure.",
    _TAG_SHARE,
    Column(
        "map_share",
        pl.Float64,
        "``tag_ns`` (a hold for tags) and ``map_ns`` (a look at the swap map), each as a share "
        "of ``tree_ns``",
    ),
    _CONVERGED,
    Column(
        "tree_ns", pl.UInt32, "how long an add or a delete holds the swap cache's lock, as fitted"
    ),
    Column("unmap_ns", pl.UInt32, "work without a lock per page swapped out, as fitted"),
    columns.CLAIM,
    columns.PUBLISHED,
    columns.TOLERANCE,
    _SIMULATED,
    _PATCHED,
)

_NEXT_SHARE: Final = Column(
    "next_share",
    pl.Float64,
    "cost of a further removal under the same hold, as a share of the first one's",
)
_AGAIN: Final = Column("again", pl.Boolean, "whether tasks use their memory repeatedly or once")
PREDICTED_BY_POINTS: Final = Table(
    "PREDICTED_BY_POINTS",
    "One row per point of what patch B's mail leaves open and claim: the published and the "
    "predicted change in percent, and the patched kernel's own figure.",
    _TAG_SHARE,
    _NEXT_SHARE,
    _AGAIN,
    columns.CLAIM,
    columns.PUBLISHED,
    columns.TOLERANCE,
    _SIMULATED,
    _PATCHED,
)

SPREAD_NEEDED: Final = Table(
    "SPREAD_NEEDED",
    "One row per point of what patch B's mail leaves open: how far one printed mean must "
    "stray from the true one, in percent, if the point is true, and the claim that is "
    "farthest off.",
    _TAG_SHARE,
    _NEXT_SHARE,
    _AGAIN,
    Column(
        "spread_percent",
        pl.Float64,
        "how far the printed means must be off if this combination of costs is true",
    ),
    Column("farthest", pl.String, "the claim that is farthest off then"),
)

_PAGES_A_SECOND: Final = Column("pages_a_second", pl.Float64, "pages written per second")
REWRITE: Final = Table(
    "REWRITE",
    "One row per size of memory and length of a hold, for a file three times as large that "
    "is written anew: how long its mapping's lock is held, what an acquisition waits, and "
    "what batching saves of the system time.",
    Column("memory_gb", pl.Float64, "the machine's memory"),
    Column("hold_ns", pl.Int64, "how long one acquisition holds the mapping's lock"),
    _PAGES_A_SECOND,
    Column("held_percent", pl.Float64, "share of the time that the lock is held"),
    Column("wait_ns", pl.Float64, "how long one acquisition waits"),
    Column("saved_percent", pl.Float64, "share of the system time that batching saves"),
)

HOLDS_BY_LIST: Final = Table(
    "HOLDS_BY_LIST",
    "One row per cost of a further removal of a hold and length of a list: the longest hold "
    "of batched removals, the longest and the mean wait of an add for the same lock, and "
    "pages written.",
    _NEXT_SHARE,
    Column("list_pages", pl.UInt32, "pages in a list of reclaim"),
    Column(
        "longest_hold_us",
        pl.Float64,
        "the longest hold of a batched removal; the longest wait of an add; its mean wait",
    ),
    Column(
        "longest_wait_us",
        pl.Float64,
        "the longest hold of a batched removal; the longest wait of an add; its mean wait",
    ),
    Column(
        "mean_wait_us",
        pl.Float64,
        "the longest hold of a batched removal; the longest wait of an add; its mean wait",
    ),
    _PAGES_A_SECOND,
)

SENSITIVITY: Final = Table(
    "SENSITIVITY",
    "One row per constant: its own low and high, and the gain in percent at each, the base "
    "fitted anew there; null where it could not be.",
    columns.CONSTANT,
    Column("at_low", pl.Float64, "the constant's low value; its high value", BY_ROW),
    Column("at_high", pl.Float64, "the constant's low value; its high value", BY_ROW),
    Column(
        "low",
        pl.Float64,
        "the gain with the constant at its low value; at its high value; null where the base "
        "could not be fitted",
        "%",
    ),
    Column(
        "high",
        pl.Float64,
        "the gain with the constant at its low value; at its high value; null where the base "
        "could not be fitted",
        "%",
    ),
    columns.FLIPS,
)

SWAP_SERIES: Final = Table(
    "SWAP_SERIES",
    "One row per figure of the swap series of 2017: as published, one standard deviation of "
    "it, and from where to where several fits predict it; no verdict on the one that was "
    "fitted.",
    Column("step", pl.String, "a step of the series"),
    columns.METRIC,
    columns.UNIT,
    Column("fitted", pl.Boolean, "whether a constant was fitted to the figure"),
    columns.PUBLISHED,
    columns.TOLERANCE,
    columns.LOW,
    columns.HIGH,
    Column("verdict", RANGE_VERDICT.dtype, "whether the result agrees with the claim"),
)

TIME_PER_PAGE: Final = Table(
    "TIME_PER_PAGE",
    "Where the CPUs' time goes between two pages swapped out: work without a lock, holds and"
    " waits of the swap cache's lock, of si->lock (in 4.8 each look at a map byte takes it),"
    " and of all others.",
    columns.KERNEL,
    Column("part", pl.String, "what the time goes to"),
    Column("microseconds", pl.Float64, "CPU time between two pages swapped out", "µs/page"),
    Column("percent", pl.Float64, "the same as a share of all that time", "%"),
)

_LABEL: Final = Column("label", pl.String, "factor and setting in words")
_BASE_WAITS: Final = Column(
    "base_waits",
    pl.Float64,
    "share of busy CPU time spent waiting for locks, without the patch; with it",
    "%",
)
_PATCHED_WAITS: Final = Column(
    "patched_waits",
    pl.Float64,
    "share of busy CPU time spent waiting for locks, without the patch; with it",
    "%",
)
WHAT_IF: Final = Table(
    "WHAT_IF",
    "One row per case, set of constants and seed: a rate without the patch and with it, and "
    "the share of all CPUs' busy time that is spent in waiting for locks, in percent.",
    columns.FACTOR,
    columns.SETTING,
    _LABEL,
    Column("fit", pl.String, "which set of fitted constants"),
    columns.SEED,
    Column("base", pl.Float64, "the rate without the patch; the rate with it", BY_ROW),
    Column("patched", pl.Float64, "the rate without the patch; the rate with it", BY_ROW),
    Column("gain_percent", pl.Float64, "from base to patched, in percent"),
    _BASE_WAITS,
    _PATCHED_WAITS,
)

WHAT_IF_RANGES: Final = Table(
    "WHAT_IF_RANGES",
    "One row per case: the least, the median and the greatest gain in percent over the fits.",
    columns.FACTOR,
    columns.SETTING,
    _LABEL,
    Column("low", pl.Float64, "the lowest gain; the median; the highest", "%"),
    Column("middle", pl.Float64, "the lowest gain; the median; the highest", "%"),
    Column("high", pl.Float64, "the lowest gain; the median; the highest", "%"),
    _BASE_WAITS,
    _PATCHED_WAITS,
    columns.FLIPS,
)
