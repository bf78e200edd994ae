# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: reclaim's stall decisions in one place, eight patches (2013, merged for 3.11)."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.patches.stall_decisions import kept
from swapsim.patches.stall_decisions.beside import beside
from swapsim.patches.stall_decisions.code_claims import code_claims
from swapsim.patches.stall_decisions.conclusions import (
    counted,
    headline_fit,
    headline_locks,
    headline_ranges,
    verdict,
    verdict_in_runs,
    verdict_in_world,
)
from swapsim.patches.stall_decisions.fitting import fitted, residuals_of
from swapsim.patches.stall_decisions.guest import (
    at_what_is_open,
    guests,
    like_the_mail,
    order_of_rules,
    variants,
    verdict_on_guests,
    world_and_lab,
)
from swapsim.patches.stall_decisions.judgement import cells, orders, score, verdicts
from swapsim.patches.stall_decisions.kept import headline_results
from swapsim.patches.stall_decisions.lab import (
    EXPERIMENT,
    SIZES,
    STEPS,
    along_rules,
    as_mailed,
    directions,
    measured_as_mailed,
    steps,
)
from swapsim.patches.stall_decisions.lists import led, list_of
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH, printed
from swapsim.patches.stall_decisions.node import node_beside_zones, on_a_node
from swapsim.patches.stall_decisions.over_nfs import servers
from swapsim.patches.stall_decisions.over_time import one_life, summed
from swapsim.patches.stall_decisions.rules import rule_spans
from swapsim.patches.stall_decisions.unknowns import ranges
from swapsim.patches.stall_decisions.what_if import matters
from swapsim.patches.stall_decisions.worlds import Run, of_target, tell, watched

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
    "at_what_is_open",
    "beside",
    "cells",
    "code_claims",
    "counted",
    "directions",
    "fitted",
    "guests",
    "headline_fit",
    "headline_locks",
    "headline_ranges",
    "headline_results",
    "kept",
    "led",
    "like_the_mail",
    "list_of",
    "matters",
    "measured_as_mailed",
    "node_beside_zones",
    "of_target",
    "on_a_node",
    "one_life",
    "order_of_rules",
    "orders",
    "printed",
    "ranges",
    "residuals_of",
    "rule_spans",
    "score",
    "servers",
    "steps",
    "summed",
    "tell",
    "variants",
    "verdict",
    "verdict_in_runs",
    "verdict_in_world",
    "verdict_on_guests",
    "verdicts",
    "watched",
    "world_and_lab",
]
