# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts: a checked frame in, an altair Chart out. They decide nothing.

A module for each subject; `use` sets up a notebook. A function that draws is wrapped in
`alive.alive`, which makes its charts answer the mouse and describe themselves.
"""

from swapsim.charts.claims import headline_changes
from swapsim.charts.guests import beside_the_lab
from swapsim.charts.locks import acquisitions_by_site, lock_cost_by_mix, work_by_site
from swapsim.charts.machine import claim_along_shares, gain_along, time_per_page
from swapsim.charts.ranks import policy_ranks
from swapsim.charts.removal import gain_map, ranges_beside_published, waits_by_list
from swapsim.charts.rendered import rendered
from swapsim.charts.slots import metric_along, moves_against_locality, slots_over_time
from swapsim.charts.stall_lists import agreement, stretch
from swapsim.charts.stall_runs import along_rules, by_patch
from swapsim.charts.stalls import pages_by_rules, rules_table
from swapsim.charts.theme import png, use
from swapsim.charts.what_if import gain_on_drives, sensitivity, series_beside_published
from swapsim.charts.world_seconds import over_time
from swapsim.charts.worlds import beside_the_mail, by_machine, lives

__all__ = [
    "acquisitions_by_site",
    "agreement",
    "along_rules",
    "beside_the_lab",
    "beside_the_mail",
    "by_machine",
    "by_patch",
    "claim_along_shares",
    "gain_along",
    "gain_map",
    "gain_on_drives",
    "headline_changes",
    "lives",
    "lock_cost_by_mix",
    "metric_along",
    "moves_against_locality",
    "over_time",
    "pages_by_rules",
    "png",
    "policy_ranks",
    "ranges_beside_published",
    "rendered",
    "rules_table",
    "sensitivity",
    "series_beside_published",
    "slots_over_time",
    "stretch",
    "time_per_page",
    "use",
    "waits_by_list",
    "work_by_site",
]
