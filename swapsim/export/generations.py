# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracks of generations: what reclaim chose, and by which refault rates, gains and generations."""

from collections.abc import Iterator
from typing import Final

from swapsim.export.event_file import GENERATIONS, Args, EventFile, task_track
from swapsim.export.rows import Row
from swapsim.ffi import GENERATION_SWAPPINESS_MAX
from swapsim.generations.tables import TIERS, TYPES

_PARTS: Final = (("avg_refaulted", "refaulted"), ("avg_total", "evicted", "protected"))

USED: Final = (
    *("lruvec", "swappiness", "priority", "max_seq", *(f"min_seq_{each}" for each in TYPES)),
    *(f"{name}_{each}_{n}" for part in _PARTS for name in part for each in TYPES for n in TIERS),
    *(f"{name}_{n}" for name in ("scan", "pages", "taken") for n in (1, 2)),
)
"""Fields of a choice."""


def _rate(args: Args, each: str) -> float:
    """Return the refault rate of a type over all tiers, in percent."""
    refaulted, total = (
        sum(int(str(args[f"{name}_{each}_{tier}"])) for name in part for tier in TIERS)
        for part in _PARTS
    )
    return round(100 * refaulted / total, 2) if total else 0.0


def write_generations(rows: Iterator[Row], file: EventFile, _end: int) -> None:
    """Write each choice and each new generation as an instant of its task, with counters.

    The counters of an lruvec are both refault rates, these over their gains, of which the lower one
    is taken, and the generations that are left.
    """
    for _, at, pid, table, args in rows:
        where = f"lruvec {args['lruvec']}"
        if table == "generation_steps":
            if args["aged"]:
                file.instant(task_track(pid), f"new generation, {where}", at, {})
            continue
        anon = min(args["swappiness"], GENERATION_SWAPPINESS_MAX)
        gains = dict(zip(TYPES, (anon, GENERATION_SWAPPINESS_MAX - anon), strict=True))
        rates = {each: _rate(args, each) for each in TYPES}
        left = {each: args["max_seq"] + 1 - args[f"min_seq_{each}"] for each in TYPES}
        over = {each: round(rates[each] / gains[each], 4) for each in TYPES if gains[each]}
        file.counter(GENERATIONS, f"{where}: refault rate, %", at, rates)
        file.counter(GENERATIONS, f"{where}: refault rate over gain", at, over)
        file.counter(GENERATIONS, f"{where}: generations", at, left)
        lists = {
            f"list {n}": f"{args[f'taken_{n}']} of {args[f'pages_{n}']} {args[f'scan_{n}']} pages"
            for n in (1, 2)
            if args[f"scan_{n}"] is not None
        }
        shown = {name: args[name] for name in ("swappiness", "priority")}
        name = f"takes {args['scan_1'] or 'neither'}, {where}"
        file.instant(task_track(pid), name, at, shown | lists)
