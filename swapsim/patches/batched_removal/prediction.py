# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of patch B's mails, simulated at each point that they leave open.

RAM, CPUs and the size of the workload are not told, so no second of the mail can be met: what is
judged are changes against vanilla of the same number of threads.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims import results
from swapsim.errors import require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.run import PAGE_KIB, labels, metric_values
from swapsim.machine.summary import claim_ranges
from swapsim.machine.tables import PREDICTED_BY_POINTS
from swapsim.patches.batched_removal.machines import PATCH, THREADS, machine
from swapsim.patches.batched_removal.unknowns import MIDDLE, Point, constants_at

SEEDS: Final = (1, 2, 3)

_KERNELS: Final = (
    ("vanilla", False, True),
    ("batch-v1", True, True),
    ("batch-v1-nonrot", True, False),
)
"""The mails' columns: is it batched, is brd a disk?"""
_HEADLINE_THREADS: Final = (3, 5)
_GB_PAGES: Final = 2**30 // 1024 // PAGE_KIB


def times(config: MachineConfig, constants: pl.DataFrame) -> tuple[float, float, float]:
    """Run a machine and return what ``time`` would print of a GB, and its waits.

    Parameters
    ----------
    config : MachineConfig
        Of `machines.machine`.
    constants : polars.DataFrame
        Schema CONSTANTS.

    Returns
    -------
    tuple of float
        System: seconds that the tasks' CPUs were busy, kswapds' not counted, as ``time`` does
        not; elapsed seconds; and the share of all busy time in waits for locks, in percent.
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

    Parameters
    ----------
    point : Point
    seeds : sequence of int
    threads : sequence of int

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: System and Elapsd of a GB, for vanilla, the patch, and the patch on a brd
        that calls itself non-rotational.

    Raises
    ------
    InputError
        No seed is given.
    """
    require_some(seeds, "seeds")
    constants = constants_at(point)
    frames = []
    for count in threads:
        for (kernel, batched, rotational), seed in itertools.product(_KERNELS, seeds):
            config = machine(
                threads=count,
                batched=batched,
                again=point.again,
                rotational=rotational,
                seed=seed,
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
    """Simulate the card's headlines at the middle of what is left open.

    Parameters
    ----------
    seeds : sequence of int

    Returns
    -------
    polars.DataFrame
        As `predict` returns.
    """
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
    """Say for each claim from where to where its change goes over what is left open.

    Parameters
    ----------
    predicted : polars.DataFrame
        Schema PREDICTED_BY_POINTS.

    Returns
    -------
    polars.DataFrame
        Schema RANGES.
    """
    return claim_ranges(PREDICTED_BY_POINTS.check(predicted))
