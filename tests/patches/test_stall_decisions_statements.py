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

from swapsim import claims
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import statements
from swapsim.patches.stall_decisions.mail import STEPS
from swapsim.stall.recording import gather
from swapsim.stall.rows import ReclaimRows

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
BEFORE = dict(enumerate(STEPS[:-1], start=1))
"""The state of the series before each patch."""


def counted(rows: ReclaimRows) -> dict[int, tuple[int, int]]:
    """Return held and cases by patch."""
    found = statements.held_cases(rows)
    return {int(claim.split("-")[3]): (held, cases) for claim, held, cases in found.iter_rows()}


@cache
def summed(rules: str) -> dict[int, tuple[int, int]]:
    """Return the sums over generated kernels in which kswapd and one task reclaim globally."""
    sums = dict.fromkeys(range(1, 9), (0, 0))
    for rates in RATES:
        made = Kernel(rules, Random(1), [Task(1, 0, kswapd=True), Task(10, 0)], rates=rates)
        made.run(200)
        for number, (held, cases) in counted(rows_of(made)).items():
            sums[number] = (sums[number][0] + held, sums[number][1] + cases)
    return sums


@pytest.mark.parametrize("rules", RULES)
@settings(max_examples=2, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([1, 3]))
def test_cases_are_those_of_the_plain_model(rules: str, seed: int, cpus: int) -> None:
    """Row by row, for kernels of all rules, with cgroups, and with lists that are cut off."""
    rows = rows_of(kernel(rules, seed, cpus=cpus, steps=120))
    complete = set(gather(rows).lists["list"])
    assert counted(rows) == oracle_statements.held_cases(rows, complete)


def test_all_statements_hold_by_the_rules_of_the_series() -> None:
    """There are cases of each, and none is violated."""
    found = summed("series-8")
    assert all(held == cases > 0 for held, cases in found.values()), found


@pytest.mark.parametrize("number", BEFORE)
def test_a_statement_is_violated_by_the_rules_before_its_patch(number: int) -> None:
    """So a count that holds in all cases says something."""
    held, cases = summed(BEFORE[number])[number]
    assert held < cases


def test_a_real_kernel_by_the_rules_of_the_series() -> None:
    """Its statements hold in all cases; by mmotm's rules those of patches 2 to 6 do not."""
    held = patch.studies.held.load()
    known = claims.published_claims().filter(unit="behaviour", patch=patch.PATCH)["claim"]
    by_rules = {
        rules: held.filter(rules=rules).rows_by_key("claim", named=True, unique=True)
        for rules in statements.TRACES
    }
    assert all(list(rows) == known.to_list() for rows in by_rules.values())
    assert all(row["held"] == row["cases"] for row in by_rules["series-8"].values())
    before = by_rules["mmotm"].items()
    violated = [int(claim.split("-")[3]) for claim, row in before if row["held"] < row["cases"]]
    assert violated == [2, 3, 4, 5, 6]
    answered = patch.answers().filter(pl.col("claim").is_in(known.implode()))
    assert answered["held"].to_list() == [row["held"] for row in by_rules["series-8"].values()]
    assert set(answered["source"]) == {"measured"}
