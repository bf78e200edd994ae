/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall.h - the decisions of reclaim about dirty pages and pages under writeback: what it counts,
 * which flags it sets, when it throttles, and which dirty pages kswapd may write.
 *
 * Models, in mm/vmscan.c, by the rules of a row of stall_rules.h
 *   tests of a page   shrink_page_list, shrink_folio_list of 6.1
 *   end of a list     shrink_inactive_list
 *   end of a pass     shrink_node of 6.1
 *   end of a round    do_try_to_free_pages, consider_reclaim_throttle of 6.1
 *   throttles         reclaim_throttle; congestion_wait, wait_iff_congested (mm/backing-dev.c)
 *   callback          nfs_check_dirty_writeback
 *
 *      isolated from the tail, T pages
 *        |
 *      locked? evictable? mapped? --------------- if so: returned to the list, no further test
 *        |
 *      accounting              D dirty, U unqueued, C congested      (from series-2 on)
 *        |
 *      writeback test          case 1: I    case 2: W    case 3: wait
 *        |
 *      references, swap, unmap
 *        |
 *      dirty test              D and U (until series-1); may the page be written?
 *        |
 *      pageout                 C, if pageout keeps the page (until series-1)
 *        |
 *      freed           ... and after the last page: flags and throttles
 *
 * D counts pages that are dirty or under writeback, U those that are dirty and not queued. A page
 * under writeback is case 1 if kswapd reclaims, the page has the reclaim flag and the zone the flag
 * WRITEBACK; it is case 3 if a memory cgroup reclaims that has already marked the page; all others
 * are case 2.
 *
 *   part                       lock                  work under it
 *   tests of a page            the page's            none; mmotm's case 1 sleeps 100 ms in it
 *   end of a list, of a pass   none                  flags are bits, each set atomically
 *   a throttle                 none                  up to 100 ms, or until a write completes
 *
 * A list is processed by a resumable state machine, so that a caller can stop between two pages:
 *
 *      begin -> [ page ] --meet-----------------------------------> [ page ] -> end
 *                  |-- asleep  (case 1 until series-2) --slept----------^  kept
 *                  |-- waiting (case 3) ----------------waited-----------^  6.1: tested again
 *                  |            |  goes on           |  goes on          |
 *                  '------> [ goes on ] <------------'                   |
 *                              |-- left (the path ended elsewhere) ------|
 *                              '-- dirty --> [ pageout ] -- paged_out ---'
 *                                     '--------- not to be written ------'
 *
 * Modelled: what is counted, where, and for which pages; each test with its scope and its order;
 * which events clear which flags. Left out: demotion; PF_SWAPWRITE (kswapd has it, and no other
 * task writes file pages); swap files on a network file system, for which 6.1 tests before case 3;
 * the actual length of a sleep.
 */
#ifndef SWAPSIM_STALL_H
#define SWAPSIM_STALL_H

#include "swapsim/stall_rules.h"

/* ffi: begin */

enum {
	/*
	 * Maximum number of rows of a list in columns, and of base pages that one list has taken.
	 */
	SWS_STALL_LIST_MAX = 1 << 20,
	/* Failures of kswapd after which no task is throttled any more: MAX_RECLAIM_RETRIES. */
	SWS_STALL_FAILURES_MAX = 16,
	/* The lowest timer frequency of a kernel, in ticks per second. */
	SWS_STALL_HZ_MIN = 100,
};

/*
 * The reclaiming context, as bits. No bit set means an ordinary task that reclaims from all memory
 * without IO and FS.
 */
