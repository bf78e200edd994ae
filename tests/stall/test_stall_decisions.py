# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of generated kernels decided by every rule set: the kernel's own, and the others."""

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle_stall_recording import RULES
from test_verify import PARTS, RATES, SEEDS, alone, kernel, rows_of

from swapsim.errors import InputError
from swapsim.stall import ReclaimRows, decided_lists, folio_branches
from swapsim.stall.replay import requested_sleeps, summed_decisions
from swapsim.stall.tables import DECIDED_LISTS, REQUESTED_SLEEPS, STALL_DECISIONS

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=2, suppress_health_check=RELAXED)
@given(seed=SEEDS)
def test_a_kernel_s_own_rules_decide_as_it_did(rules: str, seed: int) -> None:
    """Without other tasks the flags that the rules leave are those that were recorded."""
    rows = alone(seed, rules, changed=0)
    assume(rows.lists.height)
    decided = decided_lists(rows)
    assert decided.schema == DECIDED_LISTS.schema
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


def test_each_table_has_its_schema_and_its_sets_in_order() -> None:
    """Each list is decided by each of the twelve sets, the oldest first."""
    rows = rows_of(kernel("6.1", 5, cpus=2, steps=300))
    decided = decided_lists(rows)
    assert decided["rules"].unique(maintain_order=True).to_list() == list(RULES)
    summed = summed_decisions(decided, rows.rounds, trace="made")
    assert summed.schema == STALL_DECISIONS.schema
    assert summed["lists"].to_list() == [decided["nth"].n_unique()] * len(RULES)
    assert requested_sleeps(decided, rows.rounds).schema == REQUESTED_SLEEPS.schema


@settings(max_examples=2, suppress_health_check=RELAXED)
@given(seed=SEEDS, data=st.data())
def test_the_branches_of_a_list_sum_to_its_counts(seed: int, data: st.DataObject) -> None:
    """The folios of a list that the rules reject are as many as the list counts."""
    rows = rows_of(kernel("6.1", seed, cpus=1))
    assume(rows.lists.height)
    decided = decided_lists(rows)
    number = data.draw(st.sampled_from(decided["list"].unique().sort().to_list()))
    branches = folio_branches(rows, [number])
    turned = branches.group_by("rules", maintain_order=True).agg(
        n=pl.col("branch").is_in(["case-1", "case-2"]).sum()
    )
    of_list = decided.filter(pl.col("list") == number)
    assert turned["n"].to_list() == of_list["turned"].to_list()


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
