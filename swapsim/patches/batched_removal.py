# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B: the machine of its mail (1/4), what is fitted to which cells, points of stored studies.

The contention machine gives the CPU time of a fault, by how many threads fault at a time; sweeps
over memory (``sweeps.h``) give the number of faults, and how long all threads take. No source gives
the lock's costs: they come from fits to patch A's base column (data/swap-cache-locks.csv).

**The first fit**, stored before the first run of the sweeps: a fault and an access take as long as
vanilla's two cells of one thread need. Known by then: the mail's tables; a trial with a simple LRU,
which gave changes of 20 to 24 points between equal kernels.

**The second fit**, of November 2026, stored before its first run, in sight of two trials by others:
with threads uneven by 60 to 65 % on one node all ten figures of vanilla were within a factor of
two, and batching changed system time by -9 to -15 %::

    a fault, an access   Amean System-1 and Elapsd-1 of vanilla, as before; one thread has no seed
    uneven_percent       Amean System-N and Elapsd-N of vanilla for N = 3, 5, 7, 8: the multiple of
                         5 from 10 to 90 with the least sum of squared logs of simulated / printed,
                         means over seeds 1 to 140, shares of MIDDLE, one value for all N

The sweeps have lists for each of the mail's four nodes, which reclaim takes in batches; one node
and single pages is the comparison. Held out are batch-v1's column, and the deviation of a run. The
device of the contention machine is 15 times smaller than the mail's: with one four times larger 8
threads test 736 slots a page, not 163, and a fault takes 0.7 % longer.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import published
from swapsim.errors import InputError
from swapsim.io import data_root
from swapsim.machine import Machine, preset
from swapsim.machine._native_sweeps import Sweeps, sweep
from swapsim.machine.config import lock_costs
from swapsim.machine.running import PAGE_KIB, metric_values
from swapsim.patches import common
from swapsim.patches.common import Case, at, base_figure, trials
from swapsim.published import data
from swapsim.published.rows import Side, side
from swapsim.study import Study
from swapsim.tables import Table, read_csv

Fields = dict[str, Any]

PATCH: Final = "02-batched-removal"
"""Its folder in patches, and its rows in data."""

WORKLOAD: Final = Table(
    "WORKLOAD",
    "One row per value of the workload and the machine of patch B's mail (data/usemem.csv): read "
    "in the mail, from the source of its test scripts, or inferred from either.",
    {"name": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64},
    {"unit": pl.String, "standing": pl.Enum(("read", "source", "inferred")), "source": pl.String},
)
THREADS: Final = (1, 3, 5, 7, 8)  # the numbers of threads in the mail's table
FITTED: Final = ("Amean System-1", "Amean Elapsd-1")
_TIMES: Final = {"Amean System": "system_ns", "Amean Elapsd": "elapsed_ns"}
_REMOVALS: Final = {"vanilla": "page-by-page", "batch-v1": "batched"}  # of the mail's columns

TAG_SHARES: Final = (0.01, 0.1, 1.0)
"""``tag_ns / tree_ns`` of the fits to patch A's base."""

NEXT_SHARES: Final = (0.1, 0.3, 1.0)
"""``tree_next_ns / tree_ns``: the cost of each removal of a critical section after the first. At 1
it is the sum of its removals; below, the mapping's lines and the tree's nodes stay in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A combination of what the mail leaves open; by default the middle shares, and the fit."""

    tag_share: float = 0.1
    next_share: float = 0.3
    uneven_percent: float = 50.0


MIDDLE: Final = Point()


def points() -> Iterator[Point]:
    """Yield all shares with the fit, and MIDDLE where vanilla is within a factor of two, too."""
    for tag_share, next_share in product(TAG_SHARES, NEXT_SHARES):
        yield Point(tag_share=tag_share, next_share=next_share)
    for uneven in (40.0, 45.0):
        yield Point(uneven_percent=uneven)


# The workload, and the contention machine.


def workload(root: Path | None = None) -> pl.DataFrame:
    """Read the workload of patch B's mail from usemem.csv (WORKLOAD).

    InputError is raised if a row does not fit, or a value is outside of its own range.
    """
    path = (data_root() if root is None else root) / "usemem.csv"
    frame = read_csv(path, WORKLOAD)
    for row in frame.iter_rows(named=True):
        if not row["low"] <= row["value"] <= row["high"]:
            raise InputError(
                f"{row['name']}={row['value']:g}: give a value from {row['low']:g} to "
                f"{row['high']:g}, its own low and high",
                path=path,
                field="value",
            )
    return frame


