# SPDX-License-Identifier: GPL-2.0-or-later
"""The world held against the lab: the guest's test by each rule set, in both.

Nothing here is fitted to what the lab measured, but for ``op_ns``, which is 3.9's without a file.
What the rig leaves open is carried through: each variant puts some constants at an end. Rows and
judgement stood before the first run. That slab is no room for files, and how near to its limit a
writer stands, came after it: no dirty page had come to a list's end, for which the lab's sizes
were chosen. A boot of the guest then told its slab and its marks, and nothing of its reclaim.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from swapsim import claims, reclaim
from swapsim.ffi.facts import RECLAIM_COSTS, STALL_RULES
from swapsim.patches.stall_decisions.lab import AS_SET
from swapsim.patches.stall_decisions.mail import PATCH, SIZES

SEEDS: Final = tuple(range(1, 10))
"""As many as the lab has rounds."""

SEEDS_OF_VARIANTS: Final = 3

_COSTS: Final = tuple(name for name in RECLAIM_COSTS if name != "op_ns")

_SHARES: Final = {
    "Kswapd efficiency": ("Kswapd pages reclaimed", "Kswapd pages scanned"),
    "Direct efficiency": ("Direct pages reclaimed", "Direct pages scanned"),
}


def variants() -> dict[str, dict[str, int]]:
    """Return what is tried: its name -> the constants that are not as set."""
    ends = {
        row["name"]: (row["low"], row["high"])
        for row in reclaim.lab_guest_constants().iter_rows(named=True)
    }
    return {
        AS_SET: {},
        "a fast CPU": {name: ends[name][0] for name in _COSTS},
        "a slow CPU": {name: ends[name][1] for name in _COSTS},
        "short turns of writes": {"writes_turn_ms": ends["writes_turn_ms"][0]},
        "a longer queue": {"nr_requests": ends["nr_requests"][1]},
        "less slab": {"kernel_pages": ends["kernel_pages"][0]},
        "more slab": {"kernel_pages": ends["kernel_pages"][1]},
        "a disk whose rate is known": {"dirty_percent": ends["dirty_percent"][0]},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestRun:
    """A guest's test: four sizes of the file, one after another.

    Attributes
    ----------
    rules : str
        One of STALL_RULES.
    seed : int
    variant : str
    constants : mapping of str to int
        Those that are not as set.
    """

    rules: str
    seed: int = 1
    variant: str = AS_SET
    constants: Mapping[str, int] = field(default_factory=dict)


def told_by_guest(run: GuestRun) -> pl.DataFrame:
    """Run a guest's test and return its rows.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, the kernel is the variant's name: by size as ``METRIC-SIZE``, and of all
        sizes.
    """
    found = reclaim.lab_guest_constants(run.constants)
    told = {}
    for size in SIZES.values():
        config = reclaim.lab_guest(run.rules, float(size), found, seed=run.seed)
        told[size] = reclaim.lab_guest_rows(reclaim.run_lab_guest(config, found))
    by_size = pl.concat(
        pl.DataFrame(rows, schema=["metric", "value", "unit"], orient="row").with_columns(
            size=pl.lit(size), value=pl.col("value").cast(pl.Float64)
        )
        for size, rows in told.items()
    )
    of_all = (
        by_size.filter(~pl.col("metric").str.starts_with("Ops "))
        .group_by("metric", "unit", maintain_order=True)
        .agg(pl.col("value").sum())
        .select("metric", "value", "unit")
    )
    sums = dict(of_all.select("metric", "value").iter_rows())
    stalled = math.fsum(value for name, value in sums.items() if name.startswith("Time stalled "))
    shares = [
        (name, 100 * sums[part] / sums[whole] if sums[whole] else 100.0, "%")
        for name, (part, whole) in _SHARES.items()
    ]
    more = pl.DataFrame(
        [*shares, ("Time stalled", stalled, "s")], schema=of_all.schema, orient="row"
    )
    named = by_size.with_columns(metric=pl.format("{}-{}", "metric", "size"))
    labels: dict[str, str | int] = {
        "patch": PATCH,
        "kernel": run.variant,
        "policy": run.rules,
        "n_tasks": 1,
        "seed": run.seed,
    }
    return claims.results(pl.concat([named.select(of_all.columns), of_all, more]), labels)


def guest_runs() -> list[GuestRun]:
    """Return the lab's test by each rule set, as set and at each end of what is open."""
    return [
        GuestRun(rules=rules, seed=seed, variant=variant, constants=constants)
        for variant, constants in variants().items()
        for rules in STALL_RULES
        for seed in (SEEDS if variant == AS_SET else SEEDS[:SEEDS_OF_VARIANTS])
    ]
