# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's mechanism: the rules by which reclaim stalls, and recordings of real kernels."""

from swapsim.stall.replay import RULES, decide, replay
from swapsim.stall.verify import verify

__all__ = ["RULES", "decide", "replay", "verify"]
