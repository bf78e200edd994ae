/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/slots.h - allocation and freeing of a slot for a page.
 *
 *   get    get_swap_page: from this CPU's cache, which a call of the device fills
 *   put    free_swap_slot: to this CPU's cache, which is flushed to the device when full
 *   evict  a page leaves the swap cache but not memory, so that its slot can be put
 *
 * get calls evict and evict calls put: the scan of a call may find a slot that only the swap cache
 * holds, and removes its page from there.
 */
#ifndef SWAPSIM_MACHINE_SLOTS_H
#define SWAPSIM_MACHINE_SLOTS_H

#include "machine/layout.h"

/* Gets a slot. The result is the slot, 0 if there is none. */
int sws_machine__get_slot(struct actor *actor);

/* Puts a slot without references; in 4.8 it was freed with its last reference. */
int sws_machine__put_slot(struct actor *actor, uint32_t slot);

/* Models delete_from_swap_cache: removes a page from the swap cache and puts its slot. */
int sws_machine__evict(struct actor *actor, uint32_t page);

/* Returns true if a page is in the swap cache and no actor works on it. */
bool sws_machine__may_evict(const struct sws_machine *self, uint32_t page);

#endif
