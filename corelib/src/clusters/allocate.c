/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/allocate.c - a complete call without interruption. */
#include "clusters/parts.h"

/* Frees the cached slots among n slots. */
static void reclaim(struct sws_clusters *self, uint32_t number, uint32_t slot, uint32_t n)
{
	for (uint32_t at = slot; at < slot + n; at++)
		if (self->devices[number].map[at] == SLOT_CACHED)
			(void)sws_clusters_free_slots(self, number, at, 1);
}

/* Does what happens between a point and the next one when no other task runs. */
static void between(struct sws_clusters *self, const struct sws_clusters_call *call,
		    const struct sws_clusters_point *point)
{
	const bool full = call->full != CLUSTERS_NONE &&
			  (point->op == SWS_CLUSTER_FULL || point->op == SWS_CLUSTER_PICKED);

	if (point->op == SWS_CLUSTER_WINDOW)
		reclaim(self, point->device, point->slot, point->n);
	else if (full)
		reclaim(self, point->device,
			slot_of(self, &self->devices[point->device], call->full), self->size);
}

int sws_clusters_allocate(struct sws_clusters *self, uint32_t cpu, uint32_t owner, uint32_t order,
			  uint32_t wanted, uint8_t *devices, uint32_t *slots, uint32_t *granted)
{
	struct sws_clusters_call call;
	struct sws_clusters_point point = { 0 };
	int error = SWS_ERROR_BAD_ARGUMENT;

	*granted = 0;
	if (self->rules.own_by_task && owner >= self->owners)
		return error;
	error = sws_clusters_call_begin(self, cpu, order, wanted, &call);
	call.owner = owner;
	while (!error && point.op != SWS_CLUSTER_DONE) {
		sws_clusters_call_next(self, &call);
		point = call.point;
		if (point.op == SWS_CLUSTER_BUSY) {
			sws_clusters_call_abandon(self, &call);
			break;
		}
		sws_clusters_call_apply(self, &call, &point);
		if (point.op == SWS_CLUSTER_GRANT) {
			devices[*granted] = point.device;
			slots[(*granted)++] = point.slot;
		}
		if (self->n_cached)
			between(self, &call, &point);
	}
	return error;
}
