# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D: a scan base for each CPU (2020, merged in 5.8), and E: what its reviewers asked."""

from swapsim.machine.lab import off_percent, order
from swapsim.machine.run import PAGES_MOVED, run_policies
from swapsim.machine.summary import describe_gains, describe_sensitivity, time_per_page
from swapsim.patches.cluster_next import studies
from swapsim.patches.cluster_next.alternatives import (
    LEADING,
    RANKED_BY,
    REVIEWERS,
    answers,
    means,
    rank,
)
from swapsim.patches.cluster_next.conclusions import (
    chances,
    counted,
    headline_locks,
    lock_relief,
    measured_as_mailed,
    verdict,
    verdict_on_alternatives,
)
from swapsim.patches.cluster_next.lab import (
    LOCK_METRICS,
    lab_machines,
    lab_runs,
    measured_beside_simulated,
)
from swapsim.patches.cluster_next.prediction import (
    PATCH,
    aged_device,
    fit,
    growth_in_both_mails,
    machine,
    predict,
    profile,
    runs,
    traced_machine,
)
from swapsim.patches.cluster_next.studies import headline_fit, simulated_claims

__all__ = [
    "LEADING",
    "LOCK_METRICS",
    "PAGES_MOVED",
    "PATCH",
    "RANKED_BY",
    "REVIEWERS",
    "aged_device",
    "answers",
    "chances",
    "counted",
    "describe_gains",
    "describe_sensitivity",
    "fit",
    "growth_in_both_mails",
    "headline_fit",
    "headline_locks",
    "lab_machines",
    "lab_runs",
    "lock_relief",
    "machine",
    "means",
    "measured_as_mailed",
    "measured_beside_simulated",
    "off_percent",
    "order",
    "predict",
    "profile",
    "rank",
    "run_policies",
    "runs",
    "simulated_claims",
    "studies",
    "time_per_page",
    "traced_machine",
    "verdict",
    "verdict_on_alternatives",
]
