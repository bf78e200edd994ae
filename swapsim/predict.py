# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of two mails, simulated: base and patched machine with the same constants.

Rows bear the mails' own names, so that they stand beside the published ones in
`compare.three_columns`. A lock of the mails that the machine does not have is no row here.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl

from swapsim import calibrate, simulate
from swapsim.config import MachineConfig
from swapsim.policies import Policy
from swapsim.schemas import RESULTS, require

_GB_PER_KIB: Final = 1024 / 1e9
_PROFILE_OF_A: Final = "perf-profile.cycles-pp."

CLUSTER_NEXT_ROWS: Final = {
    **calibrate.ROWS_OF_D["xa_lock"],
    **calibrate.ROWS_OF_D["lru_lock"],
    **calibrate.ROWS_OF_D["si_lock"],
    "lru_lock.shrink_inactive_list": (
        "_raw_spin_lock_irq.shrink_inactive_list.shrink_lruvec.shrink_node"
    ),
    "lru_lock.shrink_active_list": (
        "_raw_spin_lock_irq.shrink_active_list.shrink_lruvec.shrink_node"
    ),
    "zone_lock.free_pcppages_bulk": (
        "_raw_spin_lock.free_pcppages_bulk.drain_pages_zone.drain_pages"
    ),
    "si_lock.scan_swap_map_slots": (
        "_raw_spin_lock.scan_swap_map_slots.get_swap_pages.get_swap_page"
    ),
}
"""The machine's site -> the row of patch D's mail. free_pcppages_bulk is called from
elsewhere in the mail, to drain what CPUs keep: the machine has its usual caller alone."""


def writeback_tags(constants: pl.DataFrame, seeds: Iterable[int]) -> pl.DataFrame:
    """Simulate the table of patch A's mail.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema COSTS, as `calibrate.fit_writeback_tags` finds them.
    seeds : iterable of int

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: throughput and swap.so of a whole run, and the four profile rows, for the
        kernels base and base+patch, for each seed.
    """
    frames = []
    for seed in seeds:
        for kernel, tags in (("base", True), ("base+patch", False)):
            config = simulate.writeback_tags(tags=tags, seed=seed)
            value = _metrics(config, constants)
            throughput, swap_out = calibrate.run_rates(value["swap_out"], constants)
            rows = [
                ("vm-scalability.throughput", throughput, "KiB/s"),
                ("vmstat.swap.so", swap_out, "KiB/s"),
                *(
                    (_PROFILE_OF_A + row, value[f"cycles.{site}"], "% of cycles")
                    for site, row in calibrate.TREE_ROWS_OF_A.items()
                ),
            ]
            frames.append(_results(config, kernel, "tags" if tags else "no tags", rows))
    return require(pl.concat(frames), RESULTS, "RESULTS")


def cluster_next(
    constants: pl.DataFrame, seeds: Iterable[int], *, policy: str | Policy = "percpu"
) -> pl.DataFrame:
    """Simulate the table of patch D's mail.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema COSTS, as `calibrate.fit_cluster_next` finds them.
    seeds : iterable of int
    policy : str or Policy
        Of the patched kernel: "percpu" is V1.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: pmbench's score, both throughputs and the profile rows, for the kernels
        before and after, for each seed.
    """
    frames = []
    for seed in seeds:
        for kernel, used in (("before", "shared"), ("after", policy)):
            config = simulate.cluster_next(policy=used, seed=seed)
            value = _metrics(config, constants)
            rows = [
                ("pmbench score", value["accesses"], "accesses/s"),
                ("swapin throughput", value["swap_in"] * _GB_PER_KIB, "GB/s"),
                ("swapout throughput", value["swap_out"] * _GB_PER_KIB, "GB/s"),
                *(
                    (row, value[f"cycles.{site}"], "% of cycles")
                    for site, row in CLUSTER_NEXT_ROWS.items()
                ),
            ]
            name = used if isinstance(used, str) else used.name
            frames.append(_results(config, kernel, name, rows))
    return require(pl.concat(frames), RESULTS, "RESULTS")


def _metrics(config: MachineConfig, constants: pl.DataFrame) -> Mapping[str, float]:
    run = simulate.run(config, constants)
    return dict(run.select("metric", "value").iter_rows())


def _results(
    config: MachineConfig, kernel: str, policy: str, rows: list[tuple[str, float, str]]
) -> pl.DataFrame:
    tasks = config.writers + config.walkers
    return pl.DataFrame(
        [(config.patch, "simulated", kernel, policy, tasks, config.seed, *row) for row in rows],
        schema=RESULTS,
        orient="row",
    )
