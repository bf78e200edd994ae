# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of three mails, simulated: base and patched machine with the same constants.

Rows bear the mails' own names, so that they stand beside the published ones in
`compare.three_columns`. A lock of the mails that the machine does not have is no row here.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from swapsim import calibrate, simulate
from swapsim.config import MachineConfig
from swapsim.config.policies import Policy
from swapsim.errors import require_some
from swapsim.machine.costs import costs
from swapsim.schemas import RESULTS, TIME_PER_PAGE, require

SEEDS: Final = tuple(range(1, 21))
"""Of the runs that a table is the mean of."""

FEW_SEEDS: Final = SEEDS[:5]
"""Of the runs behind a headline, which shows whole percent."""

GIGABYTES_OF_D: Final = simulate.DEVICE_GIGABYTES // 2
"""Of a device of patch D's table: 384 trunks for nine CPUs, which hardly meet on as many or on 768,
and to fill more takes longer than to run."""

_GB_PER_KIB: Final = 1024 / 1e9
_LOCK_PARTS: Final = {"tree_lock": "swap cache's lock", "si_lock": "si->lock"}
_AROUND_OTHERS: Final = ("alloc_lock", "free_lock")
"""Locks of a CPU's own slot caches: no other CPU takes them, and what is done under them has
its own parts."""

_INSIDE: Final = r"\.cluster_lock\.|\.clear_shadow_from_swap_cache$"
"""What is taken inside si->lock, whose hold has it already."""

_PROFILE_OF_A: Final = "perf-profile.cycles-pp."


def writeback_tags(constants: pl.DataFrame, seeds: Sequence[int]) -> pl.DataFrame:
    """Simulate the table of patch A's mail.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema COSTS, as `calibrate.fit_writeback_tags` finds them.
    seeds : sequence of int

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: throughput and swap.so of a whole run, and the four profile rows, for the
        kernels base and base+patch, for each seed.

    Raises
    ------
    InputError
        No seed is given.
    """
    require_some(seeds, "seeds")
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
    constants: pl.DataFrame,
    seeds: Sequence[int],
    *,
    version: str = "V1",
    policy: str | Policy | None = None,
) -> pl.DataFrame:
    """Simulate the table of one of patch D's mails.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema COSTS, as `calibrate.fit_cluster_next` finds them.
    seeds : sequence of int
    version : {"V1", "V3"}
    policy : str or Policy, optional
        Of the patched kernel; default: the version's own, "percpu" or "percpu-rerandomise".

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: pmbench's score, both throughputs and the profile rows, for the mail's two
        kernels, for each seed.

    Raises
    ------
    ConfigError
        There is no such version.
    InputError
        No seed is given.
    """
    require_some(seeds, "seeds")
    mail = calibrate.mail_of_d(version)
    patched = mail.policy if policy is None else policy
    frames = []
    for seed in seeds:
        for kernel, used in ((mail.base, "shared"), (mail.patched, patched)):
            config = simulate.cluster_next(
                policy=used, seed=seed, kernel=mail.machine, gigabytes=GIGABYTES_OF_D
            )
            value = _metrics(config, constants)
            rows = [
                ("pmbench score", value["accesses"], "accesses/s"),
                ("swapin throughput", value["swap_in"] * _GB_PER_KIB, "GB/s"),
                ("swapout throughput", value["swap_out"] * _GB_PER_KIB, "GB/s"),
                *((row, value[f"cycles.{site}"], "% of cycles") for site, row in mail.rows.items()),
            ]
            name = used if isinstance(used, str) else used.name
            frames.append(_results(config, kernel, name, rows))
    return require(pl.concat(frames), RESULTS, "RESULTS")


def fits() -> dict[str, pl.DataFrame]:
    """Fit the base of patch A's mail and that of patch D's.

    Of what patch A's base leaves open, the shares are those of data/costs.csv: its middle.

    Returns
    -------
    dict of str to polars.DataFrame
        The patch -> constants, schema COSTS.
    """
    cost = dict(costs().select("name", "value").iter_rows())
    of_a = calibrate.fit_writeback_tags(
        tag_share=cost["tag_ns"] / cost["tree_ns"], map_share=cost["map_ns"] / cost["tree_ns"]
    )
    return {
        "01-writeback-tags": of_a.constants,
        "04-percpu-cluster-next": calibrate.fit_cluster_next().constants,
    }


