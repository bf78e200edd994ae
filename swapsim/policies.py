# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own policies: small Python functions, which numba compiles and C calls.

- ``policy``: where the scan for a free slot begins, up to 6.11 (``slot_base.h``),
- ``list_policy``: which list of clusters a search takes next, from 6.12 on (``clusters.h``),
- ``type_policy``: from which type of pages MGLRU takes some (``mglru.h``).
"""

import dis
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np

from swapsim import io
from swapsim._core import ffi
from swapsim.errors import InputError, SwapsimError, check_choice
from swapsim.ffi import (
    BASE_OF,
    CLUSTER_CHOICES,
    CLUSTER_RULES,
    INITIAL,
    MGLRU_RULES,
    MGLRU_TYPES,
    POLICIES,
)
from swapsim.progress import check_interrupted

__all__ = ["ListPolicy", "Policy", "TypePolicy", "policies_in"]
__all__ += ["ANON", "END", "FILE", "FRAG", "FREE", "FULL", "LARGER", "NONFULL"]

FREE, NONFULL, FRAG, FULL, LARGER, END = range(len(CLUSTER_CHOICES))
"""What a list policy returns: the first cluster of a list; for a single slot the clusters of
larger orders, one after the other, and then the end; or the end of the search."""

ANON: Final = MGLRU_TYPES.index("anon")
FILE: Final = MGLRU_TYPES.index("file")
"""What a type policy returns: anonymous pages, or file pages."""

Initial = str | int | Callable[[int, int, int, int], int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compiled:
    """A user's function and its machine code, valid as long as this object exists.

    ``name`` is the function's; ``function`` can be called by hand. Two policies are equal if they
    are the same object.
    """

    PARAMETERS: ClassVar[tuple[str, ...]]  # that the function may have, all 64-bit integers

    name: str
    function: Callable[..., int]
    address: int = field(compare=False)
    _callback: Any = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy(Compiled):
    """A user's policy for ``cluster_next``: it can stand wherever the name of a built-in one can.

    ``name`` ends in " (user)" if a built-in policy has the same one. In other processes the policy
    is compiled again, from the code as it was: a global may have changed since.
    """

    PARAMETERS = (
        *("cpu", "mm", "base", "next", "lowest", "highest", "trunk_size", "draw"),
        "bases",  # an array of them
    )

    base_of: str
    initial: Initial
    _pickled: bytes = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[[bytes], "Policy"], tuple[bytes]]:
        """Return how the policy is made again."""
        return _unpickled, (self._pickled,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListPolicy(Compiled):
    """A user's choice of lists; all else follows ``rules`` (CLUSTER_RULES)."""

    PARAMETERS = (
        *("order", "asked", "most", "last", "times", "free", "nonfull", "frag", "larger", "full"),
        "swap_full",
    )

    rules: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TypePolicy(Compiled):
    """A user's choice of anonymous or file pages; all else follows ``rules`` (MGLRU_RULES)."""

    PARAMETERS = (
        *("swappiness", "io", "anon_generations", "file_generations"),
        *("anon_refaulted", "anon_total", "file_refaulted", "file_total"),
        *("anon_first_refaulted", "anon_first_total", "file_first_refaulted", "file_first_total"),
    )

    rules: str


Kind = TypeVar("Kind", bound=Compiled)


def _decorator(kind: type[Kind], **fields: Any) -> Callable[[Callable[..., int]], Kind]:
    """Return a decorator that makes a policy of this kind."""

    def decorate(function: Callable[..., int]) -> Kind:
        made, name = compiled(function, kind.PARAMETERS), function.__name__
        return kind(
            name=f"{name} (user)" if kind is Policy and name in POLICIES else name,
            function=function,
            address=made.address,
            _callback=made,
            **fields,
        )

    return decorate


