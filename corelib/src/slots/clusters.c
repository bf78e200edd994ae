/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/clusters.c - the list of free clusters and its initial order: clusters are taken from the
 * head and appended at the tail.
 */
#include "slots/clusters.h"

/*
 * Minimum number of columns of the initial list, if a trunk has fewer clusters. SWAP_CLUSTER_COLS
 * is the maximum of two numbers: the clusters of a trunk (16384 / 256 = 64), so that neighbours on
 * the list have different locks; and the swap_cluster_info of 8 bytes in a cache line of 64, so
 * that the cluster locks of neighbours are not in one cache line.
 */
#define COLUMNS_MIN 8U

/*
 * Models free_cluster (4.8: a part of dec_cluster_info_page). The list is singly linked through
 * next:
 *
 *      head 5 -> 9 -> 2 tail         append 7:   head 5 -> 9 -> 2 -> 7 tail
 *      empty list                    append 7:   head 7 tail
 *
 * A cluster that becomes empty is appended even if it was in use a moment before. So the clusters
 * that have been free for longest are taken first, and the list loses its column order with time.
 */
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

/*
 * Models alloc_cluster (4.8: a part of inc_cluster_info_page). The removed cluster retains its next
 * pointer: a hold that is undone restores the head and thereby the complete list (slots/follow.c).
 */
void sws_slots__take_free_cluster(struct sws_slots *self)
{
	struct slots_cluster *head = &self->clusters[self->free_head];

	self->free_head = head->next;
	if (self->free_head == SLOTS_NO_CLUSTER)
		self->free_tail = SLOTS_NO_CLUSTER;
	head->free = false;
	self->n_free_clusters--;
}

/*
 * Neighbours on the list are a trunk apart, so that CPUs which take clusters one after another have
 * different locks. Models setup_swap_map_and_extents from 5.7 on.
 *
 * With 200 clusters of 256 slots and trunks of 16384 there are 64 columns and 4 rows, and the last
 * row ends in column 7. The order is column by column, starting at the column of the shared base
 * (here slot 1, so column 0):
 *
 *      column       0     1     2   ...   63
 *      trunk 0     (0)    1     2   ...   63        0 has the header: in use, not listed
 *      trunk 1     64    65    66   ...  127
 *      trunk 2    128   129   130   ...  191
 *      trunk 3    192   193   194   ... (missing)
 *
 *      the list   64 128 192 | 1 65 129 193 | 2 66 ... | 63 127 191
 *
 * In plain order from 1 on, two CPUs that take clusters at the same time would get 1 and 2, both in
 * trunk 0.
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

/*
 * In 4.8 with the shared base 5000 the order is from cluster 19 on, cyclically, to 18. That kernel
 * has no columns: one lock protects the swap cache of the complete device.
 */
static void list_in_order(struct sws_slots *self, uint32_t shared_start)
{
	const uint32_t first = shared_start / self->cluster_size;

	for (uint32_t k = 0; k < self->n_clusters; k++) {
		const uint32_t index = (uint32_t)(((uint64_t)first + k) % self->n_clusters);

		if (!self->clusters[index].count)
			sws_slots__append_free_cluster(self, index);
	}
}

/*
 * 1000 slots are 4 clusters; the last one lacks 24 slots (4 * 256 - 1000):
 *
 *      cluster     0        1       2       3
 *      count       1        0       0      24        0 and 3 are not listed
 *      slot        0      256     512     768 ... 999
 *
 * A count that starts above 0 never falls to 0, so such a cluster is never free; its slots are
 * found by scans only.
 */
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
