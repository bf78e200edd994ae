# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines of the lab's experiments, counted as the lab counts a real kernel."""

from itertools import permutations
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine._native import run_window
from swapsim.machine.config import Machine
from swapsim.machine.constants import costs_by_name
from swapsim.machine.running import labels, policy_of
from swapsim.published.data import results
from swapsim.study import over, rank

PAGES_OF_MEBIBYTE: Final = 256
UNTIL_DONE: Final = 2**60
"""A duration longer than any run, which ends when the tasks do."""

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

LEDGER: Final = tuple(f"{lock} acquisitions" for lock in dict.fromkeys([*_LOCKS.values()][:7]))
"""The locks of swapping, which the machine and the kernel have to take as often."""

OUTSIDE_OF_LOCKS: Final = (
    *("fault_ns", "touch_ns", "access_ns", "reference_ns", "unmap_ns", "copy_ns"),
)
"""Costs of work that holds no lock of swapping."""

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


def lab_costs(machine: Machine) -> dict[str, int]:
    """Return data/costs.csv for virtual CPUs that share the two CPUs of a host.

    A running virtual CPU has one other next to it, while a machine's CPUs all run. So work outside
    of locks takes longer by the factor that makes each other CPU as rarely at a lock: seven for
    eight. Preemption by the host is not modelled: a preempted holder of a lock makes waits longer,
    but not more frequent. (Chosen with the measured figures in sight.)
    """
    return {
        name: value * (max(machine.cpus - 1, 1) if name in OUTSIDE_OF_LOCKS else 1)
        for name, value in costs_by_name().items()
    }


def run_as_lab(machine: Machine) -> pl.DataFrame:
    """Run an experiment's machine to its end and count as the lab does (RESULTS)."""
    window = run_window(machine, lab_costs(machine))
    pages = int(window.cpus["pages_out"].sum())
    if not pages:
        raise InputError("no page was swapped out: give the tasks more pages", field="pages")
    first = pl.col("site").str.split(".").list.first()
    locks = (
        window.sites.with_columns(lock=first.replace_strict(_LOCKS))
        .group_by("lock", maintain_order=True)
        .agg(pl.col("acquisitions", "moved", "contended").sum())
    )
    kinds = {"acquisitions": "", "moved": "bounced ", "contended": "contended "}
    sites: dict[str, int] = {}
    for site, count in window.sites.select("site", "acquisitions").iter_rows():
        prefix, function = site.split(".")[:2]
        name = f"{_LOCKS[prefix]} at {_CALL_SITES.get(site, function)}"
        sites[name] = sites.get(name, 0) + count
    rows = [
        ("pages out", float(pages), "page"),
        ("pages in", float(window.cpus["pages_in"].sum()), "page"),
        *(
            (f"{row['lock']} {word}acquisitions", row[column] / pages, "1/page")
            for row in locks.iter_rows(named=True)
            for column, word in kinds.items()
        ),
        *((name, count / pages, "1/page") for name, count in sites.items()),
        (
            "slots in a trunk with another CPU",
            window.shared_slots / window.slots["given"],
            "1/slot",
        ),
    ]
    policy = policy_of(machine)
    switch = {"tags": "on", "no tags": "off"}.get(policy, policy)  # as the lab's boot parameter
    return results(rows, labels(machine, policy=switch))


COUNT_TOLERANCE_PERCENT: Final = 5.0
"""Largest difference of a simulated count that agrees, in percent; set before the first run."""


def medians(results: pl.DataFrame) -> pl.DataFrame:
    """Return the median of each metric over its rounds with its exact interval."""
    one_run = ("patch", "source", "kernel", "policy", "n_tasks", "metric", "unit")
    found = over(results.select(*one_run, "seed", "value"), interval=True)
    return found.rename({"runs": "rounds", "middle": "median"})


