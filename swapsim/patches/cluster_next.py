# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D, a cluster_next for each CPU (2020, merged in 5.8), and E, what its reviewers asked.

The machines of the mails and of the lab, what is fitted to which cells, the points of the stored
studies, and what they say for the rows of the mails' tables. A fit sees the base's column alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim import published
from swapsim.ffi import POLICIES
from swapsim.machine.config import Machine, preset
from swapsim.machine.constants import change_costs, costs, costs_by_name
from swapsim.machine.fitting import Target, fit_costs
from swapsim.machine.running import TABLE_SEEDS, labels, metric_values, run_policy
from swapsim.patches import common
from swapsim.patches.common import CHANNELS, Case, at, base_figure, trials
from swapsim.published import data
from swapsim.published.rows import Side, side
from swapsim.slots.config import Churn, Device
from swapsim.slots.metrics import METRICS
from swapsim.slots.ranking import CHURN, DEVICE, aged_device
from swapsim.slots.workbench import Point, points, run_point
from swapsim.study import Study

PATCH: Final = "04-percpu-cluster-next"
"""The folder in patches, and the name in the rows of data."""

MERGED: Final = "percpu-rerandomise"
POSTED: Final = ("shared", "percpu", MERGED)
"""The base, V1, and what was merged."""

_GAINS: Final = ("shared", MERGED)

# The machine of the mails.

IN_MEMORY: Final = 3 / 8
"""Share of all pages that memory holds. The mail says that each process has 68,280 accesses a
second, but not under which kernel; this is the share if it was the base, with 2.84 GB/s swapped
in. It is 0.21 if it was V3's patched kernel, with 3.51 GB/s."""

IN_USE: Final = 0.48
"""Share of a device's slots in use, which the mail does not say either. A memory of 64 GB per node
less two devices of 48 GB leaves some 29 GB to the test; if it holds 3 of 8 pages, 48 of the
devices' 96 GB are in use. Here it is a little less, because from one half on the kernel takes slots
back from pages in memory, and it is unknown on which side of one half the test was."""

DEVICE_GIGABYTES: Final = 48
"""Size of each of the two devices of the mails (the reply of 21 May 2020: memmap=48G)."""

GIGABYTES: Final = DEVICE_GIGABYTES // 4
"""Size of a device in most cases: 192 trunks of 64 MB, filled in a quarter of the time."""

WINDOW_NS: Final = 80_000_000
"""Measured nanoseconds for each GB of a device. Reclaim takes pages from the inactive lists for
some 14 ms a GB, then refills them, and no window should depend on where in this it begins."""

_KERNELS: Final = {"V1": "5.7+scan-more", "V3": "5.8"}


