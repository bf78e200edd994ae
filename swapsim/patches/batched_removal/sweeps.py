# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads of usemem that sweep over more memory than there is."""

from swapsim.machine._native_sweeps import Sweeps as SweepConfig
from swapsim.machine._native_sweeps import sweep as sweep

__all__ = ["SweepConfig", "sweep"]
