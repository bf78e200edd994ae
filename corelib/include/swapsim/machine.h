/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - a simulated machine whose CPUs swap out and in: it turns the counts of the mechanisms
 * into time.
 *
 * Models the path of an anonymous page through 4.8, 5.7, 5.8 and 6.1
 *   mm/memory.c      do_anonymous_page, do_swap_page, exit_mmap
 *   mm/page_alloc.c  rmqueue_bulk, free_pcppages_bulk, direct reclaim at the min watermark
 *   mm/vmscan.c      shrink_active_list, shrink_inactive_list, shrink_page_list, kswapd
 *   mm/swap_slots.c  get_swap_page, free_swap_slot      mm/swapfile.c  get_swap_pages
 *   mm/swap_state.c  add_to_swap_cache                  mm/page_io.c   swap_writepage
 *
 *
 * 1. What is simulated
 *
 *      node 0                              node 1
 *      CPU 0 1 2 3  kswapd  (interrupt)    CPU 6 7 8 9  kswapd  (interrupt)
 *        |writers, walkers,  |                |                |
 *        |or streams          |                |                |
 *      [ memory: free | active | inactive ] [ memory ...      ]   bandwidth shared
 *              \______ device 0 ______/        \__ device 0 or 1 __/
 *
 * Each actor has its own CPU. It may move (stay_ns) to a CPU of its node that has no actor: then it
 * leaves its cluster_next and its slot cache behind and continues with those of the new CPU, while
 * all other per-CPU state moves with it. The actions of an actor are a stack of procedures, each a
 * kernel function in steps; a step takes a lock, spends time, or calls a procedure. The state of a
 * mechanism changes at the moment at which its lock is acquired, and the time of that work follows
 * as the hold time. Only struct sws_machine_costs turns work into time. Work outside of locks
 * varies by spread_percent, drawn from the actor's own random stream.
 *
 *   actor      what it does
 *   writer     writes new pages, one after another; after a number of accesses it exits:
 *              its slots are freed one by one, its resident pages 32 per hold of lru_lock
 *   walker     reads and writes its pages at random; stops after a number of accesses
 *   stream     replays the requests of one task of a trace, in their order and as fast as
 *              its own work allows, without the trace's own times
 *     get      a fault; the task itself swaps out a page: the oldest page of its node that
 *              came back, 32 of which are isolated under one hold of lru_lock, else a new one
 *     put      a fault; the page of a get, its own or another stream's, comes in and is
 *              written to, so its slot is freed. The stream sleeps until that page is out
 *   kswapd     reclaims 32 pages at a time, from the low watermark to the high one
 *   interrupt  of an asynchronous device: ends writeback, wakes readers
 *
 * Writers that exit start with an empty memory, so a run is the complete life of a benchmark such as
 * swap-w-seq, in three phases:
 *
 *      fill   no page is out yet | swap | the first writer has written its last page: exit
 *      0 ms                      33 ms                       155 ms                 190 ms
 *
 * A tool may report a mean over one phase or over all of them, so sws_machine_run_life stops at
 * each boundary. In the phase exit other writers may still write. If the devices are full, a
 * writer gives up (sws_machine_stuck), and the run ends when the others have exited.
 *
 * Streams are the only tasks of their machine. It has one synchronous device, and enough memory
 * that a page goes out for a get only: kswapd sleeps. A stream ends after its last request.
 *
 * A device is synchronous, as fast as memory, or asynchronous: channels that serve one page each,
 * and a queue of 128 pages that writers wait for.
 *
 * With memory_max the tasks are in a memory cgroup. Each page is charged to it, and a task that
 * finds it full reclaims 32 pages itself; there is no kswapd then.
 *
 *
 * 2. The path of a page: each lock that it takes. "1 of 31" means one hold for 31 pages
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
 *   __remove_mapping            tree_lock           xa_lock; in it, in  xa_lock; leaves a
 *                                                   5.8, a record lock  shadow
 *     batched (removal.h)       1 of a list and     as 4.8              as 4.8
 *                               mapping
 *   put_swap_page               si->lock            cluster lock        cluster lock
 *   the page is free            zone->lock, 1 of 31 as 4.8              as 4.8
 *
 *   Cluster locks of a refill: one per slot, two if the slot was searched in the CPU's own
 *   cluster, and one per slot that a scan found but did not get. A rotational device has no
 *   cluster locks: si->lock protects the map, and is dropped during the search for a free run.
 *
 *   A CPU whose task has a page mapped that another CPU reclaims has to flush its TLB entry: before
 *   the write if its task wrote to the page, else at the end of the list. It takes an interrupt
 *   for that, which is delivered after any lock that the CPU waits for or holds with interrupts
 *   off. So waiters at tree_lock, xa_lock or lru_lock also delay reclaimers that do not use that
 *   lock.
 *
 *   Batched, the removable pages of a list are set aside, locked, until the list has been scanned.
 *   The pages of each mapping are removed under one hold, whose time is the sum of its removals
 *   (the first takes tree_ns, each further one tree_next_ns). Their slots are put after it, and
 *   when all pages are removed, they are freed:
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
 *                                                   a record lock, in 5.8
 *   swap_free                   si->lock            cluster lock        cluster lock
 *   swapcache_clear             -                   -                   cluster lock
 *   out of the cache again      tree_lock, si->lock -                   -
 *   free_swap_slot              (same hold)         return-cache lock   return-cache lock
 *     a flush, 1 of 64          -                   si->lock, in it     and xa_lock a slot:
 *                                                   a cluster lock      its shadow
 *                                                   a slot; in 5.8 a
 *                                                   record lock, too
 *
 *   A record is swap_cgroup_record: the memory cgroup of a slot, under a lock of the device. Up to
 *   5.7 it exists only if enabled at boot, and the mail of V1 of patch D lists no row of it; the
 *   model of 6.1 leaves it out. The model of 5.8 has cgroup v1, where mem_cgroup_swapout writes it
 *   inside xa_lock. With v2 that function returns at once, and get_swap_page writes the record
 *   (mem_cgroup_try_charge_swap) before the page is added: as many holds of the record lock, but
 *   none of them makes a hold of xa_lock longer.
 *
 * The first look of a hold at a cache line of the map costs map_ns, a further one map_next_ns if
 * that is less; a line has the bytes of 64 slots. With a low map_next_ns 63 of the 64 looks of a
 * refill from a free cluster are cheap, and those of a flush whose slots are neighbours; a hold
 * that looks at one slot pays map_ns.
 *
 * From an asynchronous device a page comes in through the swap cache in every kernel. The interrupt
 * ends its writeback, and a later scan frees the page. A page that was read and not written to
 * leaves the swap cache when swap is half full or when it is written to; until then it needs no
 * second write. In 6.1 a write fault removes it, but a later write to a mapped page leaves it
 * there, dirty, with its slot.
 *
 * In 6.1.y a page that skips the swap cache holds its slot's place there meanwhile, so that no
 * other fault reads it too; and a page that comes or leaves through the swap cache takes the
 * cluster lock once more to read the slot's count.
 *
 * A page that comes in starts on the inactive list; up to 5.8 a new page starts on the active one.
 * Both start as referenced, because the task that maps them touches them. Up to 5.8 a referenced
 * page is activated. In 6.1 the first scan that finds it referenced returns it to its list and the
 * second one activates it.
 *
 *
 * 3. What is modelled and left out
 *
 * Modelled: each lock, the order and nesting of the locks, their call sites, and the counts of the
 * mechanisms under them. Left out:
 *   locks     page and page-table locks, and the page lock for which a fault on a page under
 *             reclaim waits (a walker does not draw such a page; batched it lasts longer)
 *   memory    a memory cgroup's stocks of charges and its other charges, readahead; a task's
 *             own reclaim from other nodes than its own; activate_page of the one page in 15
 *             that is already on its list
 *   slots     stopping the slot caches for lack of slots while the machine runs
 *   zone      that kernels from 4.19 on move 63 pages at a time, not 31, to and from a large zone:
 *             in patch D's test no task waits for a zone's lock, and the gain is the same with 63
 *   time      the CPU time that an interrupt takes from another CPU (each device's has its own
 *             CPU), and that of a task which is interrupted for its page
 *   streams   reference tests, the CPUs that are interrupted for a page, the use of pages
 *             between two requests, and a put that was not a swap-in but the end of the page
 *             (a trace does not distinguish them)
 */
