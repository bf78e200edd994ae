/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim.h - the world in which reclaim decides: a memory of two zones, a client whose pages are
 * all in use, a file that is written beside it, one disk for both, and the kernel between.
 *
 * Models, of 3.9 to 3.11, on a machine of one node
 *   mm/vmscan.c        kswapd, balance_pgdat, shrink_lruvec, get_scan_count,
 *                      shrink_active_list, shrink_inactive_list, shrink_page_list
 *   mm/page_alloc.c    get_page_from_freelist, __alloc_pages_slowpath, watermarks
 *   mm/page-writeback.c, fs/fs-writeback.c
 *                      balance_dirty_pages, the flusher; fdatasync
 *   mm/memory.c, mm/swap_state.c, mm/swapfile.c
 *                      faults, swap cache, readahead of a cluster, slots of a disk
 *   block/blk-core.c   a queue with nr_requests, merges, its congestion
 *   fs/nfs/write.c     calls that write, unstable pages, commits
 * What reclaim decides about dirty pages and pages under writeback is stall.h's; nothing of
 * it is told here again.
 *
 *
 * 1. The world
 *
 *      client (serves a pool of items)          writer (one file a round, then fdatasync)
 *        | touches pages, faults                  | dirties pages, is throttled
 *        v                                        v
 *      [ Normal: free | anon: active inactive | file: active inactive ]   high, low, min
 *      [ DMA32:  free | anon: active inactive | file: active inactive ]   high, low, min
 *        ^ scans, swaps out      ^ cleans                  ^ is read ahead
 *      kswapd                  flusher                     |
 *        \________ writes ________|________________________/
 *                   [ queue: reads | writes, sorted ]       or, for the file, over a net:
 *                   [ disk: file ........... | swap ... ]   [ server: memory | disk ]
 *
 * An actor is a procedure in steps on a CPU of its own (des.h): it changes the world at a
 * moment, and the time of that work passes after it. The rounds come one after another: the
 * client fills its pool and serves it for serve_ns; the writer begins write_delay_ns after the
 * serving, and ends when its file is on the disk. When both are done the file is deleted, the
 * client exits, and a round with the next file begins.
 *
 *   actor    waits for
 *   client   a page read from swap, a free page
 *   writer   a free page; being throttled; room in the queue; the end of its writes
 *   flusher  too many dirty pages, old ones, or to be woken by reclaim; room in the queue
 *   kswapd   a zone below its low watermark; what stall.h asks for; room in the queue
 *   disk     a request
 *   net      a call to the server, and its disk a commit, or a page that is to be stable
 *
 * A page is a record of 20 bytes, by its frame: its list's neighbours, its place in the pool
 * or in the file, its slot, its flags. A touch of a page that is there costs one access to its
 * page table entry, and all operations until another actor's next event are done in one go.
 *
 *
 * 2. What it costs
 *
 *   operation                                        work here
 *   a touch that hits                                O(1), no event
 *   a page scanned, aged, read, written, dirtied     O(1)
 *   a list of 32 pages shrunk                        2 events and its sleeps
 *   a run of pages given to the queue                O(log requests + requests moved)
 *   a request served                                 1 event, O(its pages)
 *   memory that nobody scans                         nothing
 *
 *
 * 3. What is kept, and what is dropped
 *
 * Kept: order of zones and lists, watermarks with the reserve of the lower zone; dirty pages as
 * a share of all that can be reclaimed, of a zone and of both, anonymous pages among them while
 * there is swap, as until 3.14; scan targets by priority, swappiness and what was rotated; the
 * end of a scan as each kernel has it (3.9 scans its targets to the end and its priority falls
 * to 0, where anonymous pages are scanned as hard as file pages; from mmotm on kswapd reclaims
 * up to a target, in proportion, and never at priority 0); that a page is looked at twice, once
 * for its mapping and once for its reference, and a page of a program in use stays active; what
 * ext4 does when reclaim gives it a page whose block is not allocated yet: it is dirtied again
 * and nothing is written; what NFS does: a page is not released before it is committed, reclaim
 * asks for that and activates it, and writes single pages for good; the congestion of a queue by
 * 7/8 of nr_requests, of NFS by its pages under writeback, and who is woken when a write
 * completes.
 *
 * Simpler than the kernel:
 *   dirty throttling  a task's rate is the disk's measured rate times the control line of the
 *                     whole, without the line of its device and without the steps of its rate
 *   disk              CFQ with three queues that take turns: reads, fdatasync's writes, others;
 *                     each has nr_requests, where the first two share them; writes in one
 *                     direction by their place; a way costs by the root of its length; a write
 *                     waits for room after it was given to the queue, not before; the oldest
 *                     write is served after 16 others if it is older than 250 ms
 *   swap readahead    pages besides the one asked for come only where a page is free above min
 *   a page swapped in and written to before its first write ended keeps its slot, dirty
 *   exit              pages under writeback are free when that ends
 *   out of memory     also where the kernels of 2013 would try for ever: nothing is dirty or
 *                     under writeback, kswapd sleeps, and 16 attempts have brought nothing
 *   server            writes to its disk at commits alone
 *   6.1               its decisions alone, by pass, in a world of one zone, whose lists are a node's
 *                     then, and its waking of the flusher. Loops, balance and age of lists are those
 *                     of 2013: no refault distance, no fresh page on the inactive list. Who is
 *                     throttled is woken by one write; kswapd's failures are not counted
 *
 * Dropped: ZONE_DMA, huge pages and what they need of compaction, memory cgroups, slab and
 * its shrinkers (the kernel's own pages lie outside of the zones), the gathering of pages by
 * pagevecs and per-CPU lists, waits for isolated pages (three reclaimers have 96 at most) and
 * for the reserve of the network, journals, what other tasks do, mlock.
 *
 *
 * 4. What was known when it was built
 *
 * The mail was read first, all three kernels' columns of it. Some things were changed after runs
 * by all three had been seen: a write that joins a request waits for no room, a page copied
 * costs more and a way on the disk is longer, and there are pages of programs. What came after
 * these was chosen by kernel sources, the test's script and 3.9's column, no run by later rules
 * being looked at until all of it stood and was fitted: the share of memory that may be dirty,
 * turns at the disk and its longer queue, the chunk of an item, the writer's delay.
 */
#ifndef SWAPSIM_RECLAIM_H
#define SWAPSIM_RECLAIM_H

#include "swapsim/stall.h"

/* ffi: begin */

/* What a world can be at most; each field of its config says what it is measured by. */
enum {
	SWS_RECLAIM_ZONES = 2,
	/* Of a zone: 256 GB. */
	SWS_RECLAIM_PAGES_MAX = 67108864,
	/* Of the pool, of a file, of the swap area. */
	SWS_RECLAIM_SPAN_MAX = 268435456,
	/* Of programs, and of files from before: 8 GB. */
	SWS_RECLAIM_KEPT_MAX = 2097152,
	SWS_RECLAIM_ROUNDS_MAX = 64,
	SWS_RECLAIM_REQUESTS_MAX = 4096,
	SWS_RECLAIM_COST_MAX = 2147483647,
	/* The least memory: a list in the hands of each of three reclaimers, and some more. */
	SWS_RECLAIM_PAGES_MIN = 256,
	/* Units of work of one event, or an eighth of the pages of memory if that is more. */
	SWS_RECLAIM_EVENT_WORK_MAX = 66560,
};

/* What work costs, all in ns, each 1 .. SWS_RECLAIM_COST_MAX; data/world.csv says where each comes from. */
struct sws_reclaim_costs {
	/* The client's operation, faults apart. */
	uint64_t op_ns;
	/* A fresh page: the fault, and its zeroing. */
	uint64_t fault_ns;
	/* A fault that finds its page in memory; also what it takes to ask for one from swap. */
	uint64_t map_ns;
	/* The writer copies a page. */
	uint64_t copy_ns;
	/* A page of an inactive list scanned, */
	uint64_t scan_ns;
	/* one of an active list, */
	uint64_t age_ns;
	/* and more for one that is taken out of its mapping, */
	uint64_t remove_ns;
	/* or given to the queue, by whomever. */
	uint64_t submit_ns;
	/* kswapd looks at all zones once; a reclaimer begins a round. */
	uint64_t look_ns;
	/* A page freed at the end of a task or of a file; one let go of after a commit. */
	uint64_t drop_ns;
};

struct sws_reclaim_config {
	/* Whose rules, for reclaim's stalls and loops; 6.1's with one zone alone; default 3.9. */
	enum sws_stall_set rules;
	/* No defaults. */
	struct sws_reclaim_costs costs;
	/*
	 * Pages that a zone gives out, 0 .. SWS_RECLAIM_PAGES_MAX, together SWS_RECLAIM_PAGES_MIN at least;
	 * DMA32 may not be 0; default 3 GB and 4 GB.
	 */
	uint32_t dma32_pages;
	uint32_t normal_pages;
	/*
	 * Pages of programs that other tasks run: active, clean, mapped, executable, and in use
	 * whenever reclaim looks. They are in memory from the start, as far as there is room above
	 * the low marks, Normal's first; default 0.
	 */
	uint32_t program_pages;
	/*
	 * Likewise, behind them: clean pages of other files, in memory from before and never asked for
	 * again; default 0.
	 */
	uint32_t cached_pages;
	/* min_free_kbytes in pages, of all zones: a fourth of memory at most; default 16896. */
	uint32_t min_free_pages;
	/* A lower zone keeps this part of the higher one's pages from who may use both; default 256. */
	uint32_t reserve_ratio;
	/* 0 .. 100; default 60. */
	uint32_t swappiness;
	/* Slots of the swap area, 0 .. SWS_RECLAIM_SPAN_MAX; slot 0 is its header; default 8 GB. */
	uint32_t swap_pages;
	/* page_cluster: 2^n slots are read together, 0 .. 5; default 3. */
	uint32_t readahead_shift;
	/* Of what can be dirty, 1 .. 100: where writers are stopped, and where the flusher begins; 20, 10. */
	uint32_t dirty_percent;
	uint32_t background_percent;
	/* How often the flusher looks for old pages, and what is old; defaults 5 s, 30 s. */
	uint64_t flush_interval_ns;
	uint64_t flush_age_ns;
	/* Pages of the file's part of the disk, 1 .. SWS_RECLAIM_SPAN_MAX; default 64 GB. */
	uint32_t disk_pages;
	/* Pages a second, 1 or more; default 30720: 120 MB/s. */
	uint64_t disk_rate;
	/* Of a way to the next place, and across the whole disk; defaults 4 and 16 ms. */
	uint64_t seek_near_ns;
	uint64_t seek_far_ns;
	/*
	 * How long reads are served while others wait, and likewise what fdatasync writes; and how long
	 * other writes: CFQ's slices, defaults 100 and 40 ms.
	 */
	uint64_t sync_turn_ns;
	uint64_t async_turn_ns;
	/* Of the queue, in each direction, 1 .. SWS_RECLAIM_REQUESTS_MAX; default 128. */
	uint32_t nr_requests;
	/* Pages of a request at most, 1 .. 65536; default 128: 512 KB. */
	uint32_t request_pages;
	/* Does the file system give a page its block when the flusher writes it, as ext4? default true */
	bool delays_allocation;
	/*
	 * Is the file on a server, over a net? Then disk_pages alone of the disk's fields concerns
	 * it; default false.
	 */
	bool nfs;
	/* Pages a second over the net, and from the server's memory to its disk; 115 and 60 MB/s. */
	uint64_t net_rate;
	uint64_t server_rate;
	/* Of a commit, or of pages that reclaim writes, 8 at once, before the server's disk has them; 8 ms. */
	uint64_t server_seek_ns;
	/* wsize: pages of a call at most, 1 .. 65536; default 256: 1 MB. */
	uint32_t write_pages;
	/* The client's items, 1 or more, and pages of each, 1 .. 64: default 298844 of 5. */
	uint32_t items;
	uint32_t item_pages;
	/* Of the client's operations those that write, 0 .. 100; default 33. */
	uint32_t set_percent;
	/* How long it is served before the writer begins; default 0. */
	uint64_t write_delay_ns;
	/* How long it serves in a round; default 200 s. */
	uint64_t serve_ns;
	/* 1 .. SWS_RECLAIM_ROUNDS_MAX; default 1. */
	uint32_t rounds;
	/* Pages of the file of each round, 0: none, up to disk_pages; the caller's, read by new. */
	const uint32_t *file_pages;
	/* Timer ticks a second, SWS_STALL_HZ_MIN or more; default 1000. */
	uint32_t hz;
	uint64_t seed;
	/* NULL: libc. */
	const struct sws_allocator *allocator;
};

/* What the kernel counts of a zone. */
struct sws_reclaim_zone {
	uint64_t scanned_kswapd;
	uint64_t scanned_direct;
	uint64_t reclaimed_kswapd;
	uint64_t reclaimed_direct;
	/* Of the active lists. */
	uint64_t aged;
};

/* What it counts of all. */
struct sws_reclaim_counts {
	/* Of the client. */
	uint64_t ops;
	uint64_t minor_faults;
	uint64_t major_faults;
	/* Pages. */
	uint64_t swapped_in;
	uint64_t swapped_out;
	/* nr_vmscan_write, of file pages: with delayed allocation nothing was written. */
	uint64_t reclaim_writes_file;
	/* nr_vmscan_immediate_reclaim: dirty file pages that reclaim left alone. */
	uint64_t reclaim_immediate;
	/* Pages dirtied by the writer, and pages that the disk has written and read. */
	uint64_t dirtied;
	uint64_t disk_written;
	uint64_t disk_read;
	/* Requests, and how long they were in the queue and in service. */
	uint64_t writes;
	uint64_t reads;
	uint64_t write_ns;
	uint64_t read_ns;
	uint64_t longest_write_ns;
	uint64_t longest_read_ns;
	/* The queue's length times time. */
	uint64_t queue_ns;
	/* kswapd woken; times that a task reclaimed for itself. */
	uint64_t wakeups;
	uint64_t direct_reclaims;
	/* Sleeps by enum sws_stall_sleep, those asked for and declined, and their time. */
	uint64_t sleeps[6];
	uint64_t declined[6];
	uint64_t slept_ns[6];
	/* The same time by who slept: kswapd, or a task that reclaimed for itself. */
	uint64_t kswapd_slept_ns;
	uint64_t tasks_slept_ns;
	/* The writer was throttled for so long. */
	uint64_t throttled_ns;
	/* Of a server: its commits, and the pages in them. */
	uint64_t commits;
	uint64_t committed;
	/* A task that reclaimed waited for a commit: how often, for how long. */
	uint64_t commit_waits;
	uint64_t commit_wait_ns;
	/* Pages freed under writeback: mmotm's mistake. */
	uint64_t freed_under_writeback;
};

/* A round, as far as it went. */
struct sws_reclaim_round {
	uint64_t begin_ns;
	/* The pool is full; the round is over; 0: not yet. */
	uint64_t serve_ns;
	uint64_t end_ns;
	/* Of the writer's file, fdatasync with it. */
	uint64_t io_ns;
	/* During this round. */
	uint64_t ops;
	uint64_t swapped_in;
	uint64_t swapped_out;
	uint64_t minor_faults;
	uint64_t major_faults;
};

/* Memory at this moment. */
struct sws_reclaim_state {
	uint64_t now_ns;
	/* Pages by zone, DMA32 first. */
	uint32_t free[2];
	uint32_t inactive_anon[2];
	uint32_t active_anon[2];
	uint32_t inactive_file[2];
	uint32_t active_file[2];
	uint32_t dirty[2];
	uint32_t writeback[2];
	/* On a server, in its memory alone. */
	uint32_t unstable[2];
	/* Bits of enum sws_stall_flag. */
	uint8_t flags[2];
	/* Slots. */
	uint32_t swap_used;
	/* Requests. */
	uint32_t queued_reads;
	uint32_t queued_writes;
	bool congested;
	/* Calls to the server that wait. */
	uint32_t queued_calls;
	/* Is kswapd at work, not asleep? And its priority. */
	bool kswapd_runs;
	uint8_t kswapd_priority;
};

/* Where a page of the pool is. */
enum sws_reclaim_where {
	SWS_RECLAIM_UNTOUCHED = 0,
	SWS_RECLAIM_ACTIVE = 1,
	SWS_RECLAIM_INACTIVE = 2,
	SWS_RECLAIM_IN_HAND = 3, /* with a reclaimer, and in the page table */
	SWS_RECLAIM_LEAVING = 4, /* out of the page table, and not yet written to its slot */
	SWS_RECLAIM_CACHED = 5,  /* out of the page table, in memory and in its slot */
	SWS_RECLAIM_SWAPPED_OUT = 6,
	SWS_RECLAIM_READING = 7,
};

struct sws_reclaim_pool_page {
	enum sws_reclaim_where where;
	/* 0 also where it is in no zone. */
	uint32_t zone;
	/* Touched since somebody looked. */
	bool young;
};

/* How a world ended, or why it cannot be made. */
enum sws_reclaim_problem {
	SWS_RECLAIM_NO_PROBLEM = 0,
	SWS_RECLAIM_OUT_OF_MEMORY = 1, /* no page to be had, and none to be reclaimed */
	SWS_RECLAIM_UNKNOWN_RULES = 2, /* or rules of lists by node, and more than one zone */
	SWS_RECLAIM_NO_MEMORY =
		3, /* DMA32 is empty, or memory is less than SWS_RECLAIM_PAGES_MIN or too large */
	SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY = 4,
	SWS_RECLAIM_BAD_COST = 5,
	SWS_RECLAIM_BAD_SHARE =
		6, /* a percentage or swappiness out of its range, or background above dirty */
	SWS_RECLAIM_BAD_DISK = 7, /* no rate, no pages, a queue or requests out of their range */
	SWS_RECLAIM_BAD_SWAP = 8, /* too large, or its readahead is */
	SWS_RECLAIM_BAD_POOL = 9, /* no items, or pages of them out of range */
	SWS_RECLAIM_BAD_ROUNDS = 10, /* none or too many, or no time to serve */
	SWS_RECLAIM_FILE_ABOVE_DISK = 11,
	SWS_RECLAIM_BAD_TIME = 12, /* of the flusher, the writer, the timer, or on the disk */
	SWS_RECLAIM_BAD_SERVER = 13, /* no rate, no way, or calls out of their range */
};

struct sws_reclaim;

/* Writes every default. */
void sws_reclaim_config_init(struct sws_reclaim_config *config);

/* Does a world of two zones run by these rules? By all but 6.1's, whose lists are the node's. */
bool sws_reclaim_knows(enum sws_stall_set rules);

/* What is wrong with a config: the first problem that holds. */
enum sws_reclaim_problem sws_reclaim_check(const struct sws_reclaim_config *config);

/*
 * Makes a world at time 0, its memory free. The caller frees it.
 * Returns SWS_ERROR_BAD_CONFIG for what sws_reclaim_check has a problem with, SWS_ERROR_NO_MEMORY.
 */
int sws_reclaim_new(const struct sws_reclaim_config *config, struct sws_reclaim **out);

/* Frees a world; takes NULL. */
void sws_reclaim_free(struct sws_reclaim *self);

/*
 * Runs until the first event at until_ns or behind it, but only until so many units of work are
 * done, an event being one and each page touched, moved or looked at another; *more: is there some
 * left to do? However a run is cut into calls, it is the same. Complexity: O(work) and one event.
 */
int sws_reclaim_run(struct sws_reclaim *self, uint64_t until_ns, uint64_t work, bool *more);

/* Units of work of the last call: fewer than it was given and those of an event. */
uint64_t sws_reclaim_work(const struct sws_reclaim *self);

/* NO_PROBLEM, or OUT_OF_MEMORY: the world stands still then. */
enum sws_reclaim_problem sws_reclaim_outcome(const struct sws_reclaim *self);

/* Are all rounds over, or is there no memory left? */
bool sws_reclaim_is_over(const struct sws_reclaim *self);

/* Events taken so far. */
uint64_t sws_reclaim_events(const struct sws_reclaim *self);

/* What was counted since the world began; zeros for an unknown zone, an unknown round. */
struct sws_reclaim_counts sws_reclaim_counts_of(const struct sws_reclaim *self);
struct sws_reclaim_zone sws_reclaim_zone_of(const struct sws_reclaim *self, uint32_t zone);
struct sws_reclaim_round sws_reclaim_round_of(const struct sws_reclaim *self, uint32_t round);

/* Memory as it is now. */
struct sws_reclaim_state sws_reclaim_state_of(const struct sws_reclaim *self);

/* Where a page of the pool is now; untouched if there is no such page. Complexity: O(1). */
struct sws_reclaim_pool_page sws_reclaim_pool_page_of(const struct sws_reclaim *self,
						      uint32_t number);

/* A digest of every page, list and queue: equal for equal worlds. */
uint64_t sws_reclaim_digest(const struct sws_reclaim *self);

/* Re-derives every invariant; SWS_ERROR_BROKEN and a reason if one fails. Complexity: O(memory). */
int sws_reclaim_verify(const struct sws_reclaim *self, const char **reason);

/* ffi: end */

#endif
