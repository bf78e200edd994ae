/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/rules.h - the differences between kernels in the same procedures. */
#ifndef SWAPSIM_MACHINE_RULES_H
#define SWAPSIM_MACHINE_RULES_H

#include "swapsim/kernels.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	/* PAGEVEC_SIZE; it is 14 up to 4.15. */
	MACHINE_PAGEVEC = 15,
};

struct machine_rules {
	enum sws_kernel kernel;
	/* The kernel of mapping.h with the same rules there. */
	enum sws_kernel mapping;
	/* True if the released kernel's swap cache has writeback tags. */
	bool keeps_tags;
	bool cluster_locks;
	bool slot_cache;
	/* True if mem_cgroup_commit_charge takes lru_lock for a page that was swapped in. */
	bool charge_lock;
	/* True if a page of a synchronous device does not pass through the swap cache. */
	bool skips_cache;
	/* True if such a page holds its place in the swap cache meanwhile. */
	bool prepares;
	/* True if new pages start on the active list. */
	bool starts_active;
	bool shadows;
	/* True if the memory cgroup of a slot is recorded, under a lock of the device. */
	bool records;
	/*
	 * True if a page is activated by the second scan that finds it referenced, false if by the
	 * first.
	 */
	bool keeps_first;
	/* True if a page of a single task retains its slot when it is written to. */
	bool reuses_exclusive;
	/*
	 * True if the slot's count is read before a page is read, and before one leaves the swap
	 * cache.
	 */
	bool looks_at_counts;
	/* Pages of a pagevec. */
	uint32_t pagevec;
};

/* Returns the row of a kernel; NULL for an unknown kernel. */
const struct machine_rules *sws_machine__rules_of(enum sws_kernel kernel);

#endif
