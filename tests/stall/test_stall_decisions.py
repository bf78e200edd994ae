# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of made-up kernels under every set of rules: their own, and the others'."""

from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle_stall_recording import RULES, Kernel, Task, Temper
from test_verify import PARTS, SEEDS, TEMPERS, alone, kernel, rows_of

from swapsim.errors import InputError
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions.tables import STALL_AGREEMENT, STALL_DIFFERENCES
from swapsim.stall import (
    ReclaimRows,
    decided_lists,
    folio_branches,
)
from swapsim.stall.replay import requested_sleeps, summed_decisions
from swapsim.stall.tables import (
    DECIDED_LISTS,
    FOLIO_BRANCHES,
    REQUESTED_SLEEPS,
    STALL_DECISIONS,
)

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=5, suppress_health_check=RELAXED)
@given(seed=SEEDS)
def test_a_kernel_s_own_rules_decide_as_it_did(rules: str, seed: int) -> None:
    """With nobody else about, the history that the rules lead is the one that was recorded."""
    rows = alone(seed, rules, changed=0)
    assume(rows.lists.height)
    decided = decided_lists(rows)
    assert decided.schema == DECIDED_LISTS.schema
    own = decided.filter(pl.col("rules") == rules)
    theirs = rows.lists.sort("list")
    for name in ("dirty", "unqueued_dirty", "congested", "writeback", "immediate"):
        assert own[name].to_list() == theirs[name].to_list()
    if rules != "6.1":
        assert own["flags_before"].to_list() == theirs["flags_before"].to_list()
        assert own["flags_set"].to_list() == theirs["flags_set"].to_list()
    passes = rows.passes.filter(pl.col("pass").is_in(own["pass"].implode()))["pass"]
    of_pass = pl.col("pass").is_in(passes.implode()) & (pl.col("list") == 0)
    of_pass &= pl.col("reason").is_in(["writeback", "congested"])
    whole = rows.throttles.filter(pl.col("list").is_in(theirs["list"].implode()) | of_pass)
    assert own["sleeps"].list.len().sum() == whole.height


def history() -> ReclaimRows:
    """Return the rows of a kswapd that meets dirty pages and pages under writeback."""
    made = Kernel("6.1", Random(7), [Task(1, 0, kswapd=True)], temper=Temper())
    made.run(80)
    return rows_of(made)


def test_each_table_has_its_schema_and_its_sets_in_order() -> None:
    """Twelve sets, each pair once, each list under each."""
    rows = rows_of(kernel("6.1", 5, cpus=2, steps=300))
    decided = decided_lists(rows)
    assert decided["rules"].unique(maintain_order=True).to_list() == list(RULES)
    summed = summed_decisions(decided, rows.rounds, trace="made")
    assert summed.schema == STALL_DECISIONS.schema
    assert summed["lists"].to_list() == [decided["nth"].n_unique()] * len(RULES)
    assert requested_sleeps(decided, rows.rounds).schema == REQUESTED_SLEEPS.schema
    agreement = patch.agreement(decided)
    assert agreement.schema == STALL_AGREEMENT.schema
    assert agreement.height == len(RULES) * (len(RULES) - 1) // 2
    square = patch.agreement_table(agreement)
    assert square.columns == ["rules", *RULES]
    for name in RULES:
        assert square.filter(pl.col("rules") == name)[name].item() == 100
    table = square.drop("rules").to_numpy()
    assert (table == table.T).all()


def test_where_two_sets_part_is_counted_with_its_first_list() -> None:
    """The lists that differ in a decision are as many as agreement leaves."""
    decided = decided_lists(rows_of(kernel("6.1", 5, cpus=1, steps=300)))
    parts = patch.differing_lists(decided, "mmotm", "series-8")
    assert parts.schema == STALL_DIFFERENCES.schema
    assert parts.height
    one, other = (decided.filter(pl.col("rules") == rules) for rules in ("mmotm", "series-8"))
    forced = int((one["forced"] != other["forced"]).sum())
    assert parts.filter(pl.col("decision") == "forced sleep")["lists"].sum() == forced
    assert patch.differing_lists(decided, "mmotm", "mmotm").is_empty()
    with pytest.raises(InputError, match=r"2\.4"):
        patch.differing_lists(decided, "mmotm", "2.4")


