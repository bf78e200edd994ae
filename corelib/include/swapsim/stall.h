/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall.h - what reclaim makes of dirty pages and pages under writeback: what it counts,
 * which flags it sets, when it sleeps, and which dirty pages kswapd may write.
 *
 * Models, in mm/vmscan.c, by the rules of a row of stall_rules.h
 *   a page's tests   shrink_page_list, shrink_folio_list of 6.1
 *   end of a list    shrink_inactive_list
 *   end of a pass    shrink_node of 6.1
 *   end of a round   do_try_to_free_pages, consider_reclaim_throttle of 6.1
 *   sleeps           reclaim_throttle; congestion_wait, wait_iff_congested (mm/backing-dev.c)
 *   callbacks        buffer_check_dirty_writeback, nfs_check_dirty_writeback
 *
 *      taken from the tail, T pages
 *        |
 *      locked? evictable? mapped? --------------- if so: given back, not looked at
 *        |
 *      accounting              D dirty, U unqueued, C congested      (from series-2 on)
 *        |
 *      writeback test          case 1: I    case 2: W    case 3: wait
 *        |
 *      references, swap, unmap
 *        |
 *      dirty test              D and U (until series-1); may it be written?
 *        |
 *      pageout                 C, if it was kept (until series-1)
 *        |
 *      freed           ... and when no page is left: flags, and sleeps
 *
 * D counts pages that are dirty or under writeback, U those that are dirty and not queued; a
 * page under writeback is case 1 for kswapd, if the page has the reclaim flag and the zone
 * WRITEBACK; else case 2; but case 3 for a memory cgroup that already marked it.
 *
 *   part                       lock                  work under it
 *   a page's tests             the page's            none; mmotm's case 1 sleeps 100 ms in it
 *   end of a list, of a pass   none                  flags are bits, each set atomically
 *   a sleep                    none                  up to 100 ms, or until a write completes
 *
 * A list is led in parts, with a state instead of labels:
 *
 *      begin -> [ page ] --meet-----------------------------------> [ page ] -> end
 *                  |-- asleep  (case 1 until series-2) --slept----------^  kept
 *                  |-- waiting (case 3) ----------------waited-----------^  6.1: met anew
 *                  |            |  goes on           |  goes on          |
 *                  '------> [ goes on ] <------------'                   |
 *                              |-- left (its way ended elsewhere) -------|
 *                              '-- dirty --> [ pageout ] -- paged_out ---'
 *                                     '--------- not to be written ------'
 *
 * Kept: what is counted, where, and of which pages; each test with its scope and its order;
 * what is cleared when. Dropped: demotion; PF_SWAPWRITE (kswapd has it, and nobody else writes
 * file pages); swap on a file of a network, which 6.1 asks for before case 3; how long a
 * sleeper really sleeps.
 */
#ifndef SWAPSIM_STALL_H
#define SWAPSIM_STALL_H

#include "swapsim/stall_rules.h"

/* ffi: begin */

enum {
	/* Rows of a list that comes as columns, and base pages that one may have taken. */
	SWS_STALL_LIST_MAX = 1 << 20,
	/* Failures of kswapd after which nobody is throttled any more: MAX_RECLAIM_RETRIES. */
	SWS_STALL_FAILURES_MAX = 16,
	/* The slowest clock that the kernel has. */
	SWS_STALL_HZ_MIN = 100,
};

/* Who reclaims, and how; no bit: an ordinary task, from all memory, without IO and FS. */
enum sws_stall_caller {
	SWS_STALL_KSWAPD = 1,
	/* From a memory cgroup, not from all memory. */
	SWS_STALL_MEMCG = 2,
	/* Of cgroup v1, where dirty pages are not throttled (not writeback_throttling_sane). */
	SWS_STALL_LEGACY = 4,
	SWS_STALL_HIBERNATION = 8,
	/* It writes for others, and must not be stalled on them: not current_may_throttle. */
	SWS_STALL_LOCAL_THROTTLE = 16,
	/* __GFP_IO and __GFP_FS. */
	SWS_STALL_IO = 32,
	SWS_STALL_FS = 64,
	SWS_STALL_CALLER_BITS = 127,
};

