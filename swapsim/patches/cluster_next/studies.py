# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch D and E, stored in data/simulated, and the cases of their what-ifs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim import traces
from swapsim.ffi import POLICIES
from swapsim.machine.config import Machine
from swapsim.machine.constants import Moved, change_costs, costs, ends
from swapsim.machine.fitting import Fitted
from swapsim.machine.running import TABLE_SEEDS, run_policy, run_rows
from swapsim.patches import lab, what_if
from swapsim.patches.cluster_next import drives, machines, mails
from swapsim.patches.stored_fits import figures_again, of_rows, to_rows
from swapsim.patches.what_if import Case, Trial, at, picked, report, trials
from swapsim.policies import Policy
from swapsim.published.data import published_of
from swapsim.slots.config import Churn, Device
from swapsim.slots.metrics import METRICS as SLOT_METRICS
from swapsim.slots.ranking import CHURN as CHURN
from swapsim.slots.ranking import DEVICE as DEVICE
from swapsim.slots.workbench import Point, points, run_point
from swapsim.study import Study
from swapsim.tables import Metric, Metrics, Table

MERGED: Final = "percpu-rerandomise"
POSTED: Final = ("shared", "percpu", MERGED)
"""The base, V1, and what was merged."""

GAINS: Final = ("shared", MERGED)
"""The policies of a what-if."""

_study = partial(Study, reads=("costs.csv", partial(published_of, machines.PATCH)))

# Fits of the mails' bases.

_IN_MEMORY: Final = {
    "in_memory, low": machines.IN_MEMORY_LOW,
    "in_memory, high": machines.IN_MEMORY_HIGH,
}
"""Names of fits with another share of pages in memory."""


def _fit(version: str) -> pl.DataFrame:
    return to_rows(version, mails.fit(version=version))


def _figures_again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (name,) = picked(rows, ["fit"], pick)
    version = name if name in mails.VERSIONS else "V3"
    base = mails.to_meet(version, in_memory=_IN_MEMORY.get(name, machines.IN_MEMORY))
    return figures_again(rows, name, *base, runs=mails.FIT_RUNS)


fit_rows: Final = _study(
    name="cluster-next-fits", points=tuple(mails.VERSIONS), run=_fit, sample=_figures_again
)
"""Fits of the base of the V1 and of V3 (FIT_ROWS)."""


def fits() -> dict[str, Fitted]:
    """Return the fits of the base of V1 and of V3, by their names."""
    return of_rows(fit_rows())


def headline_fit() -> Fitted:
    """Return the fit of the first mail's base, the one that prints rows of all locks."""
    return fits()["V1"]


def constants() -> dict[str, pl.DataFrame]:
    """Return the constants of the fits of the first mail's base and of the third's."""
    return {version: found.constants for version, found in of_rows(fit_rows.load()).items()}


CONSTANTS_MOVED: Final = ("map_ns", "free_ns", "fault_ns", "travel_same_socket_ns")
"""Constants that are moved to their low and high, one at a time."""


def _ends() -> list[Moved]:
    return [
        *ends(costs(), CONSTANTS_MOVED),
        *(Moved("in_memory", end, 0) for end in ("low", "high")),
    ]


def _fit_at_end(moved: Moved) -> pl.DataFrame:
    """Fit the third mail's base with a constant, or the share in memory, at an end (FIT_ROWS).

    A fit that does not converge has no rows.
    """
    if moved.label in _IN_MEMORY:
        fitted = mails.fit(version="V3", in_memory=_IN_MEMORY[moved.label])
    else:
        constants = change_costs(costs(), {moved.constant: moved.value})
        fitted = mails.fit(version="V3", constants=constants)
    return to_rows(moved.label, fitted).filter(fitted.converged)


fit_rows_by_constant: Final = _study(
    name="cluster-next-fits-by-constant", points=_ends, run=_fit_at_end, sample=_figures_again
)
"""Fits of the third mail's base with each assumed constant at its low and high (FIT_ROWS)."""

# The mails' tables, and the mail's machine under each rule.


