/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/cpu_cache.h - what one CPU keeps in front of the device: slots that wait to
 * be handed out, and slots that wait to be given back. Models struct
 * swap_slots_cache of mm/swap_slots.c.
 *
 *      ready      . . . # # # # # # #     a call fills it whole, take goes up
 *                       next
 *      returned   # # # # . . . . . .     put goes up, hand_over empties it whole
 *                         n_returned
 *
 * Steps without a device, a lock or a clock: who calls them takes the locks, makes
 * the call that fills and frees what is handed over. The caches of slot_cache.h do
 * so at once, the machine of machine.h in as many steps as the locks take.
 */
#ifndef SWAPSIM_SLOTS_CPU_CACHE_H
#define SWAPSIM_SLOTS_CPU_CACHE_H

#include "swapsim/slot_cache.h"

#include <string.h>

struct slots_cpu_cache {
	uint32_t ready[SWS_SLOT_CACHE_SIZE];
	uint32_t returned[SWS_SLOT_CACHE_SIZE];
	/* The first of the ready ones that is still there, and how many are. */
	uint32_t next;
	uint32_t n_ready;
	uint32_t n_returned;
};

/* Takes the next slot that is ready; 0, which is no slot, if there is none. */
static inline uint32_t slots_cpu_cache_take(struct slots_cpu_cache *self)
{
	if (!self->n_ready)
		return 0;
	self->n_ready--;
	return self->ready[self->next++];
}

/* Fills an empty cache with the slots that a call was given. */
static inline void slots_cpu_cache_fill(struct slots_cpu_cache *self,
					const struct sws_slots_call *call)
{
	memcpy(self->ready, call->slots, call->given * sizeof(*self->ready));
	self->next = 0;
	self->n_ready = call->given;
}

/* Must the returned slots be handed over before one more is put there? */
static inline bool slots_cpu_cache_is_full(const struct slots_cpu_cache *self)
{
	return self->n_returned == SWS_SLOT_CACHE_SIZE;
}

/* Keeps a slot that nothing holds any more; the cache is not full. */
static inline void slots_cpu_cache_put(struct slots_cpu_cache *self, uint32_t slot)
{
	self->returned[self->n_returned++] = slot;
}

/* Hands over the returned slots, to be read until the next put; says how many they are. */
static inline uint32_t slots_cpu_cache_hand_over(struct slots_cpu_cache *self,
						 const uint32_t **slots)
{
	const uint32_t n = self->n_returned;

	*slots = self->returned;
	self->n_returned = 0;
	return n;
}

/* Hands over the ready slots, to be read until the next fill: the caches are drained. */
static inline uint32_t slots_cpu_cache_drain(struct slots_cpu_cache *self, const uint32_t **slots)
{
	const uint32_t n = self->n_ready;

	*slots = self->ready + self->next;
	self->n_ready = 0;
	return n;
}

#endif
