# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines of patch D and its alternatives, the fits of its mails' bases, and their tables.

Simulated rows have the names of the mails' rows, so that `claims.three_columns` compares them with
the published ones. A lock of the mails that the machine does not have has no row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import claims, slots
from swapsim.checks import checked
from swapsim.claims.judging import agreement
from swapsim.claims.tables import GROWTH_IN_BOTH_MAILS
from swapsim.errors import ConfigError, InputError, require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.fit import Fitted, Target, base_figure
from swapsim.machine.fit import fit as fit_machine
from swapsim.machine.run import TABLE_SEEDS, labels, metric_values, run
from swapsim.machine.tables import PREDICTED_BY_AGE
from swapsim.machine.what_if import Case
from swapsim.policies.policy import Policy
from swapsim.slots.config import StreamsConfig
from swapsim.slots.events import first_free, request_streams, traced_device

PATCH: Final = "04-percpu-cluster-next"
"""The folder in patches, and the name in the rows of data."""

DEVICE_GIGABYTES: Final = 48
"""Size of each of the two devices of patch D's mails (V1 to V3: memmap=48G)."""

IN_MEMORY: Final = 3 / 8
"""Share of all pages that memory holds. The mail says that each process has 68,280 accesses a
second, but not under which kernel; this is the share if it was the base, with 2.84 GB/s swapped
in."""

IN_MEMORY_LOW: Final = 0.21
IN_MEMORY_HIGH: Final = 3 / 8
"""The share if it was V3's patched kernel, with 3.51 GB/s, and if it was the base; those of the
other kernels of both mails lie between."""

IN_USE: Final = 0.48
"""Share of a device's slots in use, which the mail does not say either. A memory of 64 GB per node
less two devices of 48 GB leaves some 29 GB to the test; if it holds 3 of 8 pages, 48 of the
devices' 96 GB are in use. Here it is a little less, because from one half on the kernel takes slots
back from pages in memory, and it is unknown on which side of one half the test was."""

WARM_UP_PART: Final = 10
"""Of the pages that go out after the first free, one in so many is part of the warm-up."""


@checked
def machine(
    *,
    policy: str | Policy,
    seed: int = 1,
    kernel: str = "5.7+scan-more",
    gigabytes: int = DEVICE_GIGABYTES,
    in_memory: float = IN_MEMORY,
) -> MachineConfig:
    """Return the machine of patch D's mail: 16 walkers on two pmems, 8 each, fragmented.

    Parameters
    ----------
    policy : str or Policy
        "shared" is the base, "percpu" V1 of the patch, "percpu-rerandomise" what was merged.
    seed : int
    kernel : str
        "5.7+scan-more" is what V1 was measured on; "5.8" has the memory cgroup's charge of V2 and
        V3's base, without lru_lock.
    gigabytes : int
        Of each device; memory and pages keep their share of it.
    in_memory : float
        Share of all pages that memory holds; IN_MEMORY_LOW to IN_MEMORY_HIGH are possible.

    Returns
    -------
    MachineConfig

    Notes
    -----
    The mail does not say how much memory and how many pages the test had; IN_MEMORY and IN_USE are
    assumed. The warm-up lasts until tasks reclaim themselves. The measured time is short against a
    scan around a device (20 s), so the bases are where the fill left them, not where they drift
    to. The LRU lists are balanced as on the mail's node of 12 GB, at any size.

    Source
    ------
    Seed D (16 pmbench processes, 80/20, random, a RAM disk per socket); the base holds "scan more".
    """
    nodes, devices, walkers, slots = 2, 2, 16, gigabytes * 2**18
    pages = round(devices * slots * IN_USE / (1 - in_memory))
    frames = round(pages * in_memory / nodes)
    return MachineConfig(
        patch=PATCH,
        kernel=kernel,
        policy=policy,
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
        duration_ns=100_000_000,
        seed=seed,
    )


