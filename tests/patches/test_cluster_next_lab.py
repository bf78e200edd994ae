# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine against a real 6.1 kernel, same workload: counts per page, order of the bases."""

from dataclasses import replace
from itertools import product

import polars as pl
import pytest
from lab_machines import (
    BASES,
    LEDGER,
    compare_counts,
    lock_ledger,
    medians,
    pairs,
    run_as_lab,
    scan_bases,
)

from swapsim.machine.config import Machine
from swapsim.published import data

UNDER_HALF = "scan-base-under-half"

PAGE_SITES = (
    "xa_lock at add_to_swap_cache",
    "xa_lock at __remove_mapping",
    "xa_lock at clear_shadow_from_swap_cache",
    "cluster lock at get_swap_pages",
    "cluster lock at __swap_duplicate",
    "cluster lock at folio_free_swap",
    "cluster lock at put_swap_folio",
    "cluster lock at __swap_entry_free",
    "cluster lock at swapcache_clear",
    "cluster lock at swapcache_free_entries",
    "si->lock at swapcache_free_entries",
)
"""Call sites that each page passes wherever its slot lies; those of scans are not among them."""


def simulated(configs: list[Machine], seeds: range) -> pl.DataFrame:
    """Return what the machines of an experiment counted."""
    points = product(configs, seeds)
    return pl.concat(run_as_lab(replace(config, seed=seed)) for config, seed in points)


def held(experiment: str, results: pl.DataFrame) -> pl.DataFrame:
    """Compare results with the measured medians."""
    return compare_counts(results, medians(data.measured_results(experiment)))


@pytest.fixture(scope="module")
def under_half() -> pl.DataFrame:
    """Return the six bases on a device under half full, with more seeds of two."""
    more = sorted({base for base, _ in MISSED})
    return pl.concat(
        simulated([scan_bases(policy=base, drop_percent=60)], range(1, 25 if base in more else 11))
        for base in BASES
    )


@pytest.mark.parametrize(
    ("experiment", "channels"), [("lock-ledger-brd", 0), ("lock-ledger-virtio", 8)]
)
def test_a_page_of_either_device_takes_its_locks_as_often_as_measured(
    experiment: str, channels: int
) -> None:
    """All locks but the two that a call takes once are within the tolerance; for brd, all sites."""
    table = held(experiment, simulated([lock_ledger(channels=channels)], range(1, 13)))
    locks = table.filter(
        pl.col("metric").is_in(LEDGER), ~pl.col("metric").str.contains("si->lock|swap_avail_lock")
    )
    assert locks.height == 4
    assert locks["verdict"].eq("reproduced").all(), locks
    if experiment == "lock-ledger-brd":
        sites = table.filter(pl.col("metric").is_in(PAGE_SITES))
        assert sites.height == len(PAGE_SITES)
        assert sites["verdict"].eq("reproduced").all(), sites


MISSED = {("percpu", "swap_avail_lock acquisitions"), ("permm", "swap_avail_lock acquisitions")}
"""Policies and locks that the machine misses: by 6.0 and 6.7 %, with a tolerance of 5 %."""


def test_each_lock_of_the_walkers_is_taken_as_often_as_in_the_kernel(
    under_half: pl.DataFrame,
) -> None:
    """Six locks under each of six bases are within the tolerance, except for two."""
    table = held(UNDER_HALF, under_half).filter(pl.col("metric").is_in(LEDGER))
    assert table.height == 36
    assert (
        set(table.filter(pl.col("verdict") != "reproduced").select("policy", "metric").iter_rows())
        == MISSED
    )


LINEAR = {"percpu", "spread", "permm"}
"""Bases that differ by where they begin; tasks here are single threads."""


@pytest.mark.parametrize(
    "metric",
    [
        "si->lock acquisitions",
        "xa_lock contended acquisitions",
        "xa_lock bounced acquisitions",
        "slots in a trunk with another CPU",
    ],
)
def test_bases_are_in_the_order_of_the_kernel(under_half: pl.DataFrame, metric: str) -> None:
    """Two bases that differ in the kernel differ in the same direction in the machine.

    Linear ones count the same there: of these the kernel's rounds distinguish one pair at most.
    """
    measured = data.measured_results(UNDER_HALF)
    table = pairs(under_half.filter(pl.col("seed") <= 10), measured, metric)
    same = table.filter(pl.col("simulated_less") == pl.col("simulated_more"))
    assert same.height <= 1
    assert {*same["less"], *same["more"]} <= LINEAR
    assert table.height - same.height >= 5
    assert table.join(same, on=["less", "more"], how="anti")["agrees"].all(), table
