/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/caches.h - where a slot comes from and goes to: the devices, and in front of them, under
 * the rules of 6.12, the slot caches of each CPU (mm/swap_slots.c).
 *
 *      run of 2^order -------------------------> devices
 *      single slot    --> cache of 64 ---------> devices
 *      single return  --> cache of 64 returns -> devices
 *      returned run   -------------------------> devices
 */
#ifndef SWAPSIM_CLUSTERS_CACHES_H
#define SWAPSIM_CLUSTERS_CACHES_H

#include "clusters/parts.h"
#include "swapsim/slot_cache.h"

/* Slots under the rules, one after the other. */
struct run {
	uint32_t slot;
	uint32_t n;
	uint8_t device;
};

/* The caches of a CPU; the last slot that is ready is handed out first. */
struct cpu_cache {
	uint32_t n_ready;
	uint32_t n_returned;
	struct run ready[SWS_SLOT_CACHE_SIZE];
	struct run returned[SWS_SLOT_CACHE_SIZE];
};

struct cluster_caches {
	const struct sws_allocator *allocator;
	struct sws_clusters *clusters;
	struct cpu_cache *cpus;
	/* Single slots go through the caches; returned ones, too. */
	bool serve;
	bool active;
	bool has_discards;
	/* The next run is freed under the hold of si->lock of the one before. */
	bool same_hold;
};

/* Makes empty caches; allocator and clusters have to outlive them. */
int sws_cluster_caches__init(struct cluster_caches *self, const struct sws_allocator *allocator,
			     struct sws_clusters *clusters, bool serve);
void sws_cluster_caches__clear(struct cluster_caches *self);

/* Runs one call for runs of 2^order slots; returns how many there were. */
uint32_t sws_cluster_caches__allocate(struct cluster_caches *self, uint32_t cpu, uint32_t owner,
				      uint32_t order, uint32_t wanted, struct run *runs);

/* Obtains a single slot; returns false if there is none. */
bool sws_cluster_caches__single(struct cluster_caches *self, uint32_t cpu, uint32_t owner,
				struct run *run);

/* Frees a run at once, list move included. */
void sws_cluster_caches__free(struct cluster_caches *self, const struct run *run);

/* Frees a run, a single slot through the cache of returns. */
void sws_cluster_caches__return(struct cluster_caches *self, uint32_t cpu, const struct run *run);

/* Returns the number of slots in the caches of all CPUs. */
uint64_t sws_cluster_caches__held(const struct cluster_caches *self);

#endif
