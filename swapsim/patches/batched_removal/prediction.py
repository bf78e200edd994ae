# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B's machine and the tables of its mail (1/4).

The contention machine gives the price of a fault, by how many threads fault at a time; sweeps over
memory give the number of faults, and how long all threads take::

    contention machine    vanilla, 1 2 3 ... threads    CPU time of a fault
                          batched, 1 2 3 ... threads    the same
    sweeps                threads, unevenness, seed     faults, elapsed time, system time
    fit                   vanilla with one thread       how long a fault and an access are

No source gives the costs of the lock: they come from fits to patch A's base column, which
data/swap-cache-locks.csv stores.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import published
from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs, costs_by_name
from swapsim.machine.running import PAGE_KIB, metric_values
from swapsim.patches.batched_removal.sweeps import SweepConfig, sweep
from swapsim.patches.batched_removal.workload import FITTED, PATCH, lock_fits, workload_values
from swapsim.published import data

NODES: Final = 4  # fake NUMA nodes in uniform memory, each with its kswapd

NEXT_SHARES: Final = (0.1, 0.3, 1.0)
"""``tree_next_ns / tree_ns``: the cost of each removal of a hold after the first. At 1 a hold is
the sum of its removals; below, the mapping's lines and the tree's nodes stay in the cache."""

UNEVEN: Final = (40.0, 45.0, 50.0)
"""How far, in percent, the time of a thread's accesses may lie from the threads' mean: the fitted
value last, and those below it with which vanilla's ten figures are within a factor of two, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A combination of what the mail leaves open.

    ``tag_share`` is ``tag_ns / tree_ns``, one of `workload.lock_fits`.
    """

    tag_share: float
    next_share: float
    uneven_percent: float = 50.0


MIDDLE: Final = Point(tag_share=0.1, next_share=0.3)
"""The point of headlines and what-ifs, with the middle shares and the fitted unevenness."""


def machine(
    *, threads: int, batched: bool, sweeps: bool = False, rotational: bool = True, seed: int = 1
) -> Machine:
    """Return the machine of patch B's mail: threads of usemem and 4 kswapds on one brd under 4.8.

    With `sweeps` each thread goes over as many pages as the mail's threads have together, on a brd
    that is nearly full, so that each access faults; without, threads write fresh pages. The slot
    allocator treats brd as a disk, as in the mail, unless `rotational` is false. Each thread and
    each kswapd has its own CPU; the sweeps share the CPUs (`SweepConfig`).

    Source: seed B (usemem, four fake nodes, brd); data/usemem.csv; facts on who contends.
    """
    known = workload_values()
    frames = 2**11 if sweeps else 2**14
    pages = int(NODES * frames * known["anonymous_share"] / known["memory_share"])
    return Machine(
        patch=PATCH,
        kernel="4.8",
        policy="shared",
        removal="batched" if batched else "page-by-page",
        rotational=rotational,
        nodes=NODES,
        devices=1,
        shares_memory=True,
        writers=0 if sweeps else threads,
        walkers=threads if sweeps else 0,
        sweeps=sweeps,
        read_percent=0,
        frames=frames,
        inactive_ratio=int(known["active_per_inactive"]) if sweeps else 0,
        pages=pages,
        slots=_slots(threads, frames, pages) if sweeps else 2**19,
        warmup_ns=60_000_000 if sweeps else 20_000_000,
        duration_ns=30_000_000 if sweeps else 60_000_000,
        seed=seed,
    )


def _slots(threads: int, frames: int, pages: int) -> int:
    """Return the slots of a brd with the workload's share in use, and at least those at the start.

    At the start the pages of a thread are in its node's memory only.
    """
    in_use = threads * pages - NODES * frames
    at_start = sum(
        max(len(range(node, threads, NODES)) * pages - frames, 0) for node in range(NODES)
    )
    return max(int(in_use / workload_values()["used_share"]), at_start + 1500)