def policy(*, base_of: str, initial: Initial = "random") -> Callable[[Callable[..., int]], Policy]:
    """Make a policy of a Python function, as a decorator: ``@swapsim.policy(base_of="cpu")``.

    The function is called where the kernel stores the base: once per call from 5.8 on, at each slot
    before. It returns the base from which the next scan of the same owner starts. Its parameters
    are any of these, by name; all but the last are 64-bit integers:

    - ``cpu``: the CPU of the calling task,
    - ``mm``: its address space, from 0; -1 for a kernel thread,
    - ``base``: its base until now,
    - ``next``: the slot after the one where the scan stands,
    - ``lowest``: the lowest slot that may be free,
    - ``highest``: the highest one; highest < lowest on a full device,
    - ``trunk_size``: slots of a trunk (2**14 are 64 MB),
    - ``draw``: 63 random bits, new at each call,
    - ``bases``: all bases, the owner's own included, read-only: those of the online CPUs, or of
      all CPUs (for kernel threads) and then of all mms.

    An answer outside of lowest to highest is invalid, unless it is next or base: it is counted, and
    next is stored instead. The same holds for an exception, a division by zero or an index past the
    end of bases. The kernel would read bases under si->lock, so a function with this parameter is
    charged for all of them at each call.

    Parameters
    ----------
    base_of : {"device", "cpu", "mm"}
        What has a base: the device, each CPU, or each address space (and each CPU, for kernel
        threads).
    initial : str or int or callable
        The bases before the first call: "first" (slot 1), "random", "even-possible",
        "even-online" (evenly spaced over the possible or online CPUs), "apart" (random, each in
        its own trunk), "kernel" (that of the shared base), one slot for all, or a Python function
        of (owner, n_owners, lowest, highest), which is called once per owner and not compiled.
        It hardly acts: a call that gets a free cluster stores the base behind its slots, so that
        the first values last only on a device without a free cluster.

    Notes
    -----
    numba compiles integers, arrays, loops and conditions. Constants and ``@numba.njit`` functions
    that the function uses must be defined before it and are frozen: a later change has no effect.
    Only the base is carried over from one call to the next. Random numbers come from draw alone:
    numpy's do not follow the run's seed. An endless loop or recursion hangs or ends the process.
    What cannot be compiled is an InputError with its file or cell and line.

    Examples
    --------
    >>> import swapsim
    >>> @swapsim.policy(base_of="cpu", initial="even-possible")
    ... def two_trunks_on(next, highest, trunk_size):
    ...     return next if next % trunk_size else 1 + (next + 2 * trunk_size) % highest
    """
    check_choice("base_of", base_of, BASE_OF)
    _check_initial(initial)

    def decorate(function: Callable[..., int]) -> Policy:
        from numba import cloudpickle

        given = {"base_of": base_of, "initial": initial, "_pickled": b""}
        made = _decorator(Policy, **given)(function)
        # By their code: functions of a notebook have no module.
        try:
            pickled = cloudpickle.dumps((function, base_of, initial))  # type: ignore[no-untyped-call]
        except Exception as error:
            raise fault(
                function,
                f"it or initial uses what cannot be sent to another process ({error}): "
                "use integers, arrays and functions alone",
            ) from error
        return replace(made, _pickled=bytes(pickled))

    return decorate


@lru_cache(maxsize=64)
def _unpickled(pickled: bytes) -> Policy:
    """Compile a policy again, once per process."""
    from numba import cloudpickle

    function, base_of, initial = cloudpickle.loads(pickled)
    given = {"base_of": base_of, "initial": initial, "_pickled": pickled}
    return _decorator(Policy, **given)(function)


def _check_initial(initial: object) -> None:
    if initial in INITIAL or (isinstance(initial, Integral) and int(initial) >= 1):
        return
    if not callable(initial):
        raise InputError(
            f"initial={initial!r}: choose one of {', '.join(INITIAL)}, a slot from 1 on, "
            "or a function of (owner, n_owners, lowest, highest)"
        )
    try:
        inspect.signature(initial).bind(0, 1, 1, 1)
    except (TypeError, ValueError):
        raise InputError(
            f"initial={getattr(initial, '__name__', initial)!s}: a function must take "
            "(owner, n_owners, lowest, highest)"
        ) from None


