# SPDX-License-Identifier: GPL-2.0-or-later
"""Locks of the turns of one run, per page swapped out, for a ledger of several kernels."""

import re
from collections.abc import Mapping
from typing import Final

from rig.counts import Metrics, lock_sites, locks, vmstat
from rig.errors import GuestError

_TURN: Final = re.compile(r"^turn (\S+) vmstat-begin$")
# Counters of the kernel's large folios, where it has any, and their metrics.
_FOLIOS: Final = {
    "swpout": "large folios out",
    "swpout_fallback": "large folios split",
    "swpin": "large folios in",
}


def read(report: Mapping[str, str], name: str, *, sites: bool = True) -> dict[str, Metrics]:
    """Read the metrics of each turn of one run, by the name of the turn.

    Raises
    ------
    GuestError
        The program took no turns, or a turn swapped nothing out, or its lock statistics or
        (where they are asked for) call sites are not there.
    """
    turns = [match[1] for section in report if (match := _TURN.match(section))]
    if not turns:
        raise GuestError(f"{name}: the program took no turns")
    return {turn: _turn(report, f"turn {turn}", f"{name}, {turn}", sites) for turn in turns}


def _turn(report: Mapping[str, str], turn: str, name: str, asked: bool) -> Metrics:
    begin, end = (vmstat(report[f"{turn} vmstat-{mark}"]) for mark in ("begin", "end"))
    pages = end["pswpout"] - begin["pswpout"]
    if pages == 0:
        raise GuestError(f"{name}: no page was swapped out")
    counted = locks(report[f"{turn} lock-stat"], pages)
    sites = lock_sites(report[f"{turn} lock-sites"], pages) if asked else {}
    if "si->lock acquisitions" not in counted or bool(sites) != asked:
        raise GuestError(f"{name}: no lock statistics, or no call sites")
    if "call sites dropped" in sites:
        raise GuestError(f"{name}: the histogram of call sites was full")
    metrics: Metrics = {
        "pages out": (pages, "page"),
        "pages in": (end["pswpin"] - begin["pswpin"], "page"),
    }
    for counter, metric in _FOLIOS.items():
        if counter in end:
            metrics[metric] = (end[counter] - begin[counter], "folio")
    return metrics | counted | sites
