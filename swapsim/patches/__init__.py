# SPDX-License-Identifier: GPL-2.0-or-later
"""A module for each patch: its machine, what is fitted to what, its studies, and its columns.

A module has the name of the patch's folder in ``patches`` as PATCH, its studies
(`swapsim.study.Study`) as values, and ``simulated``, ``measured`` and ``by_hand`` for the rows of
its mail's tables. To add a patch, add a module and its name to ``swapsim.site.patches.PATCHES``.
"""

from swapsim.patches import batched_removal as batched_removal
from swapsim.patches import cluster_next as cluster_next
from swapsim.patches import newer_kernels as newer_kernels
from swapsim.patches import stall_decisions as stall_decisions
from swapsim.patches import writeback_tags as writeback_tags
