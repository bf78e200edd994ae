/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall_rules.h - the rules by which reclaim stalls: one row for each kernel and for each state of
 * patch C's series.
 *
 * Models, in mm/vmscan.c
 *   3.9, 3.11  shrink_page_list, shrink_inactive_list, do_try_to_free_pages, balance_pgdat
 *   mmotm      the same functions on 22 May 2013, the base of patch C's series
 *   series-N   mmotm with patches 1 to N of the series (30 May 2013) in their true order
 *   6.1        shrink_folio_list, shrink_inactive_list, shrink_node, consider_reclaim_throttle,
 *              clear_pgdat_congested
 *
 * The decisions at the end of a list are a program in the row, a few acts in order: set a flag
 * (tail for TAIL_DIRTY, wb WRITEBACK, cong CONGESTED), or throttle (wic: wait_iff_congested, cw:
 * congestion_wait). Capitals are the counts of stall.h; share is T >> (12 - priority):
 *
 *   rules     counts      congested is      case 1         after the list, in order
 *   3.9       late, all   kept by pageout   -              cong: D == C, wic: W >= share
 *   mmotm     late, all   kept by pageout   sleep, go on   cong, wic, wb: W >= share,
 *                                                          tail: U >= share
 *   series-1  late, all   kept by pageout   sleep, keep    as mmotm
 *   series-2  top, files  its device is     sleep, keep    cong, wic, wb, cw: U == T, tail: U == T
 *   series-3  top, files  its device is     count, keep    cong, wic, wb, tail, cw: U == T or I
 *   series-4  top, files  its device is     count, keep    cong, wb, wic, tail, cw
 *   series-5  top, files  its device is     count, keep    wb, cong, tail, cw, wic: direct reclaim
 *   series-6  top, files  so, or marked     count, keep    as series-5
 *   series-7  with the callback of buffer heads            as series-5
 *   series-8  and with the callback of NFS                 as series-5
 *   3.11      as series-8                                  wb: W == T; else as series-5
 *   6.1       top, files  marked            count,         flushers woken; and per pass
 *                                           activate       wb: W == T, tail: U == T of files,
 *                                                          throttle: I, cong, throttle: if cong
 *
 * A page is marked if it is under writeback and has the reclaim flag. Until series-4 direct reclaim
 * throttles after each round, from series-5 on after each list.
 *
 * The rules of 7.3, of which a stock kernel shows counts and sums but no folios, are in
 * stall_sums.h.
 *
 * The same code runs for every row; no function is specific to a kernel. A new rule set is an
 * enumerator, a name, a row, and a new value in a column for behaviour that no set had before.
 */
#ifndef SWAPSIM_STALL_RULES_H
#define SWAPSIM_STALL_RULES_H

#include "swapsim/core.h"

/* ffi: begin */

/* The rule sets, in order of age. The numbers may change between versions; store the names. */
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
	/* DEF_PRIORITY: the priority at which reclaim starts; 0 is the last one. */
	SWS_STALL_PRIORITY_MAX = 12,
	/* DEF_PRIORITY - 2: below it reclaim makes too little progress. */
	SWS_STALL_TROUBLE = 10,
	/* Programs of a row, indexed by enum sws_stall_place. */
	SWS_STALL_PLACES = 3,
	/* Maximum number of acts of a program. */
	SWS_STALL_ACTS_MAX = 5,
	/* Events that clear flags, indexed by enum sws_stall_clear. */
	SWS_STALL_CLEARS = 4,
};

/* Flags of a zone. In 6.1 of a node; CONGESTED is there a flag of the reclaimed cgroup's lruvec. */
enum sws_stall_flag {
	/* ZONE_TAIL_LRU_DIRTY, PGDAT_DIRTY: kswapd may write file pages. */
	SWS_STALL_TAIL_DIRTY = 1,
	/* ZONE_WRITEBACK, PGDAT_WRITEBACK: pages under writeback can be case 1. */
	SWS_STALL_WRITEBACK = 2,
	/* ZONE_CONGESTED, LRUVEC_CONGESTED: direct reclaim throttles. */
	SWS_STALL_CONGESTED = 4,
	/* All flags. */
	SWS_STALL_FLAGS = 7,
};

