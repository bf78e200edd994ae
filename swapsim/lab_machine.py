# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments of data/measured as machines: the same workload, CPUs, switches and metrics."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim import sweep
from swapsim.claims import compare, measured
from swapsim.config import MachineConfig
from swapsim.errors import InputError, require_some
from swapsim.machine.costs import costs
from swapsim.native import machine as native_machine
from swapsim.schemas import RESULTS, SOURCE, require

BASES: Final = ("shared", "percpu", "percpu-rerandomise", "spread", "avoid", "permm")
"""Values of the lab kernel's switch swap_base."""

LOCKS: Final = {
    "tree_lock": "xa_lock",
    "si_lock": "si->lock",
    "cluster_lock": "cluster lock",
    "map_lock": "cluster lock",
    "swap_avail_lock": "swap_avail_lock",
    "alloc_lock": "slot cache mutex",
    "free_lock": "return cache lock",
    "lru_lock": "lru_lock",
    "zone_lock": "zone->lock",
}
"""First part of a site's name, and what the measurements call that lock."""

LEDGER: Final = tuple(
    f"{lock} acquisitions"
    for lock in dict.fromkeys(LOCKS.values())
    if lock not in ("lru_lock", "zone->lock")
)
"""What is judged: the locks of a page's row in the ledger, which are those of swapping."""

HOST_CPUS: Final = 2
"""CPUs of the host of the measurements: as many of the guest's virtual CPUs run at a time."""

OUTSIDE_OF_LOCKS: Final = (
    "fault_ns",
    "touch_ns",
    "access_ns",
    "reference_ns",
    "unmap_ns",
    "copy_ns",
)
"""Costs of work that holds no lock of swapping."""

CALL_SITES: Final = {
    "map_lock.swap_duplicate": "__swap_duplicate",
    "map_lock.swapcache_prepare": "__swap_duplicate",
    "map_lock.swap_free": "__swap_entry_free",
    "map_lock.__swp_swapcount": "__swp_swapcount",
    "map_lock.try_to_free_swap": "folio_free_swap",
    "map_lock.put_swap_page": "put_swap_folio",
    "cluster_lock.scan_swap_map_slots": "get_swap_pages",
    "si_lock.scan_swap_map_slots": "get_swap_pages",
    "tree_lock.add_to_swap_cache.shrink_page_list": "add_to_swap_cache",
    "tree_lock.add_to_swap_cache.do_swap_page": "add_to_swap_cache",
}
"""Sites whose function goes by another name in 6.1, or is inlined there."""

CHANNELS: Final = 8
"""Requests that the virtio disk serves at a time: one of each task at most."""

_PAGES_OF_MEBIBYTE: Final = 256
_SLOTS: Final = 2**16
_UNTIL_DONE: Final = 2**60


