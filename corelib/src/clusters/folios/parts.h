/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/folios/parts.h - declarations that the sources of cluster_folios.h share.
 *
 *   steps.c   rows: faults, page-out, drops       make.c
 */
#ifndef SWAPSIM_CLUSTERS_FOLIOS_PARTS_H
#define SWAPSIM_CLUSTERS_FOLIOS_PARTS_H

#include "clusters/caches.h"
#include "swapsim/cluster_folios.h"

/* What a page is: empty, swapped out, or RESIDENT + the order of its folio. */
enum { PAGE_EMPTY = 0, PAGE_SWAPPED = 1, PAGE_RESIDENT = 2 };

struct sws_cluster_folios {
	struct sws_allocator allocator;
	struct sws_clusters *clusters;
	/* [process][page]: the slot of a page that is swapped out. */
	uint32_t *slots;
	/* [process][page] */
	uint8_t *states;
	struct cluster_caches caches;
	uint32_t processes;
	uint32_t pages;
	uint32_t swap_in_orders;
	struct sws_cluster_folios_totals totals;
	uint32_t problem;
};

#endif
