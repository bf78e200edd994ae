# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of patch B's mails, simulated at each point that they leave open.

The mails give neither RAM nor CPUs nor the size of the workload, so seconds cannot be compared; the
changes against vanilla with the same number of threads are judged.
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
from swapsim.patches.batched_removal.machines import (
    MIDDLE,
    PATCH,
    THREADS,
    Point,
    constants_at,
    machine,
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

    Returns RESULTS: System and Elapsd of a GB, for vanilla, the patch, and the patch on a brd that
    reports itself as non-rotational. InputError is raised if ``seeds`` is empty.
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
    """Simulate the card's headlines at the middle of what is left open (RESULTS)."""
    return predict(MIDDLE, seeds, _HEADLINE_THREADS)


def predict_point(point: Point, *, seeds: Sequence[int] = SEEDS) -> pl.DataFrame:
    """Compare the changes simulated at a point of what is left open with the published ones.

    Returns PREDICTED_BY_POINTS, one row per claim that has a figure.
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
