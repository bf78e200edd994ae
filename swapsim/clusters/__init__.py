# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster allocators of Linux 6.12 to 7.3, and recordings of real kernels.

- ``verify`` compares each grant, visit and list move with those of the model,
- ``replay`` serves the same requests under other rules,
- ``rank`` compares one's own choice of lists with changes of the rules of 7.3.
"""

from swapsim.clusters.ranking import rank
from swapsim.clusters.replay import replay
from swapsim.clusters.verify import verify
from swapsim.ffi import CLUSTER_RULES as RULES

__all__ = ["RULES", "rank", "replay", "verify"]
