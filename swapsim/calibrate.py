# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants that no source gives, fitted to the base column of a mail, and to nothing else.

A fit has as many free constants as it has figures to meet, each of which moves one of
them most: work without a lock moves the rate, a hold moves the cycles spent waiting for
its lock. What the base column cannot tell is not fitted but tied by a share, and the
caller fits once per share: the spread of those predictions is what the model leaves open.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import polars as pl

from swapsim import simulate
from swapsim.claims.published import published_tables
from swapsim.config import MachineConfig
from swapsim.errors import ConfigError, InputError
from swapsim.machine.costs import MOST_NS, change_costs, costs
from swapsim.schemas import FIT, require

_STEP: Final = 0.15
"""Of a constant's logarithm, to find a slope: wide enough to stand out of a run's own noise."""

_LONGEST_STEP: Final = 0.4

_NEAR: Final = 0.1
"""Deviation of a target's logarithm below which the slopes stay."""

_KIB_PER_GB: Final = 1e9 / 1024

BASE_KERNELS: Final = ("base", "before", "v3 before")
"""The base columns of the mails that are fitted to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure of a base column that a fit has to meet.

    Attributes
    ----------
    name : str
    metrics : tuple of str
        Metrics of `simulate.run` whose sum stands for it.
    wanted : float
        In the metrics' unit; positive.
    """

    name: str
    metrics: tuple[str, ...]
    wanted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What a fit found.

    Attributes
    ----------
    constants : polars.DataFrame
        Schema COSTS, the free and the tied ones at their fitted values.
    residuals : polars.DataFrame
        Schema FIT, one row per target.
    converged : bool
        Whether every target was met within the tolerance.
    """

    constants: pl.DataFrame
    residuals: pl.DataFrame
    converged: bool


def fit(
    config: MachineConfig,
    targets: Sequence[Target],
    start: Mapping[str, int],
    *,
    runs: int = 1,
    tied: Mapping[str, tuple[str, float]] | None = None,
    constants: pl.DataFrame | None = None,
    tolerance: float = 0.01,
    rounds: int = 12,
) -> Fitted:
    """Find the constants with which a machine meets the figures of its base column.

    Newton's method on logarithms, with steps of at most 0.4, its slopes kept near the target:
    constants stay positive, and one that is 10 % too large counts as much as one that is 10 % too
    small.

    Parameters
    ----------
    config : MachineConfig
        The base kernel's machine.
    targets : sequence of Target
    start : mapping of str to int
        The free constants, as many as targets, and where to begin (ns).
    runs : int
        Of each set of constants, with seeds from the config's on: the more, the less of a run's
        own noise is fitted to.
    tied : mapping of str to (str, float), optional
        Constant -> the free constant that it is a share of, and the share.
    constants : polars.DataFrame, optional
        Schema COSTS, for all others; default: data/costs.csv.
    tolerance : float
        Relative deviation of a target that is as good as met.
    rounds : int
        Steps at most.

    Returns
    -------
    Fitted

    Raises
    ------
    ConfigError
        Not as many free constants as targets, a tie to a constant that is not free, or no run.
    InputError
        A constant is unknown.
    """
    names = list(start)
    tied = {} if tied is None else tied
    if len(names) != len(targets):
        raise ConfigError(
            f"start={dict(start)!r}: {len(targets)} targets need as many free constants"
        )
    for name, (free, _) in tied.items():
        if free not in names:
            raise ConfigError(f"tied={name!r}: {free!r} is no free constant of this fit")
    if runs < 1:
        raise ConfigError(f"runs={runs}: choose at least 1")
    table = costs() if constants is None else constants
    wanted = np.array([target.wanted for target in targets])
    configs = [replace(config, seed=config.seed + run) for run in range(runs)]

    def at(point: np.ndarray) -> pl.DataFrame:
        return change_costs(table, _values(names, point, tied))

    def deviation(point: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(_figures(configs, targets, at(point)) / wanted))

    point = np.log(np.array([float(start[name]) for name in names]))
    best = (math.inf, point, point)
    for step in range(rounds):
        off = deviation(point)
        far = float(np.abs(off).max())
        best = min(best, (far, point, off), key=lambda found: found[0])
        if far <= tolerance:
            break
        # Slopes cost a run for each constant, and near the target they change little.
        if step == 0 or far > _NEAR:
            slopes = _slopes(deviation, point, off)
        point = point + _newton_step(slopes, off)
    found = wanted * np.exp(best[2])
    residuals = pl.DataFrame(
        [
            (target.name, target.wanted, value, 100 * (value / target.wanted - 1))
            for target, value in zip(targets, found.tolist(), strict=True)
        ],
        schema=FIT,
        orient="row",
    )
    return Fitted(
        constants=at(best[1]),
        residuals=require(residuals, FIT, "FIT"),
        converged=best[0] <= tolerance,
    )


def fit_writeback_tags(
    *, tag_share: float, map_share: float, constants: pl.DataFrame | None = None, seed: int = 1
) -> Fitted:
    """Fit patch A's base: the rate while it swaps, and the cycles in tree_lock's four rows.

    Free are ``unmap_ns`` (work without a lock: it sets the rate) and ``tree_ns`` (the hold that
    add and remove have: it sets the wait). Two shares of ``tree_ns`` stay open, for all four rows
    of the base are about as long whatever they are, as each waits in the same queue:

    - ``tag_ns``: how long the start and the end of writeback hold the lock,
    - ``map_ns``: how long a look at a map byte holds si->lock, four times a page.

    Parameters
    ----------
    tag_share, map_share : float
        ``tag_ns`` and ``map_ns`` as shares of ``tree_ns``.
    constants : polars.DataFrame, optional
        Schema COSTS; default: data/costs.csv.
    seed : int

    Returns
    -------
    Fitted

    Source
    ------
    data/published/01-writeback-tags.csv, kernel base.
    """
    table = costs() if constants is None else constants
    return fit(
        simulate.writeback_tags(tags=True, seed=seed),
        (
            Target(name="swap_out", metrics=("swap_out",), wanted=swap_phase_rate(table)),
            Target(
                name="tree_lock",
                metrics=tuple(f"cycles.{site}" for site in TREE_ROWS_OF_A),
                wanted=sum(_base("base", row) for row in TREE_ROWS_OF_A.values()),
            ),
        ),
        {name: _value(table, name) for name in ("unmap_ns", "tree_ns")},
        tied={"tag_ns": ("tree_ns", tag_share), "map_ns": ("tree_ns", map_share)},
        constants=table,
    )


def fit_cluster_next(
    *, version: str = "V1", constants: pl.DataFrame | None = None, seed: int = 1
) -> Fitted:
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
    mail = mail_of_d(version)
    return fit(
        simulate.cluster_next(
            policy="shared",
            seed=seed,
            kernel=mail.machine,
            gigabytes=simulate.DEVICE_GIGABYTES // 8,
        ),
        (
            Target(
                name="swap_out",
                metrics=("swap_out",),
                wanted=_base(mail.base, "swapout throughput") * _KIB_PER_GB,
            ),
            *(
                Target(
                    name=lock,
                    metrics=tuple(f"cycles.{site}" for site in sites),
                    wanted=sum(_base(mail.base, mail.rows[site]) for site in sites),
                )
                for lock, sites in mail.fitted.items()
            ),
        ),
        {"unmap_ns": 9000, "tree_ns": 1200, "lru_page_ns": 300, "free_ns": 1500},
        runs=4,
        constants=constants,
        # The rows of one base differ by as much from one four seeds to the next.
        tolerance=0.03,
        rounds=20,
    )


TREE_ROWS_OF_A: Final = {
    "tree_lock.add_to_swap_cache.shrink_page_list": (
        "_raw_spin_lock_irq.__add_to_swap_cache.add_to_swap_cache.add_to_swap.shrink_page_list"
    ),
    "tree_lock.__remove_mapping": (
        "_raw_spin_lock_irqsave.__remove_mapping.shrink_page_list.shrink_inactive_list"
        ".shrink_zone_memcg"
    ),
    "tree_lock.test_set_page_writeback": (
        "_raw_spin_lock_irqsave.__test_set_page_writeback.bdev_write_page.__swap_writepage"
        ".swap_writepage"
    ),
    "tree_lock.test_clear_page_writeback": (
        "_raw_spin_lock_irqsave.test_clear_page_writeback.end_page_writeback.page_endio"
        ".pmem_rw_page"
    ),
}
"""The machine's site -> the row of patch A's mail, without the name of the profile before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailOfD:
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

