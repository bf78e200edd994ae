# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D: a scan base for each CPU (2020, merged in 5.8), and E: what its reviewers asked.

``machines`` has the machines, ``mails`` their fits and tables, ``studies`` what is stored,
and ``notebook_04`` and ``notebook_05`` what the notebooks ask.
"""

from swapsim.machine.running import PAGES_MOVED as PAGES_MOVED
from swapsim.machine.running import run_policies as run_policies
from swapsim.patches.cluster_next import studies as studies
from swapsim.patches.cluster_next.machines import PATCH as PATCH
from swapsim.patches.cluster_next.machines import aged_device as aged_device
from swapsim.patches.cluster_next.machines import machine as machine
from swapsim.patches.cluster_next.machines import traced_machine as traced_machine
from swapsim.patches.cluster_next.notebook_04 import LOCK_METRICS as LOCK_METRICS
from swapsim.patches.cluster_next.notebook_04 import draw_ranking as draw_ranking
from swapsim.patches.cluster_next.notebook_04 import draw_slots as draw_slots
from swapsim.patches.cluster_next.notebook_04 import gain_by_constant as gain_by_constant
from swapsim.patches.cluster_next.notebook_04 import gain_by_fill as gain_by_fill
from swapsim.patches.cluster_next.notebook_04 import (
    measured_beside_simulated as measured_beside_simulated,
)
from swapsim.patches.cluster_next.notebook_05 import against_merged as against_merged
from swapsim.patches.cluster_next.notebook_05 import near_and_far as near_and_far
from swapsim.patches.cluster_next.notebook_05 import rows_of as rows_of
from swapsim.patches.cluster_next.notebook_05 import v1_in_step as v1_in_step
from swapsim.patches.cluster_next.notebook_05 import with_more_tasks as with_more_tasks
from swapsim.patches.cluster_next.studies import headline_fit as headline_fit
from swapsim.patches.lab import off_percent as off_percent
from swapsim.patches.lab import order as order
from swapsim.patches.what_if import describe_gains as describe_gains
from swapsim.patches.what_if import describe_sensitivity as describe_sensitivity
from swapsim.patches.what_if import gains as gains
