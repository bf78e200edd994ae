# SPDX-License-Identifier: GPL-2.0-or-later
"""Every table that crosses a border of swapsim, as one schema each; a module for each subject.

Columns
-------
patch : the patch, by its folder's name under patches/
claim : the claim's name: a letter for its mail, and what it is about
metric : what the figure is of
value : the figure, in the unit of its row
unit : the unit of the figures in the row
kernel : the kernel: its label in the mail or experiment, or its version
policy : the rule for where a scan for swap slots begins, or the setting of another switch
seed : of the simulation's random numbers; for a real kernel, the number of the round
rules : a set of stall rules, named after the kernel that had it
trace : the trace's name, its folder under data/traces
seq : the row's place in the whole trace, in the order of events
cpu : CPU that the row was written on
pid : task that the row is about
low, high : the lower and the upper end of the range, or of the interval of the median
published : as the mail prints it
simulated : what the model gives
measured : what a real kernel gave
tolerance : how far a result may be from the published figure and agree; stored before it is judged
verdict : whether the result agrees with the claim
note : an explanation in words
site : where a lock is taken, as ``lock.function``
factor : what is varied
setting : what it is set to
constant : a constant of the model, by its name in data/*.csv
pages : how many pages
page : the page, as a number or in words
nodes : nodes of the tree touched under it
tag_words : words of tags touched under it
table : the mail's table
standing : whether the simulation has the row, and whether constants were fitted to it
lazyfree : whether it needs no swap, as it was freed lazily
list : what one call of shrink_inactive_list took
pass : a turn of shrink_node's loop over a node
file : whether it is of file pages
dirty : dirty pages, as the rules count them
unqueued_dirty : those that are not queued for writing
congested : pages on a congested device, as the rules count them
writeback : pages under writeback
immediate : those under writeback that are marked for immediate reclaim
flags_before : flags of the node or zone as it began
flags_set : those that it sets, whether they were set already or not
flags_after : flags as it ended
sleeps : sleeps that are asked for, in order
flags_cleared : those that case 1 cleared on the way
untold : folios led on from where the recording ends
slept : sleeps on the way, of case 1
fs_dirty, fs_writeback : what the filesystem says of it, null where it is not asked
still : after a sleep in case 1 it is under writeback still
arrives : if nothing here stops it, it comes to the dirty test
dirty_late : and is dirty there
kept : pageout keeps it
reason : what the sleep is for
taken : pages of 4 KiB that were isolated
kswapd : whether kswapd has it
priority : reclaim's priority
swap_used : slots in use
where : where the page is
"""

