# SPDX-License-Identifier: GPL-2.0-or-later
"""All results that are kept in data/simulated: which are stale, and all made anew."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from swapsim import patches
from swapsim.errors import InputError
from swapsim.io.paths import repository_root
from swapsim.progress import TextBar
from swapsim.study.kept import Kept


def results(names: Sequence[str] = ()) -> list[Kept[Any]]:
    """Return results that the patches' rooms keep; what others stand on comes before them.

    Parameters
    ----------
    names : sequence of str
        Which; all if there is none.

    Raises
    ------
    InputError
        There is no result of that name.
    """
    found: dict[str, Kept[Any]] = {}
    for module in walk_packages(patches.__path__, f"{patches.__name__}."):
        for each in vars(import_module(module.name)).values():
            if isinstance(each, Kept):
                found.setdefault(each.name, each)
    unknown = [name for name in names if name not in found]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not kept: choose of {', '.join(sorted(found))}")
    return [each for name, each in found.items() if name in names or not names]


def stale(names: Sequence[str] = ()) -> dict[str, str]:
    """Return the results that are not to be used as they are kept, and why.

    Parameters
    ----------
    names : sequence of str
        As for `results`.
    """
    why = {each.name: each.stale() for each in results(names)}
    return {name: reason for name, reason in why.items() if reason is not None}


def simulate(names: Sequence[str] = (), *, progress: bool = False) -> Iterator[tuple[str, bool]]:
    """Make results anew and keep them, one after the other.

    Parameters
    ----------
    names : sequence of str
        As for `results`.
    progress : bool
        Show a progress bar on stderr.

    Yields
    ------
    tuple of (str, bool)
        The name of a result that is kept now, and whether its file has changed by that.

    Raises
    ------
    InputError
        As for `results`; or there is no checkout to keep them in.
    """
    repository_root()
    chosen = results(names)
    with TextBar(chosen, desc="simulate", unit=" results", disable=not progress) as bar:
        for each in bar:
            bar.set_postfix_str(each.name)
            yield each.name, each.renew(progress=progress)
