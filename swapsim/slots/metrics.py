# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics of the slot workbench: quotients of what its runs counted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import polars as pl

from swapsim.frames.table import Column, Table
from swapsim.policies.policy import Policy
from swapsim.slots._native_workbench import Counts, LockSite, online, run
from swapsim.slots.config import MeterConfig, SlotsConfig, Workload
from swapsim.slots.tables import SLOT_MEASURES


class Metric(NamedTuple):
    """One metric: ``over`` / ``under``, each the sum of some counts.

    Attributes
    ----------
    unit : str
    better : {"higher", "lower", "neither"}
    over, under : tuple of str
        Paths in ``native.slot_workbench.Counts``.
    says : str
    """

    unit: str
    better: str
    over: tuple[str, ...]
    under: tuple[str, ...]
    says: str


def _device(*names: str) -> tuple[str, ...]:
    return tuple(f"work.device.{name}" for name in names)


def _locks(count: str, sites: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"locks.{site}.{count}" for site in sites)


_TESTED: Final = _device("tested_scan", "tested_quick", "tested_cluster")
_GIVEN: Final = _device("given")
_PAGES: Final = ("pages_out",)

_SITES: Final = {
    "": (tuple(LockSite), "all acquisitions of a trunk's lock"),
    ".add": ((LockSite.ADD,), "those that add a page to the swap cache"),
    ".delete": ((LockSite.DELETE,), "those that delete one"),
    ".free": ((LockSite.FREE,), "those that clear a freed slot's shadow"),
}

METRICS: Final[dict[str, Metric]] = {
    "scanned": Metric(
        "slots/slot", "lower", _TESTED, _GIVEN, "slots tested per slot that the device hands out"
    ),
    "scanned.unlocked": Metric(
        "slots/slot", "lower", _TESTED[:1], _GIVEN, "of these, by the scan with no lock held"
    ),
    "scanned.quick": Metric(
        "slots/slot", "lower", _TESTED[1:2], _GIVEN, "of these, by the quick scan under si->lock"
    ),
    "scanned.cluster": Metric(
        "slots/slot", "lower", _TESTED[2:], _GIVEN, "of these, in the CPU's own cluster"
    ),
    "scanned.again": Metric(
        "share",
        "lower",
        ("tested_again",),
        ("on_trails",),
        "of the scanned slots, those that another CPU had just scanned",
    ),
    "trunk.met": Metric(
        "share",
        "lower",
        ("rounds_met",),
        ("rounds",),
        "of the rounds, those after which two CPUs' last slots are in one trunk",
    ),
    "trunk.pairs": Metric(
        "pairs", "lower", ("pair_rounds",), ("rounds",), "how many such pairs of CPUs there are"
    ),
    "trunk.stay": Metric(
        "rounds", "lower", ("pair_rounds",), ("meetings",), "how long a pair stays together"
    ),
    "trunk.shared": Metric(
        "share",
        "lower",
        ("pages_met",),
        _PAGES,
        "of the pages, those whose slot is in the trunk of another CPU's last one",
    ),
    "changes": Metric(
        "1/page", "neither", ("changes",), _PAGES, "times that a task changed CPU, per page"
    ),
    "lock": Metric(
        "1/page",
        "neither",
        _locks("acquisitions", tuple(LockSite)),
        _PAGES,
        "acquisitions of trunks' locks per page swapped out",
    ),
    **{
        f"lock.{count}{site}": Metric(
            "share",
            "lower",
            _locks(count, numbers),
            _locks("acquisitions", numbers),
            f"of {whose}, those after another CPU's{when}",
        )
        for count, when in (("moved", ""), ("close", " within the lock window"))
        for site, (numbers, whose) in _SITES.items()
    },
    "run": Metric(
        "slots",
        "higher",
        _PAGES,
        ("runs",),
        "adjacent slots that an address space is handed in sequence",
    ),
    "call": Metric(
        "slots/call", "higher", _GIVEN, _device("calls"), "slots that a call of the device gets"
    ),
    "si_lock": Metric(
        "1/slot", "lower", _device("si_lock"), _GIVEN, "acquisitions of si->lock per slot"
    ),
    "si_lock.work": Metric(
        "steps/slot",
        "lower",
        (*_TESTED[1:], *_device("looked_at")),
        _GIVEN,
        "slots tested and bases looked at under si->lock, per slot",
    ),
    "reclaims": Metric(
        "1/slot",
        "lower",
        _device("reclaims"),
        _GIVEN,
        "slots held by the cache alone that were tried, per slot",
    ),
    "seeks": Metric(
        "1/page", "lower", ("seeks",), _PAGES, "writes not adjacent to the one before, per page"
    ),
    "seeks.distance": Metric("slots", "lower", ("seek_slots",), ("seeks",), "how far a seek goes"),
    "span": Metric(
        "slots",
        "lower",
        ("span_slots",),
        ("spans",),
        "from the least to the last slot written in a window",
    ),
    "nonsense": Metric(
        "share",
        "lower",
        _device("nonsense"),
        _device("stores"),
        "of a reader's answers, those that were not followed",
    ),
    "without_slot": Metric(
        "share",
        "lower",
        ("without_slot",),
        ("pages_out", "without_slot"),
        "of the pages, those that found the device full",
    ),
}
"""The metrics by name. ``fairness`` comes beside them: Jain's index over the CPUs of the slots
tested per page, 1 where all are alike."""

