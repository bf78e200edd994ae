# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B: one hold per mapping instead of one per page (2016, never merged)."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.patches.batched_removal import studies
from swapsim.patches.batched_removal.conclusions import (
    chances,
    counted,
    headline_fit,
    headline_locks,
    held_out,
    measured_as_mailed,
    noise_of_rows,
    rewrite,
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
    Point,
    constants_at,
    judged_ranges,
    machine,
    null_changes,
    points,
    predict_point,
    sweep_config,
)
from swapsim.patches.batched_removal.studies import simulated_claims
from swapsim.patches.batched_removal.sweeps import SweepConfig, sweep
from swapsim.patches.batched_removal.workload import (
    PATCH,
    chance_of_change,
    error_of_change,
    workload,
)

if TYPE_CHECKING:
    from swapsim.patches.batched_removal import charts as charts
else:
    __getattr__, __dir__ = submodules(__name__, "charts")

__all__ = [
    "MIDDLE",
    "PATCH",
    "Point",
    "SweepConfig",
    "chance_of_change",
    "chances",
    "compare_lab",
    "constants_at",
    "counted",
    "error_of_change",
    "headline_fit",
    "headline_locks",
    "held_out",
    "judged_ranges",
    "lab_machines",
    "lab_off_percent",
    "lab_runs",
    "machine",
    "measured_as_mailed",
    "noise_of_rows",
    "null_changes",
    "points",
    "predict_point",
    "rewrite",
    "simulated_claims",
    "studies",
    "sweep",
    "sweep_config",
    "verdict",
    "waits_needed",
    "workload",
    "xa_lock_misses",
]
