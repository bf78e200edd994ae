# SPDX-License-Identifier: GPL-2.0-or-later
"""The answers to patch B's claims in words: elapsed times."""

from swapsim.patches import batched_removal as patch
from swapsim.patches.batched_removal import answered


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
