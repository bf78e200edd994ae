# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B: one hold per mapping instead of one per page (2016, never merged)."""

from swapsim.patches.batched_removal import notebook as notebook
from swapsim.patches.batched_removal import prediction as prediction
from swapsim.patches.batched_removal import studies as studies
from swapsim.patches.batched_removal.workload import PATCH as PATCH
from swapsim.patches.batched_removal.workload import workload as workload
