/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/what_if/what_if.c - the rows: requests, grants of the trace, and frees. */
#include "clusters/what_if/parts.h"

#include <string.h>

/* One row, as far as it matters here. */
struct what_if_row {
	uint64_t seq;
	uint32_t cpu;
	int32_t pid;
	uint32_t op;
	uint32_t device;
	uint32_t order;
	uint32_t slot;
	uint32_t n;
};

static int refuse(struct sws_cluster_what_if *self, enum sws_cluster_replay_problem problem,
		  uint64_t seq)
{
	self->problem = problem;
	self->problem_seq = seq;
	return SWS_ERROR_BAD_ARGUMENT;
}

static enum sws_cluster_replay_problem check_row(const struct sws_cluster_what_if *self,
						 const struct what_if_row *row)
{
	const struct sws_clusters *clusters = self->clusters;
	const bool run = row->op == SWS_CLUSTER_GRANT || row->op == SWS_CLUSTER_FREE;
	uint32_t slots = 0;

	if (self->begun && row->seq <= self->seq)
		return SWS_CLUSTER_REPLAY_BAD_ORDER;
	if (row->op >= SWS_CLUSTER_OPS)
		return SWS_CLUSTER_REPLAY_BAD_OP;
	if (row->cpu >= clusters->cpus)
		return SWS_CLUSTER_REPLAY_BAD_CPU;
	if (row->device >= clusters->n_devices)
		return SWS_CLUSTER_REPLAY_BAD_DEVICE;
	if (row->order >= SWS_CLUSTERS_ORDERS)
		return SWS_CLUSTER_REPLAY_BAD_ORDER_OF_FOLIO;
	slots = self->trace_slots[row->device];
	if (run && (!row->n || row->n > SWS_CLUSTERS_SIZE_MAX))
		return SWS_CLUSTER_REPLAY_BAD_N;
	if (run && (row->slot >= slots || row->n > slots - row->slot))
		return SWS_CLUSTER_REPLAY_BAD_SLOT;
	return SWS_CLUSTER_REPLAY_NO_PROBLEM;
}

/* Finds the request of a task, or adds it; returns NULL without memory. */
static struct request *request_of(struct sws_cluster_what_if *self, int32_t pid)
{
	const uint64_t key = (UINT64_C(1) << 32) | (uint32_t)pid;
	uint32_t index = 0;

	if (!sws_index_map__find(&self->by_pid, key, &index)) {
		index = self->n_requests;
		if (sws_reserve(&self->allocator, &self->requests, &self->room, (size_t)index + 1,
				sizeof(*self->requests)) ||
		    sws_index_map__put(&self->by_pid, key, index))
			return NULL;
		self->requests[index] = (struct request){ 0 };
		self->n_requests++;
	}
	return &self->requests[index];
}

int sws_cluster_what_if_assign(struct sws_cluster_what_if *self, int32_t pid, uint32_t owner)
{
	struct request *request = NULL;

	if (!self->clusters->rules.own_by_task || owner >= self->clusters->owners)
		return SWS_ERROR_BAD_ARGUMENT;
	request = request_of(self, pid);
	if (!request)
		return SWS_ERROR_NO_MEMORY;
	request->owner = owner;
	return SWS_OK;
}

/* Ends a request: runs that the trace did not grant are kept for single slots. */
static void end_request(struct sws_cluster_what_if *self, struct request *request)
{
	if (!request->open)
		return;
	self->totals.granted_in_trace[request->order] += request->granted > 0;
	while (request->used < request->n_runs)
		sws_cluster_what_if__keep(self, request->cpu, &request->runs[request->used++]);
	request->open = false;
}

static int begin_request(struct sws_cluster_what_if *self, struct request *request,
			 const struct what_if_row *row)
{
	if (!row->n)
		return refuse(self, SWS_CLUSTER_REPLAY_BAD_N, row->seq);
	end_request(self, request);
	request->open = true;
	request->cpu = row->cpu;
	request->order = row->order;
	request->used = 0;
	request->granted = 0;
	sws_cluster_what_if__request(self, request,
				     row->n < SWS_CLUSTERS_BATCH ? row->n : SWS_CLUSTERS_BATCH);
	self->totals.requests[row->order]++;
	self->totals.granted[row->order] += request->n_runs > 0;
	return SWS_OK;
}

/* Notes which slots take the place of those of the trace, and whose they are. */
static void set_slots(struct sws_cluster_what_if *self, uint32_t first, struct request *request,
		      const struct run *run)
{
	const uint32_t slot = self->bases[run->device] + run->slot;

	for (uint32_t i = 0; i < run->n; i++) {
		self->slots[first + i] = 1 + slot + i;
		self->tasks[slot + i] = 1 + (uint32_t)(request - self->requests);
	}
	self->totals.runs++;
	self->totals.runs_in_sequence += request->end == 1 + slot;
	request->end = 1 + slot + run->n;
}