#ifndef SWAPSIM_MACHINE_H
#define SWAPSIM_MACHINE_H

#include "swapsim/des.h"
#include "swapsim/mapping.h"
#include "swapsim/removal.h"
#include "swapsim/slot_cache.h"

/* ffi: begin */

/*
 * Limits of a machine; the comment of each configuration field names the limit that applies to it.
 */
enum {
	/* Maximum number of nodes. */
	SWS_MACHINE_NODES_MAX = 8,
	/* Maximum number of tasks and of spare CPUs. */
	SWS_MACHINE_TASKS_MAX = 2048,
	/* Maximum number of channels of a device. */
	SWS_MACHINE_CHANNELS_MAX = 1024,
	/* Maximum number of frames of a node, and of pages of a walker. */
	SWS_MACHINE_PAGES_MAX = 67108864,
	/* Maximum number of slots of all devices: 4 TB. */
	SWS_MACHINE_SLOTS_MAX = 1073741824,
	/* Maximum number of trunks of all devices. */
	SWS_MACHINE_TRUNKS_MAX = 1048576,
	/* Maximum number of requests of all streams. */
	SWS_MACHINE_REQUESTS_MAX = 2097152,
	/* Maximum of each cost. */
	SWS_MACHINE_COST_MAX = 2147483647,
	/* Maximum of list_pages. */
	SWS_MACHINE_LIST_MAX = 512,
	/* Pages that the kernel isolates from a list at a time: SWAP_CLUSTER_MAX. */
	SWS_MACHINE_LIST_PAGES = 32,
	/*
	 * Frames of its node that a CPU may hold, for lists of LIST_PAGES pages; each further page
	 * of a list adds two. A node needs more than twice as many frames.
	 */
	SWS_MACHINE_FRAMES_KEPT = 265,
	/*
	 * Slots of its device that a CPU may hold; each page of a list beyond LIST_PAGES adds one.
	 */
	SWS_MACHINE_SLOTS_KEPT = 160,
};