/* What a page is when its tests come. */
enum sws_stall_page {
	/* On the list of file pages. */
	SWS_STALL_PAGE_FILE = 1,
	/* Anonymous, and on that list by MADV_FREE: not accounted. */
	SWS_STALL_PAGE_LAZYFREE = 2,
	/* The page's own flags at the accounting. */
	SWS_STALL_PAGE_DIRTY = 4,
	SWS_STALL_PAGE_WRITEBACK = 8,
	SWS_STALL_PAGE_RECLAIM = 16,
	/* Is it under writeback, and has it the reclaim flag, at the tests a moment later? */
	SWS_STALL_PAGE_UNDER_WRITEBACK = 32,
	SWS_STALL_PAGE_MARKED = 64,
	/* Its device is congested; the swap cache's never says so. */
	SWS_STALL_PAGE_DEVICE_CONGESTED = 128,
	/* It has private data, and its mapping the callback of buffer heads, or of NFS, */
	SWS_STALL_PAGE_BUFFERS = 256,
	SWS_STALL_PAGE_NFS = 512,
	/* which answers this. */
	SWS_STALL_PAGE_FS_DIRTY = 1024,
	SWS_STALL_PAGE_FS_WRITEBACK = 2048,
	/* In columns: it was written, came back clean and went on. */
	SWS_STALL_PAGE_CAME_BACK = 4096,
	SWS_STALL_PAGE_BITS = 8191,
};

/* What the rules make of a page. */
enum sws_stall_fate {
	SWS_STALL_FATE_UNMET = 0, /* it did not come to the accounting */
	SWS_STALL_FATE_GOES_ON = 1, /* none of the tests here stops it */
	SWS_STALL_FATE_CASE_1 = 2,
	SWS_STALL_FATE_CASE_2 = 3,
	SWS_STALL_FATE_CASE_3 = 4,
	SWS_STALL_FATE_NOT_WRITTEN = 5, /* dirty, of a file, and not to be written by this caller */
	SWS_STALL_FATE_NO_WRITE = 6, /* to be written, but for IO, or because it was used */
	SWS_STALL_FATE_WRITE = 7, /* given to pageout */
};

/* The context of a list, of a pass, or of a round. */
struct sws_stall_context {
	enum sws_stall_set set;
	/* Bits of enum sws_stall_caller. */
	uint8_t caller;
	/* 0 .. SWS_STALL_PRIORITY_MAX */
	uint8_t priority;
	/* Of its zone or node, as it begins. */
	uint8_t flags;
};

/* Of a list, or summed over the lists of a pass. */
struct sws_stall_counts {
	uint64_t dirty;
	uint64_t unqueued_dirty;
	uint64_t congested;
	uint64_t writeback;
	uint64_t immediate;
	/* Base pages, T, and those from lists of file pages. */
	uint64_t taken;
	uint64_t file_taken;
};

/* A round of direct reclaim over all zones, at one priority. */
struct sws_stall_round {
	uint64_t scanned;
	/* Since this reclaim began, and where it is content. */
	uint64_t reclaimed;
	uint64_t wanted;
};

/* What was decided. */
struct sws_stall_decision {
	/* Flags that were set, and those of case 1's that were cleared. */
	uint8_t set;
	uint8_t cleared;
	uint8_t flags_after;
	/* Sleeps asked for: bit 1 << enum sws_stall_sleep. Their order is that of the acts. */
	uint8_t sleeps;
	/* Acts that were done: bit 1 << their place. */
	uint8_t acts;
};

/* What is wrong with what was given. */
enum sws_stall_problem {
	SWS_STALL_NO_PROBLEM = 0,
	SWS_STALL_UNKNOWN_SET = 1,
	SWS_STALL_BAD_PRIORITY = 2,
	SWS_STALL_UNKNOWN_FLAGS = 3,
	SWS_STALL_UNKNOWN_CALLER = 4,
	SWS_STALL_LEGACY_WITHOUT_MEMCG = 5,
	SWS_STALL_UNKNOWN_PAGE_BITS = 6,
	SWS_STALL_TWO_CALLBACKS = 7,
	SWS_STALL_UNKNOWN_STEP = 8,
	SWS_STALL_STEP_WITHOUT_WRITEBACK = 9, /* a case of a page that is not under writeback */
	SWS_STALL_NO_PAGES = 10, /* a page of no base page, or of more than SWS_STALL_LIST_MAX */
	SWS_STALL_EMPTY_LIST = 11, /* nothing was taken, or it has no row */
	SWS_STALL_LIST_TOO_LONG = 12,
	SWS_STALL_UNQUEUED_ABOVE_DIRTY = 13,
	SWS_STALL_DIRTY_ABOVE_TAKEN = 14,
	SWS_STALL_CONGESTED_ABOVE_DIRTY = 15, /* or above taken, where a clean page may count */
	SWS_STALL_WRITEBACK_ABOVE_TAKEN = 16, /* with immediate */
	SWS_STALL_FILE_ABOVE_TAKEN = 17,
	SWS_STALL_UNKNOWN_NODE = 18,
	SWS_STALL_UNKNOWN_CLEARS = 19,
};

