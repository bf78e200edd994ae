# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped traces of generations: every decision is that of their kernel's rules."""

from itertools import pairwise
from pathlib import Path

import pytest

from swapsim import mglru
from swapsim.mglru.recording import recording
from swapsim.mglru.replay import chosen
from swapsim.traces import shipped_folders

SHIPPED = shipped_folders("mglru")
TRACES = pytest.mark.parametrize("folder", SHIPPED.values(), ids=SHIPPED)


@TRACES
def test_each_decision_is_that_of_the_rules(folder: Path) -> None:
    """All types, tiers, agings and scan sizes; by its own rules no choice flips."""
    rows = recording(folder)
    found = mglru.verify(rows)
    assert found.agrees, "\n".join(found.describe())
    assert found.counts["types"][1] + found.figures["forced"] == rows.choices.height
    # Set before the recordings that were not looked at were opened.
    assert found.figures["ambiguous"] <= 0.005 * (rows.choices.height + rows.steps.height)
    assert not mglru.replay(rows).flips.filter("flips", rules=rows.rules).height


@TRACES
def test_a_higher_swappiness_never_takes_fewer_anonymous_pages(folder: Path) -> None:
    """A choice that begins with them does so at each higher one, and none flips at its own."""
    rows = recording(folder)
    by = [chosen(rows, rows.rules, swappiness=value)["first"] == "anon" for value in range(201)]
    assert all((low <= high).all() for low, high in pairwise(by))
    for value in rows.choices["swappiness"].unique():
        flips = mglru.replay(rows, swappiness=value).flips
        assert not flips.filter("flips", swappiness=value).height


def test_the_traces_cover_what_they_should() -> None:
    """Of each kernel four: 1 and 4 CPUs, cgroups and all of memory, each swappiness.

    201, anonymous pages only, is in no recording.
    """
    rows = {name: recording(folder) for name, folder in SHIPPED.items()}
    for rules in ("6.12", "7.3"):
        some = [each for each in rows.values() if each.rules == rules]
        assert len(some) >= 4
        assert {0, 3} <= {max(each.choices["cpu"].max(), each.steps["cpu"].max()) for each in some}
        assert {value for each in some for value in each.steps["root"]} == {True, False}
        asked = {value for each in some for value in each.choices["swappiness"]}
        assert {1, 30, 60, 150, 200} <= asked
