# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: reclaim's stall decisions in one place, eight patches (2013, merged for 3.11)."""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.patches.stall_decisions import charts as charts
    from swapsim.patches.stall_decisions import studies as studies
    from swapsim.patches.stall_decisions.changes import compare_changes as compare_changes
    from swapsim.patches.stall_decisions.conclusions import chances as chances
    from swapsim.patches.stall_decisions.conclusions import counted as counted
    from swapsim.patches.stall_decisions.conclusions import headline_fit as headline_fit
    from swapsim.patches.stall_decisions.conclusions import headline_locks as headline_locks
    from swapsim.patches.stall_decisions.conclusions import verdict as verdict
    from swapsim.patches.stall_decisions.conclusions import (
        verdict_in_lab_guest as verdict_in_lab_guest,
    )
    from swapsim.patches.stall_decisions.conclusions import verdict_simulated as verdict_simulated
    from swapsim.patches.stall_decisions.fitting import residuals_of as residuals_of
    from swapsim.patches.stall_decisions.judgement import cells as cells
    from swapsim.patches.stall_decisions.judgement import (
        count_by_the_old_rule as count_by_the_old_rule,
    )
    from swapsim.patches.stall_decisions.judgement import score as score
    from swapsim.patches.stall_decisions.judgement import verdicts as verdicts
    from swapsim.patches.stall_decisions.lab import EXPERIMENT as EXPERIMENT
    from swapsim.patches.stall_decisions.lab import STEPS_IN_THE_LAB as STEPS_IN_THE_LAB
    from swapsim.patches.stall_decisions.lab import along_rules as along_rules
    from swapsim.patches.stall_decisions.lab import by_variant as by_variant
    from swapsim.patches.stall_decisions.lab import compare_orders as compare_orders
    from swapsim.patches.stall_decisions.lab import compare_with_lab as compare_with_lab
    from swapsim.patches.stall_decisions.lab import directions as directions
    from swapsim.patches.stall_decisions.lab import measured_as_mailed as measured_as_mailed
    from swapsim.patches.stall_decisions.lab import parted_directions as parted_directions
    from swapsim.patches.stall_decisions.lab import simulated_steps as simulated_steps
    from swapsim.patches.stall_decisions.lab import steps as steps
    from swapsim.patches.stall_decisions.lists import agreement as agreement
    from swapsim.patches.stall_decisions.lists import agreement_table as agreement_table
    from swapsim.patches.stall_decisions.lists import code_claims as code_claims
    from swapsim.patches.stall_decisions.lists import differing_lists as differing_lists
    from swapsim.patches.stall_decisions.lists import make_list as make_list
    from swapsim.patches.stall_decisions.lists import process_list as process_list
    from swapsim.patches.stall_decisions.lists import rule_spans as rule_spans
    from swapsim.patches.stall_decisions.lists import stretch as stretch
    from swapsim.patches.stall_decisions.lists import stretch_seconds as stretch_seconds
    from swapsim.patches.stall_decisions.mail import MAIN_ROWS as MAIN_ROWS
    from swapsim.patches.stall_decisions.mail import PATCH as PATCH
    from swapsim.patches.stall_decisions.mail import printed as printed
    from swapsim.patches.stall_decisions.rounds import most_swapped_page as most_swapped_page
    from swapsim.patches.stall_decisions.rounds import sum_seconds as sum_seconds
    from swapsim.patches.stall_decisions.runs import rows_of_target as rows_of_target
    from swapsim.patches.stall_decisions.sources import three_sources as three_sources
    from swapsim.patches.stall_decisions.studies import simulated_claims as simulated_claims
    from swapsim.patches.stall_decisions.what_if import by_figure as by_figure
    from swapsim.patches.stall_decisions.what_if import by_lists as by_lists
    from swapsim.patches.stall_decisions.what_if import differences as differences
    from swapsim.patches.stall_decisions.what_if import ranges as ranges
else:
    lazy.export(__name__)
