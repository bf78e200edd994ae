# SPDX-License-Identifier: GPL-2.0-or-later
"""A room for each patch: its machines, fit, prediction, questions, lab runs and verdict.

A room is a package here. It says which patch it is about, ``PATCH``, and gives the verbs
that its notebook calls. What spans patches (`swapsim.site`) walks over the rooms and asks
those that have the verb:

- ``headline_fit()``: the base's fit behind the headlines, and ``headline_results(seeds)`` with it,
- ``headline_ranges()``: the mail's claims over all fits that meet the base,
- ``measured_as_mailed()``: what a real kernel measured of the mail's table, in its words,
- ``lock_relief(runs(constants))``: what becomes of the swap cache's lock,
- ``counted()``: a sentence on what was counted on traces.

What takes longer than about ten seconds a room keeps (`sweep.kept`), in its ``kept``.

So whoever adds a patch adds a room, and touches no other one.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def rooms(verb: str) -> list[ModuleType]:
    """Return the rooms that have a verb, in the order of their patches.

    Parameters
    ----------
    verb : str
        A function of the room's head.
    """
    found = [import_module(f"{__name__}.{room.name}") for room in iter_modules(__path__)]
    return sorted((room for room in found if hasattr(room, verb)), key=lambda room: room.PATCH)
