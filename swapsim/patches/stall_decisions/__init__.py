# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: reclaim's stall decisions in one place, eight patches (2013, merged for 3.11)."""

from swapsim.patches.stall_decisions.code_claims import code_claims
from swapsim.patches.stall_decisions.conclusions import counted, verdict, verdict_in_runs
from swapsim.patches.stall_decisions.fitting import fitted, residuals_of
from swapsim.patches.stall_decisions.lab import (
    EXPERIMENT,
    SIZES,
    STEPS,
    along_rules,
    as_mailed,
    beside,
    directions,
    measured_as_mailed,
    steps,
)
from swapsim.patches.stall_decisions.lists import led, list_of
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH, printed
from swapsim.patches.stall_decisions.rules import rule_spans

__all__ = [
    "EXPERIMENT",
    "KERNELS",
    "PATCH",
    "SIZES",
    "STEPS",
    "along_rules",
    "as_mailed",
    "beside",
    "code_claims",
    "counted",
    "directions",
    "fitted",
    "led",
    "list_of",
    "measured_as_mailed",
    "printed",
    "residuals_of",
    "rule_spans",
    "steps",
    "verdict",
    "verdict_in_runs",
]
