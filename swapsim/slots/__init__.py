# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap slot allocator up to Linux 6.11: its traces, and policies for where its scans begin.

- ``verify_slots`` compares the slots that a real kernel handed out with those of the model,
- ``measure`` runs one workload on one device and counts (``slot_workbench.h``: there is no time),
- ``one_at_a_time`` does so around a base case for many settings, policies and seeds,
- ``ranking`` orders the policies by one metric, ``means`` has several next to each other,
- ``cluster_next`` runs the requests of a trace under each policy.
"""

from swapsim.slots import tables as tables
from swapsim.slots.config import ChurnConfig as ChurnConfig
from swapsim.slots.config import FillConfig as FillConfig
from swapsim.slots.config import MeterConfig as MeterConfig
from swapsim.slots.config import SlotsConfig as SlotsConfig
from swapsim.slots.config import StreamsConfig as StreamsConfig
from swapsim.slots.events import request_streams as request_streams
from swapsim.slots.events import slot_events as slot_events
from swapsim.slots.events import slot_set_up as slot_set_up
from swapsim.slots.events import traced_device as traced_device
from swapsim.slots.metrics import LEADING as LEADING
from swapsim.slots.metrics import METRICS as METRICS
from swapsim.slots.verify import verified_slots as verified_slots
from swapsim.slots.verify import verify_slots as verify_slots
from swapsim.slots.workbench import GIGABYTE_SLOTS as GIGABYTE_SLOTS
from swapsim.slots.workbench import chance_of_trunks_apart as chance_of_trunks_apart
from swapsim.slots.workbench import cluster_next as cluster_next
from swapsim.slots.workbench import grid_points as grid_points
from swapsim.slots.workbench import means as means
from swapsim.slots.workbench import measure as measure
from swapsim.slots.workbench import one_at_a_time as one_at_a_time
from swapsim.slots.workbench import ranking as ranking
from swapsim.slots.workbench import require_sound as require_sound
