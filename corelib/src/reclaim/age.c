/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/age.c - shrink_active_list: pages from the tail of an active list become inactive. A page
 * that was touched since its last reference test counts as rotated and becomes inactive all the
 * same: a page is activated again by a touch while it is inactive. Only an executable page of a file
 * stays on the active list, if it was touched.
 */
#include "reclaim/lists.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"

uint64_t sws_reclaim__age(struct sws_reclaim *self, uint32_t zone, bool file, uint32_t pages)
{
	const enum page_place from = file ? LRU_ACTIVE_FILE : LRU_ACTIVE_ANON;
	const enum page_place to = file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;
	struct lru *lru = &self->lrus[zone];
	const uint32_t most = pages < lru->lists[from].n ? pages : lru->lists[from].n;
	uint32_t aged = 0;

	for (; aged < most; aged++) {
		const uint32_t frame = lru->lists[from].tail;
		struct page *page = &self->pages[frame];
		const bool touched = sws_reclaim__was_touched(self, page);
		const bool stays = touched && page_is(page, PAGE_EXECUTABLE);

		lru->recent_rotated[file] += touched;
		sws_reclaim__list_remove(self, frame);
		sws_reclaim__list_add(self, frame, stays ? from : to);
	}
	lru->recent_scanned[file] += aged;
	self->zones[zone].pages_scanned += aged;
	self->zones[zone].count.aged += aged;
	self->work += aged;
	return aged * self->config.costs.age_ns;
}
