# SPDX-License-Identifier: GPL-2.0-or-later
"""What each patch gains along a factor is the range over its fits, of its own cases."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim.machine.costs import costs
from swapsim.machine.fit import Fitted
from swapsim.machine.what_if import Case, by_constant, gains, ranges
from swapsim.patches import cluster_next, writeback_tags
from swapsim.patches.cluster_next import questions as questions_of_d
from swapsim.patches.writeback_tags import questions as questions_of_a
from swapsim.schemas import FIT, WHAT_IF_RANGES
from swapsim.sweep import SerialExecutor

SERIAL = SerialExecutor()
FITS = {"as it is": costs()}
FACTORS = [
    (writeback_tags, questions_of_a, "writers", [2, 4]),
    (writeback_tags, questions_of_a, "trunk_size", [8, 20]),
    (writeback_tags, questions_of_a, "drive", [8]),
    (cluster_next, questions_of_d, "tasks", [2, 4]),
    (cluster_next, questions_of_d, "trunk_size", [8, 20]),
    (cluster_next, questions_of_d, "drive", [8]),
]


def brief(cases: Callable[..., list[Case]]) -> Callable[..., list[Case]]:
    """Return the same cases on less memory and a smaller device, watched for a short time."""
    small = {"frames": 2**13, "slots": 2**16, "warmup_ns": 1_000_000, "duration_ns": 5_000_000}

    def made(settings: Sequence[int], **fields: Any) -> list[Case]:
        return [
            replace(
                case,
                base=replace(case.base, **small, pages=2**12),
                patched=replace(case.patched, **small, pages=2**12),
            )
            for case in cases(settings, **fields)
        ]

    return made


@pytest.mark.parametrize(("patch", "questions", "factor", "settings"), FACTORS)
def test_a_gain_along_a_factor_is_that_of_its_cases(
    monkeypatch: pytest.MonkeyPatch, patch: Any, questions: Any, factor: str, settings: list[int]
) -> None:
    """Patch A gains in pages out a second, patch D in pmbench's score."""
    cases = brief(getattr(questions, f"cases_by_{factor}"))
    monkeypatch.setattr(questions, f"cases_by_{factor}", cases)
    found = getattr(patch, f"gain_by_{factor}")(FITS, settings, seeds=[3], executor=SERIAL)
    metric = "accesses" if patch is cluster_next else "swap_out"
    expected = gains(cases(settings), FITS, metric=metric, seeds=[3], executor=SERIAL)
    assert found.schema == WHAT_IF_RANGES
    assert found.equals(ranges(expected))


@pytest.mark.parametrize(
    ("patch", "questions", "cases", "setting", "seeds", "metric"),
    [
        (writeback_tags, questions_of_a, "cases_by_writers", 8, [1, 2], "swap_out"),
        (cluster_next, questions_of_d, "cases_by_tasks", 16, [1, 2, 3], "accesses"),
    ],
)
def test_a_gain_by_constant_is_that_of_the_mails_machine(
    monkeypatch: pytest.MonkeyPatch,
    patch: Any,
    questions: Any,
    cases: str,
    setting: int,
    seeds: list[int],
    metric: str,
) -> None:
    """With as many tasks as the mail has, a row for each constant."""
    made = brief(getattr(questions, cases))
    monkeypatch.setattr(questions, cases, made)
    fits = {"copy_ns, low": costs(), "copy_ns, high": costs()}
    fitted = {
        name: Fitted(constants=constants, residuals=pl.DataFrame(schema=FIT), converged=True)
        for name, constants in fits.items()
    }
    found = patch.gain_by_constant(fitted)
    more = {"policy": "percpu"} if patch is cluster_next else {}
    expected = by_constant(gains(made([setting], **more), fits, metric=metric, seeds=seeds))
    assert found.equals(expected)
    assert found["constant"].to_list() == ["copy_ns"]
