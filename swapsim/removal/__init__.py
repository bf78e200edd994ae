# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B's mechanism: pages removed from their mappings one by one, or a list under one lock."""

from swapsim.removal.replay import batched_removal, batched_removal_of, removal_holds, removal_lists
from swapsim.removal.rows import removals, removals_of

__all__ = [
    "batched_removal",
    "batched_removal_of",
    "removal_holds",
    "removal_lists",
    "removals",
    "removals_of",
]
