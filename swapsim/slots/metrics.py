# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics of the slot microbenchmark: quotients of what its runs count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from swapsim.slots._native import LOCK_SITES
from swapsim.tables import Metric, Metrics


@dataclass(frozen=True, slots=True)
class Quotient(Metric):
    """A metric that is ``over`` / ``under``, each the sum of some counts of `count`."""

    over: tuple[str, ...] = ()
    under: tuple[str, ...] = ()


def _device(*names: str) -> tuple[str, ...]:
    return tuple(f"work.device.{name}" for name in names)


def _locks(count: str, sites: Sequence[str] = tuple(LOCK_SITES)) -> tuple[str, ...]:
    return tuple(f"locks.{LOCK_SITES[site]}.{count}" for site in sites)


_UNLOCKED: Final = _device("tested_scan")
_QUICK: Final = _device("tested_quick")
_CLUSTER: Final = _device("tested_cluster")
_TESTED: Final = (*_UNLOCKED, *_QUICK, *_CLUSTER)
_GIVEN: Final = _device("given")
_PAGES: Final = ("pages_out",)
_ROUNDS: Final = ("rounds",)
_PAIRS: Final = ("pair_rounds",)
_AGAIN: Final = ("tested_again",)
_RUNS: Final = ("runs",)
_MET: Final = ("rounds_met",)
_HELD: Final = (*_QUICK, *_CLUSTER, *_device("looked_at"))
_FULL: Final = ("without_slot",)
_ALL_PAGES: Final = (*_PAGES, *_FULL)

_SITES: Final = {
    "": (tuple(LOCK_SITES), "acquisitions of a trunk's lock"),
    ".add": (("add",), "additions to the swap cache"),
    ".delete": (("delete",), "deletions from the swap cache"),
    ".free": (("free",), "clears of a freed slot's shadow"),
}


def _q(
    unit: str, meaning: str, over: tuple[str, ...], under: tuple[str, ...], better: str = "lower"
) -> Quotient:
    return Quotient(unit, meaning, better, over, under)


QUOTIENTS: Final[dict[str, Quotient]] = {
    "scanned": _q("slots/slot", "slots tested per slot handed out", _TESTED, _GIVEN),
    "scanned.unlocked": _q("slots/slot", "of these, by the scan without a lock", _UNLOCKED, _GIVEN),
    "scanned.quick": _q("slots/slot", "of these, by the quick scan under si->lock", _QUICK, _GIVEN),
    "scanned.cluster": _q("slots/slot", "of these, in the CPU's own cluster", _CLUSTER, _GIVEN),
    "scanned.again": _q(
        "share", "scanned slots that another CPU had just scanned, of all", _AGAIN, ("on_trails",)
    ),
    "trunk.met": _q("share", "rounds after which two CPUs are in one trunk", _MET, _ROUNDS),
    "trunk.pairs": _q("pairs", "pairs of CPUs whose last slots are in one trunk", _PAIRS, _ROUNDS),
    "trunk.stay": _q("rounds", "how long such a pair stays in one trunk", _PAIRS, ("meetings",)),
    "trunk.shared": _q(
        "share", "pages in the trunk of another CPU's last slot, of all", ("pages_met",), _PAGES
    ),
    "changes": _q(
        "1/page", "times that a task changes CPU, per page", ("changes",), _PAGES, "neither"
    ),
    "lock": _q(
        "1/page", "acquisitions of trunks' locks", _locks("acquisitions"), _PAGES, "neither"
    ),
    **{
        f"lock.{count}{site}": _q(
            "share",
            f"{which} that transfer its cache line from another CPU{when}, of all",
            _locks(count, numbers),
            _locks("acquisitions", numbers),
        )
        for count, when in (("moved", ""), ("close", " within the window"))
        for site, (numbers, which) in _SITES.items()
    },
    "run": _q(
        "slots", "adjacent slots that an address space gets in sequence", _PAGES, _RUNS, "higher"
    ),
    "call": _q(
        "slots/call", "slots that a call of the device gets", _GIVEN, _device("calls"), "higher"
    ),
    "si_lock": _q("1/slot", "acquisitions of si->lock per slot", _device("si_lock"), _GIVEN),
    "si_lock.work": _q("steps/slot", "slots tested and bases read under si->lock", _HELD, _GIVEN),
    "reclaims": _q(
        "1/slot", "slots tried that only the swap cache held", _device("reclaims"), _GIVEN
    ),
    "seeks": _q("1/page", "writes not adjacent to the last one, per page", ("seeks",), _PAGES),
    "seeks.distance": _q("slots", "distance of a seek", ("seek_slots",), ("seeks",)),
    "span": _q(
        "slots", "from the lowest to the highest slot of a window", ("span_slots",), ("spans",)
    ),
    "nonsense": _q(
        "share", "invalid answers of a user's policy", _device("nonsense"), _device("stores")
    ),
    "without_slot": _q("share", "pages that found the device full, of all", _FULL, _ALL_PAGES),
}

METRICS: Final = Metrics(
    "the slot microbenchmark",
    QUOTIENTS
    | {"fairness": Metric("index", "Jain's index of slots tested per page, by CPU", "higher")},
)
"""The metrics of a run of the microbenchmark, by name."""

LEADING: Final = (
    "lock.moved.add",
    "lock.moved.free",
    "trunk.pairs",
    "scanned",
    "scanned.again",
    "run",
)
"""The metrics that describe a policy best: moved lock lines, repeated scanning, locality."""
