# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine: its windows, its fits and what they predict.

Columns
-------
acquisitions : times that the lock was taken
contended : acquisitions that found the lock held
moved : acquisitions after another CPU's, so that the lock's cache line has to move
wait_ns : time of waiting for the lock
hold_ns : time of holding the lock
longest_wait_ns, longest_hold_ns : the longest wait and hold of one acquisition, since the start
MACHINE_CPUS.cpu : number of the CPU
actor : what runs on the CPU
node : the CPU's NUMA node
run_ns : time of work without a lock
MACHINE_CPUS.hold_ns : time of holding locks
MACHINE_CPUS.wait_ns : time in waiting for locks
idle_ns : time with nothing to do
touched : pages that a writer wrote
accesses : accesses of a walker
pages_out, pages_in : pages that it wrote to swap; pages that it read from there
reclaimed : pages of memory that it freed
activated : pages that it found referenced on the inactive list
from_ns, until_ns : when it began and ended, in simulated time since the devices were filled
kind : what the CPU did
MACHINE_SPANS.cpu : number of the CPU
MACHINE_SPANS.site : where the lock is taken, as ``lock.function``; null for a sleep
lock : which lock, by its class, owner and part; null for a sleep, and for a wait until another CPU
    has taken an interrupt
behind : CPU that had the lock when this one asked for it, or that has interrupts off; null for none
target : the figure of the base column that was fitted
wanted : what the mail prints
found : what the fitted machine gives
off_percent : from wanted to found, in percent
FIT_ROWS.fit : which fit
FIT_ROWS.name : a constant that was found, or a figure that was met
FIT_ROWS.value : in ns for a constant, else in the figure's unit
FIT_ROWS.wanted : null for a constant
converged : whether the fit reached its targets
tag_share, map_share : ``tag_ns`` (a hold for tags) and ``map_ns`` (a look at the swap map), each
    as a share of ``tree_ns``
tree_ns : how long an add or a delete holds the swap cache's lock, as fitted
unmap_ns : work without a lock per page swapped out, as fitted
PREDICTED_BY_SHARES.simulated, PREDICTED_BY_POINTS.simulated [%] : predicted change, in percent
patched : the figure with the patch
next_share : cost of a further removal under the same hold, as a share of the first one's
again : whether tasks use their memory repeatedly or once
spread_percent : how far the printed means must be off if this combination of costs is true
farthest : the claim that is farthest off then
memory_gb : the machine's memory
REWRITE.hold_ns : how long one acquisition holds the mapping's lock
pages_a_second : pages written per second
held_percent : share of the time that the lock is held
REWRITE.wait_ns : how long one acquisition waits
saved_percent : share of the system time that batching saves
list_pages : pages in a list of reclaim
longest_hold_us, longest_wait_us, mean_wait_us : the longest hold of a batched removal; the
    longest wait of an add; its mean wait
width [points] : high minus low
flips : whether the range includes both signs
RANGES.published [%] : the change as the mail prints it
RANGES.tolerance [points] : how far a result may be from it and agree
RANGES.low, RANGES.high [%] : the lowest and the highest change that a fit predicts
patched_low, patched_high : lowest and highest figure with the patch
fits : number of fits in the range
at_low, at_high : the constant's low value; its high value
SENSITIVITY.low, SENSITIVITY.high [%] : the gain with the constant at its low value; at its high
    value; null where the base could not be fitted
step : a step of the series
fitted : whether a constant was fitted to the figure
part : what the time goes to
microseconds [µs/page] : CPU time between two pages swapped out
percent : the same as a share of all that time
label : factor and setting in words
WHAT_IF.fit : which set of fitted constants
WHAT_IF.base, WHAT_IF.patched : the rate without the patch; the rate with it
gain_percent : from base to patched, in percent
base_waits, patched_waits [%] : share of busy CPU time spent waiting for locks, without the patch;
    with it
WHAT_IF_RANGES.low, WHAT_IF_RANGES.middle, WHAT_IF_RANGES.high [%] : the lowest gain; the median;
    the highest