/* The reasons of reclaim_throttle, and the two sleeping functions of 2013. */
enum sws_stall_sleep {
	SWS_STALL_SLEEP_WRITEBACK = 0,
	SWS_STALL_SLEEP_ISOLATED = 1,
	SWS_STALL_SLEEP_NOPROGRESS = 2,
	SWS_STALL_SLEEP_CONGESTED = 3,
	SWS_STALL_SLEEP_CONGESTION_WAIT = 4,
	SWS_STALL_SLEEP_WAIT_IFF_CONGESTED = 5,
};

/* The events that clear flags. */
enum sws_stall_clear {
	/* kswapd found the zone, or the node, balanced. */
	SWS_STALL_CLEAR_BALANCED = 0,
	/* kswapd has shrunk the zone once. */
	SWS_STALL_CLEAR_SHRUNK = 1,
	/* Case 1 has slept. */
	SWS_STALL_CLEAR_IMMEDIATE = 2,
	/* The direct reclaim of a memory cgroup has ended. */
	SWS_STALL_CLEAR_DIRECT = 3,
};

/* The test at which dirty pages are counted. */
enum sws_stall_counted {
	/* At the dirty test: every page that reaches it dirty. */
	SWS_STALL_COUNTED_LATE = 0,
	/* At the accounting: file pages that are dirty or under writeback. */
	SWS_STALL_COUNTED_AT_TOP = 1,
};

/* The pages that count as congested, as bits. */
enum sws_stall_congested_by {
	/* Pages that pageout kept, for any reason. */
	SWS_STALL_BY_PAGEOUT_KEEP = 1,
	/* Pages of a congested device, clean or dirty. */
	SWS_STALL_BY_DEVICE = 2,
	/* Pages that are accounted as under writeback and have the reclaim flag. */
	SWS_STALL_BY_MARK = 4,
};

/* The action for a page of case 1. */
enum sws_stall_case_1 {
	SWS_STALL_CASE_1_NONE = 0,
	/* Sleep with the page locked, then go on with it as if it were written. */
	SWS_STALL_CASE_1_SLEEP_LOCKED = 1,
	SWS_STALL_CASE_1_SLEEP_AND_KEEP = 2,
	SWS_STALL_CASE_1_COUNT_AND_KEEP = 3,
	SWS_STALL_CASE_1_COUNT_AND_ACTIVATE = 4,
};

/* The condition under which kswapd may write a dirty file page; other reclaim never may. */
enum sws_stall_writes {
	/* At priorities 9 to 0. */
	SWS_STALL_WRITES_BELOW_10 = 0,
	/* While TAIL_DIRTY is set. */
	SWS_STALL_WRITES_FLAGGED = 1,
	/* While TAIL_DIRTY is set, if the page has the reclaim flag. */
	SWS_STALL_WRITES_FLAGGED_AND_MARKED = 2,
};

/* The places of decisions. */
enum sws_stall_place {
	/* shrink_inactive_list, and the end of shrink_page_list. */
	SWS_STALL_AT_LIST = 0,
	/* shrink_node of 6.1, by the sums over all lists of the pass. */
	SWS_STALL_AT_PASS = 1,
	/* do_try_to_free_pages, consider_reclaim_throttle. */
	SWS_STALL_AT_ROUND = 2,
};

/* The kinds of acts. */
enum sws_stall_does {
	/* The end of the program. */
	SWS_STALL_DOES_NOTHING = 0,
	/* Set a flag. */
	SWS_STALL_DOES_SET = 1,
	/* Throttle, by enum sws_stall_sleep. */
	SWS_STALL_DOES_SLEEP = 2,
	/* Wake the flusher threads. */
	SWS_STALL_DOES_WAKE = 3,
};

