# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch D and E, stored in data/simulated: on the machine and on the workbench."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl

from swapsim import slots, traces
from swapsim.claims.published import published_of
from swapsim.ffi import POLICIES
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.fit import Fitted, figures_again, of_rows, to_rows
from swapsim.machine.run import TABLE_SEEDS, run_policy
from swapsim.machine.what_if import Case, Trial, case_of, gain, ranges, trials
from swapsim.patches.cluster_next.machines import PATCH, aged_device, traced_machine
from swapsim.patches.cluster_next.mails import FIT_RUNS, VERSIONS, fit, predict, to_meet
from swapsim.patches.cluster_next.what_if import (
    CHANGES,
    CHANGES_HIGH,
    CHANGES_LOW,
    SCORE,
    ages_of_v1,
    by_constant,
    case_of_mail,
    cases_by_drive,
    cases_by_tasks,
    cases_by_trunk_size,
    fit_at_end,
    in_memory_of,
    race_by_age,
    wanderers,
)
from swapsim.policies.policy import Policy
from swapsim.slots.config import ChurnConfig, SlotsConfig
from swapsim.slots.workbench import measure_point
from swapsim.study import Study, picked
from swapsim.study.constants import Moved, ends

_study = partial(Study, reads=("costs.csv", partial(published_of, PATCH)))

# Fits of the mails' bases.


def _fit(version: str) -> pl.DataFrame:
    return to_rows(version, fit(version=version))


def _figures_again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (version,) = picked(rows, ["fit"], pick)
    return figures_again(rows, version, *to_meet(version), runs=FIT_RUNS)


fit_rows: Final = _study(
    name="cluster-next-fits", points=tuple(VERSIONS), run=_fit, sample=_figures_again
)
"""Fits of the base of the first mail and of the third (FIT_ROWS)."""


def fits() -> dict[str, Fitted]:
    """Return the fits of the base of the first mail and of the third, by their names."""
    return of_rows(fit_rows())


def headline_fit() -> Fitted:
    """Return the fit of the first mail's base, the one that prints rows of all locks."""
    return fits()["V1"]


def _constants() -> dict[str, pl.DataFrame]:
    return {version: found.constants for version, found in of_rows(fit_rows.load()).items()}


CONSTANTS_MOVED: Final = ("map_ns", "free_ns", "fault_ns", "travel_same_socket_ns")
"""Constants that are moved to their low and high, one at a time."""


def _ends() -> list[Moved]:
    parts = [Moved("in_memory", end, 0) for end in ("low", "high")]
    return [*ends(costs(), CONSTANTS_MOVED), *parts]


def _figures_at_end_again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (name,) = picked(rows, ["fit"], pick)
    base = to_meet("V1", in_memory=in_memory_of(name))
    return figures_again(rows, name, *base, runs=FIT_RUNS)


fit_rows_by_constant: Final = _study(
    name="cluster-next-fits-by-constant",
    points=_ends,
    run=fit_at_end,
    sample=_figures_at_end_again,
)
"""Fits of the first mail's base with each assumed constant at its low and high (FIT_ROWS)."""

# Predictions with the fits.


def _seeds_of(version: str) -> list[tuple[str, pl.DataFrame, int]]:
    constants = _constants()[version]
    return [(version, constants, seed) for seed in TABLE_SEEDS]


def _predict(point: tuple[str, pl.DataFrame, int]) -> pl.DataFrame:
    version, constants, seed = point
    return predict(constants, [seed], version=version)


predicted: Final = _study(
    name="cluster-next-predicted", points=partial(_seeds_of, "V1"), run=_predict
)
"""The first mail's table for each seed (RESULTS)."""

predicted_v3: Final = _study(
    name="cluster-next-predicted-v3", points=partial(_seeds_of, "V3"), run=_predict
)
"""The third mail's table for each seed (RESULTS)."""


def headline_results(seeds: Sequence[int]) -> pl.DataFrame:
    """Return the third mail's simulated table for some of its seeds (RESULTS): what was merged."""
    return predicted_v3().filter(pl.col("seed").is_in(seeds))


