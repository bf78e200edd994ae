# SPDX-License-Identifier: GPL-2.0-or-later
"""The mechanism of patch B: pages removed from their mappings singly, or a list under one lock."""

from swapsim.removal import tables as tables
from swapsim.removal.replay import batched_removal as batched_removal
from swapsim.removal.replay import batched_removal_of as batched_removal_of
from swapsim.removal.replay import removals as removals
