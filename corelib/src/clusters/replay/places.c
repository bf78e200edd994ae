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

static void move(struct sws_cluster_replay *self, struct task *task, enum place_kind kind,
		 uint32_t at)
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

/* Lists a task where its call is now; called after each row of the task. */
void sws_cluster_replay__place(struct sws_cluster_replay *self, struct task *task)
{
	const struct sws_clusters_call *call = &task->call;
	const bool works = task->open && call->worker && call->left;
	/* CLUSTERS_NONE + 1 is 0. */
	const uint32_t at[PLACE_KINDS] = {
		[VISITS] = task->open ? call->visiting + 1 : 0,
		[RECLAIMS] = task->open ? call->full + 1 : 0,
		[WORKS] = works ? call->device + UINT32_C(1) : 0,
	};

	for (uint32_t kind = 0; kind < PLACE_KINDS; kind++)
		if (task->places[kind].at != at[kind])
			move(self, task, (enum place_kind)kind, at[kind]);
}
