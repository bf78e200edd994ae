/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slots/follow.h"

#include "slots/clusters.h"

void sws_slots__snapshot(const struct sws_slots *self, uint32_t cpu, struct slots_snapshot *out)
{
	const uint32_t owner = sws_slots_base_owner(self, cpu, -1);

	*out = (struct slots_snapshot){
		.cpu = cpu,
		.owner = owner,
		.base = self->bases[owner],
		.generator = self->generators[owner],
		.cpu_cluster = self->cpu_clusters[cpu],
		.free_head = self->free_head,
		.free_tail = self->free_tail,
		.n_free_clusters = self->n_free_clusters,
		.in_use = self->in_use,
		.credit = self->credit,
		.lowest = self->lowest,
		.highest = self->highest,
	};
}

/*
 * Puts the list back by its two ends alone, and needs no copy of it:
 *
 *      before       head 5 -> 9 -> 2 tail
 *      the hold     takes 5, then 9:   5 -> 9 -> [head 2 tail]       next of 5 and 9 as before
 *      restored     head 5 -> 9 -> 2 tail
 *
 * This holds because a locked part only takes from the head and appends nothing: nothing is freed
 * under it, and before a reclaim it ends. So the count of a cluster tells whether it was free: it
 * falls to 0 only if the hold itself began it.
 */
void sws_slots__restore(struct sws_slots *self, const struct slots_snapshot *before,
			const struct sws_slots_call *call)
{
	for (uint32_t i = 0; i < call->given; i++) {
		struct slots_cluster *cluster =
			&self->clusters[call->slots[i] / self->cluster_size];

		self->map[call->slots[i]] = 0;
		/* It was free before; the list still leads through it. */
		if (--cluster->count == 0)
			cluster->free = true;
	}
	self->bases[before->owner] = before->base;
	self->generators[before->owner] = before->generator;
	self->cpu_clusters[before->cpu] = before->cpu_cluster;
	self->free_head = before->free_head;
	self->free_tail = before->free_tail;
	self->n_free_clusters = before->n_free_clusters;
	self->in_use = before->in_use;
	self->credit = before->credit;
	self->lowest = before->lowest;
	self->highest = before->highest;
}

void sws_slots__take(struct sws_slots *self, uint32_t cpu, uint32_t offset)
{
	const uint32_t index = offset / self->cluster_size;
	struct slots_cluster *cluster = &self->clusters[index];

	/* The trace does not tell whose cluster it is: what looks like one is followed. */
	if (cluster->free || self->cpu_clusters[cpu].index == index)
		self->cpu_clusters[cpu] =
			(struct slots_cpu_cluster){ .index = index, .next = offset + 1 };
	if (cluster->free)
		sws_slots__unlist_cluster(self, index);
	cluster->count++;
	sws_slots__hold(self, offset);
	slots_count_taken(self, offset);
}

void sws_slots__hold(struct sws_slots *self, uint32_t offset)
{
	self->map[offset] = SWS_SLOT_CACHED | 1;
}

/*
 * The kernel's lowest and highest may lie closer together than ours, or further apart: both are
 * bounds, which move by one slot at a time (slots/parts.h). Any pair is believed that
 * leaves no free slot outside; one that does is not, or later scans would never see that slot.
 */
void sws_slots__follow_limits(struct sws_slots *self, uint32_t lowest, uint32_t highest)
{
	if (lowest < 1 || lowest > highest || highest >= self->max)
		return;
	if (memchr(self->map, 0, lowest) ||
	    memchr(self->map + highest + 1, 0, self->max - highest - 1))
		return;
	self->lowest = lowest;
	self->highest = highest;
}

void sws_slots__return_credit(struct sws_slots *self, uint32_t n)
{
	self->credit += n;
}

uint32_t sws_slots__find_free(const struct sws_slots *self, uint32_t from, uint32_t to)
{
	return slots_find_free(self->map, from, to);
}

bool sws_slots__is_listed_behind(const struct sws_slots *self, uint32_t offset)
{
	const uint32_t index = offset / self->cluster_size;

	return self->clusters[index].free && index != self->free_head;
}

/*
 * set_cluster_next draws a slot, rounds down to its trunk and stays at lowest or above. Lowest 100,
 * highest 65535, trunks of 16384: it stores 100, 16384, 32768 or 49152, and nothing else.
 */
bool sws_slots__may_be_drawn(const struct sws_slots *self, uint32_t base)
{
	return base >= self->lowest && base <= self->highest &&
	       (base == self->lowest || base % (UINT32_C(1) << self->trunk_shift) == 0);
}

bool sws_slots__spends_before_test(const struct sws_slots *self)
{
	return self->rules->spends_before_test;
}
