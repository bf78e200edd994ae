/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/swap_cache.h - operations on a page in the swap cache and on the count of its slot: one
 * locked section each, with its lock and its call site.
 *
 *   in the trees   tree_lock, xa_lock from 5.7 on; one per device in 4.8, per trunk later
 *   in the map     the slot's cluster lock; si->lock in 4.8
 *
 * A step of a procedure returns the result of these functions; the section has then begun.
 */
#ifndef SWAPSIM_MACHINE_SWAP_CACHE_H
#define SWAPSIM_MACHINE_SWAP_CACHE_H

#include "machine/layout.h"

/* The trees. Each function takes a page with a slot. */

/* add_to_swap_cache: at SWS_SITE_TREE_ADD on the way out, at SWS_SITE_TREE_READ on the way in. */
int sws_machine__tree_add(struct actor *actor, struct page *page, enum sws_machine_site site);
/* test_set_page_writeback and test_clear_page_writeback; no section if there are no tags. */
int sws_machine__tree_start(struct actor *actor, struct page *page);
int sws_machine__tree_end(struct actor *actor, struct page *page);
/*
 * __remove_mapping, which leaves a shadow from 6.1 on; in 5.8 it records the slot's memory cgroup.
 */
int sws_machine__tree_remove(struct actor *actor, const struct page *page);
/* remove_mapping_list: all pages of a mapping that the actor has set aside. */
int sws_machine__tree_remove_all(struct actor *actor, uint32_t mapping);
/* delete_from_swap_cache. */
int sws_machine__tree_delete(struct actor *actor, struct page *page);
/*
 * clear_shadow_from_swap_cache; no section if there are no shadows. The slot is read under the
 * lock.
 */
int sws_machine__tree_shadow(struct actor *actor, uint32_t *slot);

/* Begins a hold of si->lock that looks at one or more slots. */
void sws_machine__begin_looks(struct device *device);
/* Returns the time of its look at a slot's map byte: less if it has used the cache line before. */
uint64_t sws_machine__next_look_ns(struct actor *actor, uint32_t slot);

/* The map. The slot is read under the lock, so the pointer has to be valid until then. */

/* swap_duplicate: a page table refers to the page's slot. */
int sws_machine__duplicate(struct actor *actor, struct page *page);
/* Reads the slot's count: try_to_free_swap, __swp_swapcount. */
int sws_machine__count(struct actor *actor, uint32_t slot, enum sws_machine_site site);
/* put_swap_page: the page has left the swap cache. */
int sws_machine__uncache(struct actor *actor, struct page *page);
/* swapcache_prepare: takes the slot's place in the swap cache. */
int sws_machine__prepare(struct actor *actor, uint32_t *slot);
/* swapcache_clear: a page that took the place and skipped the swap cache has been mapped. */
int sws_machine__clear(struct actor *actor, uint32_t *slot);
/* swap_free: drops a reference of a page table. */
int sws_machine__swap_free(struct actor *actor, uint32_t *slot);

/* swap_cgroup_record: records the slot's memory cgroup; no section if it is not recorded. */
int sws_machine__record(struct actor *actor, enum sws_machine_site site);

/*
 * Allocation and freeing of a slot for a page.
 *
 *   get    get_swap_page: from this CPU's cache, which a call of the device fills
 *   put    free_swap_slot: to this CPU's cache, which is flushed to the device when full
 *   evict  a page leaves the swap cache but not memory, so that its slot can be put
 *
 * get calls evict and evict calls put: the scan of a call may find a slot that only the swap cache
 * holds, and removes its page from there.
 */

/* Gets a slot. The result is the slot, 0 if there is none. */
int sws_machine__get_slot(struct actor *actor);

/* Puts a slot without references; in 4.8 it was freed with its last reference. */
int sws_machine__put_slot(struct actor *actor, uint32_t slot);

/* Models delete_from_swap_cache: removes a page from the swap cache and puts its slot. */
int sws_machine__evict(struct actor *actor, uint32_t page);

/* Returns true if a page is in the swap cache and no actor works on it. */
bool sws_machine__may_evict(const struct sws_machine *self, uint32_t page);

#endif
