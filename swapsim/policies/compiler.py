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
from types import FunctionType
from typing import Any, Final

from swapsim.errors import InputError

NONSENSE: Final = -1  # the answer that C gets if the function raises; it is not a slot

_CALLBACK: Final = """\
def callback({parameters}):
    {read}
    answer = NONSENSE
    try:
        answer = rule({arguments})
    except Exception:
        answer = NONSENSE
    return answer
"""
"""The signature of the C function; for an exception that leaves it, C would get 0."""

_READ: Final = """\
looked_at[0] += n_bases
    bases = carray(first, n_bases)"""

_NO_PLAIN_FUNCTION: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_WRITTEN: Final = "the bases are there to read, not to write: copy them first (bases.copy())"


def compiled(function: Callable[..., int], parameters: Sequence[str]) -> Any:
    """Compile a function of some of these parameters to a numba CFunc that takes all of them.

    They are 64-bit integers, but for "bases", which C gives as the first one, their number and the
    count of those read. The ``address`` is valid as long as the CFunc exists.
    """
    from numba import cfunc, types
    from numba.np.numpy_support import carray

    names = _parameters(function, parameters)
    given = [*parameters]
    kinds: list[Any] = [types.int64] * len(parameters)
    if "bases" in parameters:
        pointer = types.CPointer(types.int64)  # type: ignore[no-untyped-call]
        given[-1:], kinds[-1:] = ["first", "n_bases", "looked_at"], [pointer, types.int64, pointer]
    scope: dict[str, Any] = {"rule": _rule(function, names), "carray": carray, "NONSENSE": NONSENSE}
    read = _READ if "bases" in names else "pass"
    parts = {"parameters": ", ".join(given), "arguments": ", ".join(names), "read": read}
    exec(_CALLBACK.format(**parts), scope)
    return cfunc(types.int64(*kinds))(scope["callback"])


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


def _parameters(function: Any, known: Sequence[str]) -> list[str]:
    """Return the parameters of a plain function, which have to be known."""
    if not isinstance(function, FunctionType) or function.__code__.co_flags & _NO_PLAIN_FUNCTION:
        raise fault(
            function, "this is no plain Python function: decorate a def that returns, without @njit"
        )
    found = inspect.signature(function).parameters
    for name, each in found.items():
        plain = each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        if name not in known or not plain:
            raise fault(
                function, f"it takes '{each}': use any of {', '.join(known)}, without a star"
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

    for step in dis.get_instructions(function) if not isinstance(error, NumbaError) else ():
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
    statements, kinds = _statements(compiled), compiled.type_annotation.typemap
    values: list[tuple[Any, int]] = [(getattr(s, "value", None), s.loc.line) for s in statements]
    casts = (each for each in values if isinstance(each[0], ir.Expr) and each[0].op == "cast")
    returned = ((kinds[value.value.name], line) for value, line in casts)
    others = (each for each in returned if not isinstance(each[0], types.Integer))
    kind, line = next(others, (answer, None))
    if not any(isinstance(each, ir.Return) for each in statements):
        raises = any(type(each).__name__.endswith("Raise") for each in statements)
        why = "it raises on every path" if raises else "a loop of it has no end"
        problem = f"it never returns, because {why}: let it return an integer"
    elif isinstance(kind, types.NoneType):
        problem = "it returns None here, or ends without a return: return an integer on every path"
    elif isinstance(kind, types.Float):
        problem = "it returns a float: divide with //, or return int(...)"
    else:
        problem = f"it returns {kind}: return one integer"
    raise fault(function, problem, line)


def _check_statements(function: Any, compiled: Any, bases: Any) -> None:
    """Refuse statements that numba compiles, but that a policy must not contain."""
    from numba import types
    from numba.core import ir

    for statement in _statements(compiled):
        target = getattr(statement, "target", None)
        kind = compiled.type_annotation.typemap.get(getattr(target, "name", None))
        # numba lets these two views of an array write to the bases.
        flat = isinstance(kind, types.NumpyFlatType) and kind.array_type == bases
        if flat or (isinstance(kind, types.NumpyNdIterType) and bases in kind.arrays):
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
