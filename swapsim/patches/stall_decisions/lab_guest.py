# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's test in the simulator, by each rule set, as set and in variants."""

import math
from typing import Final

import polars as pl

from swapsim import claims, reclaim
from swapsim.ffi import RECLAIM_COSTS, STALL_RULES
from swapsim.patches.stall_decisions.lab import AS_SET
from swapsim.patches.stall_decisions.mail import SIZES
from swapsim.patches.stall_decisions.runs import Run, labels

# The lab's test. Only op_ns was fitted to the lab, to 3.9 without a file; what the rig leaves open
# is varied. data/published/README.md says what had been seen before the judgement.

GUEST_SEEDS: Final = tuple(range(11, 20))
"""As many as the lab has rounds; other ones than those of the development."""

_COSTS: Final = tuple(name for name in RECLAIM_COSTS if name != "op_ns")

_EFFICIENCIES: Final = {
    "Kswapd efficiency": ("Kswapd pages reclaimed", "Kswapd pages scanned"),
    "Direct efficiency": ("Direct pages reclaimed", "Direct pages scanned"),
}


def variants() -> dict[str, dict[str, int]]:
    """Return the constants that are not as set, by the name of the variant."""
    found = reclaim.lab_guest_constants()
    low, high = (dict(found.select("name", end).iter_rows()) for end in ("low", "high"))
    return {
        AS_SET: {},
        "a fast CPU": {name: low[name] for name in _COSTS},
        "a slow CPU": {name: high[name] for name in _COSTS},
        "short turns of writes": {"writes_turn_ms": low["writes_turn_ms"]},
        "a longer queue": {"nr_requests": high["nr_requests"]},
        "less slab": {"kernel_pages": low["kernel_pages"]},
        "more slab": {"kernel_pages": high["kernel_pages"]},
        "a disk whose rate is known": {"assumed_rate": low["assumed_rate"]},
        "room for all writes": {"write_requests": high["write_requests"]},
    }


def guest_points() -> list[tuple[str, Run]]:
    """Return the lab's test by each rule set, as set and in each variant."""
    return [
        (variant, Run(rules=rules, seed=seed, constants=constants))
        for variant, constants in variants().items()
        for rules in STALL_RULES
        for seed in (GUEST_SEEDS if variant == AS_SET else GUEST_SEEDS[:3])
    ]


def run_guest(point: tuple[str, Run]) -> pl.DataFrame:
    """Run the lab's test with its four files: rows ``METRIC-SIZE``, and sums over all (RESULTS)."""
    variant, run = point
    constants = reclaim.lab_guest_constants(run.constants)
    frames = []
    for size in SIZES.values():
        config = reclaim.lab_guest(run.rules, float(size), constants, seed=run.seed)
        rows = reclaim.lab_guest_rows(reclaim.run_lab_guest(config, constants))
        frames.append(rows.with_columns(size=pl.lit(size)))
    by_size = pl.concat(frames)
    of_all = (
        by_size.filter(~pl.col("metric").str.starts_with("Ops "))
        .group_by("metric", "unit", maintain_order=True)
        .agg(pl.col("value").sum())
    )
    sums = dict(of_all.select("metric", "value").iter_rows())
    stalled = math.fsum(value for name, value in sums.items() if name.startswith("Time stalled "))
    more: list[tuple[str, str, float]] = [
        (name, "%", 100 * sums[part] / sums[total] if sums[total] else 100.0)
        for name, (part, total) in _EFFICIENCIES.items()
    ]
    more.append(("Time stalled", "s", stalled))
    named = by_size.with_columns(metric=pl.format("{}-{}", "metric", "size")).drop("size")
    of_more = pl.DataFrame(more, schema=of_all.schema, orient="row")
    rows = pl.concat([named, of_all.select(named.columns), of_more.select(named.columns)])
    return claims.results(rows, labels(run, variant))