def machine(version: str = "V1", *, gigabytes: int = GIGABYTES) -> Machine:
    """Return the machine of a mail's base: 16 random-access tasks on two pmems, 8 each, fragmented.

    "5.8", V3's base, charges a page to its memory cgroup without lru_lock. Memory and pages keep
    their share, and the LRU lists their balance, on devices of any size. The measured time begins
    once tasks reclaim themselves. Source: seed D (16 pmbench processes, 80/20, random, a RAM disk
    per socket).
    """
    nodes, devices, walkers, slots = 2, 2, 16, gigabytes * 2**18
    pages = round(devices * slots * IN_USE / (1 - IN_MEMORY))
    frames = round(pages * IN_MEMORY / nodes)
    return Machine(
        patch=PATCH,
        kernel=_KERNELS[version],
        policy="shared",
        nodes=nodes,
        devices=devices,
        walkers=walkers,
        frames=frames,
        inactive_ratio=math.isqrt(10 * (frames * DEVICE_GIGABYTES // gigabytes >> 18)),
        pages=pages // walkers,
        slots=slots,
        cluster_size=512,
        fragmented=True,
        warmup_ns=20_000_000 + gigabytes * 1_250_000,
        duration_ns=gigabytes * WINDOW_NS,
    )


CHANGES: Final = (0.0, 0.03, 0.1, 1.0)
"""Changes of CPU per second and task, neither published nor measured: none, 50 in the mail's half
an hour, one in ten seconds, one a second. The kernel moves a task that always runs when it balances
CPUs or needs its CPU for another task."""

_CPUS_OF_NODE: Final = 24  # of one of the mail's two sockets
_TURN_S: Final = 18  # in which tasks go around 48 GB, half free, at 350,000 pages a second
_TURNS: Final = 2  # after which the distances of cluster_next do not change any more


def settled(version: str, changes: float, gigabytes: int = GIGABYTES) -> Machine:
    """Return the mail's machine after two turns of tasks around its devices.

    ``changes`` of CPU are per second and task on 48 GB, and more often on a smaller device, around
    which tasks go faster.
    """
    usual, smaller = machine(version, gigabytes=gigabytes), DEVICE_GIGABYTES / gigabytes
    return usual.replace(
        spare_cpus=_CPUS_OF_NODE - usual.cpus // usual.nodes,
        stay_ns=round(1e9 / changes / smaller) if changes else 0,
        warmup_ns=round(_TURNS * _TURN_S * 1e9 / smaller),
    )


# The mails: their rows, and the fits of their bases.


@dataclass(frozen=True, slots=True)
class Mail:
    """One of patch D's mails."""

    kernels: dict[str, str]  # names of the base and of the patched one, with their policies
    rows: dict[str, tuple[str, ...]]  # of the mail, with the sites whose waits each is
    fitted: dict[str, tuple[str, ...]]  # rows of each lock that the base is fitted to

    @property
    def base(self) -> str:
        """The name of the base in data/published."""
        return next(iter(self.kernels))


_ADD: Final = "_raw_spin_lock_irq.add_to_swap_cache.add_to_swap.shrink_page_list"
_REMOVE: Final = "_raw_spin_lock_irqsave.__remove_mapping.shrink_page_list"
_FREE: Final = "_raw_spin_lock.swapcache_free_entries.free_swap_slot.__swap_entry_free"
_INACTIVE: Final = "_raw_spin_lock_irq.shrink_inactive_list.shrink_lruvec.shrink_node"
_ACTIVE: Final = "_raw_spin_lock_irq.shrink_active_list.shrink_lruvec.shrink_node"
_CHARGE: Final = "_raw_spin_lock_irq.mem_cgroup_commit_charge.do_swap_page"
_SCAN: Final = "_raw_spin_lock.scan_swap_map_slots.get_swap_pages.get_swap_page"
_RECORD: Final = "_raw_spin_lock_irqsave.swap_cgroup_record.mem_cgroup_uncharge_swap"

_SITES: Final = {
    _ADD: ("tree_lock.add_to_swap_cache.shrink_page_list",),
    _REMOVE: ("tree_lock.__remove_mapping",),
    _CHARGE: ("lru_lock.mem_cgroup_commit_charge",),
    _FREE: ("si_lock.swapcache_free_entries", "cluster_lock.swapcache_free_entries"),
    _RECORD: (  # the row's caller is mem_cgroup_uncharge_swap, not mem_cgroup_swapout
        "record_lock.swap_cgroup_record.mem_cgroup_charge",
        "record_lock.swap_cgroup_record.swapcache_free_entries",
    ),
    _INACTIVE: ("lru_lock.shrink_inactive_list",),
    _ACTIVE: ("lru_lock.shrink_active_list",),
    _SCAN: ("si_lock.scan_swap_map_slots",),
}

MAILS: Final = {
    "V1": Mail(
        kernels={"before": "shared", "after": "percpu"},
        rows={row: sites for row, sites in _SITES.items() if row != _RECORD},
        fitted={"xa_lock": (_ADD, _REMOVE), "lru_lock": (_CHARGE,)},
    ),
    "V3": Mail(
        kernels={"v3 before": "shared", "v3 after": MERGED},
        rows={row: sites for row, sites in _SITES.items() if row not in (_CHARGE, _SCAN)},
        fitted={"xa_lock": (_ADD, _REMOVE), "lru_lock": (_INACTIVE,)},
    ),
}
"""Patch D's V1 and V3; V2 prints the figures of V3. The row of the free path includes the cluster
locks under si->lock, whose code is inlined there; nothing is fitted to it, because the cost of
freeing a slot is measured (tests/bench/flush_costs.c). The row of free_pcppages_bulk is left out:
there it drains the lists of CPUs, and the machine simulates its usual caller only."""

_study = partial(Study, reads=("costs.csv", partial(data.published_of, PATCH)))

_FIT_RUNS: Final = 2  # runs per set of costs: the rows of one base differ from seed to seed


def to_meet(version: str) -> tuple[Machine, tuple[Target, ...]]:
    """Return a base's machine, and the figures that its fit has to meet.

    They are the rate, the waits for xa_lock, and those for lru_lock, which V1's base takes to
    charge a page, V3's to isolate a batch. Devices have an eighth of the mail's size: with one
    cluster_next all CPUs are in one trunk of any device.
    """
    mail = MAILS[version]
    out = base_figure(PATCH, mail.base, "swapout throughput") * 1e9 / 1024
    waits = [
        Target(
            name=lock,
            metrics=tuple(f"cycles.{site}" for row in rows for site in mail.rows[row]),
            wanted=math.fsum(base_figure(PATCH, mail.base, row) for row in rows),
        )
        for lock, rows in mail.fitted.items()
    ]
    base = machine(version, gigabytes=DEVICE_GIGABYTES // 8)
    return base, (Target(name="swap_out", metrics=("swap_out",), wanted=out), *waits)


def _fit(version: str) -> pl.DataFrame:
    """Fit a base: work without a lock to the rate, two critical sections to the waits."""
    start = {"unmap_ns": 9000, "tree_ns": 1200, "lru_page_ns": 300}
    return common.fit_rows(version, fit_costs(*to_meet(version), start, runs=_FIT_RUNS, rounds=20))


def _fit_again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    return common.figures_again(rows, pick, to_meet, _FIT_RUNS)


fits: Final = _study(name="cluster-next-fits", points=tuple(MAILS), run=_fit, sample=_fit_again)
"""Fits of V1's base and of V3's (FIT_ROWS): `machine.preset` has their costs."""


# The mails' tables.

YOUNG: Final = "first second"
"""The age of a device of GIGABYTES right after its fill."""


def rows_of(version: str, value: Mapping[str, float]) -> list[data.Row]:
    """Return the metrics of a run by the names of a mail's tables."""
    return [
        ("pmbench score", value["accesses"], "accesses/s"),
        ("swapin throughput", value["swap_in"] * (1024 / 1e9), "GB/s"),
        ("swapout throughput", value["swap_out"] * (1024 / 1e9), "GB/s"),
        *(
            (row, math.fsum(value[f"cycles.{site}"] for site in sites), "% of cycles")
            for row, sites in MAILS[version].rows.items()
        ),
    ]


def _columns() -> list[tuple[str, str, Machine]]:
    return [
        (version, kernel, preset(f"D-{version}").replace(policy=policy, seed=seed))
        for version, mail in MAILS.items()
        for seed in TABLE_SEEDS
        for kernel, policy in mail.kernels.items()
    ]


def _predict(point: tuple[str, str, Machine]) -> pl.DataFrame:
    version, kernel, config = point
    rows = rows_of(version, metric_values(config))
    return data.results(rows, labels(config, kernel=kernel))


predicted: Final = _study(name="cluster-next-predicted", points=_columns, run=_predict)
"""Both mails' tables for each seed, in the first second after the fill (RESULTS)."""


def _as_printed(trial: Case) -> pl.DataFrame:
    """Run a trial of a mail's fit and return the rows of its tables, and all waits."""
    names, config = trial
    value = common.values(config)
    rows = [("waits", value["waits"], ""), *rows_of(str(names["fit"]), value)]
    return pl.DataFrame([{**names, "metric": name, "value": figure} for name, figure, _ in rows])


def _over_life() -> list[Case]:
    found: list[Case] = []
    for version, mail in MAILS.items():
        costs_of_fit = preset(f"D-{version}").costs
        ages: dict[str, tuple[Machine, tuple[int, ...]]] = {
            YOUNG: (machine(version), (1, 2, 3)),
            **{
                f"settled, {f'{rate:g} changes a second' if rate else 'tasks stay'}": (
                    settled(version, rate),
                    (1, 2, 3),
                )
                for rate in CHANGES
            },
            f"settled on {DEVICE_GIGABYTES} GB, {CHANGES[2]:g} changes a second": (
                settled(version, CHANGES[2], DEVICE_GIGABYTES),
                (1, 2),
            ),
        }
        for age, (config, seeds) in ages.items():
            policies = tuple(mail.kernels.values())
            found += trials([({"label": age}, config)], {version: costs_of_fit}, policies, seeds)
    return found


life: Final = _study(
    name="cluster-next-life",
    points=_over_life,
    run=_as_printed,
    quick=lambda trial: trial[0]["label"] == YOUNG,  # the settled machines take long
)
"""Each mail's rule at each age of its devices, by its own fit and kernel: the mail's tables."""

# What-ifs: a mail's machine with one setting changed, under the base and under the merged rule.

_what_if = partial(_study, run=partial(common.report, "accesses"))


def by_tasks(config: Machine) -> list[Case]:
    """Return a machine with other numbers of tasks, which share the same pages."""
    pages = config.walkers * config.pages
    return [
        (at(count, f"{count} tasks"), config.replace(walkers=count, pages=pages // count))
        for count in common.CPUS[1:]
    ]


def _with_both_fits(cases: Callable[[Machine], list[Case]]) -> list[Case]:
    """Return the runs of each mail's machine with its own fit."""
    return [
        trial
        for version in MAILS
        for trial in trials(cases(preset(f"D-{version}")), {version: {}}, _GAINS)
    ]


gain_by_tasks: Final = _what_if(
    name="cluster-next-gain-by-tasks", points=partial(_with_both_fits, by_tasks)
)
"""Steady up to 64 tasks: the second half of the window is 3 % slower than the first with 128 under
the shared rule, and 69 % with 512."""
gain_by_drive: Final = _what_if(
    name="cluster-next-gain-by-drive", points=partial(_with_both_fits, common.by_drive)
)


# The drives of two replies in the thread of V2.

AT_A_TIME: Final = 32
"""Pages that a drive of the replies serves at a time; CHANNELS has other numbers."""

_OPTANE: Final = "Optane before"  # the name of the base in data/published


def _to_meet_drive(at_a_time: str) -> tuple[Machine, tuple[Target, ...]]:
    base, _ = to_meet("V3")
    rate = base_figure(PATCH, _OPTANE, "swapout throughput") * 1e9 / 1024
    target = Target(name="swap_out", metrics=("swap_out",), wanted=rate)
    return replace(base, channels=int(at_a_time)), (target,)


def _fit_drive(at_a_time: int) -> pl.DataFrame:
    own = change_costs(costs(), preset("D-V3").costs)
    start, how = {"channel_ns": 10_000}, {"runs": _FIT_RUNS, "constants": own}
    found = fit_costs(*_to_meet_drive(str(at_a_time)), start, **how)  # type: ignore[arg-type]
    return common.fit_rows(str(at_a_time), found)


fits_of_drives: Final = _study(
    name="cluster-next-fits-of-drives",
    points=CHANNELS,
    run=_fit_drive,
    sample=lambda rows, pick: common.figures_again(rows, pick, _to_meet_drive, _FIT_RUNS),
)
"""The time that an Optane drive serves a page, by how many it serves at a time (FIT_ROWS)."""


def _on_drives() -> list[Case]:
    found: list[Case] = []
    memory = preset("D-V3").costs
    optane = common.fitted_costs(fits_of_drives.load())
    own = {
        str(count): dict(memory) | {"channel_ns": costs_by_name()["channel_ns"]}
        for count in CHANNELS
    }
    base = base_figure(PATCH, MAILS["V3"].base, "swapout throughput")
    # GB/s of the base: it sets how long a run is; that of a P3600 is the machine's, about.
    drives = {
        "P3600": (0.725, own),
        "Optane": (base_figure(PATCH, _OPTANE, "swapout throughput"), optane),
    }
    for drive, (rate, fitted) in drives.items():
        young, later = machine("V3"), settled("V3", CHANGES[2])
        ages = {
            YOUNG: young.replace(duration_ns=round(young.duration_ns * base / rate)),
            f"settled, {CHANGES[2]:g} changes a second": later.replace(
                warmup_ns=round(later.warmup_ns * base / rate),
                duration_ns=round(later.duration_ns * base / rate),
            ),
        }
        for age, config in ages.items():
            for count in CHANNELS if age == YOUNG else (AT_A_TIME,):
                fit = f"{drive}, {count} at a time"
                case = {"drive": drive, "label": f"{fit}, {age}"}, config.replace(channels=count)
                seeds = range(1, 11 if age == YOUNG else 6)
                found += trials([case], {fit: fitted[str(count)]}, _GAINS, seeds)
    return found


def _run_drive(trial: Case) -> pl.DataFrame:
    names, config = trial
    value = common.values(config)
    figures = {name: figure for name, figure, _ in rows_of("V3", value)[:3]}
    lock = math.fsum(value[name] for name in value if name.startswith("cycles.tree_lock."))
    figures |= {"swap cache radix tree spinlock": lock, "waits": value["waits"]}
    return pl.DataFrame([{**names, "metric": name, "value": figures[name]} for name in figures])


drives: Final = _study(
    name="cluster-next-drives",
    points=_on_drives,
    run=_run_drive,
    quick=lambda trial: trial[0]["label"].endswith(YOUNG),
)
"""V3's base and the merged rule on the drives of both replies, by age and queue."""

# Policies on notebook 05's aged device, and on the requests of a trace.

RACE_AGES_MS: Final = (50, 100, 200, 400, 800)
"""Times after the fill of the aged device; its race is at 400."""


def _races_by_age() -> list[Case]:
    aged = aged_device(policy="shared")
    cases = [({"setting": age}, aged.replace(warmup_ns=age * 1_000_000)) for age in RACE_AGES_MS]
    return trials(cases, {"data/costs.csv": {}}, ("shared", "percpu", "spread", MERGED))


race_by_age: Final = Study(
    name="cluster-next-race-by-age",
    points=_races_by_age,
    run=partial(common.report, "swap_out"),
    quick=lambda trial: trial[0]["setting"] == RACE_AGES_MS[0],
    reads=("costs.csv",),
)
"""Linear rules on the aged device, by the time since it was filled."""

_ALL_POLICIES: Final = tuple(product(POLICIES, range(1, 6)))

race: Final = Study(
    name="cluster-next-race",
    points=_ALL_POLICIES,
    run=partial(run_policy, aged_device),
    reads=("costs.csv",),
)
"""The aged device's machine under all built-in policies (RESULTS)."""


# The slot microbenchmark, which has no time: no cost is read.


def sweep(point: Point) -> pl.DataFrame:
    """Measure one run: ``factor, setting, policy, n_cpus, seed, metric, value, unit``."""
    (factor, setting), *_ = point.settings.items()
    units = {name: each.unit for name, each in METRICS.items()}
    return run_point(point).select(
        pl.lit(factor).alias("factor"),
        pl.lit(str(setting)).alias("setting"),
        "policy",
        pl.lit(point.device.online, pl.UInt32).alias("n_cpus"),
        *("seed", "metric", "value"),
        pl.col("metric").replace(units).alias("unit"),
    )


def _grid(
    factors: Mapping[str, Sequence[Any]],
    policies: Sequence[str] = POSTED,
    device: Device = DEVICE,
    churn: Churn = CHURN,
    seeds: int = 20,
) -> list[Point]:
    return points(device, churn, policies, seeds=seeds, **factors)


_SWEEPS: Final[Mapping[str, tuple[Any, ...]]] = {
    # By the age of the device.
    "ages": ({"warm_up_pages": tuple(2**n for n in range(13, 19))},),
    # Evenly spread over the possible CPUs, over those online, and at random.
    "possible-cpus": ({"possible_cpus": (8, 128)}, ("percpu", "spread", "spread-online")),
    # Trunks in use avoided, with fewer CPUs than trunks and more.
    "cpus": ({"cpus": (2, 8, 32, 64)}, ("shared", MERGED, "avoid")),
    # One for each address space, with one thread in each and with four.
    "address-spaces": ({"threads_per_address_space": (1, 4)}, ("percpu", MERGED, "permm")),
    # How far apart slots lie on a device without seeks, and on a disk with caches and without.
    "solid-state": ({"rotational": (False,)},),
    "disk": ({"slot_cache": (True, False)}, ("shared",), replace(DEVICE, rotational=True)),
    "disks": ({"rotational": (False, True)}, POSTED, DEVICE, Churn(), 3),
    # All built-in policies on the aged device.
    "policies": ({"used_share": (0.7,)}, POLICIES),
}

WORKBENCH: Final = {
    name: Study(name=f"cluster-next-{name}", points=partial(_grid, *given), run=sweep, reads=())
    for name, given in _SWEEPS.items()
}
"""Policies at each setting of one factor, all else as on the aged device (`sweep`)."""

# The columns of the mails' tables: simulated, measured, by hand.

_SUFFIX: Final = {"V1": "", "V3": ", V3"}

_LOCKS: Final = {"add_to_swap_cache": "xa_lock", "__remove_mapping": "xa_lock"}
_V3_LOCKS: Final = {"swapcache_free_entries": "si->lock", "shrink_": "lru_lock"}
"""Caller in a row of a profile -> its lock on the real kernel, whose count has no callers: only
locks whose rows all say the same in that mail."""


def simulated() -> Iterator[Side]:
    """Yield the first second after the fill, with a range over the ages of the device."""
    young, later = predicted.load(), life.load().filter(pl.col("label") != YOUNG)
    for version, mail in MAILS.items():
        own = pl.col("kernel").is_in([*mail.kernels])
        first = young.filter(own).with_columns(label=pl.lit(YOUNG))
        columns = ["policy", "metric", "value", "label"]
        rows = pl.concat([first.select(columns), later.filter(fit=version).select(columns)])
        fitted = {"swapout throughput", *(row for rows in mail.fitted.values() for row in rows)}
        for metric, base, patched in _by(rows, tuple(mail.kernels.values())):
            table = ("profile" if metric.startswith("_raw") else "score") + _SUFFIX[version]
            if found := side(table, metric, base, patched, at=YOUNG, fitted=metric in fitted):
                yield found
    for (drive,), part in drives.load().group_by("drive", maintain_order=True):
        usual = f"{drive}, {AT_A_TIME} at a time, {YOUNG}"
        for metric, base, patched in _by(part, _GAINS):
            fit = drive == "Optane" and metric == "swapout throughput"
            if drive == "P3600" and metric == "pmbench score":
                metric = "performance improvement"
            if found := side(str(drive), metric, base, patched, at=usual, fitted=fit):
                yield found


def _by(
    rows: pl.DataFrame, policies: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, float], dict[str, float]]]:
    """Yield each metric with its means by label, without the patch and with it."""
    means = rows.group_by("metric", "policy", "label", maintain_order=True).agg(
        pl.col("value").mean()
    )
    for (metric,), part in means.group_by("metric", maintain_order=True):
        base, patched = (
            dict(part.filter(policy=policy).select("label", "value").iter_rows())
            for policy in policies
        )
        yield str(metric), base, patched


def measured() -> Iterator[Side]:
    """Yield contended acquisitions a page on a real 6.1 with 8 CPUs, under half full."""
    runs = data.measured_results("scan-base-under-half")
    for version, policy in (("V1", "percpu"), ("V3", MERGED)):
        table, locks = (
            "profile" + _SUFFIX[version],
            _LOCKS | (_V3_LOCKS if policy == MERGED else {}),
        )
        for metric in published.table("D", table)["metric"]:
            lock = next((locks[caller] for caller in locks if caller in metric), None)
            own = runs.filter(metric=f"{lock} contended acquisitions")
            base, patched = (
                dict(own.filter(policy=each).select("seed", "value").iter_rows())
                for each in ("shared", policy)
            )
            what = f"contended acquisitions of {lock} a page"
            if lock and (found := side(table, metric, base, patched, what=what)):
                yield found


def by_hand() -> dict[tuple[str, str], float]:
    """Return the rates' ratio if all cycles outside of the profile's rows were work."""
    found: dict[tuple[str, str], float] = {}
    for suffix in _SUFFIX.values():
        rows = published.table("D", "profile" + suffix)
        before, after = (100 - math.fsum(rows.to_series(at).drop_nulls()) for at in (2, 3))
        scores = published.table("D", "score" + suffix)["metric"]
        found |= {("score" + suffix, row): after / before for row in scores}
    return found
