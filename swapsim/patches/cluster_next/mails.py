# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D's mails: kernels and profile rows, the fit of their bases, and the simulated tables.

Simulated rows have the names of the mails' rows, so that `claims.three_columns` compares them with
the published ones. A lock of the mails that the machine does not have has no row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import GROWTH_IN_BOTH_MAILS
from swapsim.errors import ConfigError, require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.fit import Fitted, Target, base_figure
from swapsim.machine.fit import fit as fit_machine
from swapsim.machine.run import TABLE_SEEDS, labels, metric_values, run
from swapsim.patches.cluster_next.machines import DEVICE_GIGABYTES, IN_MEMORY, PATCH, machine
from swapsim.policies.policy import Policy

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

    The fit moves ``unmap_ns`` (the rate), ``tree_ns`` (xa_lock of add and remove) and
    ``lru_page_ns`` (lru_lock: V1's base takes it to charge a page, V3's to isolate a batch); each
    of the last two sets the wait for its own lock. The fit runs on devices of an eighth of the
    size, because with one base all CPUs are in one trunk of any device.

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
        policy="shared",
        seed=seed,
        kernel=mail.machine,
        gigabytes=gigabytes,
        in_memory=in_memory,
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
            frames.append(claims.results(rows, labels(config, kernel=kernel)))
    return pl.concat(frames)


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
    frame = frame.with_columns(agrees=off <= pl.col("tolerance"))
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
