/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_cache.h - the per-CPU caches in front of a swap device: 64 slots to hand
 * out, 64 to give back.
 *
 * Models mm/swap_slots.c (4.11 to 6.13): folio_alloc_swap (get_swap_page before),
 * free_swap_slot, check_cache_active, refill_swap_slots_cache,
 * drain_slots_cache_cpu.
 *
 *      get --> [ slots of this CPU ] <== 64 at a time == device
 *      put --> [ returned slots    ] ==== 64 at a time ==> device
 *
 *   operation   lock                            under one hold
 *   get         the cache's mutex               one slot; an empty cache is refilled by a call
 *   put         the return cache's irq lock     one slot; a full cache is flushed first, with si->lock inside
 *
 * A slot in either cache reads as cached in the map, but has no page: nobody can
 * take it. The caches work once more than 320 slots an online CPU are free, and are
 * drained and passed by below 128 a CPU. Without them each get asks the device for
 * one slot, each put frees one.
 *
 * Kept: sizes, thresholds, the flush before the 65th. Dropped: CPUs that come and
 * go, the enable switch of swapon.
 */
#ifndef SWAPSIM_SLOT_CACHE_H
#define SWAPSIM_SLOT_CACHE_H

#include "swapsim/slots.h"

/* ffi: begin */

enum {
	/* SWAP_SLOTS_CACHE_SIZE. */
	SWS_SLOT_CACHE_SIZE = 64,
	/* Free slots an online CPU above which the caches start, and below which they stop. */
	SWS_SLOT_CACHE_ACTIVATE = 320,
	SWS_SLOT_CACHE_DEACTIVATE = 128,
};

/* Who is told of what happens within an operation; NULL: nobody. */
struct sws_slot_cache_observer {
	/* The page of a cached slot left the swap cache, because a call tried the slot. */
	void (*reclaimed)(void *context, uint32_t offset);
	/* A slot went back to the device, under si->lock. */
	void (*freed)(void *context, uint32_t offset);
	void *context;
};

struct sws_slot_cache_config {
	struct sws_slots_config device;
	/* Default true; false: every get and put goes to the device. */
	bool enabled;
	/* Default nobody. */
	struct sws_slot_cache_observer observer;
};

/* What was done; operations add to it, so zero it first. */
struct sws_slot_cache_work {
	/* Slots asked for, and given back. */
	uint64_t gets;
	uint64_t puts;
	/* Times that a cache's mutex and a return cache's lock were taken. */
	uint64_t cache_mutex;
	uint64_t return_lock;
	/* Return caches that were flushed because they were full. */
	uint64_t flushes;
	/* Times that the caches were started or stopped. */
	uint64_t switches;
	struct sws_slots_work device;
};

struct sws_slot_cache;

/* Writes every default. */
void sws_slot_cache_config_init(struct sws_slot_cache_config *config);

/*
 * Makes an empty device with empty caches. The caller frees it.
 * Returns SWS_ERROR_BAD_CONFIG for a field out of its range.
 */
int sws_slot_cache_new(const struct sws_slot_cache_config *config, struct sws_slot_cache **out);

/* Frees caches and device; takes NULL. */
void sws_slot_cache_free(struct sws_slot_cache *self);

/* The device behind the caches; borrowed. */
struct sws_slots *sws_slot_cache_device(struct sws_slot_cache *self);

/*
 * One slot for a page on this CPU (folio_alloc_swap): offset 0 if there is none.
 * If a call of the device was made, it stays readable in *call (given 0 otherwise
 * and state SWS_CALL_START). A cached slot that a call tries goes to this CPU's
 * return cache. Locks: see above.
 * Returns SWS_ERROR_BAD_ARGUMENT for an unknown CPU or mm.
 */
int sws_slot_cache_get(struct sws_slot_cache *self, uint32_t cpu, int64_t mm, uint32_t *offset,
		       struct sws_slots_call *call, struct sws_slot_cache_work *work);

/*
 * Gives back a slot that nothing holds any more (free_swap_slot). Locks: see above.
 * Returns SWS_ERROR_BAD_ARGUMENT for an unknown CPU or a slot still in use.
 */
int sws_slot_cache_put(struct sws_slot_cache *self, uint32_t cpu, uint32_t offset,
		       struct sws_slot_cache_work *work);

/* Slots that wait on a CPU to be handed out, and to be freed. */
uint32_t sws_slot_cache_ready(const struct sws_slot_cache *self, uint32_t cpu);
uint32_t sws_slot_cache_returned(const struct sws_slot_cache *self, uint32_t cpu);

/* Re-derives every invariant, the device's too; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_slot_cache_verify(const struct sws_slot_cache *self, const char **reason);

/* ffi: end */

#endif
