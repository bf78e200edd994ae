# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of a page goes: work, and each lock's waits and holds."""

import math
from collections.abc import Mapping
from typing import Final

import polars as pl

from swapsim.errors import require_some
from swapsim.machine.tables import TIME_PER_PAGE

_LOCK_PARTS: Final = {"tree_lock": "swap cache's lock", "si_lock": "si->lock"}
_INTERRUPTS: Final = "other CPUs' interrupts"
_AROUND_OTHERS: Final = ("alloc_lock", "free_lock")
"""Locks of a CPU's own slot caches: no other CPU takes them, and what is done under them has
its own parts."""

_INSIDE: Final = (
    r"\.cluster_lock\.|\.clear_shadow_from_swap_cache$"
    r"|\.swap_cgroup_record\.(mem_cgroup_swapout|swapcache_free_entries)$"
)
"""What is taken inside si->lock or the swap cache's lock, whose hold has it already."""


def time_per_page(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Say where the CPUs' time goes between two pages swapped out.

    Parameters
    ----------
    runs : mapping of str to polars.DataFrame
        A kernel's name -> one run of it (`run.run`).

    Returns
    -------
    polars.DataFrame
        Schema TIME_PER_PAGE, the parts of each kernel in one order; percent of its own sum. A hold
        of si->lock has in it what is waited for and held inside.

    Raises
    ------
    InputError
        No run is given.
    """
    require_some(runs, "runs")
    frames = [_parts(kernel, run) for kernel, run in runs.items()]
    return TIME_PER_PAGE.check(pl.concat(frames))


def time_of_actors(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Say what each kind of CPU spends its time with.

    Parameters
    ----------
    runs : mapping of str to polars.DataFrame
        A name -> one run of `run.run`.

    Returns
    -------
    polars.DataFrame
        ``run`` (its name), ``actor``, and in percent of these CPUs' time ``works`` (without a
        lock), ``holds`` and ``waits`` (for a lock), ``idles``.

    Raises
    ------
    InputError
        No run is given.
    """
    require_some(runs, "runs")
    words = {"run": "works", "hold": "holds", "wait": "waits", "idle": "idles"}
    return pl.concat(
        run.filter(unit="% of time")
        .select(
            pl.lit(name).alias("run"),
            pl.col("metric").str.extract(r"\.(\w+)$").alias("actor"),
            pl.col("metric").str.extract(r"^(\w+)\.").replace_strict(words).alias("what"),
            "value",
        )
        .pivot("what", index=["run", "actor"], values="value")
        .select("run", "actor", *words.values())
        for name, run in runs.items()
    )


def _parts(kernel: str, run: pl.DataFrame) -> pl.DataFrame:
    busy = run.filter(metric="busy")["value"].item()
    times = (
        run.filter(pl.col("unit") == "ns per page")
        .with_columns(
            kind=pl.col("metric").str.extract(r"^(\w+)\."),
            lock=pl.col("metric").str.extract(r"^\w+\.(\w+)\."),
        )
        .filter(~pl.col("lock").is_in(_AROUND_OTHERS), ~pl.col("metric").str.contains(_INSIDE))
        .with_columns(
            pl.col("lock")
            # Before 4.11 the map bytes are under si->lock.
            .replace("map_lock", "si_lock" if run["kernel"][0] == "4.8" else "map_lock")
            .replace_strict(_LOCK_PARTS | {"interrupt": _INTERRUPTS}, default="other locks")
        )
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
        [(kernel, part, value, 100_000 * value / busy) for part, value in rows],
        schema=TIME_PER_PAGE.schema,
        orient="row",
    )
