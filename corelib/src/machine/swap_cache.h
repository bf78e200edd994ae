/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/swap_cache.h - what is done to a page in the swap cache and to the count of
 * its slot: one locked section each, and which lock and which site it is.
 *
 *   in the trees   tree_lock, xa_lock from 5.7 on; one of a device in 4.8, of a trunk later
 *   in the map     the slot's cluster lock; si->lock in 4.8
 *
 * A step of a procedure returns what these return: the section has begun then.
 */
#ifndef SWAPSIM_MACHINE_SWAP_CACHE_H
#define SWAPSIM_MACHINE_SWAP_CACHE_H

#include "machine/layout.h"

/* The trees. Each takes a page that has its slot. */

/* add_to_swap_cache: at SWS_SITE_TREE_ADD on the way out, at SWS_SITE_TREE_READ on the way in. */
int sws_machine__tree_add(struct actor *actor, struct page *page, enum sws_machine_site site);
/* test_set_page_writeback and test_clear_page_writeback; no section where no tags are kept. */
int sws_machine__tree_start(struct actor *actor, struct page *page);
int sws_machine__tree_end(struct actor *actor, struct page *page);
/* __remove_mapping, which leaves a shadow from 6.1 on; from 5.8 on its slot is recorded in it. */
int sws_machine__tree_remove(struct actor *actor, const struct page *page);
/* remove_mapping_list: all of a mapping that the actor has put aside. */
int sws_machine__tree_remove_all(struct actor *actor, uint32_t mapping);
/* delete_from_swap_cache. */
int sws_machine__tree_delete(struct actor *actor, struct page *page);
/* clear_shadow_from_swap_cache; no section where there are none. The slot is read under the lock. */
int sws_machine__tree_shadow(struct actor *actor, uint32_t *slot);

/* The map. A slot is read under the lock: it stays where it is until then. */

/* swap_duplicate: the page's slot is in a page table. */
int sws_machine__duplicate(struct actor *actor, struct page *page);
/* A look at the slot's count: try_to_free_swap, __swp_swapcount. */
int sws_machine__count(struct actor *actor, uint32_t slot, enum sws_machine_site site);
/* put_swap_page: the page left the swap cache. */
int sws_machine__uncache(struct actor *actor, struct page *page);
/* swapcache_prepare: the slot's place in the cache is taken. */
int sws_machine__prepare(struct actor *actor, uint32_t *slot);
/* swapcache_clear: a page that took the place and skipped the cache is mapped. */
int sws_machine__clear(struct actor *actor, uint32_t *slot);
/* swap_free: one page table less. */
int sws_machine__swap_free(struct actor *actor, uint32_t *slot);

/* swap_cgroup_record: whose slot it is; no section where that is not recorded. */
int sws_machine__record(struct actor *actor, enum sws_machine_site site);

#endif
