# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A's machine and replay beside a real 6.1 kernel: acquisitions a page, tags off and on."""

import polars as pl
import pytest

from swapsim import claims, traces
from swapsim.machine import lab
from swapsim.mapping.replay import writeback_tags as mapping_replay
from swapsim.patches import writeback_tags as patch
from swapsim.study import SerialExecutor


def simulated(experiment: str, seeds: int) -> pl.DataFrame:
    """Return what the machines of an experiment counted."""
    return lab.runs(patch.lab_machines(experiment), seeds, executor=SerialExecutor())


def held(experiment: str, results: pl.DataFrame) -> pl.DataFrame:
    """Set them beside the measured medians."""
    return claims.compare_counts(results, claims.medians(claims.measured_results(experiment)))


def test_each_lock_of_the_writers_is_taken_as_often_as_in_the_kernel() -> None:
    """Six locks with tags off and on are within the tolerance that was set before."""
    table = held("writeback-tags", simulated("writeback-tags", 2)).filter(
        pl.col("metric").is_in(lab.LEDGER)
    )
    assert table.height == 2 * len(lab.LEDGER) == 12
    assert table.filter(~pl.col("agrees")).is_empty(), table


def test_tags_cost_two_acquisitions_a_page() -> None:
    """The switch changes xa_lock by two a page in 6.1, and no other lock of the ledger."""
    results = simulated("writeback-tags", 1).filter(pl.col("metric").is_in(lab.LEDGER))
    sides = results.pivot("policy", index="metric", values="value")
    for metric, off, on in sides.iter_rows():
        added = 2 if metric == "xa_lock acquisitions" else 0
        assert on - off == pytest.approx(added, abs=0.01), metric


def test_the_replay_counts_what_the_real_kernel_counted() -> None:
    """Acquisitions of the swap cache's lock a page, tags off and on, agree within five percent."""
    rounds = claims.measured_results("writeback-tags")
    assert rounds["seed"].n_unique() >= 7
    medians = claims.medians(rounds.filter(metric="xa_lock acquisitions"))
    trace = traces.shipped("writeback-tags")["swap-w-seq"]
    held = patch.compare_acquisitions(mapping_replay(trace, kernel="6.1"), medians)
    assert held["policy"].to_list() == ["on", "off"]
    assert held["agrees"].all()
    assert (held["low"] <= held["measured"]).all()
