# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of patch B's mail, and its tables simulated at each point that the mails leave open.

A combination of what is open is a `Point`. The mails give neither RAM nor CPUs nor the size of the
workload, so seconds cannot be compared; the changes against vanilla with the same number of threads
are judged.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims import results
from swapsim.errors import InputError, require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs, costs_by_name
from swapsim.machine.run import PAGE_KIB, labels, metric_values
from swapsim.machine.summary import claim_ranges
from swapsim.machine.tables import PREDICTED_BY_POINTS

PATCH: Final = "02-batched-removal"
"""Its folder in patches, and its rows in data."""

THREADS: Final = (1, 3, 5, 7, 8)
"""The numbers of threads in the mail's table."""

NODES: Final = 4
"""Fake NUMA nodes in uniform memory, each with its kswapd."""

TAG_SHARES: Final = (0.01, 0.1, 1.0)
"""``tag_ns / tree_ns``: the ends of what patch A's base leaves open, and their geometric mean."""

NEXT_SHARES: Final = (0.1, 0.3, 1.0)
"""``tree_next_ns / tree_ns``: the cost of each removal of a hold after the first. At 1 a hold is
the sum of its removals; below, the mapping's lines and the tree's nodes stay in the cache."""

_BASES: Final = {
    0.01: {"unmap_ns": 7844, "tree_ns": 949, "tag_ns": 9, "map_ns": 332},
    0.1: {"unmap_ns": 8045, "tree_ns": 871, "tag_ns": 87, "map_ns": 305},
    1.0: {"unmap_ns": 9164, "tree_ns": 482, "tag_ns": 482, "map_ns": 169},
}
"""Constants with which the machine meets patch A's base, by tag share, with the map share of the
swap series of 2017: there is no other measurement of 4.8's locks. A test repeats the fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A combination of what the mail leaves open: a tag share, a next share, and `again`."""

    tag_share: float
    next_share: float
    again: bool = False


MIDDLE: Final = Point(tag_share=0.1, next_share=0.3)
"""The point of headlines and what-ifs, with the middle shares."""


def machine(
    *, threads: int, batched: bool, again: bool = False, rotational: bool = True, seed: int = 1
) -> MachineConfig:
    """Return the machine of patch B's mail: threads of usemem and 4 kswapds on one brd under 4.8.

    Parameters
    ----------
    threads : int
    batched : bool
        Whether a list's pages are removed with one hold for each mapping: True is the patch.
    again : bool
        usemem goes over its memory repeatedly, so pages are read back. The machine has no such
        sweep: False are tasks that write fresh pages without end, True are tasks that write to
        random pages, together half as many again as memory holds. The mail's tasks lie between.
    rotational : bool
        Whether the slot allocator treats brd as a disk, as in the mail.
    seed : int

    Notes
    -----
    Each thread and each kswapd has its own CPU; the mail does not give their number.

    Source
    ------
    Seed B (usemem, four fake nodes, brd); facts on who contends.
    """
    frames = 2**12 if again else 2**14
    return MachineConfig(
        patch=PATCH,
        kernel="4.8",
        policy="shared",
        removal="batched" if batched else "page-by-page",
        rotational=rotational,
        nodes=NODES,
        devices=1,
        shares_memory=True,
        writers=0 if again else threads,
        walkers=threads if again else 0,
        read_percent=0,
        frames=frames,
        pages=3 * NODES * frames // 2,
        slots=2**19,
        warmup_ns=150_000_000 if again else 20_000_000,
        duration_ns=60_000_000,
        seed=seed,
    )


def points() -> Iterator[Point]:
    """Yield all combinations of what is open."""
    for tag_share, next_share, again in itertools.product(TAG_SHARES, NEXT_SHARES, (False, True)):
        yield Point(tag_share=tag_share, next_share=next_share, again=again)


def constants_at(point: Point) -> pl.DataFrame:
    """Return the constants of a point (CONSTANTS): those of patch A's base, in uniform memory.

    InputError is raised if patch A's base was not fitted with the point's tag share.
    """
    base = _BASES.get(point.tag_share)
    if base is None:
        raise InputError(f"tag_share={point.tag_share}: choose of {TAG_SHARES}", field="point")
    return change_costs(
        costs(),
        base
        | {
            "tree_next_ns": max(round(point.next_share * base["tree_ns"]), 1),
            "travel_other_socket_ns": costs_by_name()["travel_same_socket_ns"],
        },
    )


