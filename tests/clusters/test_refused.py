# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that the allocators of clusters refuse; recordings are in test_verify_clusters."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from test_rank_of_lists import RECORDED

import swapsim
from swapsim import clusters
from swapsim.clusters.ranking import rank, stream
from swapsim.errors import SwapsimError

ROWS = RECORDED.rows
DISKS = replace(ROWS, devices=ROWS.devices.with_columns(rotational=pl.lit(value=True)))
OF_6_12 = DISKS.devices.with_columns(rules=pl.lit("6.12", DISKS.devices.schema["rules"]))
NO_FREES = replace(ROWS, events=ROWS.events.filter(pl.col("op") != "free"))


def replay(rules: str = "7.3", **wrong: Any) -> Callable[[], object]:
    """Return a replay with an argument that is wrong."""
    return lambda: clusters.replay(ROWS, rules, **wrong)


def twice() -> object:
    """Rank two policies of one name."""
    policy = swapsim.list_policy()(lambda free: 0 * free)
    return rank([policy, policy])


REFUSED: dict[str, Callable[[], object]] = {
    r"rules='6\.13'": replay("6.13"),
    "switches='column'": replay(switches={"column": True}),
    "switches='own_by_task'": replay(switches={"own_by_task": True}),
    r"rules='6\.12': .* no clusters for a hard disk; choose 7": lambda: clusters.replay(
        DISKS, "6.12"
    ),
    r"hard disk, for which 6\.12 has no clusters": lambda: clusters.verify(
        replace(DISKS, devices=OF_6_12)
    ),
    "stream mine frees no slot": lambda: stream(NO_FREES, "mine"),
    "it takes 'nonfull_0': use any of order, asked": lambda: swapsim.list_policy()(
        lambda nonfull_0: nonfull_0
    ),
    "returns a float": lambda: swapsim.list_policy()(lambda free: free / 2),
    r"rules='6\.14'": lambda: swapsim.list_policy(rules="6.14"),
    "owner='mm'": lambda: swapsim.list_policy(owner="mm"),
    "two policies are called .*: rename one": twice,
    "seeds=0": lambda: rank([], seeds=0),
}
"""The error, and the call."""


@pytest.mark.parametrize("error", REFUSED)
def test_a_bad_call_is_refused_in_one_line(error: str) -> None:
    """The error names the argument or field and its value."""
    with pytest.raises(SwapsimError, match=error) as raised:
        REFUSED[error]()
    assert "\n" not in str(raised.value)
