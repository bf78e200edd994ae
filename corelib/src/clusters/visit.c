/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/visit.c - a visit: the first aligned range of a cluster that is free, and the grant.
 *
 *      order 2, the visit begins at slot 8
 *      slot     0 . . . 4 . . . 8 . . . 12 . . 16 . . .
 *      map      # # # # . . . . # . . . # c c c . . . .
 *                               ^ no    ^       ^ granted; the CPU goes on at 20
 *                                       c: only the swap cache uses the slot. If swap is full, 12
 *                                       would be reclaimed first if its # were a c, too.
 */
#include "clusters/parts.h"

#include <string.h>

/* What a test of a range says. */
enum fit { FITS, RECLAIMABLE, IN_USE };

static bool all_free(const uint8_t *map, uint32_t n)
{
	uint64_t word = 0;

	if (n < sizeof(word)) {
		memcpy(&word, map, n);
		return !word;
	}
	for (uint32_t at = 0; at < n; at += (uint32_t)sizeof(word)) {
		memcpy(&word, map + at, sizeof(word));
		if (word)
			return false;
	}
	return true;
}

/* Models: cluster_scan_range. */
static enum fit test_range(struct sws_clusters *self, const uint8_t *map, uint32_t n)
{
	if (all_free(map, n))
		return FITS;
	if (!self->n_cached)
		return IN_USE;
	for (uint32_t at = 0; at < n; at++)
		if (map[at] != SLOT_FREE && map[at] != SLOT_CACHED)
			return IN_USE;
	return sws_clusters__full(self) ? RECLAIMABLE : IN_USE;
}

/* Returns the end of a visit, less the slots of a range; -1 if a range cannot end there. */
static int64_t last_start(const struct sws_clusters *self, const struct sws_clusters_call *call)
{
	const struct device *device = &self->devices[call->device];
	int64_t end = (int64_t)slot_of(self, device, call->visiting) + self->size;

	if (self->rules.ends_at_device && end > device->config.slots)
		end = device->config.slots;
	return end - (INT64_C(1) << call->order);
}

static void set_point(const struct sws_clusters_call *call, struct sws_clusters_point *point,
		      uint32_t op)
{
	*point = (struct sws_clusters_point){
		.op = (uint8_t)op,
		.device = call->device,
		.order = call->order,
		.slot = call->offset,
		.n = UINT32_C(1) << call->order,
	};
}

/*
 * Tests ranges from call->offset on until one fits or may be reclaimed, and sets that point; without
 * one the call has no point. Models: the loop of alloc_swap_scan_cluster.
 */
void sws_clusters__scan(struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct device *device = &self->devices[call->device];
	const struct cluster *cluster = &self->clusters[call->visiting];
	const uint32_t n = UINT32_C(1) << call->order;
	const int64_t last = last_start(self, call);

	call->point.op = SWS_CLUSTER_OPS;
	if (!call->scanned &&
	    (cluster->count + n > self->size || cluster->list == SWS_CLUSTER_LIST_DISCARD))
		return;
	call->scanned = true;
	for (; call->offset <= last; call->offset += n) {
		const enum fit fit = test_range(self, device->map + call->offset, n);

		if (fit == IN_USE)
			continue;
		set_point(call, &call->point, fit == FITS ? SWS_CLUSTER_GRANT : SWS_CLUSTER_WINDOW);
		return;
	}
}

/*
 * The locks are held again after a window at call->offset: the range must be free now, whatever
 * reclaim did; then it is the next point. With checks_own the cluster must still be allocatable; if
 * it is empty, the search starts over in it. In 6.12 nothing fits in a cluster that waits for its
 * discard (the kernel fills its map). Models: the end of cluster_reclaim_range, and of its caller.
 */
void sws_clusters__relock(struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct device *device = &self->devices[call->device];
	struct cluster *cluster = &self->clusters[call->visiting];
	const uint32_t n = UINT32_C(1) << call->order;
	const bool closed = cluster->list == SWS_CLUSTER_LIST_DISCARD ||
			    (self->rules.checks_own &&
			     !sws_clusters__usable(self, call->visiting, call->order));

	cluster->held++;
	call->point.op = SWS_CLUSTER_OPS;
	if (!closed && self->rules.checks_own && !cluster->count)
		call->offset = slot_of(self, device, call->visiting);
	if (!closed && all_free(device->map + call->offset, n)) {
		set_point(call, &call->point, SWS_CLUSTER_GRANT);
		return;
	}
	/* Past the end, nothing more is tested. */
	call->offset = closed ? UINT32_MAX : call->offset + n;
}

/* Puts a cluster that has its first grant where the rules say, and a full one on the full list. */
static void relist(struct sws_clusters *self, struct device *device, uint32_t index, uint8_t order,
		   uint32_t n)
{
	struct cluster *cluster = &self->clusters[index];

	if (self->rules.isolates) {
		if (cluster->count == n)
			cluster->order = order;
		return;
	}
	if (cluster->list == SWS_CLUSTER_LIST_FREE) {
		if (n < self->size)
			sws_clusters__append(self, device, index,
					     SWS_CLUSTER_LIST_NONFULL + (uint32_t)order);
		cluster->order = order;
	}
	if (cluster->count == self->size)
		sws_clusters__append(self, device, index, SWS_CLUSTER_LIST_FULL);
}

/* Models: cluster_alloc_range with swap_range_alloc; __swap_cluster_alloc_entries. */
void sws_clusters__take(struct sws_clusters *self, struct sws_clusters_call *call,
			const struct sws_clusters_point *point)
{
	struct device *device = &self->devices[point->device];
	const uint32_t index = cluster_of(self, device, point->slot);
	struct cluster *cluster = &self->clusters[index];
	uint8_t first = 0;

	if (device->config.priority < self->top) {
		self->work.lower += point->n;
		first = sws_clusters__device_at(self, 0);
		self->work.inversions +=
			first != CLUSTERS_NO_DEVICE &&
			self->devices[first].config.priority > device->config.priority;
	}
	memset(device->map + point->slot, SLOT_USED, point->n);
	cluster->count = (uint16_t)(cluster->count + point->n);
	relist(self, device, index, call->order, point->n);
	device->in_use += point->n;
	if (!self->rules.credit_first)
		self->available -= point->n;
	if (device->in_use == device->config.slots - 1) {
		sws_clusters__dequeue(self, point->device);
		self->work.avail_lock++;
	}
	call->granted++;
	self->work.granted[call->order]++;
	self->work.slots += point->n;
	call->offset = point->slot + point->n;
	call->next = 0;
	if (cluster->count < self->size && call->offset <= last_start(self, call))
		call->next = call->offset;
}
