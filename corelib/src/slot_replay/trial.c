/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slot_replay/parts.h"

#include <string.h>

void sws_slot_replay__begin_trial(struct sws_slot_replay *self, uint32_t cpu)
{
	struct sws_slots *device = self->device;
	const uint32_t owner = sws_slots_base_owner(device, cpu, -1);

	self->trial = (struct replay_trial){
		.device = *device,
		.cpu_cluster = device->cpu_clusters[cpu],
		.generator = device->generators[owner],
		.base = device->bases[owner],
		.cpu = cpu,
		.owner = owner,
		.applied = true,
	};
}

void sws_slot_replay__undo_trial(struct sws_slot_replay *self, const struct sws_slots_call *call)
{
	struct replay_trial *trial = &self->trial;
	struct sws_slots *device = self->device;

	for (uint32_t i = 0; i < call->given; i++) {
		struct slots_cluster *cluster =
			&device->clusters[call->slots[i] / device->cluster_size];

		device->map[call->slots[i]] = 0;
		/* It was free before; the list still leads through it. */
		if (--cluster->count == 0)
			cluster->free = true;
	}
	*device = trial->device;
	device->cpu_clusters[trial->cpu] = trial->cpu_cluster;
	device->generators[trial->owner] = trial->generator;
	device->bases[trial->owner] = trial->base;
	trial->applied = false;
}

/* Takes a cluster out of the free list, wherever it stands. */
static void unlist(struct sws_slots *device, uint32_t index)
{
	uint32_t before = device->free_head;

	if (before == index) {
		sws_slots__take_free_cluster(device);
		return;
	}
	while (device->clusters[before].next != index)
		before = device->clusters[before].next;
	device->clusters[before].next = device->clusters[index].next;
	if (device->free_tail == index)
		device->free_tail = before;
	device->clusters[index].free = false;
	device->n_free_clusters--;
}

void sws_slot_replay__take(struct sws_slot_replay *self, uint32_t cpu, uint32_t offset)
{
	struct sws_slots *device = self->device;
	const uint32_t index = offset / device->cluster_size;
	struct slots_cluster *cluster = &device->clusters[index];

	/* The trace does not tell whose cluster it is: what looks like one is followed. */
	if (cluster->free || device->cpu_clusters[cpu].index == index)
		device->cpu_clusters[cpu] =
			(struct slots_cpu_cluster){ .index = index, .next = offset + 1 };
	if (cluster->free)
		unlist(device, index);
	cluster->count++;
	sws_slot_replay__hold_slot(self, offset);
	if (offset == device->lowest)
		device->lowest++;
	if (offset == device->highest)
		device->highest--;
	if (++device->in_use == slots_pages(device)) {
		device->lowest = device->max;
		device->highest = 0;
	}
}

void sws_slot_replay__hold_slot(struct sws_slot_replay *self, uint32_t offset)
{
	self->device->map[offset] = SWS_SLOT_CACHED | 1;
}

void sws_slot_replay__follow_limits(struct sws_slot_replay *self, uint32_t lowest, uint32_t highest)
{
	struct sws_slots *device = self->device;

	if (lowest < 1 || lowest > highest || highest >= device->max)
		return;
	if (memchr(device->map, 0, lowest) ||
	    memchr(device->map + highest + 1, 0, device->max - highest - 1))
		return;
	device->lowest = lowest;
	device->highest = highest;
}
