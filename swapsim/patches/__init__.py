# SPDX-License-Identifier: GPL-2.0-or-later
"""One package for each patch: its machine, fit, prediction, lab runs and columns.

A patch's package exports what its notebook calls, and every part of `Patch`, which
`swapsim.site` calls for all patches. To add a patch, add a package here and its name to
``swapsim.site.patches.PATCHES``; no other patch's package changes.
"""

from swapsim.patches import batched_removal as batched_removal
from swapsim.patches import cluster_next as cluster_next
from swapsim.patches import newer_kernels as newer_kernels
from swapsim.patches import stall_decisions as stall_decisions
from swapsim.patches import writeback_tags as writeback_tags
from swapsim.patches.patch import Patch as Patch