def at_middle() -> pl.Expr:
    """Return the expression that selects the rows of MIDDLE."""
    return (
        (pl.col("tag_share") == MIDDLE.tag_share)
        & (pl.col("next_share") == MIDDLE.next_share)
        & (pl.col("uneven_percent") == MIDDLE.uneven_percent)
    )


def points() -> Iterator[Point]:
    """Yield all combinations of shares at the fitted unevenness, and MIDDLE at those next to it."""
    tag_shares = lock_fits()["tag_share"].unique(maintain_order=True)
    for tag_share, next_share in itertools.product(tag_shares, NEXT_SHARES):
        yield Point(tag_share=tag_share, next_share=next_share)
    for uneven in UNEVEN:
        if uneven != MIDDLE.uneven_percent:
            yield replace(MIDDLE, uneven_percent=uneven)


def constants_at(point: Point) -> pl.DataFrame:
    """Return the constants of a point (CONSTANTS): those of patch A's base, in uniform memory.

    InputError is raised if patch A's base was not fitted with the point's tag share.
    """
    fitted = lock_fits().filter(tag_share=point.tag_share)
    if fitted.is_empty():
        known = lock_fits()["tag_share"].unique(maintain_order=True).to_list()
        raise InputError(f"tag_share={point.tag_share}: choose one of {known}", field="point")
    base = dict(fitted.select("name", "value").iter_rows())
    return change_costs(
        costs(),
        base
        | {
            "tree_next_ns": max(round(point.next_share * base["tree_ns"]), 1),
            "travel_other_socket_ns": costs_by_name()["travel_same_socket_ns"],
        },
    )


KERNELS: Final[Mapping[str, bool]] = {"vanilla": False, "batch-v1": True}
"""The mail's columns, and whether each kernel batches."""

_VANILLA: Final = "vanilla"
_PAGES_OF_GB: Final = 2**30 // 1024 // PAGE_KIB


@cache
def price_ns(tag_share: float, next_share: float, kernel: str, threads: int) -> float:
    """Return the CPU time of a fault of each thread, while so many threads fault all the time."""
    config = machine(threads=threads, batched=KERNELS[kernel], sweeps=True)
    point = Point(tag_share=tag_share, next_share=next_share)
    value = metric_values(config, constants_at(point))
    busy = math.fsum(value[f"{part}.walker"] for part in ("run", "hold", "wait")) / 100
    return 1e9 * busy * threads * PAGE_KIB / value["swap_in"]


_MEMORY: Final = 8192
"""Pages of memory of a sweep, one of which stands for 328 of the mail's."""

_LIST_PAGES: Final = 32  # SWAP_CLUSTER_MAX

RUNS: Final = 140  # runs of each number of threads and kernel, from which means of seven are drawn
_DRAWS: Final = 4000


def sweep_config(point: Point, *, threads: int, kernel: str = _VANILLA) -> SweepConfig:
    """Return the mail's workload as sweeps over memory, with its times fitted to one thread.

    The times of a fault and of an access are fitted to vanilla's system and elapsed time with one
    thread; the contention machine gives how much longer a fault takes with more threads, or with
    the patch. `kernel` is one of KERNELS.
    """
    known = workload_values()
    fault, access = _fitted_ns()
    base = price_ns(point.tag_share, point.next_share, _VANILLA, 1)
    prices = (
        price_ns(point.tag_share, point.next_share, kernel, crowd)
        for crowd in range(1, threads + 1)
    )
    return replace(
        _alone(),
        threads=threads,
        cpus=int(known["cpus"]),
        kswapds=int(known["kswapds"]),
        uneven_percent=point.uneven_percent,
        access_ns=round(access),
        fault_ns=tuple(round(fault * price / base) for price in prices),
    )


def _alone() -> SweepConfig:
    """Return one thread with the workload's sizes, in proportion to _MEMORY, and times of 1 ns."""
    known = workload_values()
    scale = _MEMORY / known["memory_share"]
    return SweepConfig(
        threads=1,
        sweeps=int(known["sweeps"]),
        pages=int(known["anonymous_share"] * scale),
        memory=_MEMORY,
        nodes=NODES,
        list_pages=_LIST_PAGES,
        slots=int(known["device_share"] * scale),
        active_per_inactive=int(known["active_per_inactive"]),
        cpus=1,
        kswapds=0,
        access_ns=1,
        fault_ns=(1,),
    )


