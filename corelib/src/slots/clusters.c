/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/clusters.c - the list of free clusters: taken from the head, appended at the
 * tail, and in what order it begins.
 */
#include "slots/clusters.h"

/* Columns that the list begins with, where a trunk has fewer clusters: SWAP_CLUSTER_COLS. */
#define COLUMNS_MIN 8U

void sws_slots__append_free_cluster(struct sws_slots *self, uint32_t index)
{
	self->clusters[index].free = true;
	self->clusters[index].next = SLOTS_NO_CLUSTER;
	if (self->free_head == SLOTS_NO_CLUSTER)
		self->free_head = index;
	else
		self->clusters[self->free_tail].next = index;
	self->free_tail = index;
	self->n_free_clusters++;
}

void sws_slots__take_free_cluster(struct sws_slots *self)
{
	struct slots_cluster *head = &self->clusters[self->free_head];

	self->free_head = head->next;
	if (self->free_head == SLOTS_NO_CLUSTER)
		self->free_tail = SLOTS_NO_CLUSTER;
	head->free = false;
	self->n_free_clusters--;
}

void sws_slots__unlist_cluster(struct sws_slots *self, uint32_t index)
{
	uint32_t before = self->free_head;

	if (before == index) {
		sws_slots__take_free_cluster(self);
		return;
	}
	while (self->clusters[before].next != index)
		before = self->clusters[before].next;
	self->clusters[before].next = self->clusters[index].next;
	if (self->free_tail == index)
		self->free_tail = before;
	self->clusters[index].free = false;
	self->n_free_clusters--;
}

/*
 * Neighbours on the list lie a trunk apart, so that CPUs which take clusters one
 * after the other work under different locks.
 */
static void list_by_column(struct sws_slots *self, uint32_t shared_start)
{
	const uint32_t of_trunk = (UINT32_C(1) << self->trunk_shift) / self->cluster_size;
	const uint32_t columns = of_trunk > COLUMNS_MIN ? of_trunk : COLUMNS_MIN;
	const uint32_t first = shared_start / self->cluster_size % columns;

	for (uint32_t k = 0; k < columns; k++)
		for (uint64_t index = (k + first) % columns; index < self->n_clusters;
		     index += columns)
			if (!self->clusters[index].count)
				sws_slots__append_free_cluster(self, (uint32_t)index);
}

static void list_in_order(struct sws_slots *self, uint32_t shared_start)
{
	const uint32_t first = shared_start / self->cluster_size;

	for (uint32_t k = 0; k < self->n_clusters; k++) {
		const uint32_t index = (uint32_t)(((uint64_t)first + k) % self->n_clusters);

		if (!self->clusters[index].count)
			sws_slots__append_free_cluster(self, index);
	}
}

void sws_slots__start_clusters(struct sws_slots *self, uint32_t shared_start)
{
	const uint32_t tail = self->max % self->cluster_size;

	self->clusters[0].count = 1;
	if (tail)
		self->clusters[self->n_clusters - 1].count += (uint16_t)(self->cluster_size - tail);
	self->free_head = SLOTS_NO_CLUSTER;
	self->free_tail = SLOTS_NO_CLUSTER;
	if (self->rules->column_order)
		list_by_column(self, shared_start);
	else
		list_in_order(self, shared_start);
	for (uint32_t cpu = 0; cpu < self->possible_cpus; cpu++)
		self->cpu_clusters[cpu].index = SLOTS_NO_CLUSTER;
}