def list_policy(
    *, rules: str = "7.3", owner: str = "cpu"
) -> Callable[[Callable[..., int]], ListPolicy]:
    """Make a policy of a Python function, as a decorator: ``@swapsim.list_policy()``.

    A request for slots first goes on in its owner's current cluster. If nothing fits there, the
    function is called, and returns FREE, NONFULL, FRAG, FULL, LARGER or END of `swapsim.policies`.
    One cluster of that list is visited, its head. The function is called again until one fits, or
    until it returns LARGER or END. A nonfull cluster that does not fit goes to the tail of frag,
    and a frag cluster to the tail of its list. A list without a cluster has no effect.

    Its parameters are any of these, by name, all 64-bit integers:

    - ``order``: log2 of the slots of the request, 0 to 9,
    - ``free``: clusters on the free list,
    - ``nonfull``: clusters on the nonfull list of this order,
    - ``frag``: clusters on the frag list of this order,
    - ``larger``: clusters on the nonfull and frag lists of larger orders; 0 unless order is 0,
    - ``full``: clusters on the full list,
    - ``swap_full``: 1 if less than half of all slots are free, else 0,
    - ``asked``: choices before this one in this search,
    - ``most``: choices that a search may take; then it ends,
    - ``last``: the last choice, -1 for none,
    - ``times``: how often it was chosen in a row.

    A search ends without a result at an answer that is no choice, at an exception, and after
    ``most`` choices; `clusters.rank` refuses each of these, with its line.

    Parameters
    ----------
    rules : str
        Of CLUSTER_RULES; everything but the choice of lists is theirs.
    owner : {"cpu", "task", "group"}
        Who has a current cluster: each CPU, each task, or each group of tasks of a stream.

    Notes
    -----
    The function can neither choose another cluster than the head of a list nor see into a cluster,
    because the kernel cannot, either, without the cluster's lock. It carries nothing over from one
    call to the next. What cannot be compiled is an InputError with its file or cell and line.

    Examples
    --------
    The rule of Linux 7.3 for a device that does not discard. The kernel takes ``si->lock`` to look
    at an empty list, too, and this function does not ask one; else the two do the same:

    >>> import swapsim
    >>> from swapsim.policies import FRAG, FREE, FULL, LARGER, NONFULL
    >>> @swapsim.list_policy()
    ... def as_7_3(free, nonfull, frag, last, swap_full):
    ...     if nonfull:
    ...         return NONFULL
    ...     if free:
    ...         return FREE
    ...     if swap_full and last < FRAG:
    ...         return FULL
    ...     return FRAG if frag and last != FRAG else LARGER
    >>> as_7_3.function(free=0, nonfull=0, frag=2, last=-1, swap_full=0) == FRAG
    True
    """
    check_choice("rules", rules, CLUSTER_RULES)
    check_choice("owner", owner, ("cpu", "task", "group"))
    return _decorator(ListPolicy, rules=rules, owner=owner)


def type_policy(*, rules: str = "7.3") -> Callable[[Callable[..., int]], TypePolicy]:
    """Make a policy of a Python function, as a decorator: ``@swapsim.type_policy()``.

    The function is called for each choice between anonymous and file pages, and returns ANON or
    FILE of `swapsim.policies`. Its parameters are any of these, by name, all 64-bit integers:

    - ``swappiness``: 0 to 201,
    - ``io``: 1 if the caller may start IO, else 0,
    - ``anon_generations``, ``file_generations``: 2 to 4; pages of a type with two are not scanned,
      and the other type is taken,
    - ``anon_refaulted``, ``anon_total``, ``file_refaulted``, ``file_total``: pages that came back,
      and evicted and protected ones, with their averages: the sums of all tiers that 7.3 compares,
    - ``anon_first_refaulted``, ``anon_first_total``, ``file_first_refaulted``,
      ``file_first_total``: those of the first tier alone, without protected pages, which 6.12
      compares.

    An exception and any other answer end the replay with the function's line.

    Parameters
    ----------
    rules : str
        Of MGLRU_RULES; everything but the choice of the type is theirs.

    Notes
    -----
    It carries nothing over from one call to the next. A call that never returns hangs. What cannot
    be compiled is an InputError with its file or cell and line.

    Examples
    --------
    The type that comes back less often, whatever the swappiness:

    >>> import swapsim
    >>> from swapsim.policies import ANON, FILE
    >>> @swapsim.type_policy()
    ... def the_colder(anon_refaulted, anon_total, file_refaulted, file_total):
    ...     return FILE if file_refaulted * anon_total <= anon_refaulted * file_total else ANON
    """
    check_choice("rules", rules, MGLRU_RULES)
    return _decorator(TypePolicy, rules=rules)


