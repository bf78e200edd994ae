# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap slot allocator up to Linux 6.11: its traces, and policies for where its scans begin.

- ``verify`` compares the slots that a real kernel handed out with those of the model,
- ``replay`` serves the requests of a trace under each policy,
- ``run`` runs a generated workload on a device, at many settings (there is no time),
- ``rank`` compares one's own policies with the built-in ones.
"""

from swapsim.ffi import POLICIES
from swapsim.slots.config import Churn, Device, Fill
from swapsim.slots.ranking import rank
from swapsim.slots.verify import verify
from swapsim.slots.workbench import replay, run

__all__ = ["POLICIES", "Churn", "Device", "Fill", "rank", "replay", "run", "verify"]
