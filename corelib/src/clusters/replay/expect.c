/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/replay/expect.c - a row, compared with the next point of its call.
 *
 *      next point                      row
 *      the same op, equal fields       equal
 *      the same op, other fields       explained, or a difference; the row's are applied
 *      one that rows may lack          is applied, and the point after it is compared
 *      another op                      explained: the point is refused; or the call is lost, and
 *                                      its rows are followed until its end
 */
#include "clusters/replay/parts.h"

/* Returns whether rows may lack a point. */
static bool is_optional(const struct sws_cluster_replay *self, uint32_t op)
{
	return op == SWS_CLUSTER_FULL_DONE || op == SWS_CLUSTER_VISITED || op == SWS_CLUSTER_TURN ||
	       op == SWS_CLUSTER_DISCARD || op == SWS_CLUSTER_DISCARDED ||
	       (op == SWS_CLUSTER_FULL && self->clusters->rules.isolates);
}

/* Returns the counters of rows of an op, and of those that are equal; NULL without counters. */
static uint64_t *counter_of(struct sws_cluster_replay_totals *totals, uint32_t op, uint64_t **equal)
{
	switch (op) {
	case SWS_CLUSTER_GRANT:
		*equal = &totals->grants_equal;
		return &totals->grants;
	case SWS_CLUSTER_VISIT:
		*equal = &totals->visits_equal;
		return &totals->visits;
	case SWS_CLUSTER_MOVE:
		*equal = &totals->moves_equal;
		return &totals->moves;
	case SWS_CLUSTER_PICKED:
		*equal = &totals->picks_equal;
		return &totals->picks;
	case SWS_CLUSTER_TURN:
		*equal = &totals->turns_equal;
		return &totals->turns;
	default:
		return NULL;
	}
}

/* Counts a row, and notes what kind of difference it is if it is not equal. */
static void judge(struct sws_cluster_replay *self, struct task *task, const struct replay_row *row,
		  enum sws_cluster_replay_fault fault)
{
	uint64_t *equal = NULL;
	uint64_t *all = counter_of(&self->totals, row->point.op, &equal);

	if (all) {
		(*all)++;
		*equal += !fault && !(task->misled && row->point.op == SWS_CLUSTER_GRANT);
	}
	if (row->point.op == SWS_CLUSTER_VISIT)
		task->misled = fault != SWS_CLUSTER_REPLAY_MATCHED;
	if (fault)
		sws_cluster_replay__blame(self, task, row, fault);
}

/* Applies a point, after which the next one is not known yet. */
void sws_cluster_replay__apply(struct sws_cluster_replay *self, struct task *task,
			       const struct sws_clusters_point *point)
{
	const struct sws_clusters_point copy = *point;

	sws_clusters_call_apply(self->clusters, &task->call, &copy);
	task->computed = false;
	task->over = false;
	task->turned = copy.op == SWS_CLUSTER_TURN;
	if (copy.op == SWS_CLUSTER_VISIT) {
		task->disturbed = false;
		task->n_freed = 0;
		task->opened = 0;
	}
	task->tried_full = task->tried_full && task->call.full != CLUSTERS_NONE;
}

