/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/verify.c - recomputes every invariant of the devices. */
#include "clusters/parts.h"

#include <stddef.h>

/* Counts the slots of a cluster by their bytes. */
static uint32_t in_use_of(const struct sws_clusters *self, const struct device *device,
			  uint32_t index, uint32_t *bad, uint32_t *cached)
{
	const uint8_t *map = device->map + slot_of(self, device, index);
	uint32_t used = 0;

	for (uint32_t at = 0; at < self->size; at++) {
		used += map[at] != SLOT_FREE;
		*bad += map[at] == SLOT_BAD;
		*cached += map[at] == SLOT_CACHED;
	}
	return used;
}

/* Returns what is wrong with the cluster on its list, or NULL. */
static const char *misplaced(const struct sws_clusters *self, const struct cluster *cluster)
{
	const uint32_t kind = list_kind(cluster->list);
	const bool empty = kind == SWS_CLUSTER_LIST_FREE || kind == SWS_CLUSTER_LIST_DISCARD;

	if (cluster->linked == (kind == SWS_CLUSTER_LIST_NONE))
		return "a cluster is linked without a list";
	if (!cluster->linked || cluster->held)
		return NULL;
	if (empty != (cluster->count == 0))
		return "an empty cluster is not on free or discard";
	if ((kind == SWS_CLUSTER_LIST_FULL) != (cluster->count == self->size))
		return "a full cluster is not on the full list";
	if (!empty && kind != SWS_CLUSTER_LIST_FULL && cluster->list != kind + cluster->order)
		return "a cluster is on the list of another order";
	return NULL;
}

/* Walks a list of a device; returns what is wrong, or NULL. */
static const char *walk(const struct sws_clusters *self, const struct device *device,
			uint32_t number, uint32_t *listed)
{
	const struct cluster_list *list = &device->lists[number];
	uint32_t before = CLUSTERS_NONE;
	uint32_t n = 0;

	for (uint32_t index = list->head; index != CLUSTERS_NONE;
	     index = self->clusters[index].next) {
		const struct cluster *cluster = &self->clusters[index];

		if (cluster->prev != before || cluster->list != number || !cluster->linked ||
		    ++n > list->length)
			return "a list is not linked in both directions";
		before = index;
	}
	*listed += n;
	return n == list->length && list->tail == before ? NULL : "a list has another length";
}

static const char *check_device(const struct sws_clusters *self, uint32_t number, uint32_t *cached)
{
	const struct device *device = &self->devices[number];
	const char *reason = NULL;
	uint32_t listed = 0;
	uint32_t linked = 0;
	uint64_t used = 0;
	uint32_t bad = 0;

	for (uint32_t i = device->first; !reason && i < device->first + device->n_clusters; i++) {
		const uint32_t count = in_use_of(self, device, i, &bad, cached);

		used += count;
		linked += self->clusters[i].linked;
		reason = count == self->clusters[i].count ? misplaced(self, &self->clusters[i])
							  : "a cluster counts other slots";
	}
	for (uint32_t list = 0; !reason && list < SWS_CLUSTER_LISTS; list++)
		reason = walk(self, device, list, &listed);
	if (!reason && used - bad != device->in_use)
		reason = "a device counts other slots in use";
	if (!reason && linked != listed)
		reason = "a cluster is on no list or on two";
	if (!reason && device->listed != (device->in_use < device->config.slots - 1))
		reason = "a full device is in the list of devices";
	return reason;
}

int sws_clusters_verify(const struct sws_clusters *self, const char **reason)
{
	uint32_t cached = 0;
	uint64_t free = 0;

	*reason = NULL;
	for (uint32_t i = 0; !*reason && i < self->n_devices; i++) {
		*reason = check_device(self, i, &cached);
		free += self->devices[i].config.slots - 1 - self->devices[i].in_use;
	}
	for (uint32_t i = 1; !*reason && i < self->n_turn; i++)
		if (self->devices[self->turn[i - 1]].config.priority <
		    self->devices[self->turn[i]].config.priority)
			*reason = "the devices are not in order of priority";
	if (!*reason && cached != self->n_cached)
		*reason = "another number of slots is cached";
	if (!*reason && self->available > (int64_t)free)
		*reason = "more slots are available than free";
	return *reason ? SWS_ERROR_BROKEN : SWS_OK;
}