/*
 * The costs of the operations, in ns, each 1 .. SWS_MACHINE_COST_MAX; data/costs.csv gives their
 * sources.
 */
struct sws_machine_costs {
	/* Transfer of a lock's cache line to another core of the socket. */
	uint64_t travel_same_socket_ns;
	/* Transfer of a lock's cache line to another socket. */
	uint64_t travel_other_socket_ns;
	/* Additional time of acquiring a lock with interrupts off. */
	uint64_t irq_save_ns;
	/* A page fault, without the operations below. */
	uint64_t fault_ns;
	/* A writer zeroes and writes a page while the memory is otherwise idle. */
	uint64_t touch_ns;
	/* A walker's access to a resident page. */
	uint64_t access_ns;
	/* The reference test of a page, through its mappings. */
	uint64_t reference_ns;
	/* shrink_page_list on one page, without locks, copy and slot. */
	uint64_t unmap_ns;
	/* Copy of a page to or from a memory device while the memory is otherwise idle. */
	uint64_t copy_ns;
	/* Time for which moving one page occupies the memory of a node. */
	uint64_t transfer_ns;
	/* Service time of a page on a channel of an asynchronous device. */
	uint64_t channel_ns;
	/* The completion of one page in the interrupt. */
	uint64_t interrupt_ns;
	/* Insertion or removal of a page in a mapping, without the tree walks. */
	uint64_t tree_ns;
	/*
	 * As tree_ns, for a removal that is not the first of its critical section: the mapping's
	 * lines are in the cache.
	 */
	uint64_t tree_next_ns;
	/* A critical section of a mapping's lock for tags only, without the tree walks. */
	uint64_t tag_ns;
	/* One walk of a tree. */
	uint64_t descent_ns;
	/* Reading or changing a map byte, the first one of its cache line in a critical section. */
	uint64_t map_ns;
	/*
	 * Reading or changing a further map byte of a cache line in one hold of si->lock, if that
	 * is less than map_ns.
	 */
	uint64_t map_next_ns;
	/* Allocation of a slot from the device, without its map byte. */
	uint64_t slot_ns;
	/* Freeing of a slot to the device, without its map byte. */
	uint64_t free_ns;
	/* Writing a memory cgroup's record of a slot. */
	uint64_t record_ns;
	/* A hold of si->lock, in addition to the work in it. */
	uint64_t device_ns;
	/* A slot tested by a scan. */
	uint64_t test_ns;
	/* A base of another owner that a policy reads. */
	uint64_t base_ns;
	/* A hold of swap_avail_lock. */
	uint64_t avail_ns;
	/* A slot moved into or out of a slot cache. */
	uint64_t cache_ns;
	/* A page moved under lru_lock; each hold costs it once more. */
	uint64_t lru_page_ns;
	/* A page moved under zone->lock; each hold costs it once more. */
	uint64_t zone_page_ns;
};

