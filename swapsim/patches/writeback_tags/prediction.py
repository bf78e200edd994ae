# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of patch A's mail: its constants fitted to the base column, and its predictions.

Metrics have the mail's names, so that `published.compare` compares them with the published
ones. Locks of the mail that the machine does not have are left out. The base column leaves two
shares open, so there is a fit and a prediction for each pair of them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.constants import costs, costs_by_name
from swapsim.machine.fitting import Fitted, Target
from swapsim.machine.fitting import fit_costs as fit_machine
from swapsim.machine.running import labels, run_rows
from swapsim.patches.stored_fits import base_figure
from swapsim.patches.writeback_tags.life import live
from swapsim.published.data import results, window_of

PATCH: Final = "01-writeback-tags"
"""Its folder in patches, and its rows in data."""

BASE: Final = "base"  # the kernel of data/published to which constants are fitted

TAG_SHARE: Final = 0.1
"""``tag_ns / tree_ns``: the geometric mean of 0.01 and 1, as the base does not determine it."""

MAP_SHARE: Final = 0.31
"""``map_ns / tree_ns``, which the base does not determine either: `map_share_at`, rounded."""

RATIO_OF_LOCKS: Final = (13.94 + 13.75) / (7.05 + 7.03 + 7.02 + 6.83)
"""Cycles in waits for tree_lock by those for si->lock, in 4.9-rc8 (with the patch) by this test
with 32 processes: two rows (__add_to_swap_cache, __remove_mapping) by four (swapcache_free,
page_swapcount, __swap_duplicate, get_swap_page).

Source: 8760lujnng.fsf@yhuang-dev.intel.com, Huang Ying, 5 January 2017, the profile of the base.
"""

THROUGHPUT: Final = "vm-scalability.throughput"
SWAP_OUT: Final = "vmstat.swap.so"
_PROFILE: Final = "perf-profile.cycles-pp."
KERNELS: Final = {BASE: True, "base+patch": False}  # the mail's kernels, and whether each has tags
WRITERS: Final = 8

_ROUNDS: Final = 5
_SAME_SHARE: Final = 0.003
_MOST_SWAPPED: Final = 0.85

