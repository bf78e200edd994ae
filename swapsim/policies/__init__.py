# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own policies: small Python functions, which numba compiles and C calls.

- ``policy``: where the scan for a free slot begins, up to 6.11 (``slot_base.h``),
- ``list_policy``: which list of clusters a search takes next, from 6.12 on (``clusters.h``),
- ``type_policy``: from which type of pages MGLRU takes some (``mglru.h``).
"""

import dis
import inspect
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Final, TypeVar

from swapsim import io
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
from swapsim.policies.compiler import compiled, fault, line_in
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
    """A user's policy for the scan base: it can stand wherever the name of a built-in one can.

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


def list_policy(
    *, rules: str = "7.3", owner: str = "cpu"
) -> Callable[[Callable[..., int]], ListPolicy]:
    """Make a policy of a Python function, as a decorator: ``@swapsim.list_policy()``.

    A request for slots first goes on in its owner's current cluster. If nothing fits there, the
    function is called, and returns FREE, NONFULL, FRAG, FULL, LARGER or END of
    `swapsim.policies`. One
    cluster of that list is visited, its head. The function is called again until one fits, or until
    it returns LARGER or END. A nonfull cluster that does not fit goes to the tail of frag, and a
    frag cluster to the tail of its list. A list without a cluster has no effect.

    Its parameters are any of these, by name, all 64-bit integers:

    - ``order``: log2 of the slots of the request, 0 to 9,
    - ``free``: clusters on the free list,
    - ``nonfull``: clusters on the nonfull list of this order,
    - ``frag``: clusters on the frag list of this order,
    - ``larger``: clusters on the nonfull and frag lists of larger orders; 0 unless the order is
      0,
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
    FILE of
    `swapsim.policies`. Its parameters are any of these, by name, all 64-bit integers:

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