/* One request of a stream. */
struct sws_machine_request {
	/*
	 * The stream of the request; rows are sorted by it: all of stream 0 in their order, then
	 * stream 1 ...
	 */
	uint32_t stream;
	/* The stream's address space, 0 .. streams - 1; -1 for a kernel thread. */
	int32_t mm;
	/* The page, below n_requests; it goes out once and may come in once. */
	uint32_t page;
	/* True if the page comes in, false if it goes out. */
	bool put;
};

/* Whether the swap cache has writeback tags. */
enum sws_machine_tags {
	/* 4.8 has them; later kernels contain patch A. */
	SWS_TAGS_AS_RELEASED = 0,
	/* The swap cache has tags. */
	SWS_TAGS_KEPT = 1,
	/* The swap cache has no tags. */
	SWS_TAGS_NOT_KEPT = 2,
};

/* The configuration of a machine. */
struct sws_machine_config {
	/*
	 * The devices: kernel, slots, cluster_size, policy, rotational, seed, and so on; the
	 * machine sets the numbers of CPUs and address spaces. All devices together have at most
	 * SWS_MACHINE_SLOTS_MAX slots and SWS_MACHINE_TRUNKS_MAX trunks.
	 */
	struct sws_slots_config device;
	/* The costs; they have no defaults. */
	struct sws_machine_costs costs;
	/* Whether the swap cache has writeback tags; default as released. */
	enum sws_machine_tags swap_writeback_tags;
	/* When reclaim removes the pages of a list from the swap cache; default page by page. */
	enum sws_removal_mode removal;
	/* Pages that reclaim isolates at a time, 1 .. SWS_MACHINE_LIST_MAX; default LIST_PAGES. */
	uint32_t list_pages;
	/* True if slot caches are used, from 5.7 on; default true. */
	bool slot_cache;
	/* The kind of every lock; default queued. */
	enum sws_lock_kind lock_kind;
	/*
	 * What a critical section takes longer if a CPU waits for its lock when it begins, up to
	 * SWS_MACHINE_COST_MAX; default 0. A write to a line that another CPU polls takes 20 ns
	 * longer (tests/bench/polled_line.c).
	 */
	uint64_t contended_ns;
	/*
	 * Nodes, each with its memory and its kswapd: 1 .. SWS_MACHINE_NODES_MAX, 1 with
	 * memory_max; default 1.
	 */
	uint32_t nodes;
	/* Devices, 1 .. nodes; node n swaps to device n % devices; default 1. */
	uint32_t devices;
	/*
	 * Channels of an asynchronous device, 1 .. SWS_MACHINE_CHANNELS_MAX; 0 means a synchronous
	 * device that is as fast as memory; default 0.
	 */
	uint32_t channels;
	/* Writers, distributed to the nodes in turn; default 0. */
	uint32_t writers;
	/*
	 * Walkers, distributed likewise; writers and walkers together 1 .. SWS_MACHINE_TASKS_MAX;
	 * default 1.
	 */
	uint32_t walkers;
	/*
	 * Streams, distributed likewise; requires removal page by page, no writers and no walkers;
	 * default 0.
	 */
	uint32_t streams;
	/*
	 * The requests of the streams; the caller owns them and retains them during the run;
	 * default NULL.
	 */
	const struct sws_machine_request *requests;
	/*
	 * Number of requests, at most SWS_MACHINE_REQUESTS_MAX and at least one per stream; default
	 * 0.
	 */
	uint32_t n_requests;
	/* Pages of memory of a node, at most SWS_MACHINE_PAGES_MAX; default 2^14. */
	uint32_t frames;
	/*
	 * The number of active pages per inactive page; 0 means the kernel's value for so many
	 * frames; default 0. A machine that stands for a larger one has the value of that one.
	 */
	uint32_t inactive_ratio;
	/*
	 * True if a task whose node is short of memory takes pages of the next node, and wakes all
	 * kswapds if all nodes are short. Requires one device, and no memory cgroup, streams or
	 * writers that end. Default false: a task uses the memory of its node only.
	 */
	bool shares_memory;
	/* Pages of each walker, 1 .. SWS_MACHINE_PAGES_MAX; default 2^14. */
	uint32_t pages;
	/*
	 * Pages of the tasks' memory cgroup, which reclaim for themselves; 0 means no cgroup;
	 * default 0.
	 */
	uint32_t memory_max;
	/* Accesses of each task, after which it ends; 0 means that it does not end; default 0. */
	uint32_t accesses;
	/*
	 * Share of the walkers' pages that is dropped before the first event, in percent: 0 .. 99,
	 * above 0 only with memory_max; default 0.
	 */
	uint32_t drop_percent;
	/*
	 * True if a walker accesses its pages in the order of their addresses, sweep after sweep;
	 * default false: at random.
	 */
	bool sweeps;
	/* Share of the walkers' accesses that read, in percent; default 80. */
	uint32_t read_percent;
	/*
	 * Range of the random variation of work outside of locks, in percent, 0 .. 100; default 50.
	 */
	uint32_t spread_percent;
	/*
	 * True if the slots in use at the start are scattered over the complete device; default
	 * false.
	 */
	bool fragmented;
	/* CPUs of each node without an actor, at most SWS_MACHINE_TASKS_MAX; default 0. */
	uint32_t spare_cpus;
	/*
	 * Mean time that an actor stays on its CPU, uniform in 0 .. 2 * stay_ns; its next page out
	 * is then on another free CPU of its node, if there is one. 0 means that it stays for ever;
	 * at most 2^62; default 0.
	 */
	uint64_t stay_ns;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
};

