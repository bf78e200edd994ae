/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/age.c - shrink_active_list: pages of the tail of an active list become inactive. One that
 * was touched since it was looked at last counts as rotated and goes all the same: what comes
 * back to the active list is what is touched again while it is inactive.
 */
#include "vm/lists.h"
#include "vm/reclaim.h"

/* Of the page table alone: a file page has nobody who maps it. */
static bool was_touched(struct sws_vm *vm, const struct page *page)
{
	uint32_t *entry = vm_is(page, VM_MAPPED) ? &vm->ptes[page->index] : NULL;

	if (!entry || !(*entry & VM_PTE_YOUNG))
		return false;
	*entry &= ~VM_PTE_YOUNG;
	return true;
}

uint64_t sws_vm__age(struct sws_vm *vm, uint32_t zone, bool file, uint32_t pages)
{
	const enum vm_place from = file ? VM_ACTIVE_FILE : VM_ACTIVE_ANON;
	const enum vm_place to = file ? VM_INACTIVE_FILE : VM_INACTIVE_ANON;
	struct lru *lru = &vm->lrus[zone];
	uint32_t aged = 0;

	for (; aged < pages && lru->lists[from].n; aged++) {
		const uint32_t frame = lru->lists[from].tail;

		lru->recent_rotated[file] += was_touched(vm, &vm->pages[frame]);
		sws_vm__list_remove(vm, frame);
		sws_vm__list_add(vm, frame, to);
	}
	lru->recent_scanned[file] += aged;
	vm->zones[zone].pages_scanned += aged;
	vm->zones[zone].count.aged += aged;
	vm->work += aged;
	return aged * vm->config.costs.age_ns;
}