def compare_counts(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare the means of simulated RESULTS with measured medians under the same workload.

    There is one row per policy and metric that both have, at least one. A count is reproduced
    within COUNT_TOLERANCE_PERCENT of the measured median.
    """
    keys = ["policy", "metric", "unit"]
    means = (
        simulated.sort(pl.all())  # float sums depend on their order
        .group_by(keys, maintain_order=True)
        .agg(simulated=pl.col("value").mean())
    )
    frame = (
        simulated.select(keys)
        .unique(maintain_order=True)
        .join(means, on=keys, how="left", maintain_order="left")
        .join(medians, on=keys, how="inner", maintain_order="left")
        .rename({"median": "measured"})
        .with_columns(
            apart_percent=100 * (pl.col("simulated") - pl.col("measured")) / pl.col("measured")
        )
        .with_columns(
            verdict=pl.when(pl.col("apart_percent").abs() <= COUNT_TOLERANCE_PERCENT)
            .then(pl.lit("reproduced"))
            .otherwise(pl.lit("missed"))
        )
    )
    return frame.select(*keys, "simulated", "measured", "low", "high", "apart_percent", "verdict")


def pairs(simulated: pl.DataFrame, measured: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Compare the order of policies with that of a real kernel's rounds, pair by pair."""
    own = measured.filter(metric=metric)
    ranks = rank(own.select("policy", "unit", "seed", "value"))
    held = compare_counts(simulated.filter(metric=metric), medians(own))
    means = dict(held.select("policy", "simulated").iter_rows())
    found = [
        (less["policy"], more["policy"], means[less["policy"]], means[more["policy"]])
        for less, more in permutations(ranks.iter_rows(named=True), 2)
        if more["policy"] in less["better_than"]
    ]
    columns = ["less", "more", "simulated_less", "simulated_more"]
    frame = pl.DataFrame(found, schema=columns, orient="row")
    return frame.with_columns(agrees=pl.col("simulated_less") < pl.col("simulated_more"))


BASES = ("shared", "percpu", "percpu-rerandomise", "spread", "avoid", "permm")
"""Values of the lab's boot parameter swap_base."""


def scan_bases(*, policy: str, drop_percent: int, seed: int = 1) -> Machine:
    """Return the machine of data/measured/scan-base-*: eight tasks on what is left of 34 MiB."""
    return Machine(
        patch="04-percpu-cluster-next",
        kernel="6.1",
        policy=policy,
        walkers=8,
        pages=34 * PAGES_OF_MEBIBYTE,
        accesses=4000,
        drop_percent=drop_percent,
        memory_max=5504,
        frames=2**16,
        slots=2**16,
        trunk_shift=10,
        warmup_ns=0,
        duration_ns=UNTIL_DONE,
        seed=seed,
    )


def writers(*, policy: str = "off", seed: int = 1) -> Machine:
    """Return the machine of data/measured/writeback-tags: eight writers of 32 MiB that exit.

    ``policy`` is the switch swap_tags, "off" or "on": whether the swap cache has writeback tags.
    Source: data/capture/experiments/writeback-tags.toml.
    """
    return Machine(
        patch="01-writeback-tags",
        kernel="6.1",
        tags=policy == "on",
        writers=8,
        accesses=32 * PAGES_OF_MEBIBYTE,
        memory_max=64 * PAGES_OF_MEBIBYTE,
        frames=2**16,
        slots=2**17,
        warmup_ns=0,
        duration_ns=UNTIL_DONE,
        seed=seed,
    )


def lock_ledger(*, channels: int = 0, seed: int = 1) -> Machine:
    """Return the machine of data/measured/lock-ledger-brd, or -virtio: eight walkers, 64 MB trunks.

    ``channels`` is 0 for brd, and 8 for a virtio disk, which serves at most one request of each
    task, and whose pages come in through the swap cache (data/capture/experiments/lock-ledger-*).
    """
    return scan_bases(policy="percpu-rerandomise", drop_percent=60, seed=seed).replace(
        accesses=2000, trunk_shift=14, channels=channels
    )
