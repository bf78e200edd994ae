# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of generated kernels verify by their own rules, and each change of one is found."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from random import Random
from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from oracle_stall_recording import RULES, Kernel, Rates, Task

from swapsim.errors import InputError
from swapsim.stall.recording import ReclaimRows
from swapsim.stall.verify import verify_rows

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
SEEDS = st.integers(0, 2**32)
PARTS = ("folios", "lists", "passes", "throttles", "rounds", "clears")
RATES = (
    Rates(),
    Rates(file=1, dirty=1, writeback=0, early=0, large=0),
    Rates(file=1, dirty=0.2, writeback=1, reclaim=1, private=0, early=0),
    Rates(file=0.5, dirty=0.9, writeback=0.9, reclaim=0.9, congested=0.9),
    Rates(file=0.9, dirty=0.1, writeback=0.05, reclaim=0.1),
)


def tasks(cpus: int, draw: Random) -> list[Task]:
    """Return kswapd, direct reclaimers, and reclaimers of cgroups v1 and v2."""
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
    made = Kernel(rules, draw, tasks(cpus, draw), cpus=cpus, rates=draw.choice(RATES))
    made.run(steps)
    return made


def rows_of(made: Kernel) -> ReclaimRows:
    """Return a kernel's recording."""
    return ReclaimRows(**dict(zip(PARTS, made.frames().values(), strict=True)))


@cache
def recorded(rules: str, cpus: int = 1) -> ReclaimRows:
    """Return a recording with rows in each table, whose first list ended in it."""
    for seed in count():
        rows = rows_of(kernel(rules, seed, cpus=cpus))
        requests = rules != "6.1" or rows.passes["throttle"].count() > 0
        complete = rows.lists["list"].min() == 1 and all(
            getattr(rows, part).height for part in PARTS
        )
        if complete and requests:
            return rows
    raise AssertionError


@cache
def alone(seed: int, rules: str, *, changed: float = 0.03) -> ReclaimRows:
    """Return the rows of a kswapd without other tasks: their order leaves no flag open."""
    draw = Random(seed)
    rates = replace(draw.choice(RATES), changed=changed)
    made = Kernel(rules, draw, [Task(1, 0, kswapd=True)], rates=rates)
    made.run(60)
    return rows_of(made)


def finds(rows: ReclaimRows, rules: str, **changed: pl.DataFrame) -> bool:
    """Return whether a trace with other tables is refused, or differs from the rules."""
    try:
        return not verify_rows(replace(rows, **changed), rules=rules).agrees
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


