# SPDX-License-Identifier: GPL-2.0-or-later
"""The mechanism of patch B: pages removed from their mappings singly, or a list under one lock."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.removal.replay import (
    batched_removal,
    batched_removal_of,
    removal_holds,
    removal_lists,
    removals,
    removals_of,
)

if TYPE_CHECKING:
    from swapsim.removal import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "tables")

__all__ = [
    "batched_removal",
    "batched_removal_of",
    "removal_holds",
    "removal_lists",
    "removals",
    "removals_of",
]