VERSIONS_OF_D: Final = {
    "V1": MailOfD(
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
    "V3": MailOfD(
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


def mail_of_d(version: str) -> MailOfD:
    """Return one of VERSIONS_OF_D.

    Raises
    ------
    ConfigError
        There is no such version.
    """
    if version not in VERSIONS_OF_D:
        raise ConfigError(f"version={version!r}: choose one of {', '.join(VERSIONS_OF_D)}")
    return VERSIONS_OF_D[version]


def swap_phase_rate(constants: pl.DataFrame) -> float:
    """Return how fast patch A's base swaps out while it swaps, in KiB/s.

    The mail's swap.so is a mean over a run whose first part fills memory and swaps nothing. Of all
    that is written, so / throughput reaches the device; the rest is written at the rate of a
    fault and a touch, by eight tasks that wait for nobody.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema COSTS.

    Source
    ------
    data/published/01-writeback-tags.csv, kernel base: vm-scalability.throughput, vmstat.swap.so.
    """
    throughput, swap_out = (
        _base("base", row) for row in ("vm-scalability.throughput", "vmstat.swap.so")
    )
    stays = 1 - swap_out / throughput
    return swap_out / (1 - stays * throughput / _fill_rate(constants))


def run_rates(rate: float, constants: pl.DataFrame) -> tuple[float, float]:
    """Return what patch A's test reports of a run: throughput and swap.so, in KiB/s.

    Of each run memory takes the same part, at the rate of `swap_phase_rate`'s fill.

    Parameters
    ----------
    rate : float
        Swap-out rate while swapping, in KiB/s.
    constants : polars.DataFrame
        Schema COSTS.
    """
    throughput, swap_out = (
        _base("base", row) for row in ("vm-scalability.throughput", "vmstat.swap.so")
    )
    swaps = swap_out / throughput
    run = 1 / ((1 - swaps) / _fill_rate(constants) + swaps / rate)
    return run, run * swaps


def _fill_rate(constants: pl.DataFrame) -> float:
    cost = dict(constants.select("name", "value").iter_rows())
    writers = simulate.writeback_tags(tags=True).writers
    return writers * simulate.PAGE_KIB * 1e9 / float(cost["fault_ns"] + cost["touch_ns"])


def _value(constants: pl.DataFrame, name: str) -> int:
    return int(constants.filter(name=name)["value"].item())


def _base(kernel: str, row: str) -> float:
    """Return a figure of a mail's base column; the patched one is never looked at."""
    found = _base_columns(published_tables).filter(
        pl.col("kernel") == kernel,
        pl.col("metric").str.strip_prefix("perf-profile.cycles-pp.") == row,
    )
    if found.height != 1:
        raise InputError(f"{found.height} cells of kernel {kernel!r} are named so", field=row)
    return float(found["value"].item())


@cache
def _base_columns(read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """Read the files once: to read them takes as long as a run."""
    return read().filter(pl.col("kernel").is_in(BASE_KERNELS))


def _values(
    names: Sequence[str], point: np.ndarray, tied: Mapping[str, tuple[str, float]]
) -> dict[str, int]:
    """Return the constants at a point, whole and within what the machine takes."""
    exact = dict(zip(names, np.exp(point).tolist(), strict=True))
    exact |= {name: exact[free] * share for name, (free, share) in tied.items()}
    return {name: min(max(round(value), 1), MOST_NS) for name, value in exact.items()}


def _figures(
    configs: Sequence[MachineConfig], targets: Sequence[Target], constants: pl.DataFrame
) -> np.ndarray:
    sums = np.zeros(len(targets))
    for config in configs:
        run = simulate.run(config, constants)
        value = dict(run.select("metric", "value").iter_rows())
        sums += [sum(value[metric] for metric in target.metrics) for target in targets]
    # A lock that nobody waits for has no logarithm.
    return np.asarray(np.maximum(sums / len(configs), 1e-6))


def _slopes(
    deviation: Callable[[np.ndarray], np.ndarray], point: np.ndarray, off: np.ndarray
) -> np.ndarray:
    slopes = np.empty((len(off), len(point)))
    for k in range(len(point)):
        aside = point.copy()
        aside[k] += _STEP
        slopes[:, k] = (deviation(aside) - off) / _STEP
    return slopes


def _newton_step(slopes: np.ndarray, off: np.ndarray) -> np.ndarray:
    step = -np.linalg.lstsq(slopes, off, rcond=1e-3)[0]
    return np.asarray(step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-9)))
