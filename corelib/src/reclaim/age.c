/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/age.c - shrink_active_list: pages of the tail of an active list become inactive. One that
 * was touched since it was looked at last counts as rotated and goes all the same: what comes
 * back to the active list is what is touched again while it is inactive. A program's page alone
 * stays where it is.
 */
#include "reclaim/lists.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"

uint64_t sws_reclaim__age(struct sws_reclaim *vm, uint32_t zone, bool file, uint32_t pages)
{
	const enum vm_place from = file ? VM_ACTIVE_FILE : VM_ACTIVE_ANON;
	const enum vm_place to = file ? VM_INACTIVE_FILE : VM_INACTIVE_ANON;
	struct lru *lru = &vm->lrus[zone];
	const uint32_t most = pages < lru->lists[from].n ? pages : lru->lists[from].n;
	uint32_t aged = 0;

	for (; aged < most; aged++) {
		const uint32_t frame = lru->lists[from].tail;

		const struct page *page = &vm->pages[frame];

		lru->recent_rotated[file] += sws_reclaim__was_touched(vm, page);
		sws_reclaim__list_remove(vm, frame);
		sws_reclaim__list_add(vm, frame, vm_is(page, VM_PROGRAM) ? from : to);
	}
	lru->recent_scanned[file] += aged;
	vm->zones[zone].pages_scanned += aged;
	vm->zones[zone].count.aged += aged;
	vm->work += aged;
	return aged * vm->config.costs.age_ns;
}
