# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine beside a real 6.1 kernel, same workload: counts a page, the order of the bases."""

from typing import Any

import polars as pl
import pytest

from swapsim import lab_machine
from swapsim.claims import compare, measured
from swapsim.config import MachineConfig
from swapsim.errors import ConfigError, InputError
from swapsim.machine.costs import costs
from swapsim.schemas import MEDIANS
from swapsim.sweep import SerialExecutor

UNDER_HALF = "scan-base-under-half"
SEEDS = 10

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
    return lab_machine.runs(lab_machine.configs(experiment), seeds, executor=SerialExecutor())


def held(experiment: str, results: pl.DataFrame) -> pl.DataFrame:
    """Set them beside the measured medians."""
    return compare.held_against(results, measured.medians(measured.results(experiment)))


@pytest.fixture(scope="module")
def under_half() -> pl.DataFrame:
    """Return the six bases on a device under half full."""
    return simulated(UNDER_HALF)


def test_each_lock_of_the_writers_is_taken_as_often_as_in_the_kernel() -> None:
    """Six locks with tags off and on are within the tolerance that was set before."""
    table = held("writeback-tags", simulated("writeback-tags", 2)).filter(
        pl.col("metric").is_in(lab_machine.LEDGER)
    )
    assert table.height == 2 * len(lab_machine.LEDGER) == 12
    assert table.filter(~pl.col("agrees")).is_empty(), table


def test_tags_cost_two_acquisitions_a_page() -> None:
    """The switch changes xa_lock by two a page in 6.1, and no other lock of the ledger."""
    results = simulated("writeback-tags", 1).filter(pl.col("metric").is_in(lab_machine.LEDGER))
    sides = results.pivot("policy", index="metric", values="value")
    for metric, off, on in sides.iter_rows():
        added = 2 if metric == "xa_lock acquisitions" else 0
        assert on - off == pytest.approx(added, abs=0.01), metric


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
        pl.col("metric").is_in(lab_machine.LEDGER),
        ~pl.col("metric").str.contains("si->lock|swap_avail_lock"),
    )
    assert table.height == 4
    assert table.filter(~pl.col("agrees")).is_empty(), table


def test_each_lock_of_the_walkers_is_taken_as_often_as_in_the_kernel(
    under_half: pl.DataFrame,
) -> None:
    """Six locks under each of the six bases are within the tolerance, under half full."""
    table = held(UNDER_HALF, under_half).filter(pl.col("metric").is_in(lab_machine.LEDGER))
    assert table.height == 36
    assert table.filter(~pl.col("agrees")).is_empty(), table


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
    medians = measured.medians(measured.results(UNDER_HALF))
    table = lab_machine.pairs(under_half, medians, metric)
    assert table.height >= 5
    assert table["agrees"].all(), table


def medians_of(rows: list[tuple[str, float, float, float]]) -> pl.DataFrame:
    """Return measured medians of one metric by hand."""
    return pl.DataFrame(
        [
            {
                "patch": "p",
                "source": "measured",
                "kernel": "6.1",
                "policy": policy,
                "n_tasks": 8,
                "metric": "xa_lock acquisitions",
                "unit": "1/page",
                "rounds": 5,
                "median": median,
                "low": low,
                "high": high,
            }
            for policy, median, low, high in rows
        ],
        schema=MEDIANS,
    )


def results_of(values: dict[str, float]) -> pl.DataFrame:
    """Return simulated results of one metric by hand."""
    base = lab_machine.run(lab_machine.lock_ledger()).filter(metric="xa_lock acquisitions")
    return pl.concat(
        base.with_columns(policy=pl.lit(policy), value=pl.lit(value))
        for policy, value in values.items()
    )


def test_pairs_leave_out_what_is_tied_and_tell_what_contradicts() -> None:
    """Of three policies two are tied; of the other pairs one is in order, one is not."""
    medians = medians_of([("a", 1.0, 0.9, 1.1), ("b", 1.05, 1.0, 1.2), ("c", 2.0, 1.9, 2.1)])
    table = lab_machine.pairs(
        results_of({"a": 1.0, "b": 3.0, "c": 2.0}), medians, "xa_lock acquisitions"
    )
    assert table.select("less", "more", "agrees").rows() == [("a", "c", True), ("b", "c", False)]


