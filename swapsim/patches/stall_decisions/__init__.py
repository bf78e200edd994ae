# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: reclaim's stall decisions in one place, eight patches (2013, merged for 3.11)."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.patches.stall_decisions import studies
from swapsim.patches.stall_decisions.conclusions import (
    counted,
    headline_fit,
    headline_locks,
    headline_ranges,
    verdict,
    verdict_in_lab_guest,
    verdict_in_runs,
    verdict_in_simulation,
)
from swapsim.patches.stall_decisions.fitting import residuals_of
from swapsim.patches.stall_decisions.guest import variants
from swapsim.patches.stall_decisions.lab import (
    EXPERIMENT,
    STEPS,
    along_rules,
    by_variant,
    compare_orders,
    compare_with_lab,
    directions,
    measured_as_mailed,
    parted_directions,
    steps,
)
from swapsim.patches.stall_decisions.lists import (
    code_claims,
    make_list,
    process_list,
    rule_spans,
)
from swapsim.patches.stall_decisions.mail import (
    KERNELS,
    PATCH,
    SIZES,
    as_mailed,
    cells,
    orders,
    printed,
    score,
    three_sources,
    verdicts,
)
from swapsim.patches.stall_decisions.node import node_beside_zones
from swapsim.patches.stall_decisions.over_time import one_life, summed
from swapsim.patches.stall_decisions.studies import headline_results
from swapsim.patches.stall_decisions.unknowns import ranges
from swapsim.patches.stall_decisions.what_if import matters
from swapsim.patches.stall_decisions.worlds import Run, of_target, watched

if TYPE_CHECKING:
    from swapsim.patches.stall_decisions import charts as charts
else:
    __getattr__, __dir__ = submodules(__name__, "charts")

__all__ = [
    "EXPERIMENT",
    "KERNELS",
    "PATCH",
    "SIZES",
    "STEPS",
    "Run",
    "along_rules",
    "as_mailed",
    "by_variant",
    "cells",
    "code_claims",
    "compare_orders",
    "compare_with_lab",
    "counted",
    "directions",
    "headline_fit",
    "headline_locks",
    "headline_ranges",
    "headline_results",
    "make_list",
    "matters",
    "measured_as_mailed",
    "node_beside_zones",
    "of_target",
    "one_life",
    "orders",
    "parted_directions",
    "printed",
    "process_list",
    "ranges",
    "residuals_of",
    "rule_spans",
    "score",
    "steps",
    "studies",
    "summed",
    "three_sources",
    "variants",
    "verdict",
    "verdict_in_lab_guest",
    "verdict_in_runs",
    "verdict_in_simulation",
    "verdicts",
    "watched",
]
