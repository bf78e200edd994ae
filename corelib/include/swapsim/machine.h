/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - a machine whose CPUs swap out and in: the counts of the mechanisms
 * become time. Longer than 450 lines: half are the path of a page and what is dropped, the
 * rest are one list of costs, of settings and of call sites each.
 *
 * Models the way of an anonymous page through 4.8, 5.7, 5.8 and 6.1
 *   mm/memory.c      do_anonymous_page, do_swap_page, exit_mmap
 *   mm/page_alloc.c  rmqueue_bulk, free_pcppages_bulk, direct reclaim at the min watermark
 *   mm/vmscan.c      shrink_active_list, shrink_inactive_list, shrink_page_list, kswapd
 *   mm/swap_slots.c  get_swap_page, free_swap_slot      mm/swapfile.c  get_swap_pages
 *   mm/swap_state.c  add_to_swap_cache                  mm/page_io.c   swap_writepage
 *
 *
 * 1. The world
 *
 *      node 0                              node 1
 *      CPU 0 1 2 3  kswapd  (interrupt)    CPU 6 7 8 9  kswapd  (interrupt)
 *        |writers, walkers,  |                |                |
 *        |or streams          |                |                |
 *      [ memory: free | active | inactive ] [ memory ...      ]   bandwidth shared
 *              \______ device 0 ______/        \__ device 0 or 1 __/
 *
 * An actor has its CPU for itself. It may change it (stay_ns): then it leaves a base of the
 * scan and a cache of slots behind, and goes on with those of a CPU of its node where nobody is.
 * All else that a CPU keeps goes with it. What it does is a stack of procedures, each one
 * a kernel function in steps; a step takes a lock, spends time, or calls. The state
 * of a mechanism changes at the moment at which the lock that guards it was had,
 * and the time of that work follows as its hold. Work becomes time by struct
 * sws_machine_costs alone. Work outside of locks varies by spread_percent, drawn
 * from the actor's own stream of random numbers.
 *
 *   actor      what it does
 *   writer     writes fresh pages, one after another; after so many accesses it exits:
 *              its slots go to the return cache one by one, its pages in memory 32 per
 *              hold of lru_lock
 *   walker     reads and writes its pages at random; after so many accesses it rests
 *   stream     does the requests of one task of a trace, in their order and as fast as
 *              its own work allows; the trace's own times are left behind
 *     get      a fault; a page goes out by the task itself: the oldest of its node that
 *              came back, 32 of them isolated under one hold of lru_lock, else a fresh one
 *     put      a fault; the page of a get, its own or another stream's, comes in and is
 *              written to, so its slot is freed. The stream sleeps until that page is out
 *   kswapd     reclaims 32 pages at a time, from the low watermark to the high one
 *   interrupt  an asynchronous device's: ends writeback, wakes readers
 *
 * Streams have the machine for themselves, on one synchronous device, and memory enough
 * that no page goes out but for a get: kswapd sleeps. A stream whose requests are done ends.
 *
 * A device is synchronous, as fast as memory, or asynchronous: channels that serve a page
 * each, and a queue of 128 pages that writers wait for.
 *
 * Under memory_max the tasks are in a memory cgroup. A page is charged to it one by one,
 * and a task that finds it full reclaims 32 pages itself; nothing wakes a kswapd, and
 * there is none.
 *
 *
 * 2. The path of a page: each lock that it takes. "1 of 31": one hold for 31 pages
 *
 *   going out                   4.8                 5.7, 5.8            6.1
 *   shrink_active_list          lru_lock, 2 of 32   as 4.8              as 4.8
 *   shrink_inactive_list        lru_lock, 2 of 32   as 4.8              as 4.8
 *   get_swap_page, a page       swap_avail_lock,    slot-cache mutex    as 5.7
 *                               si->lock
 *     a refill, 1 of 64         -                   swap_avail_lock,    as 5.7
 *                                                   si->lock a locked part,
 *                                                   in it cluster locks (below)
 *   add_to_swap_cache           tree_lock, device   xa_lock, 64 MB      as 5.7
 *   swap_duplicate              si->lock            cluster lock        cluster lock
 *   try_to_unmap_flush          none, but a wait    as 4.8              as 4.8
 *   try_to_free_swap: count     si->lock            cluster lock        cluster lock
 *   start, end of writeback     tree_lock each      none: patch A       none
 *     swap_writeback_tags       none                xa_lock each        xa_lock each
 *   __remove_mapping            tree_lock           xa_lock; in it, in  xa_lock; a shadow stays
 *                                                   5.8, a record's lock
 *     batched (removal.h)       1 of a list and     the same            the same
 *                               mapping
 *   put_swap_page               si->lock            cluster lock        cluster lock
 *   the page is free            zone->lock, 1 of 31 as 4.8              as 4.8
 *
 *   Cluster locks of a refill: one per slot, two where it was searched in the CPU's own
 *   cluster, and one per slot found and not got. A rotational device has none: what they
 *   guard, si->lock does, which is dropped while a free run of slots is searched.
 *
 *   A CPU whose task has pages mapped that others take has to forget them, those that it wrote to
 *   before they are written, the rest at the list's end. It takes an interrupt for that, which comes
 *   after any lock that it waits for or holds with interrupts off. So a queue at tree_lock, xa_lock
 *   or lru_lock keeps reclaimers waiting that do not stand in it.
 *
 *   Batched, the pages of a list that may leave are put aside, locked, until the list is
 *   gone through. Each mapping's are removed under one hold, the sum of its removals (the
 *   first tree_ns, each further tree_next_ns); slots are put after it, and when all are out
 *   the pages are free:
 *
 *      shrink   page 1  page 2 ... page 32 | tree_lock: 32 removals | 32 x si->lock | free
 *
 *   coming in, synchronous      4.8                 5.7, 5.8            6.1
 *   a free page                 zone->lock, 1 of 31 as 4.8              as 4.8
 *   its place in the cache      -                   -                   cluster lock
 *   swapcache_prepare, add      si->lock, tree_lock -: the cache is     -
 *                                                   skipped
 *   to its list, a pagevec      lru_lock, 1 of 14   1 of 15             1 of 15
 *   mem_cgroup_charge           -                   lru_lock, in 5.7;   -
 *                                                   a record's, in 5.8
 *   swap_free                   si->lock            cluster lock        cluster lock
 *   swapcache_clear             -                   -                   cluster lock
 *   out of the cache again      tree_lock, si->lock -                   -
 *   free_swap_slot              (same hold)         return-cache lock   return-cache lock
 *     a flush, 1 of 64          -                   si->lock, in it     and xa_lock a slot:
 *                                                   a cluster lock      its shadow
 *                                                   a slot; in 5.8 a
 *                                                   record's lock, too
 *
 *   A record is swap_cgroup_record: to which memory cgroup a slot belongs, under a lock of the
 *   device. Up to 5.7 it is kept only if asked for at boot, and V1 of patch D's mail lists no row of
 *   it; in 6.1 it is left out.
 *
 * From an asynchronous device a page comes in through the cache in every kernel. Writeback
 * ends in its interrupt, and a later scan frees the page. A page read and not yet written
 * to leaves the cache when swap is half full, or when it is written to, and until then needs
 * no second write. In 6.1 a write fault takes it out, but a later write to a page that is
 * mapped leaves it there, dirty, with its slot.
 *
 * In 6.1.y a page that skips the cache holds its slot's place there meanwhile, so that no
 * other fault reads it too; and a page that comes or leaves through the cache takes the
 * cluster lock once more, for a look at the slot's count.
 *
 * A page that comes in begins on the inactive list, a fresh one up to 5.8 on the active one;
 * each begins as referenced, for who maps it touches it. Up to 5.8 a page found referenced is
 * activated. In 6.1 the first look that finds it so sends it once more around its list and the
 * second activates it.
 *
 *
 * 3. What is dropped
 *
 * Kept: which lock, in which order, nested in which, at which call site; what the
 * mechanisms count under it. Dropped:
 *   locks     page and page-table locks, the page locks that a fault on a page under
 *             reclaim waits for (such a page is not drawn; batched it is one for longer)
 *   memory    a memory cgroup's stocks of charges and what else it is charged for,
 *             readahead; a task's own reclaim from other nodes than its own;
 *             activate_page of the one page in 15 that is on its list already
 *   slots     the slot caches' stop for lack of slots while the machine runs
 *   time      the interrupt's own CPU time on the CPUs of others (each device's has a CPU
 *             of its own), nor that of a task which is interrupted for its page
 *   streams   a look whether a page was referenced, whose CPU is interrupted for it, what a task does with its pages
 *             between two requests, and a put that was no swap-in but the end of the page
 *             (a trace does not tell them apart)
 */
