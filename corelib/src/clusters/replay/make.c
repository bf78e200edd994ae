/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/replay/make.c - a replay and its tasks; the first mismatch; names. */
#include "clusters/replay/parts.h"

int sws_cluster_replay_new(const struct sws_clusters_config *config,
			   struct sws_cluster_replay **out)
{
	struct sws_cluster_replay *self = NULL;
	struct sws_clusters *clusters = NULL;
	int error = sws_clusters_new(config, &clusters);

	*out = NULL;
	if (error)
		goto out;
	error = SWS_ERROR_NO_MEMORY;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		goto out;
	self->freeing = INT64_MIN;
	self->clusters = clusters;
	clusters = NULL;
	error = SWS_ERROR_NO_MEMORY;
	self->heads = sws_allocate_zeroed(&self->allocator, self->clusters->n_clusters,
					  PLACE_KINDS * sizeof(*self->heads));
	if (!self->heads)
		goto out;
	error = sws_index_map__init(&self->by_pid, &self->allocator);
	if (error)
		goto out;
	*out = self;
	self = NULL;
out:
	sws_cluster_replay_free(self);
	sws_clusters_free(clusters);
	return error;
}

void sws_cluster_replay_free(struct sws_cluster_replay *self)
{
	if (!self)
		return;
	sws_clusters_free(self->clusters);
	sws_index_map__clear(&self->by_pid);
	sws_release(&self->allocator, self->tasks);
	sws_release(&self->allocator, self->heads);
	sws_destroy(self);
}

static uint64_t key_of(int32_t pid)
{
	return (UINT64_C(1) << 32) | (uint32_t)pid;
}

/*
 * Returns the number of a task for a new pid: of one that is forgotten, because it has no call, or
 * the next one. A trace may have any number of tasks, of which few have a call at a time; the
 * memory of the others would only be cold.
 */
static uint32_t number_for_new(struct sws_cluster_replay *self)
{
	for (uint32_t i = 0; i < REPLAY_PROBES && self->n_tasks >= REPLAY_IDLE; i++) {
		self->hand = self->hand + 1 < self->n_tasks ? self->hand + 1 : 0;
		if (!self->tasks[self->hand].open && !self->tasks[self->hand].pending)
			return self->hand;
	}
	return self->n_tasks;
}

static int add_task(struct sws_cluster_replay *self, int32_t pid, uint32_t *index)
{
	const uint32_t number = number_for_new(self);
	int error = sws_reserve(&self->allocator, &self->tasks, &self->room, (size_t)number + 1,
				sizeof(*self->tasks));

	if (!error)
		error = sws_index_map__put(&self->by_pid, key_of(pid), number);
	if (error)
		return error;
	if (number < self->n_tasks)
		sws_index_map__remove(&self->by_pid, key_of(self->tasks[number].pid));
	else
		self->n_tasks++;
	self->tasks[number] = (struct task){ .pid = pid };
	*index = number;
	return SWS_OK;
}

/* Finds a task, or adds it. The pointer is valid until the next task is added. */
int sws_cluster_replay__task(struct sws_cluster_replay *self, int32_t pid, struct task **out)
{
	uint32_t index = 0;
	int error = SWS_OK;

	if (!sws_index_map__find(&self->by_pid, key_of(pid), &index))
		error = add_task(self, pid, &index);
	if (!error)
		*out = &self->tasks[index];
	return error;
}

/* Ends the call of a task. */
void sws_cluster_replay__close(struct sws_cluster_replay *self, struct task *task)
{
	if (!task->open)
		return;
	sws_clusters_call_abandon(self->clusters, &task->call);
	if (!task->call.worker) {
		self->totals.calls++;
		self->totals.calls_equal += !task->faulty;
	}
	task->open = false;
	self->n_open--;
	self->wanted -= replay_wanted(task);
}

static void copy_lists(const struct sws_cluster_replay *self,
		       struct sws_cluster_replay_mismatch *mismatch)
{
	for (uint32_t list = 0; list < SWS_CLUSTER_LISTS; list++) {
		mismatch->heads[list] = UINT32_MAX;
		sws_clusters_list_members(self->clusters, mismatch->device, list,
					  &mismatch->heads[list], 1);
		mismatch->lengths[list] =
			sws_clusters_list_length(self->clusters, mismatch->device, list);
	}
}

