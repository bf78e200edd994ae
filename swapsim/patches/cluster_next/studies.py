# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch D and E, stored in data/simulated, and the cases of their what-ifs.

To settle takes minutes of the mail's machine. `settled` is therefore a machine that is SMALLER
times smaller, trunk by trunk: it has as many trunks, the tasks go around a device in so much less
time, and they change CPU as much more often, so that the bases behave in one turn as in the mail's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from swapsim import claims, slots, traces
from swapsim.claims.published import published_of
from swapsim.ffi import POLICIES
from swapsim.machine import summary, what_if
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Fitted, figures_again, of_rows, to_rows
from swapsim.machine.run import TABLE_SEEDS, run_policy
from swapsim.patches.cluster_next import prediction
from swapsim.policies.policy import Policy
from swapsim.slots.config import ChurnConfig, SlotsConfig
from swapsim.slots.workbench import measure_point
from swapsim.study import Study, picked
from swapsim.study.constants import Moved, ends

SCORE: Final = "accesses"
"""The metric that stands for pmbench's score."""

GIGABYTES: Final = prediction.DEVICE_GIGABYTES // 4
"""Size of a device in most cases: 192 trunks of 64 MB, filled in a quarter of the time."""

MERGED: Final = "percpu-rerandomise"

_IN_MEMORY_ENDS: Final = (prediction.IN_MEMORY_LOW, prediction.IN_MEMORY_HIGH)


def _case(
    factor: str,
    setting: float,
    label: str,
    *,
    policy: str | Policy,
    make: Callable[..., MachineConfig],
    costs: Mapping[str, int] = MappingProxyType({}),
    **changes: Any,
) -> what_if.Case:
    """Return a case whose machines are ``make(policy=...)`` with some fields changed."""
    base, patched = (replace(make(policy=used), **changes) for used in ("shared", policy))
    return what_if.Case(
        factor=factor, setting=setting, label=label, base=base, patched=patched, costs=dict(costs)
    )


_SMALL: Final = partial(prediction.machine, gigabytes=GIGABYTES)