enum sws_stall_caller {
	/* kswapd reclaims. */
	SWS_STALL_KSWAPD = 1,
	/* Reclaim of one memory cgroup, not of all memory. */
	SWS_STALL_MEMCG = 2,
	/*
	 * A memory cgroup of cgroup v1, which does not throttle dirty pages (not
	 * writeback_throttling_sane).
	 */
	SWS_STALL_LEGACY = 4,
	/* Reclaim for hibernation. */
	SWS_STALL_HIBERNATION = 8,
	/*
	 * A task that writes for others and must not be stalled by their writes: not
	 * current_may_throttle.
	 */
	SWS_STALL_LOCAL_THROTTLE = 16,
	/* The allocation has __GFP_IO. */
	SWS_STALL_IO = 32,
	/* The allocation has __GFP_FS. */
	SWS_STALL_FS = 64,
	/* All bits. */
	SWS_STALL_CALLER_BITS = 127,
};

/* The state of a page at its tests, as bits. */
enum sws_stall_page {
	/* The page is on a list of file pages. */
	SWS_STALL_PAGE_FILE = 1,
	/* The page is anonymous and on that list by MADV_FREE; it is not accounted. */
	SWS_STALL_PAGE_LAZYFREE = 2,
	/* The page's own dirty flag at the accounting. */
	SWS_STALL_PAGE_DIRTY = 4,
	/* The page's own writeback flag at the accounting. */
	SWS_STALL_PAGE_WRITEBACK = 8,
	/* The page's reclaim flag at the accounting. */
	SWS_STALL_PAGE_RECLAIM = 16,
	/* The page is under writeback at the later tests. */
	SWS_STALL_PAGE_UNDER_WRITEBACK = 32,
	/* The page has the reclaim flag at the later tests. */
	SWS_STALL_PAGE_MARKED = 64,
	/* The device of the page is congested; never set for the swap cache. */
	SWS_STALL_PAGE_DEVICE_CONGESTED = 128,
	/* The page has private data, and its mapping has the callback of buffer heads. */
	SWS_STALL_PAGE_BUFFERS = 256,
	/* The page has private data, and its mapping has the callback of NFS. */
	SWS_STALL_PAGE_NFS = 512,
	/* The callback reports the page as dirty. */
	SWS_STALL_PAGE_FS_DIRTY = 1024,
	/* The callback reports the page as under writeback. */
	SWS_STALL_PAGE_FS_WRITEBACK = 2048,
	/* In columns: pageout wrote the page, it came back clean and its tests went on. */
	SWS_STALL_PAGE_CAME_BACK = 4096,
	/* All bits. */
	SWS_STALL_PAGE_BITS = 8191,
};

/* The result of the rules for a page. */
enum sws_stall_branch {
	/* The page did not reach the accounting. */
	SWS_STALL_BRANCH_UNMET = 0,
	/* No test of this header stops the page. */
	SWS_STALL_BRANCH_GOES_ON = 1,
	/* Under writeback; kswapd sleeps or counts it as immediate. */
	SWS_STALL_BRANCH_CASE_1 = 2,
	/* Under writeback; the page is skipped and counted. */
	SWS_STALL_BRANCH_CASE_2 = 3,
	/* Under writeback; reclaim waits for the end of the writeback. */
	SWS_STALL_BRANCH_CASE_3 = 4,
	/* A dirty file page that this caller may not write. */
	SWS_STALL_BRANCH_NOT_WRITTEN = 5,
	/*
	 * A page that may be written, but cannot be now: without IO, or because it was referenced.
	 */
	SWS_STALL_BRANCH_NO_WRITE = 6,
	/* The page is given to pageout. */
	SWS_STALL_BRANCH_WRITE = 7,
};

/* The context of a list, of a pass or of a round. */
struct sws_stall_context {
	/* The rules. */
	enum sws_stall_set set;
	/* Bits of enum sws_stall_caller. */
	uint8_t caller;
	/* The priority of reclaim, 0 .. SWS_STALL_PRIORITY_MAX. */
	uint8_t priority;
	/* The flags of the zone or node at the beginning. */
	uint8_t flags;
};

/* The counts of a list, or their sums over the lists of a pass; in pages. */
struct sws_stall_counts {
	/* D: pages that are dirty or under writeback. */
	uint64_t dirty;
	/* U: dirty pages that are not queued for writeback. */
	uint64_t unqueued_dirty;
	/* C: pages that count as congested. */
	uint64_t congested;
	/* W: pages of case 2. */
	uint64_t writeback;
	/* I: pages of case 1. */
	uint64_t immediate;
	/* T: base pages isolated. */
	uint64_t taken;
	/* Base pages isolated from lists of file pages. */
	uint64_t file_taken;
};