def _columns() -> list[tuple[str, str, pl.DataFrame, int]]:
    return [
        (version, kernel, found, seed)
        for version, found in constants().items()
        for seed in TABLE_SEEDS
        for kernel in mails.VERSIONS[version].kernels
    ]


def _predict(point: tuple[str, str, pl.DataFrame, int]) -> pl.DataFrame:
    return mails.predict(*point)


predicted: Final = _study(name="cluster-next-predicted", points=_columns, run=_predict)
"""Both mails' tables for each seed, in the first second after the fill (RESULTS)."""


def small(version: str = "V3") -> Machine:
    """Return the test of a mail on its own kernel, with devices of `machines.GIGABYTES`."""
    kernel = mails.VERSIONS[version].machine
    return machines.machine(policy="shared", kernel=kernel, gigabytes=machines.GIGABYTES)


def _run(policy: str) -> pl.DataFrame:
    return run_rows(replace(small(), policy=policy), constants()["V3"])


runs: Final = _study(name="cluster-next-runs", points=GAINS, run=_run)
"""One complete run of V3's test under its base and under the merged rule (RESULTS)."""

# What-ifs: the mail's machine with one setting changed, under the base and under the patch.


METRICS: Final = Metrics(
    "a table of patch D's mails",
    {
        "waits": what_if.METRICS["waits"],
        "pmbench score": what_if.METRICS["accesses"],
        "swapin throughput": Metric("GB/s", "rate at which pages are swapped in", "higher"),
        "swapout throughput": Metric("GB/s", "rate at which pages are swapped out", "higher"),
        **{
            row: Metric("% of cycles", "cycles spent waiting in this call chain", "lower")
            for mail in mails.VERSIONS.values()
            for row in mail.rows
        },
    },
)
"""The rows of both mails' tables, and all waits."""


def _as_printed(trial: Trial) -> pl.DataFrame:
    """Run a trial of a mail's fit and return the rows of its table in long form (METRICS)."""
    value = what_if.values(trial)
    table = mails.rows_of(mails.VERSIONS[str(trial.names["fit"])], value)
    figures = {"waits": value["waits"], **{name: figure for name, figure, _ in table}}
    rows = [{**trial.names, "metric": name, "value": figure} for name, figure in figures.items()]
    return pl.DataFrame(rows)


_what_if = partial(_study, run=partial(report, "accesses"))