/* Follows a row of a lost call: what it says happens, whatever the rules are. */
static void follow(struct sws_cluster_replay *self, struct task *task, const struct replay_row *row)
{
	struct sws_clusters *clusters = self->clusters;
	const struct sws_clusters_point *point = &row->point;
	struct device *device = &clusters->devices[point->device];
	const uint32_t index = cluster_of(clusters, device, point->slot);
	bool first = false;

	task->call.device = point->device;
	task->call.visiting = index;
	switch ((enum sws_cluster_op)point->op) {
	case SWS_CLUSTER_GRANT:
		task->call.cpu = task->call.now_cpu;
		sws_clusters__take(clusters, &task->call, point);
		sws_clusters__set_own(clusters, &task->call, point->device, task->call.next);
		break;
	case SWS_CLUSTER_PICKED:
		if (point->n)
			sws_clusters__unlink(clusters, device, index);
		break;
	case SWS_CLUSTER_MOVE:
		sws_clusters__append(clusters, device, index, point->list);
		break;
	case SWS_CLUSTER_TURN:
		if (device->listed) {
			sws_clusters__dequeue(clusters, point->device);
			sws_clusters__enqueue(clusters, point->device);
		}
		break;
	case SWS_CLUSTER_DISCARD:
		(void)sws_clusters_discard_begin(clusters, point->device, point->slot, &first);
		break;
	case SWS_CLUSTER_DISCARDED:
		sws_clusters__append(clusters, device, index, SWS_CLUSTER_LIST_FREE);
		break;
	default:
		break;
	}
	task->call.visiting = CLUSTERS_NONE;
}

/* The call does something else than the model: from here on its rows are followed. */
static void lose(struct sws_cluster_replay *self, struct task *task, const struct replay_row *row)
{
	judge(self, task, row, SWS_CLUSTER_REPLAY_OTHER_OP);
	sws_clusters__release(self->clusters, &task->call);
	task->lost = true;
	follow(self, task, row);
}

/* Returns whether another task changed the device since the last row of this call. */
static bool device_changed(const struct sws_cluster_replay *self, const struct task *task)
{
	for (uint32_t i = 0; i < self->clusters->n_devices; i++)
		if ((int32_t)(self->changed[i] - task->last) > 0)
			return true;
	return false;
}

/*
 * Returns whether the call may have left its own cluster: it was changed after the call row, and was
 * not usable when it was tested.
 */
static bool explains_refusal(const struct sws_cluster_replay *self, const struct task *task)
{
	const struct sws_clusters *clusters = self->clusters;
	const struct sws_clusters_point *ours = &task->call.point;
	const struct device *device = &clusters->devices[ours->device];
	const struct cluster *cluster =
		&clusters->clusters[cluster_of(clusters, device, ours->slot)];

	return clusters->rules.checks_own && task->call.back != FROM_LIST &&
	       (int32_t)(cluster->stamp - task->began) > 0;
}

/*
 * The device was full when the call had si->lock, and is not any more: the call goes on to the next
 * device at once.
 */
static bool skips_device(struct sws_cluster_replay *self, struct task *task, uint32_t row_op)
{
	if (row_op != SWS_CLUSTER_TURN || !task->turned || self->clusters->rules.isolates ||
	    (!task->moved && !device_changed(self, task)))
		return false;
	self->totals.taken_ends++;
	task->turned = false;
	task->computed = false;
	go(&task->call, TURN);
	return true;
}

/* Returns whether a point that the row contradicts did not happen, and the trace explains why. */
static bool refuses(struct sws_cluster_replay *self, struct task *task)
{
	const uint32_t op = task->call.point.op;
	const bool own = op == SWS_CLUSTER_VISIT && explains_refusal(self, task);
	const bool silent =
		op == SWS_CLUSTER_GRANT && sws_cluster_replay__explains_none(self, task);
	const bool over = op == SWS_CLUSTER_MOVE && task->over;

	if (!own && !silent && !over)
		return false;
	self->totals.taken_ends += own || over;
	self->totals.taken_silent += silent && !task->disturbed;
	sws_clusters_call_apply(self->clusters, &task->call, NULL);
	task->computed = false;
	return true;
}

/* Computes points until one has the op of the row; returns false if none has. */
static bool meet(struct sws_cluster_replay *self, struct task *task, const struct replay_row *row)
{
	const uint32_t op = row->point.op;

	for (;;) {
		if (!task->computed) {
			sws_cluster_replay__hint(self, task, op == SWS_CLUSTER_FULL);
			sws_clusters_call_next(self->clusters, &task->call);
			self->clusters->hint = -1;
			task->computed = true;
		}
		if (task->call.point.op == op)
			return true;
		if (is_optional(self, task->call.point.op))
			sws_cluster_replay__apply(self, task, &task->call.point);
		else if (!skips_device(self, task, op) && !refuses(self, task))
			return false;
	}
}

