/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim.h - the reclaim simulator: a memory of two zones, a client whose pages are all in use, a
 * writer that dirties one file, a disk that both share, and the kernel's reclaim between them.
 *
 * Models, of 3.9 to 3.11, on a machine with one node
 *   mm/vmscan.c        kswapd, balance_pgdat, shrink_lruvec, get_scan_count,
 *                      shrink_active_list, shrink_inactive_list, shrink_page_list
 *   mm/page_alloc.c    get_page_from_freelist, __alloc_pages_slowpath, watermarks
 *   mm/page-writeback.c, fs/fs-writeback.c
 *                      balance_dirty_pages, the flusher, fdatasync
 *   mm/memory.c, mm/swap_state.c, mm/swapfile.c
 *                      faults, the swap cache, readahead of a cluster, slots of a disk
 *   mm/filemap.c       faults on pages of programs, and what is read around them
 *   block/blk-core.c   a queue with nr_requests, its merges and its congestion
 *   fs/nfs/write.c     write calls, unstable pages, commits
 * The decisions of reclaim about dirty pages and pages under writeback are those of stall.h.
 *
 *
 * 1. What is simulated
 *
 *      client (serves a pool of items)          writer (one file per round, then fdatasync)
 *        | touches pages, faults                  | dirties pages, is throttled
 *        v                                        v
 *      [ Normal: free | anon: active inactive | file: active inactive ]   high, low, min
 *      [ DMA32:  free | anon: active inactive | file: active inactive ]   high, low, min
 *        ^ scans, swaps out      ^ cleans                  ^ is read ahead
 *      kswapd                  flusher                     |
 *        \________ writes ________|________________________/
 *                   [ queue: reads | writes, sorted ]       or, for a file on NFS:
 *                   [ disk: file ........... | swap ... ]   [ server: memory | disk ]
 *
 * An actor is a procedure in steps on its own CPU (des.h): a step changes the state at one moment,
 * and the time of its work passes afterwards. The rounds run one after another. In a round the
 * client fills its pool and serves it for serve_ns; the writer starts write_delay_ns after the
 * serving began, or after enough memory was in use, and ends when its file is on the disk. Then the
 * file is deleted, the client exits, and the next round begins. Programs and libraries of other
 * tasks are touched all the time.
 *
 *   actor    waits for
 *   client   a page that is read from swap, a free page
 *   writer   a free page, the end of its throttling, room in the queue, the end of its writes
 *   programs the time of their next touch, a page that is read, a free page
 *   flusher  too many dirty pages, old dirty pages, a wake-up by reclaim, room in the queue
 *   kswapd   a zone below its low watermark, a throttle of stall.h, room in the queue
 *   disk     a request
 *   net      a call to the server; the server's disk waits for a commit or a stable write
 *
 * A page is a record of 20 bytes, indexed by its frame: the neighbours on its list, its index in
 * the pool or in the file, its slot and its flags. A touch of a resident page costs one access to
 * its page table entry. All operations up to the next event of another actor are one event.
 *
 *
 * 2. Costs
 *
 *   operation                                              work here
 *   a touch that hits                                      O(1), no event
 *   a page that is scanned, aged, read, written, dirtied   O(1)
 *   shrinking a list of 32 pages                           2 events and its throttles
 *   submitting a run of pages                              O(log requests + requests moved)
 *   serving a request                                      1 event, O(its pages)
 *   memory that is not scanned                             no work
 *
 *
 * 3. What is modelled, simplified and left out
 *
 * Modelled:
 *   - the order of zones and lists; the watermarks with the lower zone's reserve
 *   - dirty pages as a share of all reclaimable pages, per zone and in total; until 3.14 this
 *     includes anonymous pages while swap is available
 *   - scan targets by priority, swappiness and the rotated pages
 *   - the end of a scan in each kernel: 3.9 scans its targets to the end and lowers its priority
 *     to 0, where anonymous pages are scanned as hard as file pages; from mmotm on kswapd
 *     reclaims up to a target, in proportion, and never at priority 0
 *   - the two tests of a page, for its mapping and for its reference. Pages of programs are
 *     touched by a clock; an executable one that was touched since the last test stays active,
 *     any other one is deactivated, reclaimed, and read again at its next touch, with those
 *     around it
 *   - kswapd_try_to_sleep: no nap while a zone up to the highest one of the last pass is not
 *     balanced; above that zone it does not look
 *   - ext4 with delayed allocation: a page without a block that reclaim writes is dirtied again,
 *     and no write is submitted
 *   - NFS: a page is released after its commit only; reclaim requests the commit and activates
 *     the page; a page that reclaim writes is written alone and stable
 *   - congestion at 7/8 of nr_requests, on NFS at a number of pages under writeback; the tasks
 *     that the completion of a write wakes
 *
 * Simplified:
 *   dirty throttling  a task's rate is the measured rate of the disk times the global control
 *                     line; the line of the device and the steps of the rate are missing
 *   disk              CFQ with three queues that take turns: reads, the writes of fdatasync, other
 *                     writes. Each has nr_requests; the first two share theirs. Writes are
 *                     served in one direction by their position; the time of a seek grows with
 *                     the square root of its distance. A write waits for room after it was
 *                     queued, not before. The oldest write is served after 16 others if it is
 *                     older than 250 ms
 *   swap readahead    pages other than the faulting one are read only while a page above the min
 *                     mark is free
 *   swapped-in pages  a page that is swapped in and written to before its first write ends
 *                     keeps its slot and is dirty
 *   exit              pages under writeback become free when the writeback ends
 *   out of memory     also reported where the kernels of 2013 would try for ever: no page is dirty
 *                     or under writeback, the disk has no request, kswapd sleeps or has no result,
 *                     and 16 attempts reclaimed no page. As in these kernels, it is also reported
 *                     if kswapd scanned all pages of each zone six times before a write ended,
 *                     which takes a millisecond in a simulation of a few hundred pages
 *   server            writes to its disk for commits and stable writes only
 *   programs          each page is mapped by one task; the windows of a part are those of its
 *                     faults; the tasks have a CPU of their own
 *   start script      its own memory is not simulated
 *   6.1               only its decisions, per pass, with one zone whose lists stand for those of
 *                     the node, and its wake-up of the flusher. The loops, the balance and the
 *                     ageing of the lists are those of 2013: no refault distance, and new pages
 *                     do not start on the inactive list. The end of one write wakes a throttled
 *                     task; the failures of kswapd are not counted
 *
 * Left out: ZONE_DMA; huge pages and their compaction; memory cgroups; slab and its shrinkers (the
 * kernel's own pages lie outside of the zones); pagevecs and per-CPU lists; waits for isolated
 * pages (three reclaimers isolate at most 96) and for the reserve of the network; journals; the
 * anonymous memory and the writes of other tasks; mlock.
 */
#ifndef SWAPSIM_RECLAIM_H
#define SWAPSIM_RECLAIM_H

#include "swapsim/stall.h"

/* ffi: begin */

/*
 * Limits of a simulation; the comment of each configuration field names the limit that applies to
 * it.
 */
enum {
	/* Zones: DMA32 and Normal. */
	SWS_RECLAIM_ZONES = 2,
	/* Maximum number of pages of one zone: 256 GB. */
	SWS_RECLAIM_PAGES_MAX = 67108864,
	/* Maximum number of pages of the pool, of a file or of the swap area. */
	SWS_RECLAIM_SPAN_MAX = 268435456,
	/* Maximum number of pages of each part of the programs, and of cached pages: 8 GB each. */
	SWS_RECLAIM_KEPT_MAX = 2097152,
	/* Maximum of read_around_pages. */
	SWS_RECLAIM_READ_AROUND_MAX = 64,
	/* Maximum number of rounds. */
	SWS_RECLAIM_ROUNDS_MAX = 64,
	/* Maximum of nr_requests. */
	SWS_RECLAIM_REQUESTS_MAX = 4096,
	/* Maximum of each cost. */
	SWS_RECLAIM_COST_MAX = 2147483647,
	/*
	 * Minimum number of pages of memory: one isolated list for each of three reclaimers, and a
	 * margin.
	 */
	SWS_RECLAIM_PAGES_MIN = 256,
	/* Maximum work units of one event; an eighth of the pages of memory if that is more. */
	SWS_RECLAIM_EVENT_WORK_MAX = 66560,
};

/*
 * The costs of the operations, in ns, each 1 .. SWS_RECLAIM_COST_MAX; data/reclaim.csv gives their
 * sources.
 */
struct sws_reclaim_costs {
	/* One operation of the client, without its faults. */
	uint64_t op_ns;
	/* The fault on a page that was never touched, with the zeroing of the page. */
	uint64_t fault_ns;
	/* A fault whose page is in memory; also the submission of a read from swap. */
	uint64_t map_ns;
	/* The writer copies one page into the page cache. */
	uint64_t copy_ns;
	/* Reclaim scans one page of an inactive list. */
	uint64_t scan_ns;
	/* Reclaim scans one page of an active list. */
	uint64_t age_ns;
	/* Reclaim removes one page from its mapping; added to scan_ns. */
	uint64_t remove_ns;
	/* Any actor submits one page to the queue; in reclaim added to scan_ns. */
	uint64_t submit_ns;
	/*
	 * Reclaim writes a page without a block, which is dirtied again; added to scan_ns, and
	 * submit_ns is not.
	 */
	uint64_t redirty_ns;
	/* kswapd checks all zones once, or direct reclaim begins a round. */
	uint64_t look_ns;
	/*
	 * One page is freed when a task exits or a file is deleted, or is released after a commit.
	 */
	uint64_t drop_ns;
};

/* The configuration of a simulation. */
struct sws_reclaim_config {
	/*
	 * The rules of stalls and loops; those of 6.1 require a single zone; default: those of 3.9.
	 */
	enum sws_stall_set rules;
	/* The costs; they have no defaults. */
	struct sws_reclaim_costs costs;
	/*
	 * Pages of zone DMA32, 1 .. SWS_RECLAIM_PAGES_MAX; both zones together have at least
	 * SWS_RECLAIM_PAGES_MIN pages; default 3 GB.
	 */
	uint32_t dma32_pages;
	/* Pages of zone Normal, 0 .. SWS_RECLAIM_PAGES_MAX; default 4 GB. */
	uint32_t normal_pages;
	/*
	 * Pages of programs and libraries that other tasks run, the first of two parts: clean and
	 * mapped. They are active, touched and resident at the start, in Normal first, as far as
	 * the zones have room above their low marks; 0 .. SWS_RECLAIM_KEPT_MAX, default 0.
	 */
	uint32_t program_pages;
	/*
	 * The time in which each page of this part is touched once, at least 1 ms for each
	 * read_around_pages of them; at 0 each look of reclaim finds each page touched, so that no
	 * page is reclaimed; default 0.
	 */
	uint64_t program_interval_ns;
	/* As program_pages, for the second part, whose pages follow those of the first one. */
	uint32_t working_pages;
	/* As program_interval_ns, for the second part; default 80 s. */
	uint64_t working_interval_ns;
	/* Share of the pages of both parts that is mapped with VM_EXEC, 0 .. 100; default 100. */
	uint32_t executable_percent;
	/*
	 * A part is touched in windows of so many pages, and a fault reads what is missing of a
	 * window, 1 .. SWS_RECLAIM_READ_AROUND_MAX; default 32: 128 KB.
	 */
	uint32_t read_around_pages;
	/*
	 * Clean pages of other files that are resident from the start, after those of the programs,
	 * and are never read again; 0 .. SWS_RECLAIM_KEPT_MAX, default 0.
	 */
	uint32_t cached_pages;
	/*
	 * Share of the cached pages in Normal; the rest is in DMA32, and what has no room in the
	 * other zone; 0 .. 100, default 100.
	 */
	uint32_t cached_normal_percent;
	/* min_free_kbytes of all zones, in pages: at most a fourth of memory; default 16896. */
	uint32_t min_free_pages;
	/*
	 * The lower zone reserves 1 / reserve_ratio of the higher zone's pages against its users;
	 * default 256.
	 */
	uint32_t reserve_ratio;
	/* The sysctl vm.swappiness, 0 .. 100; default 60. */
	uint32_t swappiness;
	/* Slots of the swap area, 0 .. SWS_RECLAIM_SPAN_MAX; slot 0 is its header; default 8 GB. */
	uint32_t swap_pages;
	/* The sysctl vm.page-cluster, 0 .. 5: 2^n slots are read together; default 3. */
	uint32_t readahead_shift;
	/* Writers stop at this share of the dirtyable pages, in percent, 1 .. 100; default 20. */
	uint32_t dirty_percent;
	/*
	 * The flusher starts at this share of the dirtyable pages, in percent, 1 .. 100; default
	 * 10.
	 */
	uint32_t background_percent;
	/* Interval at which the flusher checks for old pages; default 5 s. */
	uint64_t flush_interval_ns;
	/* Age from which a dirty page counts as old; default 30 s. */
	uint64_t flush_age_ns;
	/* Pages of the disk's part for files, 1 .. SWS_RECLAIM_SPAN_MAX; default 64 GB. */
	uint32_t disk_pages;
	/* Rate of the disk in pages per second, at least 1; default 30720: 120 MB/s. */
	uint64_t disk_rate;
	/* Time of a seek to the adjacent position; default 4 ms. */
	uint64_t seek_near_ns;
	/* Time of a seek across the complete disk; default 16 ms. */
	uint64_t seek_far_ns;
	/* Requests of the queue in each direction, 1 .. SWS_RECLAIM_REQUESTS_MAX; default 128. */
	uint32_t nr_requests;
	/* Maximum number of pages of a request, 1 .. 65536; default 128: 512 KB. */
	uint32_t request_pages;
	/*
	 * True if the file system allocates a block when the flusher writes a page, as ext4;
	 * default true.
	 */
	bool delays_allocation;
	/*
	 * True if the file is on an NFS server; of the disk's fields only disk_pages then applies
	 * to it; default false.
	 */
	bool nfs;
	/* Rate of the network in pages per second; default 115 MB/s. */
	uint64_t net_rate;
	/* Rate of the server's disk in pages per second; default 60 MB/s. */
	uint64_t server_rate;
	/*
	 * Latency of the server's disk for a commit, or for up to 8 stable writes of reclaim
	 * together; default 8 ms.
	 */
	uint64_t server_seek_ns;
	/* wsize in pages: the maximum of a write call, 1 .. 65536; default 256: 1 MB. */
	uint32_t write_pages;
	/* Items of the client's pool, at least 1; default 298844. */
	uint32_t items;
	/* Pages of an item, 1 .. 64; default 5. */
	uint32_t item_pages;
	/* Share of the client's operations that write, in percent, 0 .. 100; default 33. */
	uint32_t set_percent;
	/* Time from the start of a round to the start of its filling; default 0. */
	uint64_t gap_ns;
	/*
	 * The writer of a round waits until so many pages of the zones are in use, from the start of
	 * the filling on; if that does not come true until the serving ends, the round has no file.
	 * 0 means that it waits for the start of the serving; at most the pages of memory, default
	 * 0.
	 */
	uint32_t start_used_pages;
	/* Interval at which it looks for them; at least 1, default 2 s. */
	uint64_t start_look_ns;
	/* Time from the end of that wait to the start of the writer; default 0. */
	uint64_t write_delay_ns;
	/* Time that the client serves in each round; default 200 s. */
	uint64_t serve_ns;
	/* Number of rounds, 1 .. SWS_RECLAIM_ROUNDS_MAX; default 1. */
	uint32_t rounds;
	/*
	 * Pages of each round's file, 0 .. disk_pages; 0 means no file. The array belongs to the
	 * caller; sws_reclaim_new reads it, and it is not used afterwards.
	 */
	const uint32_t *file_pages;
	/* Seed of the random generator; default 0. */
	uint64_t seed;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
};

/* The range of an integer field of the configuration. */
struct sws_reclaim_range {
	/* The name of the field. */
	const char *field;
	/* The lowest value. */
	uint64_t low;
	/* The highest value. */
	uint64_t high;
};

/* What the kernel counts per zone, in pages. */
struct sws_reclaim_zone {
	/* Pages that kswapd scanned on inactive lists. */
	uint64_t scanned_kswapd;
	/* Pages that direct reclaim scanned on inactive lists. */
	uint64_t scanned_direct;
	/* Pages that kswapd reclaimed. */
	uint64_t reclaimed_kswapd;
	/* Pages that direct reclaim reclaimed. */
	uint64_t reclaimed_direct;
	/* Pages scanned on active lists. */
	uint64_t aged;
};

/* What is counted over both zones. */
struct sws_reclaim_counts {
	/* Operations of the client. */
	uint64_t ops;
	/* Faults that read no page. */
	uint64_t minor_faults;
	/* Faults that waited for a page to be read, from swap or from the file of a program. */
	uint64_t major_faults;
	/* Those of them on pages of programs. */
	uint64_t program_faults;
	/* Pages read for them. */
	uint64_t program_reads;
	/* Pages read from swap. */
	uint64_t swapped_in;
	/* Pages written to swap. */
	uint64_t swapped_out;
	/* nr_vmscan_write of file pages; with delayed allocation no such page was written. */
	uint64_t reclaim_writes_file;
	/* nr_vmscan_immediate_reclaim: dirty file pages that reclaim marked and skipped. */
	uint64_t reclaim_immediate;
	/* Pages that the writer dirtied. */
	uint64_t dirtied;
	/* Pages that the disk wrote. */
	uint64_t disk_written;
	/* Pages that the disk read. */
	uint64_t disk_read;
	/* Write requests that completed. */
	uint64_t writes;
	/* Read requests that completed. */
	uint64_t reads;
	/* Total time of the write requests, in the queue and in service. */
	uint64_t write_ns;
	/* Total time of the read requests, in the queue and in service. */
	uint64_t read_ns;
	/* Longest time of a write request. */
	uint64_t longest_write_ns;
	/* Longest time of a read request. */
	uint64_t longest_read_ns;
	/* Integral of the queue's length over time. */
	uint64_t queue_ns;
	/* Runs of balance_pgdat, which follow wake-ups of kswapd or each other. */
	uint64_t wakeups;
	/* Times that a task entered direct reclaim. */
	uint64_t direct_reclaims;
	/* Throttles that took place, by enum sws_stall_sleep. */
	uint64_t sleeps[6];
	/* Throttles that were requested and skipped, by enum sws_stall_sleep. */
	uint64_t declined[6];
	/* Time of the throttles, by enum sws_stall_sleep. */
	uint64_t slept_ns[6];
	/* Time of the throttles of kswapd. */
	uint64_t kswapd_slept_ns;
	/* Time of the throttles of tasks in direct reclaim. */
	uint64_t tasks_slept_ns;
	/* Time that balance_dirty_pages throttled the writer. */
	uint64_t throttled_ns;
	/* Commits of the server. */
	uint64_t commits;
	/* Pages in those commits. */
	uint64_t committed;
	/* Times that a task in reclaim waited for a commit. */
	uint64_t commit_waits;
	/* Time of those waits. */
	uint64_t commit_wait_ns;
	/*
	 * Pages that were freed while under writeback: the error in mmotm that patch 1 of the
	 * series fixes.
	 */
	uint64_t freed_under_writeback;
};

/* One round, up to the current time. */
struct sws_reclaim_round {
	/* Start of the round. */
	uint64_t begin_ns;
	/* Time at which the pool was full and the serving began; 0 until then. */
	uint64_t serve_ns;
	/* End of the round; 0 until then. */
	uint64_t end_ns;
	/* Time that the writer took for its file, fdatasync included. */
	uint64_t io_ns;
	/* The count of the same name, during this round. */
	uint64_t ops;
	/* The count of the same name, during this round. */
	uint64_t swapped_in;
	/* The count of the same name, during this round. */
	uint64_t swapped_out;
	/* The count of the same name, during this round. */
	uint64_t minor_faults;
	/* The count of the same name, during this round. */
	uint64_t major_faults;
	/* The count of the same name, during this round. */
	uint64_t program_faults;
	/* Pages scanned on inactive lists of all zones, during this round. */
	uint64_t scanned;
	/* Pages reclaimed in all zones, during this round. */
	uint64_t reclaimed;
};

/* The state of memory at one moment; arrays are indexed by zone, DMA32 first. */
struct sws_reclaim_state {
	/* The current time. */
	uint64_t now_ns;
	/* Free pages. */
	uint32_t free[2];
	/* Pages on the inactive list of anonymous pages. */
	uint32_t inactive_anon[2];
	/* Pages on the active list of anonymous pages. */
	uint32_t active_anon[2];
	/* Pages on the inactive list of file pages. */
	uint32_t inactive_file[2];
	/* Pages on the active list of file pages. */
	uint32_t active_file[2];
	/* Dirty pages. */
	uint32_t dirty[2];
	/* Pages under writeback. */
	uint32_t writeback[2];
	/* Unstable pages: the server has them in its memory only. */
	uint32_t unstable[2];
	/* Bits of enum sws_stall_flag. */
	uint8_t flags[2];
	/* Slots in use. */
	uint32_t swap_used;
	/* Read requests in the queue. */
	uint32_t queued_reads;
	/* Write requests in the queue. */
	uint32_t queued_writes;
	/* True if the queue, or the server, is congested. */
	bool congested;
	/* Calls that wait for the network or for the server. */
	uint32_t queued_calls;
	/* True unless kswapd is asleep. */
	bool kswapd_runs;
	/* The priority of kswapd. */
	uint8_t kswapd_priority;
};

/* The outcome of a simulation, or the problem of its configuration. */
enum sws_reclaim_problem {
	/* No problem. */
	SWS_RECLAIM_NO_PROBLEM = 0,
	/* No page is free and none can be reclaimed. */
	SWS_RECLAIM_OUT_OF_MEMORY = 1,
	/* The rules are unknown, or they work per node and there is more than one zone. */
	SWS_RECLAIM_UNKNOWN_RULES = 2,
	/* DMA32 is empty, or memory has fewer than SWS_RECLAIM_PAGES_MIN pages or too many. */
	SWS_RECLAIM_NO_MEMORY = 3,
	/*
	 * The watermarks are above memory: min_free_pages is above a fourth of it, or reserve_ratio
	 * reserves more than a fourth of DMA32.
	 */
	SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY = 4,
	/* A cost is out of its range. */
	SWS_RECLAIM_BAD_COST = 5,
	/* A percentage is out of its range, or background_percent exceeds dirty_percent. */
	SWS_RECLAIM_BAD_SHARE = 6,
	/* The disk has no rate or no pages, or its queue or its requests are out of range. */
	SWS_RECLAIM_BAD_DISK = 7,
	/* The swap area or its readahead is too large. */
	SWS_RECLAIM_BAD_SWAP = 8,
	/* The pool is empty or too large: change items or item_pages. */
	SWS_RECLAIM_BAD_POOL = 9,
	/* The number of rounds is out of range, or the time to serve is 0. */
	SWS_RECLAIM_BAD_ROUNDS = 10,
	/* A file has more pages than the disk. */
	SWS_RECLAIM_FILE_ABOVE_DISK = 11,
	/*
	 * A time of the flusher, the writer or the disk is out of range, or seek_near_ns exceeds
	 * seek_far_ns.
	 */
	SWS_RECLAIM_BAD_TIME = 12,
	/* The server has no rate or no latency, or its calls are out of range. */
	SWS_RECLAIM_BAD_SERVER = 13,
	/* The largest file, program_pages and working_pages together exceed disk_pages. */
	SWS_RECLAIM_PROGRAMS_ABOVE_DISK = 14,
	/* Memory never has start_used_pages: it has dma32_pages and normal_pages. */
	SWS_RECLAIM_BAD_START = 15,
};

/* A simulation; only the functions below read it. */
struct sws_reclaim;

/* Writes every default. Complexity: O(1). */
void sws_reclaim_config_init(struct sws_reclaim_config *config);

/*
 * Returns the range of an integer field, numbered from 0 in the order of the configuration, or
 * NULL past the last one. The costs, 1 .. SWS_RECLAIM_COST_MAX each, have no number. Complexity:
 * O(1).
 */
const struct sws_reclaim_range *sws_reclaim_range_of(uint32_t number);

/*
 * Returns true if the rules work with two zones: all do except those of 6.1, whose lists are per
 * node.
 */
bool sws_reclaim_knows(enum sws_stall_set rules);

/* Returns the first problem of a configuration, or NO_PROBLEM. Complexity: O(rounds). */
enum sws_reclaim_problem sws_reclaim_check(const struct sws_reclaim_config *config);

/*
 * Creates a simulation at time 0 with its memory free. The caller owns *out and frees it by
 * sws_reclaim_free. Complexity: O(memory). Returns SWS_OK, SWS_ERROR_BAD_CONFIG if
 * sws_reclaim_check reports a problem, or SWS_ERROR_NO_MEMORY.
 */
int sws_reclaim_new(const struct sws_reclaim_config *config, struct sws_reclaim **out);

/* Frees a simulation; accepts NULL. */
void sws_reclaim_free(struct sws_reclaim *self);

/*
 * Runs until the first event at or after until_ns, or until the given units of work are done: each
 * event is one unit, and so is each page that is touched, moved or scanned. *more is true if work
 * is left. The split of a run into calls does not change its results. Complexity: O(work) and one
 * event. Returns SWS_OK, or SWS_ERROR_NO_MEMORY.
 */
int sws_reclaim_run(struct sws_reclaim *self, uint64_t until_ns, uint64_t work, bool *more);

/* Returns the units of work of the last call: less than its limit plus the units of one event. */
uint64_t sws_reclaim_work(const struct sws_reclaim *self);

/* Returns NO_PROBLEM, or OUT_OF_MEMORY, after which the simulation does not advance. */
enum sws_reclaim_problem sws_reclaim_outcome(const struct sws_reclaim *self);

/* Returns true if all rounds are over or memory is exhausted. */
bool sws_reclaim_is_over(const struct sws_reclaim *self);

/* Returns the number of events so far. */
uint64_t sws_reclaim_events(const struct sws_reclaim *self);

/* Returns the counts since the start of the simulation. */
struct sws_reclaim_counts sws_reclaim_counts_of(const struct sws_reclaim *self);
/* Returns the counts of a zone since the start; zeros for an unknown zone. */
struct sws_reclaim_zone sws_reclaim_zone_of(const struct sws_reclaim *self, uint32_t zone);
/* Returns a round; zeros for an unknown round. */
struct sws_reclaim_round sws_reclaim_round_of(const struct sws_reclaim *self, uint32_t round);

/* Returns the current state of memory. */
struct sws_reclaim_state sws_reclaim_state_of(const struct sws_reclaim *self);

/* Returns a digest of every page, list and queue; equal states have equal digests. */
uint64_t sws_reclaim_digest(const struct sws_reclaim *self);

/*
 * Recomputes every invariant. Complexity: O(memory). Returns SWS_OK, or SWS_ERROR_BROKEN and the
 * *reason, a constant string.
 */
int sws_reclaim_verify(const struct sws_reclaim *self, const char **reason);

/* ffi: end */

#endif
