/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters.h - swap devices of newer kernels: slots come from clusters, and clusters from lists.
 *
 * Models, in mm/swapfile.c
 *   6.12.117   get_swap_pages, cluster_alloc_swap_entry, alloc_swap_scan_cluster,
 *              cluster_scan_range, cluster_reclaim_range, cluster_alloc_range,
 *              swap_reclaim_full_clusters, swap_entry_range_free, dec_cluster_info_page,
 *              swap_do_scheduled_discard, setup_clusters
 *   7.3.4      folio_alloc_swap, swap_alloc_fast, swap_alloc_slow, cluster_alloc_swap_entry,
 *              isolate_lock_cluster, alloc_swap_scan_cluster, relocate_cluster, move_cluster,
 *              __swap_cluster_free_entries, swap_sync_discard, setup_swap_clusters_info
 * by the switches of cluster_rules.h.
 *
 * A cluster of 512 slots (256 without huge page swap) serves one order, until it is empty again. It
 * is on one of 23 lists:
 *
 *      free        9 -> 41 -> 73             no slot in use
 *      nonfull[0]  0 -> 12                   a slot was freed since the last visit
 *      nonfull[4]  6
 *      frag[4]     17 -> 3                   a visit left it
 *      full        8 -> 5 -> 11              all slots in use
 *      discard     2                         empty, waits until the device has discarded it
 *
 *      CPU 0       order 0: slot 6291, order 4: slot 3088        (the clusters where it goes on)
 *
 *      cluster 6   ####....  ####....  ########  .#......        order 2 fits at the first and
 *                                                                second gap, order 3 does not
 *
 *      empty --grant--> nonfull or frag --last slot--> full
 *        ^                 |   ^                        |
 *        '---last free-----'   '-------first free-------'
 *
 * A request for 2^order slots visits its CPU's own cluster (with own_by_task: its task's), then
 * clusters from the lists, in an order that the rules or a user's function choose; a visit takes the
 * first aligned range that is free. When less than half of all slots are free, a range with slots
 * that only the swap cache uses may do as well: the locks are dropped (a window), the slots are
 * reclaimed, and the range is tested again.
 *
 *   operation       6.12                                  7.3
 *   a call          swap_avail_lock: credit, turn         local lock of the CPU
 *                   si->lock: the rest
 *   new device      (each call)                           swap_avail_lock
 *   visit           cluster lock inside si->lock          cluster lock
 *   pick of a list  (si->lock is held)                    si->lock, then trylock of the cluster
 *   list move       (si->lock is held)                    si->lock inside the cluster lock
 *   window          none; both are taken again after it   none; the cluster lock is taken again
 *   free            si->lock, cluster lock                cluster lock
 *   discard         none; then si->lock, cluster lock     none; then cluster lock, si->lock
 *
 * Because other CPUs run between these holds, a call is a resumable state machine. It stops at each
 * point that a probe of the kernel shows, **before** the point's effect:
 *
 *      sws_clusters_call_begin
 *      sws_clusters_call_next    -> point: VISIT of slot 3088
 *      sws_clusters_call_apply   (this point, or the one that a trace contains)
 *      sws_clusters_call_next    -> point: GRANT of slots 3088 .. 3103
 *      ...                       -> point: DONE
 *
 * Memory: 1 byte for each slot and 24 for each cluster, which is 1.05 bytes a slot with clusters of
 * 512 (limit 30); 1 TB of swap (2^28 slots) takes 0.28 GB of 8.
 *
 * Modelled: clusters of 512 and 256 slots (smaller ones for tests), orders 0 to 9, several devices
 * with equal and other priorities, swap files, discard, rotational devices of 7.3, reclaim of
 * cached slots in visits and of full clusters. Left out: bad slots other than the header, swapoff,
 * hibernation, NUMA nodes (6.12 has one list of devices a node), rotational devices of 6.12 (their
 * scan is in slots.h), failed allocations of a cluster's table (7.3), the counts of references.
 */
#ifndef SWAPSIM_CLUSTERS_H
#define SWAPSIM_CLUSTERS_H

#include "swapsim/cluster_rules.h"

/* ffi: begin */

