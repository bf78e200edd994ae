/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall_rules.h - the rules by which reclaim stalls, a row for each kernel and for each
 * state that patch C's series goes through.
 *
 * Models, in mm/vmscan.c
 *   3.9, 3.11  shrink_page_list, shrink_inactive_list, do_try_to_free_pages, balance_pgdat
 *   mmotm      the same on 22 May 2013, the base of patch C's series
 *   series-N   mmotm with patches 1 to N of the series (30 May 2013) in their true order
 *   6.1        shrink_folio_list, shrink_inactive_list, shrink_node, consider_reclaim_throttle,
 *              clear_pgdat_congested
 *
 * What is decided at the end of a list stands in a row as a program, a few acts in order: set
 * a flag (tail for TAIL_DIRTY, wb WRITEBACK, cong CONGESTED), or sleep (wic: wait_iff_congested,
 * cw: congestion_wait). Capitals are the numbers of stall.h; share is T >> (12 - priority):
 *
 *   rules     counts      congested is      case 1         after the list, in order
 *   3.9       late, all   kept by pageout   -              cong: D == C, wic: W >= share
 *   mmotm     late, all   kept by pageout   sleep, go on   cong, wic, wb: W >= share,
 *                                                          tail: U >= share
 *   series-1  late, all   kept by pageout   sleep, keep    the same
 *   series-2  top, files  its device is     sleep, keep    cong, wic, wb, cw: U == T, tail: U == T
 *   series-3  top, files  its device is     count, keep    cong, wic, wb, tail, cw: U == T or I
 *   series-4  top, files  its device is     count, keep    cong, wb, wic, tail, cw
 *   series-5  top, files  its device is     count, keep    wb, cong, tail, cw, wic: direct reclaim
 *   series-6  top, files  so, or marked     count, keep    the same
 *   series-7  with the callback of buffer heads            the same
 *   series-8  with that of NFS, too                        the same
 *   3.11      as series-8                                  wb: W == T; else the same
 *   6.1       top, files  marked            count,         flushers woken; and by pass
 *                                           activate       wb: W == T, tail: U == T of files,
 *                                                          throttle: I, cong, throttle: if cong
 *
 * Marked is a page under writeback that has the reclaim flag. Until series-4 a direct
 * reclaimer takes its nap after each round, from series-5 on after each list.
 *
 * All code runs by any row: there is no second function for one kernel. A new rule set is an
 * enumerator, a name and a row, and a part of a row for what no set did before.
 */
#ifndef SWAPSIM_STALL_RULES_H
#define SWAPSIM_STALL_RULES_H

#include "swapsim/core.h"

/* ffi: begin */

/* The rule sets, in order of age. The numbers are nobody's but the library's: keep names. */
enum sws_stall_set {
	SWS_STALL_3_9,
	SWS_STALL_MMOTM,
	SWS_STALL_SERIES_1,
	SWS_STALL_SERIES_2,
	SWS_STALL_SERIES_3,
	SWS_STALL_SERIES_4,
	SWS_STALL_SERIES_5,
	SWS_STALL_SERIES_6,
	SWS_STALL_SERIES_7,
	SWS_STALL_SERIES_8,
	SWS_STALL_3_11,
	SWS_STALL_6_1,
};

enum {
	/* DEF_PRIORITY: where reclaim begins; 0 is its last resort. */
	SWS_STALL_PRIORITY_MAX = 12,
	/* Below it reclaim is in trouble: DEF_PRIORITY - 2. */
	SWS_STALL_TROUBLE = 10,
	/* Programs of a row, by enum sws_stall_place, and acts of one at most. */
	SWS_STALL_PLACES = 3,
	SWS_STALL_ACTS_MAX = 5,
	/* What clears flags, by enum sws_stall_clear. */
	SWS_STALL_CLEARS = 4,
};

/* Flags of a zone; in 6.1 of a node, CONGESTED of the group's lists that reclaim is after. */
enum sws_stall_flag {
	/* ZONE_TAIL_LRU_DIRTY, PGDAT_DIRTY: kswapd may write file pages. */
	SWS_STALL_TAIL_DIRTY = 1,
	/* ZONE_WRITEBACK, PGDAT_WRITEBACK: there is a case 1. */
	SWS_STALL_WRITEBACK = 2,
	/* ZONE_CONGESTED, LRUVEC_CONGESTED: direct reclaim sleeps. */
	SWS_STALL_CONGESTED = 4,
	SWS_STALL_FLAGS = 7,
};

