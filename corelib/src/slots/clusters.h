/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/clusters.h - the list of free clusters.
 */
#ifndef SWAPSIM_SLOTS_CLUSTERS_H
#define SWAPSIM_SLOTS_CLUSTERS_H

#include "slots/parts.h"

/* Counts the header's slot and what the last cluster lacks as in use, and lists the rest. */
void sws_slots__start_clusters(struct sws_slots *self, uint32_t shared_start);

/* Puts a cluster that nothing uses at the tail of the free list. */
void sws_slots__append_free_cluster(struct sws_slots *self, uint32_t index);

/* Takes the head, which a slot was allocated from, off the free list. */
void sws_slots__take_free_cluster(struct sws_slots *self);

#endif
