/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/scan.c - how much of which list: get_scan_count and shrink_lruvec. A zone with 700,000
 * anonymous pages, half of them inactive, and 40,000 inactive file pages, priority 10, file
 * pages plenty: 0, 0, 39, 0 of the four lists are to be scanned. At priority 0 all are.
 *
 * 3.9 scans its targets to the end, 32 pages of each list in turn, unless 32 pages are
 * reclaimed and the priority is not the highest, which kswapd never is content with. Later
 * kernels stop when what was wanted is reclaimed, and then finish in proportion: the list
 * type with less left is left alone, of the other as much is scanned as of that one was.
 */
#include "reclaim/lists.h"
#include "reclaim/reclaim.h"
#include "reclaim/zones.h"

static uint32_t anon_pages(const struct sws_reclaim *vm, uint32_t zone)
{
	return vm_list_pages(vm, zone, VM_INACTIVE_ANON) + vm_list_pages(vm, zone, VM_ACTIVE_ANON);
}

static uint32_t file_pages(const struct sws_reclaim *vm, uint32_t zone)
{
	return vm_list_pages(vm, zone, VM_INACTIVE_FILE) + vm_list_pages(vm, zone, VM_ACTIVE_FILE);
}

bool sws_reclaim__inactive_is_low(const struct sws_reclaim *vm, uint32_t zone, bool file)
{
	if (file)
		return vm_list_pages(vm, zone, VM_ACTIVE_FILE) >
		       vm_list_pages(vm, zone, VM_INACTIVE_FILE);
	return vm->swap.pages && (uint64_t)vm_list_pages(vm, zone, VM_INACTIVE_ANON) *
						 vm->zones[zone].inactive_ratio <
					 vm_list_pages(vm, zone, VM_ACTIVE_ANON);
}

/* Which of the two kinds is scanned: parts of a whole. */
struct balance {
	uint64_t part[2];
	uint64_t whole;
};

/* What was scanned and rotated long ago counts less and less. */
static void forget_old(const struct sws_reclaim *vm, uint32_t zone, struct lru *lru)
{
	const uint32_t sizes[2] = { anon_pages(vm, zone), file_pages(vm, zone) };

	for (int kind = 0; kind < 2; kind++)
		if (lru->recent_scanned[kind] > sizes[kind] / 4) {
			lru->recent_scanned[kind] /= 2;
			lru->recent_rotated[kind] /= 2;
		}
}

static struct balance balance_of(struct sws_reclaim *vm, const struct scan *scan, uint32_t zone)
{
	static const struct balance files_alone = { { 0, 1 }, 1 };
	static const struct balance anon_alone = { { 1, 0 }, 1 };
	static const struct balance equal = { { 1, 1 }, 1 };
	struct lru *lru = &vm->lrus[zone];
	struct balance found = { { 0, 0 }, 1 };
	const uint64_t prio[2] = { vm->config.swappiness, 200 - vm->config.swappiness };

	if (!vm->swap.pages || vm->swap.used >= vm->swap.pages - 1)
		return files_alone;
	if (!scan->priority && vm->config.swappiness)
		return equal;
	if ((uint64_t)file_pages(vm, zone) + vm->zones[zone].free <= vm->zones[zone].high)
		return anon_alone;
	if (!sws_reclaim__inactive_is_low(vm, zone, true))
		return files_alone;
	forget_old(vm, zone, lru);
	for (int kind = 0; kind < 2; kind++)
		found.part[kind] = prio[kind] * (lru->recent_scanned[kind] + 1) /
				   (lru->recent_rotated[kind] + 1);
	found.whole = found.part[0] + found.part[1] + 1;
	return found;
}

void sws_reclaim__set_targets(struct actor *actor, uint32_t zone)
{
	struct sws_reclaim *vm = actor->vm;
	struct scan *scan = &actor->scan;
	const struct balance balance = balance_of(vm, scan, zone);
	const bool force = scan->kswapd && vm->zones[zone].unreclaimable;

	for (uint32_t place = 0; place < VM_LISTS; place++) {
		const uint32_t size = vm_list_pages(vm, zone, (enum vm_place)place);
		uint64_t pages = size >> scan->priority;

		if (!pages && force)
			pages = size < VM_CLUSTER ? size : VM_CLUSTER;
		pages = pages * balance.part[place / 2] / balance.whole;
		scan->targets[place] = scan->left[place] = (uint32_t)pages;
	}
	scan->adjusted = false;
}

static uint64_t both(const uint32_t *lists, uint32_t kind)
{
	return (uint64_t)lists[2 * kind] + lists[2 * kind + 1];
}

/* Enough is reclaimed: of the larger kind no greater part is scanned than of the smaller. */
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

/* All lists had their turn: is this enough? */
static bool is_enough(struct actor *actor, uint64_t reclaimed)
{
	struct scan *scan = &actor->scan;

	if (!scan->left[VM_INACTIVE_ANON] && !scan->left[VM_INACTIVE_FILE] &&
	    !scan->left[VM_ACTIVE_FILE])
		return true;
	if (actor->vm->config.rules == SWS_STALL_3_9)
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
	/* Of the scan, before this zone. */
	uint64_t reclaimed;
	uint32_t zone;
	uint32_t place;
};

/* The next list that has pages left to scan gets its share of 32. */
static int take_turn(struct actor *actor, struct shrink *my)
{
	struct scan *scan = &actor->scan;
	const uint32_t place = my->place;
	uint32_t pages = 0;

	if (place == VM_LISTS) {
		my->place = 0;
		engine_go(&actor->thread,
			  is_enough(actor, scan->reclaimed - my->reclaimed) ? AGE : TURN);
		return SWS_OK;
	}
	pages = scan->left[place] < VM_CLUSTER ? scan->left[place] : VM_CLUSTER;
	scan->left[place] -= pages;
	my->place++;
	engine_go(&actor->thread, TURN);
	actor->vm->work++;
	if (!pages)
		return SWS_OK;
	if (place == VM_INACTIVE_ANON || place == VM_INACTIVE_FILE)
		return sws_reclaim__shrink_list(actor, my->zone, place == VM_INACTIVE_FILE, pages);
	if (!sws_reclaim__inactive_is_low(actor->vm, my->zone, place == VM_ACTIVE_FILE))
		return SWS_OK;
	return engine_run(&actor->thread,
			  sws_reclaim__age(actor->vm, my->zone, place == VM_ACTIVE_FILE, pages));
}

/* throttle_vm_writeout: more is under writeback than may be dirty, and a tenth. */
static bool too_much_writeback(const struct sws_reclaim *vm)
{
	const uint64_t dirty = sws_reclaim__limits(vm).dirty;

	return sws_reclaim__writeback(vm) > dirty + dirty / 10;
}

static int shrink(struct actor *actor, void *frame, uint32_t step)
{
	struct shrink *my = frame;
	struct sws_reclaim *vm = actor->vm;
	const uint64_t tick_us = 100000;

	switch ((enum step)step) {
	case TURN:
		return take_turn(actor, my);
	case AGE:
		engine_go(&actor->thread, THROTTLE);
		if (!sws_reclaim__inactive_is_low(vm, my->zone, false))
			return SWS_OK;
		return engine_run(&actor->thread,
				  sws_reclaim__age(vm, my->zone, false, VM_CLUSTER));
	case THROTTLE:
		if (sws_reclaim__decides_by_pass(vm) || !too_much_writeback(vm))
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
	sws_reclaim__set_targets(actor, zone);
	return engine_call(&actor->thread, shrink, &frame, sizeof(frame));
}
