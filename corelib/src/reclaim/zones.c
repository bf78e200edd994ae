/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/zones.c - the two zones. With 3 GB, 4 GB and min_free_kbytes 67584, min is 7241 and 9655:
 *
 *               pages     min    low   high   reserved against users of Normal
 *      DMA32   786432    7241   9051  10861   4096
 *      Normal 1048576    9655  12068  14482   0
 *
 * A task allocates from Normal until 12068 pages are free, then from DMA32 until 9051 + 4096; then
 * it wakes kswapd and allocates down to the min marks.
 */
#include "reclaim/zones.h"

#include "reclaim/lists.h"

static uint64_t whole_root(uint64_t square)
{
	uint64_t root = 0;

	while ((root + 1) * (root + 1) <= square)
		root++;
	return root;
}

static void make_zone(struct sws_reclaim *self, uint32_t number, uint32_t first, uint32_t pages)
{
	struct zone *zone = &self->zones[number];
	const uint64_t all = (uint64_t)self->config.dma32_pages + self->config.normal_pages;
	const uint64_t gigabytes = pages >> 18;

	*zone = (struct zone){
		.first = first,
		.pages = pages,
		.free = pages,
		.free_head = NO_FRAME,
		.min = (uint32_t)((uint64_t)self->config.min_free_pages * pages / all),
		.inactive_ratio = gigabytes ? (uint32_t)whole_root(10 * gigabytes) : 1,
	};
	zone->low = zone->min + zone->min / 4;
	zone->high = zone->min + zone->min / 2;
	if (number == ZONE_DMA32)
		zone->reserve = self->config.normal_pages / self->config.reserve_ratio;
	zone->dirty_reserve = zone->reserve + zone->high;
	for (uint32_t place = 0; place < NR_LRU_LISTS; place++)
		self->lrus[number].lists[place] = (struct list){ NO_FRAME, NO_FRAME, 0 };
}

void sws_reclaim__make_zones(struct sws_reclaim *self)
{
	const struct sws_reclaim_config *config = &self->config;

	self->zones[ZONE_NORMAL].first = config->dma32_pages;
	make_zone(self, ZONE_DMA32, 0, config->dma32_pages);
	make_zone(self, ZONE_NORMAL, config->dma32_pages, config->normal_pages);
	self->n_zones = config->normal_pages ? NR_ZONES : 1;
}

/* zone_watermark_ok for one page. */
bool sws_reclaim__zone_has(const struct sws_reclaim *self, uint32_t zone, uint32_t mark,
			   uint32_t class)
{
	const struct zone *its = &self->zones[zone];

	return its->free > (uint64_t)mark + (class > zone ? its->reserve : 0);
}

bool sws_reclaim__is_balanced(const struct sws_reclaim *self, uint32_t zone, uint32_t gap,
			      uint32_t class)
{
	return sws_reclaim__zone_has(self, zone, self->zones[zone].high + gap, class);
}

bool sws_reclaim__balanced_up_to(const struct sws_reclaim *self, uint32_t zones)
{
	for (uint32_t i = 0; i < zones; i++)
		if (!self->zones[i].unreclaimable && !sws_reclaim__is_balanced(self, i, 0, i))
			return false;
	return true;
}

bool sws_reclaim__all_balanced(const struct sws_reclaim *self)
{
	return sws_reclaim__balanced_up_to(self, self->n_zones);
}

uint32_t sws_reclaim__reclaimable(const struct sws_reclaim *self, uint32_t zone)
{
	uint32_t pages = list_pages_of(self, zone, LRU_INACTIVE_FILE) +
			 list_pages_of(self, zone, LRU_ACTIVE_FILE);

	if (self->swap.pages && self->swap.used < self->swap.pages - 1)
		pages += list_pages_of(self, zone, LRU_INACTIVE_ANON) +
			 list_pages_of(self, zone, LRU_ACTIVE_ANON);
	return pages;
}

bool sws_reclaim__inactive_is_low(const struct sws_reclaim *self, uint32_t zone, bool file)
{
	if (file)
		return list_pages_of(self, zone, LRU_ACTIVE_FILE) >
		       list_pages_of(self, zone, LRU_INACTIVE_FILE);
	return self->swap.pages && (uint64_t)list_pages_of(self, zone, LRU_INACTIVE_ANON) *
						   self->zones[zone].inactive_ratio <
					   list_pages_of(self, zone, LRU_ACTIVE_ANON);
}

bool sws_reclaim__is_reclaimable(const struct sws_reclaim *self, uint32_t zone)
{
	return self->zones[zone].pages_scanned < (uint64_t)sws_reclaim__reclaimable(self, zone) * 6;
}

/*
 * Returns the free pages without the reserves, plus the reclaimable pages. Until 3.14 these include
 * anonymous pages while swap is available, so a fifth of all memory may be dirty even if few pages
 * are file pages.
 */
static uint64_t dirtyable(uint64_t free, uint64_t reserve, uint64_t reclaimable)
{
	return (free > reserve ? free - reserve : 0) + reclaimable;
}

/* zone_dirty_ok */
static bool may_be_dirtier(const struct sws_reclaim *self, uint32_t zone)
{
	const struct zone *its = &self->zones[zone];
	const uint64_t pages =
		dirtyable(its->free, its->dirty_reserve, sws_reclaim__reclaimable(self, zone));

	return (uint64_t)its->dirty + its->unstable + its->writeback <=
	       pages * self->config.dirty_percent / 100;
}

uint32_t sws_reclaim__take_fast(struct sws_reclaim *self, bool dirties)
{
	for (uint32_t zone = self->n_zones; zone-- > 0;)
		if (sws_reclaim__zone_has(self, zone, self->zones[zone].low, self->n_zones - 1) &&
		    (!dirties || may_be_dirtier(self, zone)))
			return sws_reclaim__frame_take(self, zone);
	return NO_FRAME;
}

uint32_t sws_reclaim__take_low(struct sws_reclaim *self)
{
	for (uint32_t zone = self->n_zones; zone-- > 0;)
		if (sws_reclaim__zone_has(self, zone, self->zones[zone].min, self->n_zones - 1))
			return sws_reclaim__frame_take(self, zone);
	return NO_FRAME;
}

struct dirty_limits sws_reclaim__limits(const struct sws_reclaim *self)
{
	uint64_t free = 0;
	uint64_t reserve = 0;
	uint64_t reclaimable = 0;
	uint64_t pages = 0;

	for (uint32_t i = 0; i < self->n_zones; i++) {
		free += self->zones[i].free;
		reserve += self->zones[i].dirty_reserve;
		reclaimable += sws_reclaim__reclaimable(self, i);
	}
	pages = dirtyable(free, reserve, reclaimable);
	return (struct dirty_limits){
		.background = pages * self->config.background_percent / 100,
		.dirty = pages * self->config.dirty_percent / 100,
	};
}

uint32_t sws_reclaim__used(const struct sws_reclaim *self)
{
	uint32_t pages = 0;

	for (uint32_t i = 0; i < self->n_zones; i++)
		pages += self->zones[i].pages - self->zones[i].free;
	return pages;
}

uint32_t sws_reclaim__unstable(const struct sws_reclaim *self)
{
	return self->zones[ZONE_DMA32].unstable + self->zones[ZONE_NORMAL].unstable;
}

uint32_t sws_reclaim__dirty(const struct sws_reclaim *self)
{
	return self->file.dirty + self->file.unstable;
}

uint32_t sws_reclaim__writeback(const struct sws_reclaim *self)
{
	return self->zones[ZONE_DMA32].writeback + self->zones[ZONE_NORMAL].writeback;
}
