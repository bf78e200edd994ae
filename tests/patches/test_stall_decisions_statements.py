# SPDX-License-Identifier: GPL-2.0-or-later
"""What a recording shows of the statements of patches 1 to 8, on generated and real kernels."""

from functools import cache
from random import Random

import oracle_statements
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_stall_recording import RULES, Kernel, Task
from test_verify import RATES, SEEDS, kernel, rows_of

from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import statements
from swapsim.patches.stall_decisions.mail import STEPS
from swapsim.stall.recording import gather
from swapsim.stall.rows import ReclaimRows

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
BEFORE = dict(enumerate(STEPS[:-1], start=1))
"""The state of the series before each patch."""


def counted(rows: ReclaimRows) -> list[tuple[int, int, int]]:
    """Return patch, held and cases by part."""
    found = statements.held_cases(rows).drop("part")
    return [(int(claim.split("-")[3]), held, cases) for claim, held, cases in found.iter_rows()]


@cache
def summed(rules: str) -> list[tuple[int, int, int]]:
    """Return the sums over generated kernels in which kswapd and one task reclaim globally."""
    found = []
    for rates in RATES:
        made = Kernel(rules, Random(1), [Task(1, 0, kswapd=True), Task(10, 0)], rates=rates)
        made.run(200)
        found.append(counted(rows_of(made)))
    return [
        (part[0][0], sum(n[1] for n in part), sum(n[2] for n in part))
        for part in zip(*found, strict=True)
    ]


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=2, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([1, 3]))
def test_cases_are_those_of_the_plain_model(rules: str, seed: int, cpus: int) -> None:
    """Row by row, for kernels of all rules, with cgroups, and with lists that are cut off."""
    rows = rows_of(kernel(rules, seed, cpus=cpus, steps=120))
    complete = set(gather(rows).lists["list"])
    assert counted(rows) == oracle_statements.held_cases(rows, complete)


def test_all_statements_hold_by_the_rules_of_the_series() -> None:
    """There are cases of each part, and none is violated."""
    found = summed("series-8")
    assert all(held == cases > 0 for _, held, cases in found), found


@pytest.mark.parametrize("number", BEFORE)
def test_a_statement_is_violated_by_the_rules_before_its_patch(number: int) -> None:
    """So a count that holds in all cases says something."""
    assert any(held < cases for patch, held, cases in summed(BEFORE[number]) if patch == number)


def test_a_real_kernel_by_the_rules_of_the_series() -> None:
    """Its statements hold in all cases; by mmotm's rules those of patches 2 to 6 do not."""
    held = patch.studies.held.load()
    failed = held.filter(pl.col("held") < pl.col("cases")).group_by("rules")
    by_rules = {
        rules: sorted(set(rows["claim"].str.extract(r"-(\d)-"))) for (rules,), rows in failed
    }
    assert by_rules == {"mmotm": ["2", "3", "4", "5", "6"]}


def test_a_statement_is_open_if_one_of_its_parts_has_no_case() -> None:
    """A violated part comes first, then the one with the fewest cases."""
    held = pl.DataFrame(
        [("a", "x", 3, 3), ("a", "y", 0, 0), ("b", "x", 2, 3), ("b", "y", 0, 0), ("c", "x", 1, 1)],
        schema=["claim", "part", "held", "cases"],
        orient="row",
    ).with_columns(rules=pl.lit("series-8"), trace=pl.lit("t"))
    answered = [(each.claim, each.held, each.cases) for each in statements.answers_of(held)]
    assert answered == [("a", 0, 0), ("b", 2, 3), ("c", 1, 1)]


def test_a_statement_is_open_if_a_part_of_it_holds_without_the_patch_too() -> None:
    """A count that fails without the patch, or has no case there, decides; so does a violation."""
    parts = {  # claim: held and cases by the series' rules, and by those of the base
        "always": (9, 9, 4, 4),
        "once violated": (8, 9, 4, 4),
        "now": (9, 9, 3, 4),
        "not before": (9, 9, 0, 0),
    }
    rows = [
        (claim, "x", rules, "t", *counts)
        for claim, (held, cases, *before) in parts.items()
        for rules, counts in (("series-8", (held, cases)), ("mmotm", before))
    ]
    schema = ["claim", "part", "rules", "trace", "held", "cases"]
    answered = statements.answers_of(pl.DataFrame(rows, schema=schema, orient="row"))
    assert {each.claim: (each.held, each.cases) for each in answered} == {
        "always": (0, 0),
        "once violated": (8, 9),
        "now": (9, 9),
        "not before": (9, 9),
    }
    assert answered[0].what == "x, in the trace t: all 9 hold, as 4 without the patch"
