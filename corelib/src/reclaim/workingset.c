/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/workingset.c - mm/workingset.c of 6.1, and the part of get_scan_count that follows from it.
 * The age counts pages that were reclaimed or activated. Slot 7 was reclaimed at 1000 and is read
 * back at 1600:
 *
 *      age       1000 ........................ 1600      distance 600
 *      memory    active anonymous 400, file pages 250    650 pages would have let it stay:
 *                                                        it begins on the active list
 *
 * A shadow is the age times two, and one more for a page that had been active before.
 */
#include "reclaim/workingset.h"

#include "reclaim/lists.h"
#include "reclaim/zones.h"

void sws_reclaim__evict(struct sws_reclaim *self, const struct page *page)
{
	struct workingset *own = &self->workingset;

	if (!self->config.refault_distance)
		return;
	if (page->slot)
		own->shadows[page->slot] = own->age * 2 + page_is(page, PAGE_WORKINGSET);
	own->age++;
}

/* Returns the pages of memory that compete with an anonymous page. */
static uint64_t competing(const struct sws_reclaim *self, uint32_t zone)
{
	return (uint64_t)list_pages_of(self, zone, LRU_ACTIVE_FILE) +
	       list_pages_of(self, zone, LRU_INACTIVE_FILE) +
	       list_pages_of(self, zone, LRU_ACTIVE_ANON);
}

enum page_place sws_reclaim__refault(struct sws_reclaim *self, uint32_t slot, uint32_t frame)
{
	struct workingset *own = &self->workingset;
	uint64_t shadow = 0;

	if (!self->config.refault_distance)
		return LRU_INACTIVE_ANON;
	shadow = own->shadows[slot];
	if (own->age - shadow / 2 > competing(self, zone_of(self, frame)))
		return LRU_INACTIVE_ANON;
	own->age++;
	own->activated++;
	if (shadow % 2) {
		page_set(&self->pages[frame], PAGE_WORKINGSET);
		sws_reclaim__note_cost(self, false, 1);
	}
	return LRU_ACTIVE_ANON;
}

bool sws_reclaim__deactivates(const struct sws_reclaim *self, uint32_t zone, bool file)
{
	const struct workingset *own = &self->workingset;

	return (!file && own->activated != own->settled) ||
	       sws_reclaim__inactive_is_low(self, zone, file);
}

void sws_reclaim__settle(struct sws_reclaim *self)
{
	self->workingset.settled = self->workingset.activated;
}

void sws_reclaim__note_cost(struct sws_reclaim *self, bool file, uint32_t pages)
{
	struct workingset *own = &self->workingset;
	uint64_t size = 0;

	if (!self->config.refault_distance)
		return;
	for (uint32_t place = 0; place < NR_LRU_LISTS; place++)
		size += list_pages_of(self, ZONE_DMA32, (enum page_place)place);
	own->cost[file] += pages;
	if (own->cost[0] + own->cost[1] > size / 4) {
		own->cost[0] /= 2;
		own->cost[1] /= 2;
	}
}

struct scan_balance sws_reclaim__balance_by_cost(const struct sws_reclaim *self, uint32_t zone,
						 uint8_t priority)
{
	static const struct scan_balance files_alone = { { 0, 1 }, 1 };
	static const struct scan_balance anon_alone = { { 1, 0 }, 1 };
	const uint64_t prio[2] = { self->config.swappiness, 200 - self->config.swappiness };
	const uint64_t *cost = self->workingset.cost;
	const uint64_t both = cost[0] + cost[1];
	const uint64_t files = (uint64_t)list_pages_of(self, zone, LRU_INACTIVE_FILE) +
			       list_pages_of(self, zone, LRU_ACTIVE_FILE);
	struct scan_balance found = { { 0, 0 }, 0 };

	if (files + self->zones[zone].free <= self->zones[zone].high &&
	    !sws_reclaim__deactivates(self, zone, false) &&
	    list_pages_of(self, zone, LRU_INACTIVE_ANON) >> priority)
		return anon_alone;
	if (list_pages_of(self, zone, LRU_INACTIVE_FILE) >> priority &&
	    !sws_reclaim__deactivates(self, zone, true))
		return files_alone;
	for (int kind = 0; kind < 2; kind++)
		found.part[kind] = prio[kind] * (3 * both + 1) / (both + cost[kind] + 1);
	found.whole = found.part[0] + found.part[1];
	return found.whole ? found : files_alone;
}