/* The call sites of locks; sws_machine_site_name returns their call chains. */
enum sws_machine_site {
	/* swap_avail_lock. */
	SWS_SITE_AVAIL = 0,
	/* The mutex of a CPU's slot cache. */
	SWS_SITE_CACHE_MUTEX = 1,
	/* The lock of a CPU's return cache. */
	SWS_SITE_RETURN_CACHE = 2,
	/* si->lock, the first locked part of a call. */
	SWS_SITE_DEVICE_GET = 3,
	/* si->lock, after a scan. */
	SWS_SITE_DEVICE_SCAN = 4,
	/* si->lock, to free slots. */
	SWS_SITE_DEVICE_FREE = 5,
	/* Cluster locks inside si->lock, to allocate a slot. */
	SWS_SITE_CLUSTER_GET = 6,
	/* Cluster locks inside si->lock, to free a slot. */
	SWS_SITE_CLUSTER_FREE = 7,
	/* Cluster lock, or si->lock in 4.8: swap_duplicate. */
	SWS_SITE_DUPLICATE = 8,
	/* Cluster lock, or si->lock in 4.8: try_to_free_swap reads the count. */
	SWS_SITE_COUNT = 9,
	/* Cluster lock, or si->lock in 4.8: the page has left the swap cache. */
	SWS_SITE_PUT = 10,
	/* Cluster lock, or si->lock in 4.8: the page enters the swap cache again. */
	SWS_SITE_PREPARE = 11,
	/* Cluster lock, or si->lock in 4.8: swap_free. */
	SWS_SITE_SWAP_FREE = 12,
	/* tree_lock or xa_lock, on the way out: add_to_swap_cache. */
	SWS_SITE_TREE_ADD = 13,
	/* tree_lock or xa_lock: start of writeback. */
	SWS_SITE_TREE_START = 14,
	/* tree_lock or xa_lock: end of writeback. */
	SWS_SITE_TREE_END = 15,
	/* tree_lock or xa_lock: __remove_mapping. */
	SWS_SITE_TREE_REMOVE = 16,
	/* tree_lock or xa_lock, on the way in: add_to_swap_cache. */
	SWS_SITE_TREE_READ = 17,
	/* tree_lock or xa_lock: delete_from_swap_cache. */
	SWS_SITE_TREE_DELETE = 18,
	/* tree_lock or xa_lock: clear_shadow_from_swap_cache. */
	SWS_SITE_TREE_SHADOW = 19,
	/* lru_lock: a pagevec is added to its lists. */
	SWS_SITE_LRU_ADD = 20,
	/* lru_lock: mem_cgroup_commit_charge of 5.7. */
	SWS_SITE_LRU_CHARGE = 21,
	/* lru_lock: shrink_active_list. */
	SWS_SITE_LRU_ACTIVE = 22,
	/* lru_lock: shrink_inactive_list. */
	SWS_SITE_LRU_INACTIVE = 23,
	/* lru_lock: written pages are rotated to the tail. */
	SWS_SITE_LRU_ROTATE = 24,
	/* zone->lock: rmqueue_bulk. */
	SWS_SITE_ZONE_GET = 25,
	/* zone->lock: free_pcppages_bulk. */
	SWS_SITE_ZONE_FREE = 26,
	/* Cluster lock: the search for a slot in a CPU's cluster. */
	SWS_SITE_CLUSTER_SEARCH = 27,
	/* Cluster lock: swapcache_clear, after a page that skipped the swap cache was mapped. */
	SWS_SITE_CLEAR = 28,
	/* Cluster lock: the test whether the slot of a page to be read is in use. */
	SWS_SITE_SWAPCOUNT = 29,
	/* lru_lock: a task that exits frees its pages. */
	SWS_SITE_LRU_RELEASE = 30,
	/* The record of a slot's memory cgroup, inside tree_lock: cgroup v1. */
	SWS_SITE_RECORD_OUT = 31,
	/* The record of a slot's memory cgroup, at the charge of a page that comes in. */
	SWS_SITE_RECORD_IN = 32,
	/* The record of a slot's memory cgroup, inside si->lock. */
	SWS_SITE_RECORD_FREE = 33,
	/* Not a lock: the wait for a CPU that had the page mapped and is interrupted. */
	SWS_SITE_FLUSH = 34,
	/* The number of sites. */
	SWS_SITES = 35,
};

