# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies of the swap slot allocator, measured on a workbench and put in order.

``measure`` drives one device with one workload; ``one_at_a_time`` does so around a
base case for many settings, policies and seeds; ``ranking`` says who is better at
what. Nothing here knows a time: it is all counts (``slot_workbench.h``).
"""

from swapsim.slots.grid import GIGABYTE_SLOTS, one_at_a_time
from swapsim.slots.metrics import METRICS, Metric, measure
from swapsim.slots.rankings import chance_of_trunks_apart, ranking
from swapsim.slots.trials import require_sound

__all__ = [
    "GIGABYTE_SLOTS",
    "METRICS",
    "Metric",
    "chance_of_trunks_apart",
    "measure",
    "one_at_a_time",
    "ranking",
    "require_sound",
]
