# SPDX-License-Identifier: GPL-2.0-or-later
"""The other names of a replay: of its verification, its package and its mechanism.

They are refused, with the name that is used. Stored results depend on `traces.replays`, and not on
this.
"""

from collections.abc import Iterable
from typing import Final

from swapsim.errors import InputError

_NAMES: Final = (
    {"writeback-tags", "mapping", "tags"},
    {"batched-removal", "removal"},
    {"stall-decisions", "stalls", "stall"},
    {"cluster-next", "slots", "scan-base"},
    {"clusters", "cluster"},
    {"generations", "mglru"},
)


def also_called(name: str) -> set[str]:
    """Return all names of the subject that has this one."""
    word = name.lower().replace("_", "-")
    return next((names for names in _NAMES if word in names), {word})


def no_such_replay(name: str, known: Iterable[str]) -> InputError:
    """Return the error for an unknown replay: the known name of its subject, or all names."""
    others = tuple(known)
    same = [each for each in others if each in also_called(name)]
    hint = f"its name here is {same[0]}" if same else f"there are: {', '.join(others)}"
    return InputError(f"no such replay: {name!r}; {hint}")