def test_pairs_refuse_a_policy_that_was_not_simulated() -> None:
    """A base that only the kernel ran is named."""
    medians = medians_of([("a", 1.0, 1.0, 1.0), ("b", 2.0, 2.0, 2.0)])
    with pytest.raises(InputError, match="no simulation of b"):
        lab_machine.pairs(results_of({"a": 1.0}), medians, "xa_lock acquisitions")


def test_the_same_seed_counts_the_same() -> None:
    """A run is its config's alone."""
    config = lab_machine.lock_ledger(seed=3)
    assert lab_machine.run(config).equals(lab_machine.run(config))


def test_work_outside_of_locks_is_stretched_alone() -> None:
    """Eight CPUs on a host's two: seven times the work, the holds as they are."""
    config = lab_machine.lock_ledger()
    stretched = lab_machine.lab_costs(config)
    for name, value in costs().select("name", "value").iter_rows():
        factor = 7 if name in lab_machine.OUTSIDE_OF_LOCKS else 1
        assert stretched[name] == factor * value


def test_what_is_no_experiment_is_refused() -> None:
    """An unknown experiment and an unknown switch are named."""
    with pytest.raises(InputError, match="writeback-tags"):
        lab_machine.configs("tides")
    with pytest.raises(InputError, match="off or on"):
        lab_machine.writeback_tags(policy="maybe")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"swap_writeback_tags": 2}, "swap_writeback_tags"),
        ({"drop_percent": 25}, "drop_percent"),
        ({"memory_max": 4000, "drop_percent": 100}, "drop_percent"),
        ({"memory_max": 4000, "nodes": 2}, "nodes"),
        ({"memory_max": 2**14}, "memory_max"),
        ({"memory_max": 100}, "memory_max"),
        ({"accesses": 10, "channels": 1}, "accesses"),
    ],
)
def test_a_limit_that_does_not_fit_is_refused(fields: dict[str, Any], field: str) -> None:
    """The field is named, before a machine is made."""
    with pytest.raises(ConfigError, match=field):
        MachineConfig(writers=2, **fields)


def test_order_counts_the_pairs_that_agree() -> None:
    """Of three policies two are tied, and one of the two other pairs contradicts the kernel."""
    medians = medians_of([("a", 1.0, 0.9, 1.1), ("b", 1.05, 1.0, 1.2), ("c", 2.0, 1.9, 2.1)])
    other = medians.with_columns(metric=pl.lit("si->lock acquisitions"))
    results = results_of({"a": 1.0, "b": 3.0, "c": 2.0})
    another = results_of({"a": 1.0, "b": 1.5, "c": 2.0}).with_columns(
        metric=pl.lit("si->lock acquisitions")
    )
    table = lab_machine.order(
        pl.concat([results, another]),
        pl.concat([medians, other]),
        ["si->lock acquisitions", "xa_lock acquisitions"],
    )
    assert table.rows() == [("si->lock acquisitions", 2, 2), ("xa_lock acquisitions", 2, 1)]


def test_order_of_policies_that_are_all_tied_has_no_pair() -> None:
    """Nothing to agree on is no agreement."""
    medians = medians_of([("a", 1.0, 0.9, 1.1), ("b", 1.0, 0.9, 1.1)])
    table = lab_machine.order(results_of({"a": 1.0, "b": 3.0}), medians, ["xa_lock acquisitions"])
    assert table.rows() == [("xa_lock acquisitions", 0, 0)]


def test_apart_is_in_percent_of_the_kernel_and_of_the_ledger_alone() -> None:
    """A column per policy, a row per lock of the ledger that both have."""
    medians = medians_of([("a", 4.0, 4.0, 4.0), ("b", 2.0, 2.0, 2.0)])
    results = results_of({"a": 5.0, "b": 1.5})
    other = pl.lit("xa_lock contended acquisitions").alias("metric")
    table = lab_machine.apart(
        pl.concat([results, results.with_columns(other)]),
        pl.concat([medians, medians.with_columns(other)]),
    )
    assert table.columns == ["metric", "a", "b"]
    assert table.rows() == [("xa_lock acquisitions", 25.0, -25.0)]


def test_nothing_to_run_is_refused() -> None:
    """Without a machine or a seed one line says so."""
    with pytest.raises(InputError, match="nothing to run"):
        lab_machine.runs([], 3)
    with pytest.raises(InputError, match="nothing to run"):
        lab_machine.runs(lab_machine.configs("writeback-tags"), 0)