#ifndef SWAPSIM_MACHINE_H
#define SWAPSIM_MACHINE_H

#include "swapsim/des.h"
#include "swapsim/mapping.h"
#include "swapsim/removal.h"
#include "swapsim/slot_cache.h"

/* ffi: begin */

/* What a machine can be at most; each field of its config says what it is measured by. */
enum {
	SWS_MACHINE_NODES_MAX = 8,
	SWS_MACHINE_TASKS_MAX = 2048,
	SWS_MACHINE_CHANNELS_MAX = 1024,
	/* Frames of a node, and pages of a walker. */
	SWS_MACHINE_PAGES_MAX = 67108864,
	/* Of all devices: 4 TB. */
	SWS_MACHINE_SLOTS_MAX = 1073741824,
	SWS_MACHINE_TRUNKS_MAX = 1048576,
	SWS_MACHINE_REQUESTS_MAX = 2097152,
	SWS_MACHINE_COST_MAX = 2147483647,
	SWS_MACHINE_LIST_MAX = 512,
	/* Pages that the kernel takes from a list at a time: SWAP_CLUSTER_MAX. */
	SWS_MACHINE_LIST_PAGES = 32,
	/*
	 * What a CPU may keep from its node's lists, and two more for each page of a list beyond
	 * LIST_PAGES: a node has frames for twice that and more.
	 */
	SWS_MACHINE_FRAMES_KEPT = 265,
	/* What a CPU may keep of the devices' slots, and one more for each such page. */
	SWS_MACHINE_SLOTS_KEPT = 160,
};

