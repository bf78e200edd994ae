# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D's bases: two mails, and the constants with which the machine meets each."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.config import MachineConfig
from swapsim.errors import ConfigError
from swapsim.machine.fit import Fitted, Target, base_figure
from swapsim.machine.fit import fit as fit_machine
from swapsim.patches.cluster_next.machines import DEVICE_GIGABYTES, PATCH, machine

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
    rows : dict of str to str
        A site of the machine -> the mail's row.
    fitted : dict of str to tuple of str
        A lock -> the sites whose rows the base is fitted to.
    """

    base: str
    patched: str
    machine: str
    policy: str
    rows: dict[str, str]
    fitted: dict[str, tuple[str, ...]]


_ADD: Final = "tree_lock.add_to_swap_cache.shrink_page_list"
_REMOVE: Final = "tree_lock.__remove_mapping"
_CHARGE: Final = "lru_lock.mem_cgroup_commit_charge"
_INACTIVE: Final = "lru_lock.shrink_inactive_list"
_FREE: Final = "si_lock.swapcache_free_entries"

VERSIONS: Final = {
    "V1": Mail(
        base="before",
        patched="after",
        machine="5.7+scan-more",
        policy="percpu",
        rows={
            _ADD: "_raw_spin_lock_irq.add_to_swap_cache.add_to_swap.shrink_page_list",
            _REMOVE: "_raw_spin_lock_irqsave.__remove_mapping.shrink_page_list",
            _CHARGE: "_raw_spin_lock_irq.mem_cgroup_commit_charge.do_swap_page",
            _FREE: "_raw_spin_lock.swapcache_free_entries.free_swap_slot.__swap_entry_free",
            _INACTIVE: "_raw_spin_lock_irq.shrink_inactive_list.shrink_lruvec.shrink_node",
            "lru_lock.shrink_active_list": (
                "_raw_spin_lock_irq.shrink_active_list.shrink_lruvec.shrink_node"
            ),
            "si_lock.scan_swap_map_slots": (
                "_raw_spin_lock.scan_swap_map_slots.get_swap_pages.get_swap_page"
            ),
        },
        fitted={"xa_lock": (_ADD, _REMOVE), "lru_lock": (_CHARGE,), "si_lock": (_FREE,)},
    ),
    "V3": Mail(
        base="v3 before",
        patched="v3 after",
        machine="5.8",
        policy="percpu-rerandomise",
        rows={
            _ADD: "add_to_swap_cache",
            _REMOVE: "__remove_mapping",
            _FREE: "swapcache_free_entries",
            _INACTIVE: "shrink_inactive_list",
        },
        fitted={"xa_lock": (_ADD, _REMOVE), "lru_lock": (_INACTIVE,), "si_lock": (_FREE,)},
    ),
}
"""Patch D's first mail and its third. The row of free_pcppages_bulk is left out: there it is called
to drain what CPUs keep, and the machine has its usual caller alone."""


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


def fit(*, version: str = "V1", constants: pl.DataFrame | None = None, seed: int = 1) -> Fitted:
    """Fit the base of patch D's first mail, or of its third: a rate and the cycles in three locks.

    Free are ``unmap_ns`` (the rate), ``tree_ns`` (xa_lock of add and remove), ``lru_page_ns``
    (lru_lock: of a page charged in V1's base, of a batch isolated in V3's, which charges without
    it) and ``free_ns`` (si->lock of slots freed); each sets the wait for its own lock. The fit runs
    on devices of an eighth of the size: with one base all CPUs are in one trunk of any device.

    Parameters
    ----------
    version : {"V1", "V3"}
        V2 prints the figures of V3.
    constants : polars.DataFrame, optional
        Schema COSTS; default: data/costs.csv.
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
        *to_meet(version, seed=seed),
        {"unmap_ns": 9000, "tree_ns": 1200, "lru_page_ns": 300, "free_ns": 1500},
        runs=FIT_RUNS,
        constants=constants,
        # The rows of one base differ by as much from one four seeds to the next.
        tolerance=0.03,
        rounds=20,
    )


def to_meet(version: str, *, seed: int = 1) -> tuple[MachineConfig, tuple[Target, ...]]:
    """Return the base's machine of one of the mails, and the figures that it has to meet.

    Parameters
    ----------
    version : {"V1", "V3"}
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
                metrics=tuple(f"cycles.{site}" for site in sites),
                wanted=sum(base_figure(PATCH, mail.base, mail.rows[site]) for site in sites),
            )
            for lock, sites in mail.fitted.items()
        ),
    )
    gigabytes = DEVICE_GIGABYTES // 8
    base = machine(policy="shared", seed=seed, kernel=mail.machine, gigabytes=gigabytes)
    return base, targets