/* A round of direct reclaim over all zones, at one priority. */
struct sws_stall_round {
	/* Pages scanned in this round. */
	uint64_t scanned;
	/* Pages reclaimed since this reclaim began. */
	uint64_t reclaimed;
	/* The number of pages that reclaim has to free. */
	uint64_t wanted;
};

/* The decision at the end of a list, a pass or a round. */
struct sws_stall_decision {
	/* Flags that were set. */
	uint8_t set;
	/* Flags that case 1 cleared. */
	uint8_t cleared;
	/* Flags of the zone or node afterwards. */
	uint8_t flags_after;
	/*
	 * Throttles that are requested, as bits 1 << enum sws_stall_sleep; their order is that of
	 * the acts.
	 */
	uint8_t sleeps;
	/* Acts that were carried out, as bits 1 << their index in the program. */
	uint8_t acts;
};

/* The problem of an argument. */
enum sws_stall_problem {
	/* No problem. */
	SWS_STALL_NO_PROBLEM = 0,
	/* The rule set is unknown. */
	SWS_STALL_UNKNOWN_SET = 1,
	/* The priority is out of its range. */
	SWS_STALL_BAD_PRIORITY = 2,
	/* A flag of the zone is unknown. */
	SWS_STALL_UNKNOWN_FLAGS = 3,
	/* A bit of the caller is unknown. */
	SWS_STALL_UNKNOWN_CALLER = 4,
	/* LEGACY is set without MEMCG: global reclaim is always sane. */
	SWS_STALL_LEGACY_WITHOUT_MEMCG = 5,
	/* A bit of the page is unknown. */
	SWS_STALL_UNKNOWN_PAGE_BITS = 6,
	/* A page has two callbacks. */
	SWS_STALL_TWO_CALLBACKS = 7,
	/* The step is unknown. */
	SWS_STALL_UNKNOWN_STEP = 8,
	/* The step is a case of the writeback test, but the page is not under writeback. */
	SWS_STALL_STEP_WITHOUT_WRITEBACK = 9,
	/* A page has no base pages, or more than SWS_STALL_LIST_MAX. */
	SWS_STALL_NO_PAGES = 10,
	/* A list has isolated no pages, or has no rows. */
	SWS_STALL_EMPTY_LIST = 11,
	/* A list has more than SWS_STALL_LIST_MAX rows or base pages. */
	SWS_STALL_LIST_TOO_LONG = 12,
	/* More pages count as unqueued than as dirty. */
	SWS_STALL_UNQUEUED_ABOVE_DIRTY = 13,
	/* More pages count as dirty than were isolated. */
	SWS_STALL_DIRTY_ABOVE_TAKEN = 14,
	/*
	 * More pages count as congested than as dirty, or, where clean pages may count, than were
	 * isolated.
	 */
	SWS_STALL_CONGESTED_ABOVE_DIRTY = 15,
	/* More pages count as writeback and immediate than were isolated. */
	SWS_STALL_WRITEBACK_ABOVE_TAKEN = 16,
	/* More pages come from file lists than were isolated. */
	SWS_STALL_FILE_ABOVE_TAKEN = 17,
	/* The node is out of its range. */
	SWS_STALL_UNKNOWN_NODE = 18,
	/* A bit of the clear events is unknown. */
	SWS_STALL_UNKNOWN_CLEARS = 19,
};

