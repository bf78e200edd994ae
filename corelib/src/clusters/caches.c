/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/caches.c - slots of devices, and the slot caches of 6.12. */
#include "clusters/caches.h"

int sws_cluster_caches__init(struct cluster_caches *self, const struct sws_allocator *allocator,
			     struct sws_clusters *clusters, bool serve)
{
	*self = (struct cluster_caches){ .allocator = allocator,
					 .clusters = clusters,
					 .serve = serve };
	for (uint32_t i = 0; i < clusters->n_devices; i++)
		self->has_discards = self->has_discards || clusters->devices[i].config.discard;
	self->cpus = sws_allocate_zeroed(allocator, clusters->cpus, sizeof(*self->cpus));
	return self->cpus ? SWS_OK : SWS_ERROR_NO_MEMORY;
}

void sws_cluster_caches__clear(struct cluster_caches *self)
{
	if (self->allocator)
		sws_release(self->allocator, self->cpus);
}

void sws_cluster_caches__free(struct cluster_caches *self, const struct run *run)
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
static void flush(struct cluster_caches *self, struct run *runs, uint32_t *n)
{
	for (uint32_t i = 0; i < *n; i++) {
		self->same_hold = i > 0;
		sws_cluster_caches__free(self, &runs[i]);
	}
	self->same_hold = false;
	*n = 0;
}

/* Starts or stops the caches by the number of free slots. Models: check_cache_active. */
static void switch_caches(struct cluster_caches *self)
{
	const int64_t cpus = self->clusters->cpus;
	const int64_t available = sws_clusters_available(self->clusters);

	if (!self->active) {
		self->active = available > cpus * SWS_SLOT_CACHE_ACTIVATE;
	} else if (available < cpus * SWS_SLOT_CACHE_DEACTIVATE) {
		self->active = false;
		for (uint32_t i = 0; i < self->clusters->cpus; i++) {
			flush(self, self->cpus[i].ready, &self->cpus[i].n_ready);
			flush(self, self->cpus[i].returned, &self->cpus[i].n_returned);
		}
	}
}

uint32_t sws_cluster_caches__allocate(struct cluster_caches *self, uint32_t cpu, uint32_t owner,
				      uint32_t order, uint32_t wanted, struct run *runs)
{
	uint8_t devices[SWS_CLUSTERS_BATCH];
	uint32_t slots[SWS_CLUSTERS_BATCH];
	uint32_t granted = 0;

	for (uint32_t i = 0; self->has_discards && i < self->clusters->n_devices; i++)
		(void)sws_clusters_discard(self->clusters, i);
	(void)sws_clusters_allocate(self->clusters, cpu, owner, order, wanted, devices, slots,
				    &granted);
	for (uint32_t i = 0; i < granted; i++)
		runs[i] = (struct run){ .device = devices[i],
					.slot = slots[i],
					.n = UINT32_C(1) << order };
	return granted;
}

/* Fills the cache of a CPU; slots leave it in the order in which they were allocated. */
static void refill(struct cluster_caches *self, uint32_t cpu, uint32_t owner)
{
	struct cpu_cache *cache = &self->cpus[cpu];
	struct run runs[SWS_SLOT_CACHE_SIZE];

	cache->n_ready =
		sws_cluster_caches__allocate(self, cpu, owner, 0, SWS_SLOT_CACHE_SIZE, runs);
	for (uint32_t i = 0; i < cache->n_ready; i++)
		cache->ready[cache->n_ready - 1 - i] = runs[i];
}

/* Models: folio_alloc_swap. */
bool sws_cluster_caches__single(struct cluster_caches *self, uint32_t cpu, uint32_t owner,
				struct run *run)
{
	struct cpu_cache *cache = &self->cpus[cpu];

	if (self->serve) {
		switch_caches(self);
		if (self->active && !cache->n_ready)
			refill(self, cpu, owner);
		if (cache->n_ready) {
			*run = cache->ready[--cache->n_ready];
			return true;
		}
	}
	return sws_cluster_caches__allocate(self, cpu, owner, 0, 1, run) == 1;
}

/* Models: free_swap_slot. */
void sws_cluster_caches__return(struct cluster_caches *self, uint32_t cpu, const struct run *run)
{
	struct cpu_cache *cache = &self->cpus[cpu];

	if (!self->active || run->n > 1) {
		sws_cluster_caches__free(self, run);
		return;
	}
	if (cache->n_returned == SWS_SLOT_CACHE_SIZE)
		flush(self, cache->returned, &cache->n_returned);
	cache->returned[cache->n_returned++] = *run;
}

uint64_t sws_cluster_caches__held(const struct cluster_caches *self)
{
	uint64_t held = 0;

	for (uint32_t i = 0; i < self->clusters->cpus; i++)
		held += (uint64_t)self->cpus[i].n_ready + self->cpus[i].n_returned;
	return held;
}
