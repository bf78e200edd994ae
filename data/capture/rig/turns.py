# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of the turns of a run per page that reclaim frees: locks, lists, holds, times."""

import re
from collections.abc import Mapping
from typing import Final

from rig.counts import Metrics, locks, vmstat
from rig.errors import GuestError

_TURN: Final = re.compile(
    r"^(\d+) tasks: \d+ bytes / (\d+) usecs, (\d+) of them in the kernel$", re.MULTILINE
)
_LENGTHS: Final = re.compile(r"^\{ pages: +(\d+) \} hitcount: +(\d+)", re.MULTILINE)
# Times in /proc/PID/stat are in hundredths of a second.
_TICKS_PER_S: Final = 100


def read(report: Mapping[str, str], name: str) -> dict[str, Metrics]:
    """Read the metrics of each turn of one run, by its number of tasks.

    Raises
    ------
    GuestError
        The program took no turns, or a turn reclaimed no page or has no lock statistics.
    """
    turns = _TURN.findall(report["output"])
    if not turns:
        raise GuestError(f"{name}: the program took no turns")
    return {
        tasks: {
            "elapsed": (int(elapsed_us) / 1e6, "s"),
            "system time": (int(system_us) / 1e6, "s"),
            **_turn(report, f"turn {tasks}", f"{name}, {tasks} tasks"),
        }
        for tasks, elapsed_us, system_us in turns
    }


def _turn(report: Mapping[str, str], turn: str, name: str) -> Metrics:
    begin, end = (vmstat(report[f"{turn} vmstat-{mark}"]) for mark in ("begin", "end"))
    pages = {
        reclaimer: end[f"pgsteal_{reclaimer}"] - begin[f"pgsteal_{reclaimer}"]
        for reclaimer in ("kswapd", "direct")
    }
    reclaimed = sum(pages.values())
    if reclaimed == 0:
        raise GuestError(f"{name}: no page was reclaimed")
    begin_s, end_s = (_system_s(report[f"{turn} kswapd-{mark}"]) for mark in ("begin", "end"))
    metrics: Metrics = {
        "system time of kswapd": (end_s - begin_s, "s"),
        "pages reclaimed": (reclaimed, "page"),
        "pages reclaimed by kswapd": (pages["kswapd"], "page"),
        "pages out": (end["pswpout"] - begin["pswpout"], "page"),
        "pages in": (end["pswpin"] - begin["pswpin"], "page"),
        **_lengths(report[f"{turn} removal_list"], "list"),
        **_lengths(report[f"{turn} removal_hold"], "batched hold"),
        **locks(report.get(f"{turn} lock-stat", ""), reclaimed),
    }
    if "lru_lock acquisitions" not in metrics:
        raise GuestError(f"{name}: no lock statistics")
    return metrics


def _system_s(stats: str) -> float:
    """Add up the time in the kernel of all threads of /proc/PID/stat: field 15."""
    return sum(int(line.split()[14]) for line in stats.splitlines()) / _TICKS_PER_S


def _lengths(histogram: str, of: str) -> Metrics:
    """Count the pages that lists, or holds, removed; those that removed no page are left out."""
    hits = {int(pages): int(number) for pages, number in _LENGTHS.findall(histogram)}
    hits.pop(0, None)
    if not hits:
        return {}
    number = sum(hits.values())
    pages = sum(length * times for length, times in hits.items())
    return {
        f"{of}s": (number, "1"),
        f"pages a {of}": (pages / number, "page"),
        f"pages of the longest {of}": (max(hits), "page"),
    }