def _magnification() -> float:
    """Return how many pages of the mail's machine one page of a sweep stands for."""
    known = workload_values()
    return known["ram_gb"] * _PAGES_OF_GB * known["memory_share"] / _MEMORY


@cache
def _fitted_ns() -> tuple[float, float]:
    """Return the time of a fault and of an access, from vanilla's cells of one thread."""
    cells = data.published_tables().filter(patch=PATCH, table="usemem", kernel=_VANILLA)
    system, elapsed = (cells.filter(metric=metric)["value"].item() for metric in FITTED)
    run = sweep(_alone())
    scale = 1e9 / _magnification()
    return scale * system / run.faults, scale * (elapsed - system) / run.accesses


def run_sweeps(
    point: Point, *, threads: int, kernel: str = _VANILLA, runs: int = RUNS
) -> pl.DataFrame:
    """Run the mail's workload with seeds 1 to `runs`, a row per run; one thread has no seeds.

    InputError is raised if a run is out of swap.
    """
    frame = _runs(sweep_config(point, threads=threads, kernel=kernel), runs)
    if frame["out_of_swap"].any():
        raise InputError(
            f"{frame['out_of_swap'].sum()} of {frame.height} runs of {threads} threads are out of "
            "swap: give a larger device_share or memory_share in usemem.csv",
            field="out_of_swap",
        )
    return frame


def _runs(config: SweepConfig, runs: int) -> pl.DataFrame:
    seeds = range(1, 2 if config.threads == 1 else runs + 1)
    return pl.DataFrame([sweep(replace(config, seed=seed)) for seed in seeds], orient="row")


def _changes(base: pl.Series, patched: pl.Series, seed: int) -> list[float]:
    """Return the changes between means of as many runs as the mail's, drawn at random, sorted."""
    iterations = int(workload_values()["iterations"])
    generator = np.random.default_rng(seed)
    sums = [
        times.to_numpy()[generator.integers(0, len(times), (_DRAWS, iterations))].sum(axis=1)
        for times in (base, patched)
    ]
    return sorted((100 * (sums[1] / sums[0] - 1)).tolist())


def _part(ordered: Sequence[float], percent: float) -> float:
    return ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)]


def _chance(null: Sequence[float], change: float) -> float:
    """Return the share of changes between equal kernels that are at least the published one."""
    sign = math.copysign(1, change)
    return sum(sign * each >= abs(change) for each in null) / len(null)


def _spread_percent(times: pl.Series) -> float:
    values = times.to_list()
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return 100 * math.sqrt(squares / (len(values) - 1)) / mean


_TIMES: Final = {"Amean System": "system_ns", "Amean Elapsd": "elapsed_ns"}


def predict_point(where: tuple[Point, int]) -> pl.DataFrame:
    """Compare the changes simulated at a point, with a number of threads, with the published ones.

    There is a row per metric of usemem on so many threads. Its change ``simulated`` is that of the
    means of all runs, ``base`` and ``patched``, in seconds; ``null_low`` to ``null_high`` holds
    95 % of the changes between means of seven runs of two kernels that equal the base, of which the
    share ``chance`` is at least the published one. ``spread_percent`` is the standard deviation of
    the base's runs, ``faults_percent`` the share of vanilla's accesses that fault, and
    ``faults_change`` by how many percent their number changes with the patch.
    """
    point, threads = where
    found = {kernel: run_sweeps(point, threads=threads, kernel=kernel) for kernel in KERNELS}
    faults, accesses = (int(found[_VANILLA][name].sum()) for name in ("faults", "accesses"))
    rows = []
    for metric, ratio in published.table("B", "usemem").select("metric", "ratio").iter_rows():
        name, _, count = metric.rpartition("-")
        if name not in _TIMES or int(count) != threads:
            continue
        change = 100 * (ratio - 1)
        base, patched = (found[kernel][_TIMES[name]] for kernel in KERNELS)
        null = _changes(base, base, 1)
        seconds = [
            int(times.sum()) / len(times) * _magnification() / 1e9 for times in (base, patched)
        ]
        rows.append(
            {
                **asdict(point),
                "metric": metric,
                "published": change,
                "base": seconds[0],
                "patched": seconds[1],
                "simulated": 100 * (seconds[1] / seconds[0] - 1),
                "null_low": _part(null, 2.5),
                "null_high": _part(null, 97.5),
                "chance": _chance(null, change),
                "spread_percent": _spread_percent(base),
                "faults_percent": 100 * faults / accesses,
                "faults_change": 100 * (int(found["batch-v1"]["faults"].sum()) / faults - 1),
            }
        )
    return pl.DataFrame(rows)


