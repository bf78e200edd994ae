# SPDX-License-Identifier: GPL-2.0-or-later
"""How often two CPUs use one lock of the swap cache, if the same requests meet other allocators.

::

    uses, in time   CPU 0, lock 7   CPU 1, lock 7   CPU 1, lock 3   CPU 1, lock 7   CPU 0, lock 3
    window of 2     no              meets           no              no: 3 ago       meets
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from swapsim.clusters.events import cluster_rows
from swapsim.io import data_root
from swapsim.patches.newer_kernels._native import Access, accesses, allocator
from swapsim.patches.newer_kernels.page_requests import PageRequests, device_life, trace_requests
from swapsim.study import over

ALLOCATORS: Final = ("shared", "percpu-rerandomise", "6.12", "7.3")
"""5.8 without patch D and with it, and the cluster allocators of two kernels."""

KERNELS: Final = (
    ("5.8, one base", "trunk of 64 MB", "shared", 64),
    ("5.8, patch D", "trunk of 64 MB", "percpu-rerandomise", 64),
    ("6.12", "trunk of 64 MB", "6.12", 64),
    ("6.12", "cluster of 2 MB", "6.12", 2),
    ("7.3", "cluster of 2 MB", "7.3", 2),
)
"""Kernel, lock, allocator and MB of the lock. On 6.12 the swap cache still has trunks.

In 5.7 and 5.8 a free does not take the swap cache's lock: there are no shadows to clear.
"""

GENERATED: Final = "generated"

CPUS: Final = (2, 4, 8, 16, 32, 64)
SEEDS: Final = range(1, 6)
SLOTS: Final = 2**19
"""2 GB, 32 trunks: the device of patch D's studies."""

TRACES: Final = ("clusters-7.3-file-2", "clusters-7.3-full-4", "clusters-7.3-orders-8")
"""Recordings of one device without seeks and of several CPUs, whose calls are for one folio."""

LOCK_SHIFTS: Final = {2: 9, 64: 14}
"""MB of a lock -> log2 of its slots: a cluster of 512 slots, and a trunk."""

_SCHEMA: Final = {
    **dict.fromkeys(("requests", "state", "allocator"), pl.String),
    **dict.fromkeys(("lock_mb", "locks", "cpus"), pl.UInt32),
    "seed": pl.UInt64,
    "window_turns": pl.UInt32,
    **dict.fromkeys(("uses", "met"), pl.UInt64),
}
"""The columns of the study's rows: a row for each setting, seed and window."""

WINDOW_TURNS: Final = (1, 4, 16)
"""Windows, in uses for each CPU: a use that is one turn back is about as old as one's own last."""


def count_meetings(uses: pl.DataFrame, windows: Sequence[int]) -> list[int]:
    """Count the uses (``cpu, lock``) that have one of their lock by another CPU within a window.

    A window is a number of uses before, of any lock by any CPU.
    """
    # The last use by another CPU is the one before, or that which was so for the one before.
    before = pl.col("at").shift(1).over("lock")
    changed = (pl.col("cpu") != pl.col("cpu").shift(1)).over("lock")
    ages = (
        uses.with_row_index("at")
        .with_columns(pl.col("at").cast(pl.Int64))
        .with_columns(other=pl.when(changed).then(before))
        .select(age=pl.col("at") - pl.col("other").forward_fill().over("lock"))
    )["age"]
    return [int((ages <= window).sum()) for window in windows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Requests that each allocator serves: of a trace, or of `device_life` on a device of SLOTS."""

    seed: int
    cpus: int = 1
    trace: str | None = None


def points() -> list[Point]:
    """Return the points of the study: each trace, and generated requests by number of CPUs."""
    return [
        *(Point(trace=trace, seed=seed) for trace in TRACES for seed in SEEDS),
        *(Point(cpus=cpus, seed=seed) for cpus in CPUS for seed in SEEDS),
    ]


def is_of_a_trace(point: Point) -> bool:
    """Return whether a point takes a second or two only."""
    return point.trace is not None


def of_point(point: Point) -> pl.DataFrame:
    """Serve the requests of a point by each allocator; count uses of locks, and those that meet.

    A use meets if another CPU used the same lock within the window. A page has two uses: it enters
    the swap cache, and it leaves it; on 6.12 and 7.3 a third, when its slot is freed.
    """
    if point.trace is None:
        requests = device_life(point.cpus, slots=SLOTS, seed=point.seed)
    else:
        requests = trace_requests(
            cluster_rows(data_root() / "traces" / point.trace), seed=point.seed
        )
    rows = [
        {"requests": point.trace or GENERATED, "allocator": name, "seed": point.seed, **counted}
        for name in ALLOCATORS
        for counted in _counted(requests, name, point.seed)
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _counted(requests: PageRequests, name: str, seed: int) -> Iterator[dict[str, object]]:
    """Yield the counts of an allocator by state, lock and window."""
    made = allocator(name, cpus=requests.cpus, slots=requests.slots, seed=seed)
    windows = [turns * requests.cpus for turns in WINDOW_TURNS]
    for state, uses in accesses(requests, made).items():
        for megabytes, shift in LOCK_SHIFTS.items():
            met = count_meetings(_frame(uses, shift), windows)
            for turns, count in zip(WINDOW_TURNS, met, strict=True):
                yield {
                    "state": state,
                    "lock_mb": megabytes,
                    "locks": (requests.slots - 1 >> shift) + 1,
                    "cpus": requests.cpus,
                    "window_turns": turns,
                    "uses": len(uses),
                    "met": count,
                }


def _frame(uses: Sequence[Access], shift: int) -> pl.DataFrame:
    columns = np.array(uses, dtype=np.uint32).reshape(-1, 3)
    return pl.DataFrame({"cpu": columns[:, 0], "lock": columns[:, 2] >> shift})


def shares(counted: pl.DataFrame, *, state: str = "aged", turns: int = 1) -> pl.DataFrame:
    """Return the share of uses that meet for each kernel and lock, with the range over the seeds.

    ``turns`` is the window, of WINDOW_TURNS; ``met`` is the mean number of uses that meet.
    """
    keys = ("requests", "kernel", "lock", "cpus")
    chosen = counted.filter(state=state, window_turns=turns)
    rows = pl.concat(
        chosen.filter(allocator=name, lock_mb=megabytes).with_columns(
            kernel=pl.lit(kernel), lock=pl.lit(lock), share=pl.col("met") / pl.col("uses")
        )
        for kernel, lock, name, megabytes in KERNELS
    )
    met = over(rows, *keys, value="met", stat="mean")
    found = over(rows, *keys, value="share", stat="mean")
    return found.select(*keys, "low", "high", share="middle", met=met["middle"])
