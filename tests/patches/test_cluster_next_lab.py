# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine beside a real 6.1 kernel, same workload: counts a page, the order of the bases."""

import polars as pl
import pytest

from swapsim import claims
from swapsim.machine import lab
from swapsim.patches import cluster_next as patch
from swapsim.study import SerialExecutor

UNDER_HALF = "scan-base-under-half"

SEEDS = 40

WAYS = (
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

"""Call sites that a page passes wherever its slot lies: what scans do is not among them."""


def simulated(experiment: str, seeds: int = SEEDS) -> pl.DataFrame:
    """Return what the machines of an experiment counted."""
    return patch.lab_runs(experiment, seeds, executor=SerialExecutor())


def held(experiment: str, results: pl.DataFrame) -> pl.DataFrame:
    """Set them beside the measured medians."""
    return claims.held_against(results, claims.medians(claims.measured_results(experiment)))


@pytest.fixture(scope="module")
def under_half() -> pl.DataFrame:
    """Return the six bases on a device under half full."""
    return simulated(UNDER_HALF)


def test_each_call_site_of_a_page_is_passed_as_often_as_in_the_kernel() -> None:
    """The sites on a page's way out and in are within the tolerance, for brd."""
    table = held("lock-ledger-brd", simulated("lock-ledger-brd", 2)).filter(
        pl.col("metric").is_in(WAYS)
    )
    assert table.height == len(WAYS)
    assert table.filter(~pl.col("agrees")).is_empty(), table


@pytest.mark.parametrize("experiment", ["lock-ledger-brd", "lock-ledger-virtio"])
def test_a_page_of_either_device_keeps_to_its_row_of_the_ledger(experiment: str) -> None:
    """All locks but the two that a call takes once are within the tolerance: 8 CPUs, 4 trunks."""
    table = held(experiment, simulated(experiment)).filter(
        pl.col("metric").is_in(lab.LEDGER),
        ~pl.col("metric").str.contains("si->lock|swap_avail_lock"),
    )
    assert table.height == 4
    assert table.filter(~pl.col("agrees")).is_empty(), table


MISSED = {
    ("percpu", "swap_avail_lock acquisitions"),
    ("permm", "swap_avail_lock acquisitions"),
}
"""Rules and locks that the machine misses: by 5.4 and 6.1 % where 5 are the tolerance."""


def test_each_lock_of_the_walkers_is_taken_as_often_as_in_the_kernel(
    under_half: pl.DataFrame,
) -> None:
    """Six locks under each of the six bases are within the tolerance but for two, under half."""
    table = held(UNDER_HALF, under_half).filter(pl.col("metric").is_in(lab.LEDGER))
    assert table.height == 36
    assert set(table.filter(~pl.col("agrees")).select("policy", "metric").iter_rows()) == MISSED


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
    """Each pair of bases that the kernel tells apart is told apart the same way."""
    medians = claims.medians(claims.measured_results(UNDER_HALF))
    table = lab.pairs(under_half, medians, metric)
    assert table.height >= 5
    assert table["agrees"].all(), table
