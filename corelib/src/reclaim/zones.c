/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/zones.c - the two zones. 3 GB and 4 GB, min_free_kbytes 67584, so min 7241 and 9655:
 *
 *               pages     min    low   high   kept from users of Normal
 *      DMA32   786432    7241   9051  10861   4096
 *      Normal 1048576    9655  12068  14482   0
 *
 * A task takes from Normal until it has 12068 free, then from DMA32 until 9051 + 4096; then
 * it wakes kswapd, and goes on down to the min marks.
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

static void make_zone(struct sws_reclaim *vm, uint32_t number, uint32_t first, uint32_t pages)
{
	struct zone *zone = &vm->zones[number];
	const uint64_t all = (uint64_t)vm->config.dma32_pages + vm->config.normal_pages;
	const uint64_t gigabytes = pages >> 18;

	*zone = (struct zone){
		.first = first,
		.pages = pages,
		.free = pages,
		.free_head = VM_NONE,
		.min = (uint32_t)((uint64_t)vm->config.min_free_pages * pages / all),
		.inactive_ratio = gigabytes ? (uint32_t)whole_root(10 * gigabytes) : 1,
	};
	zone->low = zone->min + zone->min / 4;
	zone->high = zone->min + zone->min / 2;
	if (number == VM_DMA32)
		zone->reserve = vm->config.normal_pages / vm->config.reserve_ratio;
	zone->dirty_reserve = zone->reserve + zone->high;
	for (uint32_t place = 0; place < VM_LISTS; place++)
		vm->lrus[number].lists[place] = (struct list){ VM_NONE, VM_NONE, 0 };
}

void sws_reclaim__make_zones(struct sws_reclaim *vm)
{
	const struct sws_reclaim_config *config = &vm->config;

	vm->zones[VM_NORMAL].first = config->dma32_pages;
	make_zone(vm, VM_DMA32, 0, config->dma32_pages);
	make_zone(vm, VM_NORMAL, config->dma32_pages, config->normal_pages);
	vm->n_zones = config->normal_pages ? VM_ZONES : 1;
}

/* zone_watermark_ok, of one page. */
bool sws_reclaim__zone_has(const struct sws_reclaim *vm, uint32_t zone, uint32_t mark,
			   uint32_t class)
{
	const struct zone *its = &vm->zones[zone];

	return its->free > (uint64_t)mark + (class > zone ? its->reserve : 0);
}

bool sws_reclaim__is_balanced(const struct sws_reclaim *vm, uint32_t zone, uint32_t gap,
			      uint32_t class)
{
	return sws_reclaim__zone_has(vm, zone, vm->zones[zone].high + gap, class);
}

bool sws_reclaim__all_balanced(const struct sws_reclaim *vm)
{
	for (uint32_t i = 0; i < vm->n_zones; i++)
		if (!vm->zones[i].unreclaimable && !sws_reclaim__is_balanced(vm, i, 0, i))
			return false;
	return true;
}

uint32_t sws_reclaim__reclaimable(const struct sws_reclaim *vm, uint32_t zone)
{
	uint32_t pages =
		vm_list_pages(vm, zone, VM_INACTIVE_FILE) + vm_list_pages(vm, zone, VM_ACTIVE_FILE);

	if (vm->swap.pages && vm->swap.used < vm->swap.pages - 1)
		pages += vm_list_pages(vm, zone, VM_INACTIVE_ANON) +
			 vm_list_pages(vm, zone, VM_ACTIVE_ANON);
	return pages;
}

bool sws_reclaim__is_reclaimable(const struct sws_reclaim *vm, uint32_t zone)
{
	return vm->zones[zone].pages_scanned < (uint64_t)sws_reclaim__reclaimable(vm, zone) * 6;
}

/*
 * Free pages but the reserves, and what can be reclaimed: until 3.14 anonymous pages are among
 * that as long as there is swap, so a fifth of all memory may be dirty, however few pages of it
 * are left to files.
 */
static uint64_t dirtyable(uint64_t free, uint64_t reserve, uint64_t reclaimable)
{
	return (free > reserve ? free - reserve : 0) + reclaimable;
}

/* zone_dirty_ok */
static bool may_be_dirtier(const struct sws_reclaim *vm, uint32_t zone)
{
	const struct zone *its = &vm->zones[zone];
	const uint64_t pages =
		dirtyable(its->free, its->dirty_reserve, sws_reclaim__reclaimable(vm, zone));

	return (uint64_t)its->dirty + its->unstable + its->writeback <=
	       pages * vm->config.dirty_percent / 100;
}

uint32_t sws_reclaim__take_fast(struct sws_reclaim *vm, bool dirties)
{
	for (uint32_t zone = vm->n_zones; zone-- > 0;)
		if (sws_reclaim__zone_has(vm, zone, vm->zones[zone].low, vm->n_zones - 1) &&
		    (!dirties || may_be_dirtier(vm, zone)))
			return sws_reclaim__frame_take(vm, zone);
	return VM_NONE;
}

uint32_t sws_reclaim__take_low(struct sws_reclaim *vm)
{
	for (uint32_t zone = vm->n_zones; zone-- > 0;)
		if (sws_reclaim__zone_has(vm, zone, vm->zones[zone].min, vm->n_zones - 1))
			return sws_reclaim__frame_take(vm, zone);
	return VM_NONE;
}

struct vm_limits sws_reclaim__limits(const struct sws_reclaim *vm)
{
	uint64_t free = 0;
	uint64_t reserve = 0;
	uint64_t reclaimable = 0;
	uint64_t pages = 0;

	for (uint32_t i = 0; i < vm->n_zones; i++) {
		free += vm->zones[i].free;
		reserve += vm->zones[i].dirty_reserve;
		reclaimable += sws_reclaim__reclaimable(vm, i);
	}
	pages = dirtyable(free, reserve, reclaimable);
	return (struct vm_limits){
		.background = pages * vm->config.background_percent / 100,
		.dirty = pages * vm->config.dirty_percent / 100,
	};
}

uint32_t sws_reclaim__dirty(const struct sws_reclaim *vm)
{
	return vm->file.dirty + vm->file.unstable;
}

uint32_t sws_reclaim__writeback(const struct sws_reclaim *vm)
{
	return vm->zones[VM_DMA32].writeback + vm->zones[VM_NORMAL].writeback;
}
