# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader's policy under observation: which of its lines raises, has no end, or returns no slot.

What numba compiled tells none of it: an answer that is no slot is counted, a loop without end
hangs. So the C core calls back into Python here, where the function runs step by step, and then
its machine code: that one answers. The first call that goes wrong is kept.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType, FunctionType
from typing import Any, Final

import numpy as np

from swapsim._core import ffi
from swapsim.errors import InputError
from swapsim.policies.compiler import PARAMETERS, fault
from swapsim.policies.file import line_in
from swapsim.policies.policy import Policy

MOST_STEPS: Final = 1_000_000
"""Lines of one call: who runs more is held to run without end."""

_BUDGET: Final = 5_000_000
"""Lines of all calls that are followed; later ones are asked of the machine code alone."""

_STORE: Final = ffi.typeof(ffi.new("struct sws_slots_config *").reader.store)


class _Endless(BaseException):
    """A call has taken too many steps; no policy catches this."""


class Watch:
    """The calls of one policy: `policy` is what a device is to be made with.

    Attributes
    ----------
    policy : Policy
        The same one, called through here.
    """

    def __init__(self, policy: Policy) -> None:
        self._watched = policy
        self._plain = _without_jit(policy.function)
        self._names = self._plain.__code__.co_varnames[: self._plain.__code__.co_argcount]
        self._compiled = ffi.cast(_STORE, policy.address)
        self._steps = 0
        self._wrong: BaseException | None = None
        self._callback = ffi.callback(_STORE, self._call, onerror=self._keep)
        address = int(ffi.cast("intptr_t", self._callback))
        self.policy = replace(policy, address=address, _callback=self._callback)

    def check(self) -> None:
        """Raise what went wrong, if anything did.

        Raises
        ------
        InputError
            Naming the policy, its file or cell, the line, and the call.
        """
        if self._wrong is not None:
            raise self._wrong

    def _call(self, *given: Any) -> int:
        """Answer a call of the C core; nothing may be raised through it."""
        next_ = int(given[PARAMETERS.index("next")])
        if self._wrong is not None:
            return next_
        try:
            return self._answer(given)
        except BaseException as error:
            self._wrong = error
            return next_

    def _keep(self, _: object, error: BaseException, __: object) -> None:
        """Keep a Ctrl-C that came while a call was on its way in or out: cffi would print it."""
        self._wrong = error

    def _answer(self, given: tuple[Any, ...]) -> int:
        *numbers, first, n_bases, _ = given
        known: dict[str, Any] = dict(zip(PARAMETERS, numbers, strict=False))
        why, line = self._follow({**known, "bases": _read_only(first, n_bases)})
        answer = int(self._compiled(*given))
        lowest, highest = known["lowest"], known["highest"]
        if answer in (known["next"], known["base"]) or lowest <= answer <= highest:
            return answer
        where = ", ".join(f"{name}={known[name]}" for name in self._names if name in known)
        raise self._fault(
            f"{why or f'returns {answer}, which is no slot,'} at the call {where}: return a slot "
            f"from lowest={lowest} to highest={highest}, next or base",
            line,
        )

    def _follow(self, known: dict[str, Any]) -> tuple[str, int | None]:
        """Run the function as Python; return why it fails, if so, and its last line."""
        if self._steps > _BUDGET:
            return "", None
        last, steps, code = 0, 0, self._plain.__code__

        def step(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
            nonlocal last, steps
            if frame.f_code is code:
                last = frame.f_lineno
            steps += event == "line"
            if steps > MOST_STEPS:
                raise _Endless
            return step

        before = sys.gettrace()
        sys.settrace(step)
        try:
            with np.errstate(all="ignore"):
                self._plain(**{name: known[name] for name in self._names})
        except _Endless:
            sys.settrace(before)
            raise self._fault(
                f"has run {MOST_STEPS:,} lines in one call: let it come to an end", last
            ) from None
        except Exception as error:
            line = line_in(error, code.co_filename)
            return f"raises {type(error).__name__} ({error})", line
        finally:
            sys.settrace(before)
            self._steps += steps
        return "", last

    def _fault(self, problem: str, line: int | None) -> InputError:
        return fault(self._watched.function, problem, line)


def _read_only(first: Any, n_bases: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
    bases = np.frombuffer(ffi.buffer(first, n_bases * 8), dtype=np.int64).copy()
    bases.flags.writeable = False
    return bases


def _without_jit(function: Any) -> FunctionType:
    """Return a function that calls the Python of what it knows as compiled functions."""
    plain = dict(function.__globals__)
    for name, value in function.__globals__.items():
        inner = getattr(value, "py_func", None)
        if inner is not None and inner.__globals__ is function.__globals__:
            plain[name] = _bound_to(inner, plain)
    return _bound_to(function, plain)


def _bound_to(function: Any, names: dict[str, Any]) -> FunctionType:
    return FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