@cache
def known() -> dict[str, float]:
    """Return each value of `workload` by its name."""
    return dict(workload().select("name", "value").iter_rows())


def sweeping(threads: int, **fields: Any) -> Machine:
    """Return the machine of prices: each access of its threads faults, on a brd nearly full.

    Each thread goes over as many pages as the mail's threads have together; each thread and each
    kswapd has its own CPU, while the sweeps share eight.
    """
    value, b, frames = known(), preset("B-2016"), 2**11
    pages = int(b.nodes * frames * value["anonymous_share"] / value["memory_share"])
    # At the start the pages of a thread are in its node's memory only.
    of_nodes = [len(range(node, threads, b.nodes)) * pages for node in range(b.nodes)]
    at_start = sum(max(own - frames, 0) for own in of_nodes)
    in_use = threads * pages - b.nodes * frames
    return b.replace(
        writers=0,
        walkers=threads,
        sweeps=True,
        read_percent=0,
        frames=frames,
        inactive_ratio=int(value["active_per_inactive"]),
        pages=pages,
        slots=max(int(in_use / value["used_share"]), at_start + 1500),
        warmup_ns=60_000_000,
        duration_ns=30_000_000,
        **fields,
    )


@cache
def price_ns(tag_share: float, next_share: float, kernel: str, threads: int) -> float:
    """Return the CPU time of a fault of each thread, while so many threads fault all the time."""
    costs = lock_costs(tag_share, next_share)
    value = metric_values(sweeping(threads, removal=_REMOVALS[kernel], costs=costs))
    busy = math.fsum(value[f"{part}.walker"] for part in ("run", "hold", "wait")) / 100
    return 1e9 * busy * threads * PAGE_KIB / value["swap_in"]


# The sweeps, and their two fits.

_MEMORY: Final = 8192  # pages of memory of a sweep, one of which stands for 328 of the mail's
RUNS: Final = 140  # of each number of threads and kernel


def sweeps(point: Point, threads: int, kernel: str = "vanilla", **changed: Any) -> Sweeps:
    """Return the mail's workload as sweeps over memory, with its times fitted to one thread."""
    fault, access = _fitted_ns()
    shares = (point.tag_share, point.next_share)
    base = price_ns(*shares, "vanilla", 1)
    prices = (price_ns(*shares, kernel, crowd) for crowd in range(1, threads + 1))
    return replace(
        _alone(),
        threads=threads,
        cpus=int(known()["cpus"]),
        kswapds=int(known()["kswapds"]),
        uneven_percent=point.uneven_percent,
        access_ns=round(access),
        fault_ns=tuple(round(fault * price / base) for price in prices),
        **changed,
    )


def _alone() -> Sweeps:
    """Return one thread with the workload's sizes, in proportion to _MEMORY, and times of 1 ns."""
    value = known()
    scale = _MEMORY / value["memory_share"]
    return Sweeps(
        threads=1,
        sweeps=int(value["sweeps"]),
        pages=int(value["anonymous_share"] * scale),
        memory=_MEMORY,
        nodes=preset("B-2016").nodes,
        slots=int(value["device_share"] * scale),
        list_pages=32,  # SWAP_CLUSTER_MAX
        active_per_inactive=int(value["active_per_inactive"]),
        cpus=1,
        kswapds=0,
        access_ns=1,
        fault_ns=(1,),
    )


def _seconds(ns: pl.Series) -> float:
    """Return the mean time of runs on the mail's machine, which has more pages than a sweep."""
    pages = known()["ram_gb"] * 2**18 * known()["memory_share"] / _MEMORY
    return int(ns.sum()) / len(ns) * pages / 1e9


@cache
def _fitted_ns() -> tuple[float, float]:
    """Return the time of a fault and of an access, from vanilla's cells of one thread."""
    system, elapsed = (base_figure(PATCH, "vanilla", cell) for cell in FITTED)
    run, scale = sweep(_alone()), 1 / _seconds(pl.Series([1]))
    return scale * system / run.faults, scale * (elapsed - system) / run.accesses


def run_sweeps(settings: Sweeps, runs: int = RUNS) -> pl.DataFrame:
    """Run sweeps with seeds 1 to `runs`, a row for each; one thread has no seeds.

    InputError is raised if a run is out of swap.
    """
    seeds = range(1, 2 if settings.threads == 1 else runs + 1)
    frame = pl.DataFrame([sweep(replace(settings, seed=seed)) for seed in seeds], orient="row")
    if short := int(frame["out_of_swap"].sum()):
        why = f"{short} of {frame.height} runs of {settings.threads} threads are out of swap"
        raise InputError(f"{why}: give a larger device_share or memory_share in usemem.csv")
    return frame


