/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_cache.h - the per-CPU caches in front of a swap device: 64 allocated slots, and 64 slots
 * that wait to be freed.
 *
 * Models mm/swap_slots.c (4.11 to 6.13): folio_alloc_swap (formerly get_swap_page), free_swap_slot,
 * check_cache_active, refill_swap_slots_cache, drain_slots_cache_cpu.
 *
 *      get --> [ slots of this CPU ] <== 64 at a time == device
 *      put --> [ returned slots    ] ==== 64 at a time ==> device
 *
 *   operation   lock                            work under it
 *   get         the cache's mutex               one slot; an empty cache is refilled by a call
 *   put         the return cache's irq lock     one slot; a full cache is first flushed under
 *                                               si->lock
 *
 * A slot in either cache is marked as cached in the map but has no page, so that no scan can take
 * it. The caches start when more than 320 slots per online CPU are free. They stop, and are
 * drained, when fewer than 128 per CPU are free; then each get allocates one slot from the device,
 * and each put frees one.
 *
 * Modelled: sizes, thresholds, the flush before the 65th slot. Left out: CPU hotplug, the enable
 * switch of swapon.
 */
#ifndef SWAPSIM_SLOT_CACHE_H
#define SWAPSIM_SLOT_CACHE_H

#include "swapsim/slots.h"

/* ffi: begin */

enum {
	/* SWAP_SLOTS_CACHE_SIZE. */
	SWS_SLOT_CACHE_SIZE = 64,
	/* Free slots per online CPU above which the caches start. */
	SWS_SLOT_CACHE_ACTIVATE = 320,
	/* Free slots per online CPU below which the caches stop. */
	SWS_SLOT_CACHE_DEACTIVATE = 128,
};

/* Functions that are called within an operation; NULL members are not called. */
struct sws_slot_cache_observer {
	/*
	 * Called when the page of a cached slot has left the swap cache because a call tried the
	 * slot.
	 */
	void (*reclaimed)(void *context, uint32_t offset);
	/* Called when a slot is freed to the device, under si->lock. */
	void (*freed)(void *context, uint32_t offset);
	/* The first argument of both functions; it belongs to the caller. */
	void *context;
};

/* The configuration of the caches and their device. */
struct sws_slot_cache_config {
	/* The configuration of the device. */
	struct sws_slots_config device;
	/* False if each get and put goes to the device directly; default true. */
	bool enabled;
	/* The observer; by default its members are NULL. */
	struct sws_slot_cache_observer observer;
};

/* Counts of the work done; functions add to them, so the caller zeroes them first. */
struct sws_slot_cache_work {
	/* Calls of get. */
	uint64_t gets;
	/* Calls of put. */
	uint64_t puts;
	/* Acquisitions of a cache's mutex. */
	uint64_t cache_mutex;
	/* Acquisitions of a return cache's lock. */
	uint64_t return_lock;
	/* Flushes of full return caches. */
	uint64_t flushes;
	/* Times that the caches were started or stopped. */
	uint64_t switches;
	/* The work of the device. */
	struct sws_slots_work device;
};

/* Caches with their device; only the functions below read them. */
struct sws_slot_cache;

/* Writes every default. Complexity: O(1). */
void sws_slot_cache_config_init(struct sws_slot_cache_config *config);

/*
 * Creates an empty device with empty caches. The caller owns *out and frees it by
 * sws_slot_cache_free. Complexity: O(slots). Returns SWS_OK, SWS_ERROR_BAD_CONFIG or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_slot_cache_new(const struct sws_slot_cache_config *config, struct sws_slot_cache **out);

/* Frees the caches and the device; accepts NULL. */
void sws_slot_cache_free(struct sws_slot_cache *self);

/*
 * Returns the device, which the caches own. A slot that waits in a cache belongs to it: a caller that
 * frees or uses it directly breaks the caches, and sws_slot_cache_verify says so.
 */
struct sws_slots *sws_slot_cache_device(struct sws_slot_cache *self);

/*
 * Gets one slot for a page on a CPU; *offset is 0 if there is no free slot. *call is the last call
 * of the device, or has given 0 and state SWS_CALL_START if there was no call. A cached slot that a
 * call reclaims goes to this CPU's return cache. Models: folio_alloc_swap. Complexity: amortised
 * O(1) plus the slots tested. Locks: see the table above. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT
 * for an unknown CPU or mm.
 */
int sws_slot_cache_get(struct sws_slot_cache *self, uint32_t cpu, int64_t mm, uint32_t *offset,
		       struct sws_slots_call *call, struct sws_slot_cache_work *work);

/*
 * Puts back a slot without references. Models: free_swap_slot. Complexity: amortised O(1). Locks:
 * see the table above. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for an unknown CPU, or a slot that is
 * in use, is free, or waits in a cache already.
 */
int sws_slot_cache_put(struct sws_slot_cache *self, uint32_t cpu, uint32_t offset,
		       struct sws_slot_cache_work *work);

/* Returns the allocated slots that wait in a CPU's cache. */
uint32_t sws_slot_cache_ready(const struct sws_slot_cache *self, uint32_t cpu);
/* Returns the slots that wait in a CPU's return cache to be freed. */
uint32_t sws_slot_cache_returned(const struct sws_slot_cache *self, uint32_t cpu);

/*
 * Recomputes every invariant, those of the device included; each slot is in one cache at most, once. Complexity: O(slots). Returns SWS_OK,
 * or SWS_ERROR_BROKEN and the *reason, a constant string.
 */
int sws_slot_cache_verify(const struct sws_slot_cache *self, const char **reason);

/* ffi: end */

#endif
