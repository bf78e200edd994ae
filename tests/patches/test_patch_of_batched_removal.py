# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B's machine, the fits to its mail, its predictions and what-ifs."""

from functools import partial

import polars as pl
import pytest

from swapsim import study
from swapsim.errors import InputError
from swapsim.machine import preset
from swapsim.machine.config import lock_costs
from swapsim.machine.constants import costs_by_name
from swapsim.machine.running import PAGE_KIB, metric_values
from swapsim.patches import batched_removal as b
from swapsim.patches import common
from swapsim.patches.batched_removal import MIDDLE, price_ns
from swapsim.patches.common import Case


def test_all_kswapds_work_with_one_thread() -> None:
    """Memory is shared: one writer keeps four kswapds busy, as the mail's 1-thread row needs."""
    value = metric_values(preset("B-2016").replace(writers=1))
    assert value["idle.kswapd"] < 20
    assert value["cycles.tree_lock.__remove_mapping"] > 1


def test_each_access_of_a_sweep_faults() -> None:
    """The machine of prices has pages that go out and come in all the time."""
    value = metric_values(b.sweeping(2))
    assert value["swap_in"] / PAGE_KIB > 0.95 * value["accesses"]
    assert value["swap_out"] == pytest.approx(value["swap_in"], rel=0.05)


def test_the_locks_costs_are_those_of_uniform_memory() -> None:
    """A cache line travels equally far to all CPUs, and a further removal costs its share."""
    value, known = lock_costs(0.1, 0.3), costs_by_name()
    assert value["travel_other_socket_ns"] == known["travel_same_socket_ns"]
    assert value["tree_next_ns"] == round(0.3 * value["tree_ns"])
    assert preset("B-2016").costs == {name: ns for name, ns in value.items() if ns != known[name]}
    with pytest.raises(InputError, match=r"tag_share=0\.2: choose one of 0\.01, 0\.1, 1\.0"):
        lock_costs(0.2, 0.3)


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_the_locks_costs_are_those_of_patch_as_fits(share: float) -> None:
    """Both read the same base column, that of 4.8; a share of 1 has no stored fit."""
    fit = study.load("writeback-tags-three-fits").filter(tag_share=share)
    stored = dict(fit.filter(pl.col("metric").str.ends_with("_ns"))["metric", "value"].iter_rows())
    assert stored.items() <= lock_costs(share, 0.3).items()


def test_a_fault_is_dearer_the_more_threads_fault() -> None:
    """Threads wait for each other, and batching relieves them."""
    alone, together = (price_ns(0.1, 0.3, "vanilla", crowd) for crowd in (1, 3))
    assert together > 1.5 * alone
    assert price_ns(0.1, 0.3, "batch-v1", 3) < together


def test_a_run_that_is_out_of_swap_is_named() -> None:
    """A prediction has no rows of unfinished runs."""
    short = b.sweeps(MIDDLE, 3, slots=100)
    with pytest.raises(InputError, match="2 of 2 runs"):
        b.run_sweeps(short, runs=2)


def test_the_unevenness_is_what_the_rule_finds() -> None:
    """Least squared logs of vanilla's eight cells; all are within a factor of two."""
    logs = (pl.col("simulated") / pl.col("published")).log()
    tried = (
        b.fit()
        .filter(pl.col("threads") > 1, lists="four nodes")
        .group_by("uneven_percent")
        .agg(misfit=logs.pow(2).sum(), farthest=logs.abs().max().exp())
        .sort("misfit")
    )
    assert tried["uneven_percent"][0] == MIDDLE.uneven_percent == 100 * b.known()["uneven_share"]
    near = set(tried.filter(pl.col("farthest") < 2)["uneven_percent"])
    assert near == {point.uneven_percent for point in b.points()}


def test_one_threads_times_are_fitted() -> None:
    """Its system and elapsed time are those of the mail, and it has no scatter."""
    one = b.fit().filter(threads=1)
    assert one.filter(lists="four nodes").select(
        ((pl.col("simulated") / pl.col("published") - 1).abs() < 1e-3).all(),
        (pl.col("spread_percent") == 0).all(),
    ).row(0) == (True, True)


def test_what_a_further_removal_costs_decides_the_gain() -> None:
    """Three threads gain more where it is cheap."""
    rows = b.by_points().filter(
        metric="Amean Elapsd-3", tag_share=MIDDLE.tag_share, uneven_percent=MIDDLE.uneven_percent
    )
    cheap, dear = (rows.filter(next_share=share)["simulated"].item() for share in (0.3, 1.0))
    assert cheap < 0
    assert cheap < dear - 2


def test_a_fault_becomes_cheaper_and_there_are_as_many() -> None:
    """In the model the patch works through the lock alone, and their number does not fall."""
    ratio = (1 + pl.col("simulated") / 100) / (1 + pl.col("faults_change") / 100)
    several = pl.col("metric").str.contains(r"System-[3-8]")
    rows = b.by_points().filter(several, next_share=0.3).with_columns(cost=ratio)
    assert rows["cost"].is_between(0.84, 0.93).all()
    assert rows["faults_change"].is_between(-1, 8).all()


def gained(runs: list[Case], **wanted: object) -> list[float]:
    """Return the gains of the runs that have these names, with one cost and one seed."""
    names = {"fit": "0.3", "seed": 1, **wanted}
    chosen = [run for run in runs if names.items() <= run[0].items()]
    rows = study.table(partial(common.report, "written"), chosen).filter(metric="written")
    return study.against(rows, policy="page by page")["value"].to_list()


def test_trunks_gain_more_than_batching_but_not_on_a_disk() -> None:
    """Where CPUs have clusters; on a disk all share a run of slots, and trunks gain nothing."""
    assert abs(gained(b._by_cure(), device="rotational")[1]) < 2
    batched, trunks, both = gained(b._by_cure(), device="non-rotational")
    assert trunks > 2 * batched > 20
    assert both >= trunks


def test_a_list_of_one_page_gains_nothing_and_four_kswapds_gain_more_than_one() -> None:
    """Cases by list and by kswapds are of the mail's machine."""
    assert abs(gained(b._by_list(), label="1 task", setting=1.0)[0]) < 2
    few, many = (gained(b._by_kswapds(), setting=nodes)[0] for nodes in (1.0, 4.0))
    assert few < many


def test_longer_lists_are_longer_critical_sections_and_waits() -> None:
    """The longest grows with the list; an add waits at least as long as one."""
    one, batched = (
        dict(b.sections((1.0, pages)).select("metric", "value").iter_rows()) for pages in (1, 32)
    )
    assert batched["longest hold"] == pytest.approx(32 * one["longest hold"])
    assert batched["longest wait of an add"] > batched["longest hold"]
