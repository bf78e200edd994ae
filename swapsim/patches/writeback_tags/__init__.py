# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A: no radix-tree writeback tags for the swap cache (2016, merged in 4.9)."""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.machine.summary import describe_gains as describe_gains
    from swapsim.machine.summary import describe_sensitivity as describe_sensitivity
    from swapsim.machine.summary import time_of_actors as time_of_actors
    from swapsim.machine.summary import time_per_page as time_per_page
    from swapsim.patches.writeback_tags import studies as studies
    from swapsim.patches.writeback_tags.benchmark import stored_fits as stored_fits
    from swapsim.patches.writeback_tags.benchmark import swap_w_seq as swap_w_seq
    from swapsim.patches.writeback_tags.conclusions import chances as chances
    from swapsim.patches.writeback_tags.conclusions import counted as counted
    from swapsim.patches.writeback_tags.conclusions import headline_locks as headline_locks
    from swapsim.patches.writeback_tags.conclusions import lock_relief as lock_relief
    from swapsim.patches.writeback_tags.conclusions import verdict as verdict
    from swapsim.patches.writeback_tags.effects import compare_effects as compare_effects
    from swapsim.patches.writeback_tags.lab import compare_acquisitions as compare_acquisitions
    from swapsim.patches.writeback_tags.lab import compare_nodes as compare_nodes
    from swapsim.patches.writeback_tags.lab import lab_machines as lab_machines
    from swapsim.patches.writeback_tags.lab import measured_as_mailed as measured_as_mailed
    from swapsim.patches.writeback_tags.prediction import PATCH as PATCH
    from swapsim.patches.writeback_tags.prediction import fit as fit
    from swapsim.patches.writeback_tags.prediction import fits_at as fits_at
    from swapsim.patches.writeback_tags.prediction import headline_fit as headline_fit
    from swapsim.patches.writeback_tags.prediction import judged_ranges as judged_ranges
    from swapsim.patches.writeback_tags.prediction import machine as machine
    from swapsim.patches.writeback_tags.prediction import predict as predict
    from swapsim.patches.writeback_tags.prediction import predict_at_shares as predict_at_shares
    from swapsim.patches.writeback_tags.prediction import runs as runs
    from swapsim.patches.writeback_tags.prediction import with_tags_up_to as with_tags_up_to
    from swapsim.patches.writeback_tags.studies import simulated_claims as simulated_claims
    from swapsim.patches.writeback_tags.swap_series import compare_series as compare_series
    from swapsim.patches.writeback_tags.swap_series import (
        map_share_of_series as map_share_of_series,
    )
    from swapsim.patches.writeback_tags.swap_series import predict_series as predict_series
else:
    lazy.export(__name__)