/* What work costs, all in ns, each 1 .. SWS_MACHINE_COST_MAX; data/costs.csv says where each comes from. */
struct sws_machine_costs {
	/* A lock's cache line to another core, */
	uint64_t travel_same_socket_ns;
	/* and to the other socket. */
	uint64_t travel_other_socket_ns;
	/* More for a lock with interrupts off. */
	uint64_t irq_save_ns;
	/* A page fault without what is counted below. */
	uint64_t fault_ns;
	/* A writer zeroes and writes a page, memory at rest. */
	uint64_t touch_ns;
	/* A walker's access to a page that is there. */
	uint64_t access_ns;
	/* Was a page referenced? One look through its mappings. */
	uint64_t reference_ns;
	/* shrink_page_list on one page beyond locks, copy and slot. */
	uint64_t unmap_ns;
	/* A page copied to or from a memory device, memory at rest. */
	uint64_t copy_ns;
	/* A node's memory is busy with one page moved. */
	uint64_t transfer_ns;
	/* A channel of an asynchronous device serves a page. */
	uint64_t channel_ns;
	/* The completion of one page. */
	uint64_t interrupt_ns;
	/* A page into a mapping or out of it, besides descents. */
	uint64_t tree_ns;
	/* A removal that is not the first of its hold, likewise: the mapping's lines are there. */
	uint64_t tree_next_ns;
	/* A hold of a mapping's lock for tags alone, besides descents. */
	uint64_t tag_ns;
	/* One descent of a tree. */
	uint64_t descent_ns;
	/* A look at or change of one map byte. */
	uint64_t map_ns;
	/* A slot taken from the device, besides its byte, */
	uint64_t slot_ns;
	/* and one given back to it. */
	uint64_t free_ns;
	/* A memory cgroup's record of a slot. */
	uint64_t record_ns;
	/* A hold of si->lock besides what is in it. */
	uint64_t device_ns;
	/* A slot tested by a scan. */
	uint64_t test_ns;
	/* Another's base looked at by a policy. */
	uint64_t base_ns;
	/* A hold of swap_avail_lock. */
	uint64_t avail_ns;
	/* A slot into or out of a slot cache. */
	uint64_t cache_ns;
	/* A page moved under lru_lock, and each hold once more; */
	uint64_t lru_page_ns;
	/* the same under zone->lock. */
	uint64_t zone_page_ns;
};

