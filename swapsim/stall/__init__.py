# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's mechanism: the rules by which reclaim stalls, and recordings of real kernels."""

from swapsim.stall import tables as tables
from swapsim.stall._native_list import decide as decide
from swapsim.stall._native_list import process_pages as process_pages
from swapsim.stall.config import StallContext as StallContext
from swapsim.stall.replay import NOT_RECORDED as NOT_RECORDED
from swapsim.stall.replay import agreement as agreement
from swapsim.stall.replay import decided_lists as decided_lists
from swapsim.stall.replay import requested_sleeps as requested_sleeps
from swapsim.stall.replay import stall_decisions as stall_decisions
from swapsim.stall.replay import summed_decisions as summed_decisions
from swapsim.stall.rows import ReclaimRows as ReclaimRows
from swapsim.stall.rows import reclaim_rows as reclaim_rows
from swapsim.stall.rules import Act as Act
from swapsim.stall.rules import Rules as Rules
from swapsim.stall.rules import explain as explain
from swapsim.stall.rules import rules_of as rules_of
from swapsim.stall.sums import SumRows as SumRows
from swapsim.stall.sums import is_of_sums as is_of_sums
from swapsim.stall.sums import root_stalls as root_stalls
from swapsim.stall.sums import sum_rows as sum_rows
from swapsim.stall.sums import verify_sums as verify_sums
from swapsim.stall.sums_joining import JOINED_EVENTS as JOINED_EVENTS
from swapsim.stall.verify import verified_stalls as verified_stalls
from swapsim.stall.verify import verify_stalls as verify_stalls
