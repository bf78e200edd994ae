# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics of the slot workbench: quotients of what its runs count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from swapsim.slots._native import LockSite
from swapsim.tables import Metric, Metrics


@dataclass(frozen=True, slots=True)
class Quotient(Metric):
    """A metric that is ``over`` / ``under``, each the sum of some counts (`Counts.of`)."""

    over: tuple[str, ...] = ()
    under: tuple[str, ...] = ()


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

QUOTIENTS: Final[dict[str, Quotient]] = {
    "scanned": Quotient("slots/slot", "slots tested per slot handed out", "lower", _TESTED, _GIVEN),
    "scanned.unlocked": Quotient(
        "slots/slot", "of these, by the scan with no lock held", "lower", _UNLOCKED, _GIVEN
    ),
    "scanned.quick": Quotient(
        "slots/slot", "of these, by the quick scan under si->lock", "lower", _QUICK, _GIVEN
    ),
    "scanned.cluster": Quotient(
        "slots/slot", "of these, in the CPU's own cluster", "lower", _CLUSTER, _GIVEN
    ),
    "scanned.again": Quotient(
        "share",
        "of the scanned slots, those that another CPU had just scanned",
        "lower",
        ("tested_again",),
        ("on_trails",),
    ),
    "trunk.met": Quotient(
        "share",
        "of the rounds, those after which the last slots of two CPUs are in one trunk",
        "lower",
        ("rounds_met",),
        _ROUNDS,
    ),
    "trunk.pairs": Quotient(
        "pairs", "number of such pairs of CPUs", "lower", ("pair_rounds",), _ROUNDS
    ),
    "trunk.stay": Quotient(
        "rounds",
        "how long such a pair stays in one trunk",
        "lower",
        ("pair_rounds",),
        ("meetings",),
    ),
    "trunk.shared": Quotient(
        "share",
        "of the pages, those whose slot is in the trunk of another CPU's last slot",
        "lower",
        ("pages_met",),
        _PAGES,
    ),
    "changes": Quotient(
        "1/page", "times that a task changes CPU, per page", "neither", ("changes",), _PAGES
    ),
    "lock": Quotient(
        "1/page",
        "acquisitions of trunks' locks per page swapped out",
        "neither",
        _locks("acquisitions"),
        _PAGES,
    ),
    **{
        f"lock.{count}{site}": Quotient(
            "share",
            f"of {which}, those after another CPU's{when}",
            "lower",
            _locks(count, numbers),
            _locks("acquisitions", numbers),
        )
        for count, when in (("moved", ""), ("close", " within the lock window"))
        for site, (numbers, which) in _SITES.items()
    },
    "run": Quotient(
        "slots",
        "adjacent slots that an address space gets in sequence",
        "higher",
        _PAGES,
        ("runs",),
    ),
    "call": Quotient(
        "slots/call", "slots that a call of the device gets", "higher", _GIVEN, _device("calls")
    ),
    "si_lock": Quotient(
        "1/slot", "acquisitions of si->lock per slot", "lower", _device("si_lock"), _GIVEN
    ),
    "si_lock.work": Quotient(
        "steps/slot",
        "slots tested and bases read under si->lock, per slot",
        "lower",
        (*_QUICK, *_CLUSTER, *_device("looked_at")),
        _GIVEN,
    ),
    "reclaims": Quotient(
        "1/slot",
        "slots that only the swap cache held and that were tried, per slot",
        "lower",
        _device("reclaims"),
        _GIVEN,
    ),
    "seeks": Quotient(
        "1/page",
        "writes that are not adjacent to the last one, per page",
        "lower",
        ("seeks",),
        _PAGES,
    ),
    "seeks.distance": Quotient("slots", "distance of a seek", "lower", ("seek_slots",), ("seeks",)),
    "span": Quotient(
        "slots",
        "from the lowest to the highest slot written in a window",
        "lower",
        ("span_slots",),
        ("spans",),
    ),
    "nonsense": Quotient(
        "share",
        "of the answers of a user's policy, those that are invalid",
        "lower",
        _device("nonsense"),
        _device("stores"),
    ),
    "without_slot": Quotient(
        "share",
        "of the pages, those that found the device full",
        "lower",
        ("without_slot",),
        ("pages_out", "without_slot"),
    ),
}

METRICS: Final = Metrics(
    "the slot workbench",
    QUOTIENTS
    | {"fairness": Metric("index", "Jain's index of slots tested per page, by CPU", "higher")},
)
"""The metrics of a run of the workbench, by name."""

LEADING: Final = (
    "lock.moved.add",
    "lock.moved.free",
    "trunk.pairs",
    "scanned",
    "scanned.again",
    "run",
)
"""The metrics that describe a policy best: moved lock lines, repeated scanning, locality."""

_ALONE: Final = {
    "lock.moved.add": "share of the additions to the swap cache that take a trunk's lock which "
    "another CPU held last",
    "lock.moved.free": "share of the clears of a freed slot's shadow that take a trunk's lock "
    "which another CPU held last",
    "trunk.pairs": "pairs of CPUs whose last slots are in one trunk, the mean over rounds of time",
    "scanned.again": "share of the scanned slots that another CPU had just scanned",
}
"""Meanings that can be read without the metric before, which METRICS has them rest on."""


def in_words(name: str) -> str:
    """Return a metric's meaning, to be read alone."""
    return _ALONE.get(name, METRICS[name].meaning)
