# SPDX-License-Identifier: GPL-2.0-or-later
"""What studies of several patches are made of: cases and their runs, stored fits.

::

    case      columns that name a machine, and the machine
    trials    each case under each policy, with each fit and seed: the points of a study
    report    names ..., policy, fit, seed, metric, value    one row for each figure of a run
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs_by_name, costs_of
from swapsim.machine.fitting import Fitted, Target, figures
from swapsim.machine.running import metric_values
from swapsim.published.data import published_tables
from swapsim.tables import Table

Names = Mapping[str, object]
Case = tuple[Names, Machine]

CPUS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Tasks, each on a CPU of its own; the CPUs of kswapd come on top."""

CHANNELS: Final = (8, 32, 128)
"""Pages that a drive serves at a time: its queue."""

LATENCIES_US: Final = (20, 80, 120)
"""How long it serves each of them: ``channel_ns`` of data/costs.csv, its low, value and high. With
80 us and 32 at a time it moves 400,000 pages a second, about what the P3600 of patch D's thread
does."""

MEMORY: Final = 20_000_000
"""Where a device as fast as memory stands on the axis of a drive's pages a second."""


def at(setting: float, label: str) -> dict[str, object]:
    """Return the columns of a case: its number for an axis, and its words."""
    return {"setting": float(setting), "label": label}


def trials(
    cases: Iterable[Case],
    fits: Mapping[str, Mapping[str, int]],
    policies: Mapping[str, Mapping[str, Any]] | Sequence[str],
    seeds: Sequence[int] = (1, 2, 3),
) -> list[Case]:
    """Return the runs of each case under each policy, the base first, with each fit and seed.

    Policies are those of the slots, or the fields that a machine has under each name. The costs of
    a case stand in for those of a fit.
    """
    if not isinstance(policies, Mapping):
        policies = {policy: {"policy": policy} for policy in policies}
    return [
        (
            {**names, "policy": policy, "fit": fit, "seed": seed},
            machine.replace(costs={**costs, **machine.costs}, seed=seed, **fields),
        )
        for names, machine in cases
        for policy, fields in policies.items()
        for fit, costs in fits.items()
        for seed in seeds
    ]


def values(machine: Machine) -> dict[str, float]:
    """Run a machine; return each metric of its run, and all waits (percent of busy time)."""
    value = metric_values(machine)
    waits = math.fsum(value[name] for name in value if name.startswith("cycles."))
    return {**value, "waits": waits}


def report(metric: str, trial: Case) -> pl.DataFrame:
    """Run a trial and return a metric and the waits in long form."""
    names, machine = trial
    value = values(machine)
    if not value[metric]:
        raise InputError(f"a machine has no {metric} to gain on: {names}")
    return pl.DataFrame(
        [{**names, "metric": name, "value": value[name]} for name in (metric, "waits")]
    )


def by_drive(machine: Machine) -> list[Case]:
    """Return a machine on drives, which differ in latency or in queue, and on memory."""
    drives = [
        (
            {"latency": f"{latency} us a page"}
            | at(1_000_000 * count / latency, f"{count} at a time, {latency} us each"),
            machine.replace(channels=count, costs={**machine.costs, "channel_ns": 1000 * latency}),
        )
        for latency, count in product(LATENCIES_US, CHANNELS)
    ]
    return [*drives, ({"latency": "memory"} | at(MEMORY, "memory"), machine)]


# Fits of a mail's base column, as they are stored.

FIT_ROWS: Final = Table(
    "FIT_ROWS",
    "One row per fitted constant in ns, and per figure that was met with it, wanted by the mail.",
    {"fit": pl.String, "name": pl.String, "value": pl.Float64, "wanted": pl.Float64},
    {"converged": pl.Boolean},
)


def fit_rows(fit: str, fitted: Fitted) -> pl.DataFrame:
    """Return a fit as rows (FIT_ROWS)."""
    usual = costs_by_name()
    free = [
        (name, value, None)
        for name, value in fitted.constants.select("name", "value").iter_rows()
        if value != usual[name]
    ]
    met = fitted.residuals.select("target", "found", "wanted").iter_rows()
    return pl.DataFrame(
        [
            (fit, name, float(value), wanted, fitted.converged)
            for name, value, wanted in [*free, *met]
        ],
        schema=FIT_ROWS.schema,
        orient="row",
    )


def fitted_costs(rows: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return the costs of each fit of FIT_ROWS."""
    found: dict[str, dict[str, int]] = {}
    for fit, name, value in rows.filter(pl.col("wanted").is_null())[:, :3].iter_rows():
        found.setdefault(fit, {})[name] = int(value)
    return found


def figures_again(
    rows: pl.DataFrame,
    pick: int,
    to_meet: Callable[[str], tuple[Machine, Sequence[Target]]],
    runs: int,
) -> pl.DataFrame:
    """Return the figures of one of the fits of FIT_ROWS, from new runs with the costs it found."""
    names = rows["fit"].unique(maintain_order=True)
    fit = names[pick % len(names)]
    machine, targets = to_meet(fit)
    found = figures(machine, targets, change_costs(costs_of(), fitted_costs(rows)[fit]), runs=runs)
    return pl.DataFrame(
        [
            (fit, target.name, figure, target.wanted, rows.filter(fit=fit)["converged"][0])
            for target, figure in zip(targets, found, strict=True)
        ],
        schema=FIT_ROWS.schema,
        orient="row",
    )


@cache
def _base_column(patch: str, kernel: str) -> dict[str, list[float]]:
    cells = published_tables().filter(patch=patch, kernel=kernel)
    found: dict[str, list[float]] = {}
    for metric, value in cells.select("metric", "value").iter_rows():
        found.setdefault(metric.removeprefix("perf-profile.cycles-pp."), []).append(value)
    return found


def base_figure(patch: str, kernel: str, row: str) -> float:
    """Return a figure of a mail's base column; other columns are not read."""
    (found,) = _base_column(patch, kernel)[row]
    return found