def policies_in(path: Path | str) -> tuple[Policy | ListPolicy | TypePolicy, ...]:
    """Run a Python file and return the policies that it makes, in order.

    What it prints goes to stderr. An InputError names the file and the line of what is wrong.
    """
    path = Path(path)
    if path.is_file() and path.suffix != ".py":
        raise InputError(
            "is no Python file, which would be run: give one whose name ends in .py", path=path
        )
    kinds = Policy | ListPolicy | TypePolicy
    policies = {id(each): each for each in _run(path).values() if isinstance(each, kinds)}
    if not policies:
        raise InputError(
            "makes no policy: decorate a function with @swapsim.policy(base_of='cpu'), "
            "@swapsim.list_policy() or @swapsim.type_policy()",
            path=path,
        )
    names = set[str]()
    for each in policies.values():
        if each.name in names:
            raise InputError(f"makes two policies called {each.name}: rename one", path=path)
        names.add(each.name)
        _require_silent(each.function)
        if isinstance(each, Policy):
            _require_silent(each.initial)
    return tuple(policies.values())


def _require_silent(function: Any) -> None:
    """Refuse a function that prints, or calls a compiled one that does: it would fill stdout."""
    for step in dis.get_instructions(function) if isinstance(function, FunctionType) else ():
        if step.opname != "LOAD_GLOBAL":
            continue
        if step.argval == "print":
            raise fault(
                function,
                "print would write a line at each of very many calls: remove it, and call the "
                "plain function by hand to look at its answers",
                step.positions.lineno if step.positions else None,
            )
        called = getattr(function.__globals__.get(step.argval), "py_func", None)
        if called is not None and called is not function:
            _require_silent(called)


def _run(path: Path) -> dict[str, object]:
    text = io.read_text(path)
    try:
        code = compile(text, str(path), "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise InputError(f"is not Python ({_said(error)}): fix it", path=path, line=line) from None
    # The name is None, or numba would import the file as the module of its functions.
    names: dict[str, object] = {"__name__": None, "__file__": str(path)}
    # At the end, so that a file next to it cannot replace a library of the same name.
    sys.path.append(str(path.resolve().parent))
    try:
        with redirect_stdout(sys.stderr):
            exec(code, names)
        check_interrupted()
    except SwapsimError as error:
        if str(path) in str(error):
            raise
        raise InputError(str(error), path=path, line=line_in(error, str(path))) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        check_interrupted()
        raise InputError(
            f"raises {_said(error)}: fix it", path=path, line=line_in(error, str(path))
        ) from None
    return names


def _said(error: BaseException) -> str:
    """Return an error's type and message in one line."""
    try:
        words = str(getattr(error, "msg", None) or error)
    except Exception:
        words = ""  # The error is the file's own class, whose __str__ raises.
    return f"{type(error).__name__}: {' '.join(words.split())}".rstrip(": ")


# Compilation to a C function pointer, by numba, which takes half a second to import. Nothing is
# cached on disk, and the machine code holds no address of the C library, so nothing becomes stale.

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
    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno for each in reversed(frames) if each.filename == filename), None)


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
    others = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    if not isinstance(function, FunctionType) or function.__code__.co_flags & others:
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


# Observation: which line raises, does not end, or returns no slot, of which compiled code reports
# none. C calls Python, which runs the function line by line and then returns the answer of its
# machine code; the first call that fails is remembered.

MOST_STEPS: Final = 1_000_000  # lines that one call may run
_BUDGET: Final = 5_000_000  # of all calls that are followed; later ones run the machine code only


class _Endless(BaseException):
    """A call has run too many lines; no policy catches this exception."""


class Observation(Generic[Kind]):
    """The calls of one policy; a device gets ``policy``, which is called through here."""

    def __init__(self, policy: Kind) -> None:
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
        self.policy: Kind = replace(policy, address=address, _callback=self._callback)

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
            first, n_bases = given[-3:-1]
            known["bases"] = np.frombuffer(ffi.buffer(first, n_bases * 8), dtype=np.int64).copy()
            known["bases"].flags.writeable = False
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


_KINDS: Final[Mapping[type, _Kind]] = {
    Policy: _Kind(
        ffi.typeof(ffi.new("struct sws_slots_config *").reader.store),
        lambda given: given[Policy.PARAMETERS.index("next")],
        _no_slot,
    ),
    ListPolicy: _Kind(
        ffi.typeof(ffi.new("struct sws_clusters_config *").choose), lambda _: END, _no_choice
    ),
    TypePolicy: _Kind(
        ffi.typeof(ffi.new("struct sws_mglru_rules *").choose), lambda _: FILE, _no_type
    ),
}


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