/* The kinds of actors; see the table above. */
enum sws_actor_kind {
	/* A CPU without an actor. */
	SWS_ACTOR_NONE = 0,
	SWS_ACTOR_WRITER = 1,
	SWS_ACTOR_WALKER = 2,
	SWS_ACTOR_KSWAPD = 3,
	SWS_ACTOR_INTERRUPT = 4,
	SWS_ACTOR_STREAM = 5,
};

/* One CPU and the counts of its actor. */
struct sws_machine_cpu {
	/* The kind of the actor. */
	enum sws_actor_kind kind;
	/* The node of the CPU. */
	uint32_t node;
	/* The CPU's time; waits for a device count as idle time. */
	struct sws_des_cpu time;
	/* Pages that a writer has written. */
	uint64_t touched;
	/* The time at which a writer that exits had written its last page, in ns; 0 before that. */
	uint64_t written_ns;
	/* Accesses of a walker, including those with a fault. */
	uint64_t accesses;
	/* Pages that this CPU gave to the device. */
	uint64_t pages_out;
	/* Pages that this CPU read from the device. */
	uint64_t pages_in;
	/* Pages of memory that this CPU freed. */
	uint64_t reclaimed;
	/* Pages that this CPU found referenced on the inactive list. */
	uint64_t activated;
	/* Times that the actor changed its CPU. */
	uint64_t changes;
};

/* A machine; only the functions below read it. */
struct sws_machine;

/* Returns true if this header models a machine with a kernel. */
bool sws_machine_knows(enum sws_kernel kernel);

/* Writes every default; the costs are 0, which sws_machine_new rejects. Complexity: O(1). */
void sws_machine_config_init(struct sws_machine_config *config);

/*
 * Returns the high watermark of a node with so many frames, at which its kswapd stops. At the start
 * the memory is full up to it. kswapd is woken at 5/6 of it, and a task reclaims for itself at 2/3.
 */
uint32_t sws_machine_watermark_high(uint32_t frames);

/*
 * Checks that the requests of a configuration can be done in any interleaving of its streams. Reads
 * streams, requests, n_requests and allocator only. Complexity: O(requests). Returns SWS_OK;
 * SWS_ERROR_BAD_CONFIG with the first row that cannot be done and the *reason, a constant string:
 * the row is out of order, its page is unknown, goes out or comes in twice, never goes out, or
 * waits for the stream itself; or SWS_ERROR_NO_MEMORY.
 */