def cases_by_tasks(
    tasks: Sequence[int] = what_if.CPUS[1:], *, policy: str | Policy = MERGED
) -> list[what_if.Case]:
    """Return patch D's test with other numbers of walkers, which share the same pages."""
    pages = _SMALL(policy=policy).pages * 16
    case = partial(_case, "cpus", policy=policy, make=_SMALL)
    return [case(count, f"{count} tasks", walkers=count, pages=pages // count) for count in tasks]


def cases_by_trunk_size(
    shifts: Sequence[int] = what_if.TRUNK_SHIFTS, *, policy: str | Policy = MERGED
) -> list[what_if.Case]:
    """Return patch D's test with other sizes of a trunk."""
    case = partial(_case, "trunk", policy=policy, make=_SMALL)
    sizes = {shift: 2 ** (shift - 8) for shift in shifts}
    return [case(size, f"{size} MB a trunk", trunk_shift=shift) for shift, size in sizes.items()]


def cases_by_drive(*, policy: str | Policy = MERGED) -> list[what_if.Case]:
    """Return patch D's test on drives, which differ in latency or in queue, and on memory."""
    return what_if.on_drives(partial(_case, policy=policy, make=_SMALL))


def case_of_mail(fit: str) -> what_if.Case:
    """Return V1's test on devices of 24 GB for a fit of `fit_at_end`, by the fit's name."""
    make = partial(prediction.machine, gigabytes=24, in_memory=in_memory_of(fit))
    return _case("fit", 0, fit, policy="percpu", make=make)


def in_memory_of(fit: str) -> float:
    """Return the share of all pages that memory holds in a fit, by its name in `fit_at_end`."""
    ends = dict(zip(("in_memory, low", "in_memory, high"), _IN_MEMORY_ENDS, strict=True))
    return ends.get(fit, prediction.IN_MEMORY)


def fit_at_end(moved: Moved) -> pl.DataFrame:
    """Fit the first mail's base with a constant, or the share in memory, at an end (FIT_ROWS).

    A fit that does not converge has no rows.
    """
    if moved.constant == "in_memory":
        fitted = prediction.fit(in_memory=in_memory_of(moved.label))
    else:
        fitted = prediction.fit(constants=change_costs(costs(), {moved.constant: moved.value}))
    return to_rows(moved.label, fitted).filter(fitted.converged)


def by_constant(gained: pl.DataFrame) -> pl.DataFrame:
    """Return young V1's gain at the ends of each constant, the widest apart first (SENSITIVITY)."""
    return what_if.by_constant(gained, others={"in_memory": _IN_MEMORY_ENDS})


# V1 over its life.

CHANGES: Final = 0.1
"""Changes of CPU per second and task. This is an assumption, neither published nor measured: the
kernel moves a task that always runs when it balances CPUs or needs its CPU for another task."""

CHANGES_LOW: Final = 0.03
CHANGES_HIGH: Final = 1.0
"""From 50 in the mail's half an hour to one per second; 0 is shown next to them."""

CPUS_OF_NODE: Final = 24
"""CPUs of one of the mail's two sockets."""

TURN_S: Final = 18
"""Seconds in which tasks go around a device: half of 48 GB is free, at 350,000 pages a second."""

SMALLER: Final = 32
"""Ratio of the mail's slots to those of the settled machine, in each trunk."""

SETTLED_TURNS: Final = 2
"""Turns after which the distances of bases do not change any more on the slot workbench, unless
tasks change CPU less than once per turn."""

_SHIFT: Final = 14 - (SMALLER.bit_length() - 1)
"""Log2 of the slots of a trunk of the settled machine."""


def young(*, policy: str, age_ns: int, seed: int = 1) -> MachineConfig:
    """Return the mail's machine, measured from ``age_ns`` after the fill on; tasks stay."""
    usual = prediction.machine(policy=policy, seed=seed, gigabytes=GIGABYTES)
    return replace(usual, warmup_ns=age_ns)


def settled(*, policy: str, changes: float = 0.0, seed: int = 1) -> MachineConfig:
    """Return the mail's machine after SETTLED_TURNS, SMALLER times smaller.

    ``changes`` is the number of changes of CPU per second and task of the mail's machine.
    """
    full = prediction.machine(policy=policy, seed=seed)
    tasks_of_node = full.cpus // full.nodes
    return replace(
        full,
        frames=full.frames // SMALLER,
        pages=full.pages // SMALLER,
        slots=full.slots // SMALLER,
        trunk_shift=_SHIFT,
        # A cluster has at most half of the slots of a trunk.
        cluster_size=256,
        spare_cpus=CPUS_OF_NODE - tasks_of_node,
        stay_ns=round(1e9 / changes / SMALLER) if changes else 0,
        warmup_ns=round(SETTLED_TURNS * TURN_S * 1e9 / SMALLER),
        duration_ns=100_000_000,
    )


def ages_of_v1() -> list[what_if.Case]:
    """Return V1 and the merged patch at several ages, each against the shared base of that age."""
    cases = [
        _age(label, age_ns / 1e9, policy, partial(young, age_ns=age_ns))
        for label, age_ns in (("50 ms", 50_000_000), ("half a second", 500_000_000))
        for policy in ("percpu", MERGED)
    ]
    rates = [("percpu", rate) for rate in (0.0, CHANGES_LOW, CHANGES, CHANGES_HIGH)]
    for policy, changes in [*rates, (MERGED, CHANGES)]:
        stay = f"{changes:g} changes a second" if changes else "tasks stay"
        make = partial(settled, changes=changes)
        cases.append(_age(f"settled, {stay}", SETTLED_TURNS * TURN_S, policy, make))
    return cases


def _age(
    label: str, setting: float, policy: str, make: Callable[..., MachineConfig]
) -> what_if.Case:
    return _case(policy, setting, f"{policy}, {label}", policy=policy, make=make)


def wanderers(changes: float) -> tuple[SlotsConfig, ChurnConfig]:
    """Return the slot workbench of one of the mail's devices, settled: eight tasks and a kswapd.

    ``changes`` is the number of changes of CPU per second and task. The device has as many trunks
    as the mail's, SMALLER times smaller; all nine tasks swap out at one rate.
    """
    slots = (prediction.DEVICE_GIGABYTES * 2**18 >> 14) << _SHIFT
    free = round((1 - prediction.IN_USE) * slots)
    return (
        SlotsConfig(
            kernel="5.8",
            slots=slots,
            trunk_shift=_SHIFT,
            cluster_size=256,
            possible_cpus=CPUS_OF_NODE,
        ),
        ChurnConfig(
            used_share=prediction.IN_USE,
            warm_up_pages=SETTLED_TURNS * free,
            pages=free // 2,
            tasks=9,
            pages_a_cpu=round(free / TURN_S / 9 / changes) if changes else 0,
        ),
    )


RACE_AGES_MS: Final = (50, 100, 200, 400, 800)
"""Times after the fill of notebook 05's aged device; its race is at 400."""


def race_by_age() -> list[what_if.Case]:
    """Return notebook 05's race at several ages: linear bases, and the merged patch."""
    return [
        _case(policy, age, f"{policy}, {age} ms", policy=policy, make=prediction.aged_device,
              warmup_ns=age * 1_000_000)
        for policy in ("percpu", "spread", MERGED)
        for age in RACE_AGES_MS
    ]  # fmt: skip


_study = partial(Study, reads=("costs.csv", partial(published_of, prediction.PATCH)))

# Fits of the mails' bases.


def _fit(version: str) -> pl.DataFrame:
    return to_rows(version, prediction.fit(version=version))


def _figures_again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (name,) = picked(rows, ["fit"], pick)
    version = name if name in prediction.VERSIONS else "V1"
    base = prediction.to_meet(version, in_memory=in_memory_of(name))
    return figures_again(rows, name, *base, runs=prediction.FIT_RUNS)


fit_rows: Final = _study(
    name="cluster-next-fits", points=tuple(prediction.VERSIONS), run=_fit, sample=_figures_again
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


fit_rows_by_constant: Final = _study(
    name="cluster-next-fits-by-constant", points=_ends, run=fit_at_end, sample=_figures_again
)
"""Fits of the first mail's base with each assumed constant at its low and high (FIT_ROWS)."""

# Predictions with the fits.


def _seeds_of(version: str) -> list[tuple[str, pl.DataFrame, int]]:
    constants = _constants()[version]
    return [(version, constants, seed) for seed in TABLE_SEEDS]


def _predict(point: tuple[str, pl.DataFrame, int]) -> pl.DataFrame:
    version, constants, seed = point
    return prediction.predict(constants, [seed], version=version)


predicted: Final = _study(
    name="cluster-next-predicted", points=partial(_seeds_of, "V1"), run=_predict
)
"""The first mail's table for each seed, with V1 50 ms after the fill (RESULTS)."""

predicted_v3: Final = _study(
    name="cluster-next-predicted-v3", points=partial(_seeds_of, "V3"), run=_predict
)
"""The third mail's table for each seed (RESULTS)."""


# What-ifs on the machine.


def _with_both_fits(cases: Callable[[], list[what_if.Case]]) -> list[what_if.Trial]:
    return what_if.trials(cases(), _constants(), metric=SCORE, seeds=(1, 2, 3))


_gains = partial(_study, run=what_if.gain, group=what_if.case_of, reduce=what_if.ranges)

gain_by_tasks: Final = _gains(
    name="cluster-next-gain-by-tasks", points=partial(_with_both_fits, cases_by_tasks)
)
"""The gain by the number of tasks, over both fits (WHAT_IF_RANGES)."""

gain_by_trunk_size: Final = _gains(
    name="cluster-next-gain-by-trunk-size", points=partial(_with_both_fits, cases_by_trunk_size)
)
"""The gain by the size of a trunk, over both fits (WHAT_IF_RANGES)."""

gain_by_drive: Final = _gains(
    name="cluster-next-gain-by-drive", points=partial(_with_both_fits, cases_by_drive)
)
"""The gain by the drives' latency and queue (WHAT_IF_RANGES)."""


def _trials_by_constant() -> list[what_if.Trial]:
    return [
        trial
        for name, fitted in of_rows(fit_rows_by_constant.load()).items()
        for trial in what_if.trials(
            [case_of_mail(name)], {name: fitted.constants}, metric=SCORE, seeds=(1, 2, 3)
        )
    ]


gains_by_constant: Final = _study(
    name="cluster-next-gain-by-constant", points=_trials_by_constant, run=what_if.gain
)
"""V1's gain 50 ms after the fill, with each assumed constant at its low and high (WHAT_IF)."""


def gain_by_constant() -> pl.DataFrame:
    """Return young V1's gain at the ends of each constant, the widest apart first (SENSITIVITY)."""
    return by_constant(gains_by_constant())


def _over_life() -> list[what_if.Trial]:
    fit_of_v1 = {"V1": _constants()["V1"]}
    return what_if.trials(ages_of_v1(), fit_of_v1, metric=SCORE, seeds=(1, 2))


gains_over_life: Final = _study(
    name="cluster-next-life",
    points=_over_life,
    run=what_if.gain,
    # The older ones take long.
    quick=lambda trial: trial.case.setting < 0.1,
)
"""What V1 and the merged rule gain young, at half a second and settled (WHAT_IF)."""


_AGE_SEEDS: Final = (1, 2)

_AgeAndFit = tuple[what_if.Case, pl.DataFrame]


def _ages() -> list[_AgeAndFit]:
    constants = _constants()["V1"]
    return [(case, constants) for case in ages_of_v1() if case.factor == "percpu"]


def _predict_at_age(point: _AgeAndFit) -> pl.DataFrame:
    case, constants = point
    return prediction.predict_at_age(case, constants, _AGE_SEEDS)


claims_over_life: Final = _study(
    name="cluster-next-claims-over-life",
    points=_ages,
    run=_predict_at_age,
    quick=lambda point: point[0].setting < 0.1,
)
"""The first mail's claims at each age of V1's bases (PREDICTED_BY_AGE)."""


def claims_by_age() -> pl.DataFrame:
    """Return the change of each claim of the first mail by V1's age, a row per claim."""
    frame = claims_over_life().with_columns(pl.col("age").str.strip_prefix("percpu, "))
    return frame.pivot("age", index=["claim", "published", "tolerance"], values="simulated")


def simulated_claims() -> pl.DataFrame:
    """Return the figures of both mails' claims (SIMULATED_CLAIMS).

    The first mail's are of V1 50 ms after the fill, with a range over the ages of its bases: the
    mail's test ran until they had settled, but how often its tasks changed CPU is not known.
    """
    stated = claims.published_claims().filter(patch=prediction.PATCH)
    table = prediction.by_claim(predicted(), "the table")
    by_age = summary.claim_figures(
        pl.concat([claims_over_life(), table]), pl.col("age") == "the table", over="ages"
    )
    figures = claims.simulated_claims(stated, pl.concat([predicted(), predicted_v3()]))
    return figures.update(by_age, on="claim")


def life() -> pl.DataFrame:
    """Return what V1 and the merged rule gain at each age, over the seeds (WHAT_IF_RANGES)."""
    return what_if.ranges(gains_over_life())


def _races() -> list[what_if.Trial]:
    return what_if.trials(race_by_age(), {"data/costs.csv": costs()}, seeds=(1, 2, 3))


races_at_ages: Final = Study(
    name="cluster-next-race-by-age",
    points=_races,
    run=what_if.gain,
    quick=lambda trial: trial.case.setting < 100,
    reads=("costs.csv",),
)
"""Bases in a line on the aged device, by the time since it was filled (WHAT_IF)."""


def race_at_ages() -> pl.DataFrame:
    """Return the gain of bases in a line by the age of the device (WHAT_IF_RANGES)."""
    return what_if.ranges(races_at_ages())


_ALL_POLICIES: Final = tuple((policy, seed) for policy in POLICIES for seed in range(1, 6))

race: Final = Study(
    name="cluster-next-race",
    points=_ALL_POLICIES,
    run=partial(run_policy, prediction.aged_device),
    reads=("costs.csv",),
)
"""The aged device's machine under all built-in policies (RESULTS)."""


def _on_a_trace(*, policy: str | Policy, seed: int) -> MachineConfig:
    folder = traces.shipped("cluster-next")["slots-8-shared"]
    return prediction.traced_machine(folder, policy=policy, seed=seed)


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
