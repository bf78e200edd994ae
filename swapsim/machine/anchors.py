# SPDX-License-Identifier: GPL-2.0-or-later
"""The locks of the event simulation next to published measurements of locks: its anchors.

Threads of a closed loop take one lock, hold it, and take it again. No constant is fitted to an
anchor except the work between two transfers of the line, which is that of the lone thread of
the Opteron's ticket lock. The anchors are of other processors and, in part, of other locks, so they
bound the order of magnitude and the shape, and no more.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim import ffi
from swapsim.io import data_root
from swapsim.machine._native import TRAVELS, closed_loop_ns
from swapsim.machine.constants import costs_by_name
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

ORDER: Final = 3.0
"""Largest factor between two times that agree, of another processor and often another lock. Set
when all anchors and three simulated figures (133, 243 and 355 ns) were known."""

COLLAPSE: Final = 2 / 3
"""Share of its throughput below which a lock collapses as threads are added. Set with the anchors
in sight, which keep 0.5 and 0.8, and before the simulated shares were computed."""

FROM_THREADS: Final = 3  # of two threads, no waiter queues behind another one

THREADS: Final = (1, 2, 4, 8, 16, 32)
FAIR: Final = ("queued", "ticket")
"""Kinds of lock that serve waiters in the order of their arrival."""

HOLD_NS: Final = 1
THINK_NS: Final = 57  # with the hold, 58 ns, as of a lone thread of the Opteron's ticket lock

ACQUISITIONS: Final = 4000
SEEDS: Final = range(1, 21)
"""Each seed has another order of arrival, which a saturated fair lock repeats for ever."""


def published_anchors() -> pl.DataFrame:
    """Read the published measurements of locks (ANCHORS)."""
    return read_csv(data_root() / "published" / "anchors.csv", ANCHORS, ["loops"])


def lock_rates(
    kinds: Sequence[str] = FAIR,
    placements: Sequence[str] = PLACEMENTS,
    threads: Sequence[int] = THREADS,
) -> pl.DataFrame:
    """Simulate threads, each on a core of its own, that take one lock in a loop.

    The columns are ``kind, placement, threads, ns, low, high``: the time of an acquisition, the
    mean over the seeds, and the least and greatest mean of a seed. Transfers are those of
    data/costs.csv.
    """
    travels = {name: ns for name, ns in costs_by_name().items() if name in TRAVELS}
    rows = []
    for kind, placement, count in product(kinds, placements, threads):
        on_socket = {"one socket": count, "mixed": -(-count // 2), "all remote": 1}[placement]
        found = [
            closed_loop_ns(
                kind,
                cpus=count,
                cpus_per_socket=on_socket,
                travels=travels,
                think_ns=THINK_NS,
                hold_ns=HOLD_NS,
                acquisitions=ACQUISITIONS,
                seed=seed,
            )
            for seed in SEEDS
        ]
        rows.append((kind, placement, count, math.fsum(found) / len(found), min(found), max(found)))
    schema = ["kind", "placement", "threads", "ns", "low", "high"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def against_anchors() -> pl.DataFrame:
    """Compare the time of an acquisition with each published one of several threads, by ORDER.

    A placement that is not stated is every one that the machine allows.
    """
    rows = []
    for anchor in published_anchors().iter_rows(named=True):
        published, threads = published_ns(anchor), anchor["threads"]
        if published is None or threads == 1:
            continue
        allowed = {
            "one socket": threads <= anchor["cores"],
            "mixed": 2 < threads <= 2 * anchor["cores"],
            "all remote": 1 < threads <= anchor["sockets"],
        }
        stated = anchor["placement"]
        for placement in [stated] if stated in allowed else [p for p in allowed if allowed[p]]:
            found = _simulated_ns(anchor["kind"], placement, threads)
            row = {name: anchor[name] for name in ("anchor", "hand", "kind", "threads")}
            row |= {"placement": placement}
            row |= {"published_ns": published, "simulated_ns": found, "times": found / published}
            rows.append(row | {"verdict": _by_order(found / published)})
    return pl.DataFrame(rows)


def anchor_shapes() -> pl.DataFrame:
    """Compare quotients of an anchor's figures with the simulated ones.

    The share of throughput that most threads keep of that of FROM_THREADS is the negative control
    of Boyd-Wickizer et al. (2012): a ticket lock collapses and a queued lock does not. Both shares
    are on one side of COLLAPSE, or missed; a quotient of two placements is judged by ORDER.
    """
    rows = []
    for (name,), frame in published_anchors().group_by("anchor", maintain_order=True):
        first = frame.row(0, named=True)
        for (stated,), curve in frame.group_by("placement", maintain_order=True):
            rows += list(_kept(str(name), str(stated), curve))
        if frame["placement"].n_unique() > 1:
            near, far = (
                frame.filter(placement=placement, threads=first["threads"]).row(0, named=True)
                for placement in ("one socket", "all remote")
            )
            quantity = f"time of {first['threads']} threads, all remote : one socket"
            quotients = far["value"] / near["value"], _time(far) / _time(near)
            verdict = _by_order(quotients[1] / quotients[0])
            rows.append((name, first["hand"], first["kind"], quantity, *quotients, verdict))
    schema = ["anchor", "hand", "kind", "quantity", "published", "simulated", "verdict"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _kept(name: str, stated: str, curve: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the row of the share of throughput, if the anchor has figures for enough threads."""
    ordered = curve.filter(pl.col("threads") >= FROM_THREADS).sort("threads")
    few, most = (ordered.row(at, named=True) for at in (0, -1))
    if most["threads"] < 2 * few["threads"]:
        return
    both = _rate(most) / _rate(few), _time(few) / _time(most)
    side = (both[0] < COLLAPSE) == (both[1] < COLLAPSE)
    where = "" if stated == "not stated" else f", {stated}"
    quantity = f"throughput of {most['threads']} threads : {few['threads']}{where}"
    verdict = "reproduced" if side else "missed"
    yield (name, few["hand"], few["kind"], quantity, *both, verdict)


def _by_order(times: float) -> str:
    """Return the verdict on a quotient of two times."""
    return "reproduced" if 1 / ORDER <= times <= ORDER else "missed"


def _rate(anchor: dict[str, Any]) -> float:
    """Return the published acquisitions per second, or per time that is constant along a curve."""
    value: float = anchor["value"]
    return value if anchor["unit"] == "operations/s" else anchor["threads"] / value


def published_ns(anchor: Mapping[str, Any]) -> float | None:
    """Return the published time of an acquisition; None if the number of loops is not known."""
    if anchor["unit"] == "operations/s":
        return 1e9 / float(anchor["value"])
    loops = anchor["loops"]
    return None if loops is None else 1e6 * float(anchor["value"]) / (loops * anchor["threads"])


def _simulated_ns(kind: str, placement: str, threads: int) -> float:
    return float(lock_rates([kind], [placement], [threads])["ns"].item())


def _time(anchor: dict[str, Any]) -> float:
    """Return the simulated time of an acquisition for an anchor's lock, placement and threads."""
    stated = anchor["placement"]
    placement = "mixed" if stated == "not stated" else stated
    return _simulated_ns(anchor["kind"], placement, anchor["threads"])
