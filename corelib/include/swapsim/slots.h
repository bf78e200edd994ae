/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots.h - one swap device: its map, its clusters, and the scan that hands out
 * free slots.
 *
 * Models, in mm/swapfile.c
 *   4.8   scan_swap_map, swap_entry_free
 *   5.7, 5.8, 6.1
 *         get_swap_pages (one device), scan_swap_map_slots,
 *         scan_swap_map_try_ssd_cluster, scan_swap_map_ssd_cluster_conflict,
 *         swap_range_alloc, swap_range_free, swapcache_free_entries,
 *         set_cluster_next, setup_swap_map_and_extents
 *
 *   swap_map   B # # . # . . . | . . . . . . . . | # # # # # # # # | # . # # ...
 *   cluster    0: 4 in use     | 1: free         | 2: full         | 3
 *   free list  1 -> 65 -> 129 ... : column by column, a trunk apart (from 5.7 on)
 *   this CPU   cluster 9, next 2307      its base: 16390
 *
 * A call takes slots from this CPU's cluster, else from the free list's head; when
 * no cluster is free it scans the map from the base on. Only that scan drops
 * si->lock, and others may change the map meanwhile. So a call is led in parts:
 *
 *      begin -> [ locked part ] -> done | no page
 *                   |       ^
 *      lock dropped v       | lock taken
 *               [ unlocked part: scan, search, or reclaim ]
 *
 *   part                     lock                      work under it
 *   cluster search           si->lock + cluster lock   slots tested in this CPU's cluster
 *   take a slot              si->lock + cluster lock   one map byte
 *   quick scan (from 5.8)    si->lock                  slots tested, at most 255 a call
 *   store the base           si->lock                  bases that the policy looks at
 *   scan                     none                      slots tested
 *   search of an HDD         none                      slots tested
 *   reclaim of a cached slot none                      (the caller's)
 *   free n slots             si->lock + n cluster locks
 *   duplicate, drop, cache, uncache   cluster lock; si->lock for an HDD and in 4.8
 *
 * In 4.8 there is no cluster lock; a rotational device has no clusters at all.
 *
 *   kernel          what is new
 *   4.8             one slot a call; without a free cluster the base itself is tested
 *   5.7             cluster locks, many slots a call, but one once no cluster is free
 *   5.7+scan-more   many then, too
 *   5.8             the base is stored once a call, not at each slot
 *   6.1             the ration is spent before a slot is tested, not after
 *
 * Kept: the order of every test, what is tested again under the lock, the ration
 * of 256, lowest and highest, and the counter of free slots with the credit that
 * calls hold. Dropped: discard (off), huge pages, several devices, swapoff, bad
 * slots but the header's, continuation of counts beyond 62.
 */
#ifndef SWAPSIM_SLOTS_H
#define SWAPSIM_SLOTS_H

#include "swapsim/core.h"
#include "swapsim/kernels.h"
#include "swapsim/slot_base.h"

/* ffi: begin */

enum {
	/* Slots of one call at most: SWAP_BATCH. */
	SWS_SLOTS_BATCH = 64,
	/* Slots tested before the CPU is offered: LATENCY_LIMIT. */
	SWS_SLOTS_RATION = 256,
	/* Ranges of tested slots that a call remembers. */
	SWS_SLOTS_TRAIL = 8,
	/* The most that a config may ask for. */
	SWS_SLOTS_CPUS_MAX = 4096,
	SWS_SLOTS_SPACES_MAX = 1 << 24,
	SWS_SLOTS_TRUNK_SHIFT_MAX = 31,
};

/* The slots of the largest device: with a cluster more than them, 32 bits still count all. */
#define SWS_SLOTS_MAX 4294966783U

/* The bits of a map byte. */
enum sws_slot_usage {
	/* References of page tables. */
	SWS_SLOT_COUNT = 0x3f,
	/* Never handed out. */
	SWS_SLOT_BAD = 0x3f,
	/* SWAP_HAS_CACHE. */
	SWS_SLOT_CACHED = 0x40,
	/* Ours: cached by name only, the slot waits in a slot cache. */
	SWS_SLOT_IDLE = 0x80,
};

struct sws_slots_config {
	/* One that sws_slots_knows; default 6.1. */
	enum sws_kernel kernel;
	/* Of the device, header included: si->max; 2 .. SWS_SLOTS_MAX, default 2^20 (4 GB). */
	uint32_t slots;
	/* 256, or 512 where huge pages swap; default 256. */
	uint32_t cluster_size;
	/* Log2 of a trunk's slots, 1 .. SWS_SLOTS_TRUNK_SHIFT_MAX; default 14 (64 MB). */
	uint32_t trunk_shift;
	/* An HDD: no clusters, and the shared base whatever the policy; default false. */
	bool rotational;
	/* 1 .. SWS_SLOTS_CPUS_MAX, and 1 .. possible_cpus; default 1. */
	uint32_t possible_cpus;
	uint32_t online_cpus;
	/* Address spaces that call, 0 .. SWS_SLOTS_SPACES_MAX; default 0. */
	uint32_t address_spaces;
	/* Default percpu-rerandomise; for SWS_BASE_READER, what the reader says. */
	enum sws_base_policy policy;
	struct sws_base_ops reader;
	/* NULL, or a first value in 1 .. slots - 1 for each base; read once. */
	const int64_t *initial_bases;
	/* Of all random draws; default 1. */
	uint64_t seed;
	/* NULL: libc. */
	const struct sws_allocator *allocator;
};

/* What was done; calls add to it, so zero it first. */
struct sws_slots_work {
	/* Calls of get_swap_pages that found credit. */
	uint64_t calls;
	/* Slots handed out, and given back to the map. */
	uint64_t given;
	uint64_t freed;
	/* Times that si->lock and a cluster's lock were taken. */
	uint64_t si_lock;
	uint64_t cluster_lock;
	/* Slots tested with no lock held; by the quick scan under si->lock; in CPUs' clusters. */
	uint64_t tested_scan;
	uint64_t tested_quick;
	uint64_t tested_cluster;
	/* Searches of CPUs' clusters, each under its lock. */
	uint64_t searches;
	/* Times that a ration of 256 ran out in a scan. */
	uint64_t rescheduled;
	/* Slots held by the cache alone that were tried. */
	uint64_t reclaims;
	/* Times that a base was stored, and bases that the policy looked at under si->lock. */
	uint64_t stores;
	uint64_t looked_at;
	/* Answers of a reader's policy that were not followed. */
	uint64_t nonsense;
};

/* Where a call stands. */
enum sws_call_state {
	SWS_CALL_START = 0, /* next: a locked part */
	SWS_CALL_SEARCH = 1, /* next: unlocked, an HDD's search for an empty run */
	SWS_CALL_SEARCHED = 2, /* next: locked */
	SWS_CALL_SCAN = 3, /* next: unlocked, the scan of the map */
	SWS_CALL_CHECK = 4, /* next: locked, the slot at offset is looked at again */
	SWS_CALL_RECLAIM = 5, /* next: the caller tries to free the cached slot at offset */
	SWS_CALL_RECLAIMED = 6, /* next: locked */
	SWS_CALL_EXHAUSTED = 7, /* next: locked, the scan found nothing */
	SWS_CALL_DONE = 8, /* over; the base was stored */
	SWS_CALL_NO_PAGE = 9, /* over; no base was stored */
};

/* Slots from .. to - 1 that one stretch of a call tested. */
struct sws_slots_range {
	uint32_t from;
	uint32_t to;
};

/* A call of get_swap_pages under way: the caller's memory, written by the functions below. */
struct sws_slots_call {
	enum sws_call_state state;
	/* At most, after the credit was taken; and the slots given. */
	uint32_t wanted;
	uint32_t given;
	uint32_t slots[SWS_SLOTS_BATCH];
	/* Address space, -1 for a kernel thread. */
	int64_t mm;
	/* Where the scan stands, where it began, and what it has left of its ration. */
	uint32_t offset;
	uint32_t scan_base;
	int32_t ration;
	/* Did a ration run out? The quick scan is left out then. */
	bool scanned_many;
	/* Of an HDD: where the run found ends, 0 for none. */
	uint32_t search_end;
	/* Did the reclaim free the slot? */
	bool reclaimed;
	/* The last store: the base until then, one past where the scan stood, the base since. */
	uint32_t base_before;
	uint32_t next;
	uint32_t base_after;
	/* Did the scan leave the trunk of the base in it? */
	bool drew;
	/* Tested by scans; what does not fit is not kept. */
	uint32_t n_trail;
	struct sws_slots_range trail[SWS_SLOTS_TRAIL];
};

struct sws_slots;

/* Is there an allocator of this kernel here? */
bool sws_slots_knows(enum sws_kernel kernel);

/* Writes every default. */
void sws_slots_config_init(struct sws_slots_config *config);

/*
 * Makes an empty device. The caller frees it.
 * Returns SWS_ERROR_BAD_CONFIG for a field out of its range.
 */
int sws_slots_new(const struct sws_slots_config *config, struct sws_slots **out);

/* Frees a device; takes NULL. */
void sws_slots_free(struct sws_slots *self);

/*
 * Begins a call for wanted slots (get_swap_pages): takes credit for at most 64 and
 * at most what is free, exactly one in 4.8. Without credit the call is over at once
 * (SWS_CALL_NO_PAGE). Returns SWS_ERROR_BAD_ARGUMENT for wanted 0 or an unknown mm.
 */
int sws_slots_call_begin(struct sws_slots *self, int64_t mm, uint32_t wanted,
			 struct sws_slots_call *call, struct sws_slots_work *work);

/*
 * The part of a call under si->lock, on this CPU, up to where the lock is dropped
 * or the call is over. Locks: si->lock once.
 * Returns SWS_ERROR_BAD_ARGUMENT if an unlocked part is next, or for an unknown CPU.
 */
int sws_slots_call_locked(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			  struct sws_slots_work *work);

/*
 * The scan or search of a call, on the map as it is now. Locks: none.
 * Returns SWS_ERROR_BAD_ARGUMENT in any other state.
 */
int sws_slots_call_unlocked(struct sws_slots *self, struct sws_slots_call *call,
			    struct sws_slots_work *work);

/*
 * Leads a call one part further, whichever is next: the locked or the unlocked one.
 * Returns SWS_ERROR_BAD_ARGUMENT for an unknown CPU, for a call that is over, and in
 * SWS_CALL_RECLAIM, whose part is the caller's:
 *
 *      while (call.state < SWS_CALL_DONE)
 *              if (call.state == SWS_CALL_RECLAIM)
 *                      free the slot at call.offset, if it can be; sws_slots_call_reclaimed
 *              else
 *                      sws_slots_call_next
 */
int sws_slots_call_next(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			struct sws_slots_work *work);

/* Says in SWS_CALL_RECLAIM whether the slot at call->offset was freed. */
int sws_slots_call_reclaimed(struct sws_slots_call *call, bool freed);

/*
 * A whole call that nothing interrupts; a cached slot that it tries is freed at
 * once if its page is there. Returns as the parts do.
 */
int sws_slots_allocate(struct sws_slots *self, uint32_t cpu, int64_t mm, uint32_t wanted,
		       struct sws_slots_call *call, struct sws_slots_work *work);

/*
 * Frees n slots (swapcache_free_entries). Locks: si->lock once, each slot's cluster.
 * Returns SWS_ERROR_NOT_FOUND for a slot that is free and SWS_ERROR_BAD_ARGUMENT
 * for one that no call hands out; those before it are freed then. Whether something still
 * refers to a slot is not asked: a trace of the allocator does not know.
 */
int sws_slots_free_entries(struct sws_slots *self, const uint32_t *offsets, uint32_t n,
			   struct sws_slots_work *work);

/*
 * What happens to a slot in use; each takes the cluster's lock, or si->lock for an
 * HDD and in 4.8. usage is the map byte afterwards; SWS_SLOT_CACHED | SWS_SLOT_IDLE
 * means that nothing holds the slot any more: it is due to be freed.
 * Each returns SWS_ERROR_BAD_ARGUMENT for a slot that it does not fit.
 */
/* One more page table refers to the page (swap_duplicate); the slot got its page. */
int sws_slots_duplicate(struct sws_slots *self, uint32_t offset, uint8_t *usage,
			struct sws_slots_work *work);
/* One page table less (swap_free). */
int sws_slots_drop(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		   struct sws_slots_work *work);
/* The page is in the swap cache again (swapcache_prepare). */
int sws_slots_cache(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		    struct sws_slots_work *work);
/* The page left the swap cache (put_swap_page, put_swap_folio). */
int sws_slots_uncache(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		      struct sws_slots_work *work);

/* The map byte of a slot; SWS_SLOT_BAD past the end. */
uint8_t sws_slots_usage(const struct sws_slots *self, uint32_t offset);

/* lowest_bit and highest_bit: no slot outside of them is free; max and 0 when full. */
uint32_t sws_slots_lowest(const struct sws_slots *self);
uint32_t sws_slots_highest(const struct sws_slots *self);

/* Slots in use (inuse_pages), and slots without the credit that calls hold (nr_swap_pages). */
uint32_t sws_slots_in_use(const struct sws_slots *self);
uint32_t sws_slots_credit(const struct sws_slots *self);

/* Less than half of the slots free (vm_swap_full)? Cached slots are tried then. */
bool sws_slots_swap_full(const struct sws_slots *self);

/* Clusters on the free list. */
uint32_t sws_slots_free_clusters(const struct sws_slots *self);

/* How many bases there are, and each: [device], [CPU ...] or [CPU ..., mm ...]. */
uint32_t sws_slots_bases(const struct sws_slots *self);
int64_t sws_slots_base(const struct sws_slots *self, uint32_t owner);

/* Which base a caller uses. */
uint32_t sws_slots_base_owner(const struct sws_slots *self, uint32_t cpu, int64_t mm);

/* Puts a base to 1 .. slots + 1, as far as a scan can leave it: for a replay that read it. */
int sws_slots_set_base(struct sws_slots *self, uint32_t owner, uint32_t base);

/* Re-derives every invariant; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_slots_verify(const struct sws_slots *self, const char **reason);

/* ffi: end */

#endif
