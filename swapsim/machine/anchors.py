# SPDX-License-Identifier: GPL-2.0-or-later
"""Published measurements of locks (anchors), and the closed loop that is compared with them.

Threads take one lock, hold it, and take it again. No constant is fitted to an anchor except the
work between two transfers of the line, which is that of the lone thread of the Opteron's ticket
lock. The anchors are of other processors and, in part, of other locks, so they bound the order of
magnitude and the shape, and no more.
"""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim import ffi
from swapsim.io import data_root
from swapsim.published.data import HAND
from swapsim.tables import Table, read_csv

PLACEMENTS: Final = ("one socket", "mixed", "all remote")
"""On which sockets the threads run; mixed: on two, half of them on each, arriving in any order."""

ANCHORS: Final = Table(
    "ANCHORS",
    "One row per published measurement of threads that take one lock in a loop: value and unit "
    "as printed; loops of each thread in the printed time are null if not known.",
    {"anchor": pl.String, "hand": HAND, "lock": pl.String, "kind": pl.Enum(ffi.LOCK_KINDS)},
    {"cpu": pl.String, "sockets": pl.Int64, "cores": pl.Int64},
    {"placement": pl.Enum((*PLACEMENTS, "not stated")), "threads": pl.Int64, "loops": pl.Int64},
    {"value": pl.Float64, "unit": pl.String, "source": pl.String},
)

THREADS: Final = (1, 2, 4, 8, 16, 32)
FAIR: Final = ("queued", "ticket")
"""Kinds of lock that serve waiters in the order of their arrival."""

HOLD_NS: Final = 1
THINK_NS: Final = 57  # with the hold, 58 ns, as of a lone thread of the Opteron's ticket lock

ACQUISITIONS: Final = 4000


def published_anchors() -> pl.DataFrame:
    """Read the published measurements of locks (ANCHORS)."""
    return read_csv(data_root() / "published" / "anchors.csv", ANCHORS, ["loops"])


def published_ns(anchor: Mapping[str, Any]) -> float | None:
    """Return the published time of an acquisition; None if the number of loops is not known."""
    if anchor["unit"] == "operations/s":
        return 1e9 / float(anchor["value"])
    loops = anchor["loops"]
    return None if loops is None else 1e6 * float(anchor["value"]) / (loops * anchor["threads"])
