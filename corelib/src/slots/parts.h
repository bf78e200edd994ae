/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/parts.h - what the sources of slots.h share: the device's fields and the
 * few steps that both a call and a free take.
 */
#ifndef SWAPSIM_SLOTS_PARTS_H
#define SWAPSIM_SLOTS_PARTS_H

#include "swapsim/slots.h"

#define SLOTS_NO_CLUSTER UINT32_MAX

/* Per kernel: what differs in the same code. */
struct slots_rules {
	enum sws_kernel kernel;
	bool one_slot_a_call;
	/* Without a free cluster the base itself is looked at. */
	bool checks_the_base;
	bool cluster_locks;
	/* Of the free list at first. */
	bool column_order;
	/* Of an SSD. */
	bool random_shared_start;
	/* The base, instead of once at the end. */
	bool stores_each_slot;
	/* Once no cluster is free. */
	bool scans_for_more;
	/* The ration, in a scan. */
	bool spends_before_test;
};

struct slots_cluster {
	/* On the free list. */
	uint32_t next;
	/* Slots in use. */
	uint16_t count;
	/* On the free list. */
	bool free;
};

/* The cluster that a CPU takes slots from, and the slot to look at next. */
struct slots_cpu_cluster {
	uint32_t index;
	uint32_t next;
};

struct sws_slots {
	struct sws_allocator allocator;
	const struct slots_rules *rules;
	/* Built in, or &reader. */
	const struct sws_base_ops *ops;
	struct sws_base_ops reader;
	uint8_t *map;
	/* NULL for an HDD. */
	struct slots_cluster *clusters;
	struct slots_cpu_cluster *cpu_clusters;
	int64_t *bases;
	/* One a base. */
	struct sws_generator *generators;
	uint32_t n_bases;
	uint32_t n_clusters;
	/* Of the free list. */
	uint32_t free_head;
	uint32_t free_tail;
	uint32_t n_free_clusters;
	/* Slots of the device. */
	uint32_t max;
	uint32_t in_use;
	uint32_t credit;
	uint32_t lowest;
	uint32_t highest;
	/* Of an HDD: slots left of the run found last. */
	uint32_t cluster_nr;
	uint32_t cluster_size;
	uint32_t trunk_shift;
	uint32_t possible_cpus;
	uint32_t online_cpus;
	uint32_t address_spaces;
};

/* Slots that can be in use: all but the header's. */
static inline uint32_t slots_pages(const struct sws_slots *self)
{
	return self->max - 1;
}

/*
 * One more slot is in use: models swap_range_alloc.
 *
 * Lowest and highest are bounds, not the lowest and highest free slot. They step by one, past the
 * slot just taken; nothing looks for the next free one:
 *
 *      slot            1 2 3 4 5 6
 *      empty           . . . . . .      lowest 1   highest 6
 *      2 is taken      . # . . . .      lowest 1   highest 6
 *      1 is taken      # # . . . .      lowest 2   highest 6      2 is in use
 *      6 is taken      # # . . . #      lowest 2   highest 5
 *
 * A search for the exact values would cost a walk under si->lock at each slot; a scan that begins
 * at a bound just tests one slot more. Only full is exact: lowest 7 (max) and highest 0, so that
 * the first slot freed, say 4, becomes both: 4 < 7 and 4 > 0.
 */
static inline void slots_count_taken(struct sws_slots *self, uint32_t offset)
{
	if (offset == self->lowest)
		self->lowest++;
	if (offset == self->highest)
		self->highest--;
	if (++self->in_use == slots_pages(self)) {
		self->lowest = self->max;
		self->highest = 0;
	}
}

#endif
