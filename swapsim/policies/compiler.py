# SPDX-License-Identifier: GPL-2.0-or-later
"""Compilation of a user's Python function to a C function pointer, by numba.

numba is imported with the first policy, because that takes half a second. Nothing is cached on
disk, and the machine code holds no address of the C library, so nothing can become stale.
"""

import dis
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, TypeVar

from swapsim.errors import InputError

PARAMETERS: Final = (
    "cpu",
    "mm",
    "base",
    "next",
    "lowest",
    "highest",
    "trunk_size",
    "draw",
    "bases",
)
"""Parameters that a policy's function may have; all but the last are 64-bit integers."""

NONSENSE: Final = -1  # the answer that C gets if the function raises; it is not a slot

_CALLBACK: Final = """\
def callback(cpu, mm, base, next, lowest, highest, trunk_size, draw, first, n_bases, looked_at):
    {read}
    answer = NONSENSE
    try:
        answer = rule({arguments})
    except Exception:
        answer = NONSENSE
    return answer
"""
"""The signature of sws_base_ops.store; for an exception that leaves it, C would get 0."""

_READ: Final = """\
looked_at[0] += n_bases
    bases = carray(first, n_bases)"""

_CHOICE: Final = """\
def callback({parameters}):
    answer = NONSENSE
    try:
        answer = rule({arguments})
    except Exception:
        answer = NONSENSE
    return answer
"""
"""The callback of a function of integers alone."""

_WRITTEN: Final = "the bases are there to read, not to write: copy them first (bases.copy())"


def callback(function: Callable[..., int]) -> Any:
    """Compile a function to a numba CFunc with the signature of ``sws_base_ops.store``.

    Its ``address`` is valid as long as the object exists.
    """
    from numba import cfunc, types
    from numba.np.numpy_support import carray

    names = _parameters(function)
    read = _READ if "bases" in names else "pass"
    scope: dict[str, Any] = {"rule": _rule(function, names), "carray": carray, "NONSENSE": NONSENSE}
    exec(_CALLBACK.format(read=read, arguments=", ".join(names)), scope)
    integer = types.int64
    pointer = types.CPointer(integer)  # type: ignore[no-untyped-call]
    signature = integer(*[integer] * 8, pointer, integer, pointer)
    return cfunc(signature)(scope["callback"])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compiled:
    """A user's function of integers alone, and its machine code."""

    name: str
    function: Callable[..., int]
    address: int = field(compare=False)
    _callback: Any = field(repr=False, compare=False)


Kind = TypeVar("Kind", bound=Compiled)


def decorator(
    kind: type[Kind], parameters: Sequence[str], **fields: object
) -> Callable[[Callable[..., int]], Kind]:
    """Return a decorator that makes a policy of this kind of a function of these parameters."""

    def decorate(function: Callable[..., int]) -> Kind:
        made = choice_callback(function, parameters)
        name = function.__name__
        given = {"name": name, "function": function, "address": made.address, "_callback": made}
        return kind(**given | fields)

    return decorate


def choice_callback(function: Callable[..., int], parameters: Sequence[str]) -> Any:
    """Compile a function of 64-bit integers to a numba CFunc that takes all parameters.

    Its ``address`` is valid as long as the object exists. The function may have some of them.
    """
    from numba import cfunc, types

    if not isinstance(function, FunctionType) or inspect.isgeneratorfunction(function):
        raise fault(function, "this is no plain Python function: decorate a def that returns")
    found = inspect.signature(function).parameters
    for name, parameter in found.items():
        if name not in parameters or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise fault(
                function,
                f"it takes '{parameter}': use any of {', '.join(parameters)}, without a star",
            )
    scope: dict[str, Any] = {"rule": _rule(function, [*found]), "NONSENSE": NONSENSE}
    text = _CHOICE.format(parameters=", ".join(parameters), arguments=", ".join(found))
    exec(text, scope)
    return cfunc(types.int64(*[types.int64] * len(parameters)))(scope["callback"])


def fault(function: Any, problem: str, line: int | None = None) -> InputError:
    """Return an error with a policy's file or cell, a line (default: that of def) and a problem."""
    name = getattr(function, "__name__", repr(function))
    code = getattr(function, "__code__", None)
    if code is None:
        return InputError(f"policy {name}: {problem}")
    return InputError(
        f"policy {name}: {problem}",
        path=_place(code.co_filename),
        line=_line_of_def(function) if line is None else line,
    )


def line_in(error: BaseException, filename: str) -> int | None:
    """Return the last line of a file in an error's traceback."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == filename
    ]
    return lines[-1] if lines else None


def _place(filename: str) -> str:
    """Return the name that IPython shows for a cell, or the path of another file."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    cell = shell.compile.format_code_name(filename) if shell else None
    return " ".join(cell) if cell else filename


