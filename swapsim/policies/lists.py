# SPDX-License-Identifier: GPL-2.0-or-later
"""Which list of clusters a search takes next: a user's own policy (``clusters.h``).

It is a small Python function, which numba compiles and C calls in place of the order of lists that
a kernel has.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from swapsim.errors import check_choice
from swapsim.ffi import CLUSTER_CHOICES, CLUSTER_RULES
from swapsim.policies.compiler import Compiled, decorator

FREE: Final = CLUSTER_CHOICES.index("FREE")
"""The first cluster of the free list."""

NONFULL: Final = CLUSTER_CHOICES.index("NONFULL")
"""The first nonfull cluster of the order."""

FRAG: Final = CLUSTER_CHOICES.index("FRAG")
"""The first frag cluster of the order."""

FULL: Final = CLUSTER_CHOICES.index("FULL")
"""Reclaim of the first full cluster."""

LARGER: Final = CLUSTER_CHOICES.index("LARGER")
"""For a single slot: the clusters of larger orders, one after the other; then the end."""

END: Final = CLUSTER_CHOICES.index("END")
"""The end of the search without a result."""

CHOICE_PARAMETERS: Final = (
    *("order", "asked", "most", "last", "times", "free", "nonfull", "frag", "larger", "full"),
    "swap_full",
)
"""Parameters that the function may have, all 64-bit integers."""

OWNERS: Final = ("cpu", "task", "group")
"""Who may have a current cluster: a CPU, a task, or a group of tasks."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListPolicy(Compiled):
    """A user's own choice of lists, made by `list_policy`.

    ``name`` is the function's; all but the choice of lists follows ``rules`` (CLUSTER_RULES). The
    machine code at ``address`` is valid as long as this object exists; ``function`` can be called
    by hand.
    """

    IN_WORDS: ClassVar = "function decorated with @swapsim.list_policy()"

    rules: str
    owner: str


def list_policy(
    *, rules: str = "7.3", owner: str = "cpu"
) -> Callable[[Callable[..., int]], ListPolicy]:
    """Make a policy of a Python function, as a decorator: ``@swapsim.list_policy()``.

    A request for slots first goes on in its owner's current cluster. If nothing fits there, the
    function is called, and returns FREE, NONFULL, FRAG, FULL, LARGER or END of this module. One
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
    ``most`` choices; `clusters.ranking.rank_policies` refuses each of these, with its line.

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
    >>> from swapsim.policies.lists import FRAG, FREE, FULL, LARGER, NONFULL
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
    check_choice("owner", owner, OWNERS)
    return decorator(ListPolicy, CHOICE_PARAMETERS, rules=rules, owner=owner)