def by_tasks(machine: Machine, tasks: Sequence[int] = what_if.CPUS[1:]) -> list[Case]:
    """Return a machine with other numbers of walkers, which share the same pages."""
    pages = machine.walkers * machine.pages
    return [
        Case(at(count, f"{count} tasks"), replace(machine, walkers=count, pages=pages // count))
        for count in tasks
    ]


def _with_both_fits(cases: Callable[[Machine], list[Case]]) -> list[Trial]:
    """Return the runs of each mail's test with its own fit."""
    return [
        trial
        for version, found in constants().items()
        for trial in trials(cases(small(version)), {version: found}, GAINS)
    ]


gain_by_tasks: Final = _what_if(
    name="cluster-next-gain-by-tasks", points=partial(_with_both_fits, by_tasks)
)
gain_by_trunk_size: Final = _what_if(
    name="cluster-next-gain-by-trunk-size", points=partial(_with_both_fits, what_if.by_trunk_size)
)
gain_by_drive: Final = _what_if(
    name="cluster-next-gain-by-drive", points=partial(_with_both_fits, what_if.by_drive)
)


# The drives of the replies in the thread of V2.


def _fit_drive(at_a_time: int) -> pl.DataFrame:
    return to_rows(str(at_a_time), drives.fit(at_a_time, constants()["V3"]))


def _drive_again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (name,) = picked(rows, ["fit"], pick)
    return figures_again(rows, name, *drives.to_meet(int(name)), runs=mails.FIT_RUNS)


drive_fit_rows: Final = _study(
    name="cluster-next-fits-of-drives", points=what_if.CHANNELS, run=_fit_drive, sample=_drive_again
)
"""The time that an Optane drive serves a page, by how many it serves at a time (FIT_ROWS)."""


def _drives() -> list[Trial]:
    fitted = {name: fit.constants for name, fit in of_rows(drive_fit_rows.load()).items()}
    memory = constants()["V3"]
    return [*drives.cases("P3600", drives.p3600(memory)), *drives.cases("Optane", fitted)]


replies: Final = _study(
    name="cluster-next-drives",
    points=_drives,
    run=drives.run,
    quick=lambda trial: trial.names["label"].endswith(drives.YOUNG),
)
"""V3's base and the merged rule on the drives of both replies, by age and queue."""


def _by_cpus_and_fill() -> list[Trial]:
    """Return V3's test with other numbers of CPUs, a task each, on fuller devices."""
    usual = small()
    cases = [
        Case(
            {"fill": f"{fill} % full"} | at(cpus, f"{cpus} CPUs, {fill} % full"),
            replace(
                usual,
                walkers=cpus,
                pages=round(16 * usual.pages * fill / (100 * machines.IN_USE)) // cpus,
                frames=round(usual.frames * fill / (100 * machines.IN_USE)),
            ),
        )
        for fill in (50, 70, 90)
        for cpus in what_if.CPUS[1:10]
    ]
    return trials(cases, {"V3": constants()["V3"]}, GAINS)


gain_by_cpus_and_fill: Final = _what_if(
    name="cluster-next-gain-by-cpus-and-fill", points=_by_cpus_and_fill
)


def at_end(name: str) -> Machine:
    """Return V3's test for a fit of `fit_rows_by_constant`, by its name."""
    in_memory = _IN_MEMORY.get(name, machines.IN_MEMORY)
    return machines.machine(
        policy="shared",
        kernel=mails.VERSIONS["V3"].machine,
        gigabytes=machines.GIGABYTES,
        in_memory=in_memory,
    )


def _at_ends() -> list[Trial]:
    found = of_rows(fit_rows_by_constant.load())
    fitted = {name: fit.constants for name, fit in found.items()}
    return what_if.at_ends(at_end, fitted, GAINS)


gain_by_constant: Final = _what_if(name="cluster-next-gain-by-constant", points=_at_ends)
"""The merged rule in V3's test, with each assumed constant at its low and high."""

YOUNG: Final = "first second"
"""The age of a device of `machines.GIGABYTES` right after its fill."""

_RATE: Final = f"{machines.CHANGES:g} changes a second"
_OF_THE_MAIL: Final = f"settled on {machines.DEVICE_GIGABYTES} GB, {_RATE}"


def ages(version: str) -> dict[str, Machine]:
    """Return a mail's machine at each age, with the rates at which tasks change CPU."""
    kernel = mails.VERSIONS[version].machine
    rates = (0.0, machines.CHANGES_LOW, machines.CHANGES, machines.CHANGES_HIGH)
    settled = partial(machines.settled, policy="shared", kernel=kernel)
    return {
        YOUNG: small(version),
        **{
            f"settled, {f'{rate:g} changes a second' if rate else 'tasks stay'}": settled(
                changes=rate
            )
            for rate in rates
        },
        _OF_THE_MAIL: settled(changes=machines.CHANGES, gigabytes=machines.DEVICE_GIGABYTES),
    }


def _over_life() -> list[Trial]:
    return [
        trial
        for version, mail in mails.VERSIONS.items()
        for age, machine in ages(version).items()
        for trial in trials(
            [Case({"label": age}, machine)],
            {version: constants()[version]},
            tuple(mail.kernels.values()),
            seeds=(1, 2) if age == _OF_THE_MAIL else (1, 2, 3),
        )
    ]


life: Final = _study(
    name="cluster-next-life",
    points=_over_life,
    run=_as_printed,
    # The settled machines take long.
    quick=lambda trial: trial.names["label"] == YOUNG,
)
"""Each mail's rule at each age of its bases, by its own fit and kernel: the mail's table."""

# The race of notebook 05.

RACE_AGES_MS: Final = (50, 100, 200, 400, 800)
"""Times after the fill of notebook 05's aged device; its race is at 400."""


def _races_by_age() -> list[Trial]:
    aged = machines.aged_device(policy="shared")
    cases = [
        Case({"setting": age}, replace(aged, warmup_ns=age * 1_000_000)) for age in RACE_AGES_MS
    ]
    policies = ("shared", "percpu", "spread", MERGED)
    return trials(cases, {"data/costs.csv": costs()}, policies)


race_by_age: Final = Study(
    name="cluster-next-race-by-age",
    points=_races_by_age,
    run=partial(report, "swap_out"),
    quick=lambda trial: trial.names["setting"] == RACE_AGES_MS[0],
    reads=("costs.csv",),
)
"""Bases in a line on the aged device, by the time since it was filled."""

UNDER_HALF: Final = 48
ABOVE_HALF: Final = 70
"""Percent of the aged device's slots in use: as on the mail's machine, and in the race."""


def _races_under_half() -> list[Trial]:
    aged = machines.aged_device(policy="shared")
    pages = aged.slots * UNDER_HALF // 100 + aged.frames
    cases = [
        Case({"setting": age}, replace(aged, pages=pages // 8, warmup_ns=age * 1_000_000))
        for age in (RACE_AGES_MS[0], RACE_AGES_MS[-1])
    ]
    return trials(cases, {"data/costs.csv": costs()}, POSTED)


race_under_half: Final = Study(
    name="cluster-next-race-under-half",
    points=_races_under_half,
    run=partial(report, "swap_out"),
    quick=lambda trial: trial.names["setting"] == RACE_AGES_MS[0],
    reads=("costs.csv",),
)
"""The same with UNDER_HALF percent of the slots in use, at the first age and the last."""

_ALL_POLICIES: Final = tuple(product(POLICIES, range(1, 6)))

race: Final = Study(
    name="cluster-next-race",
    points=_ALL_POLICIES,
    run=partial(run_policy, machines.aged_device),
    reads=("costs.csv",),
)
"""The aged device's machine under all built-in policies (RESULTS)."""


def _on_a_trace(*, policy: str | Policy, seed: int) -> Machine:
    folder = traces.shipped_folders("slots")["slots-8-shared"]
    return machines.traced_machine(folder, policy=policy, seed=seed)


race_on_a_trace: Final = Study(
    name="cluster-next-race-on-a-trace",
    points=_ALL_POLICIES,
    run=partial(run_policy, _on_a_trace),
    reads=("costs.csv", "traces/slots-8-shared/*"),
)
"""The tasks of a trace under all built-in policies (RESULTS)."""

# The lab's experiments with swap_base: percent of the pages that are dropped after the fill.


def _as_lab(drop_percent: int, point: tuple[str, int]) -> pl.DataFrame:
    policy, seed = point
    return lab.run_as_lab(machines.scan_bases(policy=policy, drop_percent=drop_percent, seed=seed))


_in_the_lab = partial(
    Study, points=tuple(product(machines.BASES, range(1, 11))), reads=("costs.csv",)
)

lab_under_half: Final = _in_the_lab(name="cluster-next-lab-under-half", run=partial(_as_lab, 60))
"""The machines of data/measured/scan-base-under-half, counted as in the lab (RESULTS)."""

lab_above_half: Final = _in_the_lab(name="cluster-next-lab-above-half", run=partial(_as_lab, 25))
"""The machines of data/measured/scan-base-above-half, counted as in the lab (RESULTS)."""

# The slot workbench: no constant is read.


SLOT_SWEEP: Final = Table(
    "SLOT_SWEEP",
    "One row per metric of one run of the slot workbench, at a setting, as it is stored.",
    {"factor": pl.String, "setting": pl.String, "policy": pl.String, "n_cpus": pl.UInt32},
    {"seed": pl.UInt64, "metric": pl.String, "value": pl.Float64, "unit": pl.String},
)

_UNITS: Final = {name: each.unit for name, each in SLOT_METRICS.items()}


def sweep(point: Point) -> pl.DataFrame:
    """Measure one run of a sweep (SLOT_SWEEP)."""
    (factor, setting), *_ = point.settings.items()
    rows = run_point(point)
    return SLOT_SWEEP.check(
        rows.select(
            pl.lit(factor).alias("factor"),
            pl.lit(str(setting)).alias("setting"),
            "policy",
            pl.lit(point.device.online, pl.UInt32).alias("n_cpus"),
            *("seed", "metric", "value"),
            pl.col("metric")
            .replace({name: each.unit for name, each in SLOT_METRICS.items()})
            .alias("unit"),
        )
    )


def _grid(
    device: Device,
    churn: Churn,
    factors: Mapping[str, Any],
    policies: Sequence[str] = POLICIES,
    seeds: int = 20,
) -> list[Point]:
    return points(device, churn, policies, seeds=seeds, **factors)


_on_workbench = partial(_grid, DEVICE, CHURN)
_MAILS_DEVICE, _MAILS_TASKS = machines.wanderers(0)

_SWEEPS: Final[Mapping[str, Callable[[], list[Point]]]] = {
    # Patch D's bases on devices of six ages.
    "ages": partial(
        _on_workbench, {"warm_up_pages": tuple(2**n for n in range(13, 19))}, policies=POSTED
    ),
    # Bases that are spread, evenly and not, on devices of four ages.
    "ages-of-spread-bases": partial(
        _on_workbench,
        {"warm_up_pages": (2**13, 2**15, 2**16, 2**17)},
        policies=("shared", "percpu", "spread", MERGED),
    ),
    # Bases spread over the possible CPUs, over those online, and at random.
    "possible-cpus": partial(
        _on_workbench, {"possible_cpus": (8, 128)}, policies=("percpu", "spread", "spread-online")
    ),
    # Bases that avoid each other, with fewer CPUs than trunks and more.
    "cpus": partial(_on_workbench, {"cpus": (2, 8, 32, 64)}, policies=("shared", MERGED, "avoid")),
    "few-cpus": partial(_on_workbench, {"cpus": (4, 8)}, policies=(MERGED, "avoid")),
    # A base for each address space, with one thread in each and with four.
    "address-spaces": partial(
        _on_workbench, {"threads_per_address_space": (1, 4)}, policies=("percpu", MERGED, "permm")
    ),
    "address-spaces-without-caches": partial(
        _grid,
        replace(DEVICE, slot_cache=False),
        CHURN,
        {"threads_per_address_space": (4,)},
        policies=("percpu", "permm"),
        seeds=10,
    ),
    # How far apart slots lie on a device without seeks, and on a disk with caches and without.
    "solid-state": partial(_on_workbench, {"rotational": (False,)}, policies=POSTED),
    "disk": partial(
        _grid,
        replace(DEVICE, rotational=True),
        CHURN,
        {"slot_cache": (True, False)},
        policies=("shared",),
    ),
    "disks": partial(
        _grid, DEVICE, Churn(), {"rotational": (False, True)}, policies=POSTED, seeds=3
    ),
    # All built-in policies on the aged device.
    "policies": partial(_on_workbench, {"used_share": (0.7,)}, policies=POLICIES),
    # Bases on one of the mail's devices by how long tasks stay on a CPU.
    "wanderers": partial(
        _grid,
        _MAILS_DEVICE,
        _MAILS_TASKS,
        {
            "pages_a_cpu": tuple(
                machines.wanderers(rate)[1].pages_a_cpu
                for rate in (0, machines.CHANGES_LOW, machines.CHANGES, machines.CHANGES_HIGH)
            )
        },
        policies=("percpu", MERGED),
        seeds=5,
    ),
    # The lab's device by how long its tasks stay: pages out on a CPU, in two of three visits.
    # As in data/capture/experiments/tasks-that-change-cpu.toml: 128 MB, 64 trunks; the second half
    # of the tasks' three turns is measured.
    "wanderers-in-the-lab": partial(
        _grid,
        Device(slots=2**15, trunk_shift=9, possible_cpus=24),
        Churn(used_share=0.42, warm_up_pages=25_000, pages=25_000, tasks=8),
        {"pages_a_cpu": (0, 1000, 100)},
        policies=POSTED,
    ),
}

WORKBENCH: Final = {
    name: Study(name=f"cluster-next-{name}", points=points, run=sweep, reads=())
    for name, points in _SWEEPS.items()
}
"""Policies at each setting of one factor, all else as on the aged device (SLOT_SWEEP)."""


def counts(name: str) -> pl.DataFrame:
    """Return the rows of one of WORKBENCH."""
    return WORKBENCH[name]()
