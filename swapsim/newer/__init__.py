# SPDX-License-Identifier: GPL-2.0-or-later
"""What became of patches A to D, and of E's alternatives, on Linux 6.12 and 7.3.

- ``meeting_shares``: how often two CPUs use one lock, under allocators that serve the same
  requests (patch D),
- ``global_lock``: what one lock of all devices would cost (patch A),
- ``studies``: the results that take long.
"""

from swapsim.newer import studies
from swapsim.newer.meetings import count_meetings, meeting_shares
from swapsim.newer.streams import Requests, churn, trace_requests
from swapsim.newer.tags import check_of_shortcut, global_lock

__all__ = [
    "Requests",
    "check_of_shortcut",
    "churn",
    "count_meetings",
    "global_lock",
    "meeting_shares",
    "studies",
    "trace_requests",
]
