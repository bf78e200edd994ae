# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that cover all patches."""

import polars as pl
import pytest

from swapsim import mapping, removal, traces
from swapsim.claims.judging import SMALLEST_PERCENT
from swapsim.patches import cluster_next, writeback_tags
from swapsim.site import overview, standing

A, D = writeback_tags.PATCH, cluster_next.PATCH


FIGURES = {
    "swap-w-seq": {"writeback-tags", "batched-removal"},
    "slots-1-percpu-rerandomise": {"cluster-next"},
    "stalls-nfs-1": {"stall-decisions"},
}


@pytest.mark.parametrize("trace", FIGURES)
def test_each_replay_that_a_trace_can_feed_has_a_row(trace: str) -> None:
    """A replay that lacks an event has no row; the change is that of the two figures."""
    rows = overview.at_a_glance(traces.locate(trace))
    assert set(rows["replay"]) == FIGURES[trace]
    for row in rows.drop_nulls("change").iter_rows(named=True):
        assert row["change"] == pytest.approx(100 * (row["patched"] / row["base"] - 1))


def test_the_figures_are_those_of_the_tables() -> None:
    """They equal the sums of the replays' own tables."""
    folder = traces.locate("swap-w-seq")
    first, second = overview.at_a_glance(folder, kernel="4.8").iter_rows(named=True)
    with_tags, without = mapping.totals_per_page(mapping.writeback_tags(folder)).iter_rows(
        named=True
    )
    assert (first["base"], first["patched"]) == (with_tags["acquisitions"], without["acquisitions"])
    lists = removal.batched_removal(folder).filter(kernel="4.8")
    assert second["base"] - second["patched"] == pytest.approx(lists["saved_a_page"].item())


def test_a_null_model_reproduces_only_what_does_not_change() -> None:
    """It is judged as the models are, with the mails' own bases."""
    judged = overview.judged()
    null = standing.nothing_changes(judged)
    assert null["simulated_verdict"].is_in(["base not reproduced"]).sum() == 0
    reproduced = null.filter(simulated_verdict="reproduced")
    changes = reproduced.filter(kind="change")
    assert (changes["published"].abs() < SMALLEST_PERCENT).all()
    assert set(reproduced.filter(kind="direction")["claimed"]) == {"stays"}
    figures = reproduced.filter(kind="figure")
    assert (figures["base"] <= figures["tolerance"]).all()


def test_each_claim_is_in_one_row_of_each_table_of_verdicts() -> None:
    """By kind, and by the verdicts of both columns; those that repeat another one are in none."""
    judged = overview.judged()
    kinds, both = standing.by_kind(judged), standing.both_columns(judged)
    number = judged["repeats"].null_count()
    assert kinds["claims"].sum() == number
    assert both.drop("simulated").sum().sum_horizontal().item() == number
    reproduced = judged.filter(pl.col("repeats").is_null(), simulated_verdict="reproduced").height
    assert kinds["reproduced"].sum() == reproduced
    assert (
        both.filter(simulated="reproduced").drop("simulated").sum_horizontal().item() == reproduced
    )
