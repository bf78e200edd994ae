/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots.h - one swap device: its map, its clusters, and the scan that allocates free slots.
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
 * A call takes slots from the CPU's cluster, else from the head of the free list; when no cluster
 * is free it scans the map, starting from the base. Only that scan drops si->lock, and other calls
 * may change the map in the meantime. Therefore a call is a resumable state machine:
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
 *   store the base           si->lock                  bases that the policy reads
 *   scan                     none                      slots tested
 *   search of an HDD         none                      slots tested
 *   reclaim of a cached slot none                      (the caller's)
 *   free n slots             si->lock + n cluster locks
 *   duplicate, drop, cache, uncache   cluster lock; si->lock for an HDD and in 4.8
 *
 * 4.8 has no cluster locks; a rotational device has no clusters.
 *
 *   kernel          difference to the one before
 *   4.8             one slot per call; without a free cluster the base itself is tested
 *   5.7             cluster locks; many slots per call, but one once no cluster is free
 *   5.7+scan-more   many slots per call also when no cluster is free
 *   5.8             the base is stored once per call, not at each slot
 *   6.1             the ration is decremented before a slot is tested, not after
 *
 * Modelled: the order of all tests, the tests that are repeated under the lock, the ration of 256,
 * lowest and highest, and the counter of free slots with the credit that calls hold. Left out:
 * discard (off), huge pages, several devices, swapoff, bad slots other than the header,
 * continuation of counts beyond 62.
 */
#ifndef SWAPSIM_SLOTS_H
#define SWAPSIM_SLOTS_H

#include "swapsim/core.h"
#include "swapsim/kernels.h"
#include "swapsim/slot_base.h"

/* ffi: begin */

enum {
	/* Maximum number of slots of one call: SWAP_BATCH. */
	SWS_SLOTS_BATCH = 64,
	/* Slots that are tested before the CPU is rescheduled: LATENCY_LIMIT. */
	SWS_SLOTS_RATION = 256,
	/* Maximum number of ranges of tested slots that a call records. */
	SWS_SLOTS_TRAIL = 8,
	/* Maximum of possible_cpus. */
	SWS_SLOTS_CPUS_MAX = 4096,
	/* Maximum of address_spaces. */
	SWS_SLOTS_SPACES_MAX = 1 << 24,
	/* Maximum of trunk_shift. */
	SWS_SLOTS_TRUNK_SHIFT_MAX = 31,
};

/* The slots of the largest device, whose number plus a cluster still fits into 32 bits. */
#define SWS_SLOTS_MAX 4294966783U

/* The bits of a map byte. */
enum sws_slot_usage {
	/* The number of references of page tables. */
	SWS_SLOT_COUNT = 0x3f,
	/* A bad slot, which is never allocated. */
	SWS_SLOT_BAD = 0x3f,
	/* SWAP_HAS_CACHE: the slot is in the swap cache. */
	SWS_SLOT_CACHED = 0x40,
	/* Not in the kernel: the slot has SWAP_HAS_CACHE but no page; it waits in a slot cache. */
	SWS_SLOT_IDLE = 0x80,
};

/* The configuration of a device. */
struct sws_slots_config {
	/* A kernel that sws_slots_knows; default 6.1. */
	enum sws_kernel kernel;
	/*
	 * Slots of the device including the header (si->max), 2 .. SWS_SLOTS_MAX; default 2^20 (4
	 * GB).
	 */
	uint32_t slots;
	/* Slots of a cluster: 256, or 512 with huge page swap; default 256. */
	uint32_t cluster_size;
	/* Log2 of the slots of a trunk, 1 .. SWS_SLOTS_TRUNK_SHIFT_MAX; default 14 (64 MB). */
	uint32_t trunk_shift;
	/* True for an HDD, which has no clusters and always uses the shared base; default false. */
	bool rotational;
	/* Possible CPUs, 1 .. SWS_SLOTS_CPUS_MAX; default 1. */
	uint32_t possible_cpus;
	/* Online CPUs, 1 .. possible_cpus; default 1. */
	uint32_t online_cpus;
	/* Number of address spaces, 0 .. SWS_SLOTS_SPACES_MAX; default 0. */
	uint32_t address_spaces;
	/* The policy of the base; default percpu-rerandomise. */
	enum sws_base_policy policy;
	/* The policy's functions if policy is SWS_BASE_READER. */
	struct sws_base_ops reader;
	/*
	 * NULL, or one initial value in 1 .. slots - 1 for each base; read by sws_slots_new only.
	 */
	const int64_t *initial_bases;
	/* The seed of all random draws; default 1. */
	uint64_t seed;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
};

/* Counts of the work done; functions add to them, so the caller zeroes them first. */
struct sws_slots_work {
	/* Calls of get_swap_pages that obtained credit. */
	uint64_t calls;
	/* Slots allocated. */
	uint64_t given;
	/* Slots freed to the map. */
	uint64_t freed;
	/* Acquisitions of si->lock. */
	uint64_t si_lock;
	/* Acquisitions of cluster locks. */
	uint64_t cluster_lock;
	/* Slots tested without a lock, by scans and HDD searches. */
	uint64_t tested_scan;
	/* Slots tested under si->lock by the quick scan. */
	uint64_t tested_quick;
	/* Slots tested in the clusters of CPUs. */
	uint64_t tested_cluster;
	/* Searches of a CPU's cluster, each under its lock. */
	uint64_t searches;
	/* Times that a ration of 256 ran out in a scan. */
	uint64_t rescheduled;
	/* Attempts to reclaim a slot that only the swap cache holds. */
	uint64_t reclaims;
	/* Times that a base was stored. */
	uint64_t stores;
	/* Bases that the policy read under si->lock. */
	uint64_t looked_at;
	/* Invalid results of a user's policy, which were ignored. */
	uint64_t nonsense;
};

/* The states of a call. */
enum sws_call_state {
	/* Next: a locked part. */
	SWS_CALL_START = 0,
	/* Next: unlocked, the search of an HDD for an empty run. */
	SWS_CALL_SEARCH = 1,
	/* Next: locked, after that search. */
	SWS_CALL_SEARCHED = 2,
	/* Next: unlocked, the scan of the map. */
	SWS_CALL_SCAN = 3,
	/* Next: locked, the second test of the slot at offset. */
	SWS_CALL_CHECK = 4,
	/* Next: the caller tries to reclaim the cached slot at offset. */
	SWS_CALL_RECLAIM = 5,
	/* Next: locked, after that attempt. */
	SWS_CALL_RECLAIMED = 6,
	/* Next: locked, after a scan without a result. */
	SWS_CALL_EXHAUSTED = 7,
	/* The call is over and has stored the base. */
	SWS_CALL_DONE = 8,
	/* The call is over and has stored no base. */
	SWS_CALL_NO_PAGE = 9,
};

/* Slots from .. to - 1, which one scan of a call tested. */
struct sws_slots_range {
	/* The first slot. */
	uint32_t from;
	/* One past the last slot. */
	uint32_t to;
};

/*
 * The state of a call of get_swap_pages; the memory belongs to the caller, the functions below
 * write it.
 */
struct sws_slots_call {
	/* The state of the state machine. */
	enum sws_call_state state;
	/* Slots requested, limited by the credit obtained. */
	uint32_t wanted;
	/* Slots allocated so far. */
	uint32_t given;
	/* The slots allocated. */
	uint32_t slots[SWS_SLOTS_BATCH];
	/* The address space, -1 for a kernel thread. */
	int64_t mm;
	/* The slot where the scan is. */
	uint32_t offset;
	/* The slot where the second lap of the scan ends. */
	uint32_t scan_base;
	/* The rest of the ration. */
	int32_t ration;
	/* True if a ration ran out, which disables the quick scan. */
	bool scanned_many;
	/* For an HDD: the end of the run that was found, 0 for no run. */
	uint32_t search_end;
	/* True if the attempt to reclaim freed the slot. */
	bool reclaimed;
	/* The base before the last store. */
	uint32_t base_before;
	/* One past the slot where the scan was at the last store. */
	uint32_t next;
	/* The base after the last store. */
	uint32_t base_after;
	/* True if the scan left the trunk of the base before that store. */
	bool drew;
	/* Number of ranges in trail. */
	uint32_t n_trail;
	/* Ranges of slots that scans tested; further ranges are dropped. */
	struct sws_slots_range trail[SWS_SLOTS_TRAIL];
};

/* A device; only the functions below read it. */
struct sws_slots;

/* Returns true if this header models the allocator of a kernel. */
bool sws_slots_knows(enum sws_kernel kernel);

/* Writes every default. Complexity: O(1). */
void sws_slots_config_init(struct sws_slots_config *config);

/*
 * Creates an empty device. The caller owns *out and frees it by sws_slots_free. Complexity:
 * O(slots). Returns SWS_OK, SWS_ERROR_BAD_CONFIG for a field out of its range, or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_slots_new(const struct sws_slots_config *config, struct sws_slots **out);

/* Frees a device; accepts NULL. */
void sws_slots_free(struct sws_slots *self);

/*
 * Begins a call for wanted slots. It obtains credit for at most 64 slots and at most the free ones,
 * for exactly one in 4.8; without credit the call is over at once (SWS_CALL_NO_PAGE). Models:
 * get_swap_pages. Complexity: O(1). Locks: none. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for
 * wanted 0 or an unknown mm.
 */
int sws_slots_call_begin(struct sws_slots *self, int64_t mm, uint32_t wanted,
			 struct sws_slots_call *call, struct sws_slots_work *work);

/*
 * Runs the locked part of a call on a CPU, until the lock is dropped or the call is over.
 * Complexity: O(slots tested). Locks: si->lock once. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT if
 * an unlocked part is next or the CPU is unknown.
 */
int sws_slots_call_locked(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			  struct sws_slots_work *work);

/*
 * Runs the scan or the search of a call on the current map. Complexity: O(slots tested). Locks:
 * none. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT in any other state.
 */
int sws_slots_call_unlocked(struct sws_slots *self, struct sws_slots_call *call,
			    struct sws_slots_work *work);

/*
 * Runs the next part of a call, locked or unlocked. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for
 * an unknown CPU, for a call that is over, and in SWS_CALL_RECLAIM, whose part belongs to the
 * caller:
 *
 *      while (call.state < SWS_CALL_DONE)
 *              if (call.state == SWS_CALL_RECLAIM)
 *                      free the slot at call.offset if possible; sws_slots_call_reclaimed
 *              else
 *                      sws_slots_call_next
 */
int sws_slots_call_next(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			struct sws_slots_work *work);

/*
 * Reports in SWS_CALL_RECLAIM whether the slot at call->offset was freed. Returns SWS_OK, or
 * SWS_ERROR_BAD_ARGUMENT in any other state.
 */
int sws_slots_call_reclaimed(struct sws_slots_call *call, bool freed);

/*
 * Runs a complete call without interruption; a cached slot that it tries is freed at once if its
 * page exists. Complexity and locks: those of its parts. Returns the codes of the parts.
 */
int sws_slots_allocate(struct sws_slots *self, uint32_t cpu, int64_t mm, uint32_t wanted,
		       struct sws_slots_call *call, struct sws_slots_work *work);

/*
 * Frees n slots. Models: swapcache_free_entries. Complexity: O(n). Locks: si->lock once, the
 * cluster lock for each slot. The function does not check for references to a slot, because a trace
 * of the allocator does not contain them. Returns SWS_OK, SWS_ERROR_NOT_FOUND for a free slot, or
 * SWS_ERROR_BAD_ARGUMENT for a slot that cannot be allocated; the slots before it are then freed.
 */
int sws_slots_free_entries(struct sws_slots *self, const uint32_t *offsets, uint32_t n,
			   struct sws_slots_work *work);

/*
 * The events of a slot in use. Each takes the cluster lock, or si->lock for an HDD and in 4.8.
 * *usage is the map byte afterwards; SWS_SLOT_CACHED | SWS_SLOT_IDLE means that the slot has no
 * reference left and has to be freed. Each returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT if the event
 * is not possible for the slot. Complexity: O(1).
 */
/*
 * Adds a reference of a page table; the first one gives the slot its page. Models: swap_duplicate.
 */
int sws_slots_duplicate(struct sws_slots *self, uint32_t offset, uint8_t *usage,
			struct sws_slots_work *work);
/* Drops a reference of a page table. Models: swap_free. */
int sws_slots_drop(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		   struct sws_slots_work *work);
/* Adds the page to the swap cache again. Models: swapcache_prepare. */
int sws_slots_cache(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		    struct sws_slots_work *work);
/* Removes the page from the swap cache. Models: put_swap_page, put_swap_folio. */
int sws_slots_uncache(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		      struct sws_slots_work *work);

/*
 * Returns the map byte of a slot; SWS_SLOT_BAD past the end. Complexity: O(1), as the functions
 * below.
 */
uint8_t sws_slots_usage(const struct sws_slots *self, uint32_t offset);

/* Returns lowest_bit, below which no slot is free; the number of slots when the device is full. */
uint32_t sws_slots_lowest(const struct sws_slots *self);
/* Returns highest_bit, above which no slot is free; 0 when the device is full. */
uint32_t sws_slots_highest(const struct sws_slots *self);

/* Returns the slots in use (inuse_pages). */
uint32_t sws_slots_in_use(const struct sws_slots *self);
/* Returns the free slots minus the credit that calls hold (nr_swap_pages). */
uint32_t sws_slots_credit(const struct sws_slots *self);

/*
 * Returns true if less than half of the slots are free (vm_swap_full); scans then try cached slots.
 */
bool sws_slots_swap_full(const struct sws_slots *self);

/* Returns the number of clusters on the free list. */
uint32_t sws_slots_free_clusters(const struct sws_slots *self);

/* Returns the number of bases. */
uint32_t sws_slots_bases(const struct sws_slots *self);
/* Returns a base, in the order [device], [CPU ...] or [CPU ..., mm ...]. */
int64_t sws_slots_base(const struct sws_slots *self, uint32_t owner);

/* Returns the index of the base that a caller uses. */
uint32_t sws_slots_base_owner(const struct sws_slots *self, uint32_t cpu, int64_t mm);

/*
 * Sets a base to 1 .. slots + 1, the values that a scan can leave; for a replay that read the base
 * in a trace. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for another value or index.
 */
int sws_slots_set_base(struct sws_slots *self, uint32_t owner, uint32_t base);

/*
 * Recomputes every invariant. Complexity: O(slots). Returns SWS_OK, or SWS_ERROR_BROKEN and the
 * *reason, a constant string.
 */
int sws_slots_verify(const struct sws_slots *self, const char **reason);

/* ffi: end */

#endif
