/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/folios/parts.h - declarations that the sources of cluster_folios.h share.
 *
 *   steps.c   rows: faults, page-out, drops       slots.c   slots, and their caches       make.c
 */
#ifndef SWAPSIM_CLUSTERS_FOLIOS_PARTS_H
#define SWAPSIM_CLUSTERS_FOLIOS_PARTS_H

#include "clusters/parts.h"
#include "swapsim/cluster_folios.h"
#include "swapsim/slot_cache.h"

/* What a page is: empty, swapped out, or RESIDENT + the order of its folio. */
enum { PAGE_EMPTY = 0, PAGE_SWAPPED = 1, PAGE_RESIDENT = 2 };

/* The caches of a CPU. */
struct folio_caches {
	uint32_t n_ready;
	uint32_t n_returned;
	/* Slots to hand out, the last one first. */
	uint32_t ready[SWS_SLOT_CACHE_SIZE];
	uint32_t returned[SWS_SLOT_CACHE_SIZE];
};

struct sws_cluster_folios {
	struct sws_allocator allocator;
	struct sws_clusters *clusters;
	/* [process][page]: the slot of a page that is swapped out. */
	uint32_t *slots;
	/* [process][page] */
	uint8_t *states;
	struct folio_caches *cpus;
	uint32_t processes;
	uint32_t pages;
	uint32_t swap_in_orders;
	/* Single slots go through caches; freed ones, too. */
	bool caches;
	bool return_caches;
	bool caches_active;
	struct sws_cluster_folios_totals totals;
	uint32_t problem;
};

/* slots.c */
uint32_t sws_cluster_folios__run(struct sws_cluster_folios *self, uint32_t cpu, uint32_t order);
uint32_t sws_cluster_folios__single(struct sws_cluster_folios *self, uint32_t cpu);
void sws_cluster_folios__free_run(struct sws_cluster_folios *self, uint32_t slot, uint32_t n);
void sws_cluster_folios__return(struct sws_cluster_folios *self, uint32_t cpu, uint32_t slot);

#endif