enum {
	/* Number of orders: 2^9 slots are a huge page. */
	SWS_CLUSTERS_ORDERS = 10,
	/* Maximum number of runs of one call: SWAP_BATCH. */
	SWS_CLUSTERS_BATCH = 64,
	/* Maximum of cluster_size; smaller powers of two from 4 on are possible. */
	SWS_CLUSTERS_SIZE_MAX = 512,
	/* Maximum of n_devices: MAX_SWAPFILES without special types. */
	SWS_CLUSTERS_DEVICES_MAX = 28,
	/* Maximum of cpus. */
	SWS_CLUSTERS_CPUS_MAX = 4096,
	/* Maximum of owners. */
	SWS_CLUSTERS_OWNERS_MAX = 65535,
	/* Maximum of trunk_shift. */
	SWS_CLUSTERS_TRUNK_SHIFT_MAX = 31,
};

/* The slots of the largest device, whose number plus a cluster still fits into 32 bits. */
#define SWS_CLUSTERS_SLOTS_MAX 4294966783U

/* The lists of a device; nonfull and frag have one for each order. */
enum sws_cluster_list {
	/* Empty clusters. */
	SWS_CLUSTER_LIST_FREE = 0,
	/* Clusters without a free slot. */
	SWS_CLUSTER_LIST_FULL = 1,
	/* Empty clusters that the device has to discard first. */
	SWS_CLUSTER_LIST_DISCARD = 2,
	/* + order: clusters that had a slot freed since the last visit, or had their first grant. */
	SWS_CLUSTER_LIST_NONFULL = 3,
	/* + order: clusters that a visit left. */
	SWS_CLUSTER_LIST_FRAG = 13,
	/* The number of lists. */
	SWS_CLUSTER_LISTS = 23,
	/* On no list. */
	SWS_CLUSTER_LIST_NONE = 255,
};

/*
 * What a call does next, and the operations of the rows of a trace (cluster_replay.h). The comment
 * says which fields of sws_clusters_point have a meaning.
 */
enum sws_cluster_op {
	/* A request for n runs of 2^order slots; rows only. */
	SWS_CLUSTER_CALL = 0,
	/* A visit of the cluster of slot, from slot on: device, slot, order. */
	SWS_CLUSTER_VISIT = 1,
	/* n slots from slot on are allocated: device, slot, n. */
	SWS_CLUSTER_GRANT = 2,
	/* The call ends with n runs: n. */
	SWS_CLUSTER_DONE = 3,
	/* n slots from slot on are freed: device, slot, n; rows only. */
	SWS_CLUSTER_FREE = 4,
	/* A slot is tried for reclaim: device, slot; rows only. */
	SWS_CLUSTER_TRY = 5,
	/* Reclaim of full clusters begins, by a worker if n is 1: device, n. */
	SWS_CLUSTER_FULL = 6,
	/* That reclaim ends: device. */
	SWS_CLUSTER_FULL_DONE = 7,
	/* The locks are dropped to reclaim n slots from slot on: device, slot, n; points only. */
	SWS_CLUSTER_WINDOW = 8,
	/* The locks are held again; rows only. */
	SWS_CLUSTER_RELOCK = 9,
	/* A list is asked for a cluster (isolates): device, list. */
	SWS_CLUSTER_PICK = 10,
	/* The list yields the cluster that begins at slot if n is 1, none if 0: device, slot, n, list. */
	SWS_CLUSTER_PICKED = 11,
	/* The cluster that begins at slot goes to the tail of a list: device, slot, list. */
	SWS_CLUSTER_MOVE = 12,
	/* The cluster that begins at slot leaves the discard list: device, slot. */
	SWS_CLUSTER_DISCARD = 13,
	/* That cluster has been discarded and goes to the free list: device, slot. */
	SWS_CLUSTER_DISCARDED = 14,
	/* The first device goes behind its equals, and is searched: device. */
	SWS_CLUSTER_TURN = 15,
	/* A visit ends; slot is where the CPU goes on, 0 for none: device, slot. */
	SWS_CLUSTER_VISITED = 16,
	/* The first cluster of a list is locked by another call (isolates without trylock). */
	SWS_CLUSTER_BUSY = 17,
	/* The number of operations. */
	SWS_CLUSTER_OPS = 18,
};

