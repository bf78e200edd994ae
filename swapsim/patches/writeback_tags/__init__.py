# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A: no radix-tree writeback tags for the swap cache (2016, merged in 4.9)."""

from swapsim.machine.summary import (
    describe_gains,
    describe_sensitivity,
    time_of_actors,
    time_per_page,
)
from swapsim.patches.writeback_tags import studies
from swapsim.patches.writeback_tags.benchmark import stored_fits, swap_w_seq
from swapsim.patches.writeback_tags.conclusions import (
    chances,
    counted,
    headline_locks,
    lock_relief,
    verdict,
)
from swapsim.patches.writeback_tags.effects import compare_effects
from swapsim.patches.writeback_tags.lab import (
    compare_acquisitions,
    compare_nodes,
    lab_machines,
    measured_as_mailed,
)
from swapsim.patches.writeback_tags.prediction import (
    PATCH,
    fit,
    fits_at,
    headline_fit,
    judged_ranges,
    machine,
    predict,
    predict_at_shares,
    runs,
    with_tags_up_to,
)
from swapsim.patches.writeback_tags.studies import simulated_claims
from swapsim.patches.writeback_tags.swap_series import (
    compare_series,
    map_share_of_series,
    predict_series,
)

__all__ = [
    "PATCH",
    "chances",
    "compare_acquisitions",
    "compare_effects",
    "compare_nodes",
    "compare_series",
    "counted",
    "describe_gains",
    "describe_sensitivity",
    "fit",
    "fits_at",
    "headline_fit",
    "headline_locks",
    "judged_ranges",
    "lab_machines",
    "lock_relief",
    "machine",
    "map_share_of_series",
    "measured_as_mailed",
    "predict",
    "predict_at_shares",
    "predict_series",
    "runs",
    "simulated_claims",
    "stored_fits",
    "studies",
    "swap_w_seq",
    "time_of_actors",
    "time_per_page",
    "verdict",
    "with_tags_up_to",
]
