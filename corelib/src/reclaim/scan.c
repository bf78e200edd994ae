/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/scan.c - how many pages of which list are scanned: get_scan_count and shrink_lruvec. In a
 * zone with 700,000 anonymous pages, half of them inactive, 40,000 inactive file pages, enough file
 * pages and priority 10, the targets of the four lists are 0, 0, 39 and 0. At priority 0 all pages
 * are targets.
 *
 * 3.9 scans its targets to the end, 32 pages of each list in turn. It stops earlier if 32 pages are
 * reclaimed and the priority is not the highest; kswapd never stops earlier. Later kernels stop
 * when their target is reclaimed and then finish in proportion: the type of list with fewer
 * remaining pages is not scanned further, the other one up to the same share.
 */
#include "reclaim/lists.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"
#include "reclaim/zones.h"

static uint32_t anon_pages(const struct sws_reclaim *self, uint32_t zone)
{
	return list_pages_of(self, zone, LRU_INACTIVE_ANON) +
	       list_pages_of(self, zone, LRU_ACTIVE_ANON);
}

static uint32_t file_pages(const struct sws_reclaim *self, uint32_t zone)
{
	return list_pages_of(self, zone, LRU_INACTIVE_FILE) +
	       list_pages_of(self, zone, LRU_ACTIVE_FILE);
}

/*
 * shrink_active_list: pages from the tail of an active list become inactive. A page
 * that was touched since its last reference test counts as rotated and becomes inactive all the
 * same: a page is activated again by a touch while it is inactive. Only an executable page of a file
 * stays on the active list, if it was touched.
 */
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

/* Halves the scanned and rotated counts, so that older counts weigh less. */
static void forget_old(const struct sws_reclaim *self, uint32_t zone, struct lru *lru)
{
	const uint32_t sizes[2] = { anon_pages(self, zone), file_pages(self, zone) };

	for (int kind = 0; kind < 2; kind++)
		if (lru->recent_scanned[kind] > sizes[kind] / 4) {
			lru->recent_scanned[kind] /= 2;
			lru->recent_rotated[kind] /= 2;
		}
}

/* The shares of anonymous and file pages in the scan: part of whole. */
struct scan_balance {
	uint64_t part[2];
	uint64_t whole;
};

static struct scan_balance balance_of(struct sws_reclaim *self, const struct scan *scan,
				      uint32_t zone)
{
	static const struct scan_balance files_alone = { { 0, 1 }, 1 };
	static const struct scan_balance anon_alone = { { 1, 0 }, 1 };
	static const struct scan_balance equal = { { 1, 1 }, 1 };
	struct lru *lru = &self->lrus[zone];
	struct scan_balance found = { { 0, 0 }, 1 };
	const uint64_t prio[2] = { self->config.swappiness, 200 - self->config.swappiness };

	if (!self->swap.pages || self->swap.used >= self->swap.pages - 1)
		return files_alone;
	if (!scan->priority && self->config.swappiness)
		return equal;
	if ((uint64_t)file_pages(self, zone) + self->zones[zone].free <= self->zones[zone].high)
		return anon_alone;
	if (!sws_reclaim__inactive_is_low(self, zone, true))
		return files_alone;
	forget_old(self, zone, lru);
	for (int kind = 0; kind < 2; kind++)
		found.part[kind] = prio[kind] * (lru->recent_scanned[kind] + 1) /
				   (lru->recent_rotated[kind] + 1);
	found.whole = found.part[0] + found.part[1] + 1;
	return found;
}

/* get_scan_count: sets the number of pages of each list that are to be scanned. */
static void set_targets(struct actor *actor, uint32_t zone)
{
	struct sws_reclaim *self = actor->reclaim;
	struct scan *scan = &actor->scan;
	const struct scan_balance balance = balance_of(self, scan, zone);
	const bool force = scan->kswapd && self->zones[zone].unreclaimable;

	for (uint32_t place = 0; place < NR_LRU_LISTS; place++) {
		const uint32_t size = list_pages_of(self, zone, (enum page_place)place);
		uint64_t pages = size >> scan->priority;

		if (!pages && force)
			pages = size < SWAP_CLUSTER_MAX ? size : SWAP_CLUSTER_MAX;
		pages = pages * balance.part[place / 2] / balance.whole;
		scan->targets[place] = scan->left[place] = (uint32_t)pages;
	}
	scan->adjusted = false;
}

static uint64_t both(const uint32_t *lists, uint32_t kind)
{
	return (uint64_t)lists[2 * kind] + lists[2 * kind + 1];
}

