# SPDX-License-Identifier: GPL-2.0-or-later
"""Observation of a user's policy: which of its lines raises, does not end, or returns no slot.

Compiled code reports none of these: an answer that is no slot is only counted, and an endless loop
hangs. Under observation the C core calls Python, which runs the function line by line and then
returns the answer of its machine code. The first call that fails is remembered.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType, FunctionType
from typing import Any, Final, Generic, TypeVar

import numpy as np

from swapsim._core import ffi
from swapsim.ffi import CLUSTER_CHOICES
from swapsim.policies import END, FILE, LARGER, ListPolicy, Policy, TypePolicy
from swapsim.policies.compiler import fault, line_in

MOST_STEPS: Final = 1_000_000  # lines that one call may run

_BUDGET: Final = 5_000_000
"""Lines of all calls that are followed; later calls run the machine code only."""


class _Endless(BaseException):
    """A call has run too many lines; no policy catches this exception."""


P = TypeVar("P", Policy, ListPolicy, TypePolicy)


class Observation(Generic[P]):
    """The calls of one policy; a device gets ``policy``, which is called through here."""

    def __init__(self, policy: P) -> None:
        self._function = policy.function
        self._plain = _without_jit(policy.function)
        self._names = self._plain.__code__.co_varnames[: self._plain.__code__.co_argcount]
        self._kind = _KINDS[type(policy)]
        self._parameters: Sequence[str] = policy.PARAMETERS
        self._compiled = ffi.cast(self._kind.call, policy.address)
        self._steps = 0
        self._error: BaseException | None = None
        self._callback = ffi.callback(self._kind.call, self._call, onerror=self._remember)
        address = int(ffi.cast("intptr_t", self._callback))
        self.policy: P = replace(policy, address=address, _callback=self._callback)

    def check(self) -> None:
        """Raise the error of the first call that failed: an InputError with file, line and call."""
        if self._error is not None:
            raise self._error

    def _call(self, *given: Any) -> int:
        """Answer a call of the C core; no exception may pass through it."""
        safe = self._kind.safe(given)
        if self._error is not None:
            return safe
        try:
            return self._answer(given)
        except BaseException as error:
            self._error = error
            return safe

    def _remember(self, _: object, error: BaseException, __: object) -> None:
        """Remember a Ctrl-C at the begin or end of a call, which cffi would print and drop."""
        self._error = error

    def _answer(self, given: tuple[Any, ...]) -> int:
        known: dict[str, Any] = dict(zip(self._parameters, given, strict=False))
        if "bases" in known:
            known["bases"] = _read_only(*given[-3:-1])
        why, line = self._follow(known)
        answer = int(self._compiled(*given))
        wrong, advice = self._kind.wrong(answer, known)
        if not wrong:
            return answer
        where = ", ".join(f"{name}={known[name]}" for name in self._names if name != "bases")
        problem = f"{why or wrong} at the call {where}: {advice}"
        raise fault(self._function, problem, line)

    def _follow(self, known: dict[str, Any]) -> tuple[str, int | None]:
        """Run the function in Python; return why it fails, or an empty text, and its last line."""
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
        try:
            # In the body: a Ctrl-C that comes with the call leaves no trace function behind.
            sys.settrace(step)
            with np.errstate(all="ignore"):
                self._plain(*(known[name] for name in self._names))
        except _Endless:
            sys.settrace(before)
            problem = f"has run {MOST_STEPS:,} lines in one call: let it come to an end"
            raise fault(self._function, problem, last) from None
        except Exception as error:
            return f"raises {type(error).__name__} ({error})", line_in(error, code.co_filename)
        finally:
            sys.settrace(before)
            self._steps += steps
        return "", last


def _no_slot(answer: int, known: dict[str, Any]) -> tuple[str, str]:
    """Return why an answer is no base, empty if it is one, and what to return."""
    lowest, highest = known["lowest"], known["highest"]
    if answer in (known["next"], known["base"]) or lowest <= answer <= highest:
        return "", ""
    advice = f"return a slot from lowest={lowest} to highest={highest}, next or base"
    return f"returns {answer}, which is no slot,", advice


def _no_choice(answer: int, known: dict[str, Any]) -> tuple[str, str]:
    """Return why an answer is no choice of a list, empty if it is one, and what to return."""
    *others, end = CLUSTER_CHOICES
    if not 0 <= answer <= END:
        return (
            f"returns {answer}, which is no choice,",
            f"return {', '.join(others)} or {end} of swapsim.policies",
        )
    if known["asked"] + 1 >= known["most"] and answer not in (LARGER, END):
        return f"has chosen {known['most']} times in one search", f"return {end} in the end"
    return "", ""


def _no_type(answer: int, _: object) -> tuple[str, str]:
    """Return why an answer is no type of pages, empty if it is one, and what to return."""
    if 0 <= answer <= FILE:
        return "", ""
    return f"returns {answer}, which is no type,", "return ANON or FILE of swapsim.policies"


@dataclass(frozen=True, slots=True)
class _Kind:
    """The C type of a kind of policies, the place of a valid answer, and the check of one."""

    call: Any
    safe: Callable[[Sequence[int]], int]
    wrong: Callable[[int, dict[str, Any]], tuple[str, str]]


def _type(config: str, *path: str) -> Any:
    """Return the type of a function pointer in a struct."""
    kind = ffi.typeof(config)
    for name in path:
        kind = dict(kind.fields)[name].type
    return kind


_KINDS: Final[Mapping[type, _Kind]] = {
    Policy: _Kind(
        _type("struct sws_slots_config", "reader", "store"),
        lambda given: given[Policy.PARAMETERS.index("next")],
        _no_slot,
    ),
    ListPolicy: _Kind(_type("struct sws_clusters_config", "choose"), lambda _: END, _no_choice),
    TypePolicy: _Kind(_type("struct sws_mglru_rules", "choose"), lambda _: FILE, _no_type),
}


def _read_only(first: Any, n_bases: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
    bases = np.frombuffer(ffi.buffer(first, n_bases * 8), dtype=np.int64).copy()
    bases.flags.writeable = False
    return bases


def _without_jit(function: Any) -> FunctionType:
    """Return a copy that calls the Python versions of the compiled functions of its module."""
    plain = dict(function.__globals__)

    def copy(of: Any) -> FunctionType:
        return FunctionType(of.__code__, plain, of.__name__, of.__defaults__, of.__closure__)

    for name, value in function.__globals__.items():
        inner = getattr(value, "py_func", None)
        if inner is not None and inner.__globals__ is function.__globals__:
            plain[name] = copy(inner)
    return copy(function)
