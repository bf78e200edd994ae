# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader's policy under observation does the same, and what it does wrong is told."""

from dataclasses import replace

import numba
import pytest

import swapsim
from swapsim import slots
from swapsim.errors import InputError
from swapsim.policies._native import Observation
from swapsim.policies.policy import Policy
from swapsim.slots.config import ChurnConfig, SlotsConfig

DEVICE = SlotsConfig(slots=2**16, trunk_shift=11, possible_cpus=4, seed=3)
CHURN = ChurnConfig(pages=2**10, warm_up_pages=2**12)


@numba.njit
def trunk_behind(slot: int, trunk_size: int) -> int:
    """Return where the next trunk begins."""
    return (slot // trunk_size + 1) * trunk_size


@swapsim.policy(base_of="cpu")
def looks_around(cpu, next, lowest, highest, trunk_size, draw, bases):  # noqa: A002
    """Go on, or to the next trunk if another CPU is in this one; by chance now and then."""
    for other in range(len(bases)):
        if other != cpu and bases[other] // trunk_size == next // trunk_size:
            further = trunk_behind(next, trunk_size)
            return further if further <= highest else lowest
    return next if draw % 7 else max(lowest, draw % (highest + 1))


@swapsim.policy(base_of="mm")
def overflows(next, draw, lowest, highest):  # noqa: A002
    """Mix bits as compiled code does, whose integers have 64."""
    return lowest + abs((draw * 6364136223846793005 + next) >> 3) % (highest - lowest + 1)


@pytest.mark.parametrize("policy", [looks_around, overflows])
def test_to_be_watched_changes_nothing(policy: Policy) -> None:
    """The machine code answers, so the run is the same, slot by slot."""
    watch = Observation(policy)
    watched, alone = (
        slots.measure(replace(DEVICE, policy=each), CHURN) for each in (watch.policy, policy)
    )
    watch.check()
    assert watched.equals(alone)


def test_a_call_that_goes_wrong_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """The line that returned, the call, and what to return; nothing is printed on the way."""

    @swapsim.policy(base_of="cpu")
    def leaves(next, highest):  # noqa: A002
        if next > 2**15:
            return highest + 1
        return next

    with pytest.raises(InputError, match=r"returns \d+, which is no slot, at the call") as error:
        slots.require_sound(leaves, DEVICE, CHURN)
    line = leaves.function.__code__.co_firstlineno + 3
    assert f"{__file__}, line {line}: policy leaves" in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_in_a_call_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes while C calls Python, where it would be lost."""

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Observation, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        slots.require_sound(looks_around, DEVICE, CHURN)