from swapsim.schemas.claims import (
    DIRECTION,
    DIRECTION_VERDICT,
    DIRECTIONS,
    GROWTH_IN_BOTH_MAILS,
    HELD_AGAINST,
    MEDIANS,
    MEDIANS_BY_SIZE,
    PAIRED,
    RESULTS,
    SAYS,
    SEEN,
    SLOTS_IN_USE,
    SOURCE,
    THREE_COLUMNS,
    VERDICT,
    WORLD_AND_LAB,
    WORLD_AND_LAB_ORDER,
    WORLD_LAB_MAIL,
)
from swapsim.schemas.constants import CONSTANTS
from swapsim.schemas.machine import (
    ACTOR,
    FIT,
    FIT_ROWS,
    HOLDS_BY_LIST,
    MACHINE_CPUS,
    MACHINE_SITES,
    MACHINE_SPANS,
    PREDICTED_BY_POINTS,
    PREDICTED_BY_SHARES,
    RANGE_VERDICT,
    RANGES,
    REWRITE,
    SENSITIVITY,
    SPAN,
    SPREAD_NEEDED,
    SWAP_SERIES,
    TIME_PER_PAGE,
    WHAT_IF,
    WHAT_IF_RANGES,
)
from swapsim.schemas.mappings import FLOW, LOCK_SITES, LOCK_SITES_PER_PAGE, MIX, REPLAY_ROWS, SITE
from swapsim.schemas.parquet_file import read_table, require_values
from swapsim.schemas.published import (
    BETTER,
    CARDS,
    CLAIMS,
    COMPARISON,
    HAND,
    MAILS,
    PUBLISHED,
    STANDING,
    TOLERANCES,
    WORLD_TOLERANCES,
)
from swapsim.schemas.removals import (
    BATCHED_REMOVAL,
    REMOVAL_HOLDS,
    REMOVAL_LISTS,
    REMOVAL_OUTCOMES,
    REMOVAL_PAGES,
    REMOVALS,
    WAITS_NEEDED,
)
from swapsim.schemas.slots import (
    POLICY_RANKING,
    SLOT_ANSWERS,
    SLOT_CALLS,
    SLOT_FAULT,
    SLOT_MEASURES,
    SLOT_RANKING,
    SLOT_SWEEP,
    VERIFIED_SLOTS,
    WANDERINGS,
)
from swapsim.schemas.stall_decisions import (
    JUDGED_LISTS,
    JUDGED_PASSES,
    JUDGED_THROTTLES,
    RULE_SET,
    STALL_FATE,
    STALL_FAULT,
    STALL_FAULTS,
    STALL_LISTS,
    STALL_PAGES,
    STALL_PASSES,
    STALL_SLEEPERS,
    STALL_WAYS,
    VERIFIED_STALLS,
)
from swapsim.schemas.stall_histories import (
    DECIDED_LISTS,
    FOLIO_FATES,
    STALL_AGREEMENT,
    STALL_DECISIONS,
    STALL_PARTINGS,
    STALL_SLEEPS_ASKED,
)
from swapsim.schemas.stall_lists import (
    CODE_CLAIMS,
    LED_ENDS,
    LED_PAGES,
    LED_WHY,
    LIST_OF_PAGES,
    RULE_SPANS,
)
from swapsim.schemas.stall_worlds import (
    WORLD_BY_TIME,
    WORLD_CELLS,
    WORLD_LIFE_SPANS,
    WORLD_MATTERS,
    WORLD_OPEN,
    WORLD_ORDERS,
    WORLD_RANGES,
    WORLD_SCORE,
    WORLD_SERVERS,
    WORLD_SUMMED,
    WORLD_VERDICTS,
    WORLD_WHAT_IF,
)
from swapsim.schemas.stalls import (
    CLEARED_BY,
    FOLIO_OUTCOME,
    FOLIO_STEP,
    RECLAIM_CLEARS,
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    RECLAIM_ROUNDS,
    THROTTLE,
    THROTTLES,
)
from swapsim.schemas.table import require
from swapsim.schemas.traces import (
    AT_A_GLANCE,
    EVENT_HEAD,
    HANDED_OUT,
    REQUEST_OP,
    REQUESTS,
    SLOT_EVENTS,
    SLOT_OP,
    TRACE_EVENTS,
)
from swapsim.schemas.world import (
    WORLD_ACTIVITY,
    WORLD_COUNTERS,
    WORLD_LIVES,
    WORLD_MEMORY,
    WORLD_ROUNDS,
    WORLD_SLEEPS,
    WORLD_ZONES,
    ZONE,
)
from swapsim.schemas.yours import FOUR_COLUMNS, UNMATCHED, YOUR_METRICS, YOUR_RUNS

