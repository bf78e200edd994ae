# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's mechanism: where reclaim decides to stall, and a real kernel's decisions replayed."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.stall.agreement import (
    agreement_table,
    stall_agreement,
    stall_partings,
    stall_seconds,
    stall_timeline,
)
from swapsim.stall.config import StallContext
from swapsim.stall.recording import ReclaimRows, check_reclaim_rows, reclaim_rows
from swapsim.stall.replay import (
    UNTOLD,
    decided_lists,
    folio_fates,
    sleeps_asked,
    stall_decisions,
    stall_decisions_of,
    summed_decisions,
)
from swapsim.stall.verdict import StallVerdict
from swapsim.stall.verify import verified_stalls, verify_stalls

if TYPE_CHECKING:
    from swapsim.stall import charts as charts
    from swapsim.stall import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "charts", "tables")

__all__ = [
    "UNTOLD",
    "ReclaimRows",
    "StallContext",
    "StallVerdict",
    "agreement_table",
    "check_reclaim_rows",
    "decided_lists",
    "folio_fates",
    "reclaim_rows",
    "sleeps_asked",
    "stall_agreement",
    "stall_decisions",
    "stall_decisions_of",
    "stall_partings",
    "stall_seconds",
    "stall_timeline",
    "summed_decisions",
    "verified_stalls",
    "verify_stalls",
]