static bool equal_points(const struct sws_clusters_point *ours,
			 const struct sws_clusters_point *theirs)
{
	switch ((enum sws_cluster_op)ours->op) {
	case SWS_CLUSTER_VISIT:
		return ours->device == theirs->device && ours->slot == theirs->slot &&
		       ours->order == theirs->order;
	case SWS_CLUSTER_PICK:
		return ours->device == theirs->device && ours->list == theirs->list;
	case SWS_CLUSTER_PICKED:
		return ours->n == theirs->n && ours->slot == theirs->slot;
	case SWS_CLUSTER_MOVE:
		return ours->device == theirs->device && ours->slot == theirs->slot &&
		       ours->list == theirs->list;
	case SWS_CLUSTER_VISITED:
		return ours->slot == theirs->slot;
	case SWS_CLUSTER_TURN:
	case SWS_CLUSTER_FULL:
		return ours->device == theirs->device;
	case SWS_CLUSTER_GRANT:
		return ours->device == theirs->device && ours->slot == theirs->slot &&
		       ours->n == theirs->n;
	default:
		return true;
	}
}

/* A list may yield any of its clusters, or none, because others hold the locks before it. */
static bool explains_pick(const struct sws_cluster_replay *self, const struct task *task,
			  const struct sws_clusters_point *theirs)
{
	const struct sws_clusters *clusters = self->clusters;
	const struct device *device = &clusters->devices[theirs->device];

	if (!theirs->n)
		return true;
	return theirs->device == task->call.device &&
	       clusters->clusters[cluster_of(clusters, device, theirs->slot)].list == theirs->list;
}

/* Returns the fault of a row whose fields differ; MATCHED if the trace explains the difference. */
static enum sws_cluster_replay_fault difference(struct sws_cluster_replay *self,
						const struct task *task,
						const struct sws_clusters_point *theirs)
{
	switch ((enum sws_cluster_op)theirs->op) {
	case SWS_CLUSTER_VISIT:
		return SWS_CLUSTER_REPLAY_OTHER_VISIT;
	case SWS_CLUSTER_GRANT:
		return sws_cluster_replay__explains_grant(self, task, theirs)
			       ? SWS_CLUSTER_REPLAY_MATCHED
			       : SWS_CLUSTER_REPLAY_OTHER_GRANT;
	case SWS_CLUSTER_MOVE:
		return SWS_CLUSTER_REPLAY_OTHER_MOVE;
	case SWS_CLUSTER_PICK:
		return SWS_CLUSTER_REPLAY_OTHER_LIST;
	case SWS_CLUSTER_VISITED:
		return SWS_CLUSTER_REPLAY_OTHER_NEXT;
	default:
		return SWS_CLUSTER_REPLAY_OTHER_TURN;
	}
}

/*
 * A pick is equal if the list yields its first cluster that no call holds. Another one, or none, is
 * taken from the trace, and counts neither as equal nor as different.
 */
static void judge_pick(struct sws_cluster_replay *self, struct task *task,
		       const struct replay_row *row, bool equal)
{
	if (!equal && explains_pick(self, task, &row->point))
		self->totals.taken_yields++;
	else
		judge(self, task, row,
		      equal ? SWS_CLUSTER_REPLAY_MATCHED : SWS_CLUSTER_REPLAY_OTHER_PICK);
}

/* A turn of another device is taken from the trace if the list of devices was behind the rows. */
static void judge_turn(struct sws_cluster_replay *self, struct task *task,
		       const struct replay_row *row, bool equal)
{
	if (!equal && sws_cluster_replay__explains_turn(self, &task->call.point, &row->point))
		self->totals.taken_turns++;
	else
		judge(self, task, row,
		      equal ? SWS_CLUSTER_REPLAY_MATCHED : SWS_CLUSTER_REPLAY_OTHER_TURN);
}

