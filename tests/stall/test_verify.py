# SPDX-License-Identifier: GPL-2.0-or-later
"""Reclaim of made-up kernels beside the rules: what must verify, and each change that must not."""

from dataclasses import replace
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from oracle_stall_recording import RULES, Kernel, Task, Temper

from swapsim.errors import InputError
from swapsim.ffi import STALL_RULES
from swapsim.stall.recording import ReclaimRows
from swapsim.stall.tables import JUDGED_LISTS, JUDGED_PASSES, JUDGED_THROTTLES
from swapsim.stall.verify import verify_stalls

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
SEEDS = st.integers(0, 2**32)
PARTS = ("folios", "lists", "passes", "throttles", "rounds", "clears")
TEMPERS = (
    Temper(),
    Temper(file=1, dirty=1, writeback=0, early=0, large=0),
    Temper(file=1, dirty=0.2, writeback=1, reclaim=1, private=0, early=0),
    Temper(file=0.5, dirty=0.9, writeback=0.9, reclaim=0.9, congested=0.9),
    Temper(file=0.9, dirty=0.1, writeback=0.05, reclaim=0.1),
)


def tasks(cpus: int, draw: Random) -> list[Task]:
    """Return kswapd, direct reclaimers, and those of cgroups old and new."""
    made = [Task(1, 0, kswapd=True)]
    for n in range(draw.choice((1, 2, 5))):
        task = Task(10 + n, draw.randrange(cpus), target=draw.choice((0, 0, 7, 8)))
        task.sane = task.target == 0 or draw.random() < 0.5
        task.io, task.fs = draw.choice(((True, True), (True, False), (False, False)))
        task.hibernation = draw.random() < 0.1
        task.may_throttle = draw.random() < 0.8
        task.kthread = draw.random() < 0.2
        made.append(task)
    return made


def kernel(rules: str, seed: int, *, cpus: int, steps: int = 150) -> Kernel:
    """Return a kernel that has reclaimed for a while."""
    draw = Random(seed)
    made = Kernel(rules, draw, tasks(cpus, draw), cpus=cpus, temper=draw.choice(TEMPERS))
    made.run(steps)
    return made


def rows_of(made: Kernel) -> ReclaimRows:
    """Return what it wrote."""
    return ReclaimRows(**dict(zip(PARTS, made.frames().values(), strict=True)))


def recorded(rules: str, seed: int, *, cpus: int) -> ReclaimRows:
    """Return what one wrote whose first list ended: else its beginning may be lost."""
    rows = rows_of(kernel(rules, seed, cpus=cpus))
    assume(rows.lists["list"].min() == 1)
    return rows


def alone(seed: int, rules: str, *, changed: float = 0.03) -> ReclaimRows:
    """Return the rows of a kswapd that nobody disturbs: their order leaves nothing open."""
    draw = Random(seed)
    temper = replace(draw.choice(TEMPERS), changed=changed)
    made = Kernel(rules, draw, [Task(1, 0, kswapd=True)], temper=temper)
    made.run(60)
    return rows_of(made)


def finds(rows: ReclaimRows, rules: str) -> bool:
    """Return whether a trace is refused, or found to differ."""
    try:
        return not verify_stalls(rows, rules=rules).holds
    except InputError:
        return True


def change(frame: pl.DataFrame, seq: int, **values: Any) -> pl.DataFrame:
    """Return the frame with other values in one row."""
    at = pl.col("seq") == seq
    return frame.with_columns(
        pl.when(at)
        .then(pl.lit(value, dtype=frame.schema[name]))
        .otherwise(pl.col(name))
        .alias(name)
        for name, value in values.items()
    )


