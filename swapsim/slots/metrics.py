# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics of the slot workbench: quotients of what its runs count."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from swapsim.frames.table import Column, Table
from swapsim.slots._native import LockSite


class Metric(NamedTuple):
    """One metric: ``over`` / ``under``, each the sum of some counts (`Counts.of`).

    ``better`` is "higher", "lower" or "neither".
    """

    over: tuple[str, ...]
    under: tuple[str, ...]
    unit: str
    meaning: str
    better: str = "lower"


def _device(*names: str) -> tuple[str, ...]:
    return tuple(f"work.device.{name}" for name in names)


def _locks(count: str, sites: Sequence[int] = tuple(LockSite)) -> tuple[str, ...]:
    return tuple(f"locks.{site}.{count}" for site in sites)


_UNLOCKED: Final = _device("tested_scan")
_QUICK: Final = _device("tested_quick")
_CLUSTER: Final = _device("tested_cluster")
_TESTED: Final = (*_UNLOCKED, *_QUICK, *_CLUSTER)
_GIVEN: Final = _device("given")
_PAGES: Final = ("pages_out",)
_ROUNDS: Final = ("rounds",)

_SITES: Final = {
    "": (tuple(LockSite), "all acquisitions of a trunk's lock"),
    ".add": ((LockSite.ADD,), "those that add a page to the swap cache"),
    ".delete": ((LockSite.DELETE,), "those that delete a page"),
    ".free": ((LockSite.FREE,), "those that clear a freed slot's shadow"),
}

METRICS: Final[dict[str, Metric]] = {
    "scanned": Metric(_TESTED, _GIVEN, "slots/slot", "slots tested per slot handed out"),
    "scanned.unlocked": Metric(
        _UNLOCKED, _GIVEN, "slots/slot", "of these, by the scan with no lock held"
    ),
    "scanned.quick": Metric(
        _QUICK, _GIVEN, "slots/slot", "of these, by the quick scan under si->lock"
    ),
    "scanned.cluster": Metric(_CLUSTER, _GIVEN, "slots/slot", "of these, in the CPU's own cluster"),
    "scanned.again": Metric(
        ("tested_again",),
        ("on_trails",),
        "share",
        "of the scanned slots, those that another CPU had just scanned",
    ),
    "trunk.met": Metric(
        ("rounds_met",),
        _ROUNDS,
        "share",
        "of the rounds, those after which the last slots of two CPUs are in one trunk",
    ),
    "trunk.pairs": Metric(("pair_rounds",), _ROUNDS, "pairs", "number of such pairs of CPUs"),
    "trunk.stay": Metric(
        ("pair_rounds",), ("meetings",), "rounds", "how long such a pair stays in one trunk"
    ),
    "trunk.shared": Metric(
        ("pages_met",),
        _PAGES,
        "share",
        "of the pages, those whose slot is in the trunk of another CPU's last slot",
    ),
    "changes": Metric(
        ("changes",), _PAGES, "1/page", "times that a task changes CPU, per page", "neither"
    ),
    "lock": Metric(
        _locks("acquisitions"),
        _PAGES,
        "1/page",
        "acquisitions of trunks' locks per page swapped out",
        "neither",
    ),
    **{
        f"lock.{count}{site}": Metric(
            _locks(count, numbers),
            _locks("acquisitions", numbers),
            "share",
            f"of {which}, those after another CPU's{when}",
        )
        for count, when in (("moved", ""), ("close", " within the lock window"))
        for site, (numbers, which) in _SITES.items()
    },
    "run": Metric(
        _PAGES,
        ("runs",),
        "slots",
        "adjacent slots that an address space gets in sequence",
        "higher",
    ),
    "call": Metric(
        _GIVEN, _device("calls"), "slots/call", "slots that a call of the device gets", "higher"
    ),
    "si_lock": Metric(_device("si_lock"), _GIVEN, "1/slot", "acquisitions of si->lock per slot"),
    "si_lock.work": Metric(
        (*_QUICK, *_CLUSTER, *_device("looked_at")),
        _GIVEN,
        "steps/slot",
        "slots tested and bases read under si->lock, per slot",
    ),
    "reclaims": Metric(
        _device("reclaims"),
        _GIVEN,
        "1/slot",
        "slots that only the swap cache held and that were tried, per slot",
    ),
    "seeks": Metric(
        ("seeks",), _PAGES, "1/page", "writes that are not adjacent to the last one, per page"
    ),
    "seeks.distance": Metric(("seek_slots",), ("seeks",), "slots", "distance of a seek"),
    "span": Metric(
        ("span_slots",),
        ("spans",),
        "slots",
        "from the lowest to the highest slot written in a window",
    ),
    "nonsense": Metric(
        _device("nonsense"),
        _device("stores"),
        "share",
        "of the answers of a user's policy, those that are invalid",
    ),
    "without_slot": Metric(
        ("without_slot",),
        ("pages_out", "without_slot"),
        "share",
        "of the pages, those that found the device full",
    ),
}
"""The metrics by name, without FAIRNESS."""

FAIRNESS: Final = "fairness"
"""Jain's index over the CPUs of the slots tested per page: 1 where all are equal."""

SLOT_METRICS: Final = Table(
    "SLOT_METRICS",
    "One figure per metric of the slot workbench, in long form or as a column of its own.",
    *(
        Column(name, pl.Float64, f"{metric.meaning} (better: {metric.better})", metric.unit)
        for name, metric in METRICS.items()
    ),
)