/* The kernel returns its result after the locks; a cgroup may refuse the slots of a folio. */
static void judge_done(struct sws_cluster_replay *self, struct task *task,
		       const struct replay_row *row)
{
	const bool charged = !self->clusters->rules.isolates || row->point.n;

	if (charged && row->point.n != task->call.granted)
		judge(self, task, row, SWS_CLUSTER_REPLAY_OTHER_END);
	sws_cluster_replay__close(self, task);
}

/* The rows of a call after a done row: its end may have come while others changed the lists. */
static void end_call(struct sws_cluster_replay *self, struct task *task,
		     const struct replay_row *row)
{
	if (task->lost) {
		sws_cluster_replay__close(self, task);
		return;
	}
	if (task->in_window || !meet(self, task, row)) {
		if (task->in_window || task->moved || device_changed(self, task))
			self->totals.taken_ends++;
		else
			judge(self, task, row, SWS_CLUSTER_REPLAY_OTHER_END);
	}
	judge_done(self, task, row);
}

/* Computes the next point at once where si->lock is held, so that no other task can change it. */
static void look_ahead(struct sws_cluster_replay *self, struct task *task)
{
	sws_cluster_replay__hint(self, task, false);
	if (self->clusters->hint < 0) {
		sws_clusters_call_next(self->clusters, &task->call);
		task->computed = true;
	}
	self->clusters->hint = -1;
}

/* Compares a row of an open call with the next point, and applies the row. */
int sws_cluster_replay__expect(struct sws_cluster_replay *self, struct task *task,
			       const struct replay_row *row)
{
	const struct sws_clusters_point *theirs = &row->point;
	bool equal = false;

	if (theirs->op == SWS_CLUSTER_GRANT && !sws_clusters_can_apply(self->clusters, theirs))
		return replay_refuse(self, SWS_CLUSTER_REPLAY_TWICE, row->seq);
	if (theirs->op == SWS_CLUSTER_GRANT && task->call.granted >= task->call.wanted)
		return replay_refuse(self, SWS_CLUSTER_REPLAY_TOO_MANY, row->seq);
	/* Between a turn and si->lock a task may move; a search without a row has either CPU. */
	task->moved =
		!self->clusters->rules.isolates && task->turned && row->cpu != task->call.now_cpu;
	if (theirs->op == SWS_CLUSTER_DONE) {
		end_call(self, task, row);
		return SWS_OK;
	}
	/* A task may have moved to another CPU while it held no lock, also after its call row. */
	task->call.now_cpu = row->cpu;
	task->in_window = false;
	if (task->lost) {
		judge(self, task, row, SWS_CLUSTER_REPLAY_OTHER_OP);
		follow(self, task, row);
		return SWS_OK;
	}
	if (!meet(self, task, row) &&
	    !(theirs->op == SWS_CLUSTER_TURN &&
	      sws_cluster_replay__explains_turn(self, &task->call.point, theirs))) {
		lose(self, task, row);
		return SWS_OK;
	}
	equal = task->call.point.op == theirs->op && equal_points(&task->call.point, theirs);
	if (theirs->op == SWS_CLUSTER_PICKED)
		judge_pick(self, task, row, equal);
	else if (theirs->op == SWS_CLUSTER_TURN)
		judge_turn(self, task, row, equal);
	else
		judge(self, task, row,
		      equal ? SWS_CLUSTER_REPLAY_MATCHED : difference(self, task, theirs));
	sws_cluster_replay__apply(self, task, theirs);
	if (theirs->op == SWS_CLUSTER_VISITED && !self->clusters->rules.isolates)
		look_ahead(self, task);
	return SWS_OK;
}
