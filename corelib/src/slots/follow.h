/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/follow.h - a device that follows a trace: what slot_replay.h asks of it beyond
 * slots.h. An SSD, with no call that uses another base than its CPU's.
 *
 *      snapshot -> a locked part, ours -> the trace's slots?   kept
 *                                         others?              restore, then take each
 */
#ifndef SWAPSIM_SLOTS_FOLLOW_H
#define SWAPSIM_SLOTS_FOLLOW_H

#include "slots/scan.h"

/* What one locked part on a CPU may change, but for map bytes, as it was before. */
struct slots_snapshot {
	uint32_t cpu;
	/* The base that the CPU uses, its value, and the generator that draws it. */
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

/* Takes back a locked part since, in which the call was given all its slots. */
void sws_slots__restore(struct sws_slots *self, const struct slots_snapshot *before,
			const struct sws_slots_call *call);

/*
 * The free list is one way, as the kernel's is. Who takes clusters out of its middle keeps the way
 * back beside it, a number a cluster: before[index] is the one before index, unless that is the
 * head. It is made once, and led on by the two functions below: what a locked part takes from the
 * head, and puts back there, changes nothing of it.
 */
size_t sws_slots__clusters(const struct sws_slots *self);
void sws_slots__link_back(const struct sws_slots *self, uint32_t *before);
bool sws_slots__is_linked_back(const struct sws_slots *self, const uint32_t *before);

/* Takes a free slot, wherever it is, as if this CPU had come to it, and holds it. */
void sws_slots__take(struct sws_slots *self, uint32_t cpu, uint32_t offset, uint32_t *before);

/* Frees a slot; returns as sws_slots_free_entries. */
int sws_slots__give_back(struct sws_slots *self, uint32_t offset, uint32_t *before,
			 struct sws_slots_work *work);

/* Marks a slot as in use by more than the swap cache: no scan stops at it. */
void sws_slots__hold(struct sws_slots *self, uint32_t offset);

/* Puts lowest and highest to these, if no slot outside of them is free. */
void sws_slots__follow_limits(struct sws_slots *self, uint32_t lowest, uint32_t highest);

/* A call that ended in another way than ours gives back the credit that it has left. */
void sws_slots__return_credit(struct sws_slots *self, uint32_t n);

/* The first free slot in from .. to - 1, or to. */
uint32_t sws_slots__find_free(const struct sws_slots *self, uint32_t from, uint32_t to);

/* Does a slot lie in a free cluster that is not the list's head, which no scan may begin? */
bool sws_slots__is_listed_behind(const struct sws_slots *self, uint32_t offset);

/* May a random draw of a policy put the base here? */
bool sws_slots__may_be_drawn(const struct sws_slots *self, uint32_t base);

/* Does a scan spend its ration before it tests a slot, or only when the slot was not it? */
bool sws_slots__spends_before_test(const struct sws_slots *self);

#endif
