# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B: one hold per mapping instead of one per page (2016, never merged)."""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.patches.batched_removal import charts as charts
    from swapsim.patches.batched_removal import studies as studies
    from swapsim.patches.batched_removal.conclusions import chances as chances
    from swapsim.patches.batched_removal.conclusions import counted as counted
    from swapsim.patches.batched_removal.conclusions import headline_fit as headline_fit
    from swapsim.patches.batched_removal.conclusions import headline_locks as headline_locks
    from swapsim.patches.batched_removal.conclusions import held_out as held_out
    from swapsim.patches.batched_removal.conclusions import measured_as_mailed as measured_as_mailed
    from swapsim.patches.batched_removal.conclusions import noise_of_rows as noise_of_rows
    from swapsim.patches.batched_removal.conclusions import rewrite as rewrite
    from swapsim.patches.batched_removal.conclusions import verdict as verdict
    from swapsim.patches.batched_removal.conclusions import waits_needed as waits_needed
    from swapsim.patches.batched_removal.lab import compare_lab as compare_lab
    from swapsim.patches.batched_removal.lab import lab_machines as lab_machines
    from swapsim.patches.batched_removal.lab import lab_off_percent as lab_off_percent
    from swapsim.patches.batched_removal.lab import lab_runs as lab_runs
    from swapsim.patches.batched_removal.lab import xa_lock_misses as xa_lock_misses
    from swapsim.patches.batched_removal.prediction import MIDDLE as MIDDLE
    from swapsim.patches.batched_removal.prediction import Point as Point
    from swapsim.patches.batched_removal.prediction import constants_at as constants_at
    from swapsim.patches.batched_removal.prediction import judged_ranges as judged_ranges
    from swapsim.patches.batched_removal.prediction import machine as machine
    from swapsim.patches.batched_removal.prediction import null_changes as null_changes
    from swapsim.patches.batched_removal.prediction import points as points
    from swapsim.patches.batched_removal.prediction import predict_point as predict_point
    from swapsim.patches.batched_removal.prediction import sweep_config as sweep_config
    from swapsim.patches.batched_removal.studies import simulated_claims as simulated_claims
    from swapsim.patches.batched_removal.sweeps import SweepConfig as SweepConfig
    from swapsim.patches.batched_removal.sweeps import sweep as sweep
    from swapsim.patches.batched_removal.workload import PATCH as PATCH
    from swapsim.patches.batched_removal.workload import chance_of_change as chance_of_change
    from swapsim.patches.batched_removal.workload import error_of_change as error_of_change
    from swapsim.patches.batched_removal.workload import workload as workload
else:
    lazy.export(__name__)
