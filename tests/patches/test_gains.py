# SPDX-License-Identifier: GPL-2.0-or-later
"""What each patch gains along a factor is the range over its fits, of its own cases."""

from dataclasses import replace

from swapsim.machine.costs import costs
from swapsim.machine.what_if import Case, gains, ranges
from swapsim.patches.writeback_tags import studies as studies_of_a
from swapsim.study import SerialExecutor

SERIAL = SerialExecutor()


def shortened(case: Case) -> Case:
    """Return the case on less memory and a smaller device, in a short run."""
    small = {"frames": 2**13, "slots": 2**16, "warmup_ns": 1_000_000, "duration_ns": 5_000_000}
    return replace(
        case,
        base=replace(case.base, **small, pages=2**12),
        patched=replace(case.patched, **small, pages=2**12),
    )


def test_a_gain_along_a_factor_is_that_of_its_cases() -> None:
    """Each number of writers has its own range over fits and seeds."""
    cases = [shortened(case) for case in studies_of_a.cases_by_writers([2, 4])]
    found = ranges(gains(cases, {"as it is": costs()}, seeds=[3], executor=SERIAL))
    assert found["setting"].to_list() == [2, 4]
    assert found["low"].equals(found["high"].alias("low"))
