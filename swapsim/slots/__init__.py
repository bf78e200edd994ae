# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies of the swap slot allocator, measured on a workbench and put in order.

``measure`` drives one device with one workload; ``one_at_a_time`` does so around a
base case for many settings, policies and seeds; ``ranking`` says who is better at
what. Nothing here knows a time: it is all counts (``slot_workbench.h``).
"""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.slots.config import SlotsConfig
from swapsim.slots.events import (
    SlotSetUp,
    check_slot_events,
    handed_out,
    slot_events,
    slot_set_up,
    thinned,
)
from swapsim.slots.grid import GIGABYTE_SLOTS, one_at_a_time
from swapsim.slots.metrics import METRICS, Metric, measure
from swapsim.slots.rankings import chance_of_trunks_apart, ranking
from swapsim.slots.replay import cluster_next
from swapsim.slots.requests import request_streams, traced_device
from swapsim.slots.trials import require_sound
from swapsim.slots.verify import SlotVerdict, verified_slots, verify_slots
from swapsim.slots.workloads import ChurnConfig, FillConfig, MeterConfig, StreamsConfig, Workload

if TYPE_CHECKING:
    from swapsim.slots import charts as charts
    from swapsim.slots import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "charts", "tables")

__all__ = [
    "GIGABYTE_SLOTS",
    "METRICS",
    "ChurnConfig",
    "FillConfig",
    "MeterConfig",
    "Metric",
    "SlotSetUp",
    "SlotVerdict",
    "SlotsConfig",
    "StreamsConfig",
    "Workload",
    "chance_of_trunks_apart",
    "check_slot_events",
    "cluster_next",
    "handed_out",
    "measure",
    "one_at_a_time",
    "ranking",
    "request_streams",
    "require_sound",
    "slot_events",
    "slot_set_up",
    "thinned",
    "traced_device",
    "verified_slots",
    "verify_slots",
]
