# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of rules is read off the library: each decision has one rule for each rule set."""

from itertools import pairwise

import polars as pl
import pytest

from swapsim.errors import ConfigError
from swapsim.ffi.facts import STALL_RULES
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions.tables import RULE_SPANS
from swapsim.stall import rules_of

SPANS = patch.rule_spans()


def rule(decision: str, rules: str) -> str:
    """Return the words of one cell."""
    row = SPANS.filter(pl.col("decision") == decision, pl.col("rules").list.contains(rules))
    return str(row["text"].item())


def test_each_decision_is_told_of_each_rule_set_once() -> None:
    """In order of age, and two neighbours differ."""
    assert SPANS.schema == RULE_SPANS.schema
    for _, spans in SPANS.group_by("decision", maintain_order=True):
        assert spans["rules"].explode().to_list() == list(STALL_RULES)
        texts = spans["text"].to_list()
        assert all(one != next_one for one, next_one in pairwise(texts))


@pytest.mark.parametrize(
    ("decision", "before", "after", "patches"),
    [
        ("a marked page under writeback, by kswapd", "sleep, then\ngo on", "sleep, keep it", 1),
        ("flag TAIL_LRU_DIRTY if", "U ≥ share", "U = T", 2),
        ("sleep up to 100 ms if", "marked page;\nU = T", "U = T, or I > 0", 3),
        ("direct reclaim waits if CONGESTED, after", "a round below priority 10", "each list", 5),
        ("a page counts as congested if", "its disk is", "its disk is, or marked", 6),
        ("a page is dirty or under writeback by", "the page's flags", "and buffers", 7),
        ("a page is dirty or under writeback by", "and buffers", "and NFS", 8),
    ],
)
def test_each_patch_changes_its_own_row(
    decision: str, before: str, after: str, patches: int
) -> None:
    """As its mail says."""
    assert rule(decision, f"series-{patches - 1}" if patches > 1 else "mmotm") == before
    assert rule(decision, f"series-{patches}") == after


def test_since_is_who_began_it() -> None:
    """The series is one of them, whichever of its patches."""
    assert set(SPANS["since"]) == {"3.9", "mmotm", "the series", "3.11", "6.1"}
    assert SPANS.filter(text="W = T")["since"].to_list() == ["3.11"]


def test_a_rule_set_that_is_not_there_is_named() -> None:
    """With those that are."""
    with pytest.raises(ConfigError, match=r"'2\.6'.*mmotm"):
        rules_of("2.6")
