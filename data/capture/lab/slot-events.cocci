// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the event slot_events where mm/swapfile.c hands out swap slots and takes them back, always under si->lock.
// Goes in after patches/04-percpu-cluster-next/switch.cocci, whose swap_base() says which base a call uses.

@ header @
@@
 #include "swap.h"
+
+#define CREATE_TRACE_POINTS
+#include <trace/events/swap_slots.h>

@ called @
struct swap_info_struct *si;
identifier scan_base, offset;
@@
 scan_base = *swap_base(si);
 offset = scan_base;
+trace_slot_events(SLOT_CALL, nr, 0, scan_base, 0, si->lowest_bit, si->highest_bit);

@ handed_out @
struct swap_info_struct *si;
identifier slots, offset, n_ret;
@@
 slots[n_ret++] = swp_entry(si->type, offset);
+trace_slot_events(SLOT_ALLOC, 0, offset, 0, 0, 0, 0);

@ tried_to_reuse @
struct swap_info_struct *si;
identifier offset, swap_was_freed;
@@
 swap_was_freed = __try_to_reclaim_swap(si, offset, TTRS_ANYWAY);
 spin_lock(&si->lock);
+trace_slot_events(SLOT_REUSE, swap_was_freed > 0, offset, 0, 0, 0, 0);

@ ended @
struct swap_info_struct *si;
identifier offset;
@@
 set_cluster_next(si, offset + 1);
+trace_slot_events(SLOT_DONE, n_ret, 0, 0, *swap_base(si), 0, 0);

@ ended_early @
struct swap_info_struct *si;
@@
 no_page:
+	trace_slot_events(SLOT_FAIL, n_ret, 0, 0, 0, 0, 0);
 	si->flags -= SWP_SCANNING;

@ taken_back @
identifier offset, nr_entries;
@@
 swap_range_free(struct swap_info_struct *si, unsigned long offset, unsigned int nr_entries)
 {
 	...
+	trace_slot_events(SLOT_FREE, nr_entries, offset, 0, 0, 0, 0);
 	atomic_long_add(nr_entries, &nr_swap_pages);
 	...
 }