/* What a stream asks for. */
struct sws_machine_request {
	/* Whose: all of stream 0 in their order, then all of stream 1 ... */
	uint32_t stream;
	/* The stream's address space, 0 .. streams - 1; -1: a kernel thread. */
	int32_t mm;
	/* Below n_requests; it goes out once and may come in once. */
	uint32_t page;
	/* It comes in; else it goes out. */
	bool put;
};

/* Does the swap cache keep writeback tags? */
enum sws_machine_tags {
	/* 4.8 keeps them; patch A is in force in later kernels. */
	SWS_TAGS_AS_RELEASED = 0,
	SWS_TAGS_KEPT = 1,
	SWS_TAGS_NOT_KEPT = 2,
};

struct sws_machine_config {
	/*
	 * Kernel, slots, cluster_size, policy, rotational, seed ...; the counts of CPUs and
	 * address spaces are the machine's. All devices have at most SWS_MACHINE_SLOTS_MAX slots
	 * and SWS_MACHINE_TRUNKS_MAX trunks.
	 */
	struct sws_slots_config device;
	/* No defaults. */
	struct sws_machine_costs costs;
	/* Default as released. */
	enum sws_machine_tags swap_writeback_tags;
	/* When reclaim takes the pages of a list out of the swap cache; default page by page. */
	enum sws_removal_way removal;
	/* Pages that reclaim takes from a list at a time, 1 .. SWS_MACHINE_LIST_MAX; default LIST_PAGES. */
	uint32_t list_pages;
	/* From 5.7 on; default true. */
	bool slot_cache;
	/* Of every lock; default queued. */
	enum sws_lock_kind lock_kind;
	/* As in struct sws_des_config; default 3. */
	uint32_t hand_off_ways;
	/* 1 .. SWS_MACHINE_NODES_MAX, each with its memory and its kswapd; 1 with memory_max; default 1. */
	uint32_t nodes;
	/* 1 .. nodes; a node swaps to device node % devices; default 1. */
	uint32_t devices;
	/* Of an asynchronous device, 1 .. SWS_MACHINE_CHANNELS_MAX; 0: as fast as memory; default 0. */
	uint32_t channels;
	/* Dealt to the nodes in turn; default 0. */
	uint32_t writers;
	/* Likewise; with the writers 1 .. SWS_MACHINE_TASKS_MAX; default 1. */
	uint32_t walkers;
	/* Likewise, but without writers and walkers, and page by page; default 0. */
	uint32_t streams;
	/* Of the streams; the caller keeps them as long as the machine; default NULL. */
	const struct sws_machine_request *requests;
	/* At most SWS_MACHINE_REQUESTS_MAX, at least one of each stream; default 0. */
	uint32_t n_requests;
	/* Pages of memory of a node, at most SWS_MACHINE_PAGES_MAX; default 2^14. */
	uint32_t frames;
	/*
	 * Active pages that an inactive one is enough for; 0: as the kernel has it for so many frames;
	 * default 0. A machine that stands for a larger one has that one's.
	 */
	uint32_t inactive_ratio;
	/*
	 * Does a task whose node is short take memory of the next one, and wake all kswapds when
	 * all are short? On one device, without a cgroup, streams, and writers that end; default
	 * false: a task has its node's memory alone.
	 */
	bool shares_memory;
	/* Of each walker, 1 .. SWS_MACHINE_PAGES_MAX; default 2^14. */
	uint32_t pages;
	/* Pages of the tasks' memory cgroup, which reclaim for themselves; 0: no cgroup; default 0. */
	uint32_t memory_max;
	/* Of each task, then it is done; 0: no end; default 0. */
	uint32_t accesses;
	/* Of the walkers' pages, before the first event; 0 .. 99, more than 0 with memory_max; default 0. */
	uint32_t drop_percent;
	/* Of the walkers' accesses; default 80. */
	uint32_t read_percent;
	/* Of work outside of locks about its cost, 0 .. 100; default 50. */
	uint32_t spread_percent;
	/* Are the slots in use at the start strewn over all of the device? Default false. */
	bool fragmented;
	/* CPUs of a node beside its actors', at most SWS_MACHINE_TASKS_MAX; default 0. */
	uint32_t spare_cpus;
	/*
	 * How long an actor stays on its CPU, from nothing to twice this; then its next page out
	 * is on another one of its node, if one is free. 0: for ever; default 0.
	 */
	uint64_t stay_ns;
	/* NULL: libc. */
	const struct sws_allocator *allocator;
};