SEEDS: Final = (1, 2, 3)

_KERNELS: Final = (
    ("vanilla", False, True),
    ("batch-v1", True, True),
    ("batch-v1-nonrot", True, False),
)
"""The mails' columns: kernel, whether it batches, whether brd is rotational."""

_HEADLINE_THREADS: Final = (3, 5)
_GB_PAGES: Final = 2**30 // 1024 // PAGE_KIB


def times(config: MachineConfig, constants: pl.DataFrame) -> tuple[float, float, float]:
    """Run a machine and return the times of a GB, as ``time`` prints them, and the waits.

    These are system time (seconds that the tasks' CPUs were busy, without those of kswapds),
    elapsed seconds, and waits for locks in percent of all busy time.
    """
    value = metric_values(config, constants)
    task = "walker" if config.walkers else "writer"
    rate = value["accesses"] if config.walkers else value["written"] / PAGE_KIB
    elapsed = _GB_PAGES / rate
    busy = math.fsum(value[f"{part}.{task}"] for part in ("run", "hold", "wait")) / 100
    waits = math.fsum(share for name, share in value.items() if name.startswith("cycles."))
    return elapsed * busy * config.tasks, elapsed, waits


def predict(
    point: Point, seeds: Sequence[int] = SEEDS, threads: Sequence[int] = THREADS
) -> pl.DataFrame:
    """Simulate patch B's tables at one point of what they leave open.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: System and Elapsd of a GB, for vanilla, the patch, and the patch on a brd
        that reports itself as non-rotational.

    Raises
    ------
    InputError
        ``seeds`` is empty.
    """
    require_some(seeds, "seeds")
    constants = constants_at(point)
    frames = []
    for count in threads:
        for (kernel, batched, rotational), seed in itertools.product(_KERNELS, seeds):
            config = machine(
                threads=count, batched=batched, again=point.again, rotational=rotational, seed=seed
            )
            system, elapsed, waits = times(config, constants)
            rows = [
                (f"Amean System-{count}", system, "s"),
                (f"Amean Elapsd-{count}", elapsed, "s"),
                (f"waits-{count}", waits, "% of cycles"),
            ]
            frames.append(results(rows, labels(config, kernel=kernel)))
    return pl.concat(frames)


def headline_results(seeds: Sequence[int]) -> pl.DataFrame:
    """Simulate the card's headlines at the middle of what is left open (RESULTS)."""
    return predict(MIDDLE, seeds, _HEADLINE_THREADS)


def predict_point(point: Point, *, seeds: Sequence[int] = SEEDS) -> pl.DataFrame:
    """Compare the changes simulated at a point of what is left open with the published ones.

    Returns
    -------
    polars.DataFrame
        Schema PREDICTED_BY_POINTS, one row per claim that has a figure.
    """
    found = predict(point, seeds)
    stated = claims.published_claims().filter(
        pl.col("patch") == PATCH, pl.col("change").is_not_null()
    )
    means = found.group_by("kernel", "metric", maintain_order=True).agg(pl.col("value").mean())
    kernel = pl.col("locator").str.extract(r"-> ([^|]+)$")
    return (
        claims.three_columns(stated, found, claims.tolerances())
        .filter(pl.col("simulated").is_not_null())
        .join(stated.select("claim", "metric", kernel=kernel), on="claim", maintain_order="left")
        .join(means, on=["kernel", "metric"], maintain_order="left")
        .select(
            tag_share=pl.lit(point.tag_share),
            next_share=pl.lit(point.next_share),
            again=pl.lit(point.again),
            claim="claim",
            published="published",
            tolerance="tolerance",
            simulated="simulated",
            patched="value",
        )
    )


def judged_ranges(predicted: pl.DataFrame) -> pl.DataFrame:
    """Return the range of each claim over PREDICTED_BY_POINTS, and the verdict (RANGES)."""
    return claim_ranges(PREDICTED_BY_POINTS.check(predicted))
