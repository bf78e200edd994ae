/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/lists.c - the lists of a device: doubly linked through indices of clusters. */
#include "clusters/parts.h"

void sws_clusters__unlink(struct sws_clusters *self, struct device *device, uint32_t index)
{
	struct cluster *cluster = &self->clusters[index];
	struct cluster_list *list = NULL;

	if (cluster->linked) {
		list = &device->lists[cluster->list];
		if (cluster->prev == CLUSTERS_NONE)
			list->head = cluster->next;
		else
			self->clusters[cluster->prev].next = cluster->next;
		if (cluster->next == CLUSTERS_NONE)
			list->tail = cluster->prev;
		else
			self->clusters[cluster->next].prev = cluster->prev;
		list->length--;
	}
	cluster->linked = false;
	cluster->list = SWS_CLUSTER_LIST_NONE;
}

/* A cluster on the free list has no order. Models: list_move_tail, move_cluster, __free_cluster. */
void sws_clusters__append(struct sws_clusters *self, struct device *device, uint32_t index,
			  uint32_t number)
{
	struct cluster *cluster = &self->clusters[index];
	struct cluster_list *list = &device->lists[number];

	sws_clusters__unlink(self, device, index);
	cluster->prev = list->tail;
	cluster->next = CLUSTERS_NONE;
	if (list->tail == CLUSTERS_NONE)
		list->head = index;
	else
		self->clusters[list->tail].next = index;
	list->tail = index;
	list->length++;
	cluster->list = (uint8_t)number;
	cluster->linked = true;
	if (number == SWS_CLUSTER_LIST_FREE)
		cluster->order = 0;
	self->work.moves++;
}

/* Returns the first cluster of a list, with skips_held the first that no call holds; or CLUSTERS_NONE. */
uint32_t sws_clusters__first(const struct sws_clusters *self, const struct device *device,
			     uint32_t list, bool skips_held)
{
	uint32_t index = device->lists[list].head;

	while (skips_held && index != CLUSTERS_NONE && self->clusters[index].held)
		index = self->clusters[index].next;
	return index;
}

/*
 * Returns the list to which a cluster goes after a visit, SWS_CLUSTER_LIST_NONE if it is there.
 * Models: relocate_cluster. Only the kind is compared, as the kernel compares flags: a cluster
 * gets another order only when it is empty.
 *
 *      in use      0                    1 .. size - 1     size
 *      goes to     free, or discard     frag[its order]   full
 */
uint32_t sws_clusters__target(const struct sws_clusters *self, const struct device *device,
			      uint32_t index)
{
	const struct cluster *cluster = &self->clusters[index];
	const uint32_t kind = list_kind(cluster->list);

	if (kind == SWS_CLUSTER_LIST_DISCARD)
		return SWS_CLUSTER_LIST_NONE;
	if (!cluster->count) {
		if (kind == SWS_CLUSTER_LIST_FREE)
			return SWS_CLUSTER_LIST_NONE;
		return device->config.discard ? SWS_CLUSTER_LIST_DISCARD : SWS_CLUSTER_LIST_FREE;
	}
	if (cluster->count == self->size)
		return kind == SWS_CLUSTER_LIST_FULL ? SWS_CLUSTER_LIST_NONE
						     : SWS_CLUSTER_LIST_FULL;
	return kind == SWS_CLUSTER_LIST_FRAG ? SWS_CLUSTER_LIST_NONE
					     : SWS_CLUSTER_LIST_FRAG + (uint32_t)cluster->order;
}

/*
 * Returns whether a CPU may go on in a cluster. Models: cluster_is_usable; a cluster has a table
 * unless it is on the free list.
 */
bool sws_clusters__usable(const struct sws_clusters *self, uint32_t index, uint32_t order)
{
	const struct cluster *cluster = &self->clusters[index];
	const uint32_t kind = list_kind(cluster->list);

	if (kind == SWS_CLUSTER_LIST_FREE || kind == SWS_CLUSTER_LIST_FULL ||
	    kind == SWS_CLUSTER_LIST_DISCARD)
		return false;
	return !order || !cluster->count || cluster->order == order;
}
