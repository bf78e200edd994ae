/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/workingset.h - 6.1's refault distance, and its balance by the costs of both kinds of pages. */
#ifndef SWAPSIM_RECLAIM_WORKINGSET_H
#define SWAPSIM_RECLAIM_WORKINGSET_H

#include "reclaim/layout.h"

/* The shares of anonymous and file pages in the scan: part of whole. */
struct scan_balance {
	uint64_t part[2];
	uint64_t whole;
};

/* workingset_eviction: notes the age at which a page is reclaimed, in the shadow of its slot. */
void sws_reclaim__evict(struct sws_reclaim *self, const struct page *page);

/*
 * workingset_refault: returns the list on which a page that is read back begins; active if it was
 * out for no longer than the pages that it competes with would have let it stay.
 */
enum page_place sws_reclaim__refault(struct sws_reclaim *self, uint32_t slot, uint32_t frame);

/* Returns true if pages of a kind are deactivated in this pass: too few are inactive, or refaults. */
bool sws_reclaim__deactivates(const struct sws_reclaim *self, uint32_t zone, bool file);

/* snapshot_refaults: later passes deactivate only for refaults that follow. */
void sws_reclaim__settle(struct sws_reclaim *self);

/* lru_note_cost: pages of a kind were written by reclaim, or came back. */
void sws_reclaim__note_cost(struct sws_reclaim *self, bool file, uint32_t pages);

/* prepare_scan_count and get_scan_count, behind the tests for swap and for priority 0. */
struct scan_balance sws_reclaim__balance_by_cost(const struct sws_reclaim *self, uint32_t zone,
						 uint8_t priority);

#endif
