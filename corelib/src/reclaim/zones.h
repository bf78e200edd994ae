/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/zones.h - watermarks, allocation without reclaim, and the dirty limits. */
#ifndef SWAPSIM_RECLAIM_ZONES_H
#define SWAPSIM_RECLAIM_ZONES_H

#include "reclaim/layout.h"

/* Sets the sizes and watermarks of both zones, with all frames free. */
void sws_reclaim__make_zones(struct sws_reclaim *self);

/* Returns true if a zone has more free pages than a mark, for an allocation up to a zone class. */
bool sws_reclaim__zone_has(const struct sws_reclaim *self, uint32_t zone, uint32_t mark,
			   uint32_t class);

/* zone_balanced */
bool sws_reclaim__is_balanced(const struct sws_reclaim *self, uint32_t zone, uint32_t gap,
			      uint32_t class);

/* pgdat_balanced: returns true if the lowest so many zones are balanced or unreclaimable. */
bool sws_reclaim__balanced_up_to(const struct sws_reclaim *self, uint32_t zones);

/* As sws_reclaim__balanced_up_to for all zones. */
bool sws_reclaim__all_balanced(const struct sws_reclaim *self);

/* Returns true if the inactive list is so short that active pages have to be deactivated. */
bool sws_reclaim__inactive_is_low(const struct sws_reclaim *self, uint32_t zone, bool file);

uint32_t sws_reclaim__reclaimable(const struct sws_reclaim *self, uint32_t zone);

/*
 * Returns true if the zone was scanned less than six times over since one of its pages was freed.
 */
bool sws_reclaim__is_reclaimable(const struct sws_reclaim *self, uint32_t zone);

/*
 * get_page_from_freelist: allocates from Normal, else from DMA32, down to the low mark, and for a
 * page that becomes dirty within the zone's share; NO_FRAME on failure.
 */
uint32_t sws_reclaim__take_fast(struct sws_reclaim *self, bool dirties);

/* As sws_reclaim__take_fast, but down to the min mark and without the zone's dirty share. */
uint32_t sws_reclaim__take_low(struct sws_reclaim *self);

/* The numbers of dirty pages at which the flusher starts and at which writers stop. */
struct dirty_limits {
	uint64_t background;
	uint64_t dirty;
};

struct dirty_limits sws_reclaim__limits(const struct sws_reclaim *self);

/* Returns the pages of all zones that are not free. */
uint32_t sws_reclaim__used(const struct sws_reclaim *self);

/* Returns the pages in the server's memory only. */
uint32_t sws_reclaim__unstable(const struct sws_reclaim *self);

/* Returns the dirty pages, including those in the server's memory only. */
uint32_t sws_reclaim__dirty(const struct sws_reclaim *self);
uint32_t sws_reclaim__writeback(const struct sws_reclaim *self);

#endif