def headlines(constants: Mapping[str, pl.DataFrame] | None = None) -> pl.DataFrame:
    """Simulate both mails' tables with few seeds.

    Parameters
    ----------
    constants : mapping of str to polars.DataFrame, optional
        As `fits` returns; default: what it returns.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS.
    """
    of = fits() if constants is None else constants
    return pl.concat(
        [
            writeback_tags(of["01-writeback-tags"], FEW_SEEDS),
            cluster_next(of["04-percpu-cluster-next"], FEW_SEEDS),
        ]
    )


def writeback_tags_runs(constants: pl.DataFrame, *, seed: int = 1) -> dict[str, pl.DataFrame]:
    """Run patch A's test once without the patch and once with it.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema COSTS.
    seed : int

    Returns
    -------
    dict of str to polars.DataFrame
        base and base+patch -> schema RESULTS, all metrics of `simulate.run`.
    """
    return {
        kernel: simulate.run(simulate.writeback_tags(tags=tags, seed=seed), constants)
        for kernel, tags in (("base", True), ("base+patch", False))
    }


def cluster_next_runs(
    constants: pl.DataFrame, policies: Sequence[str | Policy], *, seed: int = 1
) -> dict[str, pl.DataFrame]:
    """Run patch D's test once with each of some policies, on devices of GIGABYTES_OF_D.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema COSTS.
    policies : sequence of str or Policy
    seed : int

    Returns
    -------
    dict of str to polars.DataFrame
        A policy's name -> schema RESULTS, all metrics of `simulate.run`.
    """
    return {
        policy if isinstance(policy, str) else policy.name: simulate.run(
            simulate.cluster_next(policy=policy, seed=seed, gigabytes=GIGABYTES_OF_D), constants
        )
        for policy in policies
    }


def time_per_page(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Say where the CPUs' time goes between two pages swapped out.

    Parameters
    ----------
    runs : mapping of str to polars.DataFrame
        A kernel's name -> one run of it (`simulate.run`).

    Returns
    -------
    polars.DataFrame
        Schema TIME_PER_PAGE, the parts of each kernel in one order; percent of its own sum. A hold
        of si->lock has in it what is waited for and held inside.

    Raises
    ------
    InputError
        No run is given.
    """
    require_some(runs, "runs")
    frames = [_parts(kernel, run) for kernel, run in runs.items()]
    return require(pl.concat(frames), TIME_PER_PAGE, "TIME_PER_PAGE")


def _parts(kernel: str, run: pl.DataFrame) -> pl.DataFrame:
    busy = run.filter(metric="busy")["value"].item()
    times = (
        run.filter(pl.col("unit") == "ns per page")
        .with_columns(
            kind=pl.col("metric").str.extract(r"^(\w+)\."),
            lock=pl.col("metric").str.extract(r"^\w+\.(\w+)\."),
        )
        .filter(~pl.col("lock").is_in(_AROUND_OTHERS), ~pl.col("metric").str.contains(_INSIDE))
        .with_columns(
            pl.col("lock")
            # Before 4.11 the map bytes are under si->lock.
            .replace("map_lock", "si_lock" if run["kernel"][0] == "4.8" else "map_lock")
            .replace_strict(_LOCK_PARTS, default="other locks")
        )
        .group_by("lock", "kind")
        .agg(pl.col("value").sum())
    )
    rows = [
        (f"{lock}, {word}", times.filter(lock=lock, kind=kind)["value"].sum() / 1000)
        for lock in (*_LOCK_PARTS.values(), "other locks")
        for kind, word in (("wait", "waited for"), ("hold", "held"))
    ]
    rows.insert(0, ("work without a lock", busy / 1000 - sum(value for _, value in rows)))
    return pl.DataFrame(
        [(kernel, part, value, 100_000 * value / busy) for part, value in rows],
        schema=TIME_PER_PAGE,
        orient="row",
    )


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