def aged_device(*, policy: str | Policy, seed: int = 1) -> MachineConfig:
    """Return the aged device of notebook 05: 8 CPUs on 2 GB, fragmented by use.

    Parameters
    ----------
    policy : str or Policy
    seed : int

    Returns
    -------
    MachineConfig
        Seven tenths of the device are in use, at random places. Some 130,000 pages are swapped out
        in the warm-up, after which the bases are where swapping has left them.
    """
    in_use = 7 * 2 * slots.GIGABYTE_SLOTS // 10
    frames = 2**16
    return MachineConfig(
        patch=PATCH,
        kernel="5.8",
        policy=policy,
        walkers=8,
        frames=frames,
        pages=(in_use + frames) // 8,
        slots=2 * slots.GIGABYTE_SLOTS,
        fragmented=True,
        warmup_ns=400_000_000,
        duration_ns=50_000_000,
        seed=seed,
    )


def traced_machine(folder: Path | str, *, policy: str | Policy, seed: int = 1) -> MachineConfig:
    """Return the contention machine on which the tasks of a slot trace repeat their requests.

    Each task has its own CPU and runs as fast as its work allows; the trace's times are dropped. A
    trace does not say whether a slot was freed because its page came in or was discarded. Where a
    task only frees pages, likely the latter: so its rows end with its last page out. The warm-up
    fills the device and lasts for a tenth of the pages that go out after the first free.

    Parameters
    ----------
    folder : Path or str
        A trace folder with slot events and its set-up (`traces.slot_set_up`).
    policy : str or Policy
    seed : int

    Returns
    -------
    MachineConfig
        One node, the device of the trace, kernel 6.1. Memory is twice the device, so that only the
        pages of the trace go out.

    Raises
    ------
    InputError
        The folder has no slot events or no set-up, or no slot is ever freed in it.
    ConfigError
        After the warm-up fewer rows are left than there are tasks, or more pages come in at a time
        than memory holds.
    """
    device = traced_device(folder)
    return MachineConfig(
        patch=PATCH,
        kernel=device.kernel,
        policy=policy,
        streams=_at_work(folder),
        frames=2 * device.slots,
        slots=device.slots,
        cluster_size=device.cluster_size,
        trunk_shift=device.trunk_shift,
        seed=seed,
    )


