# SPDX-License-Identifier: GPL-2.0-or-later
"""The answers to patch B's claims in words: holds on a real kernel's lists, and elapsed times."""

import polars as pl

from swapsim import traces
from swapsim.patches import batched_removal as patch
from swapsim.patches.batched_removal import answered


def test_the_replayed_traces_are_all_that_can_feed_the_replay() -> None:
    """A new trace with these events has to be added to the study."""
    assert sorted(patch.studies.TRACES) == list(traces.shipped("batched-removal"))


def test_a_list_with_a_hold_too_many_breaks_the_statement() -> None:
    """Each stored list has a hold for each mapping; one that had two for one is no case of it."""
    lists = patch.studies.holds_of_lists.load()
    found = answered.of_the_code(lists)
    assert found.held == found.cases == lists["lists"].sum()
    assert lists["mappings"].max() > 1
    first = lists.row(0, named=True)
    more = pl.concat([lists[1:], lists[:1].with_columns(pl.col("holds") + 1)])
    assert answered.of_the_code(more).held == found.cases - first["lists"]


def test_a_direction_has_the_outermost_intervals_of_all_points() -> None:
    """Each number of threads has an answer of seven runs, with the figure of the middle point."""
    points = patch.studies.by_points.load()
    found = {answer.claim: answer for answer in answered.of_the_times(points)}
    assert list(found) == [f"B-prose-faster-{threads}" for threads in (1, 3, 5, 7, 8)]
    stated = patch.answers().filter(claim="B-elapsed-7").row(0, named=True)
    seven = found["B-prose-faster-7"]
    assert (seven.figure, seven.rounds) == (stated["figure"], 7)
    own = points.filter(claim="B-elapsed-7")
    assert (seven.low, seven.high) == (own["seven_low"].min(), own["seven_high"].max())
    assert seven.low < stated["low"]
    assert stated["high"] < seven.high