def any_row(frame: pl.DataFrame, draw: Random) -> dict[str, Any]:
    """Return one of the rows."""
    return frame.row(draw.randrange(frame.height), named=True)


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=3, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([1, 2, 4]), steps=st.just(80))
@example(seed=11877, cpus=1, steps=150)
@example(seed=2_000_039, cpus=2, steps=150)
def test_a_recording_verifies_by_the_rules_of_its_kernel(
    rules: str, seed: int, cpus: int, steps: int
) -> None:
    """Every list, pass and sleep agrees, for all rates of pages, rules and numbers of CPUs.

    Only the end of the first list proves that no earlier row was lost; without it the first lists
    and passes of the other tasks are counted as possibly incomplete.
    """
    rows = rows_of(kernel(rules, seed, cpus=cpus, steps=steps))
    assume(rows.passes.height)
    found = verify_rows(rows, rules=rules)
    assert found.agrees, "\n".join(found.describe())
    earlier = {
        kind: found.figures[f"{kind} that may have begun before the recording"]
        for kind in ("lists", "passes")
    }
    for kind, n in earlier.items():
        assert found.counts[kind][1] + n == getattr(rows, kind).height
    assert rows.lists["list"].min() != 1 or not any(earlier.values())
    assert found.counts["throttles"][0] == rows.throttles.height


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=3, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([1, 3]), data=st.data())
def test_a_recording_may_begin_and_end_at_any_row(
    rules: str, seed: int, cpus: int, data: st.DataObject
) -> None:
    """Lists that the ends cut are counted, and all between them agree."""
    made = kernel(rules, seed, cpus=cpus, steps=80)
    begin = data.draw(st.integers(0, made.seq // 2))
    end = data.draw(st.integers(begin, made.seq + 1))
    complete = rows_of(made)
    # A recording with the first list complete has lost no earlier row.
    if begin <= (complete.folios.filter(pl.col("list") == 1)["seq"].min() or 0):
        begin = 0
    rows = cut(complete, begin, end)
    found = verify_rows(rows, rules=rules)
    assert found.agrees, "\n".join(found.describe())
    left_out = sum(n for kind, n in found.figures.items() if kind.startswith("lists "))
    assert found.counts["lists"][1] + left_out >= rows.lists.height


def cut(rows: ReclaimRows, begin: int, end: int) -> ReclaimRows:
    """Return the rows from a seq to another."""
    within = pl.col("seq").is_between(begin, end)
    return ReclaimRows(**{part: getattr(rows, part).filter(within) for part in PARTS})


@pytest.mark.parametrize(
    ("rules", "seed", "cpus", "begin", "end"),
    [
        pytest.param("series-5", 52, 3, 0, 306, id="a clear of kswapd, whose lists are known"),
        pytest.param("3.11", 1023924, 3, 5, 94, id="a clear of a task that ended no list"),
        pytest.param("series-1", 645795, 2, 547, 1126, id="a flag set in a list after a clear"),
        pytest.param("3.11", 693351, 3, 0, 2395, id="a row filled in after the end"),
    ],
)
def test_the_end_of_a_recording_may_cut_off_the_row_that_explains_a_flag(
    rules: str, seed: int, cpus: int, begin: int, end: int
) -> None:
    """A flag is written before the row that reports it, so another task may read it before."""
    found = verify_rows(cut(rows_of(kernel(rules, seed, cpus=cpus)), begin, end), rules=rules)
    assert found.agrees, "\n".join(found.describe())


def test_other_rules_do_not_verify() -> None:
    """A kernel's decisions are not those of another rule set."""
    assert not verify_rows(recorded("6.1"), rules="3.11").agrees


# Changes of a recording, in any row in which each other value has to show.


class Changed(NamedTuple):
    """A column of a table, the values that another one can be, and where none can pass."""

    part: str
    name: str
    others: Callable[[Any], Iterable[Any]]
    where: pl.Expr = pl.lit(value=True)
    rules: Sequence[str] = RULES
    alone: bool = False


COUNTERS = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken", "scanned")
OF_LISTS = ("pageout", "activate_anon", "activate_file", "ref_keep", "unmap_fail", "reclaimed")
STEPS = ("writeback_1", "writeback_2", "dirty", "written", "freed", "reference_keep")
OUTCOMES = ("reclaimed", "kept", "activated", "written")
SLEEPS = ("writeback", "congested", "noprogress")
# Without the counters of its first list a recording may have lost its beginning.
LATER = {"lists": pl.col("list") > 1, "passes": pl.col("pass") > 1}
# By the flags of the page, if the file system was not asked.
ACCOUNTED = pl.all_horizontal(
    pl.col("file"),
    ~pl.col("lazyfree"),
    pl.col("fs_dirty").is_null(),
    ~pl.col("step").is_in(["lock", "evictable"]),
)
CASES = (
    *(
        Changed(part, name, lambda value: [value + 1, abs(value - 1)], LATER[part])
        for part, names in (("lists", OF_LISTS), ("passes", ("file_taken",)))
        for name in (*COUNTERS, *names)
    ),
    # Until series-3 a list sleeps before it sets a flag, and the rows do not say which was first.
    # A task's second pass may find flags from before the recording.
    *(
        Changed(
            *(part, f"flags_{name}", lambda value: [value ^ 1, value ^ 2, value ^ 4]),
            *(pl.col("pass") > 2, ("3.9", *RULES[5:])),
            alone=True,
        )
        for part in LATER
        for name in ("set", "before", "after")
    ),
    # By mmotm a page of case 1 goes on, and may end at any step.
    *(
        Changed("folios", name, others, pl.col("step").is_in(STEPS), (RULES[0], *RULES[2:]))
        for name, others in (("step", lambda _: STEPS), ("outcome", lambda _: OUTCOMES))
    ),
    *(
        Changed("folios", name, lambda value: [not value], ACCOUNTED & counts, RULES[3:])
        for name, counts in (
            ("dirty", ~pl.col("writeback")),
            ("writeback", ~pl.col("dirty") | ~pl.col("writeback")),
        )
    ),
    Changed("passes", "throttle", lambda _: SLEEPS),
    Changed("passes", "throttle", lambda _: [None], pl.col("throttle").is_not_null(), ["6.1"]),
    Changed("rounds", "throttle", lambda _: SLEEPS),
    Changed("rounds", "throttle", lambda _: [None], pl.col("throttle").is_not_null(), ["3.9"]),
    Changed("clears", "flags", lambda _: range(1, 8)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.part} {case.name}")
def test_another_value_is_found(case: Changed) -> None:
    """No counter, flag, step, outcome or sleep can be another one."""
    draw = Random(f"{case.part} {case.name}")
    for rules in draw.sample(case.rules, min(2, len(case.rules))):
        rows = alone(draw.randrange(3), rules) if case.alone else recorded(rules)
        frame = getattr(rows, case.part)
        ended = pl.col("list").is_in(rows.lists["list"].implode())
        row = any_row(frame.filter(case.where, ended if case.part == "folios" else True), draw)
        for other in {*case.others(row[case.name])} - {row[case.name]}:
            changed = change(frame, row["seq"], **{case.name: other})
            assert finds(rows, rules, **{case.part: changed}), (rules, row["seq"], other)


def test_a_pass_that_reclaims_less_than_its_lists_is_found() -> None:
    """Shrinkers reclaim, too, so a pass may have more than its lists, and never less."""
    rows = recorded("6.1")
    of_lists = rows.lists.filter(pl.col("reclaimed") > 0).group_by("pass").agg(pl.sum("reclaimed"))
    row = of_lists.join(rows.passes, on="pass", suffix="_kernel").sort("pass").row(-1, named=True)
    less, more = (
        change(rows.passes, row["seq"], reclaimed=n)
        for n in (row["reclaimed"] - 1, row["reclaimed_kernel"] + 1)
    )
    assert finds(rows, "6.1", passes=less)
    assert not finds(rows, "6.1", passes=more)


def fewer(throttles: pl.DataFrame, row: dict[str, Any], _free: int) -> pl.DataFrame:
    """Return the throttles without a call."""
    return throttles.filter(pl.col("seq") != row["seq"])


def more(throttles: pl.DataFrame, row: dict[str, Any], free: int) -> pl.DataFrame:
    """Return the throttles with a call twice."""
    again = throttles.filter(pl.col("seq") == row["seq"])
    return pl.concat([throttles, again.with_columns(seq=pl.lit(free, pl.UInt64))]).sort("seq")


def longer(throttles: pl.DataFrame, row: dict[str, Any], _free: int) -> pl.DataFrame:
    """Return the throttles with another length of one."""
    other = 0 if row["timeout_us"] else 4000
    return change(throttles, row["seq"], timeout_us=other, delayed_us=0)


@pytest.mark.parametrize("rules", ["mmotm", "series-3", "series-6", "6.1"])
@pytest.mark.parametrize("alter", [fewer, more, longer])
def test_a_missing_additional_or_longer_sleep_is_found(
    alter: Callable[[pl.DataFrame, dict[str, Any], int], pl.DataFrame], rules: str
) -> None:
    """Each call has its request and its length, and each request its call."""
    draw = Random(f"{alter.__name__} {rules}")
    rows = recorded(rules, draw.choice((1, 2)))
    verdict = verify_rows(rows, rules=rules)
    many = "isolated" if rules == "6.1" else "congestion_wait"
    used = {seq for part in PARTS for seq in getattr(rows, part)["seq"].to_list()}
    of_list = pl.col("list") > 0
    in_list = pl.col("list").is_in(verdict.tables["lists"]["list"].implode())
    in_pass = ~of_list & pl.col("pass").is_in(verdict.tables["passes"]["pass"].implode())
    known = rows.throttles.filter((of_list | (pl.col("reason") != many)) & (in_list | in_pass))
    if alter is more:
        known = known.filter(~(pl.col("seq") + 1).is_in(used))
    row = any_row(known, draw)
    throttles = alter(rows.throttles, row, row["seq"] + 1)
    assert finds(rows, rules, throttles=throttles), row


@pytest.mark.parametrize("rules", ["mmotm", "series-7", "6.1"])
@pytest.mark.parametrize("part", ["folios", "lists", "passes"])
def test_a_lost_row_is_found(part: str, rules: str) -> None:
    """No folio, list or pass can be missing where its task goes on."""
    draw = Random(f"{part} {rules}")
    rows = alone(draw.randrange(3), rules)
    frame = getattr(rows, part)
    ended = frame.filter(pl.col("seq") < rows.passes["seq"].max())
    if part == "passes":
        ended = ended.filter(pl.col("pass").is_in(rows.lists["pass"].implode()))
    else:
        ended = ended.filter(pl.col("list") > 1)
    lost = any_row(ended, draw)["seq"]
    assert finds(rows, rules, **{part: frame.filter(pl.col("seq") != lost)})


@pytest.mark.parametrize("rules", ["mmotm", "series-7", "6.1"])
def test_lists_in_another_order_are_found(rules: str) -> None:
    """Two lists of a task, or two folios of two lists, cannot change places."""
    rows = alone(1, rules)
    firsts = rows.folios.group_by("list", maintain_order=True).first()
    for n in Random(rules).sample(range(firsts.height - 2), 2):
        one, two = firsts["seq"][n], firsts["seq"][n + 1]
        seq = pl.col("seq")
        swapped = pl.when(seq == one).then(two).when(seq == two).then(one).otherwise(seq)
        folios = rows.folios.with_columns(seq=swapped.cast(pl.UInt64)).sort("seq")
        assert finds(rows, rules, folios=folios)


def test_what_is_at_fault_is_described_with_the_decision_of_the_rules() -> None:
    """A folio has the branch of the rules, a round the sleep that was requested and theirs."""
    rows = alone(0, "series-3")
    row = rows.folios.filter(pl.col("step").is_in(["writeback_2", "written"])).row(0, named=True)
    wrong = change(rows.folios, row["seq"], step="dirty")
    lines = verify_rows(replace(rows, folios=wrong), rules="series-3").describe()
    assert any("<- here; by the rules " in line for line in lines)
    rows = rows_of(kernel("3.9", 20, cpus=1))
    wrong = change(rows.rounds, rows.rounds["seq"][0], throttle="congested")
    of_round = verify_rows(replace(rows, rounds=wrong), rules="3.9").describe()
    assert of_round[0].startswith("first mismatch: the round of pass ")
    assert "throttle congested" in of_round[1]
