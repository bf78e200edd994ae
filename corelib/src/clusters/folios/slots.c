/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/folios/slots.c - slots for folios and pages, and the caches of 6.12.
 *
 *      run of 2^order ------------------------------> device
 *      single slot    --> cache of 64 --------------> device
 *      swapped in     --> cache of 64 returns ------> device
 *      dropped run    ------------------------------> device
 */
#include "clusters/folios/parts.h"

/* Frees slots of one cluster, list move included. */
void sws_cluster_folios__free_run(struct sws_cluster_folios *self, uint32_t slot, uint32_t n)
{
	uint32_t list = SWS_CLUSTER_LIST_NONE;

	(void)sws_clusters_free_begin(self->clusters, 0, slot, n, false, &list);
	if (list == SWS_CLUSTER_LIST_NONE)
		return;
	self->clusters->work.si_lock_free++;
	(void)sws_clusters_move(self->clusters, 0, slot, list);
}

/* Frees what a cache holds. Models: swapcache_free_entries. */
static void flush(struct sws_cluster_folios *self, uint32_t *slots, uint32_t *n)
{
	for (uint32_t i = 0; i < *n; i++)
		sws_cluster_folios__free_run(self, slots[i], 1);
	*n = 0;
}

/* Starts or stops the caches by the number of free slots. Models: check_cache_active. */
static void switch_caches(struct sws_cluster_folios *self)
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
static uint32_t allocate(struct sws_cluster_folios *self, uint32_t cpu, uint32_t order,
			 uint32_t wanted, uint32_t *slots)
{
	uint8_t devices[SWS_CLUSTERS_BATCH];
	uint32_t granted = 0;

	if (self->clusters->devices[0].config.discard)
		(void)sws_clusters_discard(self->clusters, 0);
	(void)sws_clusters_allocate(self->clusters, cpu, 0, order, wanted, devices, slots,
				    &granted);
	return granted;
}

/* Obtains a run of 2^order slots; returns 0 if there is none. Models: folio_alloc_swap. */
uint32_t sws_cluster_folios__run(struct sws_cluster_folios *self, uint32_t cpu, uint32_t order)
{
	uint32_t slots[SWS_CLUSTERS_BATCH];

	return allocate(self, cpu, order, 1, slots) ? slots[0] : 0;
}

/* Fills the cache of a CPU; slots leave it in the order in which they were allocated. */
static void refill(struct sws_cluster_folios *self, uint32_t cpu)
{
	struct folio_caches *cache = &self->cpus[cpu];
	uint32_t slots[SWS_SLOT_CACHE_SIZE];

	cache->n_ready = allocate(self, cpu, 0, SWS_SLOT_CACHE_SIZE, slots);
	for (uint32_t i = 0; i < cache->n_ready; i++)
		cache->ready[cache->n_ready - 1 - i] = slots[i];
}

/* Obtains a single slot; returns 0 if there is none. */
uint32_t sws_cluster_folios__single(struct sws_cluster_folios *self, uint32_t cpu)
{
	struct folio_caches *cache = &self->cpus[cpu];

	if (self->caches) {
		switch_caches(self);
		if (self->caches_active && !cache->n_ready)
			refill(self, cpu);
		if (cache->n_ready)
			return cache->ready[--cache->n_ready];
	}
	return sws_cluster_folios__run(self, cpu, 0);
}

/* Frees the slot of a swapped-in page. Models: free_swap_slot. */
void sws_cluster_folios__return(struct sws_cluster_folios *self, uint32_t cpu, uint32_t slot)
{
	struct folio_caches *cache = &self->cpus[cpu];

	if (!self->return_caches || !self->caches_active) {
		sws_cluster_folios__free_run(self, slot, 1);
		return;
	}
	if (cache->n_returned == SWS_SLOT_CACHE_SIZE)
		flush(self, cache->returned, &cache->n_returned);
	cache->returned[cache->n_returned++] = slot;
}