/* A device. */
struct sws_clusters_device {
	/* Slots including the header (si->max), 2 .. SWS_CLUSTERS_SLOTS_MAX. */
	uint32_t slots;
	/* The priority; devices of the highest one are used first, equal ones in turn. */
	int32_t priority;
	/* True for a swap file, which refuses orders above 0. */
	bool file;
	/* True for an HDD; only with global_next. */
	bool rotational;
	/* True if empty clusters are discarded before their next use. */
	bool discard;
};

/* The configuration. */
struct sws_clusters_config {
	/* The rules; default those of 6.12. */
	struct sws_cluster_rules rules;
	/* Slots of a cluster: a power of two, 4 .. SWS_CLUSTERS_SIZE_MAX; default 512. */
	uint32_t cluster_size;
	/* Log2 of the slots between the rows of the columns, 1 .. 31; default 14 (64 MB). */
	uint32_t trunk_shift;
	/* CPUs, 1 .. SWS_CLUSTERS_CPUS_MAX; default 1. */
	uint32_t cpus;
	/* Owners with own_by_task, 1 .. SWS_CLUSTERS_OWNERS_MAX; default 0. */
	uint32_t owners;
	/* The number of devices, 1 .. SWS_CLUSTERS_DEVICES_MAX; default 0, so it has to be set. */
	uint32_t n_devices;
	/* The devices; read by sws_clusters_new only. */
	const struct sws_clusters_device *devices;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
	/* A user's function (enum sws_cluster_choice); NULL, which is the default, for none. */
	int64_t (*choose)(int64_t order, int64_t asked, int64_t most, int64_t last, int64_t times,
			  int64_t free, int64_t nonfull, int64_t frag, int64_t larger, int64_t full,
			  int64_t swap_full);
};

/* Counts of the work done since sws_clusters_new. */
struct sws_clusters_work {
	/* Calls. */
	uint64_t calls;
	/* Runs granted, by order. */
	uint64_t granted[10];
	/* Runs asked for and not granted, by order. */
	uint64_t refused[10];
	/* Slots granted. */
	uint64_t slots;
	/* Slots freed. */
	uint64_t freed;
	/* Visits of clusters. */
	uint64_t visits;
	/* Visits of clusters that another CPU visited last. */
	uint64_t visits_of_others;
	/* Searches that ended because of the user's function: no choice, or too many. */
	uint64_t bad_choices;
	/* Full clusters taken for reclaim. */
	uint64_t reclaims;
	/* Lists that were asked for a cluster (isolates). */
	uint64_t picks;
	/* Clusters that went to the tail of a list. */
	uint64_t moves;
	/* Clusters discarded. */
	uint64_t discards;
	/* Searches that went on to the lists: the own cluster in the device had no slot. */
	uint64_t misses;
	/* Slots granted on devices below the highest priority. */
	uint64_t lower;
	/* Runs granted while a device of higher priority had free slots. */
	uint64_t inversions;
	/* Acquisitions of si->lock by calls. */
	uint64_t si_lock;
	/* Acquisitions of si->lock by frees. */
	uint64_t si_lock_free;
	/* Acquisitions of cluster locks by calls. */
	uint64_t cluster_lock;
	/* Acquisitions of cluster locks by frees. */
	uint64_t cluster_lock_free;
	/* Acquisitions of swap_avail_lock. */
	uint64_t avail_lock;
	/* Acquisitions of the local lock of a CPU (shared_next). */
	uint64_t local_lock;
};

/* What a call does next. */
struct sws_clusters_point {
	/* enum sws_cluster_op */
	uint8_t op;
	/* The device. */
	uint8_t device;
	/* The order of the call. */
	uint8_t order;
	/* enum sws_cluster_list, the order added. */
	uint8_t list;
	/* A slot, or the first slot of a cluster. */
	uint32_t slot;
	/* A number; its meaning depends on op. */
	uint32_t n;
};

/*
 * The state of a call; the memory belongs to the caller, the functions below write it. A caller may
 * read it.
 */
