# SPDX-License-Identifier: GPL-2.0-or-later
"""What stock kernels 6.12 and 7.3 were seen to do: counts of locks are complete, and add up."""

import math

import polars as pl
import pytest

from swapsim.published import data

LEDGERS = ("lock-ledger-newer-brd", "lock-ledger-newer-brd-64k", "lock-ledger-newer-1-cpu")
KEYS = ["kernel", "policy", "seed"]


@pytest.mark.parametrize("name", LEDGERS)
def test_an_experiment_of_the_ledger_is_complete(name: str) -> None:
    """Five rounds or more of each kernel and turn, none failed, clusters of 512 slots in each."""
    origin = data.measured_provenance(name)
    experiment, kernels = origin["experiment"], origin["kernel"]
    assert experiment["rounds"] >= 5
    assert origin["runs"]["failed"] == []
    assert {"6.12", "7.3"} <= {*kernels} == {*experiment["values"]}
    assert all(kernel["lock_statistics"] for kernel in kernels.values())
    assert {kernel["cluster_size"] for kernel in kernels.values()} == {512}
    assert len({kernel["folio_kibibytes"] for kernel in kernels.values()}) == 1
    runs = data.measured_results(name).select(KEYS).unique()
    assert runs.height == 2 * experiment["rounds"] * len(kernels)


@pytest.mark.parametrize("name", LEDGERS)
def test_call_sites_add_up_to_the_acquisitions(name: str) -> None:
    """Two counters of the kernel, of requests and of acquisitions, differ by less than 2 percent.

    They start and stop a moment apart, and a request of a trylock may fail: 0.002 a page more.
    """
    results = data.measured_results(name)
    named = pl.col("metric").str.split(" at ").list
    at_sites = results.filter(pl.col("metric").str.contains(" at "))
    sites = at_sites.group_by(*KEYS, lock=named.first()).agg(pl.col("value").sum())
    lock = pl.col("metric").str.strip_suffix(" acquisitions")
    both = results.with_columns(lock=lock).join(sites, on=[*KEYS, "lock"], suffix="_sites")
    assert at_sites.is_empty() or set(both["lock"]) >= {"si->lock", "cluster lock"}
    for row in both.iter_rows(named=True):
        assert math.isclose(row["value"], row["value_sites"], rel_tol=0.02, abs_tol=0.002), row
    lists = at_sites.filter(named.first() == "si->lock", kernel="7.3")["metric"]
    functions = {site.split(" at ")[1].split(".")[0] for site in lists}
    assert functions <= {"isolate_lock_cluster", "move_cluster"}


def test_a_folio_is_one_grant() -> None:
    """On a fresh device 64 KiB take si->lock of 6.12 once, single pages once in 64."""
    taken = {
        name: data.measured_results(name)
        .filter(kernel="6.12", policy="fill", metric="si->lock acquisitions")["value"]
        .median()
        for name in LEDGERS
    }
    assert taken["lock-ledger-newer-brd-64k"] == pytest.approx(1 / 16, rel=0.05)
    assert taken["lock-ledger-newer-brd"] == pytest.approx(1 / 64, rel=0.05)
