# SPDX-License-Identifier: GPL-2.0-or-later
"""What each patch gains along a factor is the range over its fits, of its own cases."""

from dataclasses import replace

import polars as pl
import pytest

from swapsim.machine.costs import costs
from swapsim.machine.tables import WHAT_IF_RANGES
from swapsim.machine.what_if import Case, gain, gains, ranges, trials
from swapsim.patches.cluster_next import studies as studies_of_d
from swapsim.patches.cluster_next.prediction import IN_MEMORY_HIGH, IN_MEMORY_LOW
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


@pytest.mark.parametrize("metric", ["swap_out", "accesses"])
def test_a_gain_along_a_factor_is_that_of_its_cases(metric: str) -> None:
    """Patch A gains in pages out a second, patch D in pmbench's score."""
    of_a = metric == "swap_out"
    made = studies_of_a.cases_by_writers if of_a else studies_of_d.cases_by_tasks
    cases = [shortened(case) for case in made([2, 4])]
    found = ranges(gains(cases, {"as it is": costs()}, metric=metric, seeds=[3], executor=SERIAL))
    assert found.schema == WHAT_IF_RANGES.schema
    assert found["setting"].to_list() == [2, 4]
    assert found["low"].equals(found["high"].alias("low"))


def test_a_part_in_memory_that_is_open_has_a_machine_of_its_own() -> None:
    """Its ends are no row of data/costs.csv."""
    names = ("copy_ns, low", "copy_ns, high", "in_memory, low")
    points = [
        trial
        for name in names
        for trial in trials([shortened(studies_of_d.case_of_mail(name))], {name: costs()})
    ]
    gained = pl.concat(gain(replace(trial, metric="accesses")) for trial in points)
    table = studies_of_d.by_constant(gained)
    assert set(table["constant"]) == {"copy_ns", "in_memory"}
    low = table.filter(constant="in_memory").row(0, named=True)
    assert (low["at_low"], low["at_high"]) == (IN_MEMORY_LOW, IN_MEMORY_HIGH)
    usual = studies_of_d.case_of_mail
    assert usual("in_memory, low").base.frames < usual("copy_ns, low").base.frames
