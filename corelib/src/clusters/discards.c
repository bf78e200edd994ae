/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/discards.c - the next cluster that a call discards before it gives up. */
#include "clusters/state.h"

/* The first cluster that waits for its discard, or the end of the step. */
void sws_clusters__next_discard(const struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct device *device = &self->devices[call->device];
	const uint32_t index = device->lists[SWS_CLUSTER_LIST_DISCARD].head;

	if (index != CLUSTERS_NONE) {
		set_point(call, SWS_CLUSTER_DISCARD, slot_of(self, device, index), 0);
		return;
	}
	if (!self->rules.discards_in_device)
		go(call, call->discarded ? OWN_FIRST : DISCARD_ANY);
	else
		go(call, call->discarded ? SEARCH : STEP);
}

/* Models: swap_sync_discard, which discards what one device has. */
void sws_clusters__discard_any(const struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct device *best = NULL;

	for (uint32_t i = 0; i < self->n_devices; i++) {
		const struct device *device = &self->devices[i];

		if (device->lists[SWS_CLUSTER_LIST_DISCARD].length &&
		    (!best || device->config.priority > best->config.priority))
			best = device;
	}
	go(call, DONE);
	if (best) {
		call->device = (uint8_t)(best - self->devices);
		call->discarded = false;
		go(call, DISCARD);
	}
}