def test_the_oracle_knows_the_rules_of_the_library() -> None:
    """Both have the same rule sets, in the same order."""
    assert RULES == STALL_RULES


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=8, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([1, 2, 4]))
@example(seed=11877, cpus=1)
@example(seed=2_000_039, cpus=2)
def test_what_a_kernel_wrote_verifies_in_full(rules: str, seed: int, cpus: int) -> None:
    """Lists of all tempers, by all rules, on any CPUs: every list, pass and sleep agrees.

    Only the first list's end tells that nothing before it was lost: where its task slept on to the
    end, the others' first lists and passes may have begun before, and are counted as that. And a
    CPU may stand still while it fills a row in: what flags it left, it may see rows later.
    """
    rows = rows_of(kernel(rules, seed, cpus=cpus))
    assume(rows.passes.height)
    found = verify_stalls(rows, rules=rules)
    assert found.holds, "\n".join(found.describe())
    assert found.lists.schema == JUDGED_LISTS.schema
    assert found.passes.schema == JUDGED_PASSES.schema
    assert found.throttles.schema == JUDGED_THROTTLES.schema
    earlier = {
        kind: found.left_out[f"{kind} that may have begun before the recording"]
        for kind in ("lists", "passes")
    }
    assert found.lists.height + earlier["lists"] == rows.lists.height
    assert found.passes.height + earlier["passes"] == rows.passes.height
    assert rows.lists["list"].min() != 1 or not any(earlier.values())
    assert found.held == rows.throttles.height


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=5, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([1, 3]), data=st.data())
def test_a_recording_may_begin_and_end_anywhere(
    rules: str, seed: int, cpus: int, data: st.DataObject
) -> None:
    """What the ends cut is counted, and all between them agrees."""
    made = kernel(rules, seed, cpus=cpus)
    begin = data.draw(st.integers(0, made.seq // 2))
    end = data.draw(st.integers(begin, made.seq + 1))
    whole = rows_of(made)
    # Who has the first list whole has lost nothing.
    if begin <= (whole.folios.filter(pl.col("list") == 1)["seq"].min() or 0):
        begin = 0
    within = pl.col("seq").is_between(begin, end)
    rows = ReclaimRows(**{part: getattr(whole, part).filter(within) for part in PARTS})
    found = verify_stalls(rows, rules=rules)
    assert found.holds, "\n".join(found.describe())
    left_out = sum(n for kind, n in found.left_out.items() if kind.startswith("lists"))
    assert found.lists.height + left_out >= rows.lists.height


@pytest.mark.parametrize(
    ("rules", "seed", "cpus", "begin", "end"),
    [
        pytest.param("series-5", 52, 3, 0, 306, id="a clear of kswapd, whose lists are known"),
        pytest.param("3.11", 1023924, 3, 5, 94, id="a clear of a task that ended nothing"),
        pytest.param("series-1", 645795, 2, 547, 1126, id="a flag set in a list after a clear"),
        pytest.param("3.11", 693351, 3, 0, 2395, id="a row filled in after the end"),
    ],
)
def test_the_end_of_a_recording_may_cut_off_the_row_that_tells(
    rules: str, seed: int, cpus: int, begin: int, end: int
) -> None:
    """A flag is written before its row tells of it: who sees it so meanwhile is right."""
    whole = rows_of(kernel(rules, seed, cpus=cpus))
    within = pl.col("seq").is_between(begin, end)
    rows = ReclaimRows(**{part: getattr(whole, part).filter(within) for part in PARTS})
    found = verify_stalls(rows, rules=rules)
    assert found.holds, "\n".join(found.describe())


def test_other_rules_do_not_verify() -> None:
    """A kernel's decisions are not those of another rule set."""
    rows = rows_of(kernel("6.1", 3, cpus=1, steps=300))
    assert not verify_stalls(rows, rules="3.11").holds


COUNTERS = (
    "dirty",
    "unqueued_dirty",
    "congested",
    "writeback",
    "immediate",
    "pageout",
    "activate_anon",
    "activate_file",
    "ref_keep",
    "unmap_fail",
    "scanned",
    "reclaimed",
    "taken",
)


@settings(max_examples=25, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(RULES), data=st.data())
def test_a_counter_off_by_one_is_found(seed: int, rules: str, data: st.DataObject) -> None:
    """No counter of a list, and no sum of a pass, can be another."""
    rows = recorded(rules, seed, cpus=data.draw(st.sampled_from([1, 2])))
    part = data.draw(st.sampled_from(["lists", "passes"]))
    # Without the first list's count, a recording may have lost its beginning.
    frame = getattr(rows, part).filter(pl.col("list" if part == "lists" else "pass") > 1)
    assume(frame.height)
    names = COUNTERS if part == "lists" else (*COUNTERS[:5], "taken", "file_taken", "scanned")
    row = frame.row(data.draw(st.integers(0, frame.height - 1)), named=True)
    name = data.draw(st.sampled_from(names))
    other = row[name] + 1 if not row[name] else row[name] + data.draw(st.sampled_from([-1, 1]))
    changed = change(getattr(rows, part), row["seq"], **{name: other})
    assert finds(replace(rows, **{part: changed}), rules)


@settings(max_examples=25, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(("3.9", *RULES[5:])), data=st.data())
def test_another_flag_is_found(seed: int, rules: str, data: st.DataObject) -> None:
    """Flags set, and flags seen where nobody else could change them, can be no others.

    Until series-3 a list sleeps before it sets a flag, and the rows do not tell which came first.
    """
    rows = alone(seed, rules)
    part = data.draw(st.sampled_from(["lists", "passes"]))
    frame = getattr(rows, part)
    # What comes before a task's second pass may have been so since before the recording.
    frame = frame.filter(pl.col("pass") > 2)
    assume(frame.height)
    row = frame.row(data.draw(st.integers(0, frame.height - 1)), named=True)
    name = data.draw(st.sampled_from(["flags_set", "flags_before", "flags_after"]))
    other = row[name] ^ data.draw(st.sampled_from([1, 2, 4]))
    changed = change(getattr(rows, part), row["seq"], **{name: other})
    assert finds(replace(rows, **{part: changed}), rules)


@settings(max_examples=25, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(RULES), data=st.data())
def test_another_way_or_outcome_of_a_folio_is_found(
    seed: int, rules: str, data: st.DataObject
) -> None:
    """Where a folio's way ends, and what becomes of it, follows from what it was."""
    rows = recorded(rules, seed, cpus=1)
    steps = ["writeback_1", "writeback_2", "dirty", "written", "freed", "reference_keep"]
    known = rows.folios.filter(pl.col("step").is_in(steps))
    assume(known.height)
    row = known.row(data.draw(st.integers(0, known.height - 1)), named=True)
    outcomes = ["reclaimed", "kept", "activated", "written"]
    field, values = data.draw(st.sampled_from([("step", steps), ("outcome", outcomes)]))
    other = data.draw(st.sampled_from([value for value in values if value != row[field]]))
    listed = rows.lists.filter(pl.col("list") == row["list"])
    assume(listed.height)
    # By mmotm a page of case 1 goes on, wherever that leads.
    assume(rules != "mmotm" or "writeback_1" not in (row["step"], other))
    assert finds(replace(rows, folios=change(rows.folios, row["seq"], **{field: other})), rules), (
        row,
        other,
    )


@settings(max_examples=25, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(RULES[3:]), data=st.data())
def test_another_flag_of_an_accounted_folio_is_found(
    seed: int, rules: str, data: st.DataObject
) -> None:
    """A file page's own flags count where its file system was not asked."""
    rows = recorded(rules, seed, cpus=1)
    accounted = rows.folios.filter(
        pl.col("file")
        & ~pl.col("lazyfree")
        & pl.col("fs_dirty").is_null()
        & ~pl.col("step").is_in(["lock", "evictable"])
        & pl.col("list").is_in(rows.lists["list"].implode())
    )
    name = data.draw(st.sampled_from(["dirty", "writeback"]))
    if name == "dirty":
        accounted = accounted.filter(~pl.col("writeback"))
    else:
        accounted = accounted.filter(~pl.col("dirty") | ~pl.col("writeback"))
    assume(accounted.height)
    row = accounted.row(data.draw(st.integers(0, accounted.height - 1)), named=True)
    assert finds(
        replace(rows, folios=change(rows.folios, row["seq"], **{name: not row[name]})), rules
    )


@settings(max_examples=25, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(RULES), data=st.data())
def test_a_sleep_too_few_or_too_many_or_of_another_length_is_found(
    seed: int, rules: str, data: st.DataObject
) -> None:
    """Each call has its asker and its length, and who asks has its call."""
    rows = recorded(rules, seed, cpus=data.draw(st.sampled_from([1, 2])))
    verdict = verify_stalls(rows, rules=rules)
    many = "isolated" if rules == "6.1" else "congestion_wait"
    asked = rows.throttles.filter(
        ((pl.col("list") > 0) | (pl.col("reason") != many))
        & (
            pl.col("list").is_in(verdict.lists["list"].implode())
            | ((pl.col("list") == 0) & pl.col("pass").is_in(verdict.passes["pass"].implode()))
        )
    )
    assume(asked.height)
    row = asked.row(data.draw(st.integers(0, asked.height - 1)), named=True)
    at = pl.col("seq") == row["seq"]
    kind = data.draw(st.sampled_from(["few", "many", "length"]))
    if kind == "few":
        throttles = rows.throttles.filter(~at)
    elif kind == "many":
        free = {row["seq"], row["seq"] + 1} - _used(rows)
        assume(free)
        throttles = pl.concat(
            [
                rows.throttles,
                rows.throttles.filter(at).with_columns(seq=pl.lit(min(free), pl.UInt64)),
            ]
        ).sort("seq")
    else:
        other = 0 if row["timeout_us"] else 4000
        throttles = change(rows.throttles, row["seq"], timeout_us=other, delayed_us=0)
    assert finds(replace(rows, throttles=throttles), rules)


def _used(rows: ReclaimRows) -> set[int]:
    return {seq for part in PARTS for seq in getattr(rows, part)["seq"].to_list()}


@settings(max_examples=20, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(RULES), data=st.data())
def test_another_sleep_asked_for_is_found(seed: int, rules: str, data: st.DataObject) -> None:
    """The sleep that a pass or a round asks for is the rules'."""
    rows = recorded(rules, seed, cpus=1)
    part = data.draw(st.sampled_from(["passes", "rounds"]))
    frame = getattr(rows, part)
    assume(frame.height)
    row = frame.row(data.draw(st.integers(0, frame.height - 1)), named=True)
    reasons = [None, "writeback", "congested", "noprogress", "wait_iff_congested"]
    other = data.draw(st.sampled_from([reason for reason in reasons if reason != row["throttle"]]))
    assert finds(replace(rows, **{part: change(frame, row["seq"], throttle=other)}), rules)


@settings(max_examples=15, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(RULES), data=st.data())
def test_other_flags_cleared_are_found(seed: int, rules: str, data: st.DataObject) -> None:
    """Each occasion clears the flags that it clears."""
    rows = recorded(rules, seed, cpus=1)
    assume(rows.clears.height)
    row = rows.clears.row(data.draw(st.integers(0, rows.clears.height - 1)), named=True)
    other = data.draw(st.sampled_from([f for f in range(1, 8) if f != row["flags"]]))
    assert finds(replace(rows, clears=change(rows.clears, row["seq"], flags=other)), rules)


@settings(max_examples=15, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(RULES), data=st.data())
def test_a_lost_row_is_found(seed: int, rules: str, data: st.DataObject) -> None:
    """No folio, list or pass can be missing where its task goes on."""
    rows = alone(seed, rules)
    part = data.draw(st.sampled_from(["folios", "lists", "passes"]))
    frame = getattr(rows, part)
    ended = frame.filter(pl.col("seq") < (rows.passes["seq"].max() or 0))
    if part != "passes":
        ended = ended.filter(pl.col("list") > 1)
    if part == "passes":
        ended = ended.filter(pl.col("pass").is_in(rows.lists["pass"].implode()))
    assume(ended.height)
    lost = ended["seq"][data.draw(st.integers(0, ended.height - 1))]
    assert finds(replace(rows, **{part: frame.filter(pl.col("seq") != lost)}), rules)


@settings(max_examples=15, suppress_health_check=RELAXED)
@given(seed=SEEDS, rules=st.sampled_from(RULES), data=st.data())
def test_lists_in_another_order_are_found(seed: int, rules: str, data: st.DataObject) -> None:
    """Two lists of a task, or two folios of two lists, cannot change places."""
    rows = alone(seed, rules)
    firsts = rows.folios.group_by("list", maintain_order=True).first()
    assume(firsts.height > 2)
    n = data.draw(st.integers(0, firsts.height - 3))
    one, two = firsts["seq"][n], firsts["seq"][n + 1]
    seq = pl.col("seq")
    swapped = pl.when(seq == one).then(two).when(seq == two).then(one).otherwise(seq)
    folios = rows.folios.with_columns(seq=swapped.cast(pl.UInt64)).sort("seq")
    assert finds(replace(rows, folios=folios), rules)


@pytest.mark.parametrize("rules", ["3.9", "series-3", "6.1"])
def test_a_folio_at_fault_is_told_with_what_the_rules_make_of_it(rules: str) -> None:
    """Behind its row stands what it counts as, and whether it goes on or is written, and why."""
    rows = alone(0, rules)
    row = rows.folios.filter(pl.col("step").is_in(["writeback_2", "written"])).row(0, named=True)
    wrong = change(rows.folios, row["seq"], step="dirty")
    told = verify_stalls(replace(rows, folios=wrong), rules=rules).first
    (at,) = (place for place, line in enumerate(told) if line.endswith("<- here"))
    assert told[at + 1].startswith("      rules: counts as ")


@pytest.mark.parametrize(("rules", "sleep"), [("3.9", "wait_iff_congested"), ("6.1", "noprogress")])
def test_a_round_at_fault_is_told_with_its_reason(rules: str, sleep: str) -> None:
    """Which sleep the rules ask for at its end or not, and why."""
    rows = rows_of(kernel(rules, 20, cpus=1))
    wrong = change(rows.rounds, rows.rounds["seq"][0], throttle="congested")
    told = verify_stalls(replace(rows, rounds=wrong), rules=rules).first
    assert told[0].startswith("first mismatch: the round of pass ")
    assert told[-1].startswith(f"  rules:  sleep {sleep} is not requested: ")