/* Where a list stands. */
enum sws_stall_state {
	SWS_STALL_STATE_PAGE = 0, /* next: a page is met, or the end */
	SWS_STALL_STATE_ASLEEP = 1, /* in case 1, 100 ms; next: sws_stall_slept */
	SWS_STALL_STATE_WAITING = 2, /* in case 3, for this page; next: sws_stall_waited */
	SWS_STALL_STATE_GOES_ON = 3, /* next: sws_stall_dirty, or sws_stall_left */
	SWS_STALL_STATE_PAGEOUT = 4, /* next: sws_stall_paged_out */
	SWS_STALL_STATE_ENDED = 5,
};

/* A list under way: the caller's memory, written by the functions below. */
struct sws_stall_list {
	struct sws_stall_context context;
	enum sws_stall_state state;
	struct sws_stall_counts counts;
	/* Of the zone, now. Others may change them: between two parts they are the caller's to write. */
	uint8_t flags;
	/* What case 1 has cleared. */
	uint8_t cleared;
	/* Sleeps of case 1. */
	uint64_t slept;
	/* The page in hand: its bits, its base pages as they count, and what became of it. */
	uint16_t page;
	uint32_t weight;
	enum sws_stall_fate fate;
	/* Its way ended: is it activated? Kept, if not. */
	bool activates;
	/* It gets the reclaim flag (SetPageReclaim). */
	bool marks;
	/* It goes on though it may still be under writeback: mmotm's mistake. */
	bool under_writeback;
};

/*
 * Patch 7's callback: what buffer heads say of a page that has private data.
 * Models: buffer_check_dirty_writeback. Returns the FS bits of enum sws_stall_page.
 */
uint16_t sws_stall_ask_buffers(bool has_buffers, bool page_writeback, bool any_locked,
			       bool any_dirty);

/*
 * Patch 8's callback: the page's own flags, but a page of an inode that is being committed is
 * under writeback, and any other with private data dirty. Models: nfs_check_dirty_writeback.
 */
uint16_t sws_stall_ask_nfs(bool page_dirty, bool page_writeback, bool swap_cache, bool committing,
			   bool has_private);

/* What is wrong with a context: the first problem that holds. */
enum sws_stall_problem sws_stall_check(const struct sws_stall_context *context);

/* The same of counters: they cannot come from a list, or from lists, of this context. */
enum sws_stall_problem sws_stall_check_counts(const struct sws_stall_context *context,
					      enum sws_stall_place place,
					      const struct sws_stall_counts *counts);

/*
 * Begins a list of taken base pages. Returns SWS_ERROR_BAD_ARGUMENT for a context that
 * sws_stall_check has a problem with, and if nothing was taken, or more than SWS_STALL_LIST_MAX.
 */
int sws_stall_begin(const struct sws_stall_context *context, bool file, uint64_t taken,
		    struct sws_stall_list *list);

/*
 * The accounting and the writeback test of the next page. Not for one that is locked, not
 * evictable, or mapped and not to be unmapped: it is in taken alone.
 * Returns SWS_ERROR_BAD_ARGUMENT in another state than PAGE, for unknown bits or no base page.
 */
int sws_stall_meet(struct sws_stall_list *list, uint16_t page, uint32_t base_pages);

/*
 * Case 1 has slept its 100 ms; is the page under writeback still? It is kept, or goes on
 * regardless: the mistake that patch 1 mends. Returns SWS_ERROR_BAD_ARGUMENT if not ASLEEP.
 */
int sws_stall_slept(struct sws_stall_list *list, bool under_writeback);

/*
 * Case 3 has waited: the page goes on, or is to be met anew (state PAGE).
 * Returns SWS_ERROR_BAD_ARGUMENT if not WAITING.
 */
