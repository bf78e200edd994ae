/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/replay/replay.c - the rows: their allowed values, and the effect of those that need no
 * call: frees, the list moves after them, discards by a worker, and tries of other code.
 */
#include "clusters/replay/places.h"

#define BIT(op) (UINT32_C(1) << (op))

/* The operations of rows: of both kinds of rules, with lists under si->lock, and with isolates. */
#define OPS_BOTH                                                                                   \
	(BIT(SWS_CLUSTER_CALL) | BIT(SWS_CLUSTER_VISIT) | BIT(SWS_CLUSTER_GRANT) |                 \
	 BIT(SWS_CLUSTER_DONE) | BIT(SWS_CLUSTER_FREE) | BIT(SWS_CLUSTER_TRY) |                    \
	 BIT(SWS_CLUSTER_FULL) | BIT(SWS_CLUSTER_FULL_DONE) | BIT(SWS_CLUSTER_WINDOW) |            \
	 BIT(SWS_CLUSTER_RELOCK) | BIT(SWS_CLUSTER_DISCARD) | BIT(SWS_CLUSTER_TURN))
#define OPS_LISTED   (BIT(SWS_CLUSTER_DISCARDED) | BIT(SWS_CLUSTER_VISITED))
#define OPS_ISOLATES (BIT(SWS_CLUSTER_PICK) | BIT(SWS_CLUSTER_PICKED) | BIT(SWS_CLUSTER_MOVE))
/* Operations with a slot that has to exist. */
#define OPS_WITH_SLOT                                                                              \
	(BIT(SWS_CLUSTER_VISIT) | BIT(SWS_CLUSTER_GRANT) | BIT(SWS_CLUSTER_FREE) |                 \
	 BIT(SWS_CLUSTER_TRY) | BIT(SWS_CLUSTER_PICKED) | BIT(SWS_CLUSTER_MOVE) |                  \
	 BIT(SWS_CLUSTER_DISCARD) | BIT(SWS_CLUSTER_DISCARDED))

static bool has_op(uint32_t op, uint32_t ops)
{
	return BIT(op) & ops;
}

/* Returns the problem of the fields of a row. */
static enum sws_cluster_replay_problem check_row(const struct sws_cluster_replay *self,
						 const struct replay_row *row)
{
	const struct sws_clusters *clusters = self->clusters;
	const struct sws_clusters_point *point = &row->point;
	const uint32_t ops = OPS_BOTH | (clusters->rules.isolates ? OPS_ISOLATES : OPS_LISTED);
	const bool run = point->op == SWS_CLUSTER_GRANT || point->op == SWS_CLUSTER_FREE;
	uint32_t slots = 0;

	if (self->begun && row->seq <= self->seq)
		return SWS_CLUSTER_REPLAY_BAD_ORDER;
	if (point->op >= SWS_CLUSTER_OPS || !has_op(point->op, ops))
		return SWS_CLUSTER_REPLAY_BAD_OP;
	if (row->cpu >= clusters->cpus)
		return SWS_CLUSTER_REPLAY_BAD_CPU;
	if (point->device >= clusters->n_devices)
		return SWS_CLUSTER_REPLAY_BAD_DEVICE;
	if (point->order >= SWS_CLUSTERS_ORDERS)
		return SWS_CLUSTER_REPLAY_BAD_ORDER_OF_FOLIO;
	if (point->list >= SWS_CLUSTER_LISTS)
		return SWS_CLUSTER_REPLAY_BAD_LIST;
	slots = clusters->devices[point->device].config.slots;
	/* With visits that end with their cluster, a CPU may go on behind the end of the device. */
	if (point->op == SWS_CLUSTER_VISIT)
		slots = (slots + clusters->size - 1) >> clusters->shift << clusters->shift;
	if (has_op(point->op, OPS_WITH_SLOT) && point->slot >= slots)
		return SWS_CLUSTER_REPLAY_BAD_SLOT;
	if (run &&
	    (!point->n || point->n > clusters->size ||
	     point->slot >> clusters->shift != (point->slot + point->n - 1) >> clusters->shift))
		return SWS_CLUSTER_REPLAY_BAD_N;
	if (run && point->n > slots - point->slot)
		return SWS_CLUSTER_REPLAY_BAD_SLOT;
	return SWS_CLUSTER_REPLAY_NO_PROBLEM;
}