/* Why reclaim sleeps: those of reclaim_throttle, and the two of 2013. */
enum sws_stall_sleep {
	SWS_STALL_SLEEP_WRITEBACK = 0,
	SWS_STALL_SLEEP_ISOLATED = 1,
	SWS_STALL_SLEEP_NOPROGRESS = 2,
	SWS_STALL_SLEEP_CONGESTED = 3,
	SWS_STALL_SLEEP_CONGESTION_WAIT = 4,
	SWS_STALL_SLEEP_WAIT_IFF_CONGESTED = 5,
};

/* What clears flags. */
enum sws_stall_clear {
	SWS_STALL_CLEAR_BALANCED = 0, /* kswapd found the zone, or the node, balanced */
	SWS_STALL_CLEAR_SHRUNK = 1, /* kswapd has shrunk the zone once */
	SWS_STALL_CLEAR_IMMEDIATE = 2, /* a case 1 has slept */
	SWS_STALL_CLEAR_DIRECT = 3, /* a group's direct reclaim is over */
};

/* The parts of a row of rules. */

/* Where dirty pages are counted, and which. */
enum sws_stall_counted {
	SWS_STALL_COUNTED_LATE = 0, /* at the dirty test: all that come there dirty */
	SWS_STALL_COUNTED_AT_TOP = 1, /* at the accounting: file pages, dirty or under writeback */
};

/* Which pages count as congested; bits. */
enum sws_stall_congested_by {
	SWS_STALL_BY_PAGEOUT_KEEP = 1, /* pageout kept it, for whatever reason */
	SWS_STALL_BY_DEVICE = 2, /* its device is congested, be it clean or dirty */
	SWS_STALL_BY_MARK = 4, /* accounted as under writeback, and has the reclaim flag */
};

enum sws_stall_case_1 {
	SWS_STALL_CASE_1_NONE = 0,
	SWS_STALL_CASE_1_SLEEP_LOCKED = 1, /* and go on with the page, as if it were written */
	SWS_STALL_CASE_1_SLEEP_AND_KEEP = 2,
	SWS_STALL_CASE_1_COUNT_AND_KEEP = 3,
	SWS_STALL_CASE_1_COUNT_AND_ACTIVATE = 4,
};

/* When kswapd may write a dirty file page; nobody else may. */
enum sws_stall_writes {
	SWS_STALL_WRITES_BELOW_10 = 0, /* at priorities 9 to 0 */
	SWS_STALL_WRITES_FLAGGED = 1, /* while TAIL_DIRTY is set */
	SWS_STALL_WRITES_FLAGGED_AND_MARKED = 2, /* and the page has the reclaim flag */
};

/* Where something is decided. */
enum sws_stall_place {
	SWS_STALL_AT_LIST = 0, /* shrink_inactive_list, and the end of shrink_page_list */
	SWS_STALL_AT_PASS = 1, /* shrink_node, of 6.1: over the sums of all lists */
	SWS_STALL_AT_ROUND = 2, /* do_try_to_free_pages, consider_reclaim_throttle */
};

enum sws_stall_does {
	SWS_STALL_DOES_NOTHING = 0, /* the program is over */
	SWS_STALL_DOES_SET = 1, /* the flag that is named */
	SWS_STALL_DOES_SLEEP = 2, /* by enum sws_stall_sleep */
	SWS_STALL_DOES_WAKE = 3, /* the flusher threads */
};

/* Whose reclaim an act is for. */
enum sws_stall_scope {
	SWS_STALL_FOR_ANY = 1,
	SWS_STALL_FOR_GLOBAL = 2,
	SWS_STALL_FOR_KSWAPD = 4,
	SWS_STALL_FOR_KSWAPD_OR_SANE_MEMCG = 8,
	SWS_STALL_FOR_DIRECT = 16, /* neither kswapd nor hibernation */
	SWS_STALL_FOR_THROTTLED_DIRECT = 32, /* nor one that must not be stalled */
	SWS_STALL_FOR_LEGACY_MEMCG = 64,
	SWS_STALL_FOR_GLOBAL_DIRECT = 128, /* neither kswapd nor a memcg */
};

