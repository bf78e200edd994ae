# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the contention machine: its windows, its fits and their predictions."""

from typing import Final

import polars as pl

from swapsim import ffi
from swapsim import tables as columns
from swapsim.claims.tables import HAND
from swapsim.tables import BY_ROW, Column, Table, Vocabulary

ACTOR: Final = Vocabulary("ACTOR", "What runs on a CPU of the contention machine.", ffi.ACTORS)

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

MACHINE_METRICS: Final = Table(
    "MACHINE_METRICS",
    "One figure per metric of a run of the contention machine, in RESULTS. SITE is a "
    "lock and where it is taken, ACTOR one of ACTOR, WORK a count of ``slots.h``.",
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

ANCHORS: Final = Table(
    "ANCHORS",
    "One row per published measurement of threads that take one lock in a loop "
    "(data/published/anchors.csv).",
    Column("anchor", pl.String, "measurement on hardware, by machine and lock"),
    Column("hand", HAND.dtype, "first: compared with the source; second: not checked"),
    Column("lock", pl.String, "lock, as the source calls it"),
    Column("kind", LOCK_KIND.dtype, "kind of lock in the simulation"),
    Column("cpu", pl.String, "processor"),
    Column("sockets", pl.Int64, "sockets of the machine"),
    Column("cores", pl.Int64, "cores of a socket"),
    Column("placement", PLACEMENT.dtype, "on which sockets the threads run"),
    Column("threads", pl.Int64, "threads that take the lock in a loop"),
    Column("loops", pl.Int64, "loops of each thread in the printed time; null if not known"),
    columns.VALUE,
    columns.UNIT,
    Column("source", pl.String, "where it is printed"),
)
