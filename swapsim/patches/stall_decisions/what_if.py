# SPDX-License-Identifier: GPL-2.0-or-later
"""On other machines: when do the rules stop mattering? The mail's test on a disk, one round.

The grids were chosen before any of these worlds had run. The file is the mail's second, 1.67 times
the memory beside the pool.
"""

from itertools import product
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim.claims.directions import STAYS_WITHIN_PERCENT
from swapsim.claims.paired import difference
from swapsim.patches.stall_decisions.mail import BASE, RULES, SERIES
from swapsim.patches.stall_decisions.tables import SIMULATED_MATTERS, SIMULATED_WHAT_IF
from swapsim.patches.stall_decisions.worlds import Run, watched
from swapsim.reclaim import constants, vmstat

SWAPPINESS: Final = (0, 10, 30, 60, 100)
DIRTY_PERCENT: Final = (5, 10, 20, 40, 60)
DISK_MB: Final = (20, 60, 120, 250, 500, 1000, 2000)
"""Megabytes a second."""

MEMORY_GB: Final = (4, 7, 16, 32, 64)
SEEDS: Final = (1, 2, 3)

ROWS: Final = ("Kswapd pages scanned", "Page writes file", "Swap Outs")
"""Of vmstat, besides operations a second and seconds for the file."""

_MIB_PAGES: Final = 256
_GIB_PAGES: Final = 1024 * _MIB_PAGES
_MAILED_MB: Final = 120
"""Megabytes a second of the disk whose ways data/world.csv has."""


class Case(NamedTuple):
    """A machine: what is asked about, its value, and what that makes of the mail's world."""

    factor: str
    setting: float
    constants: dict[str, int]
    fields: dict[str, Any]


class Point(NamedTuple):
    """A case by one kernel's rules, and one seed."""

    case: Case
    rules: str
    seed: int


def cases() -> list[Case]:
    """Return all machines, factor by factor."""
    return [
        *(_case("swappiness", value, swappiness=value) for value in SWAPPINESS),
        *(_dirty(value) for value in DIRTY_PERCENT),
        *(_disk(value) for value in DISK_MB),
        *(_memory(value) for value in MEMORY_GB),
    ]


def points() -> list[Point]:
    """Return each machine by each kernel of the mail, with each seed."""
    return [Point(*each) for each in product(cases(), RULES, SEEDS)]


def matters(found: pl.DataFrame) -> pl.DataFrame:
    """Say on which machines the series differs from its base.

    Parameters
    ----------
    found : polars.DataFrame
        Schema SIMULATED_WHAT_IF.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_MATTERS: it differs where all seeds have one sign and the change is
        more than STAYS_WITHIN_PERCENT.
    """
    SIMULATED_WHAT_IF.check(found)
    rows = []
    for (factor, setting, metric), of_one in found.group_by(
        "factor", "setting", "metric", maintain_order=True
    ):
        base, series = (
            of_one.filter(rules=rules).select("seed", "value") for rules in (BASE, SERIES)
        )
        seen = difference(base, series)
        if seen is None:
            continue
        change = 100 * (seen["value"] / seen["base"] - 1) if seen["base"] else None
        loud = change is None or abs(change) > STAYS_WITHIN_PERCENT
        rows.append(
            {
                "factor": factor,
                "setting": setting,
                "metric": metric,
                "base": seen["base"],
                "series": seen["value"],
                "change": change,
                "differs": seen["seen"] != "either" and loud,
            }
        )
    return SIMULATED_MATTERS.check(pl.DataFrame(rows, schema=SIMULATED_MATTERS.schema))


def run_point(point: Point) -> pl.DataFrame:
    """Run the mail's test on a machine and return its rows (SIMULATED_WHAT_IF)."""
    case, rules, seed = point
    world = watched(
        Run(rules=rules, seed=seed, constants=case.constants, fields=_ONE_ROUND | case.fields)
    )
    figures = dict(vmstat(world).filter(pl.col("metric").is_in(ROWS)).iter_rows())
    (served,) = world.rounds.iter_rows(named=True)
    figures |= {
        "Operations a second": served["ops_per_second"],
        "Seconds for the file": served["io_ns"] / 1e9,
    }
    return pl.DataFrame(
        [(case.factor, float(case.setting), rules, seed, *figure) for figure in figures.items()],
        schema=SIMULATED_WHAT_IF.schema,
        orient="row",
    )


_FILE_MIB: Final = 2385
_ONE_ROUND: Final = {"files": (_FILE_MIB * _MIB_PAGES,)}


def _case(factor: str, setting: float, /, **fields: Any) -> Case:
    return Case(factor, setting, {}, fields)


def _dirty(percent: int) -> Case:
    return _case(
        "dirty ratio, %", percent, dirty_percent=percent, background_percent=max(percent // 2, 1)
    )


def _disk(megabytes: int) -> Case:
    """Return a disk: a faster one has shorter ways, by as much; a slower one has the same."""
    share = min(_MAILED_MB / megabytes, 1)
    found = Run(rules=BASE).world()[0]
    ways = {name: int(getattr(found, name) * share) for name in ("seek_near_ns", "seek_far_ns")}
    return Case("disk, MB/s", megabytes, {"disk_rate": megabytes * _MIB_PAGES} | ways, {})


def _memory(gigabytes: int) -> Case:
    """Return a memory: pool and file are of it what they are of the mail's."""
    pages = gigabytes * _GIB_PAGES
    found = dict(constants().select("name", "value").iter_rows())
    share = pages / found["memory_pages"]
    changed = {
        "memory_pages": pages,
        "pool_pages": int(found["pool_pages"] * share),
        "swap_pages": max(found["swap_pages"], pages),
    }
    file = int(_FILE_MIB * _MIB_PAGES * share)
    return Case("memory, GB", gigabytes, changed, {"files": (file,)})
