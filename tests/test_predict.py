# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' tables, simulated, stand beside the published ones."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim import calibrate, predict, simulate
from swapsim.calibrate import Fitted
from swapsim.claims import compare
from swapsim.claims.published import claims, tolerances
from swapsim.config import MachineConfig
from swapsim.errors import ConfigError, InputError
from swapsim.machine.costs import change_costs, costs
from swapsim.native import machine as native_machine
from swapsim.schemas import FIT, RESULTS, TIME_PER_PAGE

A, D = "01-writeback-tags", "04-percpu-cluster-next"


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch for a short time: what is tested here are the tables, not the figures."""
    tags, base = simulate.writeback_tags, simulate.cluster_next

    def brief_a(**fields: Any) -> MachineConfig:
        return replace(tags(**fields), frames=2**13, slots=2**17, duration_ns=10_000_000)

    def brief_d(**fields: Any) -> MachineConfig:
        return replace(
            base(**fields), frames=3 * 2**12, pages=2**12, slots=2**16, duration_ns=10_000_000
        )

    monkeypatch.setattr(simulate, "writeback_tags", brief_a)
    monkeypatch.setattr(simulate, "cluster_next", brief_d)


def simulated(patch: str, results: pl.DataFrame) -> pl.DataFrame:
    """Return the claims of a patch that a result belongs to."""
    table = compare.three_columns(claims(), results, tolerances())
    return table.filter(pl.col("patch") == patch, pl.col("simulated").is_not_null())


def test_each_figure_of_patch_a_meets_its_claim() -> None:
    """Two rates and four lock rows, from base to base+patch."""
    results = predict.writeback_tags(costs(), [1, 2])
    assert results.schema == RESULTS
    assert results.height == 2 * 2 * 6
    found = simulated(A, results)
    assert {
        "A-throughput",
        "A-swap-out",
        "A-lock-add",
        "A-lock-remove",
        "A-lock-start-writeback",
        "A-lock-end-writeback",
    } <= set(found["claim"])
    falls = found.filter(pl.col("claim").str.ends_with("writeback"))
    assert falls["simulated"].to_list() == [-100.0, -100.0]


def test_each_figure_of_patch_d_meets_its_claim() -> None:
    """The score, two throughputs and the lock rows, from before to after."""
    results = predict.cluster_next(costs(), [1])
    assert results.height == 2 * (3 + len(calibrate.VERSIONS_OF_D["V1"].rows))
    found = set(simulated(D, results)["claim"])
    assert {"D-lock-add", "D-lock-charge", "D-lock-free-entries"} <= found
    assert {"D-prose-score", "D-prose-swap-in", "D-prose-swap-out"} <= found


def test_the_third_mail_has_its_own_kernels_rows_and_policy() -> None:
    """V3 is the merged policy on 5.8, and meets the claims of V3's table."""
    rows = calibrate.VERSIONS_OF_D["V3"].rows
    results = predict.cluster_next(costs(), [1], version="V3")
    assert results.schema == RESULTS
    assert results.height == 2 * (3 + len(rows))
    kernels = results.select("kernel", "policy").unique(maintain_order=True).rows()
    assert kernels == [("v3 before", "shared"), ("v3 after", "percpu-rerandomise")]
    assert set(rows.values()) < set(results["metric"])
    config = simulate.cluster_next(policy="shared", kernel="5.8", gigabytes=predict.GIGABYTES_OF_D)
    base = dict(simulate.run(config).select("metric", "value").iter_rows())
    for site, row in rows.items():
        cell = results.filter(kernel="v3 before", metric=row)
        assert cell["value"].item() == base[f"cycles.{site}"]
    assert set(simulated(D, results)["claim"]) == {
        "D3-lock-free-entries",
        "D3-lock-shrink-inactive",
        "D3-prose-score",
        "D3-prose-swap-in",
        "D3-prose-swap-out",
    }


def test_the_patched_kernel_may_have_another_policy() -> None:
    """The base stays shared, and only the patched kernel's rows change."""
    usual = predict.cluster_next(costs(), [1])
    other = predict.cluster_next(costs(), [1], policy="avoid")
    for kernel, policy, same in (("before", "shared", True), ("after", "avoid", False)):
        sides = [results.filter(kernel=kernel) for results in (usual, other)]
        assert sides[1]["policy"].unique().to_list() == [policy]
        assert sides[0]["value"].equals(sides[1]["value"]) is same


def test_what_cannot_be_simulated_is_named() -> None:
    """An unknown version, no seed and no run are one line each."""
    with pytest.raises(ConfigError, match="version='V2': choose one of V1, V3"):
        predict.cluster_next(costs(), [1], version="V2")
    for table in (predict.writeback_tags, predict.cluster_next):
        with pytest.raises(InputError, match="field 'seeds': nothing to run"):
            table(costs(), [])
    with pytest.raises(InputError, match="field 'runs': nothing to run"):
        predict.time_per_page({})