struct sws_clusters_call {
	/* The last point that sws_clusters_call_next computed. */
	struct sws_clusters_point point;
	/* The CPU whose next slot the search that runs uses and sets. */
	uint32_t cpu;
	/*
	 * The CPU where the task runs. A caller may set it before sws_clusters_call_next, if the
	 * task has moved while it held no lock; the next search uses it.
	 */
	uint32_t now_cpu;
	/* The owner, if there are any; 0 unless the caller sets another one, below owners. */
	uint32_t owner;
	/* Runs requested; with credit_first limited by the credit obtained. */
	uint32_t wanted;
	/* Runs granted so far. */
	uint32_t granted;
	/* The cluster that a visit holds, counted over all devices; UINT32_MAX without a visit. */
	uint32_t visiting;
	/* The slot where that visit began. */
	uint32_t start;
	/* The full cluster in reclaim, counted over all devices; UINT32_MAX for none. */
	uint32_t full;
	/* Full clusters that a worker has to take after that one. */
	uint32_t left;
	/* Private: the place in the search. */
	uint32_t offset;
	uint32_t next;
	uint32_t tried;
	uint32_t before;
	uint32_t picked;
	uint32_t asked;
	uint32_t times;
	uint32_t turns;
	uint8_t choice;
	uint8_t order;
	uint8_t device;
	uint8_t following;
	uint8_t state;
	uint8_t back;
	uint8_t step;
	uint8_t list;
	uint8_t most;
	bool worker;
	bool discarded;
	bool scanned;
};

/* Devices with their clusters; only the functions below read them. */
struct sws_clusters;

/* Returns the name of an operation in tables, such as "visit"; NULL for an unknown one. */
const char *sws_cluster_op_name(uint32_t op);

/* Returns the name of a list in tables, such as "frag4"; NULL for an unknown one. */
const char *sws_cluster_list_name(uint32_t list);

/* Writes every default. Complexity: O(1). */
void sws_clusters_config_init(struct sws_clusters_config *config);

/*
 * Creates empty devices. The caller owns *out and frees it by sws_clusters_free. Complexity:
 * O(slots). Returns SWS_OK, SWS_ERROR_BAD_CONFIG for a field out of its range, or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_clusters_new(const struct sws_clusters_config *config, struct sws_clusters **out);

/* Frees the devices; accepts NULL. */
void sws_clusters_free(struct sws_clusters *self);

/*
 * Begins a call for wanted runs of 2^order slots, at most SWS_CLUSTERS_BATCH. Models:
 * get_swap_pages, folio_alloc_swap. Complexity: O(1). Locks: swap_avail_lock for the credit.
 * Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for an unknown CPU or order, or wanted 0.
 */
int sws_clusters_call_begin(struct sws_clusters *self, uint32_t cpu, uint32_t order,
			    uint32_t wanted, struct sws_clusters_call *call);

/*
 * Begins the work of a kernel thread that reclaims the full clusters of a device. Models:
 * swap_reclaim_work. Complexity: O(1). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for an unknown
 * device.
 */
int sws_clusters_worker_begin(struct sws_clusters *self, uint32_t device,
			      struct sws_clusters_call *call);

/*
 * Computes the next point of a call from the present state, into call->point; SWS_CLUSTER_DONE is
 * the last one. It changes no list, no slot and no counter. Complexity: O(cluster) for each visit
 * without a result.
 */
void sws_clusters_call_next(struct sws_clusters *self, struct sws_clusters_call *call);

/*
 * Applies a point: call->point, or another one of the same op whose slots the caller has checked by
 * sws_clusters_can_apply. NULL refuses a VISIT of the own cluster, or a GRANT, which ends the
 * visit. Complexity: O(slots of the run). Locks: see the table above.
 */
void sws_clusters_call_apply(struct sws_clusters *self, struct sws_clusters_call *call,
			     const struct sws_clusters_point *point);

/* Returns whether a point is possible in the present state: known device, slots in range and free. */
bool sws_clusters_can_apply(const struct sws_clusters *self,
			    const struct sws_clusters_point *point);

/*
 * Gives up a call: it releases the cluster that it holds and the credit that it has left.
 * Complexity: O(1).
 */
void sws_clusters_call_abandon(struct sws_clusters *self, struct sws_clusters_call *call);