int sws_stall_waited(struct sws_stall_list *list);

/* The page's way ended before the dirty test, or it was clean there. */
int sws_stall_left(struct sws_stall_list *list);

/* The page is dirty at the dirty test: next is pageout, or its way ends unwritten. */
int sws_stall_dirty(struct sws_stall_list *list);

/* What pageout, or one of the tests before it, made of a page: was it kept by pageout? */
int sws_stall_paged_out(struct sws_stall_list *list, bool kept);

/* The end of the list. Returns SWS_ERROR_BAD_ARGUMENT if a page is under way. */
int sws_stall_end(struct sws_stall_list *list, struct sws_stall_decision *decision);

/*
 * The same from counters, where they are known: what is set and which sleeps are asked for at
 * this place, AT_LIST or AT_PASS. A set that decides elsewhere decides nothing here.
 * Returns SWS_ERROR_BAD_ARGUMENT for what the checks above have a problem with.
 */
int sws_stall_decide(const struct sws_stall_context *context, enum sws_stall_place place,
		     const struct sws_stall_counts *counts, struct sws_stall_decision *decision);

/*
 * The end of a round of direct reclaim: the nap of 2013, or 6.1's NOPROGRESS. kswapd has no
 * rounds: nothing. Returns SWS_ERROR_BAD_ARGUMENT for a bad context.
 */
int sws_stall_decide_round(const struct sws_stall_context *context,
			   const struct sws_stall_round *round,
			   struct sws_stall_decision *decision);

/* Why an act of a program was done, or was not. */
struct sws_stall_reason {
	struct sws_stall_act act;
	/* Is it for this caller? */
	bool in_scope;
	/* Does its test hold? */
	bool holds;
	/* What the test compared; 0 where it compares nothing. */
	uint64_t number;
	uint64_t of;
};

/*
 * The reason of act number i of the program of AT_LIST or AT_PASS: those before it were done.
 * Returns SWS_ERROR_BAD_ARGUMENT as sws_stall_decide, SWS_ERROR_NOT_FOUND past the last act.
 */
int sws_stall_explain(const struct sws_stall_context *context, enum sws_stall_place place,
		      const struct sws_stall_counts *counts, uint32_t i,
		      struct sws_stall_reason *reason);

/* The same of a round's only act. */
int sws_stall_explain_round(const struct sws_stall_context *context,
			    const struct sws_stall_round *round, struct sws_stall_reason *reason);

/* Who is asked to sleep, and what the function itself looks at. */
struct sws_stall_sleeper {
	bool kswapd;
	/* Another kernel thread, or an IO worker. */
	bool kthread;
	/* Of kswapd, in a row; and pages of the node. */
	uint32_t failures;
	uint64_t reclaimable;
	uint64_t write_pending;
	/* Devices in the system whose queue is congested; flags of the zone. */
	uint32_t congested_devices;
	uint8_t flags;
	/* Timer ticks a second, SWS_STALL_HZ_MIN or more: 250 in Debian's 6.1. */
	uint32_t hz;
};

/* Why a function that was asked to sleep does not. */
enum sws_stall_declined {
	SWS_STALL_SLEEPS = 0,
	SWS_STALL_DECLINED_KTHREAD = 1, /* other kernel threads may be what reclaim waits for */
	SWS_STALL_DECLINED_FAILURES = 2, /* kswapd has given up: the OOM killer is near */
	SWS_STALL_DECLINED_FEW_WRITES = 3, /* 2 * write_pending <= reclaimable */
	SWS_STALL_DECLINED_NO_DEVICE = 4, /* no device is congested: it yields */
	SWS_STALL_DECLINED_NO_FLAG = 5, /* the zone has no CONGESTED: it yields */
};

/*
 * How long a sleep may last, in us, rounded down; 0 and a reason: declined. Models: reclaim_throttle,
 * congestion_wait, wait_iff_congested. Returns SWS_ERROR_BAD_ARGUMENT for an unknown sleep or
 * flag, and for too few ticks.
 */
int sws_stall_sleep_length(enum sws_stall_sleep sleep, const struct sws_stall_sleeper *sleeper,
			   uint64_t *timeout_us, enum sws_stall_declined *declined);

/* Re-derives what holds of a list under way; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_stall_verify(const struct sws_stall_list *list, const char **reason);

/* ffi: end */

#endif
