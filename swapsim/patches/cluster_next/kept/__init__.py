# SPDX-License-Identifier: GPL-2.0-or-later
"""What the notebooks of patch D and E show and takes long to run: kept in data/simulated.

- ``machine``: fits of the mails' bases, predictions and what-ifs with them,
- ``life``: V1 by its age, and tasks that change CPU,
- ``workbench``: policies side by side.
"""

from swapsim.patches.cluster_next.kept.life import (
    life,
    race_at_ages,
    wandering_tasks,
    wandering_tasks_of_the_lab,
)
from swapsim.patches.cluster_next.kept.machine import (
    fits,
    fits_by_constant,
    gain_by_constant,
    gain_by_drive,
    gain_by_tasks,
    gain_by_trunk_size,
    headline_fit,
    headline_results,
    predicted,
    predicted_v3,
)
from swapsim.patches.cluster_next.kept.workbench import (
    address_spaces,
    ages,
    ages_of_spread_bases,
    cpus,
    disk,
    few_cpus,
    policies,
    possible_cpus,
    race,
    race_on_a_trace,
    solid_state,
)

__all__ = [
    "address_spaces",
    "ages",
    "ages_of_spread_bases",
    "cpus",
    "disk",
    "few_cpus",
    "fits",
    "fits_by_constant",
    "gain_by_constant",
    "gain_by_drive",
    "gain_by_tasks",
    "gain_by_trunk_size",
    "headline_fit",
    "headline_results",
    "life",
    "policies",
    "possible_cpus",
    "predicted",
    "predicted_v3",
    "race",
    "race_at_ages",
    "race_on_a_trace",
    "solid_state",
    "wandering_tasks",
    "wandering_tasks_of_the_lab",
]
