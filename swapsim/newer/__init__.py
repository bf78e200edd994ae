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

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.newer import charts as charts
    from swapsim.newer import studies as studies
    from swapsim.newer import tables as tables
    from swapsim.newer.measured import clusters_a_list as clusters_a_list
    from swapsim.newer.measured import rules_that_run as rules_that_run
    from swapsim.newer.measured import writeback_a_page as writeback_a_page
    from swapsim.newer.meetings import count_meetings as count_meetings
    from swapsim.newer.meetings import meeting_shares as meeting_shares
    from swapsim.newer.streams import Requests as Requests
    from swapsim.newer.streams import churn as churn
    from swapsim.newer.streams import trace_requests as trace_requests
    from swapsim.newer.tags import check_of_shortcut as check_of_shortcut
    from swapsim.newer.tags import global_lock as global_lock
else:
    lazy.export(__name__)