/* Where locks are taken; sws_machine_site_name tells the call chain. */
enum sws_machine_site {
	SWS_SITE_AVAIL = 0,
	SWS_SITE_CACHE_MUTEX = 1,
	SWS_SITE_RETURN_CACHE = 2,
	SWS_SITE_DEVICE_GET = 3, /* si->lock, the first locked part of a call */
	SWS_SITE_DEVICE_SCAN = 4, /* taken again after a scan */
	SWS_SITE_DEVICE_FREE = 5,
	SWS_SITE_CLUSTER_GET = 6, /* cluster locks inside si->lock */
	SWS_SITE_CLUSTER_FREE = 7,
	SWS_SITE_DUPLICATE = 8, /* one map byte: cluster lock, or si->lock in 4.8 */
	SWS_SITE_COUNT = 9,
	SWS_SITE_PUT = 10, /* the page left the swap cache */
	SWS_SITE_PREPARE = 11, /* the page comes back to it */
	SWS_SITE_SWAP_FREE = 12,
	SWS_SITE_TREE_ADD = 13, /* tree_lock or xa_lock, on the way out */
	SWS_SITE_TREE_START = 14,
	SWS_SITE_TREE_END = 15,
	SWS_SITE_TREE_REMOVE = 16,
	SWS_SITE_TREE_READ = 17, /* add, on the way in */
	SWS_SITE_TREE_DELETE = 18,
	SWS_SITE_TREE_SHADOW = 19,
	SWS_SITE_LRU_ADD = 20,
	SWS_SITE_LRU_CHARGE = 21,
	SWS_SITE_LRU_ACTIVE = 22,
	SWS_SITE_LRU_INACTIVE = 23,
	SWS_SITE_LRU_ROTATE = 24,
	SWS_SITE_ZONE_GET = 25,
	SWS_SITE_ZONE_FREE = 26,
	SWS_SITE_CLUSTER_SEARCH = 27, /* a CPU's cluster is searched for a slot */
	SWS_SITE_CLEAR = 28, /* the page that skipped the cache is mapped */
	SWS_SITE_SWAPCOUNT = 29, /* is the slot of a page to be read in use? */
	SWS_SITE_LRU_RELEASE = 30, /* a task that exits frees its pages */
	SWS_SITE_RECORD_OUT = 31, /* a memory cgroup's record of a slot, inside tree_lock */
	SWS_SITE_RECORD_IN = 32,
	SWS_SITE_RECORD_FREE = 33, /* inside si->lock */
	SWS_SITE_FLUSH = 34, /* no lock: a CPU that had the page mapped is interrupted */
	SWS_SITES = 35,
};

enum sws_actor_kind {
	SWS_ACTOR_NONE = 0, /* a CPU that nobody uses */
	SWS_ACTOR_WRITER = 1,
	SWS_ACTOR_WALKER = 2,
	SWS_ACTOR_KSWAPD = 3,
	SWS_ACTOR_INTERRUPT = 4,
	SWS_ACTOR_STREAM = 5,
};

/* One CPU and what its actor did. */
struct sws_machine_cpu {
	enum sws_actor_kind kind;
	uint32_t node;
	/* Waits for a device are idleness. */
	struct sws_des_cpu time;
	/* Pages that a writer wrote. */
	uint64_t touched;
	/* Of a walker, those that faulted included. */
	uint64_t accesses;
	/* Given to the device by this CPU. */
	uint64_t pages_out;
	uint64_t pages_in;
	/* Pages of memory that it freed. */
	uint64_t reclaimed;
	/* Pages that it found referenced on the inactive list. */
	uint64_t activated;
	/* Times that it changed CPU. */
	uint64_t changes;
};

struct sws_machine;

/* Is there a machine of this kernel here? */
bool sws_machine_knows(enum sws_kernel kernel);

/* Writes every default; the costs stay 0, which sws_machine_new refuses. */
void sws_machine_config_init(struct sws_machine_config *config);

