# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails of patch D: the fits of their bases, and their tables as the machine predicts them.

Simulated rows have the names of the mails' rows, so that `published.compare` compares them with
the published ones. A lock of the mails that the machine does not have has no row.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.machine.config import Machine
from swapsim.machine.fitting import Fitted, Target
from swapsim.machine.fitting import fit_costs as fit_machine
from swapsim.machine.running import labels, metric_values
from swapsim.patches.cluster_next.machines import (
    DEVICE_GIGABYTES,
    GIGABYTES,
    IN_MEMORY,
    PATCH,
    machine,
)
from swapsim.patches.stored_fits import base_figure
from swapsim.published import data

FIT_RUNS: Final = 2  # runs per set of constants: the rows of one base differ from seed to seed

_KIB_PER_GB: Final = 1e9 / 1024
_GB_PER_KIB: Final = 1024 / 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One of patch D's mails: its kernels, and the sites of the machine for its profile rows.

    ``kernels`` are the names of the base and of the patched kernel in data/published, with the
    policies of their scans; ``machine`` is the kernel that the machine simulates. ``rows`` are the
    mail's rows with the sites whose sum each is, ``fitted`` the rows of each lock that the base is
    fitted to.
    """

    kernels: dict[str, str]
    machine: str
    rows: dict[str, tuple[str, ...]]
    fitted: dict[str, tuple[str, ...]]

    @property
    def base(self) -> str:
        """The name of the base in data/published."""
        return next(iter(self.kernels))


_ADD: Final = ("tree_lock.add_to_swap_cache.shrink_page_list",)
_REMOVE: Final = ("tree_lock.__remove_mapping",)
_FREE: Final = ("si_lock.swapcache_free_entries", "cluster_lock.swapcache_free_entries")
_INACTIVE: Final = ("lru_lock.shrink_inactive_list",)
_ACTIVE: Final = ("lru_lock.shrink_active_list",)
_RECORD: Final = tuple(
    f"record_lock.swap_cgroup_record.{caller}"
    for caller in ("mem_cgroup_charge", "swapcache_free_entries")
)
"""The row's caller is mem_cgroup_uncharge_swap, so that of mem_cgroup_swapout is not in it."""

_ADD_ROW: Final = "_raw_spin_lock_irq.add_to_swap_cache.add_to_swap.shrink_page_list"
_REMOVE_ROW: Final = "_raw_spin_lock_irqsave.__remove_mapping.shrink_page_list"
_FREE_ROW: Final = "_raw_spin_lock.swapcache_free_entries.free_swap_slot.__swap_entry_free"
_INACTIVE_ROW: Final = "_raw_spin_lock_irq.shrink_inactive_list.shrink_lruvec.shrink_node"
_ACTIVE_ROW: Final = "_raw_spin_lock_irq.shrink_active_list.shrink_lruvec.shrink_node"
_V1_CHARGE: Final = "_raw_spin_lock_irq.mem_cgroup_commit_charge.do_swap_page"

VERSIONS: Final = {
    "V1": Mail(
        kernels={"before": "shared", "after": "percpu"},
        machine="5.7+scan-more",
        rows={
            _ADD_ROW: _ADD,
            _REMOVE_ROW: _REMOVE,
            _V1_CHARGE: ("lru_lock.mem_cgroup_commit_charge",),
            _FREE_ROW: _FREE,
            _INACTIVE_ROW: _INACTIVE,
            _ACTIVE_ROW: _ACTIVE,
            "_raw_spin_lock.scan_swap_map_slots.get_swap_pages.get_swap_page": (
                "si_lock.scan_swap_map_slots",
            ),
        },
        fitted={"xa_lock": (_ADD_ROW, _REMOVE_ROW), "lru_lock": (_V1_CHARGE,)},
    ),
    "V3": Mail(
        kernels={"v3 before": "shared", "v3 after": "percpu-rerandomise"},
        machine="5.8",
        rows={
            _ADD_ROW: _ADD,
            _REMOVE_ROW: _REMOVE,
            _FREE_ROW: _FREE,
            "_raw_spin_lock_irqsave.swap_cgroup_record.mem_cgroup_uncharge_swap": _RECORD,
            _INACTIVE_ROW: _INACTIVE,
            _ACTIVE_ROW: _ACTIVE,
        },
        fitted={"xa_lock": (_ADD_ROW, _REMOVE_ROW), "lru_lock": (_INACTIVE_ROW,)},
    ),
}
"""Patch D's V1 and V3. The row of the free path includes the cluster locks under
si->lock, whose code is inlined there; nothing is fitted to it, because the cost of freeing a slot
is measured. The row of free_pcppages_bulk is left out: there the function drains the lists of CPUs,
and the machine simulates its usual caller only."""


def fit(
    *, version: str = "V1", in_memory: float = IN_MEMORY, constants: pl.DataFrame | None = None
) -> Fitted:
    """Fit the base of patch D's V1 or V3: a rate and the cycles in two locks.

    It moves ``unmap_ns`` (the rate), ``tree_ns`` (the wait for xa_lock) and ``lru_page_ns`` (that
    for lru_lock, which V1's base takes to charge a page, V3's to isolate a batch), on devices of an
    eighth of the size: with one base all CPUs are in one trunk of any device. V2 prints the figures
    of V3.
    """
    return fit_machine(
        *to_meet(version, in_memory=in_memory),
        {"unmap_ns": 9000, "tree_ns": 1200, "lru_page_ns": 300},
        runs=FIT_RUNS,
        constants=constants,
        tolerance=0.01,
        rounds=20,
    )


def to_meet(version: str, *, in_memory: float = IN_MEMORY) -> tuple[Machine, tuple[Target, ...]]:
    """Return the machine of a mail's base and the figures that it has to meet; see `fit`."""
    mail = VERSIONS[version]
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
    base = machine(policy="shared", kernel=mail.machine, gigabytes=gigabytes, in_memory=in_memory)
    return base, targets


def predict(version: str, kernel: str, constants: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Simulate one column of a mail's table once, with the constants of its fit (RESULTS)."""
    mail = VERSIONS[version]
    config = machine(
        policy=mail.kernels[kernel], seed=seed, kernel=mail.machine, gigabytes=GIGABYTES
    )
    value = metric_values(config, constants)
    return data.results(rows_of(mail, value), labels(config, kernel=kernel))


def rows_of(mail: Mail, value: Mapping[str, float]) -> list[data.Row]:
    """Return the metrics of a run by the names of a mail's table."""
    return [
        ("pmbench score", value["accesses"], "accesses/s"),
        ("swapin throughput", value["swap_in"] * _GB_PER_KIB, "GB/s"),
        ("swapout throughput", value["swap_out"] * _GB_PER_KIB, "GB/s"),
        *(
            (row, math.fsum(value[f"cycles.{site}"] for site in sites), "% of cycles")
            for row, sites in mail.rows.items()
        ),
    ]