/* The callers for which an act is carried out. */
enum sws_stall_scope {
	SWS_STALL_FOR_ANY = 1,
	SWS_STALL_FOR_GLOBAL = 2,
	SWS_STALL_FOR_KSWAPD = 4,
	SWS_STALL_FOR_KSWAPD_OR_SANE_MEMCG = 8,
	/* Neither kswapd nor hibernation. */
	SWS_STALL_FOR_DIRECT = 16,
	/* As FOR_DIRECT, except tasks that must not be stalled. */
	SWS_STALL_FOR_THROTTLED_DIRECT = 32,
	SWS_STALL_FOR_LEGACY_MEMCG = 64,
	/* Neither kswapd nor a memory cgroup. */
	SWS_STALL_FOR_GLOBAL_DIRECT = 128,
};

/* The test of an act. */
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

/* The numbers that a test compares. */
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

/* One act of a program: if its test holds for a caller in its scope, it is carried out. */
struct sws_stall_act {
	/* enum sws_stall_does */
	uint8_t does;
	/* The flag, or enum sws_stall_sleep. */
	uint8_t what;
	/* enum sws_stall_scope */
	uint8_t scope;
	/* enum sws_stall_test */
	uint8_t test;
	/* enum sws_stall_number: the left side of the comparison. */
	uint8_t number;
	/* enum sws_stall_number: the right side of the comparison. */
	uint8_t of;
};

/* A row of rules: all properties that distinguish a rule set. */
struct sws_stall_rules {
	/* enum sws_stall_counted */
	uint8_t counted;
	/* Bits of enum sws_stall_congested_by. */
	uint8_t congested_by;
	/*
	 * True if each base page of a huge page counts, false if it counts as 1; in T all base
	 * pages count.
	 */
	bool counts_base_pages;
	/* True if the callback of buffer heads is called. */
	bool asks_buffers;
	/* True if the callback of NFS is called. */
	bool asks_nfs;
	/* enum sws_stall_case_1 */
	uint8_t case_1;
	/*
	 * True if case 2, and a dirty page that may not be written, activate the page; false if it
	 * is kept.
	 */
	bool activates;
	/* True if case 3 exists for cgroup v1 only. */
	bool waits_for_legacy;
	/* True if case 3 tests for FS, false if it tests for IO. */
	bool waits_entering_fs;
	/* True if the page is tested again after the wait of case 3, false if it goes on. */
	bool retries;
	/* enum sws_stall_writes */
	uint8_t writes;
	/* The place at which flags are set: enum sws_stall_place. */
	uint8_t decides;
	/* The programs, indexed by enum sws_stall_place. */
	struct sws_stall_act acts[SWS_STALL_PLACES][SWS_STALL_ACTS_MAX];
	/* The flags that each event clears, indexed by enum sws_stall_clear. */
	uint8_t clears[SWS_STALL_CLEARS];
	/* The throttle that is requested when too many pages are isolated: enum sws_stall_sleep. */
	uint8_t isolated;
};

/* Returns the name of a rule set in tables and options, such as "series-3"; NULL past the last. */
const char *sws_stall_set_name(enum sws_stall_set set);

/*
 * Returns the name of a throttle in the column reason, such as "congestion_wait"; NULL past the
 * last.
 */
const char *sws_stall_sleep_name(enum sws_stall_sleep sleep);

/* Returns the row of a rule set, NULL for an unknown set. The row is a constant of the library. */
const struct sws_stall_rules *sws_stall_rules_of(enum sws_stall_set set);

/* Returns the flags that an event clears, 0 for an unknown set or event. */
uint8_t sws_stall_clears(enum sws_stall_set set, enum sws_stall_clear why);

/* ffi: end */

#endif
