# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B: one hold per mapping instead of one per page (2016, never merged)."""

from swapsim.patches.batched_removal import studies
from swapsim.patches.batched_removal.conclusions import (
    counted,
    headline_fit,
    headline_locks,
    measured_as_mailed,
    rewrite,
    spread_needed,
    verdict,
    waits_needed,
)
from swapsim.patches.batched_removal.lab import (
    compare_lab,
    lab_machines,
    lab_off_percent,
    lab_runs,
    xa_lock_misses,
)
from swapsim.patches.batched_removal.prediction import (
    MIDDLE,
    PATCH,
    Point,
    constants_at,
    headline_results,
    judged_ranges,
    machine,
    points,
    predict,
    predict_point,
)
from swapsim.patches.batched_removal.studies import headline_ranges

__all__ = [
    "MIDDLE",
    "PATCH",
    "Point",
    "compare_lab",
    "constants_at",
    "counted",
    "headline_fit",
    "headline_locks",
    "headline_ranges",
    "headline_results",
    "judged_ranges",
    "lab_machines",
    "lab_off_percent",
    "lab_runs",
    "machine",
    "measured_as_mailed",
    "points",
    "predict",
    "predict_point",
    "rewrite",
    "spread_needed",
    "studies",
    "verdict",
    "waits_needed",
    "xa_lock_misses",
]
