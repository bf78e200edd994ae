/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/follow.h - functions beyond slots.h with which slot_replay.h makes a device follow a trace.
 * The device is an SSD, and no call uses another base than that of its CPU.
 *
 *      snapshot -> our locked part -> the slots of the trace?   retained
 *                                     other slots?              restore, then take each slot
 */
#ifndef SWAPSIM_SLOTS_FOLLOW_H
#define SWAPSIM_SLOTS_FOLLOW_H

#include "slots/scan.h"

/* The state that a locked part on a CPU may change, except map bytes, before that part. */
struct slots_snapshot {
	uint32_t cpu;
	/* The base that the CPU uses, its value, and the generator of its draws. */
	uint32_t owner;
	int64_t base;
	struct sws_generator generator;
	struct slots_cpu_cluster cpu_cluster;
	uint32_t free_head;
	uint32_t free_tail;
	uint32_t n_free_clusters;
	uint32_t in_use;
	uint32_t credit;
	uint32_t lowest;
	uint32_t highest;
};

void sws_slots__snapshot(const struct sws_slots *self, uint32_t cpu, struct slots_snapshot *out);

/* Undoes a locked part since the snapshot, in which the call was given all its slots. */
void sws_slots__restore(struct sws_slots *self, const struct slots_snapshot *before,
			const struct sws_slots_call *call);

/*
 * The free list is singly linked, as the kernel's is. To remove clusters from its middle, the
 * caller has an array of backward links: before[index] is the cluster before index, unless index is
 * the head. It is initialized once, and updated by the two functions below; taking clusters from
 * the head in a locked part, and restoring them, does not change it.
 */
size_t sws_slots__clusters(const struct sws_slots *self);
void sws_slots__link_back(const struct sws_slots *self, uint32_t *before);
bool sws_slots__is_linked_back(const struct sws_slots *self, const uint32_t *before);

/* Takes and holds a free slot at any position, as if the CPU's scan had stopped there. */
void sws_slots__take(struct sws_slots *self, uint32_t cpu, uint32_t offset, uint32_t *before);

/* Frees a slot; returns the codes of sws_slots_free_entries. */
int sws_slots__give_back(struct sws_slots *self, uint32_t offset, uint32_t *before,
			 struct sws_slots_work *work);

/* Marks a slot as in use by more than the swap cache, so that no scan stops at it. */
void sws_slots__hold(struct sws_slots *self, uint32_t offset);

/* Sets lowest and highest unless a free slot is outside of them. */
void sws_slots__follow_limits(struct sws_slots *self, uint32_t lowest, uint32_t highest);

/* Returns the rest of the credit of a call that ended differently in the trace. */
void sws_slots__return_credit(struct sws_slots *self, uint32_t n);

/* Returns the first free slot in from .. to - 1, or to. */
uint32_t sws_slots__find_free(const struct sws_slots *self, uint32_t from, uint32_t to);

/*
 * Returns true if a slot is in a free cluster that is not the head of the list, where no scan may
 * stop.
 */
bool sws_slots__is_listed_behind(const struct sws_slots *self, uint32_t offset);

/* Returns true if a random draw of the policy can yield this base. */
bool sws_slots__may_be_drawn(const struct sws_slots *self, uint32_t base);

/*
 * Returns true if a scan decrements its ration before it tests a slot, false if after a failed
 * test.
 */
bool sws_slots__spends_before_test(const struct sws_slots *self);

#endif
