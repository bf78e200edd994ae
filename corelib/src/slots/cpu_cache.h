/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/cpu_cache.h - the cache of one CPU in front of the device: allocated slots, and slots that
 * wait to be freed. Models struct swap_slots_cache of mm/swap_slots.c.
 *
 *      ready      . . . # # # # # # #     filled completely by a call; take moves next up
 *                       next
 *      returned   # # # # . . . . . .     put moves n_returned up; hand_over empties it completely
 *                         n_returned
 *
 * The functions need no device, lock or clock: the caller takes the locks, makes the call that
 * fills the cache and frees the slots that are handed over. The caches of slot_cache.h do so at
 * once, the machine of machine.h in as many steps as the locks need.
 */
#ifndef SWAPSIM_SLOTS_CPU_CACHE_H
#define SWAPSIM_SLOTS_CPU_CACHE_H

#include "swapsim/slot_cache.h"

#include <string.h>

struct slots_cpu_cache {
	uint32_t ready[SWS_SLOT_CACHE_SIZE];
	uint32_t returned[SWS_SLOT_CACHE_SIZE];
	/* The index of the first ready slot, and the number of ready slots. */
	uint32_t next;
	uint32_t n_ready;
	uint32_t n_returned;
};

/* Takes the next ready slot; returns 0, which is not a slot, if no slot is ready. */
static inline uint32_t slots_cpu_cache_take(struct slots_cpu_cache *self)
{
	if (!self->n_ready)
		return 0;
	self->n_ready--;
	return self->ready[self->next++];
}

/* Fills an empty cache with the slots that a call has allocated. */
static inline void slots_cpu_cache_fill(struct slots_cpu_cache *self,
					const struct sws_slots_call *call)
{
	memcpy(self->ready, call->slots, call->given * sizeof(*self->ready));
	self->next = 0;
	self->n_ready = call->given;
}

/* Returns true if the returned slots have to be handed over before the next put. */
static inline bool slots_cpu_cache_is_full(const struct slots_cpu_cache *self)
{
	return self->n_returned == SWS_SLOT_CACHE_SIZE;
}

/* Stores a slot without references; the cache must not be full. */
static inline void slots_cpu_cache_put(struct slots_cpu_cache *self, uint32_t slot)
{
	self->returned[self->n_returned++] = slot;
}

/* Hands over the returned slots, which are valid until the next put; returns their number. */
static inline uint32_t slots_cpu_cache_hand_over(struct slots_cpu_cache *self,
						 const uint32_t **slots)
{
	const uint32_t n = self->n_returned;

	*slots = self->returned;
	self->n_returned = 0;
	return n;
}

/* Hands over the ready slots, which are valid until the next fill, to drain the cache. */
static inline uint32_t slots_cpu_cache_drain(struct slots_cpu_cache *self, const uint32_t **slots)
{
	const uint32_t n = self->n_ready;

	*slots = self->ready + self->next;
	self->n_ready = 0;
	return n;
}

#endif
