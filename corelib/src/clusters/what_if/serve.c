/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/what_if/serve.c - where a slot comes from and goes to: runs that the trace refused, the
 * caches of a CPU, and the devices.
 *
 *      single request --> surplus runs --> cache of 64 --> devices        (the first that has one)
 *      single return  --> cache of 64 returns --> devices
 */
#include "clusters/what_if/parts.h"

/* Frees a run, list move included; the rows of one hold of si->lock are one acquisition. */
static void free_run(struct sws_cluster_what_if *self, const struct run *run)
{
	uint32_t list = SWS_CLUSTER_LIST_NONE;

	(void)sws_clusters_free_begin(self->clusters, run->device, run->slot, run->n,
				      self->same_hold, &list);
	if (list == SWS_CLUSTER_LIST_NONE)
		return;
	self->clusters->work.si_lock_free++;
	(void)sws_clusters_move(self->clusters, run->device, run->slot, list);
}

/* Frees what a cache holds, under one hold of si->lock. Models: swapcache_free_entries. */
static void flush(struct sws_cluster_what_if *self, struct run *runs, uint32_t *n)
{
	for (uint32_t i = 0; i < *n; i++) {
		self->same_hold = i > 0;
		free_run(self, &runs[i]);
	}
	self->same_hold = false;
	*n = 0;
}

/* Starts or stops the caches by the number of free slots. Models: check_cache_active. */
static void switch_caches(struct sws_cluster_what_if *self)
{
	const int64_t cpus = self->clusters->cpus;
	const int64_t available = sws_clusters_available(self->clusters);

	if (!self->caches_active) {
		self->caches_active = available > cpus * SWS_SLOT_CACHE_ACTIVATE;
	} else if (available < cpus * SWS_SLOT_CACHE_DEACTIVATE) {
		self->caches_active = false;
		for (uint32_t i = 0; i < self->clusters->cpus; i++) {
			flush(self, self->cpus[i].ready, &self->cpus[i].n_ready);
			flush(self, self->cpus[i].returned, &self->cpus[i].n_returned);
		}
	}
}

/* Runs one call; returns the number of runs. */
static uint32_t allocate(struct sws_cluster_what_if *self, const struct request *request,
			 uint32_t order, uint32_t wanted, struct run *runs)
{
	uint8_t devices[SWS_CLUSTERS_BATCH];
	uint32_t slots[SWS_CLUSTERS_BATCH];
	uint32_t granted = 0;

	for (uint32_t i = 0; self->has_discards && i < self->clusters->n_devices; i++)
		(void)sws_clusters_discard(self->clusters, i);
	(void)sws_clusters_allocate(self->clusters, request->cpu, request->owner, order, wanted,
				    devices, slots, &granted);
	for (uint32_t i = 0; i < granted; i++)
		runs[i] = (struct run){ .device = devices[i],
					.slot = slots[i],
					.n = UINT32_C(1) << order };
	return granted;
}

/* Takes a slot of a run that the trace refused. */
static bool take_surplus(struct cpu_cache *cache, struct run *run)
{
	struct run *last = NULL;

	if (!cache->n_surplus)
		return false;
	last = &cache->surplus[cache->n_surplus - 1];
	*run = (struct run){ .device = last->device, .slot = last->slot++, .n = 1 };
	cache->n_surplus -= !--last->n;
	return true;
}

/* Obtains a single slot; returns false if there is none. Models: folio_alloc_swap. */
bool sws_cluster_what_if__single(struct sws_cluster_what_if *self, const struct request *request,
				 struct run *run)
{
	struct cpu_cache *cache = &self->cpus[request->cpu];

	if (take_surplus(cache, run))
		return true;
	if (self->caches) {
		switch_caches(self);
		if (self->caches_active && !cache->n_ready) {
			cache->n_ready =
				allocate(self, request, 0, SWS_SLOT_CACHE_SIZE, cache->ready);
			/* The last one is taken first, so they are turned round. */
			for (uint32_t i = 0; i < cache->n_ready / 2; i++) {
				const struct run first = cache->ready[i];

				cache->ready[i] = cache->ready[cache->n_ready - 1 - i];
				cache->ready[cache->n_ready - 1 - i] = first;
			}
		}
		if (cache->n_ready) {
			*run = cache->ready[--cache->n_ready];
			return true;
		}
	}
	return allocate(self, request, 0, 1, run) == 1;
}

/*
 * Obtains the runs of a request. Several single slots are one call under rules with slot cache,
 * because the trace's kernel filled its cache so; else one call each.
 */
void sws_cluster_what_if__request(struct sws_cluster_what_if *self, struct request *request,
				  uint32_t wanted)
{
	const bool batch = self->clusters->rules.slot_cache && !self->caches;
	struct run *runs = request->runs;
	uint32_t n = 0;

	if (request->order) {
		n = allocate(self, request, request->order, wanted, runs);
	} else {
		while (n < wanted && take_surplus(&self->cpus[request->cpu], &runs[n]))
			n++;
		if (batch && n < wanted)
			n += allocate(self, request, 0, wanted - n, &runs[n]);
		while (!batch && n < wanted && sws_cluster_what_if__single(self, request, &runs[n]))
			n++;
	}
	request->n_runs = n;
}

/* Keeps a run that the trace refused, for the next single slots of this CPU. */
void sws_cluster_what_if__keep(struct sws_cluster_what_if *self, uint32_t cpu,
			       const struct run *run)
{
	struct cpu_cache *cache = &self->cpus[cpu];

	if (run->n == 1 || cache->n_surplus == WHAT_IF_SURPLUS) {
		free_run(self, run);
		return;
	}
	self->totals.surplus++;
	cache->surplus[cache->n_surplus++] = *run;
}

/* Frees slots; a single one through the cache of returns. Models: free_swap_slot. */
void sws_cluster_what_if__return(struct sws_cluster_what_if *self, uint32_t cpu,
				 const struct run *run)
{
	struct cpu_cache *cache = &self->cpus[cpu];

	self->totals.freed += run->n;
	if (!self->caches || !self->caches_active || run->n > 1) {
		free_run(self, run);
		return;
	}
	if (cache->n_returned == SWS_SLOT_CACHE_SIZE)
		flush(self, cache->returned, &cache->n_returned);
	cache->returned[cache->n_returned++] = *run;
}