def writeback_tags(*, policy: str = "off", seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/writeback-tags: eight writers of 32 MiB that exit.

    Parameters
    ----------
    policy : {"off", "on"}
        The switch swap_tags: does the swap cache keep writeback tags?
    seed : int

    Source
    ------
    data/capture/experiments/writeback-tags.toml.
    """
    if policy not in ("off", "on"):
        raise InputError(f"choose off or on, not {policy!r}", field="policy")
    return MachineConfig(
        patch="01-writeback-tags",
        kernel="6.1",
        swap_writeback_tags=policy == "on",
        writers=8,
        accesses=32 * _PAGES_OF_MEBIBYTE,
        memory_max=64 * _PAGES_OF_MEBIBYTE,
        frames=2**16,
        slots=2**17,
        warmup_ns=0,
        duration_ns=_UNTIL_DONE,
        seed=seed,
    )


def scan_bases(*, policy: str, drop_percent: int, seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/scan-base-*: eight walkers on what is left of 34 MiB.

    Parameters
    ----------
    policy : str
        The switch swap_base, one of BASES.
    drop_percent : int
        60 leaves the device less than half full, 25 more.
    seed : int

    Notes
    -----
    Of the 24 MiB of the memory cgroup the walkers' pages have 5504: the rest is page tables,
    stacks and nodes of the swap cache. That is what the first task of the fill left in memory in
    the slot events of those runs: it swapped out 3200 of its 8704 pages.

    Source
    ------
    data/capture/experiments/scan-base-under-half.toml, scan-base-above-half.toml.
    """
    return MachineConfig(
        patch="04-percpu-cluster-next",
        kernel="6.1",
        policy=policy,
        walkers=8,
        pages=34 * _PAGES_OF_MEBIBYTE,
        accesses=4000,
        drop_percent=drop_percent,
        memory_max=5504,
        frames=2**16,
        slots=_SLOTS,
        trunk_shift=10,
        warmup_ns=0,
        duration_ns=_UNTIL_DONE,
        seed=seed,
    )


def lock_ledger(*, channels: int = 0, seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/lock-ledger-brd, or -virtio: eight walkers, 64 MB trunks.

    Parameters
    ----------
    channels : int
        0 for brd; more for a virtio disk, whose pages pass the swap cache on their way in.
    seed : int

    Source
    ------
    data/capture/experiments/lock-ledger-brd.toml, lock-ledger-virtio.toml.
    """
    return replace(
        scan_bases(policy="percpu-rerandomise", drop_percent=60, seed=seed),
        accesses=2000,
        trunk_shift=14,
        channels=channels,
    )


def configs(experiment: str) -> list[MachineConfig]:
    """Return the machines of an experiment, one per value of the switch that varies.

    Raises
    ------
    InputError
        If there is none for this experiment.
    """
    known = {
        "writeback-tags": [writeback_tags(policy=policy) for policy in ("off", "on")],
        "lock-ledger-brd": [lock_ledger()],
        "lock-ledger-virtio": [lock_ledger(channels=CHANNELS)],
        "scan-base-under-half": [scan_bases(policy=base, drop_percent=60) for base in BASES],
        "scan-base-above-half": [scan_bases(policy=base, drop_percent=25) for base in BASES],
    }
    if experiment not in known:
        raise InputError(f"no machine of it; there are: {', '.join(known)}", field=experiment)
    return known[experiment]


def lab_costs(config: MachineConfig) -> dict[str, int]:
    """Return data/costs.csv as CPUs see it that share those of a host.

    Of the others, as many run beside a running one as the host has CPUs beside its own; a machine's
    CPUs all run. So work outside of locks is stretched until each other one is as seldom at a
    lock: sevenfold for eight CPUs on two. What the host interrupts is not modelled: a holder of a
    lock that does not run makes others wait long, but not more often.
    """
    shared = (config.cpus - 1) // (HOST_CPUS - 1)
    return {
        name: value * (max(shared, 1) if name in OUTSIDE_OF_LOCKS else 1)
        for name, value in costs().select("name", "value").iter_rows()
    }


def run(config: MachineConfig) -> pl.DataFrame:
    """Run a machine of this module to its end and count as the lab does.

    Parameters
    ----------
    config : MachineConfig

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, source simulated, policies and metrics named as in data/measured: ``pages
        out`` and ``pages in`` (page), of each lock its ``acquisitions``, ``bounced acquisitions``
        and ``contended acquisitions`` (1/page), ``LOCK at SITE`` (1/page), ``slots in a trunk with
        another CPU`` (1/slot).

    Raises
    ------
    InputError
        Nothing was swapped out, or the device fills up.
    """
    window = native_machine.watch(config, lab_costs(config))
    pages = int(window.cpus["pages_out"].sum())
    if not pages:
        raise InputError("no page was swapped out: give the tasks more pages", field="pages")
    frame = pl.DataFrame(
        [
            ("pages out", float(pages), "page"),
            ("pages in", float(window.cpus["pages_in"].sum()), "page"),
            *_locks(window.sites, pages),
            *_call_sites(window.sites, pages),
            (
                "slots in a trunk with another CPU",
                window.shared_slots / window.slots["given"],
                "1/slot",
            ),
        ],
        schema={"metric": pl.String, "value": pl.Float64, "unit": pl.String},
        orient="row",
    ).select(
        patch=pl.lit(config.patch),
        source=pl.lit("simulated", dtype=SOURCE),
        kernel=pl.lit(config.kernel),
        policy=pl.lit(_policy(config)),
        n_tasks=pl.lit(config.writers + config.walkers, dtype=pl.UInt32),
        seed=pl.lit(config.seed, dtype=pl.UInt64),
        metric="metric",
        value="value",
        unit="unit",
    )
    return require(frame, RESULTS, "RESULTS")


def runs(
    machines: Iterable[MachineConfig], seeds: int, *, executor: Executor | None = None
) -> pl.DataFrame:
    """Run each machine with seeds 1 to n, and return the results of `run` one after another.

    Parameters
    ----------
    machines : iterable of MachineConfig
    seeds : int
        From 1.
    executor : concurrent.futures.Executor, optional
        As in `sweep.run`.

    Raises
    ------
    InputError
        There is no machine or no seed.
    """
    points = [replace(config, seed=seed) for config in machines for seed in range(1, seeds + 1)]
    require_some(points, "machines and seeds")
    return pl.concat(sweep.run(run, points, executor=executor))


def pairs(simulated: pl.DataFrame, medians: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Hold the order of policies against that of a real kernel, pair by pair.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema RESULTS; the mean over its seeds counts.
    medians : polars.DataFrame
        Schema MEDIANS, measured.
    metric : str

    Returns
    -------
    polars.DataFrame
        ``less, more`` (the kernel's order), ``measured_less, measured_more, simulated_less,
        simulated_more, agrees``: one row per pair of policies whose measured intervals do not
        overlap, the least first.

    Raises
    ------
    InputError
        One of the two does not have the metric, or the simulation lacks a policy.
    """
    ranks = measured.ranks(medians, metric)
    held = compare.held_against(simulated.filter(metric=metric), medians.filter(metric=metric))
    means = dict(held.select("policy", "simulated").iter_rows())
    rows = ranks.to_dicts()
    missing = [row["policy"] for row in rows if row["policy"] not in means]
    if missing:
        raise InputError(f"no simulation of {', '.join(missing)}", field="policy")
    return pl.DataFrame(
        [
            {
                "less": less["policy"],
                "more": more["policy"],
                "measured_less": less["median"],
                "measured_more": more["median"],
                "simulated_less": means[less["policy"]],
                "simulated_more": means[more["policy"]],
                "agrees": means[less["policy"]] < means[more["policy"]],
            }
            for at, less in enumerate(rows)
            for more in rows[at + 1 :]
            if more["policy"] not in less["tied_with"]
        ],
        schema={
            "less": pl.String,
            "more": pl.String,
            "measured_less": pl.Float64,
            "measured_more": pl.Float64,
            "simulated_less": pl.Float64,
            "simulated_more": pl.Float64,
            "agrees": pl.Boolean,
        },
        orient="row",
    )


def order(simulated: pl.DataFrame, medians: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Count the pairs of policies that the simulation puts in the real kernel's order.

    Parameters
    ----------
    simulated, medians : polars.DataFrame
        As for `pairs`.
    metrics : sequence of str

    Returns
    -------
    polars.DataFrame
        ``metric``, ``pairs`` that are not tied in the measurement, and ``agree`` among them.
    """
    found = {metric: pairs(simulated, medians, metric)["agrees"] for metric in metrics}
    return pl.DataFrame(
        [(metric, len(agrees), int(agrees.sum())) for metric, agrees in found.items()],
        schema={"metric": pl.String, "pairs": pl.UInt32, "agree": pl.UInt32},
        orient="row",
    )


def apart(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Say how far the locks of the ledger are from a real kernel's, a column per policy.

    Parameters
    ----------
    simulated, medians : polars.DataFrame
        As for `pairs`.

    Returns
    -------
    polars.DataFrame
        ``metric`` and per policy the difference in percent of the measured median.
    """
    judged = simulated.filter(pl.col("metric").is_in(LEDGER))
    held = compare.held_against(judged, medians)
    return held.pivot("policy", index="metric", values="apart_percent")


_Metric = tuple[str, float, str]


def _policy(config: MachineConfig) -> str:
    if config.writers:
        return "on" if config.swap_writeback_tags else "off"
    return config.policy if isinstance(config.policy, str) else config.policy.name


def _locks(sites: pl.DataFrame, pages: int) -> list[_Metric]:
    sums = (
        sites.with_columns(lock=pl.col("site").str.split(".").list.first().replace_strict(LOCKS))
        .group_by("lock", maintain_order=True)
        .agg(pl.col("acquisitions", "moved", "contended").sum())
    )
    names = {"acquisitions": "", "moved": "bounced ", "contended": "contended "}
    return [
        (f"{row['lock']} {word}acquisitions", row[column] / pages, "1/page")
        for row in sums.iter_rows(named=True)
        for column, word in names.items()
    ]


def _call_sites(sites: pl.DataFrame, pages: int) -> list[_Metric]:
    sums: dict[str, int] = {}
    for site, count in sites.select("site", "acquisitions").iter_rows():
        prefix, function = site.split(".")[:2]
        name = f"{LOCKS[prefix]} at {CALL_SITES.get(site, function)}"
        sums[name] = sums.get(name, 0) + count
    return [(name, count / pages, "1/page") for name, count in sums.items()]