"""

from typing import Final

import polars as pl

from swapsim.ffi import facts
from swapsim.frames.table import schema_of

MACHINE_SITES: Final = schema_of(
    {
        "site": pl.String,
        "acquisitions": pl.UInt64,
        "contended": pl.UInt64,
        "moved": pl.UInt64,
        "wait_ns": pl.UInt64,
        "hold_ns": pl.UInt64,
        "longest_wait_ns": pl.UInt64,
        "longest_hold_ns": pl.UInt64,
    }
)
"""One row per site where the contention machine takes a lock, as ``lock.function``: acquisitions,
those that found the lock held, those after another CPU's, and the time of all together; the longest
wait and hold of one of them are those since the machine began."""

ACTOR: Final = pl.Enum(facts.ACTORS)
"""Who has a CPU of the contention machine."""

MACHINE_CPUS: Final = schema_of(
    {
        "cpu": pl.UInt32,
        "actor": ACTOR,
        "node": pl.UInt32,
        "run_ns": pl.UInt64,
        "hold_ns": pl.UInt64,
        "wait_ns": pl.UInt64,
        "idle_ns": pl.UInt64,
        "touched": pl.UInt64,
        "accesses": pl.UInt64,
        "pages_out": pl.UInt64,
        "pages_in": pl.UInt64,
        "reclaimed": pl.UInt64,
        "activated": pl.UInt64,
    }
)
"""One row per CPU of the contention machine: where its time went, pages that a writer wrote,
accesses of a walker, pages that it gave to and read from a device, pages of memory that it freed,
and pages that it found referenced on the inactive list."""

SPAN: Final = pl.Enum(facts.SPANS)
"""What a CPU of the contention machine does in a span of its log: it waits for a lock, holds one,
or sleeps."""

MACHINE_SPANS: Final = schema_of(
    {
        "from_ns": pl.UInt64,
        "until_ns": pl.UInt64,
        "kind": SPAN,
        "cpu": pl.UInt32,
        "site": pl.String,
        "lock": pl.String,
        "behind": pl.UInt32,
    }
)
"""One row per wait, hold and sleep of a machine's CPU that has ended (``machine_log.h``). A wait of
no length found the lock free, and its line where it was."""

FIT: Final = schema_of(
    {
        "target": pl.String,
        "wanted": pl.Float64,
        "found": pl.Float64,
        "off_percent": pl.Float64,
    }
)
"""One row per figure of a base column that a fit had to meet, and by how much it missed."""

FIT_ROWS: Final = schema_of(
    {
        "fit": pl.String,
        "name": pl.String,
        "value": pl.Float64,
        "wanted": pl.Float64,
        "converged": pl.Boolean,
    }
)
"""Fits to be kept: a row per constant found (ns, nothing wanted) and per figure met with them."""

PREDICTED_BY_SHARES: Final = schema_of(
    {
        "tag_share": pl.Float64,
        "map_share": pl.Float64,
        "converged": pl.Boolean,
        "tree_ns": pl.UInt32,
        "unmap_ns": pl.UInt32,
        "claim": pl.String,
        "published": pl.Float64,
        "tolerance": pl.Float64,
        "simulated": pl.Float64,
        "patched": pl.Float64,
    }
)
"""One row per fit of patch A's base and claim: the shares that were given, the constants that were
found, the published and the predicted change in percent, and the patched kernel's own figure."""

PREDICTED_BY_POINTS: Final = schema_of(
    {
        "tag_share": pl.Float64,
        "next_share": pl.Float64,
        "again": pl.Boolean,
        "claim": pl.String,
        "published": pl.Float64,
        "tolerance": pl.Float64,
        "simulated": pl.Float64,
        "patched": pl.Float64,
    }
)
"""One row per point of what patch B's mail leaves open and claim: the published and the predicted
change in percent, and the patched kernel's own figure."""

