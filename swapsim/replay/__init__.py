# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace x mechanism -> counts.

A replay takes what a real kernel did, page by page, and counts what each
version of the mechanism would have done for the same pages. It knows no time.
"""

from swapsim.replay.at_a_glance import at_a_glance
from swapsim.replay.batched_removal import (
    batched_removal,
    batched_removal_of,
    removal_holds,
    removal_lists,
)
from swapsim.replay.cluster_next import cluster_next
from swapsim.replay.mapping_rows import writeback_rows
from swapsim.replay.per_page import mix, per_page, totals_per_page
from swapsim.replay.removal_rows import removals, removals_of
from swapsim.replay.slots import SlotVerdict, verified_slots, verify_slots
from swapsim.replay.stall_agreement import (
    agreement_table,
    stall_agreement,
    stall_partings,
    stall_seconds,
    stall_timeline,
)
from swapsim.replay.stall_decisions import (
    UNTOLD,
    decided_lists,
    folio_fates,
    sleeps_asked,
    stall_decisions,
    stall_decisions_of,
    summed_decisions,
)
from swapsim.replay.stall_verdict import StallVerdict
from swapsim.replay.stalls import verified_stalls, verify_stalls
from swapsim.replay.writeback_tags import (
    replay_rows,
    writeback_tags,
    writeback_tags_by_kernel,
    writeback_tags_of,
)

__all__ = [
    "UNTOLD",
    "SlotVerdict",
    "StallVerdict",
    "agreement_table",
    "at_a_glance",
    "batched_removal",
    "batched_removal_of",
    "cluster_next",
    "decided_lists",
    "folio_fates",
    "mix",
    "per_page",
    "removal_holds",
    "removal_lists",
    "removals",
    "removals_of",
    "replay_rows",
    "sleeps_asked",
    "stall_agreement",
    "stall_decisions",
    "stall_decisions_of",
    "stall_partings",
    "stall_seconds",
    "stall_timeline",
    "summed_decisions",
    "totals_per_page",
    "verified_slots",
    "verified_stalls",
    "verify_slots",
    "verify_stalls",
    "writeback_rows",
    "writeback_tags",
    "writeback_tags_by_kernel",
    "writeback_tags_of",
]