/* The states of the state machine of a list. */
enum sws_stall_state {
	/* Ready for the next page; next call: sws_stall_meet or sws_stall_end. */
	SWS_STALL_STATE_PAGE = 0,
	/* Case 1 sleeps 100 ms; next call: sws_stall_slept. */
	SWS_STALL_STATE_ASLEEP = 1,
	/* Case 3 waits for this page; next call: sws_stall_waited. */
	SWS_STALL_STATE_WAITING = 2,
	/* The page's tests go on; next call: sws_stall_dirty or sws_stall_left. */
	SWS_STALL_STATE_GOES_ON = 3,
	/* The page is in pageout; next call: sws_stall_paged_out. */
	SWS_STALL_STATE_PAGEOUT = 4,
	/* The list has ended. */
	SWS_STALL_STATE_ENDED = 5,
};

/* The state of a list; the memory belongs to the caller, the functions below write it. */
struct sws_stall_list {
	/* The context of the list. */
	struct sws_stall_context context;
	/* The state of the state machine. */
	enum sws_stall_state state;
	/* The counts so far. */
	struct sws_stall_counts counts;
	/*
	 * The current flags of the zone; the caller updates them between two calls if others change
	 * them.
	 */
	uint8_t flags;
	/* Flags that case 1 has cleared. */
	uint8_t cleared;
	/* Number of sleeps of case 1. */
	uint64_t slept;
	/* The bits of the current page. */
	uint16_t page;
	/* The base pages of the current page, as they count. */
	uint32_t weight;
	/* The outcome of the current page. */
	enum sws_stall_branch branch;
	/* True if the page, whose path has ended, becomes active; false if it remains inactive. */
	bool activates;
	/* True if the page gets the reclaim flag (SetPageReclaim). */
	bool marks;
	/*
	 * True if the page goes on although it may be under writeback: the error in mmotm that
	 * patch 1 fixes.
	 */
	bool under_writeback;
};

/*
 * The callback of patch 8: the page's own flags, except that a page of an inode with a commit under
 * way counts as under writeback, and any other page with private data as dirty. Models:
 * nfs_check_dirty_writeback. Complexity: O(1). Returns the FS bits of enum sws_stall_page.
 */
uint16_t sws_stall_ask_nfs(bool page_dirty, bool page_writeback, bool swap_cache, bool committing,
			   bool has_private);

/* Returns the first problem of a context, or NO_PROBLEM. */
enum sws_stall_problem sws_stall_check(const struct sws_stall_context *context);

/*
 * Returns the first problem of counts that no list, or no pass, of this context can produce, or
 * NO_PROBLEM.
 */
enum sws_stall_problem sws_stall_check_counts(const struct sws_stall_context *context,
					      enum sws_stall_place place,
					      const struct sws_stall_counts *counts);

/*
 * Begins a list with the given number of isolated base pages. Complexity: O(1), as all functions on
 * a list. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT if sws_stall_check reports a problem or taken
 * is 0 or above SWS_STALL_LIST_MAX.
 */
int sws_stall_begin(const struct sws_stall_context *context, bool file, uint64_t taken,
		    struct sws_stall_list *list);

/*
 * Runs the accounting and the writeback test of the next page. The caller does not pass pages that
 * are locked, not evictable, or mapped and not to be unmapped: they count in taken only. Returns
 * SWS_OK, or SWS_ERROR_BAD_ARGUMENT in a state other than PAGE, for unknown bits, or without base
 * pages.
 */
int sws_stall_meet(struct sws_stall_list *list, uint16_t page, uint32_t base_pages);

/*
 * Ends the sleep of case 1 with the page's current writeback state. The page remains on its list;
 * with the rules of mmotm it goes on even under writeback, the error that patch 1 fixes. Returns
 * SWS_OK, or SWS_ERROR_BAD_ARGUMENT in a state other than ASLEEP.
 */
int sws_stall_slept(struct sws_stall_list *list, bool under_writeback);

/*
 * Ends the wait of case 3: the page goes on, or has to be tested again (state PAGE). Returns
 * SWS_OK, or SWS_ERROR_BAD_ARGUMENT in a state other than WAITING.
 */
int sws_stall_waited(struct sws_stall_list *list);

/*
 * Ends the path of a page before the dirty test, or of a page that is clean at it. Returns SWS_OK,
 * or SWS_ERROR_BAD_ARGUMENT in a state other than GOES_ON.
 */
