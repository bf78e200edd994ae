# SPDX-License-Identifier: GPL-2.0-or-later
"""What became of patches A to D, and of E's alternatives, on Linux 6.12 and 7.3.

- ``meeting_shares``: how often two CPUs use one lock, under allocators that serve the same
  requests (patch D),
- ``writeback_a_page``, ``global_lock``: what one lock of all devices would cost (patch A),
- ``clusters_a_list``: what one hold per cluster would save (patch B),
- ``rules_that_run``: which rules apply with generations (patch C),
- ``studies``: the results that take long.
"""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.newer import charts, studies
from swapsim.newer.measured import clusters_a_list, rules_that_run, writeback_a_page
from swapsim.newer.meetings import count_meetings, meeting_shares
from swapsim.newer.streams import Requests, churn, trace_requests
from swapsim.newer.tags import check_of_shortcut, global_lock

if TYPE_CHECKING:
    from swapsim.newer import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "tables")

__all__ = [
    "Requests",
    "charts",
    "check_of_shortcut",
    "churn",
    "clusters_a_list",
    "count_meetings",
    "global_lock",
    "meeting_shares",
    "rules_that_run",
    "studies",
    "trace_requests",
    "writeback_a_page",
]