/*
 * Frees n slots of one cluster. *list is the list to which the cluster goes in the same hold of its
 * lock (isolates), or SWS_CLUSTER_LIST_NONE; the caller applies it by sws_clusters_move. same_hold
 * says that si->lock is held since the last free. Models: swap_entry_range_free,
 * __swap_cluster_free_entries. Complexity: O(n). Locks: see the table above. Returns SWS_OK;
 * SWS_ERROR_BAD_ARGUMENT for slots that no cluster has, or of two clusters; SWS_ERROR_NOT_FOUND if
 * a slot is not in use. Then nothing is freed.
 */
int sws_clusters_free_begin(struct sws_clusters *self, uint32_t device, uint32_t slot, uint32_t n,
			    bool same_hold, uint32_t *list);

/*
 * Moves the cluster that contains a slot to the tail of a list. Models: move_cluster. Complexity:
 * O(1). Locks: si->lock. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for an unknown slot or list.
 */
int sws_clusters_move(struct sws_clusters *self, uint32_t device, uint32_t slot, uint32_t list);

/*
 * Takes the cluster that contains a slot off the discard list, where it was: *first is true if it
 * was the first one. Returns SWS_OK, or SWS_ERROR_NOT_FOUND if it is not on that list.
 */
int sws_clusters_discard_begin(struct sws_clusters *self, uint32_t device, uint32_t slot,
			       bool *first);

/*
 * Runs a complete call without interruption; cached slots that it meets are freed. It ends early
 * where it would have to wait for a cluster that an open call holds. *granted is the number of runs,
 * devices[i] and slots[i] where they begin; both have room for wanted. owner matters only with
 * own_by_task. Complexity and locks: those of its parts. Returns the codes of
 * sws_clusters_call_begin, and SWS_ERROR_BAD_ARGUMENT for an unknown owner.
 */
int sws_clusters_allocate(struct sws_clusters *self, uint32_t cpu, uint32_t owner, uint32_t order,
			  uint32_t wanted, uint8_t *devices, uint32_t *slots, uint32_t *granted);

/*
 * Frees n slots of one cluster, the list move included. Returns the codes of
 * sws_clusters_free_begin.
 */
int sws_clusters_free_slots(struct sws_clusters *self, uint32_t device, uint32_t slot, uint32_t n);

/*
 * Marks n slots in use as used by the swap cache only, or by others again. Returns SWS_OK, or
 * SWS_ERROR_NOT_FOUND if a slot is not in use.
 */
int sws_clusters_set_cached(struct sws_clusters *self, uint32_t device, uint32_t slot, uint32_t n,
			    bool cached);

/*
 * Discards all waiting clusters of a device, as its worker does. Complexity: O(clusters). Returns
 * SWS_OK, or SWS_ERROR_BAD_ARGUMENT for an unknown device.
 */
int sws_clusters_discard(struct sws_clusters *self, uint32_t device);

/* Returns the slots of a device that are in use. Complexity: O(1), as the functions below. */
uint32_t sws_clusters_in_use(const struct sws_clusters *self, uint32_t device);
/* Returns the free slots of all devices minus the credit of open calls (nr_swap_pages). */
int64_t sws_clusters_available(const struct sws_clusters *self);
/* Returns the number of clusters on a list; 0 for an unknown one. */
uint32_t sws_clusters_list_length(const struct sws_clusters *self, uint32_t device, uint32_t list);
/*
 * Copies the first clusters of a list, at most room; returns how many it copied. Complexity:
 * O(room).
 */
uint32_t sws_clusters_list_members(const struct sws_clusters *self, uint32_t device, uint32_t list,
				   uint32_t *members, uint32_t room);
/* Returns the list of a cluster, the count of its slots in use and its order, bad slots included. */
uint32_t sws_clusters_cluster(const struct sws_clusters *self, uint32_t device, uint32_t cluster,
			      uint32_t *count, uint32_t *order);
/* Returns the slot where a CPU (own_by_task: an owner) goes on for an order in a device; 0 for none. */
uint32_t sws_clusters_next(const struct sws_clusters *self, uint32_t owner, uint32_t order,
			   uint32_t device);
/* Copies the counts of the work done. */
void sws_clusters_work(const struct sws_clusters *self, struct sws_clusters_work *out);

/*
 * Recomputes every invariant. Complexity: O(slots). Returns SWS_OK, or SWS_ERROR_BROKEN and the
 * *reason, a constant string.
 */
int sws_clusters_verify(const struct sws_clusters *self, const char **reason);

/* ffi: end */

#endif
