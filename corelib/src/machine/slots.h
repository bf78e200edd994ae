/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/slots.h - a slot for a page, and back.
 *
 *   get    get_swap_page: from this CPU's cache, which a call of the device fills
 *   put    free_swap_slot: to this CPU's cache, which is flushed to the device when full
 *   evict  a page leaves the swap cache but not memory, so that its slot can be put
 *
 * get stands above evict and evict above put: a call of the device on its scan may meet
 * a slot that only the swap cache holds, and takes the page out of there.
 */
#ifndef SWAPSIM_MACHINE_SLOTS_H
#define SWAPSIM_MACHINE_SLOTS_H

#include "machine/layout.h"

/* The result is a slot, 0 if there is none. */
int sws_machine__get_slot(struct actor *actor);

/* A slot that nothing holds any more; in 4.8 it went with its last reference. */
int sws_machine__put_slot(struct actor *actor, uint32_t slot);

/* Models delete_from_swap_cache: a page leaves the swap cache, its slot is put. */
int sws_machine__evict(struct actor *actor, uint32_t page);

/* Is it in the swap cache, and does nobody work on it? */
bool sws_machine__may_evict(const struct sws_machine *self, uint32_t page);

#endif