/* Begins a call; one of this task that is still open ends without a row of its end. */
static int begin_call(struct sws_cluster_replay *self, struct task *task,
		      const struct replay_row *row)
{
	struct replay_row end = *row;
	int error = SWS_OK;

	if (task->open) {
		end.point = (struct sws_clusters_point){ .op = SWS_CLUSTER_DONE,
							 .n = task->call.granted };
		error = sws_cluster_replay__expect(self, task, &end);
	}
	if (!error && row->point.op == SWS_CLUSTER_FULL)
		error = sws_clusters_worker_begin(self->clusters, row->point.device, &task->call);
	else if (!error)
		error = sws_clusters_call_begin(self->clusters, row->cpu, row->point.order,
						row->point.n, &task->call);
	if (error)
		return replay_refuse(self, SWS_CLUSTER_REPLAY_BAD_N, row->seq);
	task->open = true;
	self->n_open++;
	self->wanted += replay_wanted(task);
	task->lost = false;
	task->faulty = false;
	task->computed = false;
	task->in_window = false;
	task->disturbed = false;
	task->over = false;
	task->turned = false;
	task->tried_full = false;
	task->call_seq = row->seq;
	task->began = self->row;
	return SWS_OK;
}

/* Returns the cluster that a row changes, and notes the row. */
static struct cluster *stamped(struct sws_cluster_replay *self, const struct replay_row *row)
{
	struct sws_clusters *clusters = self->clusters;
	struct cluster *cluster = &clusters->clusters[cluster_of(
		clusters, &clusters->devices[row->point.device], row->point.slot)];

	cluster->stamp = self->row;
	return cluster;
}

/* Notes that a row changed a cluster, and reports it to the calls that visit it. */
static void note_change(struct sws_cluster_replay *self, const struct replay_row *row)
{
	self->changed[row->point.device] = self->row;
	if (stamped(self, row)->held)
		sws_cluster_replay__disturb(self, row);
}

/*
 * Notes that a row takes a cluster off its list. A full or a free one is usable from here on; a CPU
 * whose own cluster it is may have left it before.
 */
static void note_pick(struct sws_cluster_replay *self, const struct replay_row *row)
{
	if (!row->point.n)
		return;
	if (row->point.list == SWS_CLUSTER_LIST_FREE || row->point.list == SWS_CLUSTER_LIST_FULL)
		(void)stamped(self, row);
	sws_cluster_replay__disturb(self, row);
}

/* Frees slots; with isolates the cluster's move is the next row of this task. */
static int free_slots(struct sws_cluster_replay *self, const struct replay_row *row)
{
	const struct sws_clusters_point *point = &row->point;
	const bool same_hold = self->freeing == row->pid;
	uint32_t list = SWS_CLUSTER_LIST_NONE;
	struct task *task = NULL;
	int error = SWS_OK;

	note_change(self, row);
	self->totals.frees++;
	error = sws_clusters_free_begin(self->clusters, point->device, point->slot, point->n,
					same_hold, &list);
	if (error)
		return replay_refuse(self, SWS_CLUSTER_REPLAY_NOT_IN_USE, row->seq);
	self->freeing = row->pid;
	if (list == SWS_CLUSTER_LIST_NONE)
		return SWS_OK;
	error = sws_cluster_replay__task(self, row->pid, &task);
	if (error)
		return error;
	task->pending = true;
	task->move = (struct sws_clusters_point){
		.op = SWS_CLUSTER_MOVE,
		.device = point->device,
		.list = (uint8_t)list,
		.slot = point->slot >> self->clusters->shift << self->clusters->shift,
	};
	return SWS_OK;
}

/*
 * The row after a free that moves the cluster: its move. If it is another row, the kernel did not
 * move the cluster, or the trace lacks the row.
 */
static void settle_move(struct sws_cluster_replay *self, struct task *task,
			const struct replay_row *row)
{
	const struct sws_clusters_point *ours = &task->move;
	const bool moves = row->point.op == SWS_CLUSTER_MOVE;
	const struct sws_clusters_point *theirs = moves ? &row->point : ours;
	const bool equal = moves && ours->device == theirs->device && ours->slot == theirs->slot &&
			   ours->list == theirs->list;

	self->totals.moves++;
	self->totals.moves_equal += equal;
	if (!equal)
		sws_cluster_replay__blame(self, task, row, SWS_CLUSTER_REPLAY_OTHER_MOVE);
	task->pending = false;
	self->clusters->work.si_lock_free++;
	(void)sws_clusters_move(self->clusters, theirs->device, theirs->slot, theirs->list);
}

/* The worker, or code that is not modelled: rows of a task without a call. */
static int row_without_call(struct sws_cluster_replay *self, struct task *task,
			    const struct replay_row *row)
{
	const struct sws_clusters_point *point = &row->point;
	const struct device *device = &self->clusters->devices[point->device];
	const struct cluster *cluster =
		&self->clusters->clusters[cluster_of(self->clusters, device, point->slot)];
	bool first = false;

	switch ((enum sws_cluster_op)point->op) {
	case SWS_CLUSTER_FULL:
		if (begin_call(self, task, row))
			return SWS_ERROR_BAD_ARGUMENT;
		return sws_cluster_replay__expect(self, task, row);
	case SWS_CLUSTER_DISCARD:
		(void)sws_clusters_discard_begin(self->clusters, point->device, point->slot,
						 &first);
		self->totals.taken_discards += first;
		return SWS_OK;
	case SWS_CLUSTER_MOVE:
	case SWS_CLUSTER_DISCARDED:
		if (cluster->list != SWS_CLUSTER_LIST_DISCARD)
			return replay_refuse(self, SWS_CLUSTER_REPLAY_NO_CALL, row->seq);
		self->totals.moves += point->op == SWS_CLUSTER_MOVE;
		self->totals.moves_equal +=
			point->op == SWS_CLUSTER_MOVE && point->list == SWS_CLUSTER_LIST_FREE;
		return sws_clusters_move(self->clusters, point->device, point->slot,
					 point->op == SWS_CLUSTER_MOVE ? point->list
								       : SWS_CLUSTER_LIST_FREE);
	case SWS_CLUSTER_TRY:
	case SWS_CLUSTER_DONE:
	case SWS_CLUSTER_FULL_DONE:
		return SWS_OK;
	default:
		return replay_refuse(self, SWS_CLUSTER_REPLAY_NO_CALL, row->seq);
	}
}

