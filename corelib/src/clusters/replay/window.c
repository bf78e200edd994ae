/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/replay/window.c - the rows of windows in visits, and of reclaim of full clusters. */
#include "clusters/replay/places.h"

#include <string.h>

/*
 * The rows do not say which slots only the cache uses. A row that tries a slot says so of this one,
 * and of the others in use in its range:
 *
 *      order 2   map  # # . . | . # # .       try of 5: 5 and 6 are cached for this test;
 *                     0         4             the model must come to 4 as the first possible range
 *
 * What others freed since the window opened was in use when the visit tested it.
 */
static void find_window(struct sws_cluster_replay *self, struct task *task, uint32_t from,
			uint32_t n)
{
	struct sws_clusters *clusters = self->clusters;
	const struct device *device = &clusters->devices[task->call.device];
	const uint32_t start = slot_of(clusters, device, task->call.visiting);
	uint8_t *map = device->map + start;
	uint8_t before[SWS_CLUSTERS_SIZE_MAX];

	memcpy(before, map, clusters->size);
	for (uint32_t i = task->opened; i < task->n_freed && i < REPLAY_FREED; i++)
		for (uint32_t slot = task->freed[i][0]; slot < task->freed[i][1]; slot++)
			map[slot - start] = SLOT_USED;
	for (uint32_t at = from - start; at < from - start + n; at++)
		if (map[at] == SLOT_USED)
			map[at] = SLOT_CACHED;
	clusters->n_cached++;
	sws_cluster_replay__hint(self, task, true);
	sws_clusters_call_next(clusters, &task->call);
	clusters->n_cached--;
	memcpy(map, before, clusters->size);
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

/* Gives the full cluster of a call that has tried nothing in it to a worker. */
static bool take_over(struct sws_cluster_replay *self, struct task *worker, uint32_t index)
{
	struct task *found = NULL;

	if (!worker->call.worker)
		return false;
	for (struct task *other = replay_first(self, RECLAIMS, index); other;
	     other = replay_at(self, other->places[RECLAIMS].next))
		if (other != worker && !other->tried_full && (!found || other < found))
			found = other;
	if (!found)
		return false;
	sws_clusters__rotate_full(self->clusters, &found->call);
	replay_place(self, found);
	worker->call.full = index;
	worker->call.left -= worker->call.left > 0;
	return true;
}

/* Returns the worker that reclaims the full clusters of a device, NULL for none. */
static struct task *worker_of(const struct sws_cluster_replay *self, uint32_t device)
{
	struct task *found = NULL;

	for (struct task *worker = replay_first(self, WORKS, device); worker;
	     worker = replay_at(self, worker->places[WORKS].next))
		found = !found || worker < found ? worker : found;
	return found;
}

/*
 * Finds out which full cluster a task took while si->lock protects the lists. A worker takes many,
 * and only those show a row that have a cached slot. Each goes to the tail, whichever task takes it:
 *
 *      full   5 -> 8 -> 2      worker takes 5 (no row), then a call 8; its try of 8 is the first row
 *      full   2 -> 5 -> 8      that says so: 5 was the worker's
 */
static bool finds_full(struct sws_cluster_replay *self, struct task *task, uint32_t index)
{
	struct sws_clusters *clusters = self->clusters;
	struct sws_clusters_call *call = &task->call;
	struct task *worker = NULL;

	if (index == call->full || take_over(self, task, index))
		return true;
	while (call->worker && index != call->full && call->left && call->full != CLUSTERS_NONE)
		sws_clusters__rotate_full(clusters, call);
	while (!call->worker && !task->tried_full && index != call->full &&
	       (worker = worker_of(self, call->device))) {
		worker->call.left--;
		replay_place(self, worker);
		sws_clusters__rotate_full(clusters, call);
		self->totals.taken_yields++;
	}
	return index == call->full;
}

/* A slot of a full cluster is tried; the first one shows which cluster the kernel took. */
static void try_in_full(struct sws_cluster_replay *self, struct task *task,
			const struct replay_row *row)
{
	struct sws_clusters *clusters = self->clusters;
	const bool here = row->point.device == task->call.device;
	const uint32_t index =
		cluster_of(clusters, &clusters->devices[row->point.device], row->point.slot);
	const bool listed = !clusters->rules.isolates;
	bool equal = here && index == task->call.full;

	if (task->tried_full && equal)
		return;
	equal = equal || (here && listed && finds_full(self, task, index));
	task->tried_full = true;
	self->totals.picks += listed;
	self->totals.picks_equal += listed && equal;
	if (!equal)
		sws_cluster_replay__blame(self, task, row, SWS_CLUSTER_REPLAY_OTHER_TRY);
}

/*
 * The locks of a visit are about to be dropped: it has passed the first test of sws_clusters__scan
 * by now. Before its row that tries a slot, others may fill the cluster:
 *
 *      task 7  visit, window       511 of 512 slots in use: a page may fit
 *      task 8  grant               512
 *      task 7  try                 of a slot that the visit found before
 */
void sws_cluster_replay__window(struct sws_cluster_replay *self, struct task *task)
{
	struct sws_clusters_call *call = &task->call;
	const uint32_t n = UINT32_C(1) << call->order;
	const struct cluster *cluster = NULL;

	task->opened = task->n_freed;
	if (task->lost || task->computed || call->visiting == CLUSTERS_NONE)
		return;
	cluster = &self->clusters->clusters[call->visiting];
	if (cluster->count + n <= self->clusters->size && cluster->list != SWS_CLUSTER_LIST_DISCARD)
		call->scanned = true;
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
 * The locks are held again, and the range of the window is tested now; the rest of the cluster when
 * the next row shows whether another slot is tried. If no slot was tried, the range is not known.
 */
void sws_cluster_replay__relock(struct sws_cluster_replay *self, struct task *task)
{
	task->opened = task->n_freed;
	task->over = false;
	if (task->lost)
		return;
	if (!task->in_window) {
		task->disturbed = true;
		self->totals.taken_silent++;
		return;
	}
	task->in_window = false;
	sws_clusters__relock(self->clusters, &task->call);
	task->computed = has_point(&task->call);
	go(&task->call, SCAN);
}