def test_the_bad_minute_is_where_most_lists_sleep() -> None:
    """A stretch in order under all sets; no other one has more lists that sleep."""
    decided = decided_lists(rows_of(kernel("6.1", 5, cpus=1, steps=300)))
    stretch = patch.stretch(decided, lists=10)
    assert stretch.schema == DECIDED_LISTS.schema
    assert stretch.height == 10 * len(RULES)
    slept = pl.col("forced") | pl.col("waits")
    here = stretch.filter(slept).height
    for begin in range(decided["nth"].n_unique() - 10):
        other = patch.stretch(decided, lists=10, begin=begin)
        assert other.filter(slept).height <= here
    with pytest.raises(InputError, match="lists"):
        patch.stretch(decided, lists=0)


def test_a_stretch_is_timed_by_the_sleeps_around_it(tmp_path: Path) -> None:
    """From the one before its first list to the one behind its last."""
    decided = decided_lists(rows_of(kernel("6.1", 5, cpus=1, steps=300)))
    stretch = patch.stretch(decided, lists=10, begin=20)
    begin, end = stretch["seq"].min(), stretch["seq"].max()
    askers = {"seq": [begin, begin + 1, end + 1, end + 2], "t_ns": [1, 2, 4, 9]}
    asked = pl.DataFrame(askers, schema={"seq": pl.UInt64, "t_ns": pl.Int64})
    seconds = pl.col("t_ns") * 1_000_000_000
    (tmp_path / "trace.toml").write_text("[guest]\ncpus = 1\n", encoding="utf-8")
    asked.with_columns(seconds).write_parquet(tmp_path / "throttle_askers.parquet")
    assert patch.stretch_seconds(tmp_path, stretch) == 3
    assert patch.stretch_seconds(tmp_path, decided) == 8
    asked.clear().write_parquet(tmp_path / "throttle_askers.parquet")
    assert patch.stretch_seconds(tmp_path, stretch) is None


@settings(max_examples=5, suppress_health_check=RELAXED)
@given(seed=SEEDS, data=st.data())
def test_fates_of_a_list_come_to_its_counts(seed: int, data: st.DataObject) -> None:
    """What the rules make of each folio of a list adds up to what they count."""
    rows = rows_of(kernel("6.1", seed, cpus=1))
    assume(rows.lists.height)
    decided = decided_lists(rows)
    number = data.draw(st.sampled_from(decided["list"].unique().sort().to_list()))
    branches = folio_branches(rows, [number])
    assert branches.schema == FOLIO_BRANCHES.schema
    told = decided.filter(pl.col("list") == number)
    turned = branches.group_by("rules", maintain_order=True).agg(
        n=pl.col("branch").is_in(["case-1", "case-2"]).sum()
    )
    assert turned["n"].to_list() == told["turned"].to_list()


def test_a_trace_without_a_whole_list_is_refused() -> None:
    """There is nothing to decide then."""
    rows = history()
    empty = ReclaimRows(**{part: getattr(rows, part).clear() for part in PARTS})
    with pytest.raises(InputError, match="no complete list"):
        decided_lists(empty)


def test_the_tempers_make_lists_that_stall() -> None:
    """The made-up traces do set each flag, and do sleep for each reason."""
    flags, reasons = 0, set()
    for seed in range(2 * len(TEMPERS)):
        for rules in ("mmotm", "series-8", "6.1"):
            rows = alone(seed, rules)
            for table in (rows.lists, rows.passes):
                flags |= int(table["flags_set"].bitwise_or() or 0)
            reasons |= set(rows.throttles["reason"].to_list())
    assert flags == 7
    assert {"congestion_wait", "writeback", "wait_iff_congested"} <= reasons
