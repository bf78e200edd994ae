# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D: a scan base for each CPU (2020, merged in 5.8), and E: what its reviewers asked."""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.machine.lab import off_percent as off_percent
    from swapsim.machine.lab import order as order
    from swapsim.machine.run import PAGES_MOVED as PAGES_MOVED
    from swapsim.machine.run import run_policies as run_policies
    from swapsim.machine.summary import describe_gains as describe_gains
    from swapsim.machine.summary import describe_sensitivity as describe_sensitivity
    from swapsim.machine.summary import time_per_page as time_per_page
    from swapsim.patches.cluster_next import studies as studies
    from swapsim.patches.cluster_next.alternatives import LEADING as LEADING
    from swapsim.patches.cluster_next.alternatives import RANKED_BY as RANKED_BY
    from swapsim.patches.cluster_next.alternatives import REVIEWERS as REVIEWERS
    from swapsim.patches.cluster_next.alternatives import answers as answers
    from swapsim.patches.cluster_next.alternatives import means as means
    from swapsim.patches.cluster_next.alternatives import rank as rank
    from swapsim.patches.cluster_next.conclusions import chances as chances
    from swapsim.patches.cluster_next.conclusions import counted as counted
    from swapsim.patches.cluster_next.conclusions import headline_locks as headline_locks
    from swapsim.patches.cluster_next.conclusions import lock_relief as lock_relief
    from swapsim.patches.cluster_next.conclusions import measured_as_mailed as measured_as_mailed
    from swapsim.patches.cluster_next.conclusions import verdict as verdict
    from swapsim.patches.cluster_next.conclusions import (
        verdict_on_alternatives as verdict_on_alternatives,
    )
    from swapsim.patches.cluster_next.lab import LOCK_METRICS as LOCK_METRICS
    from swapsim.patches.cluster_next.lab import lab_machines as lab_machines
    from swapsim.patches.cluster_next.lab import lab_runs as lab_runs
    from swapsim.patches.cluster_next.lab import (
        measured_beside_simulated as measured_beside_simulated,
    )
    from swapsim.patches.cluster_next.prediction import PATCH as PATCH
    from swapsim.patches.cluster_next.prediction import aged_device as aged_device
    from swapsim.patches.cluster_next.prediction import fit as fit
    from swapsim.patches.cluster_next.prediction import growth_in_both_mails as growth_in_both_mails
    from swapsim.patches.cluster_next.prediction import machine as machine
    from swapsim.patches.cluster_next.prediction import predict as predict
    from swapsim.patches.cluster_next.prediction import profile as profile
    from swapsim.patches.cluster_next.prediction import runs as runs
    from swapsim.patches.cluster_next.prediction import traced_machine as traced_machine
    from swapsim.patches.cluster_next.studies import headline_fit as headline_fit
    from swapsim.patches.cluster_next.studies import simulated_claims as simulated_claims
else:
    lazy.export(__name__)