__all__ = [
    "ACTOR",
    "AT_A_GLANCE",
    "BATCHED_REMOVAL",
    "BETTER",
    "CARDS",
    "CLAIMS",
    "CLEARED_BY",
    "CODE_CLAIMS",
    "COMPARISON",
    "CONSTANTS",
    "DECIDED_LISTS",
    "DIRECTION",
    "DIRECTIONS",
    "DIRECTION_VERDICT",
    "EVENT_HEAD",
    "FIT",
    "FIT_ROWS",
    "FLOW",
    "FOLIO_FATES",
    "FOLIO_OUTCOME",
    "FOLIO_STEP",
    "FOUR_COLUMNS",
    "GROWTH_IN_BOTH_MAILS",
    "HAND",
    "HANDED_OUT",
    "HELD_AGAINST",
    "HOLDS_BY_LIST",
    "JUDGED_LISTS",
    "JUDGED_PASSES",
    "JUDGED_THROTTLES",
    "LED_ENDS",
    "LED_PAGES",
    "LED_WHY",
    "LIST_OF_PAGES",
    "LOCK_SITES",
    "LOCK_SITES_PER_PAGE",
    "MACHINE_CPUS",
    "MACHINE_SITES",
    "MACHINE_SPANS",
    "MAILS",
    "MEDIANS",
    "MEDIANS_BY_SIZE",
    "MIX",
    "PAIRED",
    "POLICY_RANKING",
    "PREDICTED_BY_POINTS",
    "PREDICTED_BY_SHARES",
    "PUBLISHED",
    "RANGES",
    "RANGE_VERDICT",
    "RECLAIM_CLEARS",
    "RECLAIM_FOLIOS",
    "RECLAIM_LISTS",
    "RECLAIM_PASSES",
    "RECLAIM_ROUNDS",
    "REMOVALS",
    "REMOVAL_HOLDS",
    "REMOVAL_LISTS",
    "REMOVAL_OUTCOMES",
    "REMOVAL_PAGES",
    "REPLAY_ROWS",
    "REQUESTS",
    "REQUEST_OP",
    "RESULTS",
    "REWRITE",
    "RULE_SET",
    "RULE_SPANS",
    "SAYS",
    "SEEN",
    "SENSITIVITY",
    "SITE",
    "SLOTS_IN_USE",
    "SLOT_ANSWERS",
    "SLOT_CALLS",
    "SLOT_EVENTS",
    "SLOT_FAULT",
    "SLOT_MEASURES",
    "SLOT_OP",
    "SLOT_RANKING",
    "SLOT_SWEEP",
    "SOURCE",
    "SPAN",
    "SPREAD_NEEDED",
    "STALL_AGREEMENT",
    "STALL_DECISIONS",
    "STALL_FATE",
    "STALL_FAULT",
    "STALL_FAULTS",
    "STALL_LISTS",
    "STALL_PAGES",
    "STALL_PARTINGS",
    "STALL_PASSES",
    "STALL_SLEEPERS",
    "STALL_SLEEPS_ASKED",
    "STALL_WAYS",
    "STANDING",
    "SWAP_SERIES",
    "THREE_COLUMNS",
    "THROTTLE",
    "THROTTLES",
    "TIME_PER_PAGE",
    "TOLERANCES",
    "TRACE_EVENTS",
    "UNMATCHED",
    "VERDICT",
    "VERIFIED_SLOTS",
    "VERIFIED_STALLS",
    "WAITS_NEEDED",
    "WANDERINGS",
    "WHAT_IF",
    "WHAT_IF_RANGES",
    "WORLD_ACTIVITY",
    "WORLD_AND_LAB",
    "WORLD_AND_LAB_ORDER",
    "WORLD_BY_TIME",
    "WORLD_CELLS",
    "WORLD_COUNTERS",
    "WORLD_LAB_MAIL",
    "WORLD_LIFE_SPANS",
    "WORLD_LIVES",
    "WORLD_MATTERS",
    "WORLD_MEMORY",
    "WORLD_OPEN",
    "WORLD_ORDERS",
    "WORLD_RANGES",
    "WORLD_ROUNDS",
    "WORLD_SCORE",
    "WORLD_SERVERS",
    "WORLD_SLEEPS",
    "WORLD_SUMMED",
    "WORLD_TOLERANCES",
    "WORLD_VERDICTS",
    "WORLD_WHAT_IF",
    "WORLD_ZONES",
    "YOUR_METRICS",
    "YOUR_RUNS",
    "ZONE",
    "read_table",
    "require",
    "require_values",
]