# What-ifs on the machine.


def _with_both_fits(cases: Callable[[], list[Case]]) -> list[Trial]:
    return trials(cases(), _constants(), metric=SCORE, seeds=(1, 2, 3))


_gains = partial(_study, run=gain, group=case_of, reduce=ranges)

gain_by_tasks: Final = _gains(
    name="cluster-next-gain-by-tasks", points=partial(_with_both_fits, cases_by_tasks)
)
"""The gain by the number of tasks, over both fits (WHAT_IF_RANGES)."""

gain_by_trunk_size: Final = _gains(
    name="cluster-next-gain-by-trunk-size",
    points=partial(_with_both_fits, cases_by_trunk_size),
)
"""The gain by the size of a trunk, over both fits (WHAT_IF_RANGES)."""

gain_by_drive: Final = _gains(
    name="cluster-next-gain-by-drive", points=partial(_with_both_fits, cases_by_drive)
)
"""The gain by the drives' latency and queue (WHAT_IF_RANGES)."""


def _trials_by_constant() -> list[Trial]:
    return [
        trial
        for name, fitted in of_rows(fit_rows_by_constant.load()).items()
        for trial in trials(
            [case_of_mail(name)],
            {name: fitted.constants},
            metric=SCORE,
            seeds=(1, 2, 3),
        )
    ]


gains_by_constant: Final = _study(
    name="cluster-next-gain-by-constant", points=_trials_by_constant, run=gain
)
"""V1's gain with each assumed constant at its low and high, fitted again (WHAT_IF)."""


def gain_by_constant() -> pl.DataFrame:
    """Return V1's gain at the ends of each constant, the widest apart first (SENSITIVITY)."""
    return by_constant(gains_by_constant())


def _over_life() -> list[Trial]:
    fit_of_v1 = {"V1": _constants()["V1"]}
    return trials(ages_of_v1(), fit_of_v1, metric=SCORE, seeds=(1, 2))


gains_over_life: Final = _study(
    name="cluster-next-life",
    points=_over_life,
    run=gain,
    # The older ones take long.
    quick=lambda trial: trial.case.setting < 0.1,
)
"""What V1 and the merged rule gain young, at half a second and settled (WHAT_IF)."""


def life() -> pl.DataFrame:
    """Return what V1 and the merged rule gain at each age, over the seeds (WHAT_IF_RANGES)."""
    return ranges(gains_over_life())


def _races() -> list[Trial]:
    return trials(race_by_age(), {"data/costs.csv": costs()}, seeds=(1, 2, 3))


races_at_ages: Final = Study(
    name="cluster-next-race-by-age",
    points=_races,
    run=gain,
    quick=lambda trial: trial.case.setting < 100,
    reads=("costs.csv",),
)
"""Bases in a line on the aged device, by the time since it was filled (WHAT_IF)."""


def race_at_ages() -> pl.DataFrame:
    """Return the gain of bases in a line by the age of the device (WHAT_IF_RANGES)."""
    return ranges(races_at_ages())


_ALL_POLICIES: Final = tuple((policy, seed) for policy in POLICIES for seed in range(1, 6))

race: Final = Study(
    name="cluster-next-race",
    points=_ALL_POLICIES,
    run=partial(run_policy, aged_device),
    reads=("costs.csv",),
)
"""The aged device's machine under all built-in policies (RESULTS)."""


def _on_a_trace(*, policy: str | Policy, seed: int) -> MachineConfig:
    folder = traces.shipped("cluster-next")["slots-8-shared"]
    return traced_machine(folder, policy=policy, seed=seed)


race_on_a_trace: Final = Study(
    name="cluster-next-race-on-a-trace",
    points=_ALL_POLICIES,
    run=partial(run_policy, _on_a_trace),
    reads=("costs.csv", "traces/slots-8-shared/*"),
)
"""The tasks of a trace under all built-in policies (RESULTS)."""

# The slot workbench: no constant is read.

DEVICE: Final = SlotsConfig(slots=2 * slots.GIGABYTE_SLOTS, possible_cpus=8)
"""2 GB, 32 trunks."""

