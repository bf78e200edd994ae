# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped traces of cluster allocators: every event is the model's."""

from pathlib import Path

import pytest

from swapsim import traces
from swapsim.clusters import replay, verify
from swapsim.clusters.events import cluster_rows
from swapsim.clusters.verify import taken

SHIPPED = traces.shipped_folders("clusters")
TRACES = pytest.mark.parametrize("folder", SHIPPED.values(), ids=SHIPPED)


@TRACES
def test_each_event_is_that_of_the_model(folder: Path) -> None:
    """All grants, visits, list moves, picks and calls of the trace; no call stays open."""
    rows = cluster_rows(folder)
    found = verify(rows)
    assert found.agrees, "\n".join(found.describe())
    for op, name in (("grant", "grants"), ("visit", "visits"), ("move", "moves")):
        assert found.counts[name][0] == rows.events.filter(op=op).height
    assert found.figures["turns_equal"] + found.figures["taken_turns"] == (
        rows.events.filter(op="turn").height
    )
    # Set after the first run: a nearly full 6.12 took 0.30 a visit, nearly all windows of reclaim.
    assert sum(taken(found.figures).values()) < 0.5 * found.figures["visits"]


@TRACES
def test_a_trace_can_be_replayed_under_all_rules(folder: Path) -> None:
    """Each rule set serves all requests, and frees what the trace frees."""
    found = replay(folder)
    requests = found.grants.group_by("rules").agg("requests", "order")
    assert requests["requests"].n_unique() == 1
    assert (found.grants["granted"] + found.grants["fallbacks"] == found.grants["requests"]).all()


def test_the_traces_cover_what_they_should() -> None:
    """Four or more of each kernel: 1 and 8 CPUs, several devices, files, discard, all orders."""
    rows = {name: cluster_rows(folder) for name, folder in SHIPPED.items()}
    for rules in ("6.12", "7.3"):
        some = [each for each in rows.values() if each.rules == rules]
        assert len(some) >= 4
        assert {1, 8} <= {each.cpus for each in some}
        assert any(each.devices["file"].any() for each in some)
        assert any(each.devices["discard"].any() for each in some)
        assert any(each.devices["priority"].is_duplicated().any() for each in some)
