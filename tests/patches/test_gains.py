# SPDX-License-Identifier: GPL-2.0-or-later
"""What each patch gains along a factor is the range over its fits, of its own cases."""

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

from swapsim.machine.costs import costs
from swapsim.machine.fit import Fitted
from swapsim.machine.tables import FIT, WHAT_IF_RANGES
from swapsim.machine.what_if import Case, by_constant, gain_ranges, gains, ranges
from swapsim.patches import writeback_tags
from swapsim.patches.cluster_next import questions as questions_of_d
from swapsim.patches.cluster_next.machines import IN_MEMORY_HIGH, IN_MEMORY_LOW
from swapsim.patches.writeback_tags import questions as questions_of_a
from swapsim.study import SerialExecutor

SERIAL = SerialExecutor()
FITS = {"as it is": costs()}
ENDS = {"copy_ns, low": costs(), "copy_ns, high": costs()}


def fitted() -> dict[str, Fitted]:
    """Return fits that need no fitting."""
    return {
        name: Fitted(constants=constants, residuals=pl.DataFrame(schema=FIT.schema), converged=True)
        for name, constants in ENDS.items()
    }


def shortened(case: Case) -> Case:
    """Return the case on less memory and a smaller device, watched for a short time."""
    small = {"frames": 2**13, "slots": 2**16, "warmup_ns": 1_000_000, "duration_ns": 5_000_000}
    return replace(
        case,
        base=replace(case.base, **small, pages=2**12),
        patched=replace(case.patched, **small, pages=2**12),
    )


def brief(cases: Callable[..., list[Case]]) -> Callable[..., list[Case]]:
    """Return the same cases, shortened."""
    return lambda settings: [shortened(case) for case in cases(settings)]


@pytest.mark.parametrize("metric", ["swap_out", "accesses"])
def test_a_gain_along_a_factor_is_that_of_its_cases(metric: str) -> None:
    """Patch A gains in pages out a second, patch D in pmbench's score."""
    of_a = metric == "swap_out"
    made = brief(questions_of_a.cases_by_writers if of_a else questions_of_d.cases_by_tasks)
    cases = made([2, 4])
    found = gain_ranges(cases, FITS, metric=metric, seeds=[3], executor=SERIAL)
    assert found.schema == WHAT_IF_RANGES.schema
    assert found.equals(ranges(gains(cases, FITS, metric=metric, seeds=[3], executor=SERIAL)))


def test_a_gain_by_constant_of_patch_a_is_that_of_its_mails_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With as many writers as the mail has, a row for each constant."""
    made = brief(questions_of_a.cases_by_writers)
    monkeypatch.setattr(questions_of_a, "cases_by_writers", made)
    found = writeback_tags.gain_by_constant(fitted())
    assert found.equals(by_constant(gains(made([8]), ENDS, seeds=[1, 2])))
    assert found["constant"].to_list() == ["copy_ns"]


def test_a_gain_by_constant_of_patch_d_is_that_of_its_mails_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A part in memory that is open has a machine of its own."""
    usual = questions_of_d.case_of_mail

    def made(name: str) -> Case:
        return shortened(usual(name))

    monkeypatch.setattr(questions_of_d, "case_of_mail", made)
    open_part = {"in_memory, low": next(iter(fitted().values()))}
    gained = questions_of_d.gains_by_constant(fitted() | open_part, seeds=[1], executor=SERIAL)
    table = questions_of_d.by_constant(gained)
    assert set(table["constant"]) == {"copy_ns", "in_memory"}
    low = table.filter(constant="in_memory").row(0, named=True)
    assert (low["at_low"], low["at_high"]) == (IN_MEMORY_LOW, IN_MEMORY_HIGH)
    assert usual("in_memory, low").base.frames < usual("copy_ns, low").base.frames
