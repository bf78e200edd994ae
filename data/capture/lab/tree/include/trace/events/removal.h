/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ours, for the lab kernel: what reclaim takes out of mappings. removals is written while the mapping's lock is held, so
 * that the order of the events is the order of the lock; removal_hold when a hold of a batch has ended; removal_list when a
 * call of shrink_folio_list has. removal-events.cocci puts the calls in.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM removal

#if !defined(_TRACE_REMOVAL_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_REMOVAL_H

#include <linux/pagemap.h>
#include <linux/swapops.h>
#include <linux/tracepoint.h>

/* An index of the swap cache is the slot's offset in its device. */
TRACE_EVENT(removals, TP_PROTO(struct address_space *mapping, struct folio *folio, bool removed),

	    TP_ARGS(mapping, folio, removed),

	    TP_STRUCT__entry(__field(unsigned long, mapping) __field(unsigned long, index)
				     __field(bool, swap) __field(bool, removed)),

	    TP_fast_assign(__entry->mapping = (unsigned long)mapping;
			   __entry->swap = folio_test_swapcache(folio);
			   __entry->index = __entry->swap ? swp_offset(folio_swap_entry(folio))
							  : folio->index;
			   __entry->removed = removed;),

	    TP_printk("mapping=0x%lx swap=%d index=%lu removed=%d", __entry->mapping, __entry->swap,
		      __entry->index, __entry->removed));

DECLARE_EVENT_CLASS(removal_pages, TP_PROTO(unsigned int pages),

		    TP_ARGS(pages),

		    TP_STRUCT__entry(__field(unsigned int, pages)),

		    TP_fast_assign(__entry->pages = pages;),

		    TP_printk("pages=%u", __entry->pages));

/* Pages that one hold of a mapping's lock removed. */
DEFINE_EVENT(removal_pages, removal_hold, TP_PROTO(unsigned int pages), TP_ARGS(pages));

/* Pages that one call of shrink_folio_list reclaimed. */
DEFINE_EVENT(removal_pages, removal_list, TP_PROTO(unsigned int pages), TP_ARGS(pages));

#endif

#include <trace/define_trace.h>
