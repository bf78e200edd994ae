# SPDX-License-Identifier: GPL-2.0-or-later
"""The drives of two replies in the thread of V2."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import polars as pl

from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs_by_name
from swapsim.machine.fitting import Fitted, Target
from swapsim.machine.fitting import fit_costs as fit_machine
from swapsim.patches.cluster_next import machines, mails
from swapsim.patches.stored_fits import base_figure
from swapsim.patches.what_if import CHANNELS, Case, Trial, trials, values
from swapsim.tables import Metric, Metrics

USUAL: Final = 32
"""Pages at a time of the drives whose figures are judged; CHANNELS has the others."""

KERNELS: Final = {
    "P3600": ("P3600 before", "P3600 after"),
    "Optane": ("Optane before", "Optane after"),
}
"""The kernels of each reply in data/published."""

YOUNG: Final = "first second"

_V3: Final = mails.VERSIONS["V3"]
_POLICIES: Final = tuple(_V3.kernels.values())
_SEEDS: Final = tuple(range(1, 11))
_FEWER: Final = _SEEDS[:5]  # at the ages that only widen the range
_P3600_RATE: Final = 0.725
"""GB/s that the base swaps out to a P3600 with V3's fit, about: it sets how long a run is."""

METRICS: Final = Metrics(
    "the drives of the replies",
    {
        "pmbench score": Metric("accesses/s", "accesses of all tasks", "higher"),
        "swapin throughput": Metric("GB/s", "rate at which pages are swapped in", "higher"),
        "swapout throughput": Metric("GB/s", "rate at which pages are swapped out", "higher"),
        "swap cache radix tree spinlock": Metric(
            "% of cycles", "cycles spent waiting for the swap cache's lock", "lower"
        ),
        "waits": Metric("%", "share of busy CPU time in lock waits", "lower"),
    },
)
"""What both replies and the machine print."""


def to_meet(at_a_time: int) -> tuple[Machine, tuple[Target, ...]]:
    """Return the base's machine on Optane drives, and the printed rate that it has to meet."""
    base, _ = mails.to_meet("V3")
    rate = base_figure(machines.PATCH, KERNELS["Optane"][0], "swapout throughput") * 1e9 / 1024
    target = Target(name="swap_out", metrics=("swap_out",), wanted=rate)
    return replace(base, channels=at_a_time), (target,)


def fit(at_a_time: int, constants: pl.DataFrame) -> Fitted:
    """Fit how long an Optane drive serves a page, with V3's constants and so many at a time."""
    start = {"channel_ns": 10_000}
    config, targets = to_meet(at_a_time)
    return fit_machine(config, targets, start, runs=mails.FIT_RUNS, constants=constants)


def _ages(slower: float) -> dict[str, Machine]:
    """Return V3's machine at the ages at which its claims are judged, before it gets drives.

    A drive that is slower by so much is measured for as much longer.
    """
    kernel, rate = _V3.machine, machines.CHANGES
    young = machines.machine(policy="shared", kernel=kernel, gigabytes=machines.GIGABYTES)
    settled = machines.settled(policy="shared", kernel=kernel, changes=rate)
    return {
        YOUNG: replace(young, duration_ns=round(young.duration_ns * slower)),
        f"settled, {rate:g} changes a second": replace(
            settled,
            warmup_ns=round(settled.warmup_ns * slower),
            duration_ns=round(settled.duration_ns * slower),
        ),
    }


def cases(drive: str, constants: Mapping[str, pl.DataFrame]) -> list[Trial]:
    """Return the runs of a kind of drive; constants are by the pages that it serves at a time."""
    memory, own = (
        base_figure(machines.PATCH, kernel, "swapout throughput")
        for kernel in (_V3.base, KERNELS["Optane"][0])
    )
    found = []
    for age, machine in _ages(memory / (own if drive == "Optane" else _P3600_RATE)).items():
        for at_a_time in CHANNELS if age == YOUNG else (USUAL,):
            fit_name = f"{drive}, {at_a_time} at a time"
            names = {"drive": drive, "label": f"{fit_name}, {age}"}
            case = Case(names, replace(machine, channels=at_a_time))
            fits = {fit_name: constants[str(at_a_time)]}
            seeds = _SEEDS if age == YOUNG else _FEWER
            found += trials([case], fits, _POLICIES, seeds=seeds)
    return found


def p3600(constants: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the constants of a P3600 by the pages that it serves at a time: data/costs.csv's."""
    own = change_costs(constants, {"channel_ns": costs_by_name()["channel_ns"]})
    return {str(at_a_time): own for at_a_time in CHANNELS}


def run(trial: Trial) -> pl.DataFrame:
    """Run a trial and return METRICS in long form."""
    value: dict[str, Any] = values(trial)
    figures = {name: figure for name, figure, _ in mails.rows_of(_V3, value)}
    lock = math.fsum(value[name] for name in value if name.startswith("cycles.tree_lock."))
    figures |= {"swap cache radix tree spinlock": lock, "waits": value["waits"]}
    rows = [{**trial.names, "metric": name, "value": figures[name]} for name in METRICS]
    return pl.DataFrame(rows)