CHURN: Final = ChurnConfig(used_share=0.7, warm_up_pages=2**17, pages=2**14)
"""Tasks that swap on it until it has aged, and are counted after that."""


def _measured(
    name: str,
    factor: str,
    settings: Sequence[object],
    policies: Sequence[str],
    *,
    device: SlotsConfig = DEVICE,
    churn: ChurnConfig = CHURN,
    seeds: int = 20,
) -> Study:
    """Return the study of some policies at each setting of one factor (SLOT_SWEEP)."""
    points = partial(
        slots.grid_points, device, churn, {factor: settings}, policies=policies, seeds=seeds
    )
    return Study(name=name, points=points, run=measure_point, reads=())


ages: Final = _measured(
    "cluster-next-ages",
    "warm_up_pages",
    (2**13, 2**14, 2**15, 2**16, 2**17, 2**18),
    ("shared", "percpu", "percpu-rerandomise"),
)
"""Patch D's bases on devices of six ages."""

ages_of_spread_bases: Final = _measured(
    "cluster-next-ages-of-spread-bases",
    "warm_up_pages",
    (2**13, 2**15, 2**16, 2**17),
    ("shared", "percpu", "spread", "percpu-rerandomise"),
)
"""Bases that are spread, evenly and not, on devices of four ages."""

possible_cpus: Final = _measured(
    "cluster-next-possible-cpus", "possible_cpus", (8, 128), ("spread", "spread-online")
)
"""Bases spread over the possible CPUs and over those online."""

cpus: Final = _measured(
    "cluster-next-cpus", "cpus", (2, 8, 32, 64), ("shared", "percpu-rerandomise", "avoid")
)
"""Bases that avoid each other, with fewer CPUs than trunks and more."""

few_cpus: Final = _measured(
    "cluster-next-few-cpus", "cpus", (4, 8), ("percpu-rerandomise", "avoid")
)
"""Bases that avoid each other, with few CPUs."""

address_spaces: Final = _measured(
    "cluster-next-address-spaces",
    "threads_per_address_space",
    (1, 4),
    ("percpu", "percpu-rerandomise", "permm"),
)
"""A base for each address space, with one thread in each and with four."""

solid_state: Final = _measured(
    "cluster-next-solid-state", "rotational", (False,), ("shared", "percpu-rerandomise")
)
"""How far apart slots lie on a device without seeks."""

disk: Final = _measured(
    "cluster-next-disk",
    "slot_cache",
    (True, False),
    ("shared",),
    device=replace(DEVICE, rotational=True),
)
"""How far apart slots lie on a disk, with caches of slots and without."""

policies: Final = _measured("cluster-next-policies", "used_share", (0.7,), POLICIES)
"""All built-in policies on the aged device."""

_MAILS_DEVICE, _MAILS_TASKS = wanderers(0)

wandering_tasks: Final = _measured(
    "cluster-next-wanderers",
    "pages_a_cpu",
    tuple(wanderers(each)[1].pages_a_cpu for each in (0, CHANGES_LOW, CHANGES, CHANGES_HIGH)),
    ("percpu", "percpu-rerandomise"),
    device=_MAILS_DEVICE,
    churn=_MAILS_TASKS,
    seeds=5,
)
"""Bases on one of the mail's devices by how long tasks stay on a CPU."""

wandering_tasks_of_the_lab: Final = _measured(
    "cluster-next-wanderers-in-the-lab",
    "pages_a_cpu",
    # Pages out on a CPU: two of three of its visits.
    (0, 1000, 100),
    ("shared", "percpu", "percpu-rerandomise"),
    # As in data/capture/experiments/tasks-that-change-cpu.toml: 128 MB, 64 trunks.
    device=SlotsConfig(slots=2**15, trunk_shift=9, possible_cpus=24),
    # Eight tasks; the second half of their three turns is measured.
    churn=ChurnConfig(used_share=0.42, warm_up_pages=25_000, pages=25_000, tasks=8),
)
"""The lab's device by how long its tasks stay on a CPU."""
