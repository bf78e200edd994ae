/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/zones.h - watermarks, the fast way to a page, and what may be dirty. */
#ifndef SWAPSIM_RECLAIM_ZONES_H
#define SWAPSIM_RECLAIM_ZONES_H

#include "reclaim/layout.h"

/* Sizes and watermarks of both zones, all of their frames free. */
void sws_reclaim__make_zones(struct sws_reclaim *vm);

/* Has a zone more free pages than a mark, for one who may use zones up to a class? */
bool sws_reclaim__zone_has(const struct sws_reclaim *vm, uint32_t zone, uint32_t mark,
			   uint32_t class);

/* zone_balanced, pgdat_balanced */
bool sws_reclaim__is_balanced(const struct sws_reclaim *vm, uint32_t zone, uint32_t gap,
			      uint32_t class);
bool sws_reclaim__all_balanced(const struct sws_reclaim *vm);

uint32_t sws_reclaim__reclaimable(const struct sws_reclaim *vm, uint32_t zone);

/* Was it scanned less than six times over since a page of it was freed? */
bool sws_reclaim__is_reclaimable(const struct sws_reclaim *vm, uint32_t zone);

/*
 * get_page_from_freelist: from Normal, else from DMA32, down to the low mark, and for a page
 * that will be dirty within the zone's share; VM_NONE if there is none.
 */
uint32_t sws_reclaim__take_fast(struct sws_reclaim *vm, bool dirties);

/* The same down to the min mark, whatever is dirty. */
uint32_t sws_reclaim__take_low(struct sws_reclaim *vm);

/* Pages that may be dirty before the flusher begins, and before writers are stopped. */
struct vm_limits {
	uint64_t background;
	uint64_t dirty;
};

struct vm_limits sws_reclaim__limits(const struct sws_reclaim *vm);

/* Dirty pages, those with them that a server has in its memory alone. */
uint32_t sws_reclaim__dirty(const struct sws_reclaim *vm);
uint32_t sws_reclaim__writeback(const struct sws_reclaim *vm);

#endif
