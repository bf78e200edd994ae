/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/clusters.h - the list of free clusters.
 */
#ifndef SWAPSIM_SLOTS_CLUSTERS_H
#define SWAPSIM_SLOTS_CLUSTERS_H

#include "slots/parts.h"

/*
 * Counts the header's slot, and the slots that the last cluster lacks, as in use, and lists all
 * other clusters.
 */
void sws_slots__start_clusters(struct sws_slots *self, uint32_t shared_start);

/* Appends an empty cluster to the free list. */
void sws_slots__append_free_cluster(struct sws_slots *self, uint32_t index);

/* Removes the head of the free list, of which a slot has been taken. */
void sws_slots__take_free_cluster(struct sws_slots *self);

#endif
