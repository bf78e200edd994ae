# SPDX-License-Identifier: GPL-2.0-or-later
"""From which type of pages reclaim takes some first: a user's own policy (``mglru.h``).

It is a small Python function, which numba compiles and C calls in place of the rules that a kernel
has.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from swapsim.errors import check_choice
from swapsim.ffi import MGLRU_RULES, MGLRU_TYPES
from swapsim.policies.compiler import Compiled, decorator

ANON: Final = MGLRU_TYPES.index("anon")
"""Anonymous pages."""

FILE: Final = MGLRU_TYPES.index("file")
"""File pages."""

TYPE_PARAMETERS: Final = (
    *("swappiness", "io", "anon_generations", "file_generations"),
    *("anon_refaulted", "anon_total", "file_refaulted", "file_total"),
    *("anon_first_refaulted", "anon_first_total", "file_first_refaulted", "file_first_total"),
)
"""Parameters that the function may have, all 64-bit integers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TypePolicy(Compiled):
    """A user's own choice between anonymous and file pages, made by `type_policy`.

    ``name`` is the function's; all but the choice of the type follows ``rules`` (MGLRU_RULES).
    The machine code at ``address`` is valid as long as this object exists; ``function`` can be
    called by hand.
    """

    IN_WORDS: ClassVar = "function decorated with @swapsim.type_policy()"

    rules: str


def type_policy(*, rules: str = "7.3") -> Callable[[Callable[..., int]], TypePolicy]:
    """Make a policy of a Python function, as a decorator: ``@swapsim.type_policy()``.

    The function is called for each choice between anonymous and file pages, and returns ANON or
    FILE of this module. Its parameters are any of these, by name, all 64-bit integers:

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
    >>> from swapsim.policies.page_types import ANON, FILE
    >>> @swapsim.type_policy()
    ... def the_colder(anon_refaulted, anon_total, file_refaulted, file_total):
    ...     return FILE if file_refaulted * anon_total <= anon_refaulted * file_total else ANON
    """
    check_choice("rules", rules, MGLRU_RULES)
    return decorator(TypePolicy, TYPE_PARAMETERS, rules=rules)
