# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's policy under observation gives the same slots, and its errors name the line."""

import random
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

import swapsim
from swapsim import progress
from swapsim.errors import InputError
from swapsim.policies import Observation, Policy
from swapsim.slots.config import Churn, Device
from swapsim.slots.workbench import measure, require_sound

DEVICE = Device(slots=2**16, trunk_shift=11, possible_cpus=4, seed=3)
CHURN = Churn(pages=2**10, warm_up_pages=2**12)


@cache
def looks_around() -> Policy:
    """Continue, or go to the next trunk if another CPU is in this one; sometimes at random."""
    import numba

    @numba.njit
    def trunk_behind(slot: int, trunk_size: int) -> int:
        return (slot // trunk_size + 1) * trunk_size

    @swapsim.policy(base_of="cpu")
    def made(cpu, next, lowest, highest, trunk_size, draw, bases):  # noqa: A002
        for other in range(len(bases)):
            if other != cpu and bases[other] // trunk_size == next // trunk_size:
                further = trunk_behind(next, trunk_size)
                return further if further <= highest else lowest
        return next if draw % 7 else max(lowest, draw % (highest + 1))

    return made


def overflows() -> Policy:
    """Mix bits in 64-bit integers, which overflow in compiled code."""

    @swapsim.policy(base_of="mm")
    def made(next, draw, lowest, highest):  # noqa: A002
        return lowest + abs((draw * 6364136223846793005 + next) >> 3) % (highest - lowest + 1)

    return made


@pytest.mark.parametrize("make", [looks_around, overflows])
def test_observation_changes_nothing(make: Callable[[], Policy]) -> None:
    """The machine code answers, so the run is the same, slot by slot."""
    observation = Observation(policy := make())
    observed, alone = (
        measure(replace(DEVICE, policy=each), CHURN) for each in (observation.policy, policy)
    )
    observation.check()
    assert observed == alone


def test_a_call_that_returns_no_slot_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    """The error has the line, the call and what to return; nothing is printed."""

    @swapsim.policy(base_of="cpu")
    def leaves(next, highest):  # noqa: A002
        if next > 2**15:
            return highest + 1
        return next

    with pytest.raises(InputError, match=r"returns \d+, which is no slot, at the call") as error:
        require_sound(leaves, DEVICE, CHURN)
    line = leaves.function.__code__.co_firstlineno + 3
    assert f"{__file__}, line {line}: policy leaves" in str(error.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_ends_the_run_and_the_tracing() -> None:
    """Python would call a trace function that is left while it shuts down, and print its error."""
    draws, handler = random.Random(5), signal.signal(signal.SIGALRM, progress._interrupt)
    try:
        for _ in range(300):
            progress._came = None
            with pytest.raises(KeyboardInterrupt):
                run_until(draws.uniform(1e-5, 1e-3))
            assert sys.gettrace() is None
    finally:
        sys.settrace(None)
        progress._came = None
        signal.signal(signal.SIGALRM, handler)


def run_until(seconds: float) -> None:
    """Observe one policy again and again; an alarm ends it."""
    small, few = replace(DEVICE, slots=2**12), Churn(pages=2**4, warm_up_pages=2**5)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    while True:
        require_sound(looks_around(), small, few)
        # Python drops the exception if the alarm comes during a destructor.
        progress.check_interrupted()
