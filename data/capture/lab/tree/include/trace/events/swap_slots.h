/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ours, for the lab kernel: what happens to the slots of a swap device, one event a step, each written while
 * si->lock is held, so that the order of the events is the order of the lock. slot-events.cocci puts the calls in.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM swap_slots

#if !defined(_TRACE_SWAP_SLOTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SWAP_SLOTS_H

#include <linux/sched.h>
#include <linux/tracepoint.h>

#ifndef _TRACE_SWAP_SLOTS_OPS
#define _TRACE_SWAP_SLOTS_OPS
enum slot_op { SLOT_CALL, SLOT_ALLOC, SLOT_DONE, SLOT_FAIL, SLOT_FREE, SLOT_REUSE };
#endif

/* A field that an op does not have is 0. */
TRACE_EVENT(slot_events,
	    TP_PROTO(int op, unsigned int n, unsigned int offset, unsigned int base,
		     unsigned int next, unsigned int lowest, unsigned int highest),

	    TP_ARGS(op, n, offset, base, next, lowest, highest),

	    TP_STRUCT__entry(__field(int, op) __field(unsigned int, n) __field(unsigned int, offset)
				     __field(unsigned int, base) __field(unsigned int, next)
					     __field(unsigned int, lowest)
						     __field(unsigned int, highest)
							     __field(unsigned long, mm)),

	    TP_fast_assign(__entry->op = op; __entry->n = n; __entry->offset = offset;
			   __entry->base = base; __entry->next = next; __entry->lowest = lowest;
			   __entry->highest = highest; __entry->mm = (unsigned long)current->mm;),

	    TP_printk("op=%s n=%u offset=%u base=%u next=%u lowest=%u highest=%u mm=0x%lx",
		      __print_symbolic(__entry->op, { SLOT_CALL, "call" }, { SLOT_ALLOC, "alloc" },
				       { SLOT_DONE, "done" }, { SLOT_FAIL, "fail" },
				       { SLOT_FREE, "free" }, { SLOT_REUSE, "reuse" }),
		      __entry->n, __entry->offset, __entry->base, __entry->next, __entry->lowest,
		      __entry->highest, __entry->mm));

#endif

#include <trace/define_trace.h>
