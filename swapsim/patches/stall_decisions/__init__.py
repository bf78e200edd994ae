# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: reclaim's stall decisions in one place, eight patches (2013, merged for 3.11)."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.patches.stall_decisions import studies
from swapsim.patches.stall_decisions.changes import compare_changes
from swapsim.patches.stall_decisions.conclusions import (
    chances,
    counted,
    headline_fit,
    headline_locks,
    verdict,
    verdict_in_lab_guest,
    verdict_simulated,
)
from swapsim.patches.stall_decisions.fitting import residuals_of
from swapsim.patches.stall_decisions.judgement import cells, count_by_the_old_rule, score, verdicts
from swapsim.patches.stall_decisions.lab import (
    EXPERIMENT,
    STEPS_IN_THE_LAB,
    along_rules,
    by_variant,
    compare_orders,
    compare_with_lab,
    directions,
    measured_as_mailed,
    parted_directions,
    simulated_steps,
    steps,
)
from swapsim.patches.stall_decisions.lists import (
    agreement,
    agreement_table,
    code_claims,
    differing_lists,
    make_list,
    process_list,
    rule_spans,
    stretch,
    stretch_seconds,
)
from swapsim.patches.stall_decisions.mail import MAIN_ROWS, PATCH, printed
from swapsim.patches.stall_decisions.rounds import most_swapped_page, sum_seconds
from swapsim.patches.stall_decisions.runs import rows_of_target
from swapsim.patches.stall_decisions.sources import three_sources
from swapsim.patches.stall_decisions.studies import simulated_claims
from swapsim.patches.stall_decisions.what_if import by_figure, by_lists, differences, ranges

if TYPE_CHECKING:
    from swapsim.patches.stall_decisions import charts as charts
else:
    __getattr__, __dir__ = submodules(__name__, "charts")

__all__ = [
    "EXPERIMENT",
    "MAIN_ROWS",
    "PATCH",
    "STEPS_IN_THE_LAB",
    "agreement",
    "agreement_table",
    "along_rules",
    "by_figure",
    "by_lists",
    "by_variant",
    "cells",
    "chances",
    "code_claims",
    "compare_changes",
    "compare_orders",
    "compare_with_lab",
    "count_by_the_old_rule",
    "counted",
    "differences",
    "differing_lists",
    "directions",
    "headline_fit",
    "headline_locks",
    "make_list",
    "measured_as_mailed",
    "most_swapped_page",
    "parted_directions",
    "printed",
    "process_list",
    "ranges",
    "residuals_of",
    "rows_of_target",
    "rule_spans",
    "score",
    "simulated_claims",
    "simulated_steps",
    "steps",
    "stretch",
    "stretch_seconds",
    "studies",
    "sum_seconds",
    "three_sources",
    "verdict",
    "verdict_in_lab_guest",
    "verdict_simulated",
    "verdicts",
]