def _spread(times: pl.Series) -> float:
    """Return the standard deviation of a run, in percent of the mean."""
    if len(times) == 1:
        return 0.0
    mean = math.fsum(times) / len(times)
    return (
        100 * math.sqrt(math.fsum((each - mean) ** 2 for each in times) / (len(times) - 1)) / mean
    )


def _faults(runs: pl.DataFrame) -> float:
    """Return the share of accesses that fault, in percent."""
    return 100 * int(runs["faults"].sum()) / int(runs["accesses"].sum())


# What runs a point of each study.


def predict(where: tuple[Point, int]) -> pl.DataFrame:
    """Compare the changes simulated at a point, with a number of threads, with the published ones.

    A row for each of the mail's times: changes in percent, ``base`` and ``patched`` in seconds, the
    deviation of a run of the base, the share of vanilla's accesses that fault, and by how many
    percent the number of faults changes with the patch.
    """
    point, threads = where
    vanilla, batched = (run_sweeps(sweeps(point, threads, kernel)) for kernel in _REMOVALS)
    ratios = dict(published.table("B", "usemem").select("metric", "ratio").iter_rows())
    times = [(name, vanilla[of], batched[of]) for name, of in _TIMES.items()]
    return pl.DataFrame(
        {
            **asdict(point),
            "metric": f"{name}-{threads}",
            "published": 100 * (ratios[f"{name}-{threads}"] - 1),
            "base": _seconds(base),
            "patched": _seconds(patched),
            "simulated": 100 * (_seconds(patched) / _seconds(base) - 1),
            "spread_percent": _spread(base),
            "faults_percent": _faults(vanilla),
            "faults_change": 100
            * (int(batched["faults"].sum()) / int(vanilla["faults"].sum()) - 1),
        }
        for name, base, patched in times
    )


_LISTS: Final[dict[str, tuple[Sequence[int], Fields]]] = {
    "four nodes": (range(10, 91, 5), {}),
    "one node": (range(50, 81, 5), {"nodes": 1, "list_pages": 1}),
}
"""Memories of the second fit and its comparison, and the values of uneven_percent that it tries."""


def fit_at(where: tuple[str, int, int]) -> pl.DataFrame:
    """Return vanilla's times with a memory of _LISTS, an unevenness and a number of threads.

    A row for each of the mail's times: the mail's and the simulated mean in seconds, the deviation
    of a run and the share of accesses that fault, in percent; the shares are those of MIDDLE.
    """
    lists, uneven, threads = where
    found = run_sweeps(sweeps(Point(uneven_percent=uneven), threads, **_LISTS[lists][1]))
    return pl.DataFrame(
        {
            "lists": lists,
            "uneven_percent": uneven,
            "threads": threads,
            "metric": name,
            "published": base_figure(PATCH, "vanilla", f"{name}-{threads}"),
            "simulated": _seconds(found[column]),
            "spread_percent": _spread(found[column]),
            "faults_percent": _faults(found),
        }
        for name, column in _TIMES.items()
    ).with_columns(pl.col("threads").cast(pl.UInt32))


LISTS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # pages; the kernel has 32
POLICIES: Final[dict[str, Fields]] = {"page by page": {}, "batched": {"removal": "batched"}}
REMEDIES: Final[dict[str, Fields]] = POLICIES | {
    "trunks of 64 MB": {"trunk_shift": 14},
    "both": {"trunk_shift": 14, "removal": "batched"},
}
"""How lists are removed, alone and next to a lock for each trunk, as fields of a machine."""


def _fits(shares: Sequence[float] = NEXT_SHARES) -> dict[str, dict[str, int]]:
    """Return the costs of the middle tag share, with each cost of a further removal."""
    return {f"{share:g}": lock_costs(MIDDLE.tag_share, share) for share in shares}


