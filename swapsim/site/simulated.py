# SPDX-License-Identifier: GPL-2.0-or-later
"""All studies, whose results are stored in data/simulated: which are stale, proof and update."""

from collections.abc import Iterator, Sequence
from typing import Final

from swapsim.errors import InputError, suggestion
from swapsim.patches import newer_kernels
from swapsim.progress import TextBar
from swapsim.site.patches import PATCHES
from swapsim.study import Study

_MODULES: Final = (*PATCHES, newer_kernels)
"""The modules whose values, or values of dictionaries, are studies."""


def studies(names: Sequence[str] = ()) -> list[Study]:
    """Return the studies of all patches and newer kernels; each follows those it depends on."""
    found: dict[str, Study] = {}
    for module in _MODULES:
        for value in vars(module).values():
            values = value.values() if isinstance(value, dict) else [value]
            found |= {each.name: each for each in values if isinstance(each, Study)}
    unknown = [name for name in names if name not in found]
    if unknown:
        raise InputError(
            f"{unknown[0]!r} is not a study: {suggestion(unknown[0], found, 3)}each file of "
            f"data/simulated has the name of one, as {next(iter(found))}; without a name all are "
            "run"
        )
    return [each for name, each in found.items() if name in names or not names]


def differing(names: Sequence[str] = (), *, progress: bool = False) -> Iterator[tuple[str, str]]:
    """Compute the results of studies again; yield those that are not as stored, and why."""
    with TextBar(studies(names), desc="check", unit=" results", disable=not progress) as bar:
        for each in bar:
            why = each.stale()
            if why is None and not each.is_reproduced(progress=progress):
                why = "other rows come out"
            if why is not None:
                yield each.name, why


def prove(*, progress: bool = False) -> dict[str, int]:
    """Compute a sample of each stored result again; return the number of its rows.

    A sample that differs is an error. The tests prove other samples with each commit.
    """
    with TextBar(studies(), desc="check", unit=" results", disable=not progress) as bar:
        return {each.name: each.check(each.load()) for each in bar}
