# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the scan for a free slot begins: the built-in rules, and a reader's own.

The rules themselves live in C (``slot_base.h``). A reader's own is a small Python
function, compiled by numba and called by C in the built-in one's place.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Integral
from typing import Any

from swapsim.checks import check_choice
from swapsim.errors import ConfigError
from swapsim.ffi.facts import BASE_OF, INITIAL, POLICIES
from swapsim.policies.compiler import callback, fault


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    """A reader's own policy; ``policy`` makes it.

    It fits wherever a name of POLICIES does, also in another process: it takes its function's
    code with it and is compiled there again. Two policies are equal if they are the same object.

    Attributes
    ----------
    name : str
        The function's; with " (reader)" behind it where a built-in policy has that name.
    base_of : {"device", "cpu", "mm"}
    initial : str or int or callable
    function : callable
        The Python function itself: to be called by hand, step by step.
    address : int
        Where its machine code is, valid as long as this object is.
    """

    name: str
    base_of: str
    initial: str | int | Callable[[int, int, int, int], int]
    function: Callable[..., int]
    address: int
    _callback: Any = field(repr=False)
    _pickled: bytes = field(repr=False)

    def __reduce__(self) -> tuple[Callable[[bytes], "Policy"], tuple[bytes]]:
        """Pickle the code as it was when it was compiled: a global may be another by now."""
        return _unpickled, (self._pickled,)


def policy(
    *,
    base_of: str,
    initial: str | int | Callable[[int, int, int, int], int] = "random",
) -> Callable[[Callable[..., int]], Policy]:
    """Make a policy of a Python function, to be used as ``@swapsim.policy(base_of="cpu")``.

    The function is asked where the kernel stores the base: once a call from 5.8 on, at each slot
    before. It returns the base from which this owner's next scan starts. Its parameters are any
    of these, by name, all of them 64-bit integers but the last:

    ========== ====================================================================
    cpu        the CPU of the calling task
    mm         its address space, from 0; -1 for a kernel thread
    base       its base until now
    next       one past where the scan stands: the next slot of a linear run
    lowest     the lowest and
    highest    the highest slot that may be free; highest < lowest on a full device
    trunk_size slots of a trunk (2**14 are 64 MB)
    draw       63 random bits, new at each call
    bases      every present base, the owner's own included, to read: those of the
               online CPUs, or of all CPUs (for kernel threads) and then of all mms
    ========== ====================================================================

    An answer outside of lowest to highest is nonsense, unless it is next or base: it is counted,
    and next stored instead. So is an exception, a division by zero or an index past the end of
    bases. The kernel would look at bases under si->lock: a function that has the parameter is
    charged for all of them at each call.

    Parameters
    ----------
    base_of : {"device", "cpu", "mm"}
        Whose the bases are: one of the device, one a CPU, or one an address space (and, for
        kernel threads, one a CPU).
    initial : str or int or callable
        The bases before the first call: "first" (slot 1), "random", "even-possible",
        "even-online" (evenly spaced over the possible or online CPUs), "apart" (random, a trunk
        each), "kernel" (the shared base's), one slot for all, or a plain Python function of
        (owner, n_owners, lowest, highest) that is called once per owner and never compiled.

    Returns
    -------
    callable
        Takes the function, returns the Policy.

    Raises
    ------
    ConfigError
        base_of or initial is none of these.
    InputError
        The function cannot be compiled, has another parameter or returns no integer; naming the
        file or cell and the line.

    Notes
    -----
    numba compiles it: integers, arrays, loops, conditions. Constants and ``@numba.njit`` functions
    that it uses must be there before it, and are frozen: a global that changes later changes
    nothing. It keeps nothing from one call to the next but the base. Chance comes from draw alone:
    numpy's own does not follow the run's seed. A loop or a recursion without end cannot be caught:
    it hangs or ends the process.

    Examples
    --------
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
        raise ConfigError(
            f"initial={initial!r}: choose one of {', '.join(INITIAL)}, a slot from 1 on, "
            "or a function of (owner, n_owners, lowest, highest)"
        )
    try:
        inspect.signature(initial).bind(0, 1, 1, 1)
    except (TypeError, ValueError):
        raise ConfigError(
            f"initial={getattr(initial, '__name__', initial)!s}: a function must take "
            "(owner, n_owners, lowest, highest)"
        ) from None


def _made(
    function: Callable[..., int], compiled: Any, base_of: str, initial: Any, pickled: bytes
) -> Policy:
    name = function.__name__
    return Policy(
        name=f"{name} (reader)" if name in POLICIES else name,
        base_of=base_of,
        initial=initial,
        function=function,
        address=compiled.address,
        _callback=compiled,
        _pickled=pickled,
    )


def _pickled(function: Callable[..., int], base_of: str, initial: Any) -> bytes:
    """Return the functions by their code, for those of a notebook have no module to be found in."""
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
    """Compile a policy again, once a process however many tasks bring it along."""
    from numba import cloudpickle

    function, base_of, initial = cloudpickle.loads(pickled)
    return _made(function, callback(function), base_of, initial, pickled)