def _at_work(folder: Path | str) -> StreamsConfig:
    """Return the rows of a trace up to each task's last page out, with the share of the warm-up."""
    requests = request_streams(folder)
    first = first_free(requests, folder)
    goes_out = pl.col("op") == "get"
    requests = requests.filter(goes_out.reverse().cum_max().reverse().over("task"))
    later = requests.select(pl.arg_where(goes_out & (pl.int_range(pl.len()) > first))).to_series()
    if later.is_empty():
        raise InputError(
            "no page goes out after the first slot is freed: choose a longer trace",
            path=Path(folder) / "slot_events.parquet",
        )
    skipped = later[later.len() // WARM_UP_PART] / requests.height
    return StreamsConfig(requests=requests, skipped_share=round(skipped, 6))


FIT_RUNS: Final = 4
"""Runs per set of constants: the rows of one base differ from seed to seed."""

TABLE_GIGABYTES: Final = DEVICE_GIGABYTES // 2
"""Size of a device for the simulated tables. Its 384 trunks are enough that nine CPUs hardly meet,
as on the mail's 768, and it takes half as long to fill."""

_KIB_PER_GB: Final = 1e9 / 1024
_GB_PER_KIB: Final = 1024 / 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One of patch D's mails: its kernels, and the sites of the machine for its profile rows.

    ``base`` and ``patched`` are the kernels' names in data/published, ``machine`` is the kernel
    that the machine simulates, ``policy`` where the patched kernel's scan begins. ``rows`` are the
    mail's rows with the sites whose sum each is, ``fitted`` the rows of each lock that the base is
    fitted to.
    """

    base: str
    patched: str
    machine: str
    policy: str
    rows: dict[str, tuple[str, ...]]
    fitted: dict[str, tuple[str, ...]]


_ADD: Final = ("tree_lock.add_to_swap_cache.shrink_page_list",)
_REMOVE: Final = ("tree_lock.__remove_mapping",)
_FREE: Final = ("si_lock.swapcache_free_entries", "cluster_lock.swapcache_free_entries")
_INACTIVE: Final = ("lru_lock.shrink_inactive_list",)
_RECORD: Final = tuple(
    f"record_lock.swap_cgroup_record.{caller}"
    for caller in ("mem_cgroup_swapout", "mem_cgroup_charge", "swapcache_free_entries")
)

_V1_ADD: Final = "_raw_spin_lock_irq.add_to_swap_cache.add_to_swap.shrink_page_list"
_V1_REMOVE: Final = "_raw_spin_lock_irqsave.__remove_mapping.shrink_page_list"
_V1_CHARGE: Final = "_raw_spin_lock_irq.mem_cgroup_commit_charge.do_swap_page"

VERSIONS: Final = {
    "V1": Mail(
        base="before",
        patched="after",
        machine="5.7+scan-more",
        policy="percpu",
        rows={
            _V1_ADD: _ADD,
            _V1_REMOVE: _REMOVE,
            _V1_CHARGE: ("lru_lock.mem_cgroup_commit_charge",),
            "_raw_spin_lock.swapcache_free_entries.free_swap_slot.__swap_entry_free": _FREE,
            "_raw_spin_lock_irq.shrink_inactive_list.shrink_lruvec.shrink_node": _INACTIVE,
            "_raw_spin_lock_irq.shrink_active_list.shrink_lruvec.shrink_node": (
                "lru_lock.shrink_active_list",
            ),
            "_raw_spin_lock.scan_swap_map_slots.get_swap_pages.get_swap_page": (
                "si_lock.scan_swap_map_slots",
            ),
        },
        fitted={"xa_lock": (_V1_ADD, _V1_REMOVE), "lru_lock": (_V1_CHARGE,)},
    ),
    "V3": Mail(
        base="v3 before",
        patched="v3 after",
        machine="5.8",
        policy="percpu-rerandomise",
        rows={
            "add_to_swap_cache": _ADD,
            "__remove_mapping": _REMOVE,
            "swapcache_free_entries": _FREE,
            "swap_cgroup_record": _RECORD,
            "shrink_inactive_list": _INACTIVE,
        },
        fitted={
            "xa_lock": ("add_to_swap_cache", "__remove_mapping"),
            "lru_lock": ("shrink_inactive_list",),
        },
    ),
}
"""Patch D's first mail and its third. The row of the free path includes the cluster locks under
si->lock, whose code is inlined there; nothing is fitted to it, because the cost of freeing a slot
is measured. The row of free_pcppages_bulk is left out: there the function drains the lists of CPUs,
and the machine simulates its usual caller only."""


def mail_of(version: str) -> Mail:
    """Return one of VERSIONS; a ConfigError says that there is no such version."""
    if version not in VERSIONS:
        raise ConfigError(f"version={version!r}: choose one of {', '.join(VERSIONS)}")
    return VERSIONS[version]


def fit(
    *,
    version: str = "V1",
    in_memory: float = IN_MEMORY,
    constants: pl.DataFrame | None = None,
    seed: int = 1,
) -> Fitted:
    """Fit the base of patch D's first mail, or of its third: a rate and the cycles in two locks.

    It moves ``unmap_ns`` (the rate), ``tree_ns`` (the wait for xa_lock) and ``lru_page_ns`` (that
    for lru_lock, which V1's base takes to charge a page, V3's to isolate a batch), on devices of an
    eighth of the size: with one base all CPUs are in one trunk of any device.

    Parameters
    ----------
    version : {"V1", "V3"}
        V2 prints the figures of V3.
    in_memory : float
        As for `machine`.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/costs.csv.
    seed : int

    Returns
    -------
    Fitted

    Raises
    ------
    ConfigError
        The version is unknown.

    Source
    ------
    data/published/04-percpu-cluster-next.csv, kernels before and v3 before.
    """
    return fit_machine(
        *to_meet(version, in_memory=in_memory, seed=seed),
        {"unmap_ns": 9000, "tree_ns": 1200, "lru_page_ns": 300},
        runs=FIT_RUNS,
        constants=constants,
        # The rows of one base differ by as much between sets of four seeds.
        tolerance=0.03,
        rounds=20,
    )


def to_meet(
    version: str, *, in_memory: float = IN_MEMORY, seed: int = 1
) -> tuple[MachineConfig, tuple[Target, ...]]:
    """Return the machine of a mail's base and the figures that it has to meet; see `fit`."""
    mail = mail_of(version)
    targets = (
        Target(
            name="swap_out",
            metrics=("swap_out",),
            wanted=base_figure(PATCH, mail.base, "swapout throughput") * _KIB_PER_GB,
        ),
        *(
            Target(
                name=lock,
                metrics=tuple(f"cycles.{site}" for row in rows for site in mail.rows[row]),
                wanted=math.fsum(base_figure(PATCH, mail.base, row) for row in rows),
            )
            for lock, rows in mail.fitted.items()
        ),
    )
    gigabytes = DEVICE_GIGABYTES // 8
    base = machine(
        policy="shared", seed=seed, kernel=mail.machine, gigabytes=gigabytes, in_memory=in_memory
    )
    return base, targets


def predict(
    constants: pl.DataFrame,
    seeds: Sequence[int] = TABLE_SEEDS,
    *,
    version: str = "V1",
    policy: str | Policy | None = None,
) -> pl.DataFrame:
    """Simulate the table of one of the patch's mails.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema CONSTANTS, as `fit` finds them.
    seeds : sequence of int
    version : {"V1", "V3"}
    policy : str or Policy, optional
        Of the patched kernel; default: that of the version, "percpu" or "percpu-rerandomise".

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: pmbench's score, both throughputs and the profile rows, for each seed and
        each of the mail's two kernels.

    Raises
    ------
    ConfigError
        The version is unknown.
    InputError
        No seed is given.
    """
    require_some(seeds, "seeds")
    mail = mail_of(version)
    patched = mail.policy if policy is None else policy
    frames = []
    for seed in seeds:
        for kernel, used in ((mail.base, "shared"), (mail.patched, patched)):
            config = machine(policy=used, seed=seed, kernel=mail.machine, gigabytes=TABLE_GIGABYTES)
            frames.append(_column(mail, kernel, config, constants))
    return pl.concat(frames)


def _column(
    mail: Mail, kernel: str, config: MachineConfig, constants: pl.DataFrame
) -> pl.DataFrame:
    """Return one column of a mail's table, simulated once (RESULTS)."""
    value = metric_values(config, constants)
    rows = [
        ("pmbench score", value["accesses"], "accesses/s"),
        ("swapin throughput", value["swap_in"] * _GB_PER_KIB, "GB/s"),
        ("swapout throughput", value["swap_out"] * _GB_PER_KIB, "GB/s"),
        *(
            (row, math.fsum(value[f"cycles.{site}"] for site in sites), "% of cycles")
            for row, sites in mail.rows.items()
        ),
    ]
    return claims.results(rows, labels(config, kernel=kernel))


def predict_at_age(case: Case, constants: pl.DataFrame, seeds: Sequence[int]) -> pl.DataFrame:
    """Compare the first mail's table, simulated at an age of the device, with its claims.

    Parameters
    ----------
    case : Case
        The machines without the patch and with it; its label is the age.
    constants : polars.DataFrame
        Schema CONSTANTS, as `fit` finds them for the first mail.
    seeds : sequence of int

    Returns
    -------
    polars.DataFrame
        Schema PREDICTED_BY_AGE, one row per claim that has a figure.
    """
    mail = mail_of("V1")
    found = pl.concat(
        _column(mail, kernel, replace(config, seed=seed), constants)
        for seed in seeds
        for kernel, config in ((mail.base, case.base), (mail.patched, case.patched))
    )
    return by_claim(found, case.label)


def by_claim(found: pl.DataFrame, age: str) -> pl.DataFrame:
    """Return the claims of the first mail's table as it was simulated (PREDICTED_BY_AGE)."""
    stated = claims.published_claims().filter(pl.col("change").is_not_null(), patch=PATCH)
    patched = found.filter(kernel=mail_of("V1").patched).sort(pl.all())
    means = patched.group_by("metric", maintain_order=True).agg(patched=pl.col("value").mean())
    frame = (
        claims.three_columns(stated, found, claims.tolerances())
        .filter(pl.col("simulated").is_not_null())
        .join(means, on="metric", maintain_order="left")
        .with_columns(age=pl.lit(age))
    )
    return PREDICTED_BY_AGE.check(frame.select(PREDICTED_BY_AGE.names()))


def runs(
    constants: pl.DataFrame,
    policies: Sequence[str | Policy] = ("shared", "percpu"),
    *,
    seed: int = 1,
) -> dict[str, pl.DataFrame]:
    """Run patch D's test once under each policy, on devices of TABLE_GIGABYTES.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema CONSTANTS.
    policies : sequence of str or Policy
    seed : int

    Returns
    -------
    dict of str to polars.DataFrame
        A policy's name -> schema RESULTS, all metrics of `machine.run.run`.
    """
    return {
        policy if isinstance(policy, str) else policy.name: run(
            machine(policy=policy, seed=seed, gigabytes=TABLE_GIGABYTES), constants
        )
        for policy in policies
    }


def growth_in_both_mails(predicted: pl.DataFrame) -> pl.DataFrame:
    """Return how the profile rows that both mails print grow, in each mail and in both together.

    Parameters
    ----------
    predicted : polars.DataFrame
        Schema RESULTS: what `predict` returns of V1 and of V3, one below the other.

    Returns
    -------
    polars.DataFrame
        Schema GROWTH_IN_BOTH_MAILS, one row per profile row. Both together are the geometric mean
        of the two quotients; its tolerance is that of one mail, divided by the root of two.

    Source
    ------
    data/published/claims.csv: the claims of profile rows that begin with D- and with D3-.
    """
    stated = claims.published_claims().filter(patch=PATCH, unit="% of cycles")
    three = claims.three_columns(stated, predicted, claims.tolerances())
    mail, row = (
        pl.col("claim").str.extract(r"^(D3?)-lock-(.+)$", group).alias(name)
        for group, name in ((1, "mail"), (2, "row"))
    )
    named = three.filter(pl.col("published").is_not_null()).with_columns(mail, row)
    first, third = (named.filter(mail=mail) for mail in ("D", "D3"))
    frame = first.join(third, on="row", suffix="_third", maintain_order="left").with_columns(
        pl.col("tolerance") / math.sqrt(2),
        *(
            _together(figure, f"{figure}_third").alias(f"{figure}_together")
            for figure in ("published", "simulated")
        ),
    )
    off = (pl.col("simulated_together") - pl.col("published_together")).abs()
    frame = frame.with_columns(verdict=agreement(off <= pl.col("tolerance")))
    return GROWTH_IN_BOTH_MAILS.check(frame.select(GROWTH_IN_BOTH_MAILS.names()))


def _together(first: str, third: str) -> pl.Expr:
    """Return the percentage whose quotient is the geometric mean of two percentages' quotients."""
    return 100 * (((1 + pl.col(first) / 100) * (1 + pl.col(third) / 100)).sqrt() - 1)


def profile() -> pl.DataFrame:
    """Return the lock rows of patch D's mail: percent of cycles, before and after.

    Returns
    -------
    polars.DataFrame
        ``waiting_in`` (the function that waits for its lock, and its callers), ``before``,
        ``after``: null if a list does not have the row.

    Source
    ------
    data/published, table "perf profile" of 04-percpu-cluster-next.
    """
    return (
        claims.published_tables()
        .filter(patch=PATCH, table="perf profile")
        .with_columns(waiting_in=pl.col("metric").str.splitn(".", 2).struct[1])
        .pivot("kernel", index="waiting_in", values="value")
    )
