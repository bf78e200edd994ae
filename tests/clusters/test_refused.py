# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that the allocators of clusters refuse; recordings are in test_verify_clusters."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from test_alternatives import RECORDED
from test_folios import stream_of

import swapsim
from swapsim import clusters
from swapsim.clusters import folios, requests
from swapsim.clusters.alternatives import Alternative, measure, rank_policies, ranked, stream
from swapsim.errors import SwapsimError

ROWS = RECORDED.rows
DISKS = replace(ROWS, devices=ROWS.devices.with_columns(rotational=pl.lit(value=True)))
OF_6_12 = DISKS.devices.with_columns(rules=pl.lit("6.12", DISKS.devices.schema["rules"]))
NO_FREES = replace(ROWS, events=ROWS.events.filter(pl.col("op") != "free"))
ALONE = Alternative(name="frag-0", asks="?")

IN, OUT = (0, 0, "access", 0, 0, 1), (0, 0, "out", 0, 0, 1)


def replay(rules: str | None = "7.3", **wrong: Any) -> Callable[[], object]:
    """Return a replay with an argument that is wrong."""
    return lambda: clusters.replay(ROWS, rules, **wrong)


def run(*rows: Any, rules: str = "7.3", **wrong: Any) -> Callable[[], object]:
    """Return a run of a stream of memory operations."""
    return lambda: folios.run(stream_of(list(rows)), rules, **wrong)


def twice() -> object:
    """Rank two policies of one name."""
    policy = swapsim.list_policy()(lambda free: 0 * free)
    return rank_policies([policy, policy], [RECORDED])


REFUSED: dict[str, Callable[[], object]] = {
    r"rules='6\.13'": replay("6.13"),
    "switches='column'": replay(None, switches={"column": True}),
    "samples=-1": replay(samples=-1),
    "'frag_tries': 300.*0 to 254": replay(switches={"frag_tries": 300}),
    "'frag_tries': True": replay(switches={"frag_tries": True}),
    "'trylock': 2.*True or False": replay(switches={"trylock": 2}),
    "give owners=": replay(switches={"own_by_task": True}),
    "masks belong to streams": replay(switches={"device_masks": True}),
    r"owners=\{70: -1\}": replay(owners={70: -1, 71: 0}),
    "task 71 of cluster_events has no owner": replay(owners={70: 0}),
    r"slots=\[4096\].*each of the 2 devices": replay(slots=[4096]),
    r"rules='6\.12': .* no clusters for a hard disk; choose 7": lambda: clusters.replay(
        DISKS, "6.12"
    ),
    r"hard disk, for which 6\.12 has no clusters": lambda: clusters.verify_clusters(
        replace(DISKS, devices=OF_6_12)
    ),
    r"a stream lacks the rules of 7\.3": lambda: ranked(measure([RECORDED], [ALONE])),
    "speed": lambda: ranked(measure([RECORDED], [ALONE]), ["speed"]),
    "stream mine frees no slot": lambda: stream(NO_FREES, "mine"),
    r"fill=1\.2": lambda: stream(ROWS, "mine", fill=1.2),
    "it takes 'nonfull_0': use any of order, asked": lambda: swapsim.list_policy()(
        lambda nonfull_0: nonfull_0
    ),
    "returns a float": lambda: swapsim.list_policy()(lambda free: free / 2),
    r"rules='6\.14'": lambda: swapsim.list_policy(rules="6.14"),
    "owner='mm'": lambda: swapsim.list_policy(owner="mm"),
    "two policies are called .*: rename one": twice,
    "seeds=0": lambda: rank_policies([], seeds=0),
    "field 'step': the stream has no step that frees slots": run(OUT),
    "field 'step': the stream has no page-out": run(IN),
    "row 0 of the steps is refused: its order": run((0, 0, "access", 10, 0, 1), OUT),
    "row 1 of the steps is refused: its pages are none": run(IN, (0, 0, "out", 0, 0, 0)),
    "process 9999": run((0, 0, "drop", 0, 0, 1), (9999, 0, "out", 0, 0, 1)),
    r"rules='6\.10'": run(IN, OUT, rules="6.10"),
    "switches='nonfull'": run(IN, OUT, switches={"nonfull": True}),
    "slots=100": run(IN, OUT, slots=100),
    "iterations=0": lambda: requests.allocator_test(iterations=0),
    "aligned=True": lambda: requests.allocator_test(first=True, aligned=True),
}
"""The error, and the call."""


@pytest.mark.parametrize("error", REFUSED)
def test_a_bad_call_is_refused_in_one_line(error: str) -> None:
    """The error names the argument or field and its value."""
    with pytest.raises(SwapsimError, match=error) as raised:
        REFUSED[error]()
    assert "\n" not in str(raised.value)
