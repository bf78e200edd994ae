/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/usage.c - frees, list moves, cached slots and discards. */
#include "clusters/parts.h"

#include <string.h>

/* Returns whether slots lie in one cluster of a device. */
static bool in_one_cluster(const struct sws_clusters *self, uint32_t number, uint32_t slot,
			   uint32_t n)
{
	return number < self->n_devices && n && slot < self->devices[number].config.slots &&
	       n <= self->devices[number].config.slots - slot &&
	       slot >> self->shift == (slot + n - 1) >> self->shift;
}

static bool all_used(const uint8_t *map, uint32_t n)
{
	for (uint32_t at = 0; at < n; at++)
		if (map[at] != SLOT_USED && map[at] != SLOT_CACHED)
			return false;
	return true;
}

/* Returns the list to which a cluster goes after a free; NONE if it stays. */
static uint32_t freed_to(const struct device *device, const struct cluster *cluster)
{
	if (!cluster->count)
		return device->config.discard ? SWS_CLUSTER_LIST_DISCARD : SWS_CLUSTER_LIST_FREE;
	if (list_kind(cluster->list) == SWS_CLUSTER_LIST_NONFULL)
		return SWS_CLUSTER_LIST_NONE;
	return SWS_CLUSTER_LIST_NONFULL + (uint32_t)cluster->order;
}

static void count_free(struct sws_clusters *self, bool same_hold, uint32_t n)
{
	self->work.freed += n;
	self->work.cluster_lock_free++;
	self->work.si_lock_free += !self->rules.isolates && !same_hold;
}

int sws_clusters_free_begin(struct sws_clusters *self, uint32_t number, uint32_t slot, uint32_t n,
			    bool same_hold, uint32_t *list)
{
	struct device *device = NULL;
	struct cluster *cluster = NULL;
	uint32_t target = 0;

	if (!in_one_cluster(self, number, slot, n))
		return SWS_ERROR_BAD_ARGUMENT;
	device = &self->devices[number];
	if (!all_used(device->map + slot, n))
		return SWS_ERROR_NOT_FOUND;
	if (self->n_cached)
		(void)sws_clusters_set_cached(self, number, slot, n, false);
	memset(device->map + slot, SLOT_FREE, n);
	cluster = &self->clusters[cluster_of(self, device, slot)];
	cluster->count = (uint16_t)(cluster->count - n);
	device->in_use -= n;
	self->available += n;
	if (!device->listed) {
		sws_clusters__enqueue(self, number);
		self->work.avail_lock++;
	}
	count_free(self, same_hold, n);
	target = freed_to(device, cluster);
	if (!self->rules.isolates && target != SWS_CLUSTER_LIST_NONE) {
		sws_clusters__append(self, device, cluster_of(self, device, slot), target);
		target = SWS_CLUSTER_LIST_NONE;
	}
	*list = target;
	return SWS_OK;
}

int sws_clusters_move(struct sws_clusters *self, uint32_t number, uint32_t slot, uint32_t list)
{
	if (list >= SWS_CLUSTER_LISTS || !in_one_cluster(self, number, slot, 1))
		return SWS_ERROR_BAD_ARGUMENT;
	sws_clusters__append(self, &self->devices[number],
			     cluster_of(self, &self->devices[number], slot), list);
	return SWS_OK;
}

int sws_clusters_free_slots(struct sws_clusters *self, uint32_t device, uint32_t slot, uint32_t n)
{
	uint32_t list = SWS_CLUSTER_LIST_NONE;
	int error = sws_clusters_free_begin(self, device, slot, n, false, &list);

	if (!error && list != SWS_CLUSTER_LIST_NONE) {
		self->work.si_lock_free++;
		error = sws_clusters_move(self, device, slot, list);
	}
	return error;
}

int sws_clusters_set_cached(struct sws_clusters *self, uint32_t number, uint32_t slot, uint32_t n,
			    bool cached)
{
	uint8_t *map = NULL;

	if (!in_one_cluster(self, number, slot, n))
		return SWS_ERROR_NOT_FOUND;
	map = self->devices[number].map + slot;
	if (!all_used(map, n))
		return SWS_ERROR_NOT_FOUND;
	for (uint32_t at = 0; at < n; at++) {
		self->n_cached += (cached && map[at] == SLOT_USED);
		self->n_cached -= (!cached && map[at] == SLOT_CACHED);
		map[at] = cached ? SLOT_CACHED : SLOT_USED;
	}
	return SWS_OK;
}

int sws_clusters_discard_begin(struct sws_clusters *self, uint32_t number, uint32_t slot,
			       bool *first)
{
	struct device *device = NULL;
	struct cluster *cluster = NULL;
	uint32_t index = 0;

	if (!in_one_cluster(self, number, slot, 1))
		return SWS_ERROR_NOT_FOUND;
	device = &self->devices[number];
	index = cluster_of(self, device, slot);
	cluster = &self->clusters[index];
	if (cluster->list != SWS_CLUSTER_LIST_DISCARD || !cluster->linked)
		return SWS_ERROR_NOT_FOUND;
	*first = device->lists[SWS_CLUSTER_LIST_DISCARD].head == index;
	sws_clusters__unlink(self, device, index);
	/* The flag stays, so that no CPU goes on in the cluster meanwhile. */
	cluster->list = SWS_CLUSTER_LIST_DISCARD;
	self->work.discards++;
	return SWS_OK;
}

int sws_clusters_discard(struct sws_clusters *self, uint32_t number)
{
	struct device *device = NULL;
	bool first = false;

	if (number >= self->n_devices)
		return SWS_ERROR_BAD_ARGUMENT;
	device = &self->devices[number];
	while (device->lists[SWS_CLUSTER_LIST_DISCARD].length) {
		const uint32_t index = device->lists[SWS_CLUSTER_LIST_DISCARD].head;

		(void)sws_clusters_discard_begin(self, number, slot_of(self, device, index),
						 &first);
		sws_clusters__append(self, device, index, SWS_CLUSTER_LIST_FREE);
	}
	return SWS_OK;
}
