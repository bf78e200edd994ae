# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of generated kernels decided by every rule set: the kernel's own, and the others."""

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from oracle_stall_recording import RULES
from test_verify import PARTS, RATES, SEEDS, alone, kernel, rows_of

from swapsim.errors import InputError
from swapsim.site.trace_page.reclaim import alike
from swapsim.stall.recording import ReclaimRows
from swapsim.stall.replay import decided_lists

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=2, suppress_health_check=RELAXED)
@given(seed=SEEDS)
def test_a_kernel_s_own_rules_decide_as_it_did(rules: str, seed: int) -> None:
    """Without other tasks the flags that the rules leave are those that were recorded."""
    rows = alone(seed, rules, changed=0)
    assume(rows.lists.height)
    decided = decided_lists(rows)
    own = decided.filter(pl.col("rules") == rules)
    recorded = rows.lists.sort("list")
    for name in ("dirty", "unqueued_dirty", "congested", "writeback", "immediate"):
        assert own[name].to_list() == recorded[name].to_list()
    if rules != "6.1":
        assert own["flags_before"].to_list() == recorded["flags_before"].to_list()
        assert own["flags_set"].to_list() == recorded["flags_set"].to_list()
    passes = rows.passes.filter(pl.col("pass").is_in(own["pass"].implode()))["pass"]
    of_pass = pl.col("pass").is_in(passes.implode()) & (pl.col("list") == 0)
    of_pass &= pl.col("reason").is_in(["writeback", "congested"])
    calls = rows.throttles.filter(pl.col("list").is_in(recorded["list"].implode()) | of_pass)
    assert own["sleeps"].list.len().sum() == calls.height


def test_a_trace_without_a_complete_list_is_refused() -> None:
    """A recording without lists has no decisions."""
    rows = alone(7, "6.1")
    empty = ReclaimRows(**{part: getattr(rows, part).clear() for part in PARTS})
    with pytest.raises(InputError, match="no complete list"):
        decided_lists(empty)


def test_the_generated_lists_stall() -> None:
    """The generated kernels set each flag, and sleep for each reason."""
    flags, reasons = 0, set()
    for seed in range(len(RATES)):
        for rules in ("mmotm", "series-8", "6.1"):
            rows = alone(seed, rules)
            for table in (rows.lists, rows.passes):
                flags |= int(table["flags_set"].bitwise_or() or 0)
            reasons |= set(rows.throttles["reason"].to_list())
    assert flags == 7
    assert {"congestion_wait", "writeback", "wait_iff_congested"} <= reasons


def test_each_pair_of_rule_sets_has_its_agreement() -> None:
    """The lists on which both take the same decisions, rounded; 100 only where all lists agree."""
    decided = decided_lists(rows_of(kernel("6.1", 5, cpus=1, steps=300)))
    pairs = alike(decided)
    assert pairs.height == len(RULES) * (len(RULES) - 1) // 2
    for one, other, both in pairs.iter_rows():
        rows = [decided.filter(rules=name) for name in (one, other)]
        acts = ("flags_set", "forced", "waits")
        equal = [a == b for a, b in zip(*(each.select(acts).rows() for each in rows), strict=True)]
        share = 100 * sum(equal) / len(equal)
        assert both == (100 if all(equal) else pytest.approx(min(share, 99.9), abs=0.0501))