PARTS_SHOWN: Final = (2.5, 10.0, 25.0, 50.0, 75.0, 90.0, 97.5)
"""Parts of the null's distribution that are stored, in percent."""


def null_changes(where: tuple[float, int]) -> pl.DataFrame:
    """Return by how much two equal kernels differ in elapsed time, with the shares of MIDDLE.

    `where` is the unevenness in percent and the number of threads. There is a row per part of
    PARTS_SHOWN: the change below which this part of the changes lies.
    """
    uneven, threads = where
    point = replace(MIDDLE, uneven_percent=uneven)
    times = run_sweeps(point, threads=threads)["elapsed_ns"]
    null = _changes(times, times, 1)
    return pl.DataFrame(
        {
            "uneven_percent": uneven,
            "threads": pl.Series([threads] * len(PARTS_SHOWN), dtype=pl.UInt32),
            "part_percent": PARTS_SHOWN,
            "change_percent": [_part(null, part) for part in PARTS_SHOWN],
        }
    )


TRIED: Final[Mapping[str, Sequence[int]]] = {
    "four nodes": range(10, 91, 5),
    "one node": range(50, 81, 5),
}
"""Values of ``uneven_percent`` that the fit tries, and those around the best with one node."""

LISTS_OF: Final[Mapping[str, Mapping[str, Any]]] = {
    "four nodes": {},
    "one node": {"nodes": 1, "list_pages": 1},
}
"""The memory of the fit, and the one that it is compared with."""


def vanilla(where: tuple[str, int, int]) -> pl.DataFrame:
    """Return vanilla's times with a memory of LISTS_OF, an unevenness and a number of threads.

    There is a row for elapsed and one for system time: the mean of the mail and the simulated one,
    in seconds; the standard deviation of a run and the share of accesses that fault, in percent.
    Prices and fitted times are those of MIDDLE.
    """
    lists, uneven, threads = where
    point = replace(MIDDLE, uneven_percent=float(uneven))
    found = _runs(replace(sweep_config(point, threads=threads), **LISTS_OF[lists]), RUNS)
    cells = data.published_tables().filter(patch=PATCH, table="usemem", kernel=_VANILLA)
    faults, accesses = (int(found[name].sum()) for name in ("faults", "accesses"))
    return pl.DataFrame(
        {
            "lists": lists,
            "uneven_percent": uneven,
            "threads": threads,
            "metric": name,
            "published": cells.filter(metric=f"{name}-{threads}")["value"].item(),
            "simulated": int(found[column].sum()) / found.height * _magnification() / 1e9,
            "spread_percent": _spread_percent(found[column]),
            "faults_percent": 100 * faults / accesses,
        }
        for name, column in _TIMES.items()
    ).with_columns(pl.col("threads").cast(pl.UInt32))


def misfit(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the sum of squared logs of simulated / printed of each unevenness, the least first."""
    logs = (pl.col("simulated") / pl.col("published")).log()
    return (
        rows.filter(pl.col("threads") > 1)
        .group_by("lists", "uneven_percent")
        .agg(misfit=logs.pow(2).sum(), farthest=logs.abs().max().exp())
        .sort("misfit")
    )
