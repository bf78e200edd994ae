/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/sites.c - the call sites of locks, and whether interrupts are off there, which costs
 * irq_save_ns. A mapping's lock and lru_lock are also taken by the interrupt of a device
 * (SWS_SITE_TREE_END, SWS_SITE_LRU_ROTATE). Therefore all other sites have interrupts off around
 * them; otherwise an interrupt could deadlock with its own CPU. zone->lock is taken with interrupts
 * already off, for the CPU's free pages.
 */
#include "machine/build.h"

#include "swapsim/machine.h"

static const struct engine_site sites[SWS_SITES] = {
	[SWS_SITE_AVAIL] = { "swap_avail_lock.get_swap_pages", false },
	[SWS_SITE_CACHE_MUTEX] = { "alloc_lock.get_swap_page", false },
	[SWS_SITE_RETURN_CACHE] = { "free_lock.free_swap_slot", true },
	[SWS_SITE_DEVICE_GET] = { "si_lock.get_swap_pages", false },
	[SWS_SITE_DEVICE_SCAN] = { "si_lock.scan_swap_map_slots", false },
	[SWS_SITE_DEVICE_FREE] = { "si_lock.swapcache_free_entries", false },
	[SWS_SITE_CLUSTER_GET] = { "cluster_lock.scan_swap_map_slots", false },
	[SWS_SITE_CLUSTER_FREE] = { "cluster_lock.swapcache_free_entries", false },
	[SWS_SITE_DUPLICATE] = { "map_lock.swap_duplicate", false },
	[SWS_SITE_COUNT] = { "map_lock.try_to_free_swap", false },
	[SWS_SITE_PUT] = { "map_lock.put_swap_page", false },
	[SWS_SITE_PREPARE] = { "map_lock.swapcache_prepare", false },
	[SWS_SITE_SWAP_FREE] = { "map_lock.swap_free", false },
	[SWS_SITE_TREE_ADD] = { "tree_lock.add_to_swap_cache.shrink_page_list", true },
	[SWS_SITE_TREE_START] = { "tree_lock.test_set_page_writeback", true },
	[SWS_SITE_TREE_END] = { "tree_lock.test_clear_page_writeback", true },
	[SWS_SITE_TREE_REMOVE] = { "tree_lock.__remove_mapping", true },
	[SWS_SITE_TREE_READ] = { "tree_lock.add_to_swap_cache.do_swap_page", true },
	[SWS_SITE_TREE_DELETE] = { "tree_lock.delete_from_swap_cache", true },
	[SWS_SITE_TREE_SHADOW] = { "tree_lock.clear_shadow_from_swap_cache", true },
	[SWS_SITE_LRU_ADD] = { "lru_lock.__pagevec_lru_add", true },
	[SWS_SITE_LRU_CHARGE] = { "lru_lock.mem_cgroup_commit_charge", true },
	[SWS_SITE_LRU_ACTIVE] = { "lru_lock.shrink_active_list", true },
	[SWS_SITE_LRU_INACTIVE] = { "lru_lock.shrink_inactive_list", true },
	[SWS_SITE_LRU_ROTATE] = { "lru_lock.rotate_reclaimable_page", true },
	[SWS_SITE_ZONE_GET] = { "zone_lock.rmqueue_bulk", false },
	[SWS_SITE_ZONE_FREE] = { "zone_lock.free_pcppages_bulk", false },
	[SWS_SITE_CLUSTER_SEARCH] = { "cluster_lock.scan_swap_map_try_ssd_cluster", false },
	[SWS_SITE_CLEAR] = { "map_lock.swapcache_clear", false },
	[SWS_SITE_SWAPCOUNT] = { "map_lock.__swp_swapcount", false },
	[SWS_SITE_LRU_RELEASE] = { "lru_lock.release_pages", true },
	[SWS_SITE_RECORD_OUT] = { "record_lock.swap_cgroup_record.mem_cgroup_swapout", true },
	[SWS_SITE_RECORD_IN] = { "record_lock.swap_cgroup_record.mem_cgroup_charge", true },
	[SWS_SITE_FLUSH] = { "interrupt.try_to_unmap_flush", false },
	[SWS_SITE_RECORD_FREE] = { "record_lock.swap_cgroup_record.swapcache_free_entries", true },
};

const struct engine_site *sws_machine__sites(void)
{
	return sites;
}

const char *sws_machine_site_name(uint32_t site)
{
	return site < SWS_SITES ? sites[site].name : "unknown";
}
