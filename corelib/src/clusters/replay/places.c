/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/replay/places.c - the open calls by cluster and by device, so that a row costs the calls
 * that it concerns, and not all tasks of the trace.
 *
 *      heads[VISITS]     cluster 5 -> task 9 <-> task 2       heads[RECLAIMS]   cluster 8 -> task 4
 *
 * A list is in no order: who needs one of several calls takes that of the task seen first.
 */
#include "clusters/replay/parts.h"

void sws_cluster_replay__move(struct sws_cluster_replay *self, struct task *task,
			      enum place_kind kind, uint32_t at)
{
	/* Devices have at least one cluster each, so their numbers fit into the same table. */
	uint32_t *heads = self->heads + (size_t)kind * self->clusters->n_clusters;
	const uint32_t number = (uint32_t)(task - self->tasks) + 1;
	struct place *place = &task->places[kind];

	if (place->at) {
		if (place->prev)
			self->tasks[place->prev - 1].places[kind].next = place->next;
		else
			heads[place->at - 1] = place->next;
		if (place->next)
			self->tasks[place->next - 1].places[kind].prev = place->prev;
	}
	*place = (struct place){ .at = at, .next = at ? heads[at - 1] : 0 };
	if (place->next)
		self->tasks[place->next - 1].places[kind].prev = number;
	if (at)
		heads[at - 1] = number;
}
