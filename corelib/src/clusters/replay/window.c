/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/replay/window.c - the rows of windows in visits, and of reclaim of full clusters. */
#include "clusters/replay/parts.h"

#include <string.h>

/*
 * The rows do not say which slots only the cache uses. A row that tries a slot says so of this one,
 * and of the others in use in its range:
 *
 *      order 2   map  # # . . | . # # .       try of 5: 5 and 6 are cached for this test;
 *                     0         4             the model must come to 4 as the first possible range
 */
static void find_window(struct sws_cluster_replay *self, struct task *task, uint32_t from,
			uint32_t n)
{
	struct sws_clusters *clusters = self->clusters;
	uint8_t *map = clusters->devices[task->call.device].map + from;
	uint8_t before[SWS_CLUSTERS_SIZE_MAX];

	memcpy(before, map, n);
	for (uint32_t at = 0; at < n; at++)
		if (map[at] == SLOT_USED)
			map[at] = SLOT_CACHED;
	clusters->n_cached++;
	sws_cluster_replay__hint(self, task, true);
	sws_clusters_call_next(clusters, &task->call);
	clusters->n_cached--;
	memcpy(map, before, n);
}

/* A slot of the visited cluster is tried. */
static void try_in_visit(struct sws_cluster_replay *self, struct task *task,
			 const struct replay_row *row)
{
	const struct sws_clusters *clusters = self->clusters;
	const uint32_t n = UINT32_C(1) << task->call.order;
	const uint32_t slot = row->point.slot;
	const uint32_t from = slot - (slot & (n - 1));
	const bool here = row->point.device == task->call.device &&
			  cluster_of(clusters, &clusters->devices[row->point.device], slot) ==
				  task->call.visiting;

	if (task->in_window && slot >= task->from && slot < task->to)
		return;
	if (here && !task->computed)
		find_window(self, task, from, n);
	if (!here || task->computed || task->call.point.op != SWS_CLUSTER_WINDOW ||
	    task->call.point.slot != from) {
		sws_cluster_replay__blame(self, task, row, SWS_CLUSTER_REPLAY_OTHER_TRY);
		task->lost = true;
		sws_clusters__release(self->clusters, &task->call);
		return;
	}
	sws_cluster_replay__apply(self, task, &task->call.point);
	self->totals.taken_windows++;
	task->in_window = true;
	task->from = from;
	task->to = from + n;
}

/*
 * A slot of a full cluster is tried. While si->lock protects the lists, the first try shows which
 * cluster the kernel took; a worker takes several, one after the other.
 */
static void try_in_full(struct sws_cluster_replay *self, struct task *task,
			const struct replay_row *row)
{
	struct sws_clusters *clusters = self->clusters;
	const uint32_t index =
		cluster_of(clusters, &clusters->devices[row->point.device], row->point.slot);

	if (task->tried_full && index == task->call.full)
		return;
	while (!clusters->rules.isolates && index != task->call.full && task->call.left &&
	       task->call.full != CLUSTERS_NONE)
		sws_clusters__rotate_full(clusters, &task->call);
	task->tried_full = true;
	self->totals.picks += !clusters->rules.isolates;
	if (row->point.device == task->call.device && index == task->call.full)
		self->totals.picks_equal += !clusters->rules.isolates;
	else
		sws_cluster_replay__blame(self, task, row, SWS_CLUSTER_REPLAY_OTHER_TRY);
}

void sws_cluster_replay__try(struct sws_cluster_replay *self, struct task *task,
			     const struct replay_row *row)
{
	if (task->lost)
		return;
	if (task->call.full != CLUSTERS_NONE)
		try_in_full(self, task, row);
	else
		try_in_visit(self, task, row);
}

/*
 * The locks are held again, so what the call does next follows from the state of this moment. If no
 * slot was tried, the range is not known: the next row says more.
 */
void sws_cluster_replay__relock(struct sws_cluster_replay *self, struct task *task)
{
	if (task->lost)
		return;
	if (!task->in_window) {
		task->disturbed = true;
		self->totals.taken_silent++;
		return;
	}
	task->in_window = false;
	self->clusters->hint = -1;
	sws_clusters_call_next(self->clusters, &task->call);
	task->computed = true;
}
