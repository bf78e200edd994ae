/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/parts.h - shared by the sources of slots.h: the fields of the device, and the steps that
 * both an allocation and a free take.
 */
#ifndef SWAPSIM_SLOTS_PARTS_H
#define SWAPSIM_SLOTS_PARTS_H

#include "swapsim/slots.h"

#define SLOTS_NO_CLUSTER UINT32_MAX

/* The differences of a kernel in the shared code. */
struct slots_rules {
	enum sws_kernel kernel;
	bool one_slot_a_call;
	/* Without a free cluster, the base itself is tested. */
	bool checks_the_base;
	bool cluster_locks;
	/* The initial order of the free list is by columns. */
	bool column_order;
	/* The initial shared base of an SSD is random. */
	bool random_shared_start;
	/* The base is stored at each slot, not once at the end. */
	bool stores_each_slot;
	/* A call takes more slots when no cluster is free. */
	bool scans_for_more;
	/* A scan decrements its ration before a test, not after a failed one. */
	bool spends_before_test;
};

struct slots_cluster {
	/* The next cluster on the free list. */
	uint32_t next;
	/* Slots in use. */
	uint16_t count;
	/* True if the cluster is on the free list. */
	bool free;
};

/* The cluster from which a CPU takes slots, and the next slot to test. */
struct slots_cpu_cluster {
	uint32_t index;
	uint32_t next;
};

struct sws_slots {
	struct sws_allocator allocator;
	const struct slots_rules *rules;
	/* A built-in policy, or &reader. */
	const struct sws_base_ops *ops;
	struct sws_base_ops reader;
	uint8_t *map;
	/* NULL for an HDD. */
	struct slots_cluster *clusters;
	struct slots_cpu_cluster *cpu_clusters;
	int64_t *bases;
	/* One generator per base. */
	struct sws_generator *generators;
	uint32_t n_bases;
	uint32_t n_clusters;
	/* The ends of the free list. */
	uint32_t free_head;
	uint32_t free_tail;
	uint32_t n_free_clusters;
	/* Slots of the device, including the header. */
	uint32_t max;
	uint32_t in_use;
	uint32_t credit;
	uint32_t lowest;
	uint32_t highest;
	/* For an HDD: remaining slots of the current run. */
	uint32_t cluster_nr;
	uint32_t cluster_size;
	uint32_t trunk_shift;
	uint32_t possible_cpus;
	uint32_t online_cpus;
	uint32_t address_spaces;
};

/* Returns the number of slots that can be in use: all except the header. */
static inline uint32_t slots_pages(const struct sws_slots *self)
{
	return self->max - 1;
}

/*
 * Counts a slot as in use. Models: swap_range_alloc.
 *
 * lowest and highest are bounds, not the lowest and the highest free slot. They move by one, past
 * the slot just taken; no code searches for the next free slot:
 *
 *      slot            1 2 3 4 5 6
 *      empty           . . . . . .      lowest 1   highest 6
 *      2 is taken      . # . . . .      lowest 1   highest 6
 *      1 is taken      # # . . . .      lowest 2   highest 6      2 is in use
 *      6 is taken      # # . . . #      lowest 2   highest 5
 *
 * Exact values would need a walk under si->lock for each slot, while a scan that starts at a bound
 * tests only one more slot. Only a full device has exact values: lowest 7 (max) and highest 0, so
 * that the first slot freed, for example 4, becomes both: 4 < 7 and 4 > 0.
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