/* A row of a task with an open call. */
static int row_of_call(struct sws_cluster_replay *self, struct task *task,
		       const struct replay_row *row)
{
	const bool worker_ends = row->point.op == SWS_CLUSTER_FULL_DONE && task->call.worker;
	int error = SWS_OK;

	switch ((enum sws_cluster_op)row->point.op) {
	case SWS_CLUSTER_WINDOW:
		sws_cluster_replay__window(self, task);
		return SWS_OK;
	case SWS_CLUSTER_TRY:
		sws_cluster_replay__try(self, task, row);
		return SWS_OK;
	case SWS_CLUSTER_RELOCK:
		sws_cluster_replay__relock(self, task);
		return SWS_OK;
	case SWS_CLUSTER_GRANT:
	case SWS_CLUSTER_MOVE:
		note_change(self, row);
		break;
	case SWS_CLUSTER_PICKED:
		note_pick(self, row);
		break;
	default:
		break;
	}
	error = sws_cluster_replay__expect(self, task, row);
	if (!error && worker_ends)
		sws_cluster_replay__close(self, task);
	return error;
}

/* The task of a row has done what its row before began: the list of devices is as the slots are. */
static void settle_listing(struct sws_cluster_replay *self, int32_t pid)
{
	for (uint32_t i = 0; i < self->clusters->n_devices; i++)
		if (self->listing[i].late && self->listing[i].pid == pid) {
			self->listing[i].late = false;
			self->n_late--;
		}
}

/* A row took the last slot of its device, or freed the first. */
static void note_listing(struct sws_cluster_replay *self, const struct replay_row *row)
{
	self->n_late += !self->listing[row->point.device].late;
	self->listing[row->point.device].late = true;
	self->listing[row->point.device].pid = row->pid;
}

static int take_row(struct sws_cluster_replay *self, const struct replay_row *row)
{
	struct task *task = NULL;
	int error = SWS_OK;

	if (row->point.op == SWS_CLUSTER_FREE && !self->clusters->rules.isolates)
		return free_slots(self, row);
	error = sws_cluster_replay__task(self, row->pid, &task);
	if (error)
		return error;
	if (task->pending) {
		settle_move(self, task, row);
		if (row->point.op == SWS_CLUSTER_MOVE)
			return SWS_OK;
	}
	if (row->point.op == SWS_CLUSTER_FREE)
		return free_slots(self, row);
	if (row->point.op == SWS_CLUSTER_CALL)
		error = begin_call(self, task, row);
	else if (!task->open)
		error = row_without_call(self, task, row);
	else
		error = row_of_call(self, task, row);
	task->last = self->row;
	replay_place(self, task);
	return error;
}

int sws_cluster_replay_feed(struct sws_cluster_replay *self,
			    const struct sws_cluster_replay_rows *rows, uint64_t count)
{
	int error = self->problem ? SWS_ERROR_BAD_ARGUMENT : SWS_OK;
	uint32_t listed = 0;

	for (uint64_t i = 0; !error && i < count; i++) {
		const struct replay_row row = {
			.seq = rows->seq[i],
			.cpu = rows->cpu[i],
			.pid = rows->pid[i],
			.point = { .op = rows->op[i],
				   .device = rows->device[i],
				   .order = rows->order[i],
				   .list = rows->list[i],
				   .slot = rows->slot[i],
				   .n = rows->n[i] },
		};
		const enum sws_cluster_replay_problem problem = check_row(self, &row);

		if (problem)
			return replay_refuse(self, problem, row.seq);
		self->seq = row.seq;
		self->begun = true;
		self->row++;
		self->totals.rows++;
		if (row.point.op == SWS_CLUSTER_GRANT)
			self->totals.slots += row.point.n;
		if (self->n_late)
			settle_listing(self, row.pid);
		listed = self->clusters->n_turn;
		error = take_row(self, &row);
		if (self->clusters->n_turn != listed)
			note_listing(self, &row);
		if (row.point.op != SWS_CLUSTER_FREE)
			self->freeing = INT64_MIN;
	}
	return error;
}