def _line_of_def(function: FunctionType) -> int:
    """Return the line of def; the first line of the code is that of the decorator."""
    first = function.__code__.co_firstlineno
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        return first
    heads = (i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def ")))
    return first + next(heads, 0)


def _parameters(function: Callable[..., int]) -> list[str]:
    if (
        not isinstance(function, FunctionType)
        or inspect.isgeneratorfunction(function)
        or inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
    ):
        raise fault(
            function, "this is no plain Python function: decorate a def that returns, without @njit"
        )
    found = inspect.signature(function).parameters
    for name, parameter in found.items():
        if name not in PARAMETERS or parameter.kind not in (
            parameter.POSITIONAL_ONLY,
            parameter.POSITIONAL_OR_KEYWORD,
        ):
            raise fault(
                function,
                f"it takes '{parameter}': use any of {', '.join(PARAMETERS)}, without a star",
            )
    return list(found)


def _rule(function: Callable[..., int], names: list[str]) -> Any:
    """Compile the function itself, with checked indexes and read-only bases."""
    from numba import njit, types

    bases = types.Array(types.int64, 1, "C", readonly=True)
    signature = tuple(bases if name == "bases" else types.int64 for name in names)
    try:
        rule = njit(signature, boundscheck=True)(function)
    except Exception as error:
        line = _line_of_crash(error, function)
        if line is not None:
            raise fault(function, _WRITTEN, line) from None
        raise fault(function, _reason(str(error)), _line_of(error, function)) from None
    [compiled] = rule.overloads.values()
    _check_answer(function, compiled)
    _check_statements(function, compiled, bases)
    return rule


def _line_of_crash(error: Exception, function: Any) -> int | None:
    """Return the line that changes the bases in place, for which numba fails with no message."""
    from numba.core.errors import NumbaError

    if isinstance(error, NumbaError):
        return None
    for step in dis.get_instructions(function):
        if step.opname.startswith("STORE_FAST") and "bases" in step.argrepr and step.positions:
            return step.positions.lineno
    return None


def _line_of(error: Exception, function: Any) -> int | None:
    """Return the line of the function that numba names, if it names one."""
    filename = function.__code__.co_filename
    place = getattr(error, "loc", None)
    if place is not None and place.filename == filename:
        return int(place.line)
    blamed = re.search(re.escape(filename) + r" \((\d+)\)", str(error))
    return int(blamed[1]) if blamed else None


def _reason(text: str) -> str:
    """Return the first line with content of what numba says, in one line."""
    if "Cannot modify readonly array" in text:
        return _WRITTEN
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", text).splitlines()]
    said = [line for line in lines if line and not line.startswith(("Failed in ", "During: "))]
    words = said[:2] if said[1:] and said[1].startswith(">>>") else said[:1]
    # The position in the text is already in the message's line.
    short = re.sub(r"\.* Raised from .*", "", " ".join(words)).rstrip(". ")
    return (
        f"numba cannot compile it ({short}): keep to integers, arrays, loops, and to constants "
        "and @numba.njit functions that stand before it"
    )


def _statements(compiled: Any) -> list[Any]:
    """Return the statements of the compiled function in order; each has its line."""
    blocks = compiled.type_annotation.blocks
    return [statement for key in sorted(blocks) for statement in blocks[key].body]


def _check_answer(function: Any, compiled: Any) -> None:
    """Require that the function returns integers only; the error names the line that does not."""
    from numba import types
    from numba.core import ir

    answer = compiled.signature.return_type
    if isinstance(answer, types.Integer):
        return
    for statement in _statements(compiled):
        value = getattr(statement, "value", None)
        if isinstance(value, ir.Expr) and value.op == "cast":
            returned = compiled.type_annotation.typemap[value.value.name]
            if not isinstance(returned, types.Integer):
                raise fault(function, _wrong_answer(returned), statement.loc.line)
    raise fault(function, _wrong_answer(answer, _statements(compiled)))


def _wrong_answer(returned: Any, statements: Sequence[Any] = ()) -> str:
    from numba import types
    from numba.core import ir

    if statements and not any(isinstance(each, ir.Return) for each in statements):
        raises = any(type(each).__name__.endswith("Raise") for each in statements)
        why = "it raises on every path" if raises else "a loop of it has no end"
        return f"it never returns, because {why}: let it return an integer"
    if isinstance(returned, types.NoneType):
        return "it returns None here, or ends without a return: return an integer on every path"
    if isinstance(returned, types.Float):
        return "it returns a float: divide with //, or return int(...)"
    return f"it returns {returned}: return one integer"


def _check_statements(function: Any, compiled: Any, bases: Any) -> None:
    """Refuse statements that numba compiles, but that a policy must not contain."""
    from numba import types
    from numba.core import ir

    for statement in _statements(compiled):
        target = getattr(statement, "target", None)
        kind = compiled.type_annotation.typemap.get(getattr(target, "name", None))
        # numba lets these two views of an array write to the bases.
        if (isinstance(kind, types.NumpyFlatType) and kind.array_type == bases) or (
            isinstance(kind, types.NumpyNdIterType) and bases in kind.arrays
        ):
            raise fault(
                function,
                "flat and nditer can write to the bases: walk them with 'for base in bases'",
                statement.loc.line,
            )
        # numba frees such an exception only when Python receives it, which never happens here.
        if isinstance(statement, ir.DynamicRaise | ir.DynamicTryRaise):
            raise fault(
                function,
                "an exception with a computed value would lose memory at each call: "
                "raise it with a constant text, or return -1",
                statement.loc.line,
            )
