/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/reclaim.h - from a list to the device, and who needs the memory.
 *
 *      alloc_page  >  shrink  >  swap_out  >  remove
 *      kswapd      >
 */
#ifndef SWAPSIM_MACHINE_RECLAIM_H
#define SWAPSIM_MACHINE_RECLAIM_H

#include "machine/layout.h"

/* A clean page that nobody maps leaves the swap cache and memory. The result is its slot. */
int sws_machine__remove(struct actor *actor, uint32_t page);

/*
 * Batched: such a page waits, still locked, for the removal of its list; then all that wait
 * leave, the pages of one mapping under one hold of its lock, and memory is freed.
 */
int sws_machine__put_aside(struct actor *actor, uint32_t page);
int sws_machine__remove_list(struct actor *actor);

/*
 * A page is unmapped: the CPU that had it mapped has to forget where it was, before the page is
 * written if it could have written to it, else before the list's pages are free.
 */
void sws_machine__unmap(struct actor *actor, const struct page *page);
int sws_machine__flush_tlb(struct actor *actor);

/*
 * Models the part of shrink_page_list that swaps out one page, locked by the actor. The
 * result is the slot that it went to, batched without having been removed; 0: it stays, as
 * it was or under writeback.
 */
int sws_machine__swap_out(struct actor *actor, uint32_t page);

/* Models one turn of shrink_lruvec. The result says whether a page was freed or activated. */
int sws_machine__shrink(struct actor *actor);

/* The result is a page of the actor's node, in its hands. */
int sws_machine__alloc_page(struct actor *actor);

#endif