def test_headlines_are_both_tables_with_their_bases_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each table has the constants of its own fit; patch A's shares are those of data/costs.csv."""
    shares: dict[str, float] = {}
    of_a, of_d = (change_costs(costs(), {"unmap_ns": ns}) for ns in (5000, 15000))

    def fitted(constants: pl.DataFrame) -> Fitted:
        return Fitted(constants=constants, residuals=pl.DataFrame(schema=FIT), converged=True)

    def fit_a(**given: float) -> Fitted:
        shares.update(given)
        return fitted(of_a)

    monkeypatch.setattr(calibrate, "fit_writeback_tags", fit_a)
    monkeypatch.setattr(calibrate, "fit_cluster_next", lambda: fitted(of_d))
    seeds = (1, 2)
    monkeypatch.setattr(predict, "FEW_SEEDS", seeds)
    expected = [predict.writeback_tags(of_a, seeds), predict.cluster_next(of_d, seeds)]
    assert predict.headlines().equals(pl.concat(expected))
    swapped = {A: of_d, D: of_a}
    assert not predict.headlines(swapped).equals(pl.concat(expected))
    cost = dict(costs().select("name", "value").iter_rows())
    assert shares["tag_share"] * cost["tree_ns"] == pytest.approx(cost["tag_ns"])
    assert shares["map_share"] * cost["tree_ns"] == pytest.approx(cost["map_ns"])


def test_runs_of_both_kernels_are_those_of_the_machine() -> None:
    """One whole run under each kernel's name, and under each policy's."""
    runs = predict.writeback_tags_runs(costs(), seed=3)
    assert list(runs) == ["base", "base+patch"]
    for tags, run in zip((True, False), runs.values(), strict=True):
        assert run.equals(simulate.run(simulate.writeback_tags(tags=tags, seed=3), costs()))
    runs = predict.cluster_next_runs(costs(), ["shared", "spread"], seed=3)
    for policy in ("shared", "spread"):
        config = simulate.cluster_next(policy=policy, seed=3, gigabytes=predict.GIGABYTES_OF_D)
        assert runs[policy].equals(simulate.run(config))


def machine(kernel: str) -> MachineConfig:
    """Return a short machine of a kernel: writers under 4.8, walkers since."""
    if kernel == "4.8":
        return simulate.writeback_tags(tags=True)
    return simulate.cluster_next(policy="shared", kernel=kernel)


@pytest.mark.parametrize("kernel", ["4.8", "5.7", "6.1"])
def test_the_parts_of_a_page_are_those_of_the_cpus(kernel: str) -> None:
    """No part is negative, they add up to busy, and work, holds and waits are the CPUs' own."""
    run = simulate.run(machine(kernel))
    parts = predict.time_per_page({"a": run})
    assert parts.schema == TIME_PER_PAGE
    assert (parts["microseconds"] >= 0).all(), parts
    busy = run.filter(metric="busy")["value"].item()
    assert 1000 * parts["microseconds"].sum() == pytest.approx(busy)
    assert parts["percent"].sum() == pytest.approx(100)
    cost = dict(costs().select("name", "value").iter_rows())
    window = native_machine.watch(machine(kernel), cost)
    pages = int(window.cpus["pages_out"].sum())

    def a_page(column: str, sites: str) -> float:
        found = window.sites.filter(pl.col("site").str.contains(sites))
        return float(found[column].sum()) / pages

    # A wait for what is taken inside si->lock is within its hold; the work under a slot cache's
    # own lock is no part of its own, nor is the wait for it.
    within = a_page("wait_ns", r"^cluster_lock|clear_shadow")
    caches = cost["cache_ns"] * a_page("acquisitions", "^(alloc|free)_lock")
    rare = a_page("wait_ns", "^(alloc|free)_lock")
    run_ns, hold_ns, wait_ns = (
        float(window.cpus[name].sum()) / pages for name in ("run_ns", "hold_ns", "wait_ns")
    )
    for suffix, expected in (
        ("without a lock", run_ns + caches + rare),
        (", held", hold_ns - caches + within),
        (", waited for", wait_ns - rare - within),
    ):
        found = parts.filter(pl.col("part").str.ends_with(suffix))["microseconds"].sum()
        # The ends of the watch cut holds of whole batches of slots.
        assert 1000 * found == pytest.approx(expected, rel=0.01), suffix


def test_a_look_at_a_map_byte_is_under_si_lock_in_4_8_alone() -> None:
    """The same waits and holds of the map go to si->lock under 4.8, and to others since."""
    cost = {"map_ns": 2 * int(costs().filter(name="map_ns")["value"].item())}
    longer = change_costs(costs(), cost)
    for kernel, part in (("4.8", "si->lock, held"), ("5.7", "other locks, held")):
        usual, slow = (
            predict.time_per_page({"a": simulate.run(machine(kernel), table)}).filter(part=part)
            for table in (costs(), longer)
        )
        added = slow["microseconds"].item() - usual["microseconds"].item()
        # Four looks a page.
        assert added == pytest.approx(4 * cost["map_ns"] / 2 / 1000, rel=0.1), kernel


def test_a_writer_alone_waits_for_nobody() -> None:
    """Without a kswapd each way into the swap cache's lock costs the interrupts' switch alone."""
    alone = MachineConfig(
        kernel="4.8",
        policy="shared",
        swap_writeback_tags=True,
        writers=1,
        memory_max=4096,
        slots=2**17,
        warmup_ns=20_000_000,
        duration_ns=10_000_000,
    )
    run = simulate.run(alone)
    contended = run.filter(pl.col("metric").str.starts_with("contended."))
    assert contended["value"].sum() == 0
    parts = dict(predict.time_per_page({"a": run}).select("part", "microseconds").iter_rows())
    off = costs().filter(name="irq_save_ns")["value"].item() / 1000
    taken = run.filter(pl.col("metric").str.starts_with("acquisitions.tree_lock."))["value"].sum()
    assert taken == pytest.approx(4, abs=0.01)
    assert parts["swap cache's lock, waited for"] == pytest.approx(off * taken)
    assert parts["si->lock, waited for"] == 0
    assert parts["swap cache's lock, held"] > 0
