/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/reclaim.h - reclaim, from a list to the device, and allocation.
 *
 *      alloc_page  >  shrink  >  swap_out  >  remove
 *      kswapd      >
 */
#ifndef SWAPSIM_MACHINE_RECLAIM_H
#define SWAPSIM_MACHINE_RECLAIM_H

#include "machine/layout.h"

/* Removes a clean unmapped page from the swap cache and memory. The result is its slot. */
int sws_machine__remove(struct actor *actor, uint32_t page);

/*
 * Sets such a page aside, still locked, for the batched removal of its list; then removes all of
 * them, the pages of one mapping under one hold of its lock, and frees their memory.
 */
int sws_machine__put_aside(struct actor *actor, uint32_t page);
int sws_machine__remove_list(struct actor *actor);

/*
 * Unmaps a page. The CPU that had it mapped has to flush its TLB entry: before the write if its
 * task could have written to the page, else before the pages of the list are freed.
 */
void sws_machine__unmap(struct actor *actor, const struct page *page);
int sws_machine__flush_tlb(struct actor *actor);

/*
 * Models the part of shrink_page_list that swaps out one page, locked by the actor. The result is
 * its slot, which batched pages have not left yet; 0 if the page stays, unchanged or under
 * writeback.
 */
int sws_machine__swap_out(struct actor *actor, uint32_t page);

/* Models one turn of shrink_lruvec. The result is true if a page was freed or activated. */
int sws_machine__shrink(struct actor *actor);

/* Allocates a page of the actor's node. The result is the page. */
int sws_machine__alloc_page(struct actor *actor);

#endif
