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
