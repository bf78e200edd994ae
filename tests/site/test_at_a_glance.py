# SPDX-License-Identifier: GPL-2.0-or-later
"""One figure of each replay: those that the replays themselves give."""

import pytest

from swapsim import traces
from swapsim.mapping.replay import totals_per_page
from swapsim.mapping.replay import writeback_tags as mapping_replay
from swapsim.removal.replay import batched_removal as removal_replay
from swapsim.site.at_a_glance import at_a_glance

FIGURES = {
    "swap-w-seq": {"writeback-tags", "batched-removal"},
    "slots-1-percpu-rerandomise": {"cluster-next"},
    "stalls-nfs-1": {"stall-decisions"},
}


@pytest.mark.parametrize("trace", FIGURES)
def test_each_replay_that_a_trace_can_feed_has_a_row(trace: str) -> None:
    """And no other one; a change is what the two figures make of it."""
    rows = at_a_glance(traces.locate(trace))
    assert set(rows["replay"]) == FIGURES[trace]
    for row in rows.drop_nulls("change").iter_rows(named=True):
        assert row["change"] == pytest.approx(100 * (row["patched"] / row["base"] - 1))


def test_the_figures_are_those_of_the_tables() -> None:
    """A page written takes the locks that its sites take, a page removed those of its lists."""
    folder = traces.locate("swap-w-seq")
    first, second = at_a_glance(folder, kernel="4.8").iter_rows(named=True)
    with_tags, without = totals_per_page(mapping_replay(folder)).iter_rows(named=True)
    assert (first["base"], first["patched"]) == (with_tags["acquisitions"], without["acquisitions"])
    lists = removal_replay(folder).filter(kernel="4.8")
    assert second["base"] - second["patched"] == pytest.approx(lists["saved_a_page"].item())