TREE_ROWS: Final = {
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


def machine(*, tags: bool, seed: int = 1) -> Machine:
    """Return the machine of patch A's mail: 8 writers and 2 kswapds on one pmem under 4.8.

    Memory holds only what the tasks wrote last, because older pages are not accessed again. The
    device starts empty, as in swap-w-seq. With `tags` it is the base, else it has the patch.
    """
    return Machine(
        patch=PATCH,
        kernel="4.8",
        tags=tags,
        policy="shared",
        nodes=2,
        devices=1,
        writers=WRITERS,
        frames=2**15,
        slots=2**20,
        warmup_ns=20_000_000,
        duration_ns=100_000_000,
        seed=seed,
    )


def life_machine(
    *, tags: bool, swapped: float, writers: int = WRITERS, contended_ns: int = 0, seed: int = 1
) -> Machine:
    """Return `machine` with writers that write a share of their pages to swap, and exit.

    ``swapped`` is the share of all pages for which memory has no room, 0 to below 1. Memory is much
    smaller than the mail's; rates do not depend on its size.
    """
    usual = machine(tags=tags, seed=seed)
    pages = round(usual.nodes * usual.frames / (1 - swapped) / writers)
    return replace(usual, writers=writers, accesses=pages, contended_ns=contended_ns)


def fit_and_share(
    tag_share: float,
    map_share: float,
    *,
    constants: pl.DataFrame | None = None,
    contended_ns: int = 0,
    seed: int = 1,
) -> tuple[Fitted, float]:
    """Fit patch A's base; return the fit, and the share of pages that its constants swap out.

    The targets are the throughput and the cycles in tree_lock's four rows. The free constants are
    ``unmap_ns`` (work without a lock, which sets the throughput) and ``tree_ns`` (the hold of add
    and remove, which sets the wait). Two are given as shares of ``tree_ns``, because they hardly
    change the rows, which wait in the same queue: ``tag_ns``, how long the start and the end of
    writeback hold the lock, and ``map_ns``, how long a look at a map byte holds si->lock.
    """
    table = costs() if constants is None else constants
    start = {name: costs_by_name(table)[name] for name in ("unmap_ns", "tree_ns")}
    swapped = swapped_share(table, contended_ns=contended_ns, seed=seed)
    for _ in range(_ROUNDS):
        fitted = fit_machine(
            life_machine(tags=True, swapped=swapped, contended_ns=contended_ns, seed=seed),
            targets(),
            start,
            tied={"tag_ns": ("tree_ns", tag_share), "map_ns": ("tree_ns", map_share)},
            constants=table,
            values=reported,
        )
        before = swapped
        swapped = swapped_share(fitted.constants, contended_ns=contended_ns, seed=seed)
        if abs(swapped - before) < _SAME_SHARE:
            break
        start = {name: costs_by_name(fitted.constants)[name] for name in start}
    return fitted, swapped


def targets() -> tuple[Target, Target]:
    """Return the figures of the base column that a fit has to meet."""
    return (
        Target(name=THROUGHPUT, metrics=(THROUGHPUT,), wanted=_printed(THROUGHPUT)),
        Target(
            name="tree_lock",
            metrics=tuple(f"cycles.{site}" for site in TREE_ROWS),
            wanted=math.fsum(base_figure(PATCH, BASE, row) for row in TREE_ROWS.values()),
        ),
    )


def reported(config: Machine, constants: pl.DataFrame) -> dict[str, float]:
    """Run a complete life and return what the mail's tools report of it, by their windows.

    These are the throughput and swap.so (KiB/s), and the cycles in each site's lock (% of the busy
    time of the profile's window).
    """
    life = live(config, constants)
    metrics = life.metrics(window_of(_PROFILE))
    cycles = {name: value for name, value in metrics.items() if name.startswith("cycles.")}
    return {THROUGHPUT: life.throughput, SWAP_OUT: life.swap_out} | cycles


def swapped_share(constants: pl.DataFrame, *, contended_ns: int = 0, seed: int = 1) -> float:
    """Return the share of pages swapped out with which the base has the mail's ratio of rates.

    Throughput counts all pages and ends before the exit, swap.so counts pages out up to its end.
    """
    wanted, share = _printed(SWAP_OUT) / _printed(THROUGHPUT), 0.55
    for _ in range(_ROUNDS):
        config = life_machine(tags=True, swapped=share, contended_ns=contended_ns, seed=seed)
        life = live(config, constants)
        off = wanted * life.throughput / life.swap_out
        if abs(off - 1) < _SAME_SHARE:
            break
        share = min(share * off, _MOST_SWAPPED)
    return share


def _printed(metric: str) -> float:
    return base_figure(PATCH, BASE, metric)


_RATIO_WRITERS: Final = 32
_RATIO_SLOTS: Final = 2**22
_MAP_SHARES_TRIED: Final = (0.05, 0.8)
_HALVINGS: Final = 8
SI_LOCK: Final = "si->lock"
"""The waits for si->lock at its four sites, of which the mail has no row."""

DEVICE_SITES: Final = (
    *("map_lock.put_swap_page", "map_lock.try_to_free_swap", "map_lock.swap_duplicate"),
    "si_lock.get_swap_pages",
)


def ratio_of_locks(
    constants: pl.DataFrame, *, swapped: float, contended_ns: int = 0, seed: int = 1
) -> float:
    """Return what RATIO_OF_LOCKS is in the machine: patch A's, with the patch and 32 writers."""
    usual = life_machine(tags=False, swapped=swapped, writers=_RATIO_WRITERS, seed=seed)
    config = replace(usual, slots=_RATIO_SLOTS, contended_ns=contended_ns)
    value = reported(config, constants)
    tree, device = (waits(value, sites) for sites in ([*TREE_ROWS][:2], DEVICE_SITES))
    return tree / max(device, 1e-6)


def waits(value: Mapping[str, float], sites: Iterable[str]) -> float:
    """Return the cycles in waits at some sites, in percent of the busy time."""
    return math.fsum(value[f"cycles.{site}"] for site in sites)


def map_share_at(tag_share: float) -> float:
    """Find the ``map_ns / tree_ns`` above which the machine's `ratio_of_locks` is too small.

    By bisection on a logarithmic scale from 0.05 to 0.8, else it is an InputError. At each share
    tried, patch A's base is fitted again with the tag share. The ratio jumps at the share found: of
    two queues in a row, a little more work under one lock makes nearly all CPUs wait for it.
    """

    def above(map_share: float) -> bool:
        fitted, swapped = fit_and_share(tag_share, map_share)
        # A fit that does not converge has si->lock as the bottleneck.
        ratio = ratio_of_locks(fitted.constants, swapped=swapped)
        return fitted.converged and ratio > RATIO_OF_LOCKS

    low, high = _MAP_SHARES_TRIED
    if not above(low) or above(high):
        raise InputError(f"no map_share from {low} to {high} has the ratio {RATIO_OF_LOCKS:.3f}")
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.sqrt(low * high)


TAG_SHARES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""``tag_ns / tree_ns``: from a hold for a descent only to one as long as that of add."""

MAP_SHARES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""``map_ns / tree_ns``, doubled until si->lock is so busy that no tree_ns meets the base."""


def predict_kernel(
    kernel: str, constants: pl.DataFrame, *, swapped: float, seed: int, policy: str | None = None
) -> pl.DataFrame:
    """Predict the rates, the four profile rows and si->lock of one of KERNELS (RESULTS)."""
    config = life_machine(tags=KERNELS[kernel], swapped=swapped, seed=seed)
    value = reported(config, constants)
    rows = [
        *((metric, value[metric], "KiB/s") for metric in (THROUGHPUT, SWAP_OUT)),
        *(
            (_PROFILE + row, value[f"cycles.{site}"], "% of cycles")
            for site, row in TREE_ROWS.items()
        ),
        (SI_LOCK, waits(value, DEVICE_SITES), "% of cycles"),
    ]
    return results(rows, labels(config, kernel=kernel, policy=policy))


def runs(constants: pl.DataFrame, *, seed: int = 1) -> dict[str, pl.DataFrame]:
    """Run patch A's test without and with the patch: base, base+patch -> metrics of `run.run`."""
    return {
        kernel: run_rows(machine(tags=tags, seed=seed), constants)
        for kernel, tags in KERNELS.items()
    }