int sws_machine_check_requests(const struct sws_machine_config *config, uint32_t *row,
			       const char **reason);

/*
 * Creates a machine whose memory and devices are empty; the first events fill them. The caller owns
 * *out and frees it by sws_machine_free. Complexity: O(CPUs + requests + allocations). Returns
 * SWS_OK; SWS_ERROR_BAD_CONFIG for a field out of its range, a cost of 0 or above
 * SWS_MACHINE_COST_MAX, more pages than memory and slots can hold, or requests that cannot be done;
 * or SWS_ERROR_NO_MEMORY.
 */
int sws_machine_new(const struct sws_machine_config *config, struct sws_machine **out);

/* Frees a machine; accepts NULL. */
void sws_machine_free(struct sws_machine *self);

/*
 * Runs until the clock reaches until_ns, no event is left (then *more is false), or max_events have
 * been processed; it returns earlier if the devices have tested some millions of slots and bases.
 * Before the first event the memory and the devices are filled; each small part of that counts as
 * an event without time. Adds the number of processed events to *events. Complexity: O(events +
 * slots and bases tested). Returns SWS_OK, or SWS_ERROR_NO_MEMORY.
 */
int sws_machine_run(struct sws_machine *self, uint64_t until_ns, uint64_t max_events, bool *more,
		    uint64_t *events);

/*
 * As sws_machine_run, until so many requests of all streams are done, or a stream with at least
 * `longest` requests has ended.
 */
int sws_machine_run_streams(struct sws_machine *self, uint64_t requests, uint32_t longest,
			    uint64_t max_events, bool *more, uint64_t *events);

/* The phases of a machine whose writers exit. */
enum sws_machine_life {
	/* No page has gone out. */
	SWS_LIFE_FILL = 0,
	/* A page has gone out, and every writer still writes. */
	SWS_LIFE_SWAP = 1,
	/* A writer has written its last page. */
	SWS_LIFE_EXIT = 2,
	/* The number of phases: all writers have exited or given up. */
	SWS_LIVES = 3,
};

/*
 * As sws_machine_run, until the machine is in a phase or in one after it; with SWS_LIVES until no
 * event is left.
 */
int sws_machine_run_life(struct sws_machine *self, enum sws_machine_life until, uint64_t max_events,
			 bool *more, uint64_t *events);

/* Returns the requests of the longest stream that has ended; 0 if no stream has ended. */
uint32_t sws_machine_longest_ended(const struct sws_machine *self);

/* Returns the time of the last event, in ns since the devices were filled. */
uint64_t sws_machine_now(const struct sws_machine *self);

/* Returns the number of events since the devices were filled. */
uint64_t sws_machine_events(const struct sws_machine *self);

/*
 * Returns true if a writer, walker or stream has given up and stopped: its node had no free page
 * and no page could be swapped out, or a stream's page found no slot.
 */
bool sws_machine_stuck(const struct sws_machine *self);

/* Returns the number of CPUs, with and without actors. */
uint32_t sws_machine_cpus(const struct sws_machine *self);

/* Returns the counts of one CPU so far; zeros for an unknown CPU. */
struct sws_machine_cpu sws_machine_cpu_of(const struct sws_machine *self, uint32_t cpu);

/* Returns the costs of one call site so far; zeros for an unknown site. */
struct sws_des_site sws_machine_site_of(const struct sws_machine *self, uint32_t site);

/*
 * Returns a site as "lock.function" or "lock.function.caller", a constant; "unknown" for an unknown
 * site.
 */
const char *sws_machine_site_name(uint32_t site);

/* Returns the work of the devices so far, without filling them. */
struct sws_slots_work sws_machine_slots_work(const struct sws_machine *self);

/*
 * Returns how many of the slots that the devices allocated were in the trunk of the last slot of
 * another actor, so that two CPUs use one mapping.
 */
uint64_t sws_machine_shared_slots(const struct sws_machine *self);

/*
 * Recomputes every invariant of clocks, pages, lists, slots and trees, for tests. A machine with a
 * hundred gigabytes takes half a second, longer than any other call of this header. Complexity:
 * O(pages + slots). Returns SWS_OK, or SWS_ERROR_BROKEN and the *reason, a constant string.
 */
int sws_machine_verify(const struct sws_machine *self, const char **reason);

/* ffi: end */

#endif