SPREAD_NEEDED: Final = schema_of(
    {
        "tag_share": pl.Float64,
        "next_share": pl.Float64,
        "again": pl.Boolean,
        "spread_percent": pl.Float64,
        "farthest": pl.String,
    }
)
"""One row per point of what patch B's mail leaves open: how far one printed mean must stray from
the true one, in percent, if the point is true, and the claim that is farthest off."""

REWRITE: Final = schema_of(
    {
        "memory_gb": pl.Float64,
        "hold_ns": pl.Int64,
        "pages_a_second": pl.Float64,
        "held_percent": pl.Float64,
        "wait_ns": pl.Float64,
        "saved_percent": pl.Float64,
    }
)
"""One row per size of memory and length of a hold, for a file three times as large that is written
anew: how long its mapping's lock is held, what an acquisition waits, and what batching saves of the
system time."""

HOLDS_BY_LIST: Final = schema_of(
    {
        "next_share": pl.Float64,
        "list_pages": pl.UInt32,
        "longest_hold_us": pl.Float64,
        "longest_wait_us": pl.Float64,
        "mean_wait_us": pl.Float64,
        "pages_a_second": pl.Float64,
    }
)
"""One row per cost of a further removal of a hold and length of a list: the longest hold of
batched removals, the longest and the mean wait of an add for the same lock, and pages written."""

RANGE_VERDICT: Final = pl.Enum(["holds", "near", "misses", "open"])
"""How a range stands to a published figure; open: it is too wide to say anything of it."""

RANGES: Final = schema_of(
    {
        "claim": pl.String,
        "published": pl.Float64,
        "tolerance": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "width": pl.Float64,
        "verdict": RANGE_VERDICT,
        "flips": pl.Boolean,
        "patched_low": pl.Float64,
        "patched_high": pl.Float64,
        "fits": pl.UInt32,
    }
)
"""One row per claim: its change in percent as published, and from where to where several fits of
the same base predict it; ``patched_low`` and ``patched_high`` are the patched kernel's figure."""

SENSITIVITY: Final = schema_of(
    {
        "constant": pl.String,
        "at_low": pl.Float64,
        "at_high": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "flips": pl.Boolean,
    }
)
"""One row per constant: its own low and high, and the gain in percent at each, the base fitted
anew there; null where it could not be."""

SWAP_SERIES: Final = schema_of(
    {
        "step": pl.String,
        "metric": pl.String,
        "unit": pl.String,
        "fitted": pl.Boolean,
        "published": pl.Float64,
        "tolerance": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "verdict": RANGE_VERDICT,
    }
)
"""One row per figure of the swap series of 2017: as published, one standard deviation of it, and
from where to where several fits predict it; no verdict on the one that was fitted."""

TIME_PER_PAGE: Final = schema_of(
    {
        "kernel": pl.String,
        "part": pl.String,
        "microseconds": pl.Float64,
        "percent": pl.Float64,
    }
)
"""Where the CPUs' time goes between two pages swapped out: work without a lock, holds and waits of
the swap cache's lock, of si->lock (in 4.8 each look at a map byte takes it), and of all others."""

WHAT_IF: Final = schema_of(
    {
        "factor": pl.String,
        "setting": pl.Float64,
        "label": pl.String,
        "fit": pl.String,
        "seed": pl.UInt64,
        "base": pl.Float64,
        "patched": pl.Float64,
        "gain_percent": pl.Float64,
        "base_waits": pl.Float64,
        "patched_waits": pl.Float64,
    }
)
"""One row per case, set of constants and seed: a rate without the patch and with it, and the share
of all CPUs' busy time that is spent in waiting for locks, in percent."""

WHAT_IF_RANGES: Final = schema_of(
    {
        "factor": pl.String,
        "setting": pl.Float64,
        "label": pl.String,
        "low": pl.Float64,
        "middle": pl.Float64,
        "high": pl.Float64,
        "base_waits": pl.Float64,
        "patched_waits": pl.Float64,
        "flips": pl.Boolean,
    }
)
"""One row per case: the least, the median and the greatest gain in percent over the fits."""