def large(tasks: int, list_pages: int = 32, **fields: Any) -> Machine:
    """Return the mail's machine with memory and slots for long lists, until each CPU had many."""
    longer = max(list_pages // 128, 1)
    return preset("B-2016").replace(
        writers=tasks,
        list_pages=list_pages,
        frames=2**16,
        slots=2**20,
        warmup_ns=longer * 20_000_000,
        duration_ns=longer * 100_000_000,
        **fields,
    )


def _by_list() -> list[Case]:
    cases = [
        (at(pages, f"{tasks} task" + "s" * (tasks > 1)), large(tasks, pages, costs={}))
        for tasks, pages in product((1, 4, 8, 32), LISTS)
    ]
    return trials(cases, _fits((0.1, 0.3, 0.6, 1.0)), POLICIES, (1, 2))


def _by_cure() -> list[Case]:
    """Return runs of 5.7 with tags and without slot caches, so that only REMEDIES differ."""
    kernel: Fields = {"kernel": "5.7", "tags": True, "slot_cache": False, "trunk_shift": 20}
    cases = [
        ({"device": name}, large(8, rotational=name == "rotational", costs={}, **kernel))
        for name in ("rotational", "non-rotational")
    ]
    return trials(cases, _fits(), REMEDIES, (1, 2))


def _by_kswapds() -> list[Case]:
    one = preset("B-2016").replace(writers=1, costs={})
    cases = [
        (at(nodes, f"{nodes} kswapd" + "s" * (nodes > 1)), one.replace(nodes=nodes))
        for nodes in (1, 2, 4, 8)
    ]
    return trials(cases, _fits(), POLICIES)


def sections(where: tuple[float, int]) -> pl.DataFrame:
    """Return how long a batched critical section is, and how long an add waits for it."""
    share, pages = where
    costs = lock_costs(MIDDLE.tag_share, share)
    value = metric_values(large(8, pages, removal="batched", costs=costs))
    add = "tree_lock.add_to_swap_cache.shrink_page_list"
    figures = {
        "longest hold": value["longest_hold.tree_lock.__remove_mapping"],
        "longest wait of an add": value[f"longest_wait.{add}"],
        "mean wait of an add": value[f"wait.{add}"] / value[f"acquisitions.{add}"],
    }
    return pl.DataFrame(
        {"next_share": share, "list_pages": pages, "metric": name, "value": ns / 1000, "unit": "us"}
        for name, ns in figures.items()
    )


# The studies, stored in data/simulated.


def _is_quick(where: tuple[Any, ...]) -> bool:
    return int(where[-1]) <= 3


def _by_points() -> list[tuple[Point, int]]:
    return list(product(points(), THREADS))


def _by_uneven() -> list[tuple[str, int, int]]:
    return [
        (lists, *each) for lists, (uneven, _) in _LISTS.items() for each in product(uneven, THREADS)
    ]


_reads = ("costs.csv", "usemem.csv", "swap-cache-locks.csv", partial(data.published_of, PATCH))
_study = partial(Study, reads=_reads)
_gains = partial(_study, run=partial(common.report, "written"))
_quick = partial(_study, quick=_is_quick)

by_points: Final = _quick(name="batched-removal-by-points", points=_by_points, run=predict)
fit: Final = _quick(name="batched-removal-fit", points=_by_uneven, run=fit_at)
gain_by_list: Final = _gains(name="batched-removal-gain-by-list", points=_by_list)
gain_by_cure: Final = _gains(name="batched-removal-gain-by-cure", points=_by_cure)
gain_by_kswapds: Final = _gains(name="batched-removal-gain-by-kswapds", points=_by_kswapds)
holds_by_list: Final = _study(
    name="batched-removal-holds-by-list", points=tuple(product(NEXT_SHARES, LISTS)), run=sections
)


# The columns of the mail's tables.


def simulated() -> Iterator[Side]:
    """Yield each time at MIDDLE, with a range over all points."""
    for (metric,), part in by_points().group_by("metric", maintain_order=True):
        named = part.select(asdict(MIDDLE).keys()).iter_rows(named=True)
        where = [Point(**names) for names in named]
        base, patched = (dict(zip(where, part[of], strict=True)) for of in ("base", "patched"))
        fitted = metric in FITTED
        if found := side("usemem", str(metric), base, patched, at=MIDDLE, fitted=fitted):
            yield found


def measured() -> Iterator[Side]:
    """Yield acquisitions a page of the swap cache's lock, under the row that they stand for."""
    runs = data.measured_results("batched-removal")
    for threads, kind in product(THREADS, ("acquisitions", "contended acquisitions")):
        what = f"{kind} of xa_lock a page"
        own = runs.filter(metric=f"xa_lock {kind}", n_tasks=threads)
        off, on = (dict(own.filter(policy=on)["seed", "value"].iter_rows()) for on in ("off", "on"))
        if found := side("usemem", f"Amean System-{threads}: {what}", off, on, what=what):
            yield found


def by_hand() -> dict[tuple[str, str], float]:
    """Return nothing: the mail prints no profile."""
    return {}