/*
 * Free pages of a node of so many frames at which its kswapd stops: at the start its
 * memory is full up to there. kswapd is woken at 5/6 of it, a task reclaims for itself
 * at 2/3.
 */
uint32_t sws_machine_watermark_high(uint32_t frames);

/*
 * Can the requests of a config be done in any order of its streams? Looks at streams,
 * requests, n_requests and allocator alone. Complexity: O(requests). Returns
 * SWS_ERROR_BAD_CONFIG, the first row that cannot be done and why not: it is out of
 * order, its page is unknown, goes out or comes in twice, never goes out, or waits for
 * the stream itself; SWS_ERROR_NO_MEMORY.
 */
int sws_machine_check_requests(const struct sws_machine_config *config, uint32_t *row,
			       const char **reason);

/*
 * Makes a machine whose memory and devices are still empty; the first events fill
 * them. The caller frees it. Returns SWS_ERROR_BAD_CONFIG for a field out of its
 * range, a cost of 0 or beyond SWS_MACHINE_COST_MAX, more pages than memory and slots
 * can hold, or requests that cannot be done.
 */
int sws_machine_new(const struct sws_machine_config *config, struct sws_machine **out);

/* Frees a machine; takes NULL. */
void sws_machine_free(struct sws_machine *self);

/*
 * Goes on until the clock has reached until_ns or nothing is left to do (*more false
 * then), at most max_events further, and fewer when the devices looked at some millions of
 * slots and bases meanwhile. Before the first event memory and devices are filled; a little
 * of that counts as an event, of no time. Adds the events taken to *events.
 */
int sws_machine_run(struct sws_machine *self, uint64_t until_ns, uint64_t max_events, bool *more,
		    uint64_t *events);

/*
 * Goes on likewise until so many requests of all streams are done, or a stream of so
 * many requests or more has ended.
 */
int sws_machine_run_streams(struct sws_machine *self, uint64_t requests, uint32_t longest,
			    uint64_t max_events, bool *more, uint64_t *events);

/* Requests done so far, and those of the longest stream that has ended, 0 if none has. */
uint64_t sws_machine_requests_done(const struct sws_machine *self);
uint32_t sws_machine_longest_ended(const struct sws_machine *self);

/* Nanoseconds since the devices were filled: the time of the last event taken. */
uint64_t sws_machine_now(const struct sws_machine *self);

/* Events taken since then. */
uint64_t sws_machine_events(const struct sws_machine *self);

/*
 * Did a writer, walker or stream give up, because its node had no free page and nothing
 * could be swapped out, or a stream's page found no slot? It then does nothing more.
 */
bool sws_machine_stuck(const struct sws_machine *self);

/* How many CPUs there are, used or not. */
uint32_t sws_machine_cpus(const struct sws_machine *self);

/* What one CPU did so far; zeros for an unknown one. */
struct sws_machine_cpu sws_machine_cpu_of(const struct sws_machine *self, uint32_t cpu);

/* What one call site cost so far; zeros for an unknown one. */
struct sws_des_site sws_machine_site_of(const struct sws_machine *self, uint32_t site);

/* A site as "lock.function" or "lock.function.caller"; "unknown" for none. Static storage. */
const char *sws_machine_site_name(uint32_t site);

/* What the devices did so far, filling them not included. */
struct sws_slots_work sws_machine_slots_work(const struct sws_machine *self);

/*
 * Of the slots that the devices handed out, how many lay in the trunk of the last one
 * that some other actor was handed out: two CPUs use one mapping.
 */
uint64_t sws_machine_shared_slots(const struct sws_machine *self);

/* Slots in use, and clusters without one, of a device; 0 for an unknown one. */
uint32_t sws_machine_slots_in_use(const struct sws_machine *self, uint32_t device);
uint32_t sws_machine_free_clusters(const struct sws_machine *self, uint32_t device);

/*
 * Re-derives every invariant: clocks, pages, lists, slots, trees. For tests: a machine of
 * a hundred gigabytes takes it half a second, and no other call of machine.h as long.
 * Complexity: O(pages + slots). Returns SWS_ERROR_BROKEN and a reason if one fails.
 */
int sws_machine_verify(const struct sws_machine *self, const char **reason);

/* ffi: end */

#endif
