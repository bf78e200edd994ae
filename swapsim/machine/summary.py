# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs, fits and what-ifs say together: time per page, locks, ranges, sentences."""

import math
import re
from collections.abc import Mapping
from typing import Final

import polars as pl

from swapsim.claims import range_text
from swapsim.errors import InputError, require_some

_LOCK_PARTS: Final = {"tree_lock": "swap cache's lock", "si_lock": "si->lock"}
_INTERRUPTS: Final = "other CPUs' interrupts"

_PER_CPU_LOCKS: Final = ("alloc_lock", "free_lock")
"""Locks of a CPU's own slot caches, which no other CPU takes; the work under them has its own
parts."""

_NESTED: Final = (
    r"\.cluster_lock\.|\.clear_shadow_from_swap_cache$"
    r"|\.swap_cgroup_record\.(mem_cgroup_swapout|swapcache_free_entries)$"
)
"""Sites inside si->lock or the swap cache's lock, whose hold already includes them."""


def time_per_page(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return where the CPUs' time goes between two pages swapped out, in a run of each kernel.

    The columns are ``kernel, part, microseconds, percent``: the parts of each kernel in one order,
    and their shares in the sum. A hold of si->lock includes the waits and holds inside it.

    Examples
    --------
    >>> from swapsim import frames, machine
    >>> results = machine.run.run(machine.MachineConfig(kernel="4.8", walkers=8))
    >>> where = machine.summary.time_per_page({"4.8": results})
    >>> frames.show(where.sort("microseconds", descending=True).head(3))
    kernel: 4.8
    part                           microseconds  percent
    swap cache's lock, waited for         15.3     41.2
    work without a lock                   13.1     35.3
    swap cache's lock, held                3.36     9.08
    """
    require_some(runs, "runs")
    return pl.concat(_parts(kernel, run) for kernel, run in runs.items())


def describe_gains(ranges: pl.DataFrame) -> str:
    """Return sentences on the smallest and the largest gain, and on cases of both signs.

    ``ranges`` has ``label, low, middle, high`` of each case, as `what_if.gains` returns them.
    """
    require_some(ranges.rows(), "ranges")
    least, most = (
        ranges.sort("middle", descending=down).row(0, named=True) for down in (False, True)
    )
    unsure = ranges.filter(pl.col("low") < 0, pl.col("high") > 0)["label"].to_list()
    sign = f"Both signs occur for {', '.join(unsure)}." if unsure else "The sign never changes."
    return (
        f"By its median over fits and seeds, the gain is least with {least['label']} "
        f"({_span(least)}) and greatest with {most['label']} ({_span(most)}). {sign}"
    )


def describe_sensitivity(rows: pl.DataFrame) -> str:
    """Return sentences on the gain over the ends of all constants, and the widest of them.

    ``rows`` are those of `what_if.by_constant`.
    """
    both = rows.drop_nulls(["low", "high"])
    if both.is_empty():
        raise InputError("no constant has a fit at its low and at its high", field="rows")
    ends = pl.concat([rows["low"], rows["high"]]).drop_nulls()
    first = both.row(0, named=True)
    flips = both.filter("flips")["constant"].to_list()
    sign = f"The sign changes with {', '.join(flips)}." if flips else "The sign never changes."
    return (
        f"With each of {rows.height} constants at its low and its high value, the gain is between "
        f"{min(ends):.1f} and {max(ends):.1f} %. {first['constant']} matters most: "
        f"{first['low']:.1f} % at {first['at_low']:g}, {first['high']:.1f} % at "
        f"{first['at_high']:g}. {sign}"
    )


def lock_of(metric: str, kernel: str) -> str | None:
    """Return the lock of which a metric ``wait.SITE`` or ``hold.SITE`` is a part of a page's time.

    None for sites inside other holds, whose time these have, and for locks of one CPU alone.
    """
    if re.search(_NESTED, metric) or (lock := metric.split(".")[1]) in _PER_CPU_LOCKS:
        return None
    if lock == "map_lock" and kernel == "4.8":
        lock = "si_lock"  # before 4.11 the map bytes are under si->lock
    return (_LOCK_PARTS | {"interrupt": _INTERRUPTS}).get(lock, "other locks")


def _parts(kernel: str, run: pl.DataFrame) -> pl.DataFrame:
    busy = run.filter(metric="busy")["value"].item()
    timed = run.filter(unit="ns per page")
    locks = [lock_of(metric, run["kernel"][0]) for metric in timed["metric"]]
    times = (
        timed.with_columns(
            kind=pl.col("metric").str.extract(r"^(\w+)\."), lock=pl.Series(locks, dtype=pl.String)
        )
        .drop_nulls("lock")
        .group_by("lock", "kind")
        .agg(pl.col("value").sum())
    )
    rows = [
        (f"{lock}, {word}", times.filter(lock=lock, kind=kind)["value"].sum() / 1000)
        for lock in (*_LOCK_PARTS.values(), "other locks")
        for kind, word in (("wait", "waited for"), ("hold", "held"))
    ]
    interrupts = times.filter(lock=_INTERRUPTS, kind="wait")["value"].sum() / 1000
    rows.append((f"{_INTERRUPTS}, waited for", interrupts))
    rows.insert(0, ("work without a lock", busy / 1000 - math.fsum(value for _, value in rows)))
    return pl.DataFrame(
        {
            "kernel": kernel,
            "part": [part for part, _ in rows],
            "microseconds": [value for _, value in rows],
            "percent": [100_000 * value / busy for _, value in rows],
        }
    )


def _span(row: dict[str, float]) -> str:
    return range_text(row["low"], row["high"])