SLOT_METRICS: Final = Table(
    "SLOT_METRICS",
    "One figure per metric of the slot workbench, in long form or as a column of its own.",
    *(
        Column(name, pl.Float64, f"{metric.says} (better: {metric.better})", metric.unit)
        for name, metric in METRICS.items()
    ),
)

FAIRNESS: Final = "fairness"


def measure(
    device: SlotsConfig, workload: Workload, *, meter: MeterConfig | None = None
) -> pl.DataFrame:
    """Drive a device with a workload and count.

    Parameters
    ----------
    device : SlotsConfig
        Its address_spaces are those of the workload, whatever it says; its seed is the run's.
    workload : FillConfig, ChurnConfig or StreamsConfig
    meter : MeterConfig, optional
        What counts as recent.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_MEASURES: one row per metric of METRICS, and ``fairness``.

    Raises
    ------
    ConfigError
        The workload has more address spaces than can own pages, or a reader's policy begins at
        no slot of this device.
    InputError
        The requests of a StreamsConfig cannot be replayed.

    Notes
    -----
    Locality on the device (``run``, ``seeks``) buys little where readahead goes by address in the
    task's memory, as it does for anonymous pages on an SSD, and nothing where it is skipped, as on
    a synchronous device.
    """
    counts = run(device, workload, meter or MeterConfig())
    policy = device.policy.name if isinstance(device.policy, Policy) else device.policy
    rows = [
        (policy, online(device), device.seed, name, _quotient(counts, metric), metric.unit)
        for name, metric in METRICS.items()
    ]
    rows.append((policy, online(device), device.seed, FAIRNESS, _fairness(counts), "index"))
    return SLOT_MEASURES.check(pl.DataFrame(rows, schema=SLOT_MEASURES.schema, orient="row"))


def _quotient(counts: Counts, metric: Metric) -> float | None:
    under = sum(counts.of[name] for name in metric.under)
    return sum(counts.of[name] for name in metric.over) / under if under else None


def _fairness(counts: Counts) -> float | None:
    """Jain's index: (sum x)^2 / (n * sum x^2)."""
    work = [
        tested / pages for tested, pages in zip(counts.tested, counts.pages, strict=True) if pages
    ]
    squares = math.fsum(x * x for x in work)
    if not squares:
        return 1.0 if work else None
    return math.fsum(work) ** 2 / (len(work) * squares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run of a sweep: where it stands in it, and all that it needs."""

    factor: str
    setting: str
    device: SlotsConfig
    workload: Workload
    meter: MeterConfig | None


def measure_point(point: Point) -> pl.DataFrame:
    """Measure one run of a sweep; schema SLOT_SWEEP."""
    frame = measure(point.device, point.workload, meter=point.meter)
    return frame.select(
        pl.lit(point.factor).alias("factor"), pl.lit(point.setting).alias("setting"), pl.all()
    )