int sws_stall_left(struct sws_stall_list *list);

/*
 * Runs the dirty test of a dirty page: its state becomes PAGEOUT, or its path ends unwritten.
 * Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT in a state other than GOES_ON.
 */
int sws_stall_dirty(struct sws_stall_list *list);

/*
 * Ends the path of a page in pageout; kept is true if pageout, or a test directly before it, kept
 * the page. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT in a state other than PAGEOUT.
 */
int sws_stall_paged_out(struct sws_stall_list *list, bool kept);

/*
 * Ends the list and writes the decision of AT_LIST. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT if
 * the path of a page has not ended.
 */
int sws_stall_end(struct sws_stall_list *list, struct sws_stall_decision *decision);

/*
 * Decides at AT_LIST or AT_PASS from known counts: which flags are set and which throttles are
 * requested. A rule set that decides at the other place decides nothing here. Complexity: O(acts).
 * Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT if one of the checks above reports a problem.
 */
int sws_stall_decide(const struct sws_stall_context *context, enum sws_stall_place place,
		     const struct sws_stall_counts *counts, struct sws_stall_decision *decision);

/*
 * Decides at the end of a round of direct reclaim: the throttle of 2013, or NOPROGRESS of 6.1. The
 * decision is empty for kswapd, which has no rounds. Complexity: O(1). Returns SWS_OK, or
 * SWS_ERROR_BAD_ARGUMENT for a bad context.
 */
int sws_stall_decide_round(const struct sws_stall_context *context,
			   const struct sws_stall_round *round,
			   struct sws_stall_decision *decision);

/* The task that is requested to throttle, and the state that the throttling function reads. */
struct sws_stall_sleeper {
	/* True for kswapd. */
	bool kswapd;
	/* True for another kernel thread or an IO worker. */
	bool kthread;
	/* Consecutive failures of kswapd. */
	uint32_t failures;
	/* Reclaimable pages of the node. */
	uint64_t reclaimable;
	/* Pages of the node that are dirty or under writeback. */
	uint64_t write_pending;
	/* Number of devices in the system whose queue is congested. */
	uint32_t congested_devices;
	/* Flags of the zone. */
	uint8_t flags;
	/* Timer ticks per second, at least SWS_STALL_HZ_MIN; Debian's 6.1 has 250. */
	uint32_t hz;
};

/* The reason why a requested throttle is skipped. */
enum sws_stall_skip {
	/* The task throttles. */
	SWS_STALL_SLEEPS = 0,
	/* Reclaim may wait for this very kernel thread. */
	SWS_STALL_SKIPPED_KTHREAD = 1,
	/* kswapd has given up; the OOM killer is next. */
	SWS_STALL_SKIPPED_FAILURES = 2,
	/* Few pages are to be written: 2 * write_pending <= reclaimable. */
	SWS_STALL_SKIPPED_FEW_WRITES = 3,
	/* No device is congested; the task yields. */
	SWS_STALL_SKIPPED_NO_DEVICE = 4,
	/* The zone does not have the flag CONGESTED; the task yields. */
	SWS_STALL_SKIPPED_NO_FLAG = 5,
};

/*
 * Writes the maximum length of a throttle in us, rounded down, or 0 and the reason for which it is
 * skipped. Models: reclaim_throttle, congestion_wait, wait_iff_congested. Complexity: O(1). Returns
 * SWS_OK, or SWS_ERROR_BAD_ARGUMENT for an unknown sleep or flag, or for too low a tick rate.
 */
int sws_stall_sleep_length(enum sws_stall_sleep sleep, const struct sws_stall_sleeper *sleeper,
			   uint64_t *timeout_us, enum sws_stall_skip *skipped);

/*
 * Recomputes the invariants of a list. Complexity: O(1). Returns SWS_OK, or SWS_ERROR_BROKEN and
 * the *reason, a constant string.
 */
int sws_stall_verify(const struct sws_stall_list *list, const char **reason);

/* ffi: end */

#endif