/* Notes a difference between a row and the next point of its call. */
void sws_cluster_replay__blame(struct sws_cluster_replay *self, struct task *task,
			       const struct replay_row *row, enum sws_cluster_replay_fault fault)
{
	struct sws_cluster_replay_mismatch *mismatch = &self->mismatch;

	task->faulty = true;
	if (self->has_mismatch)
		return;
	self->has_mismatch = true;
	*mismatch = (struct sws_cluster_replay_mismatch){
		.seq = row->seq,
		.call_seq = task->call_seq,
		.pid = row->pid,
		.cpu = task->open ? task->call.cpu : row->cpu,
		.fault = fault,
		.ours = task->pending ? task->move : task->call.point,
		.theirs = row->point,
		.device = row->point.device,
		.cluster = row->point.slot >> self->clusters->shift,
	};
	mismatch->list = sws_clusters_cluster(self->clusters, mismatch->device, mismatch->cluster,
					      &mismatch->count, &mismatch->order);
	mismatch->next = sws_clusters_next(self->clusters, mismatch->cpu, task->call.order,
					   mismatch->device);
	copy_lists(self, mismatch);
}

void sws_cluster_replay_totals(const struct sws_cluster_replay *self,
			       struct sws_cluster_replay_totals *out)
{
	*out = self->totals;
	out->taken_full = self->clusters->hinted;
}

uint32_t sws_cluster_replay_problem(const struct sws_cluster_replay *self, uint64_t *seq)
{
	*seq = self->problem_seq;
	return self->problem;
}

bool sws_cluster_replay_first_mismatch(const struct sws_cluster_replay *self,
				       struct sws_cluster_replay_mismatch *out)
{
	if (self->has_mismatch)
		*out = self->mismatch;
	return self->has_mismatch;
}

const struct sws_clusters *sws_cluster_replay_clusters(const struct sws_cluster_replay *self)
{
	return self->clusters;
}

uint64_t sws_cluster_replay_open(const struct sws_cluster_replay *self)
{
	return self->n_open;
}

const char *sws_cluster_replay_fault_name(uint32_t fault)
{
	static const char *const names[SWS_CLUSTER_REPLAY_FAULTS] = {
		[SWS_CLUSTER_REPLAY_MATCHED] = "matched",
		[SWS_CLUSTER_REPLAY_OTHER_OP] = "other operation",
		[SWS_CLUSTER_REPLAY_OTHER_VISIT] = "other visit",
		[SWS_CLUSTER_REPLAY_OTHER_GRANT] = "other slots",
		[SWS_CLUSTER_REPLAY_OTHER_MOVE] = "other list move",
		[SWS_CLUSTER_REPLAY_OTHER_LIST] = "other list",
		[SWS_CLUSTER_REPLAY_OTHER_PICK] = "other pick of the list",
		[SWS_CLUSTER_REPLAY_OTHER_TURN] = "other device",
		[SWS_CLUSTER_REPLAY_OTHER_TRY] = "other slot tried",
		[SWS_CLUSTER_REPLAY_OTHER_END] = "other end",
		[SWS_CLUSTER_REPLAY_OTHER_NEXT] = "other next slot",
	};

	return fault < SWS_CLUSTER_REPLAY_FAULTS ? names[fault] : NULL;
}

const char *sws_cluster_replay_problem_text(uint32_t problem)
{
	static const char *const texts[SWS_CLUSTER_REPLAY_PROBLEMS] = {
		[SWS_CLUSTER_REPLAY_NO_PROBLEM] = "has no problem",
		[SWS_CLUSTER_REPLAY_BAD_ORDER] = "is not in the order of seq",
		[SWS_CLUSTER_REPLAY_BAD_OP] =
			"has an operation that is unknown or of another kernel",
		[SWS_CLUSTER_REPLAY_BAD_CPU] = "has a CPU out of range",
		[SWS_CLUSTER_REPLAY_BAD_DEVICE] = "has an unknown device",
		[SWS_CLUSTER_REPLAY_BAD_SLOT] = "has a slot beyond the device",
		[SWS_CLUSTER_REPLAY_BAD_N] = "has no slots, or slots of two clusters",
		[SWS_CLUSTER_REPLAY_BAD_ORDER_OF_FOLIO] = "has an order above 9",
		[SWS_CLUSTER_REPLAY_BAD_LIST] = "has an unknown list",
		[SWS_CLUSTER_REPLAY_NO_CALL] = "belongs to no call of its task",
		[SWS_CLUSTER_REPLAY_TWICE] = "grants a slot that is in use",
		[SWS_CLUSTER_REPLAY_NOT_IN_USE] =
			"frees a slot that is free, or was in use before the first row",
		[SWS_CLUSTER_REPLAY_TOO_MANY] = "grants more than its call wants",
	};

	return problem < SWS_CLUSTER_REPLAY_PROBLEMS ? texts[problem] : NULL;
}