/* After enough pages are reclaimed, limits the larger type's share to that of the smaller one. */
static void adjust(struct scan *scan)
{
	const uint32_t smaller = both(scan->left, 1) > both(scan->left, 0) ? 0 : 1;
	const uint64_t percent =
		both(scan->left, smaller) * 100 / (both(scan->targets, smaller) + 1);

	scan->left[2 * smaller] = scan->left[2 * smaller + 1] = 0;
	for (uint32_t place = 2 * (1 - smaller); place < 2 * (1 - smaller) + 2; place++) {
		const uint32_t scanned = scan->targets[place] - scan->left[place];
		const uint64_t wanted = scan->targets[place] * (100 - percent) / 100;

		scan->left[place] = (uint32_t)(wanted > scanned ? wanted - scanned : 0);
	}
	scan->adjusted = true;
}

/* Returns true if all pages are scanned; active anonymous ones are scanned with others only. */
static bool is_scanned(const struct scan *scan)
{
	return !scan->left[LRU_INACTIVE_ANON] && !scan->left[LRU_INACTIVE_FILE] &&
	       !scan->left[LRU_ACTIVE_FILE];
}

/* Returns true if, after a turn of all lists, enough pages are reclaimed. */
static bool is_enough(struct actor *actor, uint64_t reclaimed)
{
	struct scan *scan = &actor->scan;

	if (is_scanned(scan))
		return true;
	if (actor->reclaim->config.rules == SWS_STALL_3_9)
		return reclaimed >= scan->wanted && scan->priority < SWS_STALL_PRIORITY_MAX;
	if (reclaimed < scan->wanted || scan->adjusted)
		return false;
	if (!scan->kswapd)
		return true;
	adjust(scan);
	return false;
}

enum step { TURN, AGE, THROTTLE, DECIDE, LEAVE };

struct shrink {
	/* The scan's reclaimed pages before this zone. */
	uint64_t reclaimed;
	uint32_t zone;
	uint32_t place;
};

/* Scans up to 32 pages of the next list that has pages left. */
static int take_turn(struct actor *actor, struct shrink *my)
{
	struct scan *scan = &actor->scan;
	const uint32_t place = my->place;
	uint32_t pages = 0;

	if (!place && is_scanned(scan)) {
		engine_go(&actor->thread, AGE);
		return SWS_OK;
	}
	if (place == NR_LRU_LISTS) {
		my->place = 0;
		engine_go(&actor->thread,
			  is_enough(actor, scan->reclaimed - my->reclaimed) ? AGE : TURN);
		return SWS_OK;
	}
	pages = scan->left[place] < SWAP_CLUSTER_MAX ? scan->left[place] : SWAP_CLUSTER_MAX;
	scan->left[place] -= pages;
	my->place++;
	engine_go(&actor->thread, TURN);
	actor->reclaim->work++;
	if (!pages)
		return SWS_OK;
	if (place == LRU_INACTIVE_ANON || place == LRU_INACTIVE_FILE)
		return sws_reclaim__shrink_list(actor, my->zone, place == LRU_INACTIVE_FILE, pages);
	if (!sws_reclaim__inactive_is_low(actor->reclaim, my->zone, place == LRU_ACTIVE_FILE))
		return SWS_OK;
	return engine_run(&actor->thread, sws_reclaim__age(actor->reclaim, my->zone,
							   place == LRU_ACTIVE_FILE, pages));
}

/* throttle_vm_writeout: more than 110 % of the dirty limit is under writeback or unstable. */
static bool too_much_writeback(const struct sws_reclaim *self)
{
	const uint64_t dirty = sws_reclaim__limits(self).dirty;

	return (uint64_t)sws_reclaim__writeback(self) + sws_reclaim__unstable(self) >
	       dirty + dirty / 10;
}

static int shrink(struct actor *actor, void *frame, uint32_t step)
{
	struct shrink *my = frame;
	struct sws_reclaim *self = actor->reclaim;
	const uint64_t tick_us = 100000;

	switch ((enum step)step) {
	case TURN:
		return take_turn(actor, my);
	case AGE:
		engine_go(&actor->thread, THROTTLE);
		if (!sws_reclaim__inactive_is_low(self, my->zone, false))
			return SWS_OK;
		return engine_run(&actor->thread,
				  sws_reclaim__age(self, my->zone, false, SWAP_CLUSTER_MAX));
	case THROTTLE:
		if (sws_reclaim__decides_by_pass(self) || !too_much_writeback(self))
			return SWS_OK;
		engine_go(&actor->thread, THROTTLE);
		return sws_reclaim__sleep(actor, my->zone, SWS_STALL_SLEEP_CONGESTION_WAIT,
					  tick_us);
	case DECIDE:
		return sws_reclaim__end_pass(actor, my->zone);
	case LEAVE:
		engine_leave(&actor->thread);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__shrink_zone(struct actor *actor, uint32_t zone)
{
	const struct shrink frame = { .zone = zone, .reclaimed = actor->scan.reclaimed };

	actor->scan.pass = (struct sws_stall_counts){ 0 };
	set_targets(actor, zone);
	return engine_call(&actor->thread, shrink, &frame, sizeof(frame));
}
