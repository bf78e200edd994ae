/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/what_if/make.c - a replay under other rules, and what can be read from it. */
#include "clusters/what_if/parts.h"

void sws_cluster_what_if_config_init(struct sws_cluster_what_if_config *config)
{
	*config = (struct sws_cluster_what_if_config){ 0 };
	sws_clusters_config_init(&config->clusters);
}

static int start(struct sws_cluster_what_if *self, const struct sws_cluster_what_if_config *config)
{
	const bool caches = config->clusters.rules.slot_cache && !config->trace_has_slot_cache;
	int error = SWS_OK;

	for (uint32_t i = 0; i < self->clusters->n_devices; i++) {
		const uint32_t slots = self->clusters->devices[i].config.slots;

		self->trace_slots[i] = config->trace_slots ? config->trace_slots[i] : slots;
		self->bases[i] = (uint32_t)self->n_slots;
		self->trace_bases[i] = (uint32_t)self->n_trace_slots;
		self->n_slots += slots;
		self->n_trace_slots += self->trace_slots[i];
		if (self->n_slots > UINT32_MAX - 1 || self->n_trace_slots > UINT32_MAX - 1)
			return SWS_ERROR_BAD_CONFIG;
	}
	self->sample_rows = config->sample_rows;
	self->freeing = INT64_MIN;
	self->slots =
		sws_allocate_zeroed(&self->allocator, self->n_trace_slots, sizeof(*self->slots));
	self->tasks = sws_allocate_zeroed(&self->allocator, self->n_slots, sizeof(*self->tasks));
	self->surplus = sws_allocate_zeroed(&self->allocator, config->clusters.cpus,
					    sizeof(*self->surplus));
	if (!self->slots || !self->tasks || !self->surplus)
		return SWS_ERROR_NO_MEMORY;
	error = sws_index_map__init(&self->by_pid, &self->allocator);
	return error ? error
		     : sws_cluster_caches__init(&self->caches, &self->allocator, self->clusters,
						caches);
}

int sws_cluster_what_if_new(const struct sws_cluster_what_if_config *config,
			    struct sws_cluster_what_if **out)
{
	struct sws_cluster_what_if *self = NULL;
	struct sws_clusters *clusters = NULL;
	int error = sws_clusters_new(&config->clusters, &clusters);

	*out = NULL;
	if (error)
		goto out;
	error = SWS_ERROR_NO_MEMORY;
	self = sws_create(config->clusters.allocator, sizeof(*self));
	if (!self)
		goto out;
	self->clusters = clusters;
	clusters = NULL;
	error = start(self, config);
	if (error)
		goto out;
	*out = self;
	self = NULL;
out:
	sws_cluster_what_if_free(self);
	sws_clusters_free(clusters);
	return error;
}

void sws_cluster_what_if_free(struct sws_cluster_what_if *self)
{
	if (!self)
		return;
	sws_cluster_caches__clear(&self->caches);
	sws_clusters_free(self->clusters);
	sws_index_map__clear(&self->by_pid);
	sws_release(&self->allocator, self->slots);
	sws_release(&self->allocator, self->tasks);
	sws_release(&self->allocator, self->surplus);
	sws_release(&self->allocator, self->requests);
	sws_destroy(self);
}

uint32_t sws_cluster_what_if_problem(const struct sws_cluster_what_if *self, uint64_t *seq)
{
	*seq = self->problem_seq;
	return self->problem;
}

void sws_cluster_what_if_totals(const struct sws_cluster_what_if *self,
				struct sws_cluster_what_if_totals *out)
{
	*out = self->totals;
}

const struct sws_clusters *sws_cluster_what_if_clusters(const struct sws_cluster_what_if *self)
{
	return self->clusters;
}

/* Counts the neighbours among n slots of one cluster. */
static void count_neighbours(const uint32_t *tasks, uint32_t n,
			     struct sws_cluster_what_if_neighbours *out)
{
	for (uint32_t at = 1; at < n; at++) {
		const bool both = tasks[at - 1] && tasks[at];

		out->pairs += both;
		out->mixed += both && tasks[at - 1] != tasks[at];
	}
}

void sws_cluster_what_if_neighbours(const struct sws_cluster_what_if *self,
				    struct sws_cluster_what_if_neighbours *out)
{
	const uint32_t size = self->clusters->size;

	*out = (struct sws_cluster_what_if_neighbours){ 0 };
	for (uint32_t i = 0; i < self->clusters->n_devices; i++) {
		const uint32_t slots = self->clusters->devices[i].config.slots;

		for (uint32_t first = 0; first < slots; first += size)
			count_neighbours(&self->tasks[self->bases[i] + first],
					 slots - first < size ? slots - first : size, out);
	}
}

static uint64_t slots_of(const struct surplus *surplus)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < surplus->n; i++)
		slots += surplus->runs[i].n;
	return slots;
}

/* Every slot in use is that of a slot of the trace, waits for a grant, or is in a cache. */
int sws_cluster_what_if_verify(const struct sws_cluster_what_if *self, const char **reason)
{
	int error = sws_clusters_verify(self->clusters, reason);
	uint64_t in_use = 0;
	uint64_t held = 0;

	if (error)
		return error;
	for (uint32_t i = 0; i < self->clusters->n_devices; i++)
		in_use += sws_clusters_in_use(self->clusters, i);
	for (uint64_t i = 0; i < self->n_trace_slots; i++)
		held += self->slots[i] && self->slots[i] != WHAT_IF_MISSING;
	held += sws_cluster_caches__held(&self->caches);
	for (uint32_t i = 0; i < self->clusters->cpus; i++)
		held += slots_of(&self->surplus[i]);
	for (uint32_t i = 0; i < self->n_requests; i++)
		for (uint32_t run = self->requests[i].used;
		     self->requests[i].open && run < self->requests[i].n_runs; run++)
			held += self->requests[i].runs[run].n;
	if (held == in_use)
		return SWS_OK;
	*reason = "a slot in use belongs to no slot of the trace";
	return SWS_ERROR_BROKEN;
}
