# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's mechanism: the rules by which reclaim stalls, and recordings of real kernels."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.stall._native import decide, process_pages
from swapsim.stall.config import StallContext
from swapsim.stall.recording import ReclaimRows, reclaim_rows
from swapsim.stall.replay import (
    NOT_RECORDED,
    decided_lists,
    folio_branches,
    requested_sleeps,
    stall_decisions,
    summed_decisions,
)
from swapsim.stall.rules import Act, Rules, explain, rules_of
from swapsim.stall.verify import verified_stalls, verify_stalls

if TYPE_CHECKING:
    from swapsim.stall import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "tables")

__all__ = [
    "NOT_RECORDED",
    "Act",
    "ReclaimRows",
    "Rules",
    "StallContext",
    "decide",
    "decided_lists",
    "explain",
    "folio_branches",
    "process_pages",
    "reclaim_rows",
    "requested_sleeps",
    "rules_of",
    "stall_decisions",
    "summed_decisions",
    "verified_stalls",
    "verify_stalls",
]
