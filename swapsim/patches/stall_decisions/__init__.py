# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: reclaim's stall decisions in one place, eight patches (2013, merged for 3.11)."""

from swapsim.patches.stall_decisions.lab import (
    EXPERIMENT,
    SIZES,
    STEPS,
    along_rules,
    as_mailed,
    directions,
    steps,
)
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH, printed

__all__ = [
    "EXPERIMENT",
    "KERNELS",
    "PATCH",
    "SIZES",
    "STEPS",
    "along_rules",
    "as_mailed",
    "directions",
    "printed",
    "steps",
]
