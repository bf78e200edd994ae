# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's mechanism: the rules by which reclaim stalls, and recordings of real kernels."""

from swapsim.stall.decide import RULES, decide
from swapsim.stall.replay import replay
from swapsim.stall.verify import verify

__all__ = ["RULES", "decide", "replay", "verify"]
