/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/replay/taken.c - what the model cannot know, and in which limits a row may say it. */
#include "clusters/replay/parts.h"

/* The largest number of slots that one CPU may move between a probe and the counter. */
#define IN_FLIGHT (INT64_C(1) << (SWS_CLUSTERS_ORDERS - 1))

/*
 * Lets the rows say whether swap is full if the counter is so near to half that the slots in flight
 * decide: the credit of other open calls, and one huge page for each other CPU, whose grant or free
 * has a row before it changes the counter.
 */
void sws_cluster_replay__hint(struct sws_cluster_replay *self, const struct task *task, bool full)
{
	struct sws_clusters *clusters = self->clusters;
	const int64_t twice = clusters->available * 2 - (int64_t)clusters->total;
	const int64_t margin =
		IN_FLIGHT * (clusters->cpus - 1) + self->wanted - replay_wanted(task);

	clusters->hint = twice <= 2 * margin && -twice <= 2 * margin ? full : -1;
}

/* Returns whether other tasks freed a slot of a range during the visit. */
static bool was_freed(const struct task *task, uint32_t slot, uint32_t n)
{
	if (task->n_freed > REPLAY_FREED)
		return true;
	for (uint32_t i = 0; i < task->n_freed; i++)
		if (task->freed[i][0] < slot + n && slot < task->freed[i][1])
			return true;
	return false;
}

/* Returns whether all ranges from the start of the visit up to a slot did not fit when tested. */
static bool none_before(const struct sws_cluster_replay *self, const struct task *task,
			uint64_t slot)
{
	const uint32_t n = UINT32_C(1) << task->call.order;
	struct sws_clusters_point range = { .op = SWS_CLUSTER_GRANT,
					    .device = task->call.device,
					    .n = n };

	for (uint64_t at = task->call.start; at + n <= slot; at += n) {
		range.slot = (uint32_t)at;
		if (sws_clusters_can_apply(self->clusters, &range) &&
		    !was_freed(task, range.slot, n))
			return false;
	}
	return true;
}

/* Returns the end of the visited cluster. */
static uint64_t cluster_end(const struct sws_cluster_replay *self, const struct task *task)
{
	return ((uint64_t)(task->call.start >> self->clusters->shift) + 1) << self->clusters->shift;
}

/* Returns whether a window without a try explains a grant in the visited cluster. */
bool sws_cluster_replay__explains_grant(const struct sws_cluster_replay *self,
					const struct task *task,
					const struct sws_clusters_point *theirs)
{
	const uint32_t n = UINT32_C(1) << task->call.order;
	const uint64_t end = cluster_end(self, task);
	const uint64_t first = end - self->clusters->size;

	return task->disturbed && theirs->device == task->call.device && theirs->n == n &&
	       theirs->slot >= first && theirs->slot + (uint64_t)n <= end &&
	       (theirs->slot - first) % n == 0 && none_before(self, task, theirs->slot);
}

/* Returns whether such a window explains a visit without a grant. */
bool sws_cluster_replay__explains_none(const struct sws_cluster_replay *self,
				       const struct task *task)
{
	return task->disturbed && none_before(self, task, cluster_end(self, task));
}

/*
 * Returns whether a list of devices that is behind the rows explains a turn:
 *
 *      task 8  grant                 of the last slot of device 0
 *      task 7  turn of device 0      it is still listed
 *      task 8  move to full          now it is not
 */
bool sws_cluster_replay__explains_turn(const struct sws_cluster_replay *self,
				       const struct sws_clusters_point *ours,
				       const struct sws_clusters_point *theirs)
{
	const struct device *devices = self->clusters->devices;

	if (self->listing[theirs->device].late && !devices[theirs->device].listed)
		return true;
	return ours->op == SWS_CLUSTER_TURN && self->listing[ours->device].late &&
	       devices[ours->device].listed;
}

/* Notes in a call that a row changed the cluster that it visits. */
static void disturb_visit(struct task *task, const struct sws_clusters_point *point, bool stays)
{
	task->over = task->over || stays;
	task->disturbed = true;
	if (point->op != SWS_CLUSTER_FREE)
		return;
	if (task->n_freed < REPLAY_FREED) {
		task->freed[task->n_freed][0] = point->slot;
		task->freed[task->n_freed][1] = point->slot + point->n;
	}
	task->n_freed += task->n_freed <= REPLAY_FREED;
}

/*
 * A row changes a cluster that another task visits: that one must have dropped the locks. If the
 * cluster is on the list where the visit would leave it, the visit may be over, and shows no move;
 * so may reclaim of a full cluster that was freed in part, and is picked from another list now.
 *
 *      task 7  visit                 of a cluster of frag[0], where nothing fits
 *      task 8  free, move            of it to nonfull[0]
 *      task 7  turn                  without a move back to frag[0]
 */
void sws_cluster_replay__disturb(struct sws_cluster_replay *self, const struct replay_row *row)
{
	const struct sws_clusters *clusters = self->clusters;
	const struct sws_clusters_point *point = &row->point;
	const struct device *device = &clusters->devices[point->device];
	const uint32_t index = cluster_of(clusters, device, point->slot);
	const bool stays = sws_clusters__target(clusters, device, index) == SWS_CLUSTER_LIST_NONE;

	for (struct task *task = replay_first(self, VISITS, index); task;
	     task = replay_at(self, task->places[VISITS].next))
		if (task->pid != row->pid)
			disturb_visit(task, point, stays);
	if (point->op != SWS_CLUSTER_PICKED)
		return;
	for (struct task *task = replay_first(self, RECLAIMS, index); task;
	     task = replay_at(self, task->places[RECLAIMS].next))
		task->over = task->over || task->pid != row->pid;
}
