# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines counted as the lab counts a real kernel: the same CPUs, metrics and names."""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine._native import run_window
from swapsim.machine.config import Machine
from swapsim.machine.constants import costs_by_name
from swapsim.machine.running import labels, policy_of
from swapsim.patches import rounds
from swapsim.published.data import Row, results

_LOCKS: Final = {
    "tree_lock": "xa_lock",
    "si_lock": "si->lock",
    "cluster_lock": "cluster lock",
    "map_lock": "cluster lock",
    "swap_avail_lock": "swap_avail_lock",
    "alloc_lock": "slot cache mutex",
    "free_lock": "return cache lock",
    "lru_lock": "lru_lock",
    "zone_lock": "zone->lock",
    "record_lock": "swap_cgroup lock",
    "interrupt": "TLB flush",
}
"""First part of a site's name -> the name of that lock in the measurements."""

LEDGER: Final = tuple(
    f"{lock} acquisitions"
    for lock in dict.fromkeys(_LOCKS.values())
    if lock not in ("lru_lock", "zone->lock", "swap_cgroup lock", "TLB flush")
)
"""The metrics that are judged: acquisitions of the locks of swapping."""

_HOST_CPUS: Final = 2
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

_SWITCHES: Final = {"tags": "on", "no tags": "off"}
"""A machine's policy -> the value of the lab kernel's switch swap_tags."""

PAGES_OF_MEBIBYTE: Final = 256
UNTIL_DONE: Final = 2**60
"""A duration longer than any run, which ends when the tasks do."""

_CALL_SITES: Final = {
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
"""Sites whose function has another name in 6.1, or is inlined there."""


def lab_costs(config: Machine) -> dict[str, int]:
    """Return data/costs.csv for virtual CPUs that share the CPUs of a host.

    On the host, as many virtual CPUs run next to a running one as the host has CPUs next to its
    own, while a machine's CPUs all run. So work outside of locks takes longer by the factor that
    makes each other CPU as rarely at a lock: seven for eight CPUs on two. Preemption by the host
    is not modelled: a preempted holder of a lock makes waits longer, but not more frequent.
    """
    shared = (config.cpus - 1) // (_HOST_CPUS - 1)
    return {
        name: value * (max(shared, 1) if name in OUTSIDE_OF_LOCKS else 1)
        for name, value in costs_by_name().items()
    }


def run_as_lab(config: Machine) -> pl.DataFrame:
    """Run an experiment's machine to its end and count as the lab does."""
    window = run_window(config, lab_costs(config))
    pages = int(window.cpus["pages_out"].sum())
    if not pages:
        raise InputError("no page was swapped out: give the tasks more pages", field="pages")
    shared = window.shared_slots / window.slots["given"]
    rows = [
        ("pages out", float(pages), "page"),
        ("pages in", float(window.cpus["pages_in"].sum()), "page"),
        *_locks(window.sites, pages),
        *_call_sites(window.sites, pages),
        ("slots in a trunk with another CPU", shared, "1/slot"),
    ]
    policy = policy_of(config)
    return results(rows, labels(config, policy=_SWITCHES.get(policy, policy)))


def pairs(simulated: pl.DataFrame, measured: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Compare the order of policies with that of a real kernel's rounds, pair by pair."""
    ranks = rounds.ranks(measured, metric)
    medians = rounds.medians(measured.filter(metric=metric))
    held = rounds.compare_counts(simulated.filter(metric=metric), medians)
    means = dict(held.select("policy", "simulated").iter_rows())
    missing = [policy for policy in ranks["policy"] if policy not in means]
    if missing:
        raise InputError(f"no simulation of {', '.join(missing)}: add its runs", field="policy")
    figures = ("measured_less", "measured_more", "simulated_less", "simulated_more")
    schema = {"less": pl.String, "more": pl.String} | dict.fromkeys(figures, pl.Float64)
    found = []
    for less, more in permutations(ranks.iter_rows(named=True), 2):
        if more["policy"] in less["better_than"]:
            names = less["policy"], more["policy"]
            counts = means[names[0]], means[names[1]]
            agrees = counts[0] < counts[1]
            found.append((*names, less["median"], more["median"], *counts, agrees))
    return pl.DataFrame(found, schema=schema | {"agrees": pl.Boolean}, orient="row")


def order(simulated: pl.DataFrame, measured: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Count the pairs of policies (that no tie joins) which the simulation orders alike."""
    found = {metric: pairs(simulated, measured, metric)["agrees"] for metric in metrics}
    return pl.DataFrame(
        [(metric, len(agrees), int(agrees.sum())) for metric, agrees in found.items()],
        schema={"metric": pl.String, "pairs": pl.UInt32, "agree": pl.UInt32},
        orient="row",
    )


def off_percent(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Return how far the locks of LEDGER are from a real kernel's, in percent, by policy."""
    judged = simulated.filter(pl.col("metric").is_in(LEDGER))
    held = rounds.compare_counts(judged, medians)
    return held.pivot("policy", index="metric", values="apart_percent")


def _locks(sites: pl.DataFrame, pages: int) -> list[Row]:
    sums = (
        sites.with_columns(lock=pl.col("site").str.split(".").list.first().replace_strict(_LOCKS))
        .group_by("lock", maintain_order=True)
        .agg(pl.col("acquisitions", "moved", "contended").sum())
    )
    names = {"acquisitions": "", "moved": "bounced ", "contended": "contended "}
    return [
        (f"{row['lock']} {word}acquisitions", row[column] / pages, "1/page")
        for row in sums.iter_rows(named=True)
        for column, word in names.items()
    ]


def _call_sites(sites: pl.DataFrame, pages: int) -> list[Row]:
    sums: dict[str, int] = {}
    for site, count in sites.select("site", "acquisitions").iter_rows():
        prefix, function = site.split(".")[:2]
        name = f"{_LOCKS[prefix]} at {_CALL_SITES.get(site, function)}"
        sums[name] = sums.get(name, 0) + count
    return [(name, count / pages, "1/page") for name, count in sums.items()]
