# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap slot allocator up to Linux 6.11: its traces, and policies for where its scans begin.

- ``verify_slots`` compares the slots that a real kernel handed out with those of the model,
- ``measure`` runs one workload on one device and counts (``slot_workbench.h``: there is no time),
- ``one_at_a_time`` does so around a base case for many settings, policies and seeds,
- ``ranking`` orders the policies by one metric,
- ``cluster_next`` runs the requests of a trace under each policy.
"""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.slots.config import ChurnConfig, FillConfig, MeterConfig, SlotsConfig, StreamsConfig
from swapsim.slots.events import (
    handed_out,
    request_streams,
    slot_events,
    slot_set_up,
    thinned,
    traced_device,
)
from swapsim.slots.metrics import METRICS
from swapsim.slots.verify import verified_slots, verify_slots
from swapsim.slots.workbench import (
    GIGABYTE_SLOTS,
    chance_of_trunks_apart,
    cluster_next,
    grid_points,
    measure,
    one_at_a_time,
    ranking,
    require_sound,
)

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
    "SlotsConfig",
    "StreamsConfig",
    "chance_of_trunks_apart",
    "cluster_next",
    "grid_points",
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
