# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D's bases: two mails, and the constants with which the machine meets each."""

import math
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.errors import ConfigError
from swapsim.machine.config import MachineConfig
from swapsim.machine.fit import Fitted, Target, base_figure
from swapsim.machine.fit import fit as fit_machine
from swapsim.patches.cluster_next.machines import DEVICE_GIGABYTES, IN_MEMORY, PATCH, machine

FIT_RUNS: Final = 4
"""Of each set of constants: the rows of one base differ from one seed to the next."""

_KIB_PER_GB: Final = 1e9 / 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One of patch D's mails: its kernels, and where its profile rows are in the machine.

    Attributes
    ----------
    base, patched : str
        The kernels' names in data/published.
    machine : str
        The kernel of the machine.
    policy : str
        Where the patched kernel's scan begins.
    rows : dict of str to tuple of str
        A row of the mail -> the machine's sites that it is the sum of.
    fitted : dict of str to tuple of str
        A lock -> the rows that the base is fitted to.
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
"""Patch D's first mail and its third. The free path's row is that of si->lock and of the cluster
locks under it, whose code is inlined there; nothing is fitted to it, for what a slot given back
costs is measured. The row of free_pcppages_bulk is left out: there it is called to drain what CPUs
keep, and the machine has its usual caller alone."""


def mail_of(version: str) -> Mail:
    """Return one of VERSIONS.

    Raises
    ------
    ConfigError
        There is no such version.
    """
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

    Free are ``unmap_ns`` (the rate), ``tree_ns`` (xa_lock of add and remove) and ``lru_page_ns``
    (lru_lock: of a page charged in V1's base, of a batch isolated in V3's, which charges without
    it); each of the two sets the wait for its own lock. The fit runs on devices of an eighth of the
    size: with one base all CPUs are in one trunk of any device.

    Parameters
    ----------
    version : {"V1", "V3"}
        V2 prints the figures of V3.
    in_memory : float
        As for `machines.machine`.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/costs.csv.
    seed : int

    Returns
    -------
    Fitted

    Raises
    ------
    ConfigError
        There is no such version.

    Source
    ------
    data/published/04-percpu-cluster-next.csv, kernels before and v3 before.
    """
    return fit_machine(
        *to_meet(version, in_memory=in_memory, seed=seed),
        {"unmap_ns": 9000, "tree_ns": 1200, "lru_page_ns": 300},
        runs=FIT_RUNS,
        constants=constants,
        # The rows of one base differ by as much from one four seeds to the next.
        tolerance=0.03,
        rounds=20,
    )


def to_meet(
    version: str, *, in_memory: float = IN_MEMORY, seed: int = 1
) -> tuple[MachineConfig, tuple[Target, ...]]:
    """Return the base's machine of one of the mails, and the figures that it has to meet.

    Parameters
    ----------
    version : {"V1", "V3"}
    in_memory : float
        As for `machines.machine`.
    seed : int

    Raises
    ------
    ConfigError
        There is no such version.
    """
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
