/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/rules.h - what differs between kernels in the same procedures. */
#ifndef SWAPSIM_MACHINE_RULES_H
#define SWAPSIM_MACHINE_RULES_H

#include "swapsim/kernels.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MACHINE_PAGEVEC = 15, /* PAGEVEC_SIZE, 14 up to 4.15 */
};

struct machine_rules {
	enum sws_kernel kernel;
	/* Whose row of mapping.h: one that is the same there. */
	enum sws_kernel mapping;
	/* Does the swap cache keep writeback tags, as released? */
	bool keeps_tags;
	bool cluster_locks;
	bool slot_cache;
	/* mem_cgroup_commit_charge takes lru_lock for a page swapped in. */
	bool charge_lock;
	/* A synchronous device's page does not pass the swap cache, */
	bool skips_cache;
	/* and holds its place there meanwhile. */
	bool prepares;
	/* New pages begin on the active list. */
	bool starts_active;
	bool shadows;
	/* Which memory cgroup a slot belongs to is recorded, under a lock of the device. */
	bool records;
	/* A page is activated when two looks find it referenced, not one. */
	bool keeps_first;
	/* A write to a page of one task leaves it its slot. */
	bool reuses_exclusive;
	/* The slot's count is read before a page is read, and before one leaves the cache. */
	bool looks_at_counts;
	/* Pages that a CPU gathers for a list. */
	uint32_t pagevec;
};

/* The row of a kernel; NULL if there is none. */
const struct machine_rules *sws_machine__rules_of(enum sws_kernel kernel);

#endif