enum sws_stall_test {
	SWS_STALL_TEST_ALWAYS = 0,
	SWS_STALL_TEST_SOME = 1, /* number > 0 */
	SWS_STALL_TEST_SOME_AT_LEAST = 2, /* number > 0 and number >= of */
	SWS_STALL_TEST_SOME_EQUAL = 3, /* number > 0 and number == of */
	SWS_STALL_TEST_EQUAL = 4, /* number == of; 0 == 0 is true */
	SWS_STALL_TEST_EQUAL_OR_IMMEDIATE = 5, /* number == of, or I > 0 */
	SWS_STALL_TEST_FLAGGED = 6, /* CONGESTED is set */
	SWS_STALL_TEST_IN_TROUBLE = 7, /* priority < 10, scanned > 0 and reclaimed < wanted */
	SWS_STALL_TEST_NO_PROGRESS = 8, /* priority == 1 and reclaimed == 0 */
};

/* What a test compares. */
enum sws_stall_number {
	SWS_STALL_N_NONE = 0,
	SWS_STALL_N_DIRTY = 1,
	SWS_STALL_N_UNQUEUED_DIRTY = 2,
	SWS_STALL_N_CONGESTED = 3,
	SWS_STALL_N_WRITEBACK = 4,
	SWS_STALL_N_IMMEDIATE = 5,
	SWS_STALL_N_TAKEN = 6,
	SWS_STALL_N_FILE_TAKEN = 7,
	SWS_STALL_N_SHARE = 8, /* taken >> (12 - priority) */
};

/* One act of a program: if the test holds in this scope, the flag is set, or a sleep asked for. */
struct sws_stall_act {
	/* enum sws_stall_does */
	uint8_t does;
	/* The flag, or enum sws_stall_sleep. */
	uint8_t what;
	/* enum sws_stall_scope, and so on */
	uint8_t scope;
	uint8_t test;
	uint8_t number;
	uint8_t of;
};

/* A row of rules: all that distinguishes a rule set. */
struct sws_stall_rules {
	/* enum sws_stall_counted */
	uint8_t counted;
	/* Bits of enum sws_stall_congested_by. */
	uint8_t congested_by;
	/* Are a huge page's counted, or 1 for it? It has them in taken by any rules. */
	bool counts_base_pages;
	/* Whose callbacks are asked. */
	bool asks_buffers;
	bool asks_nfs;
	/* enum sws_stall_case_1 */
	uint8_t case_1;
	/* Does case 2 activate the page, or keep it? So too with a dirty page not to be written. */
	bool activates;
	/* Case 3: is it for cgroup v1 alone, and does it ask for FS, or for IO? */
	bool waits_for_legacy;
	bool waits_entering_fs;
	/* After the wait, is the page met anew, or does it go on? */
	bool retries;
	/* enum sws_stall_writes */
	uint8_t writes;
	/* Where flags are set: enum sws_stall_place. */
	uint8_t decides;
	/* By enum sws_stall_place. */
	struct sws_stall_act acts[SWS_STALL_PLACES][SWS_STALL_ACTS_MAX];
	/* By enum sws_stall_clear, the flags. */
	uint8_t clears[SWS_STALL_CLEARS];
	/* How a reclaimer sleeps when too many pages are isolated: enum sws_stall_sleep. */
	uint8_t isolated;
};

/* A rule set's name, as tables and options have it: "series-3". NULL past the last. */
const char *sws_stall_set_name(enum sws_stall_set set);

/* A sleep's name, as the column reason has it: "congestion_wait". NULL past the last. */
const char *sws_stall_sleep_name(enum sws_stall_sleep sleep);

/* A rule set's row; NULL for none. Borrowed, constant. */
const struct sws_stall_rules *sws_stall_rules_of(enum sws_stall_set set);

/* The flags that such an event clears. */
uint8_t sws_stall_clears(enum sws_stall_set set, enum sws_stall_clear why);

/* ffi: end */

#endif