/* The trace grants a run: one of the request's, or single slots if the rules refused. */
static int grant(struct sws_cluster_what_if *self, struct request *request,
		 const struct what_if_row *row)
{
	const uint32_t first = self->trace_bases[row->device] + row->slot;

	if (!request->open)
		return refuse(self, SWS_CLUSTER_REPLAY_NO_CALL, row->seq);
	if (row->n != UINT32_C(1) << request->order)
		return refuse(self, SWS_CLUSTER_REPLAY_BAD_N, row->seq);
	for (uint32_t i = 0; i < row->n; i++)
		if (self->slots[first + i])
			return refuse(self, SWS_CLUSTER_REPLAY_TWICE, row->seq);
	request->granted++;
	if (request->used < request->n_runs) {
		set_slots(self, first, request, &request->runs[request->used++]);
		return SWS_OK;
	}
	for (uint32_t i = 0; i < row->n; i++) {
		struct run run = { 0 };

		if (!sws_cluster_what_if__single(self, request, &run)) {
			self->totals.missing_slots++;
			self->slots[first + i] = WHAT_IF_MISSING;
			continue;
		}
		self->totals.single_slots++;
		set_slots(self, first + i, request, &run);
	}
	return SWS_OK;
}

/* Returns the device and slot of a number that counts over all devices. */
static struct run run_at(const struct sws_cluster_what_if *self, uint32_t number)
{
	uint32_t device = self->clusters->n_devices - 1;

	while (self->bases[device] > number)
		device--;
	return (struct run){ .device = (uint8_t)device,
			     .slot = number - self->bases[device],
			     .n = 1 };
}

/* Frees the slots that took the place of those of the trace, in runs of neighbours of one cluster. */
static int free_slots(struct sws_cluster_what_if *self, const struct what_if_row *row)
{
	const uint32_t shift = self->clusters->shift;
	uint32_t *slots = &self->slots[self->trace_bases[row->device] + row->slot];
	uint32_t i = 0;

	for (uint32_t at = 0; at < row->n; at++)
		if (!slots[at])
			return refuse(self, SWS_CLUSTER_REPLAY_NOT_IN_USE, row->seq);
	while (i < row->n) {
		struct run run = { 0 };
		uint32_t last = slots[i];

		slots[i++] = 0;
		if (last == WHAT_IF_MISSING)
			continue;
		run = run_at(self, last - 1);
		while (i < row->n && slots[i] == last + 1 &&
		       run_at(self, last).device == run.device &&
		       (run.slot + run.n) >> shift == run.slot >> shift) {
			last = slots[i];
			slots[i++] = 0;
			run.n++;
		}
		memset(&self->tasks[self->bases[run.device] + run.slot], 0,
		       run.n * sizeof(*self->tasks));
		sws_cluster_what_if__return(self, row->cpu, &run);
	}
	return SWS_OK;
}

static int take_row(struct sws_cluster_what_if *self, const struct what_if_row *row)
{
	struct request *request = NULL;
	int error = SWS_OK;

	if (row->op == SWS_CLUSTER_FREE) {
		self->caches.same_hold = self->freeing == row->pid;
		error = free_slots(self, row);
		self->caches.same_hold = false;
		return error;
	}
	if (row->op != SWS_CLUSTER_CALL && row->op != SWS_CLUSTER_GRANT &&
	    row->op != SWS_CLUSTER_DONE)
		return SWS_OK;
	request = request_of(self, row->pid);
	if (!request)
		return SWS_ERROR_NO_MEMORY;
	if (row->op == SWS_CLUSTER_CALL)
		return begin_request(self, request, row);
	if (row->op == SWS_CLUSTER_GRANT)
		return grant(self, request, row);
	end_request(self, request);
	return SWS_OK;
}

static void sample(const struct sws_cluster_what_if *self, struct sws_cluster_what_if_sample *out)
{
	*out = (struct sws_cluster_what_if_sample){ .seq = self->seq };
	for (uint32_t i = 0; i < self->clusters->n_devices; i++) {
		out->in_use += sws_clusters_in_use(self->clusters, i);
		for (uint32_t list = 0; list < SWS_CLUSTER_LISTS; list++)
			out->clusters[list] += sws_clusters_list_length(self->clusters, i, list);
	}
}

int sws_cluster_what_if_feed(struct sws_cluster_what_if *self,
			     const struct sws_cluster_replay_rows *rows, uint64_t count,
			     struct sws_cluster_what_if_sample *samples, uint64_t *n_samples)
{
	int error = self->problem ? SWS_ERROR_BAD_ARGUMENT : SWS_OK;

	*n_samples = 0;
	for (uint64_t i = 0; !error && i < count; i++) {
		const struct what_if_row row = {
			.seq = rows->seq[i],
			.cpu = rows->cpu[i],
			.pid = rows->pid[i],
			.op = rows->op[i],
			.device = rows->device[i],
			.order = rows->order[i],
			.slot = rows->slot[i],
			.n = rows->n[i],
		};
		const enum sws_cluster_replay_problem problem = check_row(self, &row);

		if (problem)
			return refuse(self, problem, row.seq);
		self->seq = row.seq;
		self->begun = true;
		error = take_row(self, &row);
		self->freeing = row.op == SWS_CLUSTER_FREE ? row.pid : INT64_MIN;
		if (++self->totals.rows && self->sample_rows &&
		    self->totals.rows % self->sample_rows == 0)
			sample(self, &samples[(*n_samples)++]);
	}
	return error;
}
