# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the scan for a free slot begins: the built-in policies, and a user's own.

The built-in policies are in C (``slot_base.h``). A user's policy is a small Python function, which
numba compiles and C calls in place of a built-in one.
"""

import dis
import inspect
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar

from swapsim import io
from swapsim.errors import InputError, SwapsimError, check_choice
from swapsim.ffi import BASE_OF, INITIAL, POLICIES
from swapsim.policies.compiler import callback, fault, line_in
from swapsim.policies.lists import ListPolicy
from swapsim.policies.page_types import TypePolicy
from swapsim.progress import check_interrupted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    """A user's own policy, made by `policy`: it can stand wherever the name of a built-in one can.

    In other processes it is compiled again, from the code of its function. Two policies are equal
    if they are the same object. ``name`` is the function's, followed by " (user)" if a built-in
    policy has the same one. The machine code at ``address`` is valid as long as this object exists;
    ``function`` can be called by hand.
    """

    IN_WORDS: ClassVar = "function decorated with @swapsim.policy"

    name: str
    base_of: str
    initial: str | int | Callable[[int, int, int, int], int]
    function: Callable[..., int]
    address: int = field(compare=False)
    _callback: Any = field(repr=False, compare=False)
    _pickled: bytes = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[[bytes], "Policy"], tuple[bytes]]:
        """Pickle the code as it was when it was compiled: a global may have changed since."""
        return _unpickled, (self._pickled,)


def policy(
    *, base_of: str, initial: str | int | Callable[[int, int, int, int], int] = "random"
) -> Callable[[Callable[..., int]], Policy]:
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
        the first values are overwritten before the first scan (notebook 05). They last only on a
        device without a free cluster, as with ``fragmented=True``.

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
        compiled = callback(function)
        return _made(function, compiled, base_of, initial, _pickled(function, base_of, initial))

    return decorate


def _check_initial(initial: object) -> None:
    if isinstance(initial, str) and initial in INITIAL:
        return
    if isinstance(initial, Integral) and int(initial) >= 1:
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


def _made(
    function: Callable[..., int], compiled: Any, base_of: str, initial: Any, pickled: bytes
) -> Policy:
    name = function.__name__
    return Policy(
        name=f"{name} (user)" if name in POLICIES else name,
        base_of=base_of,
        initial=initial,
        function=function,
        address=compiled.address,
        _callback=compiled,
        _pickled=pickled,
    )


def _pickled(function: Callable[..., int], base_of: str, initial: Any) -> bytes:
    """Return the functions pickled by their code: those of a notebook have no module."""
    from numba import cloudpickle

    try:
        return bytes(
            cloudpickle.dumps((function, base_of, initial))  # type: ignore[no-untyped-call]
        )
    except Exception as error:
        raise fault(
            function,
            f"it or initial uses what cannot be sent to another process ({error}): "
            "use integers, arrays and functions alone",
        ) from error


@lru_cache(maxsize=64)
def _unpickled(pickled: bytes) -> Policy:
    """Compile a policy again, once per process."""
    from numba import cloudpickle

    function, base_of, initial = cloudpickle.loads(pickled)
    return _made(function, callback(function), base_of, initial, pickled)


def policies_in(path: Path | str) -> tuple[Policy | ListPolicy | TypePolicy, ...]:
    """Run a Python file and return the policies that it makes, in order.

    What it prints goes to stderr.
    """
    path = Path(path)
    if path.is_file() and path.suffix != ".py":
        raise InputError(
            "is no Python file, which would be run: give one whose name ends in .py", path=path
        )
    kinds = Policy | ListPolicy | TypePolicy
    made = (each for each in _run(path).values() if isinstance(each, kinds))
    found = {id(each): each for each in made}
    policies = tuple(found.values())
    if not policies:
        raise InputError(
            "makes no policy: decorate a function with @swapsim.policy(base_of='cpu'), "
            "@swapsim.list_policy() or @swapsim.type_policy()",
            path=path,
        )
    names = [policy.name for policy in policies]
    twins = [name for name in names if names.count(name) > 1]
    if twins:
        raise InputError(f"makes two policies called {twins[0]}: rename one", path=path)
    for each in policies:
        _require_silent(each.function)
        if isinstance(each, Policy):
            _require_silent(each.initial)
    return policies


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
