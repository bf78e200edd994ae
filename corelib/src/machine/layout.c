/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/layout.c - the numbers of CPUs, addresses and locks. Three writers on two nodes, with two
 * asynchronous devices:
 *
 *      CPU      0        1        2       3           4        5     6       7
 *      node     0        0        0       0           1        1     1       1
 *      actor    task 0   task 2   kswapd  interrupt   task 1   -     kswapd  interrupt
 *
 * CPU 5 has no actor: each node has as many CPUs as the one with the most tasks, so that the node
 * follows from the number of a CPU.
 */
#include "machine/layout.h"

uint32_t sws_machine__tasks(const struct sws_machine_config *config)
{
	return config->walkers + config->writers + config->streams;
}

uint32_t sws_machine__cpus_per_node(const struct sws_machine_config *config)
{
	const uint32_t tasks = (sws_machine__tasks(config) + config->nodes - 1) / config->nodes;

	return tasks + !config->memory_max + (config->channels > 0);
}

static uint32_t beyond_a_batch(const struct sws_machine_config *config)
{
	return config->list_pages > MACHINE_BATCH ? config->list_pages - MACHINE_BATCH : 0;
}

uint32_t sws_machine__frames_kept(const struct sws_machine_config *config)
{
	return SWS_MACHINE_FRAMES_KEPT + 2 * beyond_a_batch(config);
}

uint32_t sws_machine__slots_kept(const struct sws_machine_config *config)
{
	return SWS_MACHINE_SLOTS_KEPT + beyond_a_batch(config);
}

struct actor *sws_machine__task(struct sws_machine *self, uint32_t task)
{
	const uint32_t node = task % self->config.nodes;

	return &self->actors[node * sws_machine__cpus_per_node(&self->config) +
			     task / self->config.nodes];
}

uint32_t sws_machine__all_ptes(const struct sws_machine *self)
{
	return self->n_ptes + self->n_writer_ptes + self->config.n_requests;
}

uint32_t sws_machine__node_of_pte(const struct sws_machine *self, uint32_t pte)
{
	const uint32_t task =
		pte < self->n_ptes
			? pte / self->config.pages
			: self->config.walkers + (pte - self->n_ptes) / self->config.accesses;

	return task % self->config.nodes;
}

uint32_t sws_machine__resident(const struct sws_machine *self, const struct node *node)
{
	const uint32_t room = self->config.memory_max ? self->config.memory_max
						      : self->config.frames - self->watermark_high;

	return node->n_ptes < room ? node->n_ptes : room;
}

uint64_t sws_machine__swapped(const struct sws_machine *self, uint32_t device)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < self->config.nodes; i++) {
		const struct node *node = &self->nodes[i];

		if (node->device == device)
			sum += node->n_ptes - sws_machine__resident(self, node);
	}
	return sum;
}

uint32_t sws_machine__map_lock(const struct sws_machine *self, const struct device *device,
			       uint32_t slot)
{
	/*
	 * With clusters of 256, slots 255 and 256 have different locks, 256 and 511 the same one.
	 */
	if (device->first_cluster_lock == MACHINE_NONE)
		return device->si_lock;
	return device->first_cluster_lock + slot / self->config.device.cluster_size;
}

/* Models inactive_list_is_low. With ratio 3, 65536 inactive pages of 262144 are enough. */
bool sws_machine__is_balanced(const struct sws_machine *self, const struct node *node)
{
	return (uint64_t)node->lists[LIST_INACTIVE].count * self->inactive_ratio >=
	       node->lists[LIST_ACTIVE].count;
}

static uint64_t looks(const struct sws_slots_work *work)
{
	return work->tested_scan + work->tested_quick + work->tested_cluster + work->looked_at;
}

void sws_machine__count_looks(struct sws_machine *self, const struct sws_slots_work *before,
			      const struct sws_slots_work *after)
{
	self->looks += looks(after) - looks(before);
}
