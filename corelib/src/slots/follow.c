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
 * Restores the list from its two ends, without a copy:
 *
 *      before       head 5 -> 9 -> 2 tail
 *      the hold     takes 5, then 9:   5 -> 9 -> [head 2 tail]       next of 5 and 9 unchanged
 *      restored     head 5 -> 9 -> 2 tail
 *
 * This is correct because a locked part only takes clusters from the head and appends none: it
 * frees no slot, and it ends before a reclaim. Hence the count of a cluster shows whether it was
 * free: it falls to 0 only if the hold itself started the cluster.
 */
void sws_slots__restore(struct sws_slots *self, const struct slots_snapshot *before,
			const struct sws_slots_call *call)
{
	for (uint32_t i = 0; i < call->given; i++) {
		struct slots_cluster *cluster =
			&self->clusters[call->slots[i] / self->cluster_size];

		self->map[call->slots[i]] = 0;
		/* The cluster was free before, and the list still contains it. */
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

size_t sws_slots__clusters(const struct sws_slots *self)
{
	return self->n_clusters;
}

void sws_slots__link_back(const struct sws_slots *self, uint32_t *before)
{
	uint32_t last = SLOTS_NO_CLUSTER;

	for (uint32_t index = self->free_head; index != SLOTS_NO_CLUSTER;
	     index = self->clusters[index].next) {
		before[index] = last;
		last = index;
	}
}

bool sws_slots__is_linked_back(const struct sws_slots *self, const uint32_t *before)
{
	uint32_t last = SLOTS_NO_CLUSTER;

	for (uint32_t index = self->free_head; index != SLOTS_NO_CLUSTER;
	     index = self->clusters[index].next) {
		if (index != self->free_head && before[index] != last)
			return false;
		last = index;
	}
	return true;
}

/*
 * Removes a cluster from the middle of the list, which no kernel does. A replay needs it when the
 * trace took a slot of such a cluster:
 *
 *      head 5 -> 9 -> 2 tail         unlist 9:   head 5 -> 2 tail        before[2] = 5
 *
 * Without the backward links each such slot would need a walk from the head, past the 16 million
 * clusters of the largest device.
 */
static void unlist_cluster(struct sws_slots *self, uint32_t index, uint32_t *before)
{
	const uint32_t next = self->clusters[index].next;

	if (self->free_head == index) {
		sws_slots__take_free_cluster(self);
		return;
	}
	self->clusters[before[index]].next = next;
	if (self->free_tail == index)
		self->free_tail = before[index];
	else
		before[next] = before[index];
	self->clusters[index].free = false;
	self->n_free_clusters--;
}

/* A cluster that becomes empty is appended after the current tail. */
int sws_slots__give_back(struct sws_slots *self, uint32_t offset, uint32_t *before,
			 struct sws_slots_work *work)
{
	const uint32_t tail = self->free_tail;
	const int error = sws_slots_free_entries(self, &offset, 1, work);

	if (!error && self->free_tail != tail)
		before[self->free_tail] = tail;
	return error;
}

void sws_slots__take(struct sws_slots *self, uint32_t cpu, uint32_t offset, uint32_t *before)
{
	const uint32_t index = offset / self->cluster_size;
	struct slots_cluster *cluster = &self->clusters[index];

	/*
	 * The trace does not contain the CPU's cluster; a cluster that looks like one is followed.
	 */
	if (cluster->free || self->cpu_clusters[cpu].index == index)
		self->cpu_clusters[cpu] =
			(struct slots_cpu_cluster){ .index = index, .next = offset + 1 };
	if (cluster->free)
		unlist_cluster(self, index, before);
	cluster->count++;
	sws_slots__hold(self, offset);
	slots_count_taken(self, offset);
}

void sws_slots__hold(struct sws_slots *self, uint32_t offset)
{
	self->map[offset] = SWS_SLOT_CACHED | 1;
}

/*
 * The kernel's lowest and highest may differ from ours in both directions: both are bounds that
 * move by one slot at a time (slots/parts.h). Any pair is accepted that leaves no free slot
 * outside; another pair is rejected, because later scans would never find that slot.
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
 * set_cluster_next draws a slot, rounds it down to the start of its trunk and limits it to at least
 * lowest. With lowest 100, highest 65535 and trunks of 16384 it stores 100, 16384, 32768 or 49152.
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
